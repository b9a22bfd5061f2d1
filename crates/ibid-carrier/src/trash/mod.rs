//! Where deleted sessions wait.
//!
//! Deleting moves: a file goes by one rename to a place on its own file system where no harness
//! looks, and rows are written to a file before they are deleted. A manifest in Ibid's data
//! directory says what lies where, and [`Trash::restore_plan`] brings it back exactly, with mode
//! and modification time.

mod entry;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

pub use entry::{TrashEntry, TrashItem, TrashedFile, TrashedRows};

use crate::file::read_own;
use crate::plan::{Plan, PlanError, Step, files};
use crate::sqlite::RowSet;

/// The manifest's name in the directory of an entry.
pub(crate) const MANIFEST: &str = "manifest.json";

/// How the directory of an entry begins that lies beside a store, on its file system.
pub(crate) const SIBLING: &str = ".ibid-trash-";

/// Whether a directory is the part of an entry that lies beside a store.
pub(crate) fn is_sibling(directory: &Path) -> bool {
    directory.file_name().is_some_and(|name| name.to_string_lossy().starts_with(SIBLING))
}

/// The trash of one user.
#[derive(Clone, Debug)]
pub struct Trash {
    directory: PathBuf,
}

/// What is in the trash, the newest first.
#[derive(Debug, Default)]
pub struct TrashListing {
    /// The entries that can be restored.
    pub entries: Vec<TrashEntry>,
    /// Entries whose manifest could not be read, and why.
    pub unreadable: Vec<PlanError>,
}

impl Trash {
    /// The trash in Ibid's data directory `data_dir`. Nothing is made until something is deleted.
    #[must_use]
    pub fn new(data_dir: &Path) -> Trash {
        Trash { directory: data_dir.join("trash") }
    }

    pub(crate) fn directory_of(&self, entry: &str) -> PathBuf {
        self.directory.join(entry)
    }

    /// What is in the trash. A deletion that has not finished is not listed.
    ///
    /// # Errors
    /// When the directory is there and cannot be listed.
    pub fn list(&self) -> Result<TrashListing, PlanError> {
        let mut listing = TrashListing::default();
        let entries = match fs::read_dir(&self.directory) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(listing),
            Err(error) => return Err(PlanError::io("list", &self.directory, error)),
        };
        for entry in entries {
            let entry = entry.map_err(|error| PlanError::io("list", &self.directory, error))?;
            match read_manifest(&entry.path().join(MANIFEST)) {
                Ok(entry) => listing.entries.push(entry),
                Err(PlanError::Missing { .. }) => {}
                Err(error) => listing.unreadable.push(error),
            }
        }
        // Ids begin with the time.
        listing.entries.sort_by(|a, b| b.id.cmp(&a.id));
        Ok(listing)
    }

    /// The entry with this id.
    ///
    /// # Errors
    /// [`PlanError::NoTrashEntry`] when there is none, or why its manifest cannot be read.
    pub fn entry(&self, id: &str) -> Result<TrashEntry, PlanError> {
        let unknown = || PlanError::NoTrashEntry { entry: id.to_owned() };
        if !entry::is_id(id) {
            return Err(unknown());
        }
        match read_manifest(&self.directory.join(id).join(MANIFEST)) {
            Err(PlanError::Missing { .. }) => Err(unknown()),
            other => other,
        }
    }

    /// The plan that brings everything of `entry` back to where it was and takes the entry out of
    /// the trash. What was deleted last comes back first.
    ///
    /// # Errors
    /// [`PlanError::Exists`] when something is in the place of a file;
    /// [`PlanError::Missing`] or [`PlanError::Changed`] when what was kept is not there any more,
    /// or not as it was. Rows are compared when the plan is committed.
    pub fn restore_plan(&self, entry: &TrashEntry) -> Result<Plan, PlanError> {
        let mut steps = Vec::new();
        for item in entry.items.iter().rev() {
            match item {
                TrashItem::File(file) | TrashItem::Directory(file) => {
                    if fs::symlink_metadata(&file.path).is_ok() {
                        return Err(PlanError::Exists { path: file.path.clone() });
                    }
                    file.check_kept()?;
                    let parent = file.path.parent().unwrap_or(&file.path);
                    if !parent.is_dir() {
                        let path = parent.to_owned();
                        steps.push(Step::MakeDirectory { path, private: file.parent_is_private });
                    }
                    steps.push(Step::RestoreFile { stored: file.stored.clone(), path: file.path.clone() });
                }
                TrashItem::Rows(rows) => {
                    let kept = read_rows_file(&rows.stored)?;
                    steps.push(Step::RestoreRows { database: rows.database.clone(), rows: kept });
                }
            }
        }
        steps.push(Step::CloseTrashEntry { entry: entry.id.clone() });
        let labels = entry.labels.clone();
        Ok(Plan { steps, labels })
    }
}

/// The most that is read of a manifest, which names files and not their content.
const MANIFEST_BYTES: u64 = 256 << 20;

/// The most that is read of the rows of one entry: what a session may hold.
const ROWS_BYTES: u64 = 16 << 30;

fn read_manifest(path: &Path) -> Result<TrashEntry, PlanError> {
    let bytes = read_own(path, MANIFEST_BYTES).map_err(|error| PlanError::io("read", path, error))?;
    let entry: TrashEntry = serde_json::from_slice(&bytes)
        .map_err(|error| PlanError::Journal { path: path.to_owned(), detail: error.to_string() })?;
    let named = path.parent().and_then(Path::file_name).and_then(|name| name.to_str());
    if named == Some(entry.id.as_str()) && entry::is_id(&entry.id) {
        return Ok(entry);
    }
    let detail = format!("it names the entry {:?}, which is not its directory", entry.id);
    Err(PlanError::Journal { path: path.to_owned(), detail })
}

pub(crate) fn read_rows_file(path: &Path) -> Result<RowSet, PlanError> {
    let bytes = read_own(path, ROWS_BYTES).map_err(|error| PlanError::io("read", path, error))?;
    serde_json::from_slice(&bytes)
        .map_err(|error| PlanError::Journal { path: path.to_owned(), detail: error.to_string() })
}

/// Lists an entry. Done again after a crash, it leaves what is there.
pub(crate) fn write_manifest(data_dir: &Path, entry: &TrashEntry) -> Result<(), PlanError> {
    let directory = Trash::new(data_dir).directory_of(&entry.id);
    let path = directory.join(MANIFEST);
    if path.exists() {
        return Ok(());
    }
    files::make_own_directory(&directory)?;
    let bytes = serde_json::to_vec_pretty(entry)
        .map_err(|error| PlanError::Journal { path: path.clone(), detail: error.to_string() })?;
    files::write_own(&path, &bytes)
}
