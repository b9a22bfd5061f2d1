use std::path::Path;

use crate::common::{Home, PI_TOOLS, Run, Value, command, finish, home, ibid, simple};

/// Runs `ibid continue` in a directory.
fn in_dir(home: &Home, dir: &Path, arguments: &[&str]) -> Run {
    let mut command = command(home);
    command.current_dir(dir).arg("continue").args(arguments);
    finish(command)
}

/// A session of pi in a directory that exists, made from a document.
fn session_in(home: &Home, dir: &Path, name: &str) -> String {
    std::fs::create_dir_all(dir).unwrap();
    let file = simple(home, name, dir, "Please say hello");
    let run = ibid(home, ["import", &file, "--to", "pi", "--json"]).ends(0);
    format!("pi:{}", run.json()["id"].as_str().unwrap())
}

#[test]
fn in_its_own_agent_a_session_is_resumed_in_place() {
    let home = Home::new();
    let project = home.path().join("project");
    let session = session_in(&home, &project, "a.json");
    let json = in_dir(&home, home.path(), &[&session, "--no-launch", "--json"]).ends(0).json();
    assert_eq!(json["converted"], false);
    assert_eq!(json["cwd"], project.to_str().unwrap());
    assert_eq!(json["command"][0], "pi");
    let line = in_dir(&home, home.path(), &[&session, "--no-launch"]).ends(0).stdout;
    assert!(line.starts_with("cd "), "{line}");
}

#[test]
fn without_a_name_it_is_the_latest_of_this_directory() {
    let home = Home::new();
    let project = home.path().join("project");
    let session = session_in(&home, &project, "a.json");
    let json = in_dir(&home, &project, &["--no-launch", "--json"]).ends(0).json();
    assert_eq!(format!("pi:{}", json["id"].as_str().unwrap()), session);
    let none = in_dir(&home, home.path(), &["--no-launch"]).ends(1);
    assert!(none.stderr.contains("no session belongs to"), "{}", none.stderr);
}

#[test]
fn of_equally_late_sessions_none_is_chosen() {
    let home = Home::new();
    let project = home.path().join("project");
    session_in(&home, &project, "a.json");
    session_in(&home, &project, "b.json");
    let run = in_dir(&home, &project, &["--no-launch"]).ends(2);
    assert!(run.stderr.contains("2 sessions"), "{}", run.stderr);
}

#[test]
fn another_agent_gets_a_conversion_and_the_second_time_the_same_session() {
    let home = Home::new();
    let project = home.path().join("project");
    let session = session_in(&home, &project, "a.json");
    let first = in_dir(&home, &project, &[&session, "--to", "codex", "--no-launch", "--json"]).ends(0).json();
    assert_eq!(first["converted"], true);
    assert_eq!(first["command"][0], "codex");
    let second =
        in_dir(&home, &project, &[&session, "--to", "codex", "--no-launch", "--json"]).ends(0).json();
    assert_eq!(second["converted"], false);
    assert_eq!(first["id"], second["id"]);
}

#[test]
fn a_session_whose_directory_is_gone_goes_on_here() {
    let home = home();
    let here = home.path().join("here");
    std::fs::create_dir(&here).unwrap();
    let run = in_dir(&home, &here, &[PI_TOOLS, "--to", "codex", "--no-launch", "--json"]).ends(0);
    assert!(run.stderr.contains("/home/dev/demo is gone"), "{}", run.stderr);
    let json = run.json();
    assert_eq!(json["cwd"], here.to_str().unwrap());
    let listed = ibid(&home, ["list", "--cwd", here.to_str().unwrap(), "--json"]).ends(0).json();
    assert_eq!(listed["sessions"][0]["id"], json["id"]);
}

#[test]
fn more_arguments_go_to_the_program() {
    let home = Home::new();
    let session = session_in(&home, &home.path().join("project"), "a.json");
    let json =
        in_dir(&home, home.path(), &[&session, "--no-launch", "--json", "--", "--verbose"]).ends(0).json();
    assert_eq!(json["command"].as_array().unwrap().last().unwrap(), "--verbose");
}

#[cfg(unix)]
#[test]
fn the_terminal_is_handed_to_the_command_of_the_settings() {
    let home = Home::new().with_file(
        ".config/ibid/config.toml",
        "[launch.pi]\ncommand = [\"sh\", \"-c\", \"echo \\\"$0\\\"; pwd; echo $HOME; exit 7\", \"{id}\"]\n",
    );
    let project = home.path().join("project");
    let session = session_in(&home, &project, "a.json");
    let run = in_dir(&home, home.path(), &[&session]).ends(7);
    let id = session.trim_start_matches("pi:");
    let home = home.path().display();
    assert_eq!(run.stdout, format!("{id}\n{}\n{home}\n", project.display()));
}

#[test]
fn a_program_that_is_not_there_is_named_with_what_to_do() {
    let home = Home::new().with_file(
        ".config/ibid/config.toml",
        "[launch.pi]\ncommand = [\"no-such-program-here\", \"{id}\"]\n",
    );
    let session = session_in(&home, &home.path().join("project"), "a.json");
    let run = in_dir(&home, home.path(), &[&session]).ends(2);
    assert!(run.stderr.contains("no-such-program-here cannot be started"), "{}", run.stderr);
}

#[test]
fn nothing_is_converted_for_a_program_that_is_not_there() {
    let home = Home::new().with_file(
        ".config/ibid/config.toml",
        "[launch.codex]\ncommand = [\"no-such-program-here\", \"{id}\"]\n",
    );
    let session = session_in(&home, &home.path().join("project"), "a.json");
    let run = in_dir(&home, home.path(), &[&session, "--to", "codex"]).ends(2);
    assert!(run.stderr.contains("nothing was written"), "{}", run.stderr);
    assert!(!home.path().join(".codex").exists());
}

#[test]
fn a_dry_run_prints_the_command_and_writes_nothing() {
    let home = Home::new();
    let session = session_in(&home, &home.path().join("project"), "a.json");
    let run = in_dir(&home, home.path(), &[&session, "--to", "codex", "--dry-run"]).ends(0);
    assert!(run.stdout.contains("codex") && run.stderr.contains("Plan"), "{}{}", run.stdout, run.stderr);
    assert!(!home.path().join(".codex").exists());
    let json = in_dir(&home, home.path(), &[&session, "--to", "codex", "--dry-run", "--json"]).ends(0).json();
    assert_eq!(json["converted"], false);
    assert!(!json["plan"]["steps"].as_array().unwrap().is_empty(), "{json}");
}

#[test]
fn a_conversion_for_another_directory_goes_on_the_second_time_too() {
    let home = home();
    let here = home.path().join("here");
    std::fs::create_dir(&here).unwrap();
    ibid(&home, ["convert", PI_TOOLS, "--to", "codex"]).ends(0);
    let again = |to: &str| {
        let run = in_dir(&home, &here, &[PI_TOOLS, "--to", to, "--no-launch", "--json"]);
        run.ends(0).json()["id"].as_str().unwrap().to_owned()
    };
    for to in ["codex", "pi", "claude-code"] {
        let first = again(to);
        assert_eq!(again(to), first, "{to}");
        assert_eq!(again(to), first, "{to}");
    }
}

#[test]
fn settings_that_mean_nothing_are_named_and_broken_ones_refused() {
    let home = Home::new().with_file(".config/ibid/config.toml", "colour = 1\n");
    let run = ibid(&home, ["list"]).ends(1);
    assert!(run.stderr.contains("`colour` means nothing"), "{}", run.stderr);
    let home = Home::new().with_file(".config/ibid/config.toml", "[launch.pi]\ncommand = \"pi\"\n");
    let run = ibid(&home, ["list"]).ends(2);
    assert!(run.stderr.contains("launch.pi.command"), "{}", run.stderr);
}

#[test]
fn roots_of_the_settings_are_looked_at() {
    let other = home();
    let text = format!("[roots]\ncodex = [{:?}]\n", other.path().join(".codex"));
    let home = Home::new().with_file(".config/ibid/config.toml", text);
    assert!(ibid(&home, ["list"]).ends(0).stdout.contains("codex:"));
}

#[test]
fn what_no_program_carries_on_says_who_could() {
    let home = home();
    let file = simple(&home, "a.json", home.path(), "hi");
    let run = in_dir(&home, home.path(), &[&file, "--no-launch"]).ends(2);
    assert!(run.stderr.contains("--to one of") && run.stderr.contains("codex"), "{}", run.stderr);
}

// https://github.com/EtanHey/cmuxlayer/issues/482 (fault 48)
#[test]
fn a_session_that_is_not_on_disk_any_more_is_not_offered() {
    let home = Home::new();
    let project = home.path().join("project");
    let session = session_in(&home, &project, "a.json");
    ibid(&home, ["list"]).ends(0);
    let path = ibid(&home, ["path", &session]).ends(0).stdout;
    std::fs::remove_file(path.trim()).unwrap();
    let run = in_dir(&home, &project, &[&session, "--no-launch"]).ends(1);
    assert_eq!(run.stdout, "");
}

#[test]
fn another_branch_goes_on_in_a_session_of_its_own() {
    let home = home();
    let branches = ibid(&home, ["show", crate::common::PI_BRANCHES, "--branches", "--json"]).ends(0).json();
    let all = branches["branches"].as_array().unwrap();
    let side = all.iter().find(|branch| branch["live"] == false).unwrap()["leaf"].as_str().unwrap();
    let before = crate::common::path_of(&home, crate::common::PI_BRANCHES);
    let bytes = std::fs::read(&before).unwrap();
    let arguments = [crate::common::PI_BRANCHES, "--branch", side, "--no-launch", "--json"];
    let json = in_dir(&home, home.path(), &arguments).ends(0).json();
    assert_eq!(json["converted"], true);
    assert_ne!(format!("pi:{}", json["id"].as_str().unwrap()), crate::common::PI_BRANCHES);
    assert_eq!(std::fs::read(&before).unwrap(), bytes);
    // Asked again, the same session goes on.
    let again = in_dir(&home, home.path(), &arguments).ends(0).json();
    assert_eq!((&again["id"], &again["converted"]), (&json["id"], &Value::Bool(false)));
}

#[test]
fn another_document_of_the_same_shape_is_not_taken_for_the_one_before() {
    let home = Home::new();
    let project = home.path().join("project");
    std::fs::create_dir_all(&project).unwrap();
    let document = |name: &str, said: &str| {
        let path = home.path().join(name);
        let text = serde_json::json!({"cwd": project, "messages": [{"role": "user", "content": said},
            {"role": "assistant", "content": "yes"}]});
        std::fs::write(&path, text.to_string()).unwrap();
        format!("simple:{}", path.display())
    };
    let ids = [("a.json", "the first"), ("b.json", "the other")].map(|(name, said)| {
        let arguments = [&document(name, said), "--to", "pi", "--no-launch", "--json"];
        let json = in_dir(&home, &project, &arguments).ends(0).json();
        assert_eq!(json["converted"], true, "{name}");
        json["id"].as_str().unwrap().to_owned()
    });
    assert_ne!(ids[0], ids[1]);
}

#[test]
fn a_session_of_a_harness_that_is_only_read_goes_on_in_its_directory_alone() {
    let home = Home::new().with("grok", "1.0.41");
    let gone = in_dir(&home, home.path(), &["grok:01a22e02", "--no-launch"]).ends(2).stderr;
    assert!(gone.contains("Grok goes on with this one in /home/sam/long-directory-name-00/"), "{gone}");
    assert!(gone.contains("give --to one of claude-code, codex,"), "{gone}");
    assert!(!gone.contains("it goes on in") && !gone.contains("grok,"), "{gone}");
}

#[test]
fn no_session_is_carried_into_a_harness_that_is_only_read() {
    let home = home();
    let refused = in_dir(&home, home.path(), &[PI_TOOLS, "--to", "grok", "--no-launch"]).ends(2).stderr;
    let expected = "Ibid reads sessions of Grok and does not write them; nothing was written; give --to one of claude-code,";
    assert!(refused.contains(expected), "{refused}");
}
