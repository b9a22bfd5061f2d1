//! Why nothing was planned.

use std::io;
use std::path::PathBuf;

use super::{NotUnicode, PatchError, UnfilledSlot};

/// Why a plugin was not installed or removed. Nothing was written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PluginError {
    /// A file that is there cannot be read.
    #[error("{}: cannot be read ({error}); nothing was written", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the operating system said.
        error: io::Error,
    },
    /// A configuration cannot be patched.
    #[error("{}: {error}; nothing was written", path.display())]
    Patch {
        /// The file.
        path: PathBuf,
        /// Why.
        error: PatchError,
    },
    /// A link is in the way.
    #[error(
        "{}: {} is a link; --follow-link writes to where it leads, if that is below your home, or put the file itself in its place",
        path.display(),
        link.display()
    )]
    Link {
        /// The file that was to be written.
        path: PathBuf,
        /// The link.
        link: PathBuf,
    },
    /// A link leads out of the home, or nowhere.
    #[error("{}: a link that leads out of your home, or nowhere; put the file itself in its place", path.display())]
    LeadsOut {
        /// The file that was to be written.
        path: PathBuf,
    },
    /// A file of somebody else has the name of one of Ibid's.
    #[error("{}: not as Ibid left it, or not Ibid's; --replace puts Ibid's file in its place and keeps this one as a backup", path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
    },
    /// Something that is no file has the name of one.
    #[error("{}: not a plain file; move it away first", path.display())]
    NotAFile {
        /// The path.
        path: PathBuf,
    },
    /// A template of Ibid's own is at fault.
    #[error(transparent)]
    Template(#[from] UnfilledSlot),
    /// A path cannot be named in the files of a plugin.
    #[error(transparent)]
    NotUnicode(#[from] NotUnicode),
    /// The plan could not be made.
    #[error(transparent)]
    Plan(#[from] ibid_carrier::plan::PlanError),
}

impl PluginError {
    /// Whether it was refused because going on could have harmed what is there, and a flag would
    /// allow it.
    #[must_use]
    pub fn is_refusal(&self) -> bool {
        match self {
            PluginError::Link { .. } | PluginError::Foreign { .. } => true,
            PluginError::Plan(error) => error.is_refusal(),
            _ => false,
        }
    }
}
