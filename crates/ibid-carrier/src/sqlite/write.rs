//! Writing rows of a database that another program owns: inside one transaction, by key, and
//! never a row that nobody named.

use std::path::Path;
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags, Transaction, TransactionBehavior, params_from_iter};
use serde::{Deserialize, Serialize};

use super::rows::exact_row;
use super::{RowSet, SqlValue, SqliteError, TableRows, quoted, read_rows};
use crate::plan::RowSelection;

/// Opens an existing database for writing. It waits up to `patience` for other writers.
pub(crate) fn open(path: &Path, patience: Duration) -> Result<Connection, SqliteError> {
    let named = |error| SqliteError::at(path, error);
    if !path.is_file() {
        return Err(SqliteError::NotFound { path: path.to_owned() });
    }
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags).map_err(named)?;
    connection.busy_timeout(patience).map_err(named)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true).map_err(named)?;
    connection.pragma_update(None, "foreign_keys", true).map_err(named)?;
    connection.pragma_update(None, "synchronous", "FULL").map_err(named)?;
    Ok(connection)
}

/// Begins to write: nobody else does until the transaction ends. Rows may refer to rows that come
/// after them; foreign keys must hold when it ends.
pub(crate) fn begin<'a>(connection: &'a mut Connection, path: &Path) -> Result<Transaction<'a>, SqliteError> {
    let named = |error| SqliteError::at(path, error);
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(named)?;
    transaction.pragma_update(None, "defer_foreign_keys", true).map_err(named)?;
    Ok(transaction)
}

/// What to do with a row whose key is there already.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Existing {
    Refuse,
    Keep,
    Replace,
}

/// What an insertion comes down to, given what is in the database: enough to do it, to recognise
/// it later, and to take it back.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Insertion {
    /// Rows that are not there.
    pub(crate) new: RowSet,
    /// Rows that are there, as they are to become.
    pub(crate) replacing: RowSet,
    /// The same rows as they were, in the same order.
    pub(crate) replaced: RowSet,
}

/// Where a set of rows stands in a database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Presence {
    /// Every row is there, exactly.
    All,
    /// No row with any of the keys is there.
    None,
    /// Some are, or they differ.
    Mixed,
}

fn empty_like(table: &TableRows) -> TableRows {
    TableRows { rows: Vec::new(), ..table.clone() }
}

fn condition(table: &TableRows) -> String {
    let parts: Vec<String> =
        table.identity().iter().map(|column| format!("{} IS ?", quoted(column))).collect();
    parts.join(" AND ")
}

fn key_of<'a>(table: &'a TableRows, row: &'a [SqlValue]) -> Vec<&'a SqlValue> {
    table.identity().iter().filter_map(|column| table.value(row, column)).collect()
}

/// The row with the same key as `row`, as it is in the database.
fn stored(
    connection: &Connection,
    table: &TableRows,
    row: &[SqlValue],
) -> Result<Option<Vec<SqlValue>>, SqliteError> {
    let columns: Vec<String> = table.columns.iter().map(|column| quoted(column)).collect();
    let sql =
        format!("SELECT {} FROM {} WHERE {}", columns.join(", "), quoted(&table.table), condition(table));
    let mut statement = connection.prepare_cached(&sql)?;
    let mut rows = statement.query(params_from_iter(key_of(table, row)))?;
    Ok(rows.next()?.map(|found| exact_row(found, table.columns.len())).transpose()?)
}

fn execute_one(
    connection: &Connection,
    sql: &str,
    table: &TableRows,
    row: &[SqlValue],
    parameters: &[&SqlValue],
) -> Result<(), SqliteError> {
    let changed = connection.prepare_cached(sql)?.execute(params_from_iter(parameters))?;
    if changed == 1 {
        return Ok(());
    }
    Err(SqliteError::RowChanged { table: table.table.clone(), key: table.key_label(row) })
}

/// Runs `write`, and refuses when it changed more or fewer rows than `named`: a trigger or a
/// foreign key then changes rows of which no copy is kept.
fn exactly(
    connection: &Connection,
    named: u64,
    write: impl FnOnce() -> Result<(), SqliteError>,
) -> Result<(), SqliteError> {
    let before = connection.total_changes();
    write()?;
    let changed = connection.total_changes().saturating_sub(before);
    if changed == named { Ok(()) } else { Err(SqliteError::SideEffects { named, changed }) }
}

/// Looks up what inserting `rows` means. Nothing is changed.
pub(crate) fn plan_insertion(
    connection: &Connection,
    rows: &RowSet,
    existing: Existing,
) -> Result<Insertion, SqliteError> {
    let mut insertion = Insertion::default();
    for table in &rows.tables {
        table.check()?;
        let (mut new, mut replacing, mut replaced) =
            (empty_like(table), empty_like(table), empty_like(table));
        // Fails for a table or column that is not there, which an empty lookup would hide.
        connection.prepare(&format!(
            "SELECT {} FROM {}",
            table.columns.iter().map(|column| quoted(column)).collect::<Vec<_>>().join(", "),
            quoted(&table.table)
        ))?;
        for row in &table.rows {
            match (stored(connection, table, row)?, existing) {
                (None, _) => new.rows.push(row.clone()),
                (Some(_), Existing::Keep) => {}
                (Some(old), Existing::Replace) => {
                    if old != *row {
                        replacing.rows.push(row.clone());
                        replaced.rows.push(old);
                    }
                }
                (Some(_), Existing::Refuse) => {
                    return Err(SqliteError::RowExists {
                        table: table.table.clone(),
                        key: table.key_label(row),
                    });
                }
            }
        }
        insertion.new.tables.push(new);
        insertion.replacing.tables.push(replacing);
        insertion.replaced.tables.push(replaced);
    }
    Ok(insertion)
}

/// Inserts `rows`, none of which may be there, in their order.
pub(crate) fn insert(connection: &Connection, rows: &RowSet) -> Result<(), SqliteError> {
    exactly(connection, rows.row_count(), || {
        for table in &rows.tables {
            table.check()?;
            let columns: Vec<String> = table.columns.iter().map(|column| quoted(column)).collect();
            let marks = vec!["?"; columns.len()].join(", ");
            let sql =
                format!("INSERT INTO {} ({}) VALUES ({marks})", quoted(&table.table), columns.join(", "));
            for row in &table.rows {
                let values: Vec<&SqlValue> = row.iter().collect();
                execute_one(connection, &sql, table, row, &values)?;
            }
        }
        Ok(())
    })
}

/// Gives the rows with the keys of `rows` the other values of `rows`.
pub(crate) fn update(connection: &Connection, rows: &RowSet) -> Result<(), SqliteError> {
    exactly(connection, rows.row_count(), || {
        for table in &rows.tables {
            table.check()?;
            let columns: Vec<String> =
                table.columns.iter().map(|column| format!("{} = ?", quoted(column))).collect();
            let sql = format!(
                "UPDATE {} SET {} WHERE {}",
                quoted(&table.table),
                columns.join(", "),
                condition(table)
            );
            for row in &table.rows {
                let values: Vec<&SqlValue> = row.iter().chain(key_of(table, row)).collect();
                execute_one(connection, &sql, table, row, &values)?;
            }
        }
        Ok(())
    })
}

/// Deletes `rows`, from the last to the first. Each must still be exactly as it is in `rows`.
pub(crate) fn delete(connection: &Connection, rows: &RowSet) -> Result<(), SqliteError> {
    exactly(connection, rows.row_count(), || {
        for table in rows.tables.iter().rev() {
            table.check()?;
            let sql = format!("DELETE FROM {} WHERE {}", quoted(&table.table), condition(table));
            for row in table.rows.iter().rev() {
                if stored(connection, table, row)?.as_deref() != Some(row.as_slice()) {
                    return Err(SqliteError::RowChanged {
                        table: table.table.clone(),
                        key: table.key_label(row),
                    });
                }
                execute_one(connection, &sql, table, row, &key_of(table, row))?;
            }
        }
        Ok(())
    })
}

/// The rows that `selections` name, each once, in the order of the selections.
pub(crate) fn select(connection: &Connection, selections: &[RowSelection]) -> Result<RowSet, SqliteError> {
    let mut set = RowSet::default();
    for selection in selections {
        let condition = format!("{} IS ?1", quoted(&selection.column));
        let mut found =
            read_rows(connection, &selection.table, &condition, std::slice::from_ref(&selection.value))?;
        let seen = |row: &Vec<SqlValue>| {
            set.tables.iter().any(|table| table.table == found.table && table.rows.contains(row))
        };
        let repeated: Vec<bool> = found.rows.iter().map(seen).collect();
        let mut repeated = repeated.into_iter();
        found.rows.retain(|_| !repeated.next().unwrap_or_default());
        set.tables.push(found);
    }
    Ok(set)
}

/// Where `rows` stand in the database now.
pub(crate) fn presence(connection: &Connection, rows: &RowSet) -> Result<Presence, SqliteError> {
    let (mut equal, mut absent) = (0_u64, 0_u64);
    for table in &rows.tables {
        for row in &table.rows {
            match stored(connection, table, row)? {
                None => absent += 1,
                Some(found) if found == *row => equal += 1,
                Some(_) => return Ok(Presence::Mixed),
            }
        }
    }
    Ok(match (equal, absent) {
        (_, 0) => Presence::All,
        (0, _) => Presence::None,
        _ => Presence::Mixed,
    })
}
