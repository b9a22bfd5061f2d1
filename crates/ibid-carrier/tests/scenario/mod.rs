//! A small store of files and rows, plans that change it in every way, and a description of it
//! that two moments can be compared with.

#![allow(dead_code, reason = "each test program uses a part of it")]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use ibid_carrier::plan::{Content, ContentStamp, Engine, Plan, Policy, RowSelection, Step};
use ibid_carrier::sqlite::{RowSet, SqlValue, TableRows, read_rows};
use ibid_carrier::trash::Trash;
use rusqlite::Connection;

/// A new directory, in memory where the system offers that: a commit writes to the disk often, and
/// whether the disk keeps its word is not what is tested.
pub(crate) fn directory() -> tempfile::TempDir {
    let memory = PathBuf::from("/dev/shm");
    let place = if memory.is_dir() { memory } else { std::env::temp_dir() };
    // Where the directory for such things is a link, paths are compared with it resolved.
    tempfile::tempdir_in(fs::canonicalize(place).unwrap()).unwrap()
}

/// A store in a directory of its own, and Ibid's data directory beside it.
pub(crate) struct Scenario {
    pub(crate) home: PathBuf,
}

impl Scenario {
    /// The scenario whose home is `home`, which may be made by another process.
    pub(crate) fn at(home: &Path) -> Scenario {
        Scenario { home: home.to_owned() }
    }

    /// A new store in `home`.
    pub(crate) fn build(home: &Path) -> Scenario {
        let scenario = Scenario::at(home);
        let store = scenario.store();
        fs::create_dir_all(store.join("old/subagents")).unwrap();
        for (name, content) in [
            ("log.jsonl", "{\"n\":1}\n"),
            ("config.json", "{\"theme\":\"dark\"}\n"),
            ("old.jsonl", "{\"old\":true}\n"),
            ("old/subagents/agent-1.jsonl", "{\"sub\":1}\n"),
            ("old/meta.json", "{}"),
            ("source.bin", "\u{0}binary\r\n"),
        ] {
            let path = store.join(name);
            fs::write(&path, content).unwrap();
            set_mode(&path, 0o600);
            // An odd time, so that one that was set anew stands out.
            let file = fs::File::options().write(true).open(&path).unwrap();
            file.set_modified(SystemTime::UNIX_EPOCH + Duration::new(1_700_000_000, 123_456_789)).unwrap();
        }
        let database = Connection::open(scenario.database()).unwrap();
        database
            .execute_batch(
                "PRAGMA journal_mode = WAL;
                 CREATE TABLE session (id TEXT PRIMARY KEY, title TEXT, extra BLOB);
                 CREATE TABLE message (session_id TEXT NOT NULL REFERENCES session(id) ON DELETE CASCADE,
                   nr INTEGER NOT NULL, cost REAL, PRIMARY KEY (session_id, nr));
                 INSERT INTO session VALUES ('old', 'Old', x'00ff'), ('other', 'Other', NULL);
                 INSERT INTO message VALUES ('old', 1, 0.1), ('old', 2, NULL), ('other', 1, 3.5);",
            )
            .unwrap();
        scenario
    }

    pub(crate) fn store(&self) -> PathBuf {
        self.home.join("store")
    }

    pub(crate) fn database(&self) -> PathBuf {
        self.store().join("sessions.db")
    }

    pub(crate) fn data(&self) -> PathBuf {
        self.home.join("data")
    }

    pub(crate) fn engine(&self) -> Engine {
        Engine::new(self.data())
    }

    pub(crate) fn trash(&self) -> Trash {
        Trash::new(&self.data())
    }

    pub(crate) fn policy(&self) -> Policy {
        Policy::within([self.store()])
    }

    /// A plan with a step of every kind; what makes the new session visible comes last.
    pub(crate) fn everything(&self) -> Plan {
        let store = self.store();
        let deep = store.join("new/deep");
        Plan::new(vec![
            Step::MakeDirectory { path: deep.clone(), private: true },
            Step::CreateFile { path: deep.join("b.jsonl"), content: "{\"b\":1}\n".into(), private: true },
            Step::AppendFile {
                path: store.join("log.jsonl"),
                expected: ContentStamp::of(&store.join("log.jsonl")).unwrap(),
                content: "{\"n\":2}\n".into(),
            },
            Step::ReplaceFile {
                path: store.join("config.json"),
                expected: ContentStamp::with_content(&store.join("config.json")).unwrap(),
                content: "{\"theme\":\"light\"}\n".into(),
                private: false,
            },
            Step::InsertRows { database: self.database(), rows: new_rows(), refuse_existing: true },
            Step::TrashRows { database: self.database(), selections: old_rows() },
            Step::TrashFile { path: store.join("old.jsonl"), expected: None },
            Step::TrashDirectory { path: store.join("old") },
            Step::CreateFile {
                path: store.join("a.record"),
                content: Content::copy_of(&store.join("source.bin")).unwrap(),
                private: true,
            },
        ])
        .label("harness", "example")
        .label("session", "s-1")
    }

    /// A plan that deletes the rows of a session and inserts it again, one row as it was, one
    /// changed, and one new.
    pub(crate) fn rewriting(&self) -> Plan {
        let mut rows = new_rows();
        rows.tables[0].rows =
            vec![vec![SqlValue::from("old"), SqlValue::from("Old, changed"), SqlValue::Null]];
        rows.tables[1].rows = vec![
            vec![SqlValue::from("old"), SqlValue::Integer(1), SqlValue::Real(0.1)],
            vec![SqlValue::from("old"), SqlValue::Integer(3), SqlValue::Null],
        ];
        let database = self.database();
        Plan::new(vec![
            Step::TrashRows { database: database.clone(), selections: old_rows() },
            Step::InsertRows { database, rows, refuse_existing: true },
        ])
        .label("harness", "example")
    }

    /// Everything in the store that a harness or a person could tell apart: names, kinds, modes,
    /// contents and times of files, and all rows. Times of directories and of the database are
    /// left out: putting something into them and taking it out changes them.
    pub(crate) fn state(&self) -> BTreeMap<String, String> {
        let mut state = BTreeMap::new();
        describe(&self.home, &self.store(), &mut state);
        if let Ok(connection) = Connection::open(self.database()) {
            for table in ["session", "message"] {
                let rows = read_rows(&connection, table, "", &[]).unwrap();
                state.insert(format!("rows of {table}"), serde_json::to_string(&rows).unwrap());
            }
        }
        state
    }
}

pub(crate) fn new_rows() -> RowSet {
    let text = |text: &str| SqlValue::from(text);
    RowSet {
        tables: vec![
            TableRows {
                table: "session".into(),
                columns: vec!["id".into(), "title".into(), "extra".into()],
                key: vec!["id".into()],
                rows: vec![vec![text("new"), text("New"), SqlValue::Blob(vec![1, 2])]],
            },
            TableRows {
                table: "message".into(),
                columns: vec!["session_id".into(), "nr".into(), "cost".into()],
                key: vec!["session_id".into(), "nr".into()],
                rows: (0..5)
                    .map(|nr| vec![text("new"), SqlValue::Integer(nr), SqlValue::Real(0.1 * nr as f64)])
                    .collect(),
            },
        ],
    }
}

pub(crate) fn old_rows() -> Vec<RowSelection> {
    vec![RowSelection::new("session", "id", "old"), RowSelection::new("message", "session_id", "old")]
}

fn describe(home: &Path, directory: &Path, state: &mut BTreeMap<String, String>) {
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        let name = path.strip_prefix(home).unwrap().to_string_lossy().into_owned();
        if name.starts_with("store/sessions.db") {
            continue;
        }
        let metadata = fs::symlink_metadata(&path).unwrap();
        if metadata.is_dir() {
            state.insert(name, format!("directory {:o}", mode(&metadata)));
            describe(home, &path, state);
        } else {
            // A time is compared only where it was set to the odd one.
            let modified = metadata.modified().unwrap().duration_since(SystemTime::UNIX_EPOCH).unwrap();
            let odd = modified == Duration::new(1_700_000_000, 123_456_789);
            let content = fs::read(&path).unwrap();
            state.insert(name, format!("file {:o} odd time {odd} {content:?}", mode(&metadata)));
        }
    }
}

#[cfg(unix)]
fn mode(metadata: &fs::Metadata) -> u32 {
    std::os::unix::fs::PermissionsExt::mode(&metadata.permissions()) & 0o7777
}

#[cfg(not(unix))]
fn mode(_: &fs::Metadata) -> u32 {
    0
}

#[cfg(unix)]
pub(crate) fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(mode)).unwrap();
}

#[cfg(not(unix))]
pub(crate) fn set_mode(_: &Path, _: u32) {}
