//! Which sessions belong to a project: by the directories that they recorded, however spelled.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests show what they expect")]

mod support;

use ibid_evidence::Evidence;
use ibid_evidence::answer::Reason;
use ibid_evidence::ask::DiscoverParams;
use ibid_testkit::Home;
use serde_json::json;
use support::*;

// evidence defect 3
#[test]
fn a_folder_name_that_two_directories_share_admits_no_foreign_session() {
    let foreign = Claude::at("/w/my/demo", 1).says("Another project");
    let own = Claude::at("/w/my-demo", 2).says("This project");
    let home = with_claude(with_claude(Home::new(), "-w-my-demo", &foreign), "-w-my-demo", &own);
    assert_eq!(ids(&discover(&home, "/w/my-demo")), [own.id.as_str()]);
    assert_eq!(ids(&discover(&home, "/w/my/demo")), [foreign.id.as_str()]);
    let nothing = discover(&home, "/w/my");
    assert_eq!(ids(&nothing), [foreign.id.as_str()], "a project has what was done below it");
}

#[test]
fn an_ancestor_of_the_project_is_not_the_project() {
    let above =
        Claude::at("/w", 1).says("See /w/demo").calls("t", "Read", json!({"file_path":"/w/demo/a.rs"}));
    let home = with_claude(Home::new(), "-w", &above);
    let discovery = discover(&home, "/w/demo");
    assert!(discovery.sessions.is_empty());
    assert_eq!(provider(&discovery, "claude").reason, Some(Reason::NoMatch));
}

#[test]
fn a_session_that_changes_into_the_project_later_is_found_in_another_folder() {
    let moved = Claude::at("/elsewhere", 1).says("First").cd("/w/demo/src").says("Second");
    let home = with_claude(Home::new(), "-elsewhere", &moved);
    let discovery = discover(&home, "/w/demo");
    assert_eq!(prompts(only(&discovery)), ["First", "Second"]);
}

// evidence defect 8
#[cfg(unix)]
#[test]
fn sessions_recorded_under_the_link_and_under_what_it_leads_to_are_both_found() {
    let (folder, root) = project(&["a.rs"]);
    let link = folder.path().canonicalize().unwrap().join("link");
    std::os::unix::fs::symlink(root.parent().unwrap(), &link).unwrap();
    let through = link.join("demo");
    let call = |path: &std::path::Path| json!({ "file_path": path.join("a.rs") });
    let one = Claude::at(root.to_str().unwrap(), 1).calls("t", "Read", call(&root));
    let two = Claude::at(through.to_str().unwrap(), 2).calls("t", "Read", call(&through));
    let home = with_claude(with_claude(Home::new(), "one", &one), "two", &two);
    for workspace in [&root, &through] {
        let discovery = discover(&home, workspace);
        assert_eq!(ids(&discovery), [two.id.as_str(), one.id.as_str()], "{workspace:?}");
        if workspace == &through {
            assert_eq!(discovery.observations.len(), 2, "both spellings name the file");
        }
    }
}

#[test]
fn a_worktree_that_was_deleted_keeps_its_sessions() {
    let (folder, root) = project(&[]);
    let session = Claude::at(root.join("sub").to_str().unwrap(), 1).says("x");
    let home = with_claude(Home::new(), "x", &session);
    drop(folder);
    assert_eq!(discover(&home, &root).sessions.len(), 1);
}

#[test]
fn names_are_compared_composed_and_windows_paths_without_case() {
    let decomposed = Claude::at("/w/cafe\u{301}", 1).says("x");
    let windows = Claude::at(r"C:\Repo\App", 2).says("x");
    let home = with_claude(with_claude(Home::new(), "a", &decomposed), "b", &windows);
    assert_eq!(ids(&discover(&home, "/w/caf\u{e9}")), [decomposed.id.as_str()]);
    assert_eq!(ids(&discover(&home, r"c:\repo\app")), [windows.id.as_str()]);
    let moved = Claude::at("/elsewhere", 3).says("x").cd("/w/cafe\u{301}/src").says("y");
    let home = with_claude(home, "c", &moved);
    assert_eq!(discover(&home, "/w/caf\u{e9}").sessions.len(), 2);
}

// evidence defect 11
#[test]
fn stores_that_variables_name_are_searched() {
    let session = Claude::at("/w/demo", 1).says("x");
    let home = Home::new().with_file(&format!("elsewhere/projects/p/{}.jsonl", session.id), session.text());
    let machine = ibid_harness::Surroundings::isolated(home.path())
        .with_variable("CLAUDE_CONFIG_DIR", "~/elsewhere")
        .with_variable("CODEX_HOME", "~/nowhere");
    let discovery = ibid_evidence::Host::of(machine, ibid_harness::all());
    let discovery = discovery.discover(&DiscoverParams::of("/w/demo")).unwrap();
    assert_eq!(ids(&discovery), [session.id.as_str()]);
    assert_eq!(provider(&discovery, "codex").reason, Some(Reason::StoreMissing));
}
