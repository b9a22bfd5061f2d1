//! A process that dies in the middle of a commit: the store ends as it was before or as it is
//! after, whatever the moment.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test states what it expects, in its functions too"
)]

mod scenario;

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use ibid_carrier::plan::{Action, Outcome, Plan, Point, When};
use scenario::{Scenario, directory};

type State = BTreeMap<String, String>;

/// What the process that dies is doing.
#[derive(Clone, Copy)]
enum Job {
    /// Commits the plan with a step of every kind.
    Commit,
    /// Deletes and inserts rows with the same keys.
    Rewrite,
    /// As `Commit`, and the plan fails when everything has been published.
    Fail,
    /// Restores from the trash what such a plan deleted.
    Restore,
    /// Recovers what a process left that died while publishing.
    Recover,
}

const JOBS: [(Job, &str); 5] = [
    (Job::Commit, "commit"),
    (Job::Rewrite, "rewrite"),
    (Job::Fail, "fail"),
    (Job::Restore, "restore"),
    (Job::Recover, "recover"),
];

fn restore_plan(scenario: &Scenario) -> Plan {
    let trash = scenario.trash();
    let listing = trash.list().unwrap();
    trash.restore_plan(&listing.entries[0]).unwrap()
}

/// Does the job, and dies at point `at`. Returns how many points there were when it did not die.
fn run(job: Job, scenario: &Scenario, at: usize) -> usize {
    let mut seen = 0;
    let mut verified = 0;
    let mut observer = |point: Point| {
        if seen == at {
            die();
        }
        seen += 1;
        if point.action == Action::Verify && point.when == When::Before {
            verified += 1;
            if matches!(job, Job::Fail) && verified == 9 {
                return Err(std::io::Error::other("a failure that the test asked for"));
            }
        }
        Ok(())
    };
    let engine = scenario.engine();
    match job {
        Job::Commit => {
            engine.commit_observed(&scenario.everything(), &scenario.policy(), &mut observer).unwrap();
        }
        Job::Rewrite => {
            engine.commit_observed(&scenario.rewriting(), &scenario.policy(), &mut observer).unwrap();
        }
        Job::Fail => {
            let result = engine.commit_observed(&scenario.everything(), &scenario.policy(), &mut observer);
            assert!(result.is_err());
        }
        Job::Restore => {
            engine.commit_observed(&restore_plan(scenario), &scenario.policy(), &mut observer).unwrap();
        }
        Job::Recover => {
            engine.recover_observed(&mut observer).unwrap();
        }
    }
    seen
}

/// Ends the process as a power switch would: nothing is flushed, closed or unlocked.
fn die() -> ! {
    #[cfg(unix)]
    {
        let _ = rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL);
    }
    std::process::abort()
}

#[test]
#[ignore = "the tests below run it as the process that dies"]
fn the_process_that_dies() {
    let (Ok(home), Ok(job), Ok(at)) =
        (std::env::var("CRASH_HOME"), std::env::var("CRASH_JOB"), std::env::var("CRASH_AT"))
    else {
        panic!("run by the other tests only");
    };
    let job = JOBS.into_iter().find(|(_, name)| *name == job).unwrap().0;
    run(job, &Scenario::at(Path::new(&home)), at.parse().unwrap());
}

/// Runs the job in a process of its own that dies at point `at`. Whether it died.
fn dies(job: Job, scenario: &Scenario, at: usize) -> bool {
    let name =
        JOBS.into_iter().find(|(other, _)| std::mem::discriminant(other) == std::mem::discriminant(&job));
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--ignored", "--exact", "the_process_that_dies"])
        .env("CRASH_HOME", &scenario.home)
        .env("CRASH_JOB", name.unwrap().1)
        .env("CRASH_AT", at.to_string())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(!said.contains("panicked"), "{said}");
    !output.status.success()
}

/// The store in which a job begins.
fn prepared(job: Job, home: &Path) -> Scenario {
    let scenario = Scenario::build(home);
    match job {
        Job::Commit | Job::Rewrite | Job::Fail => {}
        Job::Restore => {
            scenario.engine().commit(&scenario.everything(), &scenario.policy()).unwrap();
        }
        Job::Recover => {
            // In the middle of publishing: the sixth step has just become visible.
            let mut at = 0;
            let mut published = 0;
            let probe = directory();
            let probe = Scenario::build(probe.path());
            probe
                .engine()
                .commit_observed(&probe.everything(), &probe.policy(), &mut |point| {
                    if point.action == Action::Publish && point.when == When::After && published < 6 {
                        published += 1;
                    }
                    if published < 6 {
                        at += 1;
                    }
                    Ok(())
                })
                .unwrap();
            assert!(dies(Job::Commit, &scenario, at));
        }
    }
    scenario
}

/// For every point of `job`: the process dies there, readers only report, and recovering leads to
/// `before` or `after`. Returns how often each came out.
fn die_everywhere(job: Job) -> (usize, usize) {
    let home = directory();
    let scenario = prepared(job, home.path());
    let origin = directory();
    let before = match job {
        Job::Recover => Scenario::build(origin.path()).state(),
        _ => scenario.state(),
    };
    let points = run(job, &scenario, usize::MAX);
    let after = match job {
        Job::Commit | Job::Rewrite | Job::Restore => scenario.state(),
        Job::Fail | Job::Recover => {
            assert_eq!(scenario.state(), before);
            let done = directory();
            let done = Scenario::build(done.path());
            run(Job::Commit, &done, usize::MAX);
            done.state()
        }
    };
    assert_ne!(before, after);
    let (mut undone, mut completed, mut reported) = (0, 0, 0);
    for at in 0..points {
        let home = directory();
        let scenario = prepared(job, home.path());
        assert!(dies(job, &scenario, at), "point {at} of {points}");
        reported += readers_only_report(&scenario);
        let recovered = scenario.engine().recover().unwrap();
        let state = scenario.state();
        match recovered.as_slice() {
            [] => assert!(state == before || state == after, "point {at}"),
            [one] => match one.outcome {
                Outcome::Undone => assert_same(&state, &before, at),
                Outcome::Completed => assert_same(&state, &after, at),
                Outcome::Stuck(ref problems) => panic!("point {at}: {problems:?}"),
            },
            more => panic!("point {at}: {more:?}"),
        }
        if state == before {
            undone += 1;
        } else {
            completed += 1;
        }
        assert_eq!(scenario.engine().pending().unwrap(), []);
        nothing_is_left_over(&scenario, at);
        if matches!(job, Job::Commit) {
            // The same plan can be carried out afterwards, or has been.
            if state == before {
                scenario.engine().commit(&scenario.everything(), &scenario.policy()).unwrap();
            }
            assert_same(&scenario.state(), &after, at);
        }
    }
    // All but the first moments and the last leave something to report.
    assert!(reported + 8 > points, "{reported} of {points}");
    (undone, completed)
}

fn assert_same(state: &State, expected: &State, at: usize) {
    assert_eq!(state, expected, "point {at}");
}

/// Asking what is unfinished changes nothing. Returns how much was.
fn readers_only_report(scenario: &Scenario) -> usize {
    let listed = |directory: &Path| {
        let mut names = Vec::new();
        let mut open = vec![directory.to_owned()];
        while let Some(directory) = open.pop() {
            for entry in std::fs::read_dir(directory).into_iter().flatten().flatten() {
                let metadata = entry.metadata().unwrap();
                names.push((entry.path(), metadata.len(), metadata.modified().unwrap()));
                if metadata.is_dir() {
                    open.push(entry.path());
                }
            }
        }
        names.sort();
        names
    };
    let before = listed(&scenario.home);
    let pending = scenario.engine().pending().unwrap();
    for unfinished in &pending {
        assert!(!unfinished.running);
        assert!(unfinished.problems.is_empty());
        assert_eq!(unfinished.labels["harness"], "example");
        assert_eq!(unfinished.finding().kind.code(), "unfinished-write");
    }
    scenario.trash().list().unwrap();
    assert_eq!(listed(&scenario.home), before);
    pending.len()
}

/// No staged file, journal entry or half of a trash entry stays behind.
fn nothing_is_left_over(scenario: &Scenario, at: usize) {
    let state = scenario.state();
    let staged: Vec<_> = state.keys().filter(|name| name.contains(".ibid-")).collect();
    assert!(staged.is_empty(), "point {at}: {staged:?}");
    let listed = scenario.trash().list().unwrap();
    assert!(listed.unreadable.is_empty());
    let directories = std::fs::read_dir(scenario.data().join("trash")).into_iter().flatten().count();
    assert_eq!(listed.entries.len(), directories, "point {at}");
}

// https://github.com/Dicklesworthstone/cross_agent_session_resumer/issues/9
// fault 28
#[test]
fn a_commit_that_dies_anywhere_leaves_the_store_as_before_or_as_after() {
    let (undone, completed) = die_everywhere(Job::Commit);
    assert!(undone > 20 && completed > 20, "{undone} undone, {completed} completed");
}

#[test]
fn rows_that_are_deleted_and_inserted_again_are_as_before_or_as_after() {
    let (undone, completed) = die_everywhere(Job::Rewrite);
    assert!(undone > 10 && completed > 5, "{undone} undone, {completed} completed");
}

#[test]
fn a_failed_commit_that_dies_anywhere_is_not_left_half_taken_back() {
    // Between the last step and the failure everything is published, and is completed.
    let (undone, completed) = die_everywhere(Job::Fail);
    assert!(undone > 60 && completed < 20, "{undone} undone, {completed} completed");
}

#[test]
fn a_restore_that_dies_anywhere_leaves_the_store_as_before_or_as_after() {
    let (undone, completed) = die_everywhere(Job::Restore);
    assert!(undone > 10 && completed > 10, "{undone} undone, {completed} completed");
}

#[test]
fn a_recovery_that_dies_is_carried_on_by_the_next() {
    let (undone, completed) = die_everywhere(Job::Recover);
    assert!(undone > 10 && completed == 0, "{undone} undone, {completed} completed");
}
