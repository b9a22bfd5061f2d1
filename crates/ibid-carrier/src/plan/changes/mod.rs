//! What a step comes down to: each kind of change knows how to prepare itself, become visible,
//! be recognised after a crash, and be taken back.
//!
//! Changes are what the journal holds, so everything here must be decidable from the files and
//! rows alone: the process that made them may be gone.

mod append;
mod create;
mod directory;
mod insert;
mod replace;
mod restore;
mod trash_file;
mod trash_rows;

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};

pub(super) use append::Append;
pub(super) use create::Create;
pub(super) use directory::Directory;
pub(super) use insert::Insert;
pub(super) use replace::Replace;
pub(super) use restore::{CloseEntry, Restore};
pub(super) use trash_file::TrashFile;
pub(super) use trash_rows::TrashRows;

use super::{Action, ContentStamp, PlanError, Point, Step, When, files};
use crate::trash::TrashItem;

/// A file before it is changed.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Before {
    pub(super) stamp: ContentStamp,
    pub(super) mode: Option<u32>,
}

impl Before {
    pub(super) fn of(path: &Path, with_content: bool) -> Result<Before, PlanError> {
        let stamp = if with_content { ContentStamp::with_content(path)? } else { ContentStamp::of(path)? };
        Ok(Before { stamp, mode: files::mode_of(path)? })
    }
}

/// Told of every point that is reached. An error stops the commit as a failure at that point
/// would.
pub(super) type Watch<'a> = &'a mut dyn FnMut(Point) -> io::Result<()>;

/// One change and the point it has reached.
pub(super) struct Context<'a> {
    pub(super) step: Option<usize>,
    pub(super) patience: Duration,
    pub(super) watch: Watch<'a>,
}

impl Context<'_> {
    pub(super) fn reach(&mut self, when: When, action: Action) -> Result<(), PlanError> {
        let point = Point { when, action, step: self.step };
        (self.watch)(point).map_err(|error| PlanError::io("go on with the plan at", Path::new(""), error))
    }

    /// Does `work` with a point before and after it.
    pub(super) fn observed(
        &mut self,
        action: Action,
        work: impl FnOnce(&mut Self) -> Result<(), PlanError>,
    ) -> Result<(), PlanError> {
        self.reach(When::Before, action)?;
        work(self)?;
        self.reach(When::After, action)
    }
}

/// A change, as the journal keeps it. All paths are resolved.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "change", rename_all = "kebab-case")]
pub(super) enum Change {
    Directory(Directory),
    Create(Create),
    Append(Append),
    Replace(Replace),
    Insert(Insert),
    TrashFile(TrashFile),
    TrashRows(TrashRows),
    Restore(Restore),
    CloseEntry(CloseEntry),
}

impl Change {
    /// Prepares what can be prepared out of sight. `step` is the step that the change came from.
    pub(super) fn stage(&self, step: &Step) -> Result<(), PlanError> {
        match (self, step) {
            (Change::Directory(change), _) => change.stage(),
            (Change::Create(change), Step::CreateFile { content, .. }) => change.stage(content),
            (Change::Append(change), Step::AppendFile { content, .. }) => change.stage(content),
            (
                Change::Replace(change),
                Step::ReplaceFile { content, .. } | Step::CreateFile { content, .. },
            ) => change.stage(content),
            (Change::TrashFile(change), _) => change.stage(),
            _ => Ok(()),
        }
    }

    /// Makes the change visible.
    pub(super) fn publish(&self, step: &Step, context: &mut Context<'_>) -> Result<(), PlanError> {
        match (self, step) {
            (Change::Create(change), _) => change.publish(),
            (Change::Append(change), _) => change.publish(),
            (Change::Replace(change), _) => change.publish(),
            (Change::Insert(change), Step::InsertRows { rows, .. } | Step::RestoreRows { rows, .. }) => {
                change.publish(rows, context)
            }
            (Change::TrashFile(change), _) => change.publish(),
            (Change::TrashRows(change), _) => change.publish(context),
            (Change::Restore(change), _) => change.publish(),
            _ => Ok(()),
        }
    }

    /// Reads back what was published, and compares.
    pub(super) fn verify(&self, context: &Context<'_>) -> Result<(), PlanError> {
        match self {
            Change::Create(change) => change.verify(),
            Change::Append(change) => change.verify(),
            Change::Replace(change) => change.verify(),
            Change::Insert(change) => change.verify(context),
            Change::TrashFile(change) => change.verify(),
            Change::TrashRows(change) => change.verify(context),
            Change::Restore(change) => change.verify(),
            Change::Directory(_) | Change::CloseEntry(_) => Ok(()),
        }
    }

    /// Whether the change is visible, whoever has gone on from it since.
    pub(super) fn is_published(&self, context: &Context<'_>) -> Result<bool, PlanError> {
        match self {
            Change::Directory(change) => Ok(change.is_published()),
            Change::Create(change) => change.is_published(),
            Change::Append(change) => change.is_published(),
            Change::Replace(change) => change.is_published(),
            Change::Insert(change) => change.is_published(context),
            Change::TrashFile(change) => change.is_published(),
            Change::TrashRows(change) => change.is_published(context),
            Change::Restore(change) => change.is_published(),
            Change::CloseEntry(_) => Ok(true),
        }
    }

    /// Takes the change back if it was published, as far as nobody has gone on from it.
    pub(super) fn undo(&self, context: &mut Context<'_>) -> Result<(), PlanError> {
        match self {
            Change::Create(change) => change.undo(),
            Change::Append(change) => change.undo(),
            Change::Replace(change) => change.undo(),
            Change::Insert(change) => change.undo(context),
            Change::TrashFile(change) => change.undo(),
            Change::TrashRows(change) => change.undo(context),
            Change::Restore(change) => change.undo(),
            Change::Directory(_) | Change::CloseEntry(_) => Ok(()),
        }
    }

    /// After everything was undone: removes what was prepared.
    pub(super) fn discard(&self) -> Result<(), PlanError> {
        match self {
            Change::Directory(change) => change.discard(),
            Change::Create(change) => files::remove_file(&change.staged),
            Change::Replace(change) => change.discard(),
            Change::Insert(change) => files::remove_own(&change.backup),
            Change::TrashFile(change) => change.discard(),
            Change::TrashRows(change) => files::remove_own(&change.stored),
            Change::Restore(change) => files::remove_all(&change.staged),
            Change::Append(_) | Change::CloseEntry(_) => Ok(()),
        }
    }

    /// After everything was done: removes what is not needed any more.
    pub(super) fn finish(&self) -> Result<(), PlanError> {
        match self {
            Change::Create(change) => files::remove_file(&change.staged),
            Change::Replace(change) => change.finish(),
            Change::TrashFile(change) => change.finish(),
            Change::Restore(change) => change.finish(),
            Change::CloseEntry(change) => change.finish(),
            _ => Ok(()),
        }
    }

    /// Given up: removes what was staged, and nothing that is the only copy of anything.
    pub(super) fn dismiss(&self) -> Result<(), PlanError> {
        match self {
            Change::TrashFile(change) => change.dismiss(),
            Change::Restore(change) => change.dismiss(),
            Change::Create(_) | Change::Replace(_) => self.finish(),
            _ => Ok(()),
        }
    }

    /// What the change touches in a store.
    pub(super) fn path(&self) -> Option<&Path> {
        match self {
            Change::Directory(change) => Some(&change.path),
            Change::Create(change) => Some(&change.path),
            Change::Append(change) => Some(&change.path),
            Change::Replace(change) => Some(&change.path),
            Change::Insert(change) => Some(&change.database),
            Change::TrashFile(change) => Some(&change.path),
            Change::TrashRows(change) => Some(&change.database),
            Change::Restore(change) => Some(&change.path),
            Change::CloseEntry(_) => None,
        }
    }

    /// Whether the change writes into a store (rather than only removing).
    pub(super) fn writes(&self) -> bool {
        !matches!(
            self,
            Change::Directory(_) | Change::TrashFile(_) | Change::TrashRows(_) | Change::CloseEntry(_)
        )
    }

    /// What the change has put into the trash, once it is published.
    pub(super) fn trashed(&self) -> Result<Option<TrashItem>, PlanError> {
        match self {
            Change::TrashFile(change) => Ok(Some(change.item())),
            Change::TrashRows(change) => change.item(),
            _ => Ok(None),
        }
    }

    /// Where what the change replaced is kept.
    pub(super) fn backup(&self) -> Option<&PathBuf> {
        match self {
            Change::Replace(change) => Some(&change.backup),
            Change::Insert(change) if change.backup.exists() => Some(&change.backup),
            _ => None,
        }
    }
}
