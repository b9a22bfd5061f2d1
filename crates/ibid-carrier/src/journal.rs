//! What is being written right now, kept in Ibid's own directory so that a crash can be finished
//! or undone.
//!
//! Each commit has a directory `journal/<id>` with `entry.json` (what it is going to do), the
//! marks `committed`, `undoing` or `undone`, and the rows and bytes that undoing needs. A writer holds the
//! lock of the file `journal/lock` from its first look at the journal to the end.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use ibid_model::Timestamp;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::file::{self, read_own};
use crate::plan::{PlanError, files};

/// The most that is read of one entry. It names what changes and not the content, which lies beside it.
const BYTES: u64 = 1 << 30;

/// How long a writer waits for another one.
const PATIENCE: Duration = Duration::from_secs(10);

const ENTRY: &str = "entry.json";

const STUCK: &str = "stuck.json";

/// How far a commit had come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mark {
    /// Everything is published and compared: what is left is clearing up.
    Committed,
    /// It failed and is being taken back: it must not be completed.
    Undoing,
    /// Everything was taken back: what is left is clearing up.
    Undone,
}

impl Mark {
    fn name(self) -> &'static str {
        match self {
            Mark::Committed => "committed",
            Mark::Undoing => "undoing",
            Mark::Undone => "undone",
        }
    }
}

/// What a commit is going to do.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Entry<C> {
    /// The version of this form.
    pub(crate) version: u32,
    /// Sorts by the time of the commit.
    pub(crate) id: String,
    /// When it began.
    pub(crate) begun: Timestamp,
    /// What the plan is about, in the caller's words.
    #[serde(default)]
    pub(crate) labels: BTreeMap<String, String>,
    /// The changes, in the order of publication.
    pub(crate) changes: Vec<C>,
}

/// The journal of one data directory.
#[derive(Clone, Debug)]
pub(crate) struct Journal {
    directory: PathBuf,
}

/// The right to write, for as long as it lives.
#[derive(Debug)]
pub(crate) struct Lock(#[allow(dead_code, reason = "closing the file ends the lock")] File);

impl Journal {
    pub(crate) fn new(data_dir: &Path) -> Journal {
        Journal { directory: data_dir.join("journal") }
    }

    fn lock_path(&self) -> PathBuf {
        self.directory.join("lock")
    }

    /// Waits until no other process writes.
    pub(crate) fn lock(&self) -> Result<Lock, PlanError> {
        files::make_own_directory(&self.directory)?;
        let path = self.lock_path();
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(false);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        // Anything else in its place would be waited for, or followed to somewhere else.
        if fs::symlink_metadata(&path).is_ok_and(|about| !about.is_file()) {
            let error = io::Error::new(io::ErrorKind::InvalidInput, "not a regular file; remove it");
            return Err(PlanError::io("open", &path, error));
        }
        let file = options.open(&path).map_err(|error| PlanError::io("open", &path, error))?;
        let begun = Instant::now();
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(Lock(file)),
                Err(TryLockError::WouldBlock) if begun.elapsed() < PATIENCE => {
                    thread::sleep(Duration::from_millis(20));
                }
                Err(TryLockError::WouldBlock) => return Err(PlanError::Locked { path }),
                Err(TryLockError::Error(error)) => return Err(PlanError::io("lock", &path, error)),
            }
        }
    }

    /// Whether a process is writing now.
    pub(crate) fn is_locked(&self) -> bool {
        file::open(&self.lock_path())
            .is_ok_and(|(file, _)| matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)))
    }

    pub(crate) fn directory_of(&self, id: &str) -> PathBuf {
        self.directory.join(id)
    }

    /// The ids of the commits that have not ended, in the order in which they began.
    pub(crate) fn ids(&self) -> Result<Vec<String>, PlanError> {
        let failed = |error| PlanError::io("list", &self.directory, error);
        let entries = match fs::read_dir(&self.directory) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(failed(error)),
        };
        let mut ids = Vec::new();
        for entry in entries {
            let entry = entry.map_err(failed)?;
            if let (Ok(kind), Ok(name)) = (entry.file_type(), entry.file_name().into_string())
                && kind.is_dir()
            {
                ids.push(name);
            }
        }
        ids.sort();
        Ok(ids)
    }

    /// Writes what is going to happen to the disk.
    pub(crate) fn begin<C: Serialize>(&self, entry: &Entry<C>) -> Result<(), PlanError> {
        let directory = self.directory_of(&entry.id);
        files::make_own_directory(&directory)?;
        let path = directory.join(ENTRY);
        let bytes = serde_json::to_vec(entry)
            .map_err(|error| PlanError::Journal { path: path.clone(), detail: error.to_string() })?;
        files::write_own(&path, &bytes)
    }

    /// What was going to happen; `None` when it was never written: then nothing has happened.
    pub(crate) fn read<C: DeserializeOwned>(&self, id: &str) -> Result<Option<Entry<C>>, PlanError> {
        let path = self.directory_of(id).join(ENTRY);
        let bytes = match read_own(&path, BYTES) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(PlanError::io("read", &path, error)),
        };
        let broken = |detail| PlanError::Journal { path: path.clone(), detail };
        let entry: Entry<C> = serde_json::from_slice(&bytes).map_err(|error| broken(error.to_string()))?;
        if entry.version == 1 && entry.id == id {
            return Ok(Some(entry));
        }
        Err(broken("written by another version of Ibid".to_owned()))
    }

    /// Whether it was written to the disk what is going to happen.
    pub(crate) fn is_begun(&self, id: &str) -> bool {
        self.directory_of(id).join(ENTRY).exists()
    }

    pub(crate) fn mark(&self, id: &str, mark: Mark) -> Result<(), PlanError> {
        files::write_own(&self.directory_of(id).join(mark.name()), b"")
    }

    pub(crate) fn is_marked(&self, id: &str, mark: Mark) -> bool {
        self.directory_of(id).join(mark.name()).exists()
    }

    /// Says that one change is taken back: it must not be taken back again, since a later commit may
    /// do the same anew.
    pub(crate) fn mark_undone(&self, id: &str, step: usize) -> Result<(), PlanError> {
        files::write_own(&self.directory_of(id).join(format!("undone-{step}")), b"")
    }

    pub(crate) fn is_undone(&self, id: &str, step: usize) -> bool {
        self.directory_of(id).join(format!("undone-{step}")).exists()
    }

    /// Says that a commit could not be taken back as a whole, and why.
    pub(crate) fn mark_stuck(&self, id: &str, problems: &[String]) -> Result<(), PlanError> {
        let path = self.directory_of(id).join(STUCK);
        let bytes = serde_json::to_vec(problems)
            .map_err(|error| PlanError::Journal { path: path.clone(), detail: error.to_string() })?;
        files::write_own(&path, &bytes)
    }

    /// Why a commit could not be taken back as a whole, when that was tried.
    pub(crate) fn stuck(&self, id: &str) -> Option<Vec<String>> {
        let bytes = read_own(&self.directory_of(id).join(STUCK), BYTES).ok()?;
        Some(serde_json::from_slice(&bytes).unwrap_or_default())
    }

    /// Ends a commit. What says that it was under way goes first.
    pub(crate) fn close(&self, id: &str) -> Result<(), PlanError> {
        let directory = self.directory_of(id);
        files::remove_file(&directory.join(ENTRY))?;
        files::sync_parent(&directory.join(ENTRY))?;
        files::remove_all(&directory)
    }
}
