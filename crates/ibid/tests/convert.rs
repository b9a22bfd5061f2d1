use crate::common::{
    CODEX_PARENT, Home, PI_BRANCHES, PI_TOOLS, full_home, home, ibid, path_of, simple, stores,
};

fn converted(home: &Home, session: &str, to: &str) -> serde_json::Value {
    ibid(home, ["convert", session, "--to", to, "--json"]).ends(0).json()
}

#[test]
fn a_dry_run_shows_the_plan_and_the_losses_and_writes_nothing() {
    let home = home();
    let before = stores(&home);
    let run = ibid(&home, ["convert", PI_TOOLS, "--to", "codex", "--dry-run"]).ends(0);
    assert!(run.stdout.contains("create ") && run.stdout.contains("rollout-"), "{}", run.stdout);
    assert!(run.stdout.contains("system-message"), "{}", run.stdout);
    assert!(run.stderr.contains("dry run"), "{}", run.stderr);
    for (after, before) in stores(&home).iter().zip(&before) {
        after.assert_same_as(before);
    }
}

#[test]
fn the_result_tells_the_same_story() {
    let home = home();
    let json = converted(&home, PI_TOOLS, "codex");
    assert_eq!(json["written"], true);
    for key in ["plan", "losses", "findings", "id", "path"] {
        assert!(json.get(key).is_some(), "{key}");
    }
    let id = format!("codex:{}", json["id"].as_str().unwrap());
    let shown = ibid(&home, ["show", &id]).ends(0).stdout;
    for said in
        ["do-script pitools: use every tool once", "echo out; echo err", "A second prompt after a resume"]
    {
        assert!(shown.contains(said), "{said} is missing in\n{shown}");
    }
    assert!(ibid(&home, ["list", "--json"]).ends(0).stdout.contains(json["id"].as_str().unwrap()));
}

#[test]
fn the_same_conversion_gives_the_same_id_and_is_refused_the_second_time() {
    let home = home();
    converted(&home, PI_TOOLS, "codex");
    let before = stores(&home);
    let run = ibid(&home, ["convert", PI_TOOLS, "--to", "codex"]).ends(3);
    assert!(run.stderr.contains("--new-id") && run.stderr.contains("--replace"), "{}", run.stderr);
    for (after, before) in stores(&home).iter().zip(&before) {
        after.assert_same_as(before);
    }
}

#[test]
fn a_new_id_makes_another_session() {
    let home = home();
    let first = converted(&home, PI_TOOLS, "codex");
    let second = ibid(&home, ["convert", PI_TOOLS, "--to", "codex", "--new-id", "--json"]).ends(0).json();
    assert_ne!(first["id"], second["id"]);
    ibid(&home, ["convert", &format!("{PI_TOOLS}#1-3"), "--to", "codex", "--new-id"]).ends(2);
}

#[test]
fn replacing_keeps_a_backup() {
    let home = home();
    let first = converted(&home, PI_TOOLS, "codex");
    let before = std::fs::read(first["path"].as_str().unwrap()).unwrap();
    let second = ibid(&home, ["convert", PI_TOOLS, "--to", "codex", "--replace", "--json"]).ends(0).json();
    assert_eq!(first["id"], second["id"]);
    let backup = second["backups"][0].as_str().unwrap();
    assert_eq!(std::fs::read(backup).unwrap(), before);
}

#[test]
fn to_the_same_harness_with_its_id_it_is_an_exact_copy() {
    let home = home();
    let out = home.path().join("copy");
    let out = out.to_str().unwrap();
    for session in [PI_BRANCHES, CODEX_PARENT] {
        let to = session.split(':').next().unwrap();
        let run = ibid(&home, ["convert", session, "--to", to, "--out", out, "--keep-id", "--json"]).ends(0);
        let json = run.json();
        assert_eq!(json["losses"].as_array().unwrap().len(), 0);
        let copy = std::fs::read(json["path"].as_str().unwrap()).unwrap();
        assert_eq!(copy, std::fs::read(path_of(&home, session)).unwrap(), "{session}");
    }
}

#[test]
fn subagents_go_along_where_both_have_them() {
    let home = home();
    let out = home.path().join("out");
    let run =
        ibid(&home, ["convert", CODEX_PARENT, "--to", "codex", "--out", out.to_str().unwrap(), "--json"]);
    let json = run.ends(0).json();
    assert_eq!(json["subagents"].as_array().unwrap().len(), 1);
    let root = format!("codex={}", out.display());
    let name = format!("codex:{}", json["id"].as_str().unwrap());
    let shown = ibid(&home, ["--root", &root, "show", &name]).ends(0).stdout;
    assert!(shown.contains("subagent: ibid show codex:"), "{shown}");
}

#[test]
fn subagents_that_stay_behind_are_a_loss_with_their_number() {
    let home = home();
    let losses = |arguments: [&str; 7]| {
        let json = ibid(&home, arguments).ends(0).json();
        let losses = json["losses"].as_array().unwrap().clone();
        losses.iter().find(|loss| loss["kind"] == "subagents").map(|loss| loss["count"].clone())
    };
    let to_pi = ["convert", CODEX_PARENT, "--to", "pi", "--dry-run", "--json", "--new-id"];
    assert_eq!(losses(to_pi), Some(1.into()));
    let asked = ["convert", CODEX_PARENT, "--to", "codex", "--dry-run", "--json", "--no-subagents"];
    assert_eq!(losses(asked), Some(1.into()));
    let along = ["convert", CODEX_PARENT, "--to", "codex", "--dry-run", "--json", "--new-id"];
    assert_eq!(losses(along), None);
}

#[test]
fn a_range_carries_these_messages_alone() {
    let home = home();
    let json = converted(&home, &format!("{PI_TOOLS}#22-23"), "codex");
    let shown = ibid(&home, ["show", &format!("codex:{}", json["id"].as_str().unwrap())]).ends(0).stdout;
    assert!(shown.contains("A second prompt after a resume") && !shown.contains("echo out"), "{shown}");
}

#[test]
fn a_side_branch_can_be_carried() {
    let home = home();
    let run = ibid(&home, ["convert", PI_BRANCHES, "--to", "codex", "--branch", "4e3d", "--json"]).ends(0);
    let shown =
        ibid(&home, ["show", &format!("codex:{}", run.json()["id"].as_str().unwrap())]).ends(0).stdout;
    assert!(shown.contains("left without a summary"), "{shown}");
}

#[test]
fn the_working_directory_can_be_another() {
    let home = home();
    let cwd = home.path().join("elsewhere");
    let run =
        ibid(&home, ["convert", PI_TOOLS, "--to", "codex", "--cwd", cwd.to_str().unwrap(), "--json"]).ends(0);
    let id = run.json()["id"].as_str().unwrap().to_owned();
    let json = ibid(&home, ["list", "--cwd", cwd.to_str().unwrap(), "--json"]).ends(0).json();
    assert_eq!(json["sessions"][0]["id"], id);
}

#[test]
fn a_session_that_is_too_large_for_the_target_is_warned_about() {
    let home = Home::new();
    let file = simple(&home, "huge.json", home.path(), &"many words ".repeat(400_000));
    let run = ibid(&home, ["convert", &file, "--to", "codex", "--dry-run"]).ends(0);
    assert!(run.stderr.contains("context window"), "{}", run.stderr);
}

#[test]
fn a_plan_names_only_the_directories_that_it_makes() {
    let home = home();
    let plan = || ibid(&home, ["convert", PI_TOOLS, "--to", "claude-code", "--dry-run"]).ends(0).stdout;
    assert!(plan().contains("make directory"), "{}", plan());
    ibid(&home, ["convert", PI_TOOLS, "--to", "claude-code"]).ends(0);
    let again = ["convert", PI_TOOLS, "--to", "claude-code", "--dry-run", "--new-id"];
    let again = ibid(&home, again).ends(0).stdout;
    assert!(!again.contains("make directory"), "{again}");
}

#[test]
fn a_document_needs_a_directory() {
    let run = ibid(&home(), ["convert", PI_TOOLS, "--to", "simple"]).ends(2);
    assert!(run.stderr.contains("--out"), "{}", run.stderr);
}

/// Every session of every harness goes to every harness: the program compares each result with its
/// source and refuses what differs, so an exit code of 0 is the proof.
// https://github.com/getagentseal/codeburn/pull/1233 (fault 51)
#[test]
fn every_real_session_can_be_brought_to_every_harness() {
    let home = full_home();
    let list = ibid(&home, ["list", "--all", "--jsonl"]).ends(0).stdout;
    let out = home.path().join("out");
    let mut tried = 0;
    for line in list.lines() {
        let session: serde_json::Value = serde_json::from_str(line).unwrap();
        let name = format!("{}:{}", session["harness"].as_str().unwrap(), session["id"].as_str().unwrap());
        if session["title"] == "A record without a conversation" {
            continue; // There is nothing to bring over.
        }
        for to in ["claude-code", "codex", "cowork", "opencode", "pi"] {
            let run = ibid(&home, ["convert", &name, "--to", to, "--dry-run", "--json"]);
            assert_eq!(run.code, 0, "{name} to {to}: {}", run.stderr);
            tried += 1;
        }
        for to in ["simple", "ibid"] {
            let place = out.join(tried.to_string());
            let run = ibid(&home, ["convert", &name, "--to", to, "--out", place.to_str().unwrap()]);
            assert_eq!(run.code, 0, "{name} to {to}: {}", run.stderr);
            tried += 1;
        }
    }
    assert!(tried > 250, "only {tried}");
}

#[test]
fn rows_go_into_the_database_of_the_target() {
    let home = full_home();
    let json = converted(&home, CODEX_PARENT, "opencode");
    assert_eq!(json["subagents"].as_array().unwrap().len(), 1);
    let name = format!("opencode:{}", json["id"].as_str().unwrap());
    let shown = ibid(&home, ["show", &name]).ends(0).stdout;
    assert!(shown.contains("Ask a subagent") && shown.contains("subagent: ibid show opencode:"), "{shown}");
    let raw = ibid(&home, ["show", &name, "--raw"]).ends(0).stdout;
    assert!(raw.lines().all(|line| line.starts_with("{\"table\":")), "{raw}");
    ibid(&home, ["convert", CODEX_PARENT, "--to", "opencode"]).ends(3);
    ibid(&home, ["delete", &name, "--yes"]).ends(0);
    ibid(&home, ["show", &name]).ends(1);
    ibid(&home, ["restore", &name]).ends(0);
    assert_eq!(ibid(&home, ["show", &name, "--raw"]).ends(0).stdout, raw);
}

#[test]
fn a_store_that_is_yet_to_be_made_takes_one_session_and_says_so() {
    let home = home();
    let run = ibid(&home, ["convert", CODEX_PARENT, "--to", "opencode", "--json"]).ends(0);
    let json = run.json();
    assert!(json["losses"].as_array().unwrap().iter().any(|loss| loss["kind"] == "subagents"));
    assert!(json["notes"].to_string().contains("yet to be made"), "{json}");
}

#[test]
fn a_missing_directory_can_be_given() {
    let home = home();
    let text = r#"{"id":"nowhere","messages":[{"role":"user","content":"hi"}]}"#;
    let home = home.with_file("n.json", text);
    let file = home.path().join("n.json");
    let run = ibid(&home, ["convert", file.to_str().unwrap(), "--to", "claude-code"]).ends(2);
    assert!(run.stderr.contains("--cwd DIR"), "{}", run.stderr);
    ibid(&home, ["convert", file.to_str().unwrap(), "--to", "claude-code", "--cwd", "/home/dev/x"]).ends(0);
}

#[test]
fn a_harness_that_is_only_read_is_refused_with_those_that_are_written() {
    let refused = ibid(&home(), ["convert", PI_TOOLS, "--to", "grok"]).ends(2).stderr;
    assert!(
        refused.contains("does not write them; give --to one of claude-code, codex, cowork,"),
        "{refused}"
    );
}
