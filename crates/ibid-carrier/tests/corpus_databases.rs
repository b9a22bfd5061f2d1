//! Real databases: set `IBID_CORPUS` to a folder of session files to run these.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test states what it expects, in its functions too"
)]

use std::fs;
use std::path::{Path, PathBuf};

use ibid_carrier::plan::{Engine, Plan, Policy, Step};
use ibid_carrier::sqlite::{RowSet, Snapshot, SqliteError, read_rows};
use rusqlite::Connection;

fn databases(directory: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            databases(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "db") {
            found.push(path);
        }
    }
}

fn all_rows(connection: &Connection) -> RowSet {
    let mut names = connection.prepare("SELECT name FROM pragma_table_list WHERE schema = 'main'").unwrap();
    let names: Vec<String> = names.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
    let mut set = RowSet::default();
    for name in names.iter().filter(|name| !name.starts_with("sqlite_")) {
        match read_rows(connection, name, "", &[]) {
            Ok(table) => set.tables.push(table),
            Err(SqliteError::NoTable { .. }) => {}
            Err(error) => panic!("{name}: {error}"),
        }
    }
    set
}

#[test]
fn every_row_of_a_real_database_survives_json_and_being_inserted_elsewhere() {
    let Some(corpus) = std::env::var_os("IBID_CORPUS").map(PathBuf::from) else {
        println!("skipped: IBID_CORPUS is not set");
        return;
    };
    let mut found = Vec::new();
    databases(&corpus, &mut found);
    assert!(!found.is_empty());
    let work = tempfile::tempdir().unwrap();
    let mut read = 0;
    for (at, path) in found.iter().enumerate() {
        let snapshot = match Snapshot::open(path, work.path()) {
            Ok(snapshot) => snapshot,
            // Some files only have the name of a database.
            Err(SqliteError::Damaged { .. }) => continue,
            Err(error) => panic!("{}: {error}", path.display()),
        };
        let rows = all_rows(snapshot.connection());
        snapshot.verify().unwrap();
        let json = serde_json::to_vec(&rows).unwrap();
        assert_eq!(serde_json::from_slice::<RowSet>(&json).unwrap(), rows, "{}", path.display());
        read += rows.row_count();

        // The same tables without rows, and without the triggers that would change other rows.
        let copy = work.path().join(format!("{at}.db"));
        let connection = Connection::open(&copy).unwrap();
        let mut schema = snapshot
            .connection()
            .prepare("SELECT sql FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' AND sql IS NOT NULL")
            .unwrap();
        let schema: Vec<String> =
            schema.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
        for sql in schema {
            connection.execute_batch(&sql).unwrap();
        }
        drop(connection);
        let step = Step::InsertRows { database: copy.clone(), rows: rows.clone(), refuse_existing: true };
        let engine = Engine::new(work.path().join("data"));
        engine.commit(&Plan::new(vec![step]), &Policy::within([copy.clone()])).unwrap();
        assert_eq!(all_rows(&Connection::open(&copy).unwrap()), rows, "{}", path.display());
    }
    println!("{} databases, {read} rows", found.len());
    assert!(read > 0);
}
