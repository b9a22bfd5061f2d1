use crate::common::{Home, finish, home, ibid, program};

#[test]
fn each_agent_has_a_line_with_its_sessions() {
    let home = home();
    let run = ibid(&home, []).ends(0);
    assert!(run.stdout.lines().any(|line| line.starts_with("Codex")), "{}", run.stdout);
    let json = ibid(&home, ["--json"]).ends(0).json();
    let codex = json["harnesses"].as_array().unwrap().iter().find(|h| h["harness"] == "codex").unwrap();
    assert_eq!(codex["present"], true);
    assert_eq!(codex["subagents"], 2);
}

#[test]
fn an_empty_home_points_to_the_demo() {
    let run = ibid(&Home::new(), []).ends(1);
    assert!(run.stdout.contains("ibid demo"), "{}", run.stdout);
}

// https://github.com/can1357/oh-my-pi/issues/11476 (fault 39)
#[test]
fn a_store_that_cannot_be_read_is_not_an_empty_one() {
    let home = Home::new().with_file(".pi/agent/sessions", "this should be a directory");
    let run = ibid(&home, ["--json"]);
    let json = run.json();
    assert_eq!(json["complete"], false, "{json}");
    assert!(!json["findings"].as_array().unwrap().is_empty());
}

#[test]
fn usage_mistakes_end_with_2() {
    let run = ibid(&Home::new(), ["lst"]).ends(2);
    assert!(run.stderr.contains("list"), "{}", run.stderr);
}

#[test]
fn a_home_that_is_not_there_is_named() {
    let home = Home::new();
    let mut command = program();
    command.arg("--home").arg(home.path().join("typo"));
    let said = finish(command).ends(1).stderr;
    assert!(
        said.contains("There is no directory ") && said.contains("typo (the home that you named)"),
        "{said}"
    );
}
