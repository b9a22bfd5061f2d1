//! Deleting rows, after they have been written to the trash.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::super::{Action, PlanError, RowSelection, When, files, path_text, place};
use super::Context;
use super::insert::to_json;
use crate::sqlite::SqliteError;
use crate::sqlite::write::{self, Presence};
use crate::trash::{TrashItem, TrashedRows, read_rows_file};

/// Rows deleted in one transaction; inside it, before anything is deleted, they are written to
/// `stored`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(in super::super) struct TrashRows {
    #[serde(with = "path_text")]
    pub(in super::super) database: PathBuf,
    pub(in super::super) selections: Vec<RowSelection>,
    #[serde(with = "path_text")]
    pub(in super::super) stored: PathBuf,
    /// Whether a later step of the plan inserts into the same database: rows with the same keys
    /// may be there again afterwards.
    pub(in super::super) superseded: bool,
}

impl TrashRows {
    pub(super) fn publish(&self, context: &mut Context<'_>) -> Result<(), PlanError> {
        place::check_still_resolved(&self.database)?;
        let named = |error| PlanError::database(&self.database, error);
        let plain = |error| named(SqliteError::at(&self.database, error));
        let mut connection = write::open(&self.database, context.patience).map_err(named)?;
        let transaction = write::begin(&mut connection, &self.database).map_err(named)?;
        let rows = write::select(&transaction, &self.selections).map_err(named)?;
        if rows.is_empty() {
            return Err(PlanError::changed(&self.database, "the rows to delete are not there any more"));
        }
        if let Some(directory) = self.stored.parent() {
            files::make_own_directory(directory)?;
        }
        files::write_own(&self.stored, &to_json(&self.stored, &rows)?)?;
        if read_rows_file(&self.stored)? != rows {
            let detail = "the rows to keep do not read back".to_owned();
            return Err(PlanError::Mismatch { path: self.stored.clone(), detail });
        }
        write::delete(&transaction, &rows).map_err(named)?;
        if write::presence(&transaction, &rows).map_err(named)? != Presence::None {
            return Err(self.still_there());
        }
        context.reach(When::Before, Action::Transaction)?;
        transaction.commit().map_err(plain)?;
        context.reach(When::After, Action::Transaction)
    }

    pub(super) fn item(&self) -> Result<Option<TrashItem>, PlanError> {
        if !self.stored.exists() {
            return Ok(None);
        }
        let rows = read_rows_file(&self.stored)?;
        let counts = rows.tables.iter().filter(|table| !table.rows.is_empty());
        Ok(Some(TrashItem::Rows(TrashedRows {
            database: self.database.clone(),
            stored: self.stored.clone(),
            counts: counts.map(|table| (table.table.clone(), table.rows.len() as u64)).collect(),
        })))
    }

    fn presence(&self, context: &Context<'_>) -> Result<Option<Presence>, PlanError> {
        if !self.stored.exists() {
            return Ok(None);
        }
        let rows = read_rows_file(&self.stored)?;
        let named = |error| PlanError::database(&self.database, error);
        let connection = write::open(&self.database, context.patience).map_err(named)?;
        write::presence(&connection, &rows).map(Some).map_err(named)
    }

    pub(super) fn verify(&self, context: &Context<'_>) -> Result<(), PlanError> {
        if self.superseded || self.presence(context)? == Some(Presence::None) {
            return Ok(());
        }
        Err(self.still_there())
    }

    fn still_there(&self) -> PlanError {
        let detail = "rows that were deleted are there".to_owned();
        PlanError::Mismatch { path: self.database.clone(), detail }
    }

    pub(super) fn is_published(&self, context: &Context<'_>) -> Result<bool, PlanError> {
        match self.presence(context)? {
            None | Some(Presence::All) => Ok(false),
            Some(Presence::None) => Ok(true),
            Some(Presence::Mixed) => Err(PlanError::changed(
                &self.database,
                format!(
                    "another program has changed the rows; as they were they are kept in {}",
                    self.stored.display()
                ),
            )),
        }
    }

    pub(super) fn undo(&self, context: &mut Context<'_>) -> Result<(), PlanError> {
        if !self.is_published(context)? {
            return Ok(());
        }
        let rows = read_rows_file(&self.stored)?;
        let named = |error| PlanError::database(&self.database, error);
        let plain = |error| named(SqliteError::at(&self.database, error));
        let mut connection = write::open(&self.database, context.patience).map_err(named)?;
        let transaction = write::begin(&mut connection, &self.database).map_err(named)?;
        write::insert(&transaction, &rows).map_err(named)?;
        transaction.commit().map_err(plain)
    }
}
