//! Why a plan was refused or did not succeed.

use std::io;
use std::path::{Path, PathBuf};

use crate::sqlite::SqliteError;

/// Why a plan was refused, or failed and was undone. Unless it is
/// [`NotUndone`](PlanError::NotUndone), the stores are as they were before.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PlanError {
    /// A path lies outside the directories that may be written.
    #[error("{}: outside the store; nothing was written", path.display())]
    Outside {
        /// The path, with links resolved as far as it exists.
        path: PathBuf,
    },
    /// A path is a link, or something else that is neither file nor directory.
    #[error("{}: a link or special file, which is not followed; replace it by the file itself", path.display())]
    NotPlain {
        /// The path.
        path: PathBuf,
    },
    /// Something is there already.
    #[error("{}: exists already; choose another id, or allow replacing (a backup is kept)", path.display())]
    Exists {
        /// The path.
        path: PathBuf,
    },
    /// Something that the plan needs is not there.
    #[error("{}: not there; list the sessions again, it may have been moved or deleted", path.display())]
    Missing {
        /// The path.
        path: PathBuf,
    },
    /// Something is not what it was when the plan was made, or was changed while it was written.
    #[error("{}: {detail}; make the plan again when the harness is idle", path.display())]
    Changed {
        /// The path.
        path: PathBuf,
        /// What differs.
        detail: String,
    },
    /// There is not enough room.
    #[error("{}: {needed} bytes are needed and {available} are free; free some space and try again", path.display())]
    NoSpace {
        /// A directory on the file system.
        path: PathBuf,
        /// Bytes needed.
        needed: u64,
        /// Bytes free.
        available: u64,
    },
    /// What was written does not read back as it was meant.
    #[error("{}: did not read back as it was written ({detail}); everything was undone", path.display())]
    Mismatch {
        /// The path.
        path: PathBuf,
        /// What differs.
        detail: String,
    },
    /// The operating system refused.
    #[error("could not {action} {}: {source}", path.display())]
    Io {
        /// What was tried, as a verb.
        action: &'static str,
        /// The path.
        path: PathBuf,
        /// What the operating system said.
        source: io::Error,
    },
    /// A database refused.
    #[error("{}", named(path, source))]
    Database {
        /// The database.
        path: PathBuf,
        /// Why.
        source: SqliteError,
    },
    /// Another process of Ibid is writing.
    #[error("another ibid is writing ({}); try again when it is done", path.display())]
    Locked {
        /// The lock.
        path: PathBuf,
    },
    /// A file of the journal or the trash does not say what it must.
    #[error("{}: {detail}; look at it, and move it away when nothing in it is needed", path.display())]
    Journal {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        detail: String,
    },
    /// There is no such entry in the trash.
    #[error("there is nothing {entry:?} in the trash; list it again")]
    NoTrashEntry {
        /// The id.
        entry: String,
    },
    /// The plan failed, and not all of it could be taken back. The journal keeps what is known.
    #[error("{cause}; and not everything could be undone: {}; run `ibid doctor`", problems.join("; "))]
    NotUndone {
        /// Why the plan failed.
        cause: Box<PlanError>,
        /// What could not be undone, one sentence each.
        problems: Vec<String>,
    },
}

/// What a database said, with its path, which some of its errors name already.
fn named(path: &Path, source: &SqliteError) -> String {
    let (path, said) = (path.display().to_string(), source.to_string());
    if said.starts_with(&path) { said } else { format!("{path}: {said}") }
}

impl PlanError {
    pub(crate) fn io(action: &'static str, path: &Path, source: io::Error) -> PlanError {
        match source.kind() {
            io::ErrorKind::NotFound => PlanError::Missing { path: path.to_owned() },
            io::ErrorKind::AlreadyExists => PlanError::Exists { path: path.to_owned() },
            _ => PlanError::Io { action, path: path.to_owned(), source },
        }
    }

    pub(crate) fn database(path: &Path, source: SqliteError) -> PlanError {
        PlanError::Database { path: path.to_owned(), source }
    }

    pub(crate) fn changed(path: &Path, detail: impl Into<String>) -> PlanError {
        PlanError::Changed { path: path.to_owned(), detail: detail.into() }
    }

    /// Whether the plan was refused because going on could have harmed what is there (exit code
    /// 3), rather than because something failed.
    #[must_use]
    pub fn is_refusal(&self) -> bool {
        match self {
            PlanError::Outside { .. }
            | PlanError::NotPlain { .. }
            | PlanError::Exists { .. }
            | PlanError::Changed { .. } => true,
            PlanError::Database { source, .. } => matches!(
                source,
                SqliteError::RowExists { .. }
                    | SqliteError::RowChanged { .. }
                    | SqliteError::SideEffects { .. }
            ),
            _ => false,
        }
    }
}
