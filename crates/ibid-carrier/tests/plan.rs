//! Plans: what they show, what they refuse, and what they do.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test states what it expects, in its functions too"
)]

mod scenario;

use std::fs;
use std::path::Path;

use ibid_carrier::plan::{Content, ContentStamp, Plan, PlanError, Policy, RowSelection, Step};
use ibid_carrier::sqlite::{RowSet, SqlValue, SqliteError};
use rusqlite::Connection;
use scenario::{Scenario, directory, new_rows};

fn create(path: &Path, content: &str) -> Step {
    Step::CreateFile { path: path.to_owned(), content: content.into(), private: true }
}

fn insert(scenario: &Scenario, rows: RowSet, refuse_existing: bool) -> Plan {
    Plan::new(vec![Step::InsertRows { database: scenario.database(), rows, refuse_existing }])
}

/// Commits, and expects to be refused with everything as it was.
fn refused(scenario: &Scenario, plan: &Plan, policy: &Policy) -> PlanError {
    let before = scenario.state();
    let checked = scenario.engine().check(plan, policy).map_err(|error| error.to_string());
    let error = scenario.engine().commit(plan, policy).unwrap_err();
    assert_eq!(checked, Err(error.to_string()), "the dry run says the same");
    assert_eq!(scenario.state(), before);
    assert_eq!(scenario.engine().pending().unwrap(), []);
    error
}

#[test]
fn a_plan_shows_paths_and_sizes_and_never_content() {
    let home = directory();
    let scenario = Scenario::build(home.path());
    let secret = "sk-a-secret-that-must-not-be-shown";
    let mut plan = scenario.everything();
    plan.steps.push(create(&scenario.store().join("key"), secret));
    let text = plan.to_string();
    let json = serde_json::to_string(&plan).unwrap();
    for shown in [&text, &json, &format!("{plan:?}")] {
        assert!(!shown.contains(secret), "{shown}");
    }
    let relative = text.replace(&*home.path().to_string_lossy(), "~");
    assert_eq!(
        relative,
        "1. make directory ~/store/new/deep (only for you)
2. create ~/store/new/deep/b.jsonl: 8 bytes (only for you)
3. append to ~/store/log.jsonl (8 bytes): 8 bytes
4. replace ~/store/config.json (17 bytes, kept as a backup): 18 bytes
5. insert into ~/store/sessions.db: 1 row of session, 5 rows of message
6. move to the trash from ~/store/sessions.db: rows of session where id is \"old\"; rows of message where session_id is \"old\"
7. move to the trash ~/store/old.jsonl
8. move to the trash the directory ~/store/old with everything in it
9. create ~/store/a.record: 9 bytes, a copy of ~/store/source.bin (only for you)
10. create ~/store/key: 34 bytes (only for you)
"
    );
}

#[test]
fn the_json_of_a_plan_is_stable() {
    let plan = Plan::new(vec![
        create(Path::new("/s/a"), "abc"),
        Step::InsertRows { database: "/s/db".into(), rows: new_rows(), refuse_existing: true },
        Step::TrashFile { path: "/s/b".into(), expected: None },
    ])
    .label("harness", "example");
    assert_eq!(
        serde_json::to_string(&plan).unwrap(),
        concat!(
            r#"{"steps":[{"step":"create-file","path":"/s/a","content":{"bytes":3},"private":true},"#,
            r#"{"step":"insert-rows","database":"/s/db","rows":[{"table":"session","rows":1},{"table":"message","rows":5}],"refuse_existing":true},"#,
            r#"{"step":"trash-file","path":"/s/b"}],"labels":{"harness":"example"}}"#
        )
    );
    assert_eq!(plan, plan.clone());
    assert_ne!(plan, Plan::new(plan.steps.clone()));
}

#[test]
fn a_commit_does_every_step_and_says_what_it_did() {
    let home = directory();
    let scenario = Scenario::build(home.path());
    let plan = scenario.everything();
    scenario.engine().check(&plan, &scenario.policy()).unwrap();
    let committed = scenario.engine().commit(&plan, &scenario.policy()).unwrap();
    let store = scenario.store();
    let paths = ["new/deep/b.jsonl", "log.jsonl", "config.json", "sessions.db", "a.record"];
    assert_eq!(committed.written, paths.map(|path| store.join(path)));
    assert_eq!(fs::read(&committed.backups[0]).unwrap(), b"{\"theme\":\"dark\"}\n");
    assert_eq!(committed.trashed[0].items.len(), 3);
    assert_eq!(fs::read(store.join("log.jsonl")).unwrap(), b"{\"n\":1}\n{\"n\":2}\n");
    assert_eq!(fs::read(store.join("a.record")).unwrap(), fs::read(store.join("source.bin")).unwrap());
    assert!(!store.join("old").exists());
    let state = scenario.state();
    assert!(state["store/new/deep/b.jsonl"].starts_with("file 600"));
    assert_eq!(state["store/new/deep"], "directory 700");
}

#[test]
fn an_existing_file_is_refused_and_replaced_only_when_told_with_a_backup() {
    let home = directory();
    let scenario = Scenario::build(home.path());
    let config = scenario.store().join("config.json");
    let plan = Plan::new(vec![create(&config, "new")]);
    let error = refused(&scenario, &plan, &scenario.policy());
    assert!(matches!(error, PlanError::Exists { .. }) && error.is_refusal());
    let committed = scenario.engine().commit(&plan, &scenario.policy().replacing()).unwrap();
    assert_eq!(fs::read(&config).unwrap(), b"new");
    assert_eq!(fs::read(&committed.backups[0]).unwrap(), b"{\"theme\":\"dark\"}\n");
}

#[test]
fn existing_rows_are_refused_left_or_replaced_as_told() {
    let home = directory();
    let scenario = Scenario::build(home.path());
    let title = || -> String {
        let connection = Connection::open(scenario.database()).unwrap();
        connection.query_row("SELECT title FROM session WHERE id = 'old'", [], |row| row.get(0)).unwrap()
    };
    let mut rows = new_rows();
    let extra = rows.tables[0].rows[0][2].clone();
    rows.tables[0].rows.push(vec!["old".into(), "Changed".into(), extra]);
    let error = refused(&scenario, &insert(&scenario, rows.clone(), true), &scenario.policy());
    assert!(error.is_refusal());
    assert!(error.to_string().contains("the row old of \"session\" is there already"), "{error}");

    let committed = scenario
        .engine()
        .commit(&insert(&scenario, rows.clone(), true), &scenario.policy().replacing())
        .unwrap();
    assert_eq!(title(), "Changed");
    let kept: RowSet = serde_json::from_slice(&fs::read(&committed.backups[0]).unwrap()).unwrap();
    assert_eq!(kept.tables[0].rows[0][1], SqlValue::from("Old"));

    rows.tables[0].rows[1][1] = "Changed again".into();
    let committed = scenario.engine().commit(&insert(&scenario, rows, false), &scenario.policy()).unwrap();
    assert_eq!(title(), "Changed");
    assert!(committed.backups.is_empty());
}

#[test]
fn rows_may_come_in_any_order_and_must_refer_to_something_in_the_end() {
    let home = directory();
    let scenario = Scenario::build(home.path());
    let mut rows = new_rows();
    rows.tables.reverse();
    scenario.engine().commit(&insert(&scenario, rows.clone(), true), &scenario.policy()).unwrap();
    let before = scenario.state();
    rows.tables.truncate(1);
    rows.tables[0].rows = vec![vec!["nobody".into(), SqlValue::Integer(1), SqlValue::Null]];
    let error = scenario.engine().commit(&insert(&scenario, rows, true), &scenario.policy()).unwrap_err();
    assert!(error.to_string().contains("FOREIGN KEY"), "{error}");
    assert_eq!(scenario.state(), before);
}

// https://github.com/NousResearch/hermes-agent/issues/91548
// fault 58
#[test]
fn a_row_that_does_not_read_back_as_it_was_written_is_undone() {
    let home = directory();
    let scenario = Scenario::build(home.path());
    let before = scenario.state();
    let mut rows = new_rows();
    // The column's affinity turns this into text.
    rows.tables[0].rows[0][1] = SqlValue::Integer(7);
    let error = scenario.engine().commit(&insert(&scenario, rows, true), &scenario.policy()).unwrap_err();
    assert!(matches!(error, PlanError::Mismatch { .. } | PlanError::NotUndone { .. }), "{error}");
    assert_eq!(scenario.state(), before);
}

#[test]
fn deleting_rows_refuses_to_take_rows_along_that_nobody_named() {
    let home = directory();
    let scenario = Scenario::build(home.path());
    let selections = vec![RowSelection::new("session", "id", "old")];
    let plan = Plan::new(vec![Step::TrashRows { database: scenario.database(), selections }]);
    let before = scenario.state();
    let error = scenario.engine().commit(&plan, &scenario.policy()).unwrap_err();
    let PlanError::Database { source: SqliteError::SideEffects { named: 1, changed: 3 }, .. } = error else {
        panic!("{error}");
    };
    assert_eq!(scenario.state(), before);
}

#[test]
fn an_id_with_a_wildcard_deletes_nothing() {
    let home = directory();
    let scenario = Scenario::build(home.path());
    let selections = vec![RowSelection::new("message", "session_id", "%")];
    let plan = Plan::new(vec![Step::TrashRows { database: scenario.database(), selections }]);
    let before = scenario.state();
    assert!(scenario.engine().check(&plan, &scenario.policy()).is_err());
    assert!(scenario.engine().commit(&plan, &scenario.policy()).is_err());
    assert_eq!(scenario.state(), before);
}

#[test]
fn no_step_leaves_the_roots() {
    let home = directory();
    let scenario = Scenario::build(home.path());
    fs::create_dir(home.path().join("outside")).unwrap();
    let paths = [
        home.path().join("outside/x"),
        scenario.store().join("../outside/x"),
        "relative".into(),
        home.path().join("storehouse"),
    ];
    for path in paths {
        let plan = Plan::new(vec![create(&path, "x")]);
        let error = refused(&scenario, &plan, &scenario.policy());
        assert!(matches!(error, PlanError::Outside { .. }) && error.is_refusal(), "{error}");
    }
    let whole = Plan::new(vec![Step::TrashDirectory { path: scenario.store() }]);
    assert!(matches!(refused(&scenario, &whole, &scenario.policy()), PlanError::Outside { .. }));
    let nowhere = Plan::new(vec![create(&scenario.store().join("x"), "x")]);
    assert!(matches!(refused(&scenario, &nowhere, &Policy::default()), PlanError::Outside { .. }));
}

#[cfg(unix)]
#[test]
fn links_are_not_followed_out_of_the_roots() {
    use std::os::unix::fs::symlink;
    let home = directory();
    let scenario = Scenario::build(home.path());
    let store = scenario.store();
    let outside = home.path().join("outside");
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("kept"), "kept").unwrap();
    symlink(&outside, store.join("way-out")).unwrap();
    symlink(outside.join("kept"), store.join("file")).unwrap();
    symlink(outside.join("nothing"), store.join("dangling")).unwrap();
    symlink(store.join("old"), store.join("within")).unwrap();
    let stamp = ContentStamp::of(&outside.join("kept")).unwrap();
    let content = || Content::from("x");
    let steps = [
        create(&store.join("way-out/x"), "x"),
        create(&store.join("dangling/x"), "x"),
        create(&store.join("dangling"), "x"),
        Step::TrashFile { path: store.join("way-out/kept"), expected: None },
        Step::TrashFile { path: store.join("file"), expected: None },
        Step::TrashDirectory { path: store.join("way-out") },
        Step::AppendFile { path: store.join("file"), expected: stamp.clone(), content: content() },
        Step::ReplaceFile { path: store.join("file"), expected: stamp, content: content(), private: false },
        Step::MakeDirectory { path: store.join("way-out/directory"), private: false },
    ];
    for step in steps {
        let error = scenario.engine().commit(&Plan::new(vec![step.clone()]), &scenario.policy().replacing());
        assert!(error.unwrap_err().is_refusal(), "{step}");
    }
    assert_eq!(fs::read_dir(&outside).unwrap().count(), 1);
    assert_eq!(fs::read(outside.join("kept")).unwrap(), b"kept");
    // A link that stays within is a way like any other.
    let plan = Plan::new(vec![create(&store.join("within/x"), "x")]);
    let committed = scenario.engine().commit(&plan, &scenario.policy()).unwrap();
    assert_eq!(committed.written, [store.join("within/x")]);
    assert_eq!(fs::read(store.join("old/x")).unwrap(), b"x");
}

#[test]
fn what_changed_since_the_plan_was_made_is_left_alone() {
    let home = directory();
    let scenario = Scenario::build(home.path());
    let log = scenario.store().join("log.jsonl");
    let expected = ContentStamp::of(&log).unwrap();
    fs::write(&log, "{\"n\":9}\n").unwrap();
    let steps = [
        Step::AppendFile { path: log.clone(), expected: expected.clone(), content: "x".into() },
        Step::ReplaceFile {
            path: log.clone(),
            expected: expected.clone(),
            content: "x".into(),
            private: false,
        },
        Step::TrashFile { path: log, expected: Some(expected) },
    ];
    for step in steps {
        let error = refused(&scenario, &Plan::new(vec![step]), &scenario.policy());
        assert!(matches!(error, PlanError::Changed { .. }) && error.is_refusal());
    }
}

#[test]
fn a_file_needs_its_directory() {
    let home = directory();
    let scenario = Scenario::build(home.path());
    let plan = Plan::new(vec![create(&scenario.store().join("absent/x"), "x")]);
    assert!(matches!(refused(&scenario, &plan, &scenario.policy()), PlanError::Missing { .. }));
}

#[test]
fn one_plan_can_delete_and_make_the_same_file() {
    let home = directory();
    let scenario = Scenario::build(home.path());
    let path = scenario.store().join("old.jsonl");
    let plan = Plan::new(vec![Step::TrashFile { path: path.clone(), expected: None }, create(&path, "new")]);
    let committed = scenario.engine().commit(&plan, &scenario.policy()).unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"new");
    assert_eq!(committed.trashed.len(), 1);
}

#[test]
fn more_than_there_is_room_for_is_refused_before_anything_is_written() {
    let home = directory();
    let scenario = Scenario::build(home.path());
    // A file with a hole: it takes no room, and a copy of it would take more than there is.
    let huge = home.path().join("huge");
    fs::File::create(&huge).unwrap().set_len(fs4::available_space(home.path()).unwrap() + (1 << 30)).unwrap();
    let content = Content::copy_of(&huge).unwrap();
    let plan = Plan::new(vec![Step::CreateFile { path: scenario.store().join("x"), content, private: true }]);
    let before = scenario.state();
    for result in [
        scenario.engine().check(&plan, &scenario.policy()),
        scenario.engine().commit(&plan, &scenario.policy()).map(drop),
    ] {
        assert!(matches!(result, Err(PlanError::NoSpace { .. })), "{result:?}");
    }
    assert_eq!(scenario.state(), before);
}

#[test]
fn a_name_in_a_plan_can_neither_steer_a_terminal_nor_turn_its_text() {
    let path = std::path::PathBuf::from("/store/\u{1b}[31m\u{202e}lnosj.a");
    let shown = Step::TrashFile { path, expected: None }.to_string();
    assert_eq!(shown, "move to the trash /store/\u{fffd}[31m\u{fffd}lnosj.a");
}
