//! Plans: what they show, what they refuse, and that they happen as a whole or not at all.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test states what it expects, in its functions too"
)]

mod scenario;

use std::fs;
use std::path::Path;

use ibid_carrier::plan::{Action, Content, ContentStamp, Plan, PlanError, Policy, RowSelection, Step, When};
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

// https://github.com/Dicklesworthstone/cross_agent_session_resumer/issues/9
// fault 28
#[test]
fn a_failure_at_any_point_leaves_everything_as_it_was() {
    let mut at = 0;
    loop {
        let home = directory();
        let scenario = Scenario::build(home.path());
        let before = scenario.state();
        let (mut seen, mut completed) = (0, false);
        let result =
            scenario.engine().commit_observed(&scenario.everything(), &scenario.policy(), &mut |point| {
                completed |= point.action == Action::Complete && point.when == When::After;
                seen += 1;
                if seen == at + 1 { Err(std::io::Error::other("asked for")) } else { Ok(()) }
            });
        if completed {
            assert!(at > 50);
            // Everything was done before; clearing up is left to the next writer.
            result.unwrap();
            let recovered = scenario.engine().recover().unwrap();
            assert_eq!(scenario.engine().pending().unwrap(), []);
            if recovered.is_empty() {
                break;
            }
        } else {
            assert!(result.is_err(), "point {at}");
            assert_eq!(scenario.state(), before, "point {at}");
            assert_eq!(scenario.engine().pending().unwrap(), []);
        }
        at += 1;
    }
}

/// The same moments as in the crash test, without a process each: whatever ends a commit, the next
/// writer brings the store to what it was or to what it was to become.
#[test]
fn a_panic_at_any_point_is_recovered_from_like_a_crash() {
    use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
    let (mut undone, mut completed) = (0, 0);
    for at in 0.. {
        let home = directory();
        let scenario = Scenario::build(home.path());
        let before = scenario.state();
        let (plan, policy) = (scenario.everything(), scenario.policy());
        let mut seen = 0;
        let mut observer = |_| {
            seen += 1;
            if seen > at { resume_unwind(Box::new(())) } else { Ok(()) }
        };
        let ended = catch_unwind(AssertUnwindSafe(|| {
            scenario.engine().commit_observed(&plan, &policy, &mut observer).unwrap();
        }));
        if ended.is_ok() {
            break;
        }
        scenario.engine().recover().unwrap();
        assert_eq!(scenario.engine().pending().unwrap(), []);
        if scenario.state() == before {
            undone += 1;
            scenario.engine().commit(&scenario.everything(), &policy).unwrap();
        } else {
            completed += 1;
        }
        assert!(scenario.store().join("a.record").exists() && !scenario.store().join("old").exists());
    }
    assert!(undone > 20 && completed > 20, "{undone} undone, {completed} completed");
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
fn a_failure_after_rows_were_replaced_brings_the_old_ones_back() {
    let home = directory();
    let scenario = Scenario::build(home.path());
    let before = scenario.state();
    let mut rows = new_rows();
    rows.tables[0].rows.push(vec!["old".into(), "Changed".into(), SqlValue::Null]);
    let plan = insert(&scenario, rows, true);
    let result =
        scenario.engine().commit_observed(&plan, &scenario.policy().replacing(), &mut |point| match point
            .action
        {
            Action::Verify => Err(std::io::Error::other("asked for")),
            _ => Ok(()),
        });
    assert!(result.is_err());
    assert_eq!(scenario.state(), before);
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

/// The file is changed in the last moment: after everything was checked, right before the step is
/// published.
#[test]
fn what_another_program_writes_between_check_and_publication_survives() {
    let others = "{\"n\":1}\n{\"n\":\"written by another program\"}\n";
    let step_of = |log: &Path, kind: usize| {
        let path = log.to_owned();
        let expected = ContentStamp::of(log).unwrap();
        match kind {
            0 => Step::AppendFile { path, expected, content: "x".into() },
            1 => Step::ReplaceFile { path, expected, content: "x".into(), private: false },
            2 => Step::TrashFile { path, expected: Some(expected) },
            _ => create(&log.with_file_name("fresh.jsonl"), "x"),
        }
    };
    for kind in 0..4 {
        let home = directory();
        let scenario = Scenario::build(home.path());
        let log = scenario.store().join("log.jsonl");
        let step = step_of(&log, kind);
        let written = step.path().unwrap().to_owned();
        let first = create(&scenario.store().join("first"), "to be undone");
        let mut published = 0;
        let result = scenario.engine().commit_observed(
            &Plan::new(vec![first, step]),
            &scenario.policy(),
            &mut |point| {
                if point.action == Action::Publish && point.when == When::Before {
                    published += 1;
                    if published == 2 {
                        fs::write(&written, others)?;
                    }
                }
                Ok(())
            },
        );
        let error = result.unwrap_err();
        assert!(error.is_refusal(), "{kind}: {error}");
        assert_eq!(fs::read_to_string(&written).unwrap(), others, "{kind}");
        assert!(!scenario.store().join("first").exists());
        assert_eq!(scenario.engine().pending().unwrap(), []);
        assert!(scenario.state().keys().all(|name| !name.contains(".ibid-")));
    }
}

#[test]
fn what_another_program_did_with_a_new_file_is_not_undone() {
    let home = directory();
    let scenario = Scenario::build(home.path());
    let path = scenario.store().join("fresh.jsonl");
    let plan = Plan::new(vec![create(&path, "ours\n")]);
    let error = scenario
        .engine()
        .commit_observed(&plan, &scenario.policy(), &mut |point| {
            if point.action == Action::Publish && point.when == When::After {
                fs::write(&path, "ours\nand theirs\n")?;
            }
            Ok(())
        })
        .unwrap_err();
    let PlanError::NotUndone { problems, .. } = &error else { panic!("{error}") };
    assert_eq!(problems.len(), 1);
    assert_eq!(fs::read(&path).unwrap(), b"ours\nand theirs\n");
    let pending = scenario.engine().pending().unwrap();
    assert_eq!(pending[0].paths, [fs::canonicalize(&path).unwrap()]);
    // It does not stand in the way of other plans.
    let other = Plan::new(vec![create(&scenario.store().join("other"), "x")]);
    scenario.engine().commit(&other, &scenario.policy()).unwrap();
}

#[test]
fn a_busy_database_undoes_the_files_that_were_published_before() {
    let home = directory();
    let scenario = Scenario::build(home.path());
    let before = scenario.state();
    let mut writer = Connection::open(scenario.database()).unwrap();
    let _held = writer.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate).unwrap();
    let error = scenario.engine().commit(&scenario.everything(), &scenario.policy()).unwrap_err();
    assert!(matches!(error, PlanError::Database { source: SqliteError::Busy { .. }, .. }), "{error}");
    drop(_held);
    assert_eq!(scenario.state(), before);
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

/// A file system of two megabytes, on a machine that lets us mount one.
#[cfg(target_os = "linux")]
struct SmallDisk(tempfile::TempDir);

#[cfg(target_os = "linux")]
impl SmallDisk {
    fn mount() -> Option<SmallDisk> {
        let directory = tempfile::tempdir().unwrap();
        let mounted = std::process::Command::new("mount")
            .args(["-t", "tmpfs", "-o", "size=2m", "tmpfs"])
            .arg(directory.path())
            .output();
        mounted.is_ok_and(|output| output.status.success()).then_some(SmallDisk(directory))
    }
}

#[cfg(target_os = "linux")]
impl Drop for SmallDisk {
    fn drop(&mut self) {
        std::process::Command::new("umount").arg(self.0.path()).output().unwrap();
    }
}

/// The check finds room; then another program takes all of it, at one moment or another.
#[cfg(target_os = "linux")]
#[test]
fn a_disk_that_fills_up_leaves_everything_as_it_was() {
    let moments = [(Action::Stage, 1), (Action::Stage, 3), (Action::Publish, 2), (Action::Publish, 4)];
    for (action, step) in moments {
        let Some(disk) = SmallDisk::mount() else {
            eprintln!("skipped: a_disk_that_fills_up_leaves_everything_as_it_was (mounting is not allowed)");
            return;
        };
        let home = disk.0.path();
        let scenario = Scenario::build(home);
        let before = scenario.state();
        let mut plan = scenario.everything();
        // More than the last page of the file has room for.
        if let Step::AppendFile { content, .. } = &mut plan.steps[2] {
            *content = vec![b'x'; 100 << 10].into();
        }
        let mut grown = 0;
        let result = scenario.engine().commit_observed(&plan, &scenario.policy(), &mut |point| {
            let log = fs::metadata(scenario.store().join("log.jsonl"))?.len();
            grown = grown.max(log);
            if (point.action, point.step, point.when) == (action, Some(step), When::Before) {
                // It takes what it gets.
                let _ = fs::write(home.join("filler"), vec![1_u8; 4 << 20]);
            }
            Ok(())
        });
        assert!(result.is_err(), "{action:?} {step}");
        if (action, step) == (Action::Publish, 2) {
            assert!(grown > 8 && grown < 100 << 10, "a part was written and taken back: {grown}");
        }
        fs::remove_file(home.join("filler")).unwrap();
        assert_eq!(scenario.state(), before, "{action:?} {step}");
        scenario.engine().recover().unwrap();
        assert_eq!(scenario.state(), before, "{action:?} {step}");
        assert_eq!(scenario.engine().pending().unwrap(), []);
    }
}

#[test]
fn two_writers_take_turns() {
    let home = directory();
    let scenario = Scenario::build(home.path());
    let path = scenario.store().join("log.jsonl");
    std::thread::scope(|threads| {
        for writer in 0..4 {
            let (scenario, path) = (&scenario, &path);
            threads.spawn(move || {
                for line in 0..5 {
                    loop {
                        let plan = Plan::new(vec![
                            create(&scenario.store().join(format!("{writer}-{line}")), "x"),
                            Step::AppendFile {
                                path: path.clone(),
                                expected: ContentStamp::of(path).unwrap(),
                                content: format!("{writer} {line}\n").into(),
                            },
                        ]);
                        match scenario.engine().commit(&plan, &scenario.policy()) {
                            Ok(_) => break,
                            // The other was first: the plan is made again.
                            Err(PlanError::Changed { .. }) => {}
                            Err(error) => panic!("{error}"),
                        }
                    }
                }
            });
        }
    });
    assert_eq!(fs::read_to_string(&path).unwrap().lines().count(), 1 + 4 * 5);
    assert_eq!(scenario.engine().pending().unwrap(), []);
}
