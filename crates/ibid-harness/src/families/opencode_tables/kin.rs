//! Where a session came from, as far as only other sessions of the database tell.

use ibid_carrier::sqlite::SqliteError;
use ibid_model::{CallId, SessionId, Text};
use rusqlite::{Connection, OptionalExtension};

use super::body::{Copied, Kin};
use super::fields::Fields;
use crate::core::StoreError;

/// The most older sessions with the same beginning that are compared.
const FAMILY: i64 = 64;

/// What other sessions say of this one.
pub(crate) fn of_row(
    connection: &Connection,
    id: &str,
    parent: Option<&SessionId>,
) -> Result<Kin, StoreError> {
    let read = || -> rusqlite::Result<Kin> {
        Ok(match parent {
            Some(parent) => Kin { copied: None, call: starting_call(connection, parent.as_str(), id)? },
            None => Kin { copied: copied(connection, id)?, call: None },
        })
    };
    Ok(read().map_err(SqliteError::from)?)
}

/// The parent's call that started a subagent: its part names the session.
fn starting_call(connection: &Connection, parent: &str, id: &str) -> rusqlite::Result<Option<CallId>> {
    let sql = "SELECT data FROM part WHERE session_id = ?1 AND instr(data, ?2) > 0 ORDER BY id";
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query([parent, id])?;
    while let Some(row) = rows.next()? {
        let Ok(data) = row.get::<_, String>(0) else { continue };
        if let Some(call) = call_of(&Text::from(data), id) {
            return Ok(Some(call));
        }
    }
    Ok(None)
}

/// The call of a part that started this session.
pub(crate) fn call_of(data: &Text, id: &str) -> Option<CallId> {
    let part = Fields::of(data)?;
    let started = part.object("state")?.object("metadata")?.text("sessionId")?;
    part.text("callID").filter(|_| started == id).map(CallId::from)
}

/// The first message's time, when it is older than the session itself: then it was copied.
fn first_copied(connection: &Connection, id: &str) -> rusqlite::Result<Option<(i64, i64)>> {
    let sql = "SELECT (SELECT min(time_created) FROM message WHERE session_id = ?1), time_created \
               FROM session WHERE id = ?1";
    let times: Option<(Option<i64>, Option<i64>)> =
        connection.query_row(sql, [id], |row| Ok((row.get(0)?, row.get(1)?))).optional()?;
    Ok(match times {
        Some((Some(first), Some(created))) if first < created => Some((first, created)),
        _ => None,
    })
}

// https://github.com/junhoyeo/tokscale/issues/446 (fault 16)
fn copied(connection: &Connection, id: &str) -> rusqlite::Result<Option<Copied>> {
    let Some((first, created)) = first_copied(connection, id)? else { return Ok(None) };
    let sql = "SELECT id FROM session WHERE id <> ?1 AND time_created < ?2 AND coalesce(parent_id, '') = '' \
               AND (SELECT min(time_created) FROM message WHERE session_id = session.id) = ?3 \
               ORDER BY time_created, id LIMIT ?4";
    let mut statement = connection.prepare_cached(sql)?;
    let family: Vec<String> = statement
        .query_map(rusqlite::params![id, created, first, FAMILY], |row| row.get(0))?
        .collect::<Result<_, _>>()?;
    if family.is_empty() {
        return Ok(None);
    }
    let own = marks(connection, id, created)?;
    let mut best: Option<Copied> = None;
    for parent in family {
        let messages = shared(&own, &marks(connection, &parent, created)?);
        // Of equal ones the oldest, which the others are copies of.
        if messages > best.as_ref().map_or(0, |copied| copied.messages) {
            best = Some(Copied { parent: parent.into(), messages });
        }
    }
    Ok(best)
}

/// What a copy has in common with its original: time, role, model and tokens.
pub(crate) type Mark = (i64, String, String, String);

/// How many of the first marks are the same.
pub(crate) fn shared(own: &[Mark], other: &[Mark]) -> usize {
    own.iter().zip(other).take_while(|(a, b)| a == b).count()
}

/// The marks of a session's messages from before a time, in order.
fn marks(connection: &Connection, id: &str, before: i64) -> rusqlite::Result<Vec<Mark>> {
    let sql = "SELECT time_created, data FROM message WHERE session_id = ?1 AND time_created <= ?2 \
               ORDER BY time_created, id";
    let mut statement = connection.prepare_cached(sql)?;
    let rows = statement.query_map(rusqlite::params![id, before], |row| {
        let data = row.get::<_, String>(1).unwrap_or_default();
        Ok(mark(row.get(0)?, &Text::from(data)))
    })?;
    rows.collect()
}

/// The mark of a message.
pub(crate) fn mark(created: i64, data: &Text) -> Mark {
    let fields = Fields::of(data);
    let text =
        |name: &str| fields.as_ref().and_then(|fields| fields.text(name)).unwrap_or_default().to_string();
    let tokens = fields.as_ref().and_then(|fields| fields.json("tokens"));
    let tokens = tokens.map(|tokens| tokens.compact().as_str().to_owned()).unwrap_or_default();
    (created, text("role"), text("modelID"), tokens)
}
