//! Deleting to the trash and bringing back.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test states what it expects, in its functions too"
)]

mod scenario;

use std::fs;
use std::path::Path;

use ibid_carrier::plan::{Engine, Plan, PlanError, Step};
use ibid_carrier::sqlite::SqliteError;
use ibid_carrier::trash::{Trash, TrashEntry, TrashItem};
use rusqlite::Connection;
use scenario::{Scenario, directory, old_rows, set_mode};

fn deletion(scenario: &Scenario) -> Plan {
    let store = scenario.store();
    Plan::new(vec![
        Step::TrashFile { path: store.join("old.jsonl"), expected: None },
        Step::TrashDirectory { path: store.join("old") },
        Step::TrashRows { database: scenario.database(), selections: old_rows() },
    ])
    .label("harness", "example")
    .label("session", "old")
}

fn delete(scenario: &Scenario) -> TrashEntry {
    let mut committed = scenario.engine().commit(&deletion(scenario), &scenario.policy()).unwrap();
    assert!(committed.written.is_empty());
    committed.trashed.remove(0)
}

fn restore(scenario: &Scenario, entry: &TrashEntry) -> Result<(), PlanError> {
    let plan = scenario.trash().restore_plan(entry)?;
    scenario.engine().check(&plan, &scenario.policy())?;
    scenario.engine().commit(&plan, &scenario.policy()).map(drop)
}

#[test]
fn what_was_deleted_comes_back_exactly() {
    let home = directory();
    let scenario = Scenario::build(home.path());
    set_mode(&scenario.store().join("old/meta.json"), 0o640);
    set_mode(&scenario.store().join("old"), 0o750);
    let before = scenario.state();
    let entry = delete(&scenario);
    assert!(!scenario.store().join("old.jsonl").exists());
    assert!(!scenario.state()["rows of message"].contains("old"));
    assert_eq!(scenario.trash().list().unwrap().entries, std::slice::from_ref(&entry));
    restore(&scenario, &entry).unwrap();
    assert_eq!(scenario.state(), before);
    assert!(scenario.trash().list().unwrap().entries.is_empty());
    assert_eq!(fs::read_dir(scenario.data().join("trash")).unwrap().count(), 0);
}

#[test]
fn the_manifest_says_what_was_deleted_when_and_from_where() {
    let home = directory();
    let scenario = Scenario::build(home.path());
    let entry = scenario.trash().entry(&delete(&scenario).id).unwrap();
    assert_eq!(entry.labels["harness"], "example");
    assert_eq!(entry.labels["session"], "old");
    assert!(entry.deleted.as_milliseconds() > 1_700_000_000_000);
    let [TrashItem::File(file), TrashItem::Directory(directory), TrashItem::Rows(rows)] = &entry.items[..]
    else {
        panic!("{entry:?}");
    };
    assert_eq!(file.path, scenario.store().join("old.jsonl"));
    assert_eq!((file.stamp.bytes, file.stamp.modified_ns), (13, Some(1_700_000_000_123_456_789)));
    assert_eq!(file.mode, cfg!(unix).then_some(0o600));
    assert_eq!(directory.path, scenario.store().join("old"));
    assert_eq!(rows.counts, [("session".to_owned(), 1), ("message".to_owned(), 2)]);
}

#[test]
fn a_taken_place_is_not_overwritten() {
    let home = directory();
    let scenario = Scenario::build(home.path());
    let entry = delete(&scenario);
    fs::write(scenario.store().join("old.jsonl"), "somebody else's").unwrap();
    let error = restore(&scenario, &entry).unwrap_err();
    assert!(matches!(error, PlanError::Exists { .. }), "{error}");
    fs::remove_file(scenario.store().join("old.jsonl")).unwrap();

    let connection = Connection::open(scenario.database()).unwrap();
    connection.execute("INSERT INTO session VALUES ('old', 'somebody else''s', NULL)", []).unwrap();
    let occupied = scenario.state();
    let error = restore(&scenario, &entry).unwrap_err();
    assert!(matches!(error, PlanError::Database { source: SqliteError::RowExists { .. }, .. }), "{error}");
    assert_eq!(scenario.state(), occupied);
    connection.execute("DELETE FROM session WHERE id = 'old'", []).unwrap();
    restore(&scenario, &entry).unwrap();
}

#[test]
fn a_directory_that_is_gone_is_made_again_for_its_owner_alone() {
    let home = directory();
    let scenario = Scenario::build(home.path());
    let nested = scenario.store().join("private/session.jsonl");
    fs::create_dir(nested.parent().unwrap()).unwrap();
    set_mode(nested.parent().unwrap(), 0o700);
    fs::write(&nested, "x").unwrap();
    let before = scenario.state();
    let plan = Plan::new(vec![Step::TrashFile { path: nested.clone(), expected: None }]);
    let entry = scenario.engine().commit(&plan, &scenario.policy()).unwrap().trashed.remove(0);
    fs::remove_dir(nested.parent().unwrap()).unwrap();
    restore(&scenario, &entry).unwrap();
    assert_eq!(scenario.state(), before);
}

#[test]
fn what_was_tampered_with_in_the_trash_is_not_restored() {
    let home = directory();
    let scenario = Scenario::build(home.path());
    let entry = delete(&scenario);
    let Some(TrashItem::File(file)) = entry.items.first() else { panic!() };
    fs::write(&file.stored, "changed").unwrap();
    assert!(matches!(restore(&scenario, &entry), Err(PlanError::Changed { .. })));
    fs::remove_file(&file.stored).unwrap();
    assert!(matches!(restore(&scenario, &entry), Err(PlanError::Missing { .. })));
}

#[test]
fn an_entry_is_not_closed_while_it_holds_what_was_not_restored() {
    let home = directory();
    let scenario = Scenario::build(home.path());
    let entry = delete(&scenario);
    let plan = Plan::new(vec![Step::CloseTrashEntry { entry: entry.id.clone() }]);
    assert!(scenario.engine().commit(&plan, &scenario.policy()).is_err());
    assert_eq!(scenario.trash().list().unwrap().entries, [entry]);
}

#[test]
fn an_id_that_is_a_path_names_no_entry() {
    let home = directory();
    let scenario = Scenario::build(home.path());
    for id in ["../journal", "", "..", "/etc", "0123456789abcdef0123456789abcde/"] {
        assert!(matches!(scenario.trash().entry(id), Err(PlanError::NoTrashEntry { .. })));
    }
}

#[test]
fn a_manifest_that_cannot_be_read_is_reported_and_hides_nothing() {
    let home = directory();
    let scenario = Scenario::build(home.path());
    let entry = delete(&scenario);
    let other = scenario.data().join("trash").join("f".repeat(32));
    fs::create_dir(&other).unwrap();
    fs::write(other.join("manifest.json"), "{").unwrap();
    let listing = scenario.trash().list().unwrap();
    assert_eq!(listing.entries, [entry]);
    assert_eq!(listing.unreadable.len(), 1);
}

/// Two file systems, where the machine has them.
fn elsewhere() -> Option<tempfile::TempDir> {
    let disk = tempfile::tempdir().unwrap();
    let memory = directory();
    let device = |path: &Path| ibid_carrier::FileStamp::at(path).unwrap().unwrap().device;
    (device(disk.path()) != device(memory.path())).then_some(disk)
}

#[test]
fn on_another_file_system_the_trash_lies_beside_the_store() {
    let Some(disk) = elsewhere() else {
        eprintln!("skipped: on_another_file_system_the_trash_lies_beside_the_store (one file system only)");
        return;
    };
    let home = directory();
    let scenario = Scenario::build(home.path());
    let before = scenario.state();
    let engine = Engine::new(disk.path().join("data"));
    let entry = engine.commit(&deletion(&scenario), &scenario.policy()).unwrap().trashed.remove(0);
    let Some(TrashItem::File(file)) = entry.items.first() else { panic!() };
    let beside = fs::canonicalize(home.path()).unwrap().join(format!(".ibid-trash-{}", entry.id));
    assert_eq!(file.stored.parent(), Some(beside.as_path()));
    assert_eq!(file.stored.extension(), None);
    let plan = Trash::new(engine.data_dir()).restore_plan(&entry).unwrap();
    engine.commit(&plan, &scenario.policy()).unwrap();
    assert_eq!(scenario.state(), before);
    assert!(!beside.exists());
}

/// A directory mounted upon itself: one file system that renaming cannot cross.
#[cfg(target_os = "linux")]
struct Mounted(std::path::PathBuf);

#[cfg(target_os = "linux")]
impl Mounted {
    fn new(path: &Path) -> Option<Mounted> {
        let status = std::process::Command::new("mount").arg("--bind").args([path, path]).output();
        status.is_ok_and(|output| output.status.success()).then(|| Mounted(path.to_owned()))
    }
}

#[cfg(target_os = "linux")]
impl Drop for Mounted {
    fn drop(&mut self) {
        std::process::Command::new("umount").arg(&self.0).output().unwrap();
    }
}

#[cfg(target_os = "linux")]
#[test]
fn where_renaming_is_impossible_copies_are_exact_and_failures_are_undone() {
    use ibid_carrier::plan::{Action, When};
    let home = directory();
    let scenario = Scenario::build(home.path());
    std::os::unix::fs::symlink("meta.json", scenario.store().join("old/link")).unwrap();
    set_mode(&scenario.store().join("old/meta.json"), 0o444);
    let before = scenario.state();
    let Some(_mounted) = Mounted::new(&scenario.store()) else {
        eprintln!(
            "skipped: where_renaming_is_impossible_copies_are_exact_and_failures_are_undone (mounting is not allowed)"
        );
        return;
    };
    let fail = |plan: &Plan| {
        let result = scenario.engine().commit_observed(plan, &scenario.policy(), &mut |point| match (
            point.action,
            point.when,
        ) {
            (Action::Complete, When::Before) => Err(std::io::Error::other("asked for")),
            _ => Ok(()),
        });
        assert!(matches!(result, Err(PlanError::Io { .. })), "{result:?}");
    };
    fail(&deletion(&scenario));
    assert_eq!(scenario.state(), before);
    let entry = delete(&scenario);
    let deleted = scenario.state();
    assert!(deleted.keys().all(|name| !name.contains(".ibid-") && !name.starts_with("store/old")));
    let plan = scenario.trash().restore_plan(&entry).unwrap();
    fail(&plan);
    assert_eq!(scenario.state(), deleted);
    restore(&scenario, &entry).unwrap();
    assert_eq!(scenario.state(), before);
    assert_eq!(fs::read_dir(scenario.data().join("trash")).unwrap().count(), 0);
}
