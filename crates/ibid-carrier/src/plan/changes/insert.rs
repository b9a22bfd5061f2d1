//! Inserting rows.

use std::path::{Path, PathBuf};

use rusqlite::Connection;
use serde::{Deserialize, Serialize};

use super::super::{Action, PlanError, When, files, path_text, place};
use super::Context;
use crate::sqlite::write::{self, Existing, Insertion, Presence};
use crate::sqlite::{RowSet, SqliteError};

/// Rows inserted in one transaction. What that comes down to (which rows are new, and what those
/// that are replaced were) is written to `record` inside the transaction, before it is committed.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(in super::super) struct Insert {
    #[serde(with = "path_text")]
    pub(in super::super) database: PathBuf,
    #[serde(with = "path_text")]
    pub(in super::super) record: PathBuf,
    /// Where replaced rows are kept, when there are any.
    #[serde(with = "path_text")]
    pub(in super::super) backup: PathBuf,
    pub(in super::super) existing: Existing,
}

impl Insert {
    pub(super) fn publish(&self, rows: &RowSet, context: &mut Context<'_>) -> Result<(), PlanError> {
        place::check_still_resolved(&self.database)?;
        let named = |error| PlanError::database(&self.database, error);
        let plain = |error| named(SqliteError::at(&self.database, error));
        let mut connection = write::open(&self.database, context.patience).map_err(named)?;
        let transaction = write::begin(&mut connection, &self.database).map_err(named)?;
        let insertion = write::plan_insertion(&transaction, rows, self.existing).map_err(named)?;
        files::write_own(&self.record, &to_json(&self.record, &insertion)?)?;
        if !insertion.replaced.is_empty() {
            if let Some(directory) = self.backup.parent() {
                files::make_own_directory(directory)?;
            }
            files::write_own(&self.backup, &to_json(&self.backup, &insertion.replaced)?)?;
        }
        write::insert(&transaction, &insertion.new).map_err(named)?;
        write::update(&transaction, &insertion.replacing).map_err(named)?;
        // A column may have turned a value into another (text in a column of integers, say).
        self.compare(&transaction, &insertion)?;
        context.reach(When::Before, Action::Transaction)?;
        transaction.commit().map_err(plain)?;
        context.reach(When::After, Action::Transaction)
    }

    /// What was inserted; `None` when it did not come to that.
    fn record(&self) -> Result<Option<Insertion>, PlanError> {
        if !self.record.exists() {
            return Ok(None);
        }
        let bytes =
            std::fs::read(&self.record).map_err(|error| PlanError::io("read", &self.record, error))?;
        serde_json::from_slice(&bytes)
            .map(Some)
            .map_err(|error| PlanError::Journal { path: self.record.clone(), detail: error.to_string() })
    }

    pub(super) fn verify(&self, context: &Context<'_>) -> Result<(), PlanError> {
        let named = |error| PlanError::database(&self.database, error);
        let Some(insertion) = self.record()? else {
            return Err(PlanError::Missing { path: self.record.clone() });
        };
        let connection = write::open(&self.database, context.patience).map_err(named)?;
        self.compare(&connection, &insertion)
    }

    fn compare(&self, connection: &Connection, insertion: &Insertion) -> Result<(), PlanError> {
        for rows in [&insertion.new, &insertion.replacing] {
            let presence = write::presence(connection, rows)
                .map_err(|error| PlanError::database(&self.database, error))?;
            if presence != Presence::All {
                let detail = "the rows are not as they were written".to_owned();
                return Err(PlanError::Mismatch { path: self.database.clone(), detail });
            }
        }
        Ok(())
    }

    /// A transaction is there as a whole or not at all: one row that is there says that it is,
    /// and one replaced row that is not what it was.
    pub(super) fn is_published(&self, context: &Context<'_>) -> Result<bool, PlanError> {
        let named = |error| PlanError::database(&self.database, error);
        let Some(insertion) = self.record()? else { return Ok(false) };
        let connection = write::open(&self.database, context.patience).map_err(named)?;
        let presence = |rows| write::presence(&connection, rows).map_err(named);
        if !insertion.new.is_empty() {
            return Ok(presence(&insertion.new)? != Presence::None);
        }
        Ok(insertion.replaced.is_empty() || presence(&insertion.replaced)? != Presence::All)
    }

    pub(super) fn undo(&self, context: &mut Context<'_>) -> Result<(), PlanError> {
        if !self.is_published(context)? {
            return Ok(());
        }
        let Some(insertion) = self.record()? else { return Ok(()) };
        let named = |error| PlanError::database(&self.database, error);
        let plain = |error| named(SqliteError::at(&self.database, error));
        let mut connection = write::open(&self.database, context.patience).map_err(named)?;
        let transaction = write::begin(&mut connection, &self.database).map_err(named)?;
        if !insertion.replacing.is_empty()
            && write::presence(&transaction, &insertion.replacing).map_err(named)? != Presence::All
        {
            return Err(PlanError::changed(&self.database, "another program has changed the rows since"));
        }
        write::update(&transaction, &insertion.replaced).map_err(named)?;
        write::delete(&transaction, &insertion.new).map_err(named)?;
        transaction.commit().map_err(plain)
    }
}

pub(super) fn to_json<T: Serialize>(path: &Path, value: &T) -> Result<Vec<u8>, PlanError> {
    serde_json::to_vec(value)
        .map_err(|error| PlanError::Journal { path: path.to_owned(), detail: error.to_string() })
}
