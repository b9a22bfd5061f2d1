//! Plans that move a session to the trash.

use std::path::Path;

use ibid_carrier::names::inside;
use ibid_carrier::plan::{Plan, RowSelection, Step};

use super::body::EntryKind;
use super::database::{Shape, key_column, reading, rows_of, shape, tables};
use super::store::{TablesHarness, not_found, tree_session};
use crate::core::{Context, Deleting, Reference, StoreError};

/// Plans to move a session to the trash: of a database its rows in every table and in the event
/// log, of the older tree its record first and then its folders.
///
/// # Errors
/// When the reference is no session under its root.
pub(crate) fn delete<H: TablesHarness>(
    reference: &Reference,
    context: &Context<'_>,
) -> Result<Deleting, StoreError> {
    let steps = match &reference.key {
        Some(key) => {
            let database = inside(&reference.root, &reference.path)?;
            vec![Step::TrashRows { selections: selections::<H>(reference, key, context)?, database }]
        }
        None => {
            let (_, session) = tree_session(reference).ok_or_else(|| not_found::<H>(reference))?;
            let mut steps = Vec::new();
            for (kind, entry) in &session.entries {
                let path = inside(&reference.root, &entry.path)?;
                match kind {
                    EntryKind::Session | EntryKind::Companion => {
                        steps.push(Step::TrashFile { path, expected: None });
                    }
                    EntryKind::Message | EntryKind::Part => {
                        let folder =
                            Step::TrashDirectory { path: path.parent().map(Path::to_owned).unwrap_or(path) };
                        if !steps.contains(&folder) {
                            steps.push(folder);
                        }
                    }
                }
            }
            steps
        }
    };
    let session = reference.key.clone().unwrap_or_else(|| reference.path.display().to_string());
    Ok(Deleting {
        plan: Plan::new(steps).label("harness", H::DECLARATION.id.as_str()).label("session", session),
        roots: vec![reference.root.clone()],
    })
}

/// All rows that a session has, those that others refer to first.
fn selections<H: TablesHarness>(
    reference: &Reference,
    key: &str,
    context: &Context<'_>,
) -> Result<Vec<RowSelection>, StoreError> {
    reading(&reference.path, context.machine.cache_dir(), |connection| {
        let Shape::Known(own) = shape(connection)? else { return Err(not_found::<H>(reference)) };
        if rows_of(connection, &["session".to_owned()], key)?.is_empty() {
            return Err(not_found::<H>(reference));
        }
        let mut selections: Vec<RowSelection> =
            own.iter().map(|table| RowSelection::new(table.as_str(), key_column(table), key)).collect();
        let all = tables(connection).map_err(ibid_carrier::sqlite::SqliteError::from)?;
        // The log repeats what the session's rows say; left behind, it would keep the conversation.
        for table in ["event_sequence", "event"] {
            if all.iter().any(|name| name == table) {
                selections.push(RowSelection::new(table, "aggregate_id", key));
            }
        }
        Ok(selections)
    })
}
