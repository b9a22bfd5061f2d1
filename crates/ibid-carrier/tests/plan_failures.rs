//! Plans that fail: everything is as it was, whatever the reason and the moment.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test states what it expects, in its functions too"
)]

mod scenario;

use std::fs;
use std::path::Path;

use ibid_carrier::plan::{Action, ContentStamp, Plan, PlanError, Step, When};
use ibid_carrier::sqlite::{RowSet, SqlValue, SqliteError};
use rusqlite::Connection;
use scenario::{Scenario, directory, new_rows};

fn create(path: &Path, content: &str) -> Step {
    Step::CreateFile { path: path.to_owned(), content: content.into(), private: true }
}

fn insert(scenario: &Scenario, rows: RowSet, refuse_existing: bool) -> Plan {
    Plan::new(vec![Step::InsertRows { database: scenario.database(), rows, refuse_existing }])
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

/// A plan of which one step cannot be taken back, because another program went on from it.
fn stuck(scenario: &Scenario) -> PlanError {
    let path = scenario.store().join("fresh.jsonl");
    let mut plan = scenario.everything();
    plan.steps.push(create(&path, "ours\n"));
    scenario
        .engine()
        .commit_observed(&plan, &scenario.policy(), &mut |point| {
            if (point.action, point.step, point.when) == (Action::Publish, Some(9), When::After) {
                fs::write(&path, "ours\nand theirs\n")?;
            }
            Ok(())
        })
        .unwrap_err()
}

#[test]
fn what_another_program_did_with_a_new_file_is_not_undone() {
    let home = directory();
    let scenario = Scenario::build(home.path());
    let mut before = scenario.state();
    let error = stuck(&scenario);
    let PlanError::NotUndone { problems, .. } = &error else { panic!("{error}") };
    assert_eq!(problems.len(), 1);
    let path = scenario.store().join("fresh.jsonl");
    assert_eq!(fs::read(&path).unwrap(), b"ours\nand theirs\n");
    assert_eq!(scenario.engine().pending().unwrap()[0].problems, *problems);
    // All the rest was.
    scenario.engine().dismiss(&scenario.engine().pending().unwrap()[0].id).unwrap();
    assert_eq!(scenario.engine().pending().unwrap(), []);
    let mut state = scenario.state();
    assert!(state.remove("store/fresh.jsonl").is_some());
    // What was made for the plan and is empty stays when a commit is given up.
    state.retain(|name, _| !name.starts_with("store/new"));
    before.retain(|name, _| !name.starts_with("store/new"));
    assert_eq!(state, before);
}

#[test]
fn what_is_stuck_does_not_undo_the_same_plan_carried_out_later() {
    let home = directory();
    let scenario = Scenario::build(home.path());
    stuck(&scenario);
    scenario.engine().commit(&scenario.everything(), &scenario.policy()).unwrap();
    let after = scenario.state();
    let other = Plan::new(vec![create(&scenario.store().join("other"), "x")]);
    scenario.engine().commit(&other, &scenario.policy()).unwrap();
    let recovered = scenario.engine().recover().unwrap();
    assert!(matches!(recovered[0].outcome, ibid_carrier::plan::Outcome::Stuck(_)));
    let mut state = scenario.state();
    state.remove("store/other");
    assert_eq!(state, after);
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
    let database = scenario.database().display().to_string();
    assert_eq!(error.to_string().matches(&database).count(), 1, "{error}");
    drop(_held);
    assert_eq!(scenario.state(), before);
}

#[test]
fn what_a_lock_kept_from_being_undone_is_undone_by_the_next_writer() {
    let home = directory();
    let scenario = Scenario::build(home.path());
    let before = scenario.state();
    let holder = Connection::open(scenario.database()).unwrap();
    let mut held = None;
    let plan = insert(&scenario, new_rows(), true);
    let error = scenario
        .engine()
        .commit_observed(&plan, &scenario.policy(), &mut |point| match (point.action, point.when) {
            (Action::Publish, When::After) => {
                let locked = rusqlite::TransactionBehavior::Immediate;
                held = Some(rusqlite::Transaction::new_unchecked(&holder, locked).unwrap());
                Err(std::io::Error::other("asked for"))
            }
            _ => Ok(()),
        })
        .unwrap_err();
    assert!(matches!(error, PlanError::NotUndone { .. }), "{error}");
    drop(held);
    let other = Plan::new(vec![Step::MakeDirectory { path: scenario.store(), private: true }]);
    scenario.engine().commit(&other, &scenario.policy()).unwrap();
    assert_eq!(scenario.state(), before);
    assert_eq!(scenario.engine().pending().unwrap(), []);
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
    let moments = [
        (Action::Stage, 1),
        (Action::Stage, 3),
        (Action::Publish, 2),
        (Action::Publish, 4),
        (Action::Publish, 5),
    ];
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
        // Taking rows back needs room too: then it waits for the next writer, and says so.
        if !matches!(result, Err(PlanError::NotUndone { .. })) {
            assert_eq!(scenario.state(), before, "{action:?} {step}");
        }
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
