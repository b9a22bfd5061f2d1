//! What one deletion put into the trash.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use ibid_model::Timestamp;
use serde::{Deserialize, Serialize};

use crate::plan::{ContentStamp, PlanError, path_text};

/// What one deletion put into the trash. The same type is the manifest (JSON) beside it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TrashEntry {
    /// Its id: it sorts by the time of deletion.
    pub id: String,
    /// When it was deleted.
    pub deleted: Timestamp,
    /// What the caller said about it, such as `harness` and `session`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, String>,
    /// What it is made of, in the order of deletion.
    pub items: Vec<TrashItem>,
}

/// One thing in the trash.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum TrashItem {
    /// A file.
    File(TrashedFile),
    /// A directory with everything in it.
    Directory(TrashedFile),
    /// Rows of a database.
    Rows(TrashedRows),
}

/// A file or directory in the trash.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TrashedFile {
    /// Where it was.
    #[serde(with = "path_text")]
    pub path: PathBuf,
    /// Where it lies now.
    #[serde(with = "path_text")]
    pub stored: PathBuf,
    /// Size and modification time when it was deleted (of a directory: its own).
    pub stamp: ContentStamp,
    /// Its permission bits, on systems that have them.
    pub mode: Option<u32>,
    /// Whether its directory was for its owner alone; it is made so again if it is gone.
    pub parent_is_private: bool,
}

/// Rows in the trash.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TrashedRows {
    /// The database they were in.
    #[serde(with = "path_text")]
    pub database: PathBuf,
    /// The file that holds them: a [`RowSet`](crate::sqlite::RowSet) in JSON.
    #[serde(with = "path_text")]
    pub stored: PathBuf,
    /// How many rows of which table.
    pub counts: Vec<(String, u64)>,
}

impl TrashItem {
    /// Where it lies now.
    #[must_use]
    pub fn stored(&self) -> &Path {
        match self {
            TrashItem::File(file) | TrashItem::Directory(file) => &file.stored,
            TrashItem::Rows(rows) => &rows.stored,
        }
    }
}

impl TrashedFile {
    /// Looks whether what is kept is still as it was put there: a file in size, time and content,
    /// a directory in its time.
    pub(super) fn check_kept(&self) -> Result<(), PlanError> {
        let now = match self.stamp.sha256 {
            Some(_) => ContentStamp::with_content(&self.stored)?,
            None => ContentStamp::of(&self.stored)?,
        };
        let same_file =
            self.stamp.sha256.is_none() || (now.bytes == self.stamp.bytes && now.sha256 == self.stamp.sha256);
        // A copy on another file system has another inode.
        if same_file && now.modified_ns == self.stamp.modified_ns {
            return Ok(());
        }
        Err(PlanError::changed(&self.stored, "what was kept in the trash has been changed"))
    }
}

/// Whether `text` has the form of an entry's id: it becomes part of a path.
pub(super) fn is_id(text: &str) -> bool {
    text.len() == 32 && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}
