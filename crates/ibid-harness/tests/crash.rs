//! The process is killed at every point of saving and of deleting a session, for each store. Then
//! the next writer recovers, and the store is as it was before, or holds the whole session.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test states what it expects")]

use std::path::{Path, PathBuf};
use std::process::Command;

use ibid_carrier::jsonl::Limits;
use ibid_carrier::plan::{Engine, Plan, Policy};
use ibid_harness::{
    AnyHarness, Class, Context, Platform, Progress, Reference, SaveOptions, StoreError, Surroundings, Target,
    discover, find,
};
use ibid_model::{Essence, Session, essence};
use ibid_testkit::{Home, Snapshot};

/// What the child is told: harness, job, number of the point, home.
const ORDER: &str = "IBID_CRASH_ORDER";

/// A conversation with everything that a store may put into a file of its own.
const SESSION: &str = r#"{
  "id": "9f1c2d3e-0000-4000-8000-0000000000aa", "timestamp": "2026-07-01T10:00:00Z", "cwd": "/home/dev/demo", "title": "Crash",
  "messages": [
    {"role": "user", "content": "run it", "timestamp": "2026-07-01T10:00:00Z"},
    {"role": "assistant", "model": "m", "timestamp": "2026-07-01T10:00:01Z",
     "content": [{"type": "text", "text": "yes"}, {"type": "tool_use", "id": "c1", "name": "Bash", "input": {"command": "ls"}}]},
    {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1", "content": "a\nb"}]},
    {"role": "assistant", "model": "m", "content": "done", "timestamp": "2026-07-01T10:00:03Z"}
  ]
}"#;

fn stores() -> impl Iterator<Item = &'static dyn AnyHarness> {
    ibid_harness::all().iter().copied().filter(|harness| {
        let capabilities = harness.declaration().capabilities;
        capabilities.store && capabilities.write
    })
}

/// A home in which every store has something already.
fn furnished() -> Home {
    let data = match Platform::current() {
        Platform::MacOs => "Library/Application Support/Claude",
        Platform::Windows => "AppData/Roaming/Claude",
        Platform::Linux => ".config/Claude",
    };
    Home::new()
        .with("pi", "1.6.0")
        .with("claude-code", "2.1.332")
        .with("codex", "0.171.0")
        .with("opencode", "1.18.33")
        .with_tree(
            "cowork/hand-written/local-agent-mode-sessions",
            &format!("{data}/local-agent-mode-sessions"),
        )
}

fn machine(home: &Path) -> Surroundings {
    Surroundings::isolated(home)
}

/// What the job would write, and the session that it saves or deletes.
fn job(harness: &dyn AnyHarness, name: &str, machine: &Surroundings) -> (Plan, Policy, Reference) {
    let limits = Limits::default();
    let context = Context { machine, limits: &limits };
    let simple = find("simple").unwrap().from_text(SESSION.as_bytes()).unwrap().to_common().unwrap();
    let made = harness.from_common(&simple.session, &Target::default()).unwrap();
    let options = SaveOptions { fix_id: true, ..SaveOptions::default() };
    match name {
        "save" => {
            let saving = harness.save(&made.value, &options, &context).unwrap();
            (saving.plan, Policy::within(saving.roots), saving.reference)
        }
        _ => {
            let found = discover(
                &[find(harness.declaration().id.as_str()).unwrap()],
                machine,
                &limits,
                None,
                &Progress::default(),
            );
            let title = |session: &&ibid_harness::Discovered| {
                session.class == Class::Session
                    && session.meta.preview.as_ref().is_some_and(|preview| *preview == "run it")
            };
            let session = found.iter().flat_map(|d| &d.sessions).find(title).unwrap();
            let deleting = harness.delete(&session.reference, &context).unwrap();
            (deleting.plan, Policy::within(deleting.roots), session.reference.clone())
        }
    }
}

/// The child: does the job, and dies at the point it was told. Without an order it does nothing.
#[test]
fn child() {
    let Ok(order) = std::env::var(ORDER) else { return };
    let mut words = order.splitn(4, ' ');
    let (harness, name) = (find(words.next().unwrap()).unwrap(), words.next().unwrap());
    let point: usize = words.next().unwrap().parse().unwrap();
    let home = PathBuf::from(words.next().unwrap());
    let machine = machine(&home);
    let (plan, policy, _) = job(harness, name, &machine);
    let mut reached = 0;
    let engine = Engine::new(machine.data_dir()).with_cache(machine.cache_dir());
    engine
        .commit_observed(&plan, &policy, &mut |_| {
            if reached == point {
                std::process::abort();
            }
            reached += 1;
            Ok(())
        })
        .unwrap();
}

/// Whether the child died; it does not when the job has fewer points.
fn killed_at(point: usize, harness: &dyn AnyHarness, name: &str, home: &Path) -> bool {
    let order = format!("{} {name} {point} {}", harness.declaration().id, home.display());
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "child", "--quiet"])
        .env(ORDER, order)
        .output()
        .unwrap();
    if output.status.success() {
        return false;
    }
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.code().is_none(), "the child failed instead of dying:\n{text}");
    true
}

/// What the store holds of the session: nothing, or all that it says.
fn held(harness: &dyn AnyHarness, reference: &Reference, machine: &Surroundings) -> Option<Vec<Essence>> {
    let limits = Limits::default();
    let context = Context { machine, limits: &limits };
    match harness.load(reference, &context) {
        Ok(transcript) => {
            let session: Session = transcript.to_common().unwrap().session;
            Some(essence(&session.messages))
        }
        Err(StoreError::NotFound { .. }) => None,
        Err(StoreError::Carrier(error)) if error.is_absence() => None,
        Err(error) => panic!("half a session is left: {error}"),
    }
}

/// The stores without Ibid's own data and cache.
fn stores_of(home: &Path) -> Vec<String> {
    let all = Snapshot::of(home);
    let nothing = Snapshot::of(&home.join("nothing"));
    let own = ["new: .local/share/ibid", "new: .cache", "new: .local/share/opencode/opencode.db-"];
    let folders = |line: &String| line.contains("Folder");
    let mut lines = all.differences_from(&nothing);
    lines.retain(|line| !own.iter().any(|own| line.starts_with(own)) && !folders(line));
    lines
}

fn everywhere(name: &str) {
    for harness in stores() {
        let id = harness.declaration().id;
        let mut outcomes = (0, 0);
        for point in 0.. {
            let home = furnished();
            let machine = machine(home.path());
            let engine = Engine::new(machine.data_dir()).with_cache(machine.cache_dir());
            if name == "delete" {
                let (plan, policy, _) = job(harness, "save", &machine);
                engine.commit(&plan, &policy).unwrap();
            }
            let (_, _, reference) = job(harness, name, &machine);
            let before = held(harness, &reference, &machine);
            assert_eq!(before.is_some(), name == "delete", "{id}");
            let files = stores_of(home.path());
            if !killed_at(point, harness, name, home.path()) {
                assert!(point > 5, "{id}: the job has only {point} points");
                assert_ne!(
                    held(harness, &reference, &machine).is_some(),
                    before.is_some(),
                    "{id}: nothing was done"
                );
                break;
            }
            engine.recover().unwrap();
            let after = held(harness, &reference, &machine);
            assert!(
                engine.pending().unwrap().is_empty(),
                "{id}, point {point}: something is left to recover"
            );
            if after == before {
                outcomes.0 += 1;
                assert_eq!(stores_of(home.path()), files, "{id}, point {point}: something is left over");
            } else {
                outcomes.1 += 1;
                let whole = after.or(before).unwrap();
                assert_eq!(whole.len(), 5, "{id}, point {point}: a part is missing: {whole:?}");
            }
        }
        println!("{id}, {name}: before {} times, after {} times", outcomes.0, outcomes.1);
    }
}

#[test]
fn a_save_that_is_killed_is_whole_or_not_at_all() {
    everywhere("save");
}

#[test]
fn a_delete_that_is_killed_is_whole_or_not_at_all() {
    everywhere("delete");
}
