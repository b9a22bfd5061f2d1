//! The steps of a plan.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

use serde::ser::SerializeSeq;
use serde::{Deserialize, Serialize, Serializer};

use super::{Content, ContentStamp, path_text};
use crate::sqlite::{RowSet, SqlValue};

/// Everything that one save, delete or restore would write, in the order in which it becomes
/// visible. A plan changes nothing by itself.
///
/// Its JSON (`{"steps": [{"step": "create-file", ...}], "labels": {...}}`) and its text name
/// every path, table and size, and show no content.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Plan {
    /// The steps, in the order of publication.
    pub steps: Vec<Step>,
    /// What the plan is about, in the caller's words (such as `harness` and `session`): kept in
    /// the journal and with what goes to the trash.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, String>,
}

/// One action of a plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "step", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Step {
    /// Makes a directory and those above it that are missing. One that is there is left as it is.
    MakeDirectory {
        /// The directory.
        #[serde(with = "path_text")]
        path: PathBuf,
        /// Only for its owner (mode 0700) where it is made.
        private: bool,
    },
    /// Makes a file that is not there yet. Its directory must be there, or made by an earlier
    /// step. A file that is there is a conflict, or, when the policy allows replacing, kept as a
    /// backup.
    CreateFile {
        /// The file.
        #[serde(with = "path_text")]
        path: PathBuf,
        /// What it is to hold.
        content: Content,
        /// Only for its owner (mode 0600).
        private: bool,
    },
    /// Adds bytes at the end of a file.
    AppendFile {
        /// The file.
        #[serde(with = "path_text")]
        path: PathBuf,
        /// What it looked like when the plan was made.
        expected: ContentStamp,
        /// What is added.
        content: Content,
    },
    /// Puts other content in the place of a file whose state is known. The old one is kept as a
    /// backup; the new one keeps its mode.
    ReplaceFile {
        /// The file.
        #[serde(with = "path_text")]
        path: PathBuf,
        /// What it looked like when the plan was made.
        expected: ContentStamp,
        /// What it is to hold.
        content: Content,
        /// Only for its owner from now on (mode 0600), whatever it was.
        private: bool,
    },
    /// Inserts rows in one transaction, in the order of the row set.
    InsertRows {
        /// The database, which must exist.
        #[serde(with = "path_text")]
        database: PathBuf,
        /// The rows, those that others refer to first.
        #[serde(serialize_with = "row_counts")]
        rows: RowSet,
        /// Whether a row whose key is there already is a conflict (or, when the policy allows
        /// replacing, replaced and kept in the backup). Otherwise it is left as it is. Rows that
        /// the set does not name stay in any case: to replace a whole session, delete its rows
        /// with [`Step::TrashRows`] first, in the same plan.
        refuse_existing: bool,
    },
    /// Moves a file to the trash.
    TrashFile {
        /// The file.
        #[serde(with = "path_text")]
        path: PathBuf,
        /// What it looked like when the plan was made, when that is to be held against it.
        #[serde(skip_serializing_if = "Option::is_none")]
        expected: Option<ContentStamp>,
    },
    /// Moves a directory with everything in it to the trash.
    TrashDirectory {
        /// The directory.
        #[serde(with = "path_text")]
        path: PathBuf,
    },
    /// Deletes rows in one transaction, after they have been written to the trash.
    TrashRows {
        /// The database.
        #[serde(with = "path_text")]
        database: PathBuf,
        /// Which rows, those that others refer to first; they are deleted from the last to the
        /// first. Rows that a foreign key or a trigger would change besides are a conflict.
        selections: Vec<RowSelection>,
    },
    /// Moves a file or directory from the trash back to its place, which must be free.
    RestoreFile {
        /// Where it lies in the trash.
        #[serde(with = "path_text")]
        stored: PathBuf,
        /// Where it goes.
        #[serde(with = "path_text")]
        path: PathBuf,
    },
    /// Inserts rows from the trash, none of which may be there.
    RestoreRows {
        /// The database.
        #[serde(with = "path_text")]
        database: PathBuf,
        /// The rows.
        #[serde(serialize_with = "row_counts")]
        rows: RowSet,
    },
    /// Removes an entry from the trash, after its content was restored in the same plan.
    CloseTrashEntry {
        /// The entry's id.
        entry: String,
    },
}

/// The rows of one table whose `column` has `value`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RowSelection {
    /// The table.
    pub table: String,
    /// The column that is compared.
    pub column: String,
    /// The value it must have (compared with SQL's `IS`, never as a pattern).
    pub value: SqlValue,
}

impl RowSelection {
    /// The rows of `table` whose `column` is `value`.
    #[must_use]
    pub fn new(
        table: impl Into<String>,
        column: impl Into<String>,
        value: impl Into<SqlValue>,
    ) -> RowSelection {
        RowSelection { table: table.into(), column: column.into(), value: value.into() }
    }
}

fn row_counts<S: Serializer>(rows: &RowSet, serializer: S) -> Result<S::Ok, S::Error> {
    #[derive(Serialize)]
    struct Count<'a> {
        table: &'a str,
        rows: usize,
    }
    let mut list = serializer.serialize_seq(Some(rows.tables.len()))?;
    for table in &rows.tables {
        list.serialize_element(&Count { table: &table.table, rows: table.rows.len() })?;
    }
    list.end()
}

impl Plan {
    /// A plan of these steps, without labels.
    #[must_use]
    pub fn new(steps: Vec<Step>) -> Plan {
        Plan { steps, labels: BTreeMap::new() }
    }

    /// The same plan with a label more, such as `harness` and its id.
    #[must_use]
    pub fn label(mut self, name: impl Into<String>, value: impl Into<String>) -> Plan {
        self.labels.insert(name.into(), value.into());
        self
    }

    /// Whether there is nothing to do.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    /// How many bytes the plan writes into stores: the contents of files and of rows.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.steps.iter().map(Step::bytes).fold(0, u64::saturating_add)
    }
}

impl Step {
    /// The file, directory or database that the step changes in a store; `None` for one that
    /// touches only the trash.
    #[must_use]
    pub fn path(&self) -> Option<&Path> {
        match self {
            Step::MakeDirectory { path, .. }
            | Step::CreateFile { path, .. }
            | Step::AppendFile { path, .. }
            | Step::ReplaceFile { path, .. }
            | Step::TrashFile { path, .. }
            | Step::TrashDirectory { path }
            | Step::RestoreFile { path, .. } => Some(path),
            Step::InsertRows { database, .. }
            | Step::TrashRows { database, .. }
            | Step::RestoreRows { database, .. } => Some(database),
            Step::CloseTrashEntry { .. } => None,
        }
    }

    /// How many bytes the step adds to a store.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        match self {
            Step::CreateFile { content, .. }
            | Step::AppendFile { content, .. }
            | Step::ReplaceFile { content, .. } => content.len(),
            Step::InsertRows { rows, .. } | Step::RestoreRows { rows, .. } => rows.bytes(),
            _ => 0,
        }
    }
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.steps.is_empty() {
            return writeln!(f, "nothing to do");
        }
        for (at, step) in self.steps.iter().enumerate() {
            writeln!(f, "{}. {step}", at + 1)?;
        }
        Ok(())
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let only = |private: &bool| if *private { " (only for you)" } else { "" };
        match self {
            Step::MakeDirectory { path, private } => {
                write!(f, "make directory {}{}", shown(path), only(private))
            }
            Step::CreateFile { path, content, private } => {
                write!(f, "create {}: {content}{}", shown(path), only(private))
            }
            Step::AppendFile { path, expected, content } => {
                write!(f, "append to {} ({} bytes): {content}", shown(path), expected.bytes)
            }
            Step::ReplaceFile { path, expected, content, private } => write!(
                f,
                "replace {} ({} bytes, kept as a backup): {content}{}",
                shown(path),
                expected.bytes,
                only(private)
            ),
            Step::InsertRows { database, rows, refuse_existing } => {
                let existing = if *refuse_existing { "" } else { ", unless they are there" };
                write!(f, "insert into {}: {}{existing}", shown(database), tables(rows))
            }
            Step::TrashFile { path, .. } => write!(f, "move to the trash {}", shown(path)),
            Step::TrashDirectory { path } => {
                write!(f, "move to the trash the directory {} with everything in it", shown(path))
            }
            Step::TrashRows { database, selections } => {
                let parts: Vec<String> = selections.iter().map(ToString::to_string).collect();
                write!(f, "move to the trash from {}: {}", shown(database), parts.join("; "))
            }
            Step::RestoreFile { path, .. } => write!(f, "restore {}", shown(path)),
            Step::RestoreRows { database, rows } => {
                write!(f, "restore into {}: {}", shown(database), tables(rows))
            }
            Step::CloseTrashEntry { entry } => write!(f, "remove the entry {entry} from the trash"),
        }
    }
}

impl fmt::Display for RowSelection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "rows of {} where {} is {}", plain(&self.table), plain(&self.column), self.value.label())
    }
}

fn tables(rows: &RowSet) -> String {
    let parts: Vec<String> = rows
        .tables
        .iter()
        .map(|table| match table.rows.len() {
            1 => format!("1 row of {}", plain(&table.table)),
            count => format!("{count} rows of {}", plain(&table.table)),
        })
        .collect();
    if parts.is_empty() { "no rows".to_owned() } else { parts.join(", ") }
}

fn shown(path: &Path) -> String {
    plain(&path.to_string_lossy())
}

/// Names come from stores: what controls a terminal, or turns the direction of the text so that a
/// name reads as another, must not reach it.
fn plain(name: &str) -> String {
    let turns = |c| matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    name.chars().map(|c| if c.is_control() || turns(c) { '\u{fffd}' } else { c }).collect()
}
