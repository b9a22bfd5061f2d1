//! What a commit may do, what it did, and where it can be watched.

use std::path::PathBuf;

use serde::Serialize;

use crate::trash::TrashEntry;

/// What a commit may do.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Policy {
    /// The directories (or databases) that no step may leave, links included. With none, nothing
    /// may be written.
    pub roots: Vec<PathBuf>,
    /// Whether what exists may be replaced. It is kept as a backup then.
    pub replace_existing: bool,
}

impl Policy {
    /// Writing only within `roots`, replacing nothing.
    #[must_use]
    pub fn within<I: IntoIterator<Item = PathBuf>>(roots: I) -> Policy {
        Policy { roots: roots.into_iter().collect(), replace_existing: false }
    }

    /// The same policy, with replacing allowed.
    #[must_use]
    pub fn replacing(mut self) -> Policy {
        self.replace_existing = true;
        self
    }
}

/// What a commit did.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Committed {
    /// Files and databases that were written, each once, as the plan names them and in its order.
    #[serde(with = "super::path_text::list")]
    pub written: Vec<PathBuf>,
    /// Where what was replaced is kept.
    #[serde(with = "super::path_text::list")]
    pub backups: Vec<PathBuf>,
    /// What went to the trash.
    pub trashed: Vec<TrashEntry>,
}

/// A place in a commit where something becomes visible outside the process, before or after it
/// does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Point {
    /// Before or after.
    pub when: When,
    /// What.
    pub action: Action,
    /// The step of the plan it belongs to, counted from 0, when it belongs to one.
    pub step: Option<usize>,
}

/// Whether an action is about to happen or has happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// It is about to happen.
    Before,
    /// It has happened.
    After,
}

/// What a commit does that can be seen from outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Action {
    /// The journal says what is going to happen.
    Journal,
    /// Directories are made, and content is written under a name that no harness looks for.
    Stage,
    /// A step becomes visible.
    Publish,
    /// Rows are in an open transaction, which is about to be committed.
    Transaction,
    /// What was published is read back and compared.
    Verify,
    /// The journal says that everything is done.
    Complete,
    /// What is not needed any more is removed.
    Finish,
    /// A published step is taken back.
    Undo,
    /// The journal entry is removed.
    Close,
}
