//! Throw-away homes with real OpenCode stores, for the tests beside this folder.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test states what it expects")]
#![allow(dead_code, reason = "each test program uses a part of it")]

use std::fs;
use std::path::{Path, PathBuf};

use ibid_carrier::jsonl::Limits;
use ibid_harness::opencode::OpenCode;
use ibid_harness::{
    AnyHarness, Codec, Common, Context, Discovered, Discovery, Progress, Surroundings, Transcript, discover,
};
use rusqlite::Connection;

/// A folder of this repository.
pub(crate) fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/opencode").join(name)
}

/// A home.
pub(crate) struct Home {
    pub(crate) folder: tempfile::TempDir,
    pub(crate) machine: Surroundings,
    pub(crate) limits: Limits,
}

impl Home {
    /// One without anything in it.
    pub(crate) fn empty() -> Home {
        let folder = tempfile::tempdir().unwrap();
        let machine = Surroundings::isolated(folder.path());
        Home { folder, machine, limits: Limits::default() }
    }

    /// One with the database that an SQL file of the fixtures describes.
    pub(crate) fn with_database(sql: &str) -> Home {
        let home = Home::empty();
        home.make_database("opencode.db", sql);
        home
    }

    /// One with the older tree.
    pub(crate) fn with_tree(fixture_name: &str) -> Home {
        let home = Home::empty();
        copy(&fixture(fixture_name).join(".local"), &home.folder.path().join(".local"));
        home
    }

    pub(crate) fn make_database(&self, name: &str, sql: &str) -> PathBuf {
        fs::create_dir_all(self.data()).unwrap();
        let path = self.data().join(name);
        let connection = Connection::open(&path).unwrap();
        connection.pragma_update(None, "journal_mode", "wal").unwrap();
        connection.execute_batch(&fs::read_to_string(fixture(sql)).unwrap()).unwrap();
        path
    }

    pub(crate) fn data(&self) -> PathBuf {
        self.folder.path().join(".local/share/opencode")
    }

    pub(crate) fn database(&self) -> PathBuf {
        self.data().join("opencode.db")
    }

    pub(crate) fn context(&self) -> Context<'_> {
        Context { machine: &self.machine, limits: &self.limits }
    }

    pub(crate) fn discover(&self) -> Discovery {
        discover(&[harness()], &self.machine, &self.limits, None, &Progress::default()).remove(0)
    }

    pub(crate) fn sessions(&self) -> Vec<Discovered> {
        self.discover().sessions
    }

    /// The session whose title begins like this and ends like that.
    pub(crate) fn titled(&self, begin: &str, end: &str) -> Discovered {
        let fits = |session: &Discovered| {
            let title = session.meta.title.as_ref().map(|title| title.text.to_string()).unwrap_or_default();
            title.starts_with(begin) && title.ends_with(end)
        };
        self.sessions().into_iter().find(fits).unwrap_or_else(|| panic!("no session {begin} {end}"))
    }

    /// The session with this id.
    pub(crate) fn with_id(&self, id: &ibid_model::SessionId) -> Discovered {
        self.sessions().into_iter().find(|session| session.id == *id).unwrap()
    }

    pub(crate) fn load(&self, session: &Discovered) -> Transcript<OpenCode> {
        use ibid_harness::Store;
        OpenCode::load(&session.reference, &self.context()).unwrap()
    }

    pub(crate) fn read(&self, session: &Discovered) -> Common {
        OpenCode::to_common(&self.load(session)).unwrap()
    }

    /// Every file with size and time of the last write, but for Ibid's own.
    pub(crate) fn snapshot(&self) -> Vec<(PathBuf, u64, Option<std::time::SystemTime>)> {
        let mut found = Vec::new();
        let mut open = vec![self.data()];
        while let Some(dir) = open.pop() {
            for entry in fs::read_dir(&dir).unwrap().flatten() {
                let metadata = entry.metadata().unwrap();
                if metadata.is_dir() {
                    open.push(entry.path());
                }
                found.push((entry.path(), metadata.len(), metadata.modified().ok()));
            }
        }
        found.sort();
        found
    }
}

pub(crate) fn harness() -> &'static dyn AnyHarness {
    ibid_harness::find("opencode").unwrap()
}

pub(crate) fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().flatten() {
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}
