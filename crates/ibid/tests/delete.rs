use crate::common::{CODEX_CHILD, CODEX_COMPACTED, CODEX_PARENT, PI_TOOLS, home, ibid, stores};

#[test]
fn nobody_is_asked_without_a_terminal() {
    let home = home();
    let before = stores(&home);
    let run = ibid(&home, ["delete", PI_TOOLS]).ends(3);
    assert!(run.stderr.contains("--yes"), "{}", run.stderr);
    ibid(&home, ["delete", PI_TOOLS, "--dry-run"]).ends(0);
    for (after, before) in stores(&home).iter().zip(&before) {
        after.assert_same_as(before);
    }
}

#[test]
fn a_deleted_session_is_gone_from_the_list() {
    let home = home();
    let run = ibid(&home, ["delete", PI_TOOLS, "--yes"]).ends(0);
    assert!(run.stdout.contains("ibid restore 01a22ca2-9faa"), "{}", run.stdout);
    ibid(&home, ["show", PI_TOOLS]).ends(1);
}

#[test]
fn subagents_go_along_and_are_named() {
    let home = home();
    let run = ibid(&home, ["delete", CODEX_PARENT, "--yes"]).ends(0);
    let child = CODEX_CHILD.trim_start_matches("codex:");
    assert!(run.stdout.contains(&format!("with its subagent {child}")), "{}", run.stdout);
    ibid(&home, ["show", CODEX_CHILD]).ends(1);
}

#[test]
fn several_go_at_once_and_json_names_their_trash() {
    let home = home();
    let json = ibid(&home, ["delete", PI_TOOLS, CODEX_PARENT, PI_TOOLS, "--yes", "--json"]).ends(0).json();
    let sessions = json["sessions"].as_array().unwrap();
    assert_eq!(sessions.len(), 2);
    assert!(sessions.iter().all(|session| session["deleted"] == true && session["trash"].is_string()));
}

#[test]
fn one_wrong_name_moves_nothing() {
    let home = home();
    let before = stores(&home);
    ibid(&home, ["delete", PI_TOOLS, "nope", "--yes"]).ends(1);
    ibid(&home, ["delete", &format!("{PI_TOOLS}#1-3"), "--yes"]).ends(3);
    for (after, before) in stores(&home).iter().zip(&before) {
        after.assert_same_as(before);
    }
}

#[test]
fn a_session_that_a_program_has_open_stays_unless_it_is_asked_for() {
    let home = home();
    let lock = CODEX_COMPACTED.trim_start_matches("codex:");
    let locks = home.path().join(".codex/thread-writer-locks");
    std::fs::create_dir_all(&locks).unwrap();
    let lock = std::fs::File::create(locks.join(format!("{lock}.lock"))).unwrap();
    lock.lock().unwrap();
    let run = ibid(&home, ["delete", CODEX_COMPACTED, "--yes"]).ends(3);
    assert!(run.stderr.contains("open") && run.stderr.contains("--while-open"), "{}", run.stderr);
    ibid(&home, ["delete", CODEX_COMPACTED, "--yes", "--while-open"]).ends(0);
}
