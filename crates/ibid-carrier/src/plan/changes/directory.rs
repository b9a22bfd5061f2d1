//! Making directories.

use std::io;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::super::{PlanError, files, path_text};

/// Directories that were missing when the plan was committed. They are made before anything is
/// staged: files are then staged in the very directory they belong to, and an empty directory
/// shows no session.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(in super::super) struct Directory {
    #[serde(with = "path_text")]
    pub(in super::super) path: PathBuf,
    /// From the top down.
    #[serde(with = "path_text::list")]
    pub(in super::super) missing: Vec<PathBuf>,
    pub(in super::super) private: bool,
}

impl Directory {
    pub(super) fn stage(&self) -> Result<(), PlanError> {
        for path in &self.missing {
            match files::make_directory(path, self.private) {
                Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                    return Err(PlanError::io("make the directory", path, error));
                }
                _ => files::sync_parent(path)?,
            }
        }
        Ok(())
    }

    pub(super) fn is_published(&self) -> bool {
        self.path.is_dir()
    }

    /// Removes those that are empty: what others have put into them stays.
    pub(super) fn discard(&self) -> Result<(), PlanError> {
        for path in self.missing.iter().rev() {
            files::remove_if_empty(path);
        }
        Ok(())
    }
}
