use std::process::Stdio;

use crate::common::{CODEX_CHILD, Home, command, finish, full_home, home, ibid, program, stores};

#[test]
fn sessions_come_newest_first() {
    let home = home();
    let json = ibid(&home, ["list", "--json"]).ends(0).json();
    let times: Vec<&str> =
        json["sessions"].as_array().unwrap().iter().map(|s| s["updated"].as_str().unwrap()).collect();
    assert!(times.len() > 10);
    assert!(times.windows(2).all(|pair| pair[0] >= pair[1]), "{times:?}");
    assert_eq!(json["complete"], true);
}

#[test]
fn each_session_has_the_documented_keys() {
    let home = home();
    let json = ibid(&home, ["list", "--json"]).ends(0).json();
    for session in json["sessions"].as_array().unwrap() {
        for key in ["harness", "id", "title", "cwd", "model", "started", "updated", "parent", "carriers"] {
            assert!(session.get(key).is_some(), "{key} is missing in {session}");
        }
        assert!(!session["carriers"].as_array().unwrap().is_empty());
    }
}

#[test]
fn jsonl_has_one_object_on_each_line() {
    let home = home();
    let run = ibid(&home, ["list", "--jsonl", "-n", "3"]).ends(0);
    let ids: Vec<serde_json::Value> = run
        .stdout
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap()["id"].clone())
        .collect();
    assert_eq!(ids.len(), 3);
}

#[test]
fn subagents_are_folded_under_their_parents() {
    let home = home();
    let child = CODEX_CHILD.trim_start_matches("codex:");
    let folded = ibid(&home, ["list", "--json"]).ends(0);
    assert!(!folded.json()["sessions"].as_array().unwrap().iter().any(|s| s["id"] == child));
    assert!(folded.json()["sessions"].as_array().unwrap().iter().any(|s| s["subagents"] == 1));
    let all = ibid(&home, ["list", "--all", "--json"]).ends(0).json();
    assert!(all["sessions"].as_array().unwrap().iter().any(|s| s["id"] == child));
}

#[test]
fn a_session_that_cannot_be_read_is_not_passed_over_in_silence() {
    let place =
        ".codex/sessions/2026/07/01/rollout-2026-07-01T10-00-00-01a22cab-62dd-7661-aa05-129331e50d00.jsonl";
    let home = home().with_file(place, "garbage\nmore garbage\n");
    let listed = ibid(&home, ["list"]).ends(0);
    assert!(listed.stderr.contains("1 session has parts that could not be read"), "{}", listed.stderr);
    let lines = ibid(&home, ["list", "--jsonl"]).ends(0);
    assert!(lines.stderr.contains("1 session has parts that could not be read"), "{}", lines.stderr);
    let overview = ibid(&home, []).ends(0);
    assert!(overview.stderr.contains("`ibid doctor` names them"), "{}", overview.stderr);
    for json in [ibid(&home, ["list", "--json"]).json(), ibid(&home, ["--json"]).json()] {
        assert_eq!(json["complete"], false);
        assert!(json["findings"].to_string().contains("129331e50d00"), "{json}");
    }
    let count = ibid(&home, ["list", "--all", "--jsonl"]).ends(0).stdout.lines().count();
    let missing = ibid(&home, ["show", "no such"]).ends(1).stderr;
    assert!(missing.contains(&format!("`no such` among the {count} that")), "{missing}");
}

// https://github.com/anthropics/claude-code/issues/60842 (fault 30)
#[test]
fn a_directory_is_not_its_neighbour() {
    let home = home();
    let near = ibid(&home, ["list", "--cwd", "/home/dev/dem", "--json"]).ends(1).json();
    assert_eq!(near["sessions"].as_array().unwrap().len(), 0);
    let inside = ibid(&home, ["list", "--cwd", "/home/dev/demo", "--json"]).ends(0).json();
    assert!(inside["sessions"].as_array().unwrap().iter().all(|s| s["cwd"] == "/home/dev/demo"));
    let above = ibid(&home, ["list", "--cwd", "/home/dev", "--json"]).ends(0).json();
    assert!(above["sessions"].as_array().unwrap().len() > inside["sessions"].as_array().unwrap().len());
}

#[test]
fn subagents_have_short_names_that_are_accepted() {
    let home = full_home();
    let listed = ibid(&home, ["list", "--all", "--harness", "claude-code"]).ends(0).stdout;
    let named = listed.lines().find(|line| line.contains("…/")).unwrap_or_else(|| panic!("{listed}"));
    let name = named.split_whitespace().next().unwrap();
    assert!(name.chars().count() < "claude-code:12345678…/1234".len() + 2, "{name}");
    assert!(ibid(&home, ["show", name]).ends(0).stdout.contains("subagent of"), "{name}");
    assert!(ibid(&home, ["show", &name.replace('…', "")]).ends(0).stdout.contains("subagent of"), "{name}");
    ibid(&home, ["list", "-n", "0"]).ends(2);
}

#[test]
fn times_bound_the_list() {
    let home = home();
    let count = |arguments: [&str; 4]| ibid(&home, arguments).json()["sessions"].as_array().unwrap().len();
    let all = count(["list", "--json", "--since", "2026-11-30"]);
    let early = count(["list", "--json", "--until", "2026-11-30T13:30:00Z"]);
    let late = count(["list", "--json", "--since", "2026-11-30T13:30:00Z"]);
    assert!(early > 0 && late > 0);
    assert_eq!(early + late, all);
    let wrong = ibid(&home, ["list", "--since", "yesterday-ish"]).ends(2);
    assert!(
        wrong.stderr.trim_end().ends_with("write 2026-07-01 or 2026-07-01T10:00:00+02:00"),
        "{}",
        wrong.stderr
    );
}

#[test]
fn a_harness_that_does_not_exist_is_named_with_those_that_do() {
    let run = ibid(&home(), ["list", "--harness", "clod"]).ends(2);
    assert!(run.stderr.contains("clod") && run.stderr.contains("codex"), "{}", run.stderr);
}

#[test]
fn the_originals_spellings_are_understood() {
    let home = home();
    let home = home.with("claude-code", "2.1.332");
    for name in ["claude-code", "claude_code", "claude", "Claude-Code"] {
        assert!(ibid(&home, ["list", "--harness", name]).ends(0).stdout.contains("claude-code:"), "{name}");
    }
}

// https://github.com/vercel/ai/pull/20052 (fault 62)
#[test]
fn a_title_cannot_steer_the_terminal() {
    let home = Home::new();
    let place =
        ".pi/agent/sessions/--x--/2026-11-30T13-26-37-631Z_01a22ca2-d13e-70ba-be1a-90bccc2d0698.jsonl";
    let fixture = Home::fixtures().join(
        "pi/1.6.0/.pi/agent/sessions/--home-dev-demo with spaces--/2026-11-30T13-26-37-631Z_01a22ca2-d13e-70ba-be1a-90bccc2d0698.jsonl",
    );
    let text = std::fs::read_to_string(fixture).unwrap();
    let evil = text.replace("a folder with spaces", "a \\u001b]52;c;aGk=\\u0007folder\\u001b[2J\\u009b31m");
    assert_ne!(text, evil);
    let home = home.with_file(place, evil);
    for run in [
        ibid(&home, ["list"]).ends(0),
        ibid(&home, ["list", "--json"]).ends(0),
        ibid(&home, ["show", "pi:01a22ca2-d13e", "--full"]).ends(0),
    ] {
        assert!(!run.stdout.contains(['\u{1b}', '\u{7}', '\u{9b}']), "{:?}", run.stdout);
        assert!(run.stdout.contains("do-shell please: a "), "{:?}", run.stdout);
    }
}

// https://github.com/junhoyeo/tokscale/pull/1102 (fault 36)
#[test]
fn a_named_home_never_reads_variables() {
    let real = home();
    let empty = Home::new();
    let mut command = command(&empty);
    command.args(["list", "--json"]).env("CODEX_HOME", real.path().join(".codex"));
    command.env("PI_CODING_AGENT_DIR", real.path().join(".pi/agent")).env("HOME", real.path());
    let run = finish(command).ends(1);
    assert_eq!(run.json()["sessions"].as_array().unwrap().len(), 0);
}

#[test]
fn the_home_can_be_named_by_the_environment() {
    let home = home();
    let mut command = program();
    command.arg("list").env("IBID_HOME", home.path());
    assert!(finish(command).ends(0).stdout.contains("codex:"));
}

#[test]
fn one_more_root_is_looked_at_when_named() {
    let other = home();
    let empty = Home::new();
    let root = format!("codex={}", other.path().join(".codex").display());
    let run = ibid(&empty, ["list", "--root", &root]).ends(0);
    assert!(run.stdout.contains("codex:"));
    ibid(&empty, ["list", "--root", "codex"]).ends(2);
}

#[test]
fn a_root_that_was_named_and_is_not_there_is_said() {
    let run = ibid(&home(), ["list", "--root", "codex=/no/such/store"]).ends(0);
    assert!(run.stderr.contains("There is no store at /no/such/store"), "{}", run.stderr);
}

#[test]
fn a_blank_variable_is_no_home() {
    let home = home();
    let mut command = program();
    command.arg("list").env("IBID_HOME", "").env("HOME", home.path());
    assert!(finish(command).ends(0).stdout.contains("codex:"));
    ibid(&Home::new(), ["list", "--home", ""]).ends(2);
}

// https://github.com/getpaseo/paseo/issues/3297 (fault 37)
#[test]
fn reading_leaves_no_trace() {
    let home = full_home();
    let before = stores(&home);
    let list = ibid(&home, ["list", "--all", "--jsonl"]).ends(0).stdout;
    for line in list.lines() {
        let session: serde_json::Value = serde_json::from_str(line).unwrap();
        let name = format!("{}:{}", session["harness"].as_str().unwrap(), session["id"].as_str().unwrap());
        ibid(&home, ["show", &name]).ends(0);
    }
    ibid(&home, ["convert", CODEX_CHILD, "--to", "opencode", "--dry-run"]).ends(0);
    ibid(&home, ["doctor"]);
    for (after, before) in stores(&home).iter().zip(&before) {
        after.assert_same_as(before);
    }
}

#[test]
fn a_second_look_says_the_same() {
    let home = home();
    let first = ibid(&home, ["list", "--json"]).ends(0).stdout;
    let second = ibid(&home, ["list", "--json"]).ends(0).stdout;
    assert_eq!(first, second);
}

#[test]
fn a_reader_that_goes_away_is_no_failure() {
    let home = home();
    let mut command = command(&home);
    command.args(["list", "--json"]).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}

#[test]
fn an_empty_list_says_where_to_look() {
    let none = ibid(&Home::new(), ["list"]).ends(1).stderr;
    assert!(none.contains("`ibid doctor` shows where Ibid has looked"), "{none}");
    let elsewhere = ibid(&home(), ["list", "--cwd", "/nowhere/at/all"]).ends(1).stderr;
    assert!(elsewhere.contains("No session matches; `ibid list` without options"), "{elsewhere}");
}

#[test]
fn a_subagent_that_does_not_name_its_parent_is_folded_all_the_same() {
    let home = Home::new().with("grok", "1.0.41");
    let folded = ibid(&home, ["list", "--json"]).ends(0).json();
    let sessions = folded["sessions"].as_array().unwrap();
    assert!(sessions.iter().all(|session| session["class"] == "session"), "{folded}");
    assert_eq!(sessions.iter().filter(|session| session["subagents"] == 1).count(), 1);
    let all = ibid(&home, ["list", "--all", "--json"]).ends(0).json();
    assert_eq!(all["sessions"].as_array().unwrap().len(), sessions.len() + 1);
}
