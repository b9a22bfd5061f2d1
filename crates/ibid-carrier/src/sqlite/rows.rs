//! Rows as a value: exact, comparable, and able to live in a file.

use rusqlite::{Connection, Row, params_from_iter};
use serde::{Deserialize, Serialize};

use super::{SqlValue, SqliteError};

/// Rows of several tables, in the order in which they are written (a parent's row before the rows
/// that refer to it). Deleting goes the other way round.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RowSet {
    /// The tables, each at most once is usual and not required.
    pub tables: Vec<TableRows>,
}

impl RowSet {
    /// How many rows there are in all.
    #[must_use]
    pub fn row_count(&self) -> u64 {
        self.tables.iter().map(|table| table.rows.len() as u64).sum()
    }

    /// Roughly how many bytes of content the rows hold.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.tables.iter().flat_map(|table| table.rows.iter().flatten()).map(SqlValue::bytes).sum()
    }

    /// Whether there are no rows.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.tables.iter().all(|table| table.rows.is_empty())
    }
}

/// Rows of one table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TableRows {
    /// The table.
    pub table: String,
    /// The columns, in the order of the values in each row.
    pub columns: Vec<String>,
    /// The columns of the primary key, in the order of the key. Empty: all columns together.
    pub key: Vec<String>,
    /// The rows.
    pub rows: Vec<Vec<SqlValue>>,
}

impl TableRows {
    /// The columns that tell one row from another.
    #[must_use]
    pub fn identity(&self) -> &[String] {
        if self.key.is_empty() { &self.columns } else { &self.key }
    }

    /// The value of `column` in `row`, when there is such a column.
    #[must_use]
    pub fn value<'a>(&self, row: &'a [SqlValue], column: &str) -> Option<&'a SqlValue> {
        let at = self.columns.iter().position(|name| name == column)?;
        row.get(at)
    }

    /// The key of `row`, as text for messages and for
    /// [`Extent::Row`](ibid_model::Extent::Row): the values joined with commas.
    #[must_use]
    pub fn key_label(&self, row: &[SqlValue]) -> String {
        let parts: Vec<String> = self
            .identity()
            .iter()
            .map(|column| match self.value(row, column) {
                Some(SqlValue::Text(text)) if self.key.len() == 1 => text.chars().take(200).collect(),
                Some(value) => value.label(),
                None => "?".to_owned(),
            })
            .collect();
        parts.join(",")
    }

    /// Checks that every row has as many values as there are columns, and that the key's columns
    /// are among them.
    pub(crate) fn check(&self) -> Result<(), SqliteError> {
        let malformed = |detail: String| SqliteError::Malformed { table: self.table.clone(), detail };
        if self.columns.is_empty() {
            return Err(malformed("there are no columns".to_owned()));
        }
        if let Some(column) = self.key.iter().find(|column| !self.columns.contains(column)) {
            return Err(malformed(format!("the key {column:?} is no column")));
        }
        match self.rows.iter().find(|row| row.len() != self.columns.len()) {
            Some(row) => Err(malformed(format!("{} values for {} columns", row.len(), self.columns.len()))),
            None => Ok(()),
        }
    }
}

/// A name as SQL spells it: quoted, whatever it holds.
#[must_use]
pub fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// The columns and the primary key of a table, from its schema. A view or virtual table of that
/// name is none: what it would run is up to whoever wrote the database. Generated columns are left out:
/// they follow from the others. A table without a primary key gets SQLite's own row number as an
/// extra first column and as the key.
fn shape(connection: &Connection, table: &str) -> Result<(Vec<String>, Vec<String>), SqliteError> {
    let mut statement = connection.prepare(
        "SELECT x.name, x.pk FROM pragma_table_list AS l JOIN pragma_table_xinfo(l.name) AS x
         WHERE l.schema = 'main' AND l.name = ?1 AND l.type IN ('table', 'shadow') AND x.hidden = 0
         ORDER BY x.cid",
    )?;
    let described = statement
        .query_map([table], |row| Ok((row.get::<_, String>(0)?, row.get::<_, i64>(1)?)))?
        .collect::<Result<Vec<_>, _>>()?;
    if described.is_empty() {
        return Err(SqliteError::NoTable { table: table.to_owned() });
    }
    let mut key: Vec<(i64, String)> =
        described.iter().filter(|(_, pk)| *pk > 0).map(|(name, pk)| (*pk, name.clone())).collect();
    key.sort();
    let mut key: Vec<String> = key.into_iter().map(|(_, name)| name).collect();
    let mut columns: Vec<String> = described.into_iter().map(|(name, _)| name).collect();
    if key.is_empty() {
        let taken = |name: &str| columns.iter().any(|column| column.eq_ignore_ascii_case(name));
        if let Some(name) = ["rowid", "_rowid_", "oid"].into_iter().find(|name| !taken(name)) {
            columns.insert(0, name.to_owned());
            key.push(name.to_owned());
        }
    }
    Ok((columns, key))
}

/// Reads the rows of `table` for which `where_sql` holds (an SQL condition with `?1`, `?2`, ...
/// for `parameters`; empty for all rows), with all stored columns as they are, ordered by the
/// primary key.
///
/// `where_sql` is part of the program, never of the input; what comes from the input goes into
/// `parameters`.
///
/// # Errors
/// [`SqliteError::NoTable`] when there is no such table, else what SQLite says.
pub fn read_rows(
    connection: &Connection,
    table: &str,
    where_sql: &str,
    parameters: &[SqlValue],
) -> Result<TableRows, SqliteError> {
    let (columns, key) = shape(connection, table)?;
    let list = |names: &[String]| names.iter().map(|name| quoted(name)).collect::<Vec<_>>().join(", ");
    let mut sql = format!("SELECT {} FROM {}", list(&columns), quoted(table));
    if !where_sql.trim().is_empty() {
        sql.push_str(" WHERE ");
        sql.push_str(where_sql);
    }
    if !key.is_empty() {
        sql.push_str(" ORDER BY ");
        sql.push_str(&list(&key));
    }
    let mut statement = connection.prepare(&sql)?;
    let width = columns.len();
    let rows = statement
        .query_map(params_from_iter(parameters), |row| exact_row(row, width))?
        .collect::<Result<Vec<_>, _>>()?;
    Ok(TableRows { table: table.to_owned(), columns, key, rows })
}

/// The first `width` values of a row, exactly as they are stored.
pub(crate) fn exact_row(row: &Row<'_>, width: usize) -> rusqlite::Result<Vec<SqlValue>> {
    (0..width).map(|at| row.get_ref(at).map(SqlValue::from_sql)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn database() -> Connection {
        let connection = Connection::open_in_memory().unwrap();
        connection
            .execute_batch(
                r#"CREATE TABLE part (session TEXT, nr INTEGER, "odd ""name" BLOB, twice INTEGER AS (nr * 2),
                     PRIMARY KEY (session, nr)) WITHOUT ROWID;
                   INSERT INTO part (session, nr, "odd ""name") VALUES ('b', 2, x'00ff'), ('b', 1, CAST(x'61ff' AS TEXT)), ('c', 1, 1.5);
                   CREATE TABLE loose (a);
                   INSERT INTO loose VALUES (NULL), (NULL);"#,
            )
            .unwrap();
        connection
    }

    #[test]
    fn rows_come_with_their_stored_columns_and_key_and_nothing_is_rounded() {
        let read = read_rows(&database(), "part", "session = ?1", &["b".into()]).unwrap();
        assert_eq!(read.columns, ["session", "nr", "odd \"name"]);
        assert_eq!(read.key, ["session", "nr"]);
        assert_eq!(
            read.rows,
            [
                vec!["b".into(), SqlValue::Integer(1), SqlValue::MalformedText(vec![0x61, 0xff])],
                vec!["b".into(), SqlValue::Integer(2), SqlValue::Blob(vec![0, 255])],
            ]
        );
        assert_eq!(read.key_label(&read.rows[0]), "\"b\",1");
    }

    #[test]
    fn equal_rows_of_a_table_without_a_key_are_told_apart() {
        let read = read_rows(&database(), "loose", "", &[]).unwrap();
        assert_eq!(read.key, ["rowid"]);
        assert_eq!(read.rows.len(), 2);
        assert_ne!(read.rows[0], read.rows[1]);
    }

    #[test]
    fn a_missing_table_is_an_error_and_not_empty() {
        let missing = read_rows(&database(), "absent", "", &[]);
        assert!(matches!(missing, Err(SqliteError::NoTable { table }) if table == "absent"));
    }

    #[test]
    fn a_view_that_would_run_for_ever_is_no_table() {
        let connection = database();
        let endless = "CREATE VIEW message AS WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x FROM n) SELECT x FROM n";
        connection.execute_batch(endless).unwrap();
        assert!(matches!(read_rows(&connection, "message", "", &[]), Err(SqliteError::NoTable { .. })));
    }
}
