//! Plans that write a session into a store of this family.

use std::path::{Component, Path, PathBuf};

use ibid_carrier::names::checked_component;
use ibid_carrier::plan::{Content, Plan, RowSelection, Step};
use ibid_carrier::sqlite::{RowSet, SqlValue, SqliteError, TableRows, quoted};
use ibid_model::{Losses, SessionId};
use rusqlite::Connection;

use super::body::{RowsBody, SessionBody, TreeBody};
use super::compose::GLOBAL;
use super::database::{Shape, key_column, reading, rows_of, shape};
use super::export;
use super::store::TablesHarness;
use super::tree::{STORAGE, Tree};
use crate::core::{CodecError, Context, Reference, SaveOptions, Saving, Store, StoreError, Transcript};

/// Plans to write a session.
///
/// # Errors
/// When there is no place for it, or its id is taken.
pub(crate) fn save<H: TablesHarness + Store>(
    transcript: &Transcript<H>,
    options: &SaveOptions,
    context: &Context<'_>,
) -> Result<Saving, StoreError> {
    let root = match &options.root {
        Some(root) => root.clone(),
        None => H::roots(context.machine)
            .into_iter()
            .next()
            .map(|root| root.path)
            .ok_or_else(|| no_place::<H>("no root is known; name a directory with `--out`".to_owned()))?,
    };
    match &transcript.body {
        SessionBody::Rows(body) => save_rows::<H>(body.clone(), Losses::none(), root, options, context),
        SessionBody::Export(body) => {
            let (body, losses) = export::to_rows(body, H::LAYOUT.version).map_err(|reason| {
                StoreError::Codec(CodecError::Foreign { harness: H::DECLARATION.name, reason })
            })?;
            save_rows::<H>(body, losses, root, options, context)
        }
        SessionBody::Tree(body) => save_tree::<H>(&transcript.id, body, root, options),
    }
}

fn no_place<H: TablesHarness>(reason: String) -> StoreError {
    StoreError::NoPlace { harness: H::DECLARATION.name, reason }
}

/// A root is a database itself when it is a file, or is named like one.
fn database_in<H: TablesHarness>(root: &Path) -> PathBuf {
    let named = root.extension().is_some_and(|ending| ending == "db") && !root.is_dir();
    if root.is_file() || named { root.to_owned() } else { root.join(H::LAYOUT.database) }
}

fn save_rows<H: TablesHarness>(
    mut body: RowsBody,
    losses: Losses,
    root: PathBuf,
    options: &SaveOptions,
    context: &Context<'_>,
) -> Result<Saving, StoreError> {
    if !body.key.as_str().starts_with("ses") {
        if !options.fix_id {
            let reason =
                format!("the program finds only sessions whose id begins with `ses`, and it is {}", body.key);
            return Err(no_place::<H>(reason));
        }
        let id = format!("ses_{}", body.key.as_str().replace('-', ""));
        rename(&mut body, id.into());
    }
    let database = database_in::<H>(&root);
    let mut notes = Vec::new();
    let steps = if database.is_file() {
        insertion::<H>(&body, &database, options, context)?
    } else {
        notes.push(format!(
            "there is no database at {}; one of version {} will be made, which that version and later ones take over",
            database.display(),
            H::LAYOUT.version
        ));
        let bytes = new_database::<H>(&body)?;
        let directory = database.parent().map(Path::to_owned).unwrap_or_else(|| root.clone());
        vec![
            Step::MakeDirectory { path: directory, private: false },
            Step::CreateFile { path: database.clone(), content: Content::from(bytes), private: true },
        ]
    };
    let key = body.key.to_string();
    // A database as root lies in a folder that its log is written to as well.
    let within = if database == root { database.parent().map(Path::to_owned) } else { None };
    Ok(Saving {
        plan: Plan::new(steps).label("harness", H::DECLARATION.id.as_str()).label("session", key.as_str()),
        roots: vec![within.unwrap_or_else(|| root.clone())],
        id: body.key,
        reference: Reference { harness: H::DECLARATION.id, root, path: database, key: Some(key) },
        losses,
        notes,
    })
}

/// Gives the session another id, in every row.
fn rename(body: &mut RowsBody, id: SessionId) {
    for table in &mut body.rows.tables {
        let column = key_column(&table.table);
        let Some(at) = table.columns.iter().position(|name| name == column) else { continue };
        for row in &mut table.rows {
            if let Some(value) = row.get_mut(at) {
                *value = SqlValue::from(id.as_str());
            }
        }
    }
    body.key = id;
}

fn insertion<H: TablesHarness>(
    body: &RowsBody,
    database: &Path,
    options: &SaveOptions,
    context: &Context<'_>,
) -> Result<Vec<Step>, StoreError> {
    reading(database, context.machine.cache_dir(), |connection| {
        let own = match shape(connection)? {
            Shape::Known(own) => own,
            Shape::Foreign(reason) => {
                return Err(CodecError::Foreign { harness: H::DECLARATION.name, reason }.into());
            }
        };
        let mut steps = Vec::new();
        let key = body.key.as_str();
        if !rows_of(connection, &["session".to_owned()], key)?.is_empty() {
            if !options.replace {
                return Err(StoreError::Exists {
                    harness: H::DECLARATION.name,
                    id: key.to_owned(),
                    place: database.display().to_string(),
                });
            }
            let selections =
                own.iter().map(|table| RowSelection::new(table.as_str(), key_column(table), key)).collect();
            steps.push(Step::TrashRows { database: database.to_owned(), selections });
        }
        let mut rows = RowSet::default();
        for table in &body.rows.tables {
            rows.tables.push(fitted::<H>(connection, table)?);
        }
        if let Some(project) = missing_project::<H>(connection, body)? {
            steps.push(Step::InsertRows {
                database: database.to_owned(),
                rows: RowSet { tables: vec![project] },
                refuse_existing: false,
            });
        }
        steps.push(Step::InsertRows { database: database.to_owned(), rows, refuse_existing: true });
        Ok(steps)
    })
}

/// One column of the database that is written to.
struct Column {
    name: String,
    required: bool,
}

fn columns_of(connection: &Connection, table: &str) -> Result<Vec<Column>, StoreError> {
    let sql = "SELECT name, \"notnull\" <> 0 AND dflt_value IS NULL FROM pragma_table_info(?1) ORDER BY cid";
    let read = || -> rusqlite::Result<Vec<Column>> {
        let mut statement = connection.prepare(sql)?;
        let column = |row: &rusqlite::Row<'_>| Ok(Column { name: row.get(0)?, required: row.get(1)? });
        statement.query_map([table], column)?.collect()
    };
    Ok(read().map_err(SqliteError::from)?)
}

/// The rows with the columns that this database has. A column that it lacks may be left out when
/// it says nothing; one that it requires must be known.
fn fitted<H: TablesHarness>(connection: &Connection, table: &TableRows) -> Result<TableRows, StoreError> {
    let there = columns_of(connection, &table.table)?;
    if there.is_empty() {
        let reason = format!(
            "its database has no table `{}`, which holds rows of this session; its version may be another one",
            table.table
        );
        return Err(no_place::<H>(reason));
    }
    let mut fitted = table.clone();
    let mut at = 0;
    while let Some(name) = fitted.columns.get(at) {
        if there.iter().any(|column| column.name == *name) {
            at += 1;
            continue;
        }
        let says_nothing = |row: &Vec<SqlValue>| matches!(row.get(at), None | Some(SqlValue::Null));
        if !fitted.rows.iter().all(says_nothing) {
            let reason =
                format!("its table `{}` has no column `{name}`, which this session needs", table.table);
            return Err(no_place::<H>(reason));
        }
        fitted.columns.remove(at);
        for row in &mut fitted.rows {
            if at < row.len() {
                row.remove(at);
            }
        }
    }
    let unknown = there.iter().find(|column| column.required && !fitted.columns.contains(&column.name));
    match unknown {
        Some(column) => Err(no_place::<H>(format!(
            "its table `{}` requires the column `{}`, of which nothing is known",
            table.table, column.name
        ))),
        None => Ok(fitted),
    }
}

fn session_value<'a>(body: &'a RowsBody, column: &str) -> Option<&'a SqlValue> {
    let table = body.rows.tables.iter().find(|table| table.table == "session")?;
    table.value(table.rows.first()?, column)
}

/// The row of the session's project, when the database does not have it. The program would make
/// it, and the session's row cannot be without.
fn missing_project<H: TablesHarness>(
    connection: &Connection,
    body: &RowsBody,
) -> Result<Option<TableRows>, StoreError> {
    if columns_of(connection, "project")?.is_empty() {
        return Ok(None);
    }
    let Some(SqlValue::Text(project)) = session_value(body, "project_id") else { return Ok(None) };
    let there = connection
        .query_row("SELECT count(*) FROM project WHERE id = ?1", [project], |row| row.get::<_, i64>(0))
        .map_err(SqliteError::from)?;
    if there > 0 {
        return Ok(None);
    }
    let worktree = match project.as_str() {
        GLOBAL => SqlValue::from("/"),
        _ => session_value(body, "directory").cloned().unwrap_or_else(|| SqlValue::from("/")),
    };
    let time = session_value(body, "time_created").cloned().unwrap_or(SqlValue::Integer(1));
    let table = TableRows {
        table: "project".to_owned(),
        columns: ["id", "worktree", "time_created", "time_updated", "sandboxes"].map(str::to_owned).to_vec(),
        key: vec!["id".to_owned()],
        rows: vec![vec![
            SqlValue::from(project.as_str()),
            worktree,
            time.clone(),
            time,
            SqlValue::from("[]"),
        ]],
    };
    fitted::<H>(connection, &table).map(Some)
}

/// The bytes of a database with this session alone.
fn new_database<H: TablesHarness>(body: &RowsBody) -> Result<Vec<u8>, StoreError> {
    let fill = || -> Result<Vec<u8>, StoreError> {
        let mut connection = Connection::open_in_memory().map_err(SqliteError::from)?;
        connection.execute_batch(H::LAYOUT.schema).map_err(SqliteError::from)?;
        let mut tables: Vec<TableRows> = missing_project::<H>(&connection, body)?.into_iter().collect();
        for table in &body.rows.tables {
            tables.push(fitted::<H>(&connection, table)?);
        }
        for table in &tables {
            insert(&connection, table).map_err(SqliteError::from)?;
        }
        let bytes = connection.serialize("main").map_err(SqliteError::from)?;
        Ok(bytes.to_vec())
    };
    fill()
}

fn insert(connection: &Connection, table: &TableRows) -> rusqlite::Result<()> {
    let columns: Vec<String> = table.columns.iter().map(|column| quoted(column)).collect();
    let marks = vec!["?"; columns.len()].join(", ");
    let sql = format!("INSERT INTO {} ({}) VALUES ({marks})", quoted(&table.table), columns.join(", "));
    let mut statement = connection.prepare(&sql)?;
    for row in &table.rows {
        statement.execute(rusqlite::params_from_iter(row))?;
    }
    Ok(())
}

fn save_tree<H: TablesHarness>(
    id: &SessionId,
    body: &TreeBody,
    root: PathBuf,
    options: &SaveOptions,
) -> Result<Saving, StoreError> {
    let mut steps = Vec::new();
    let mut record = None;
    for entry in &body.files {
        let mut path = root.clone();
        let mut parts = 0;
        for component in entry.path.components() {
            let Component::Normal(name) = component else {
                return Err(no_place::<H>(format!("{} is no path inside a store", entry.path.display())));
            };
            path.push(checked_component(&name.to_string_lossy())?);
            parts += 1;
        }
        if parts < 3 || !entry.path.starts_with(STORAGE) {
            return Err(no_place::<H>(format!("{} is no path inside a store", entry.path.display())));
        }
        record.get_or_insert_with(|| path.clone());
        if let Some(directory) = path.parent() {
            let directory = Step::MakeDirectory { path: directory.to_owned(), private: false };
            if !steps.contains(&directory) {
                steps.push(directory);
            }
        }
        steps.push(Step::CreateFile { path, content: Content::Bytes(entry.bytes.clone()), private: true });
    }
    let record = record.ok_or_else(|| no_place::<H>("it has no record of the session".to_owned()))?;
    // What makes the session visible comes last.
    if let Some(at) =
        steps.iter().position(|step| matches!(step, Step::CreateFile { path, .. } if *path == record))
    {
        let last = steps.remove(at);
        steps.push(last);
    }
    if record.symlink_metadata().is_ok() {
        if !options.replace {
            let place = record.display().to_string();
            return Err(StoreError::Exists { harness: H::DECLARATION.name, id: id.to_string(), place });
        }
        let tree = Tree::at(&root);
        let old = tree.record(&record).map(|record| tree.session(&record));
        let mut trash: Vec<Step> = Vec::new();
        for (_, entry) in old.iter().flat_map(|session| &session.entries) {
            trash.push(Step::TrashFile { path: entry.path.clone(), expected: None });
        }
        trash.append(&mut steps);
        steps = trash;
    }
    Ok(Saving {
        plan: Plan::new(steps).label("harness", H::DECLARATION.id.as_str()).label("session", id.as_str()),
        roots: vec![root.clone()],
        id: id.clone(),
        reference: Reference { harness: H::DECLARATION.id, root, path: record, key: None },
        losses: Losses::none(),
        notes: vec![
            "the files of the older store are written as they were; the versions since 1.1 do not read them"
                .to_owned(),
        ],
    })
}
