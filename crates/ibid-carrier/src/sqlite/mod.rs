//! Databases that other programs own: read without touching anything beside them, and rows kept
//! exactly.
//!
//! Opening a database with SQLite, even read-only, takes locks and may create or touch `-shm` and
//! `-wal` beside it. [`Snapshot`] therefore reads a private copy that includes the write-ahead
//! log, and reads in place (as immutable) only where there is no log.
//!
//! ```no_run
//! use std::path::Path;
//! use ibid_carrier::sqlite::{Snapshot, SqlValue, read_rows};
//!
//! # fn main() -> Result<(), ibid_carrier::sqlite::SqliteError> {
//! let snapshot = Snapshot::open(Path::new("/home/ada/data/sessions.db"), Path::new("/home/ada/.cache/ibid"))?;
//! let rows = read_rows(snapshot.connection(), "message", "session_id = ?1", &[SqlValue::from("ses_1")])?;
//! snapshot.verify()?;
//! println!("{} rows with the columns {:?}", rows.rows.len(), rows.columns);
//! # Ok(())
//! # }
//! ```

mod error;
mod rows;
mod snapshot;
mod state;
mod value;
pub(crate) mod write;

pub use error::SqliteError;
pub use rows::{RowSet, TableRows, quoted, read_rows};
pub use snapshot::Snapshot;
pub use state::DatabaseState;
pub use value::SqlValue;
