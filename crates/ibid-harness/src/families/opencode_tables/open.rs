//! Whether a running program is at work in a session.

use std::path::Path;

use ibid_carrier::sqlite::SqliteError;
use serde::Deserialize;

use super::database::reading;
use crate::core::open::lock_holder;
use crate::core::{Context, OpenIn, Reference};

/// The parts of a message that say whether a turn has ended.
#[derive(Deserialize)]
struct Turn {
    role: String,
    #[serde(default)]
    time: Times,
}

#[derive(Default, Deserialize)]
struct Times {
    #[serde(default)]
    completed: Option<f64>,
}

/// The process that is at work in a session: its last turn has not ended, and somebody holds the
/// database.
///
/// Measured with 1.18.33: while it runs, it holds a lock on the `-shm` file of the database, and
/// it leaves nothing that says which sessions it shows. One that it only shows takes no harm.
pub(crate) fn open_in(reference: &Reference, context: &Context<'_>) -> Option<OpenIn> {
    let key = reference.key.as_deref()?;
    let shared = format!("{}-shm", reference.path.display());
    let process = lock_holder(Path::new(&shared)).or_else(|| lock_holder(&reference.path));
    // Where locks cannot be seen, the file that is there while the database is open has to do.
    if process.is_none() && (cfg!(target_os = "linux") || !Path::new(&shared).exists()) {
        return None;
    }
    let last = reading(&reference.path, context.machine.cache_dir(), |connection| {
        let sql =
            "SELECT data FROM message WHERE session_id = ?1 ORDER BY time_created DESC, id DESC LIMIT 1";
        let mut statement = connection.prepare_cached(sql).map_err(SqliteError::from)?;
        let mut rows = statement.query([key]).map_err(SqliteError::from)?;
        let row = rows.next().map_err(SqliteError::from)?;
        Ok(row.map(|row| row.get::<_, String>(0).map_err(SqliteError::from)).transpose()?)
    });
    let turn: Turn = serde_json::from_str(&last.ok()??).ok()?;
    let ended = turn.role == "assistant" && turn.time.completed.is_some();
    (!ended).then(|| OpenIn { process, sign: format!("its last turn has not ended, and {shared} is in use") })
}
