//! Sessions in a database, read from a snapshot of it.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use ibid_carrier::fingerprint::Fingerprint;
use ibid_carrier::sqlite::{DatabaseState, RowSet, Snapshot, SqlValue, SqliteError, quoted, read_rows};
use rusqlite::Connection;
use rusqlite::types::ValueRef;

use crate::core::StoreError;

/// How often a database that changes while it is read in place is read again.
const ATTEMPTS: usize = 3;

/// The most tables that are looked through for a session's rows; a real database has about twenty.
const TABLES: usize = 200;

/// How long nobody must have written a database before its snapshot is kept open: by then a
/// further write leaves another time behind, whatever the clock of the file system.
const SETTLED: Duration = Duration::from_secs(2);

thread_local! {
    /// The snapshot that this thread read from last. Ten thousand sessions of one database are
    /// described one after the other, and opening it costs more than describing one.
    static LAST: RefCell<Option<(PathBuf, Snapshot)>> = const { RefCell::new(None) };
    /// What is known of the tables of the snapshot that is being read; forgotten with it.
    static SCHEMA: RefCell<Schema> = RefCell::new(Schema::default());
}

#[derive(Default)]
struct Schema {
    shape: Option<Shape>,
    columns: HashMap<String, Vec<String>>,
}

fn kept(database: &Path) -> Option<Snapshot> {
    let (path, snapshot) = LAST.take()?;
    let same = path == database && DatabaseState::read(database).is_ok_and(|now| now == *snapshot.state());
    same.then_some(snapshot)
}

fn is_settled(database: &Path) -> bool {
    let mut log = database.as_os_str().to_owned();
    log.push("-wal");
    [database, Path::new(&log)].into_iter().all(|path| match path.metadata().and_then(|m| m.modified()) {
        Ok(modified) => SystemTime::now().duration_since(modified).is_ok_and(|age| age > SETTLED),
        Err(error) => error.kind() == std::io::ErrorKind::NotFound,
    })
}

/// Reads from a database at one moment, without touching it.
///
/// # Errors
/// What cannot be read, and what `read` returns.
pub(crate) fn reading<T>(
    database: &Path,
    cache_dir: &Path,
    read: impl Fn(&Connection) -> Result<T, StoreError>,
) -> Result<T, StoreError> {
    let mut changed = None;
    for _ in 0..ATTEMPTS {
        let settled = is_settled(database);
        let snapshot = match kept(database) {
            Some(snapshot) => snapshot,
            None => {
                let snapshot = Snapshot::open(database, cache_dir)?;
                snapshot.connection().set_prepared_statement_cache_capacity(128);
                SCHEMA.take();
                snapshot
            }
        };
        let value = read(snapshot.connection());
        match snapshot.verify() {
            Ok(()) => {
                if settled {
                    LAST.set(Some((database.to_owned(), snapshot)));
                }
                return value;
            }
            Err(error) => changed = Some(error),
        }
    }
    match changed {
        Some(error) => Err(error.into()),
        None => Err(SqliteError::NotFound { path: database.to_owned() }.into()),
    }
}

/// What kind of database it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// One with sessions, messages and parts; the tables that hold rows of a session, `session`
    /// first.
    Known(Vec<String>),
    /// Another program's, or one that was made by hand: what is missing.
    Foreign(String),
}

/// The columns of a table; none when there is no such table. Only while [`reading`].
fn columns(connection: &Connection, table: &str) -> rusqlite::Result<Vec<String>> {
    if let Some(known) = SCHEMA.with_borrow(|schema| schema.columns.get(table).cloned()) {
        return Ok(known);
    }
    let mut statement = connection.prepare_cached("SELECT name FROM pragma_table_info(?1) ORDER BY cid")?;
    let columns: Vec<String> = statement.query_map([table], |row| row.get(0))?.collect::<Result<_, _>>()?;
    SCHEMA.with_borrow_mut(|schema| schema.columns.insert(table.to_owned(), columns.clone()));
    Ok(columns)
}

/// The names of all tables, in order.
pub(crate) fn tables(connection: &Connection) -> rusqlite::Result<Vec<String>> {
    let sql = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' \
               ORDER BY name LIMIT ?1";
    let mut statement = connection.prepare_cached(sql)?;
    statement.query_map([TABLES as i64], |row| row.get(0))?.collect()
}

/// Looks at the tables of the database that is being read.
pub(crate) fn shape(connection: &Connection) -> Result<Shape, StoreError> {
    if let Some(known) = SCHEMA.with_borrow(|schema| schema.shape.clone()) {
        return Ok(known);
    }
    let shape = look_at_tables(connection)?;
    SCHEMA.with_borrow_mut(|schema| schema.shape = Some(shape.clone()));
    Ok(shape)
}

fn look_at_tables(connection: &Connection) -> Result<Shape, StoreError> {
    let all = tables(connection).map_err(SqliteError::from)?;
    for (table, needed) in [
        ("session", &["id", "title", "directory", "time_created", "time_updated"][..]),
        ("message", &["id", "session_id", "time_created", "data"]),
        ("part", &["id", "message_id", "session_id", "data"]),
    ] {
        let there = columns(connection, table).map_err(SqliteError::from)?;
        if there.is_empty() {
            let named: Vec<&str> = all.iter().take(8).map(String::as_str).collect();
            let older = ["sessions", "messages", "files"].iter().all(|table| named.contains(table));
            let reason = if older {
                "its tables (sessions, messages, files) are those of an older program of the same name"
                    .to_owned()
            } else {
                format!("it has no table `{table}`; there are: {}", named.join(", "))
            };
            return Ok(Shape::Foreign(reason));
        }
        if let Some(missing) = needed.iter().find(|column| !there.iter().any(|name| name == *column)) {
            return Ok(Shape::Foreign(format!("its table `{table}` has no column `{missing}`")));
        }
    }
    let mut own: Vec<String> = ["session", "message", "part"].map(str::to_owned).to_vec();
    for table in all {
        if !own.contains(&table)
            && columns(connection, &table).map_err(SqliteError::from)?.iter().any(|c| c == "session_id")
        {
            own.push(table);
        }
    }
    Ok(Shape::Known(own))
}

/// The column that names the session in a table.
pub(crate) fn key_column(table: &str) -> &'static str {
    if table == "session" { "id" } else { "session_id" }
}

/// What stands for the rows of one session: equal digests mean that no row was added, removed or
/// written by the program. It reads times and sizes, not contents: a change by hand that keeps the
/// size of everything and sets no time is not seen.
#[derive(Clone, Debug, Default)]
pub(crate) struct Digest {
    notes: Vec<String>,
    pub(crate) bytes: u64,
}

impl Digest {
    pub(crate) fn fingerprint(&self, database: &Path) -> Fingerprint {
        let start = Fingerprint::of().note(&database.to_string_lossy());
        self.notes.iter().fold(start, |builder, note| builder.note(note)).finish()
    }

    /// Whether the rows stand for the same content, wherever they are.
    pub(crate) fn same_as(&self, other: &Digest) -> bool {
        self.notes == other.notes
    }
}

/// The digests of all sessions, or of one.
pub(crate) fn digests(
    connection: &Connection,
    own: &[String],
    only: Option<&str>,
) -> Result<BTreeMap<String, Digest>, StoreError> {
    let mut digests = BTreeMap::new();
    for table in own {
        digest_table(connection, table, only, &mut digests).map_err(SqliteError::from)?;
    }
    Ok(digests)
}

fn digest_table(
    connection: &Connection,
    table: &str,
    only: Option<&str>,
    digests: &mut BTreeMap<String, Digest>,
) -> rusqlite::Result<()> {
    let columns = columns(connection, table)?;
    let key = key_column(table);
    let condition = if only.is_some() { format!(" WHERE {key} = ?1") } else { String::new() };
    let parameters: Vec<&str> = only.into_iter().collect();
    if table == "session" {
        let list: Vec<String> = columns.iter().map(|column| quoted(column)).collect();
        let sql = format!("SELECT id, {} FROM session{condition}", list.join(", "));
        let mut statement = connection.prepare_cached(&sql)?;
        let mut rows = statement.query(rusqlite::params_from_iter(&parameters))?;
        while let Some(row) = rows.next()? {
            let ValueRef::Text(id) = row.get_ref(0)? else { continue };
            let digest: &mut Digest = digests.entry(String::from_utf8_lossy(id).into_owned()).or_default();
            for at in 1..=columns.len() {
                let value = SqlValue::from_sql(row.get_ref(at)?);
                digest.bytes += value.bytes();
                digest.notes.push(format!("{value:?}"));
            }
        }
        return Ok(());
    }
    let sizes: Vec<String> =
        columns.iter().map(|column| format!("coalesce(octet_length({}), 0)", quoted(column))).collect();
    let times = if columns.iter().any(|column| column == "time_updated") {
        "max(time_updated), sum(time_updated % 1000003)"
    } else {
        "NULL, NULL"
    };
    let sql = format!(
        "SELECT {key}, count(*), sum({}), {times} FROM {}{condition} GROUP BY {key}",
        sizes.join(" + "),
        quoted(table)
    );
    let mut statement = connection.prepare_cached(&sql)?;
    let mut rows = statement.query(rusqlite::params_from_iter(&parameters))?;
    while let Some(row) = rows.next()? {
        let ValueRef::Text(id) = row.get_ref(0)? else { continue };
        // Rows of a session that is not there belong to nothing that can be listed.
        let Some(digest) = digests.get_mut(String::from_utf8_lossy(id).as_ref()) else { continue };
        let values: Vec<SqlValue> =
            (1..5).map(|at| row.get_ref(at).map(SqlValue::from_sql)).collect::<Result<_, _>>()?;
        digest.bytes +=
            values.get(1).and_then(SqlValue::as_integer).and_then(|n| u64::try_from(n).ok()).unwrap_or(0);
        digest.notes.push(format!("{table} {values:?}"));
    }
    Ok(())
}

/// All rows of one session, those of `session` first; tables without any are left out.
pub(crate) fn rows_of(connection: &Connection, own: &[String], id: &str) -> Result<RowSet, StoreError> {
    let mut set = RowSet::default();
    for table in own {
        let condition = format!("{} = ?1", key_column(table));
        let rows = read_rows(connection, table, &condition, &[SqlValue::from(id)])?;
        if !rows.rows.is_empty() {
            set.tables.push(rows);
        }
    }
    Ok(set)
}

/// The sessions that a session started, in order of their ids.
pub(crate) fn children(connection: &Connection, id: &str) -> Result<Vec<String>, StoreError> {
    let read = || -> rusqlite::Result<Vec<String>> {
        let mut statement =
            connection.prepare_cached("SELECT id FROM session WHERE parent_id = ?1 ORDER BY id")?;
        statement.query_map([id], |row| row.get(0))?.collect()
    };
    Ok(read().map_err(SqliteError::from)?)
}
