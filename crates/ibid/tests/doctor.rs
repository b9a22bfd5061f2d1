use crate::common::{Home, PI_TOOLS, command, finish, home, ibid, path_of};

/// A home whose settings name programs that exist.
fn healthy() -> Home {
    home().with_file(
        ".config/ibid/config.toml",
        "[launch.codex]\ncommand = [\"cargo\", \"{id}\"]\n[launch.pi]\ncommand = [\"cargo\", \"{id}\"]\n",
    )
}

#[test]
fn all_is_well_in_a_home_where_it_is() {
    let run = ibid(&healthy(), ["doctor"]).ends(0);
    assert!(run.stdout.contains("All is well"), "{}", run.stdout);
    assert!(run.stdout.contains(".codex"), "{}", run.stdout);
}

#[test]
fn programs_that_are_missing_are_named() {
    let home = home();
    let mut command = command(&home);
    command.args(["doctor", "--json"]).env("PATH", home.path());
    let json = finish(command).ends(1).json();
    let missing: Vec<&str> =
        json["missing"].as_array().unwrap().iter().map(|m| m["program"].as_str().unwrap()).collect();
    assert_eq!(missing, ["codex", "pi"]);
}

#[test]
fn what_is_wrong_in_a_file_is_named_with_advice() {
    let home = healthy();
    let path = path_of(&home, PI_TOOLS);
    let mut text = std::fs::read(&path).unwrap();
    text.extend_from_slice(b"{\"type\":\"message\",\"id\":\"cut");
    std::fs::write(&path, text).unwrap();
    let run = ibid(&home, ["doctor"]).ends(1);
    assert!(run.stdout.contains("cut-line") && run.stdout.contains(&path), "{}", run.stdout);
    assert!(run.stdout.contains("read it again later"), "{}", run.stdout);
}

#[test]
fn leftovers_of_writes_go_to_the_trash() {
    let name = format!(".pi/agent/sessions/.ibid-stage-{}", "0".repeat(32));
    let home = healthy().with_file(&name, "half");
    let run = ibid(&home, ["doctor"]).ends(1);
    assert!(run.stdout.contains("Leftovers") && run.stdout.contains("--fix"), "{}", run.stdout);
    ibid(&home, ["doctor", "--fix"]).ends(0);
    assert!(!home.path().join(&name).exists());
    assert!(ibid(&home, ["restore"]).ends(0).stdout.contains("leftovers"));
}

#[test]
fn json_has_everything() {
    let json = ibid(&healthy(), ["doctor", "--json"]).ends(0).json();
    for key in ["roots", "findings", "unfinished", "leftovers", "missing", "directories", "complete"] {
        assert!(json.get(key).is_some(), "{key}");
    }
    assert!(json["roots"].as_array().unwrap().iter().any(|root| root["state"] == "fine"));
}

/// A write whose process ends right before it counts as done.
fn leave_unfinished(home: &Home) -> std::path::PathBuf {
    use ibid_carrier::plan::{Action, Content, Engine, Plan, Policy, Step, When};
    let root = home.path().join(".pi/agent/sessions");
    let path = root.join("half.jsonl");
    let step = Step::CreateFile { path: path.clone(), content: Content::from("{}\n"), private: true };
    let engine = Engine::new(home.path().join(".local/share/ibid"));
    let commit = || {
        engine.commit_observed(&Plan::new(vec![step]), &Policy::within([root]), &mut |point| {
            if (point.when, point.action) == (When::After, Action::Stage) {
                std::panic::resume_unwind(Box::new("the process ends here"));
            }
            Ok(())
        })
    };
    assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(commit)).is_err());
    path
}

#[cfg(target_os = "linux")]
#[test]
fn a_write_that_did_not_finish_is_named_by_readers_and_undone_by_fix() {
    let home = healthy();
    let path = leave_unfinished(&home);
    let overview = ibid(&home, []).ends(0);
    assert!(overview.stdout.contains("unfinished-write"), "{}", overview.stdout);
    let json = ibid(&home, ["doctor", "--json"]).ends(1).json();
    assert_eq!(json["unfinished"].as_array().unwrap().len(), 1);
    let fixed = ibid(&home, ["doctor", "--fix"]).ends(0);
    assert!(fixed.stdout.contains("it was undone"), "{}", fixed.stdout);
    assert!(!path.exists());
    assert!(!ibid(&home, []).stdout.contains("unfinished-write"));
}

#[test]
fn a_session_that_lies_in_two_roots_is_named() {
    let home = home().with_tree("claude-code/2.1.332/.claude/projects", ".claude/projects");
    let home = home.with_tree("claude-code/2.1.332/.claude/projects", ".config/claude/projects");
    let json = ibid(&home, ["doctor", "--json"]).json();
    let findings = json["findings"].as_array().unwrap();
    let copies: Vec<&str> = findings
        .iter()
        .filter(|finding| finding["kind"] == "variants")
        .map(|finding| finding["detail"].as_str().unwrap())
        .collect();
    assert!(!copies.is_empty() && copies.iter().all(|copy| copy.contains("the same session lies at")));
}

#[test]
fn a_program_that_is_newer_than_what_was_proven_is_named() {
    let home = healthy();
    assert!(!ibid(&home, ["doctor"]).ends(0).stdout.contains("newer"));
    let header = r#"{"timestamp":"2027-01-01T00:00:00.000Z","type":"session_meta","payload":{"id":"019f0000-0000-7000-8000-000000000001","timestamp":"2027-01-01T00:00:00.000Z","cwd":"/home/dev/demo","originator":"codex_exec","cli_version":"99.1.0"}}
{"timestamp":"2027-01-01T00:00:01.000Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"Hello"}]}}
"#;
    let name = "rollout-2027-01-01T00-00-00-019f0000-0000-7000-8000-000000000001.jsonl";
    let home = home.with_file(&format!(".codex/sessions/2027/01/01/{name}"), header);
    let run = ibid(&home, ["doctor"]).ends(0);
    assert!(run.stdout.contains("Codex 99.1.0 is newer than"), "{}", run.stdout);
    let json = ibid(&home, ["doctor", "--json"]).ends(0).json();
    assert_eq!(json["newer"][0]["version"], "99.1.0");
    assert!(json["newer"][0]["proven"]["version"].is_string());
}

#[test]
fn a_program_that_is_newer_than_what_was_read_is_named_too() {
    let id = "5f000000-0000-4000-8000-000000000001";
    let events = format!(
        r#"{{"type":"session.start","data":{{"sessionId":"{id}","version":1,"producer":"copilot-agent","copilotVersion":"99.1.0","startTime":"2027-01-01T00:00:00.000Z","context":{{"cwd":"/home/dev/demo"}}}},"id":"5f000000-0000-4000-8000-000000000002","timestamp":"2027-01-01T00:00:00.000Z","parentId":null}}
{{"type":"user.message","data":{{"content":"Hello"}},"id":"5f000000-0000-4000-8000-000000000003","timestamp":"2027-01-01T00:00:01.000Z","parentId":"5f000000-0000-4000-8000-000000000002"}}
"#
    );
    let home = healthy().with_file(&format!(".copilot/session-state/{id}/events.jsonl"), &events);
    // The program is not on PATH here, which is a reason to say so.
    let run = ibid(&home, ["doctor"]).ends(1);
    let said = "Copilot CLI 99.1.0 is newer than the version that was last proven to be read in full";
    assert!(run.stdout.contains(said), "{}", run.stdout);
    let json = ibid(&home, ["doctor", "--json"]).ends(1).json();
    assert_eq!(json["newer"][0]["to"], "be read in full");
}

#[cfg(unix)]
#[test]
fn a_pipe_in_the_place_of_one_of_ibids_own_files_is_not_waited_for() {
    let pipe = |home: &Home, place: &str| {
        let path = home.path().join(place);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
    };
    let bounded = |home: &Home, arguments: &[&str]| {
        let mut command = std::process::Command::new("timeout");
        command.arg("20").arg(assert_cmd::cargo::cargo_bin!("ibid")).arg("--home").arg(home.path());
        let code = command.args(arguments).output().unwrap().status.code();
        assert!(code.is_some() && code != Some(124), "{arguments:?} waited");
        code
    };
    let settings = home();
    pipe(&settings, ".config/ibid/config.toml");
    assert_eq!(bounded(&settings, &["list"]), Some(2));
    let cache = home();
    pipe(&cache, ".cache/ibid/sessions.jsonl");
    assert_eq!(bounded(&cache, &["list"]), Some(0));
    let trash = home();
    pipe(&trash, ".local/share/ibid/trash/01a22d4a695877f9bc4b4b0ff3b40e9a/manifest.json");
    bounded(&trash, &["restore"]);
    bounded(&trash, &["doctor"]);
    let lock = home();
    pipe(&lock, ".local/share/ibid/journal/lock");
    assert_eq!(bounded(&lock, &["convert", PI_TOOLS, "--to", "codex"]), Some(2));
    let codex = home();
    let thread = crate::common::CODEX_PARENT.trim_start_matches("codex:");
    pipe(&codex, &format!(".codex/thread-writer-locks/{thread}.lock"));
    assert_eq!(bounded(&codex, &["delete", crate::common::CODEX_PARENT, "--yes"]), Some(0));
}

#[test]
fn what_hooks_kept_refused_and_lost_is_shown() {
    use std::io::Write as _;
    let home = healthy();
    assert!(!ibid(&home, ["doctor"]).ends(0).stdout.contains("What hooks announced"));
    let hook = |profile: &str, input: &str| {
        let mut command = command(&home);
        let mut child = command.args(["hook", profile]).stdin(std::process::Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
        assert!(child.wait().unwrap().success());
    };
    let start = r#"{"session_id":"s","transcript_path":null,"cwd":"/w","hook_event_name":"SessionStart","source":"startup"}"#;
    hook("codex", start);
    hook("codex", &start.replace("startup", "telepathy"));
    hook("nobody", start);
    let run = ibid(&home, ["doctor"]).ends(0);
    assert!(run.stdout.contains("What hooks announced"), "{}", run.stdout);
    assert!(run.stdout.contains("codex was refused as not-an-event 1 time"), "{}", run.stdout);
    assert!(
        run.stdout.contains("(no known program) was refused as unknown-program 1 time"),
        "{}",
        run.stdout
    );
    assert!(!run.stdout.contains("telepathy"), "{}", run.stdout);
    let state = ibid(&home, ["doctor", "--json"]).ends(0).json()["lifecycle"].clone();
    let [unknown, codex] = state["programs"].as_array().unwrap().as_slice() else { panic!("{state}") };
    assert_eq!((&codex["program"], &codex["observations"]), (&"codex".into(), &1.into()));
    assert!(codex["last"].is_string() && unknown["program"].is_null());

    // A hook that was killed, one that could not have the lock, and one that could not keep anything.
    let journal = home.path().join(".local/share/ibid/lifecycle");
    if !journal.exists() {
        return;
    }
    let append = |name: &str, text: &str| {
        let file = std::fs::OpenOptions::new().create(true).append(true).open(journal.join(name));
        file.unwrap().write_all(text.as_bytes()).unwrap();
    };
    append("0000000001.jsonl", "{\"kind\":\"observed\",\"session\":\"to");
    let run = ibid(&home, ["doctor"]).ends(0);
    assert!(run.stdout.contains("1 record torn") && run.stdout.contains("cut-line"), "{}", run.stdout);
    append("side-1.jsonl", "{}\n");
    append("lost", "..");
    let run = ibid(&home, ["doctor"]).ends(1);
    assert!(run.stdout.contains("1 side file") && run.stdout.contains("2 observations could not be kept"));
}
