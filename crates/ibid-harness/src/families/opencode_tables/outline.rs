//! What a list shows of a session in a database, from a few of its rows.

use ibid_carrier::sqlite::{SqlValue, SqliteError, read_rows};
use ibid_model::{Lineage, Meta, SessionId, Text};
use rusqlite::Connection;

use super::assembly::{lineage_of, meta_of, model_of, stamp, typed_text};
use super::fields::Fields;
use super::kin;
use super::records::{Native, Row, session_of_row, time};
use crate::core::StoreError;

/// What a list shows.
pub(crate) struct Outline {
    pub(crate) id: SessionId,
    pub(crate) meta: Meta,
    pub(crate) lineage: Vec<Lineage>,
    pub(crate) subagent: bool,
}

/// The outline of a session; none when there is no such session. It is what a full load says.
pub(crate) fn of_row(
    connection: &Connection,
    own: &[String],
    id: &str,
) -> Result<Option<Outline>, StoreError> {
    let table = read_rows(connection, "session", "id = ?1", &[SqlValue::from(id)])?;
    let Some(row) = table.rows.first() else { return Ok(None) };
    let session = session_of_row(&Row(&table, row));
    let mut native = Native { session, ..Native::default() };
    native.kin = kin::of_row(connection, id, native.session.parent.as_ref())?;
    let subagent = native.session.parent.is_some();
    let mut meta = meta_of(&native.session);
    let second = own.iter().any(|table| table == "session_message");
    read_messages(connection, id, subagent, second, &mut meta).map_err(SqliteError::from)?;
    let last_copied = match &native.kin.copied {
        Some(copied) => kin_end(connection, id, copied.messages).map_err(SqliteError::from)?,
        None => None,
    };
    let lineage = lineage_of(&native, last_copied.map(Into::into));
    Ok(Some(Outline { id: native.session.id, meta, lineage, subagent }))
}

/// The id of the last message that was copied.
fn kin_end(connection: &Connection, id: &str, messages: usize) -> rusqlite::Result<Option<String>> {
    let sql = "SELECT id FROM message WHERE session_id = ?1 ORDER BY time_created, id LIMIT 1 OFFSET ?2";
    let offset = i64::try_from(messages.saturating_sub(1)).unwrap_or(i64::MAX);
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query(rusqlite::params![id, offset])?;
    rows.next()?.map(|row| row.get(0)).transpose()
}

fn read_messages(
    connection: &Connection,
    id: &str,
    subagent: bool,
    second: bool,
    meta: &mut Meta,
) -> rusqlite::Result<()> {
    let sql =
        "SELECT min(nullif(time_created, 0)), max(time_created), count(*) FROM message WHERE session_id = ?1";
    let (first, last, count): (Option<i64>, Option<i64>, i64) =
        connection.query_row(sql, [id], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
    if count == 0 && second {
        return read_whole(connection, id, subagent, meta);
    }
    stamp(meta, time(first));
    stamp(meta, time(last));
    let sql = "SELECT data FROM message WHERE session_id = ?1 ORDER BY time_created DESC, id DESC";
    meta.model =
        find(connection, sql, id, |fields| model_of(fields).filter(|_| is_role(fields, "assistant")))?;
    if !subagent {
        let sql = "SELECT id, data FROM message WHERE session_id = ?1 ORDER BY time_created, id";
        let mut statement = connection.prepare_cached(sql)?;
        let mut rows = statement.query([id])?;
        while let Some(row) = rows.next()? {
            let data = Text::from(row.get::<_, String>(1).unwrap_or_default());
            if !Fields::of(&data).is_some_and(|fields| is_role(&fields, "user")) {
                continue;
            }
            let sql = "SELECT data FROM part WHERE message_id = ?1 ORDER BY id";
            let message = row.get::<_, String>(0).unwrap_or_default();
            if let Some(text) = find(connection, sql, &message, typed_text)? {
                meta.offer_preview(&text);
                break;
            }
        }
    }
    Ok(())
}

fn read_whole(connection: &Connection, id: &str, subagent: bool, meta: &mut Meta) -> rusqlite::Result<()> {
    let sql =
        "SELECT min(nullif(time_created, 0)), max(time_created) FROM session_message WHERE session_id = ?1";
    let (first, last): (Option<i64>, Option<i64>) =
        connection.query_row(sql, [id], |row| Ok((row.get(0)?, row.get(1)?)))?;
    stamp(meta, time(first));
    stamp(meta, time(last));
    let sql = "SELECT data FROM session_message WHERE session_id = ?1 AND type = 'assistant' \
               ORDER BY seq DESC, id DESC";
    meta.model = find(connection, sql, id, |fields| fields.object("model")?.text("id"))?;
    if !subagent {
        let sql = "SELECT data FROM session_message WHERE session_id = ?1 AND type = 'user' ORDER BY seq, id";
        let typed = |fields: &Fields<'_>| fields.text("text").filter(|text| !text.is_blank());
        if let Some(text) = find(connection, sql, id, typed)? {
            meta.offer_preview(&text);
        }
    }
    Ok(())
}

fn is_role(fields: &Fields<'_>, role: &str) -> bool {
    fields.text("role").is_some_and(|own| own == role)
}

/// The first answer among the objects in the only column of the rows.
fn find<T>(
    connection: &Connection,
    sql: &str,
    parameter: &str,
    mut look: impl FnMut(&Fields<'_>) -> Option<T>,
) -> rusqlite::Result<Option<T>> {
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query([parameter])?;
    while let Some(row) = rows.next()? {
        let Ok(data) = row.get::<_, String>(0) else { continue };
        let data = Text::from(data);
        if let Some(found) = Fields::of(&data).as_ref().and_then(&mut look) {
            return Ok(Some(found));
        }
    }
    Ok(None)
}
