//! Codex's session folder may be a link to another disk.

#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test states what it expects")]

use ibid_carrier::jsonl::Limits;
use ibid_carrier::plan::{Engine, Policy};
use ibid_harness::{Context, Progress, SaveOptions, Surroundings, Target, discover, find};
use ibid_testkit::Home;

#[test]
fn a_linked_session_folder_is_written_and_deleted_in_like_any_other() {
    let home = Home::new();
    let disk = Home::new();
    std::fs::create_dir_all(home.path().join(".codex")).unwrap();
    std::os::unix::fs::symlink(disk.path(), home.path().join(".codex/sessions")).unwrap();
    let machine = Surroundings::isolated(home.path());
    let limits = Limits::default();
    let context = Context { machine: &machine, limits: &limits };
    let codex = find("codex").unwrap();
    let document = br#"{"id":"s","cwd":"/w","messages":[{"role":"user","content":"hi"},{"role":"assistant","content":"yes"}]}"#;
    let simple = find("simple").unwrap().from_text(document).unwrap().to_common().unwrap();
    let made = codex.from_common(&simple.session, &Target::default()).unwrap();
    let saving = codex.save(&made.value, &SaveOptions::default(), &context).unwrap();
    let engine = Engine::new(machine.data_dir()).with_cache(machine.cache_dir());
    engine.commit(&saving.plan, &Policy::within(saving.roots)).unwrap();
    let found = discover(&[codex], &machine, &limits, None, &Progress::default());
    let session = found.iter().flat_map(|d| &d.sessions).next().unwrap();
    let deleting = codex.delete(&session.reference, &context).unwrap();
    engine.commit(&deleting.plan, &Policy::within(deleting.roots)).unwrap();
    assert!(codex.load(&session.reference, &context).is_err());
}

#[test]
fn a_link_deeper_in_the_folder_leads_nowhere() {
    let home = Home::new();
    let elsewhere = Home::new();
    let name = "rollout-2026-01-01T00-00-00-0199aaaa-0000-7000-8000-000000000001.jsonl";
    std::fs::write(elsewhere.path().join(name), "{}\n").unwrap();
    std::fs::create_dir_all(home.path().join(".codex/sessions/2026")).unwrap();
    std::os::unix::fs::symlink(elsewhere.path(), home.path().join(".codex/sessions/2026/01")).unwrap();
    let machine = Surroundings::isolated(home.path());
    let limits = Limits::default();
    let context = Context { machine: &machine, limits: &limits };
    let root = home.path().join(".codex");
    let path = root.join("sessions/2026/01").join(name);
    let codex = find("codex").unwrap();
    let reference = ibid_harness::Reference { harness: codex.declaration().id, root, path, key: None };
    assert!(codex.delete(&reference, &context).is_err());
}
