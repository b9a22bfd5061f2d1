//! What can go wrong with a database.

use std::io;
use std::path::{Path, PathBuf};

use ibid_model::{Finding, FindingKind};

/// A database that could not be read or written. Absence, being busy and being damaged are three
/// different things, and none of them is "no rows".
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SqliteError {
    /// There is no such file.
    #[error("{}: there is no such database; check the path, or run the harness once so that it makes it", path.display())]
    NotFound {
        /// The database.
        path: PathBuf,
    },
    /// Another program was writing it the whole time that was waited.
    #[error("{}: the database is busy ({detail}); try again when the harness is idle", path.display())]
    Busy {
        /// The database.
        path: PathBuf,
        /// What kept changing or was locked.
        detail: String,
    },
    /// The database changed while it was read in place: what was read may not belong together.
    #[error("{}: the database changed while it was read; read it again", path.display())]
    Changed {
        /// The database.
        path: PathBuf,
    },
    /// SQLite's own check found it damaged, or it is no database.
    #[error("{}: the database is damaged ({detail}); restore it from a backup, or let the harness repair it", path.display())]
    Damaged {
        /// The database.
        path: PathBuf,
        /// What SQLite said.
        detail: String,
    },
    /// There is not enough room for the private copy.
    #[error("{}: a private copy needs {needed} bytes and {available} are free; free some space and try again", path.display())]
    NoSpace {
        /// Where the copy would go.
        path: PathBuf,
        /// Bytes that the copy needs.
        needed: u64,
        /// Bytes that are free.
        available: u64,
    },
    /// The operating system refused.
    #[error("{}: {source}; check its permissions and the disk", path.display())]
    Io {
        /// The file or directory.
        path: PathBuf,
        /// What the operating system said.
        source: io::Error,
    },
    /// A table that was asked for is not in the database.
    #[error(
        "there is no table {table:?} in the database; its harness may be of a version that Ibid does not know"
    )]
    NoTable {
        /// The table.
        table: String,
    },
    /// A row is there already.
    #[error("the row {key} of {table:?} is there already; choose another id, or allow replacing")]
    RowExists {
        /// The table.
        table: String,
        /// Its key, as text.
        key: String,
    },
    /// Writing would change rows that nobody named (through a trigger or a foreign key).
    #[error("writing {named} rows would change {changed}; name every row, those of dependent tables first")]
    SideEffects {
        /// How many rows were named.
        named: u64,
        /// How many would have changed.
        changed: u64,
    },
    /// A row is not what it was when it was written or read.
    #[error("the row {key} of {table:?} was changed by another program; it was left as it is")]
    RowChanged {
        /// The table.
        table: String,
        /// Its key, as text.
        key: String,
    },
    /// A row set does not fit: a row of another length than the columns, or a key that is no column.
    #[error("the rows of {table:?} do not fit its columns: {detail}")]
    Malformed {
        /// The table.
        table: String,
        /// What does not fit.
        detail: String,
    },
    /// SQLite refused for another reason.
    #[error("SQLite: {0}")]
    Sqlite(#[source] rusqlite::Error),
}

impl SqliteError {
    pub(crate) fn io(path: &Path, source: io::Error) -> SqliteError {
        match source.kind() {
            io::ErrorKind::NotFound => SqliteError::NotFound { path: path.to_owned() },
            _ => SqliteError::Io { path: path.to_owned(), source },
        }
    }

    /// What SQLite said about the database at `path`, told apart by its code.
    pub(crate) fn at(path: &Path, source: rusqlite::Error) -> SqliteError {
        use rusqlite::ErrorCode as Code;
        let path = path.to_owned();
        match source.sqlite_error_code() {
            Some(Code::DatabaseBusy | Code::DatabaseLocked) => {
                SqliteError::Busy { path, detail: "another program holds its lock".to_owned() }
            }
            Some(Code::DatabaseCorrupt | Code::NotADatabase) => {
                SqliteError::Damaged { path, detail: source.to_string() }
            }
            _ => SqliteError::Sqlite(source),
        }
    }

    /// Whether the error says that there is no database.
    #[must_use]
    pub fn is_absence(&self) -> bool {
        matches!(self, SqliteError::NotFound { .. })
    }

    /// The finding that a reader reports for the database at `path`.
    #[must_use]
    pub fn finding(&self, path: &Path) -> Finding {
        let kind = match self {
            SqliteError::Busy { .. } => FindingKind::Busy,
            SqliteError::Changed { .. } => FindingKind::Replaced,
            SqliteError::Damaged { .. } => FindingKind::DamagedDatabase,
            _ => FindingKind::Unreadable,
        };
        Finding::new(kind, self.to_string()).at_path(path)
    }
}

impl From<rusqlite::Error> for SqliteError {
    fn from(source: rusqlite::Error) -> Self {
        SqliteError::Sqlite(source)
    }
}
