//! Making a file.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::super::{Content, PlanError, files, path_text, place};

/// A file that was not there. It is written under the name `staged` and then renamed.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(in super::super) struct Create {
    #[serde(with = "path_text")]
    pub(in super::super) path: PathBuf,
    #[serde(with = "path_text")]
    pub(in super::super) staged: PathBuf,
    pub(in super::super) bytes: u64,
    pub(in super::super) sha256: String,
    pub(in super::super) private: bool,
}

impl Create {
    pub(super) fn stage(&self, content: &Content) -> Result<(), PlanError> {
        place::check_still_resolved(&self.staged)?;
        let mut file = files::create_new(&self.staged, self.private)?;
        let written = files::write_content(content, &mut file, &self.staged)?;
        if written != (self.bytes, self.sha256.clone()) {
            return Err(PlanError::changed(&self.path, "its content changed while it was copied"));
        }
        files::sync_parent(&self.staged)
    }

    pub(super) fn publish(&self) -> Result<(), PlanError> {
        place::check_still_resolved(&self.path)?;
        files::rename_new(&self.staged, &self.path)
            .map_err(|error| PlanError::io("create", &self.path, error))?;
        files::sync_parent(&self.path)
    }

    pub(super) fn verify(&self) -> Result<(), PlanError> {
        if files::holds(&self.path, self.bytes, &self.sha256)? {
            return Ok(());
        }
        let detail = "its content is another".to_owned();
        Err(PlanError::Mismatch { path: self.path.clone(), detail })
    }

    /// As long as the staged name is there, a file at the path is somebody else's, unless both
    /// names belong to one file (see [`files::rename_new`]).
    pub(super) fn is_published(&self) -> Result<bool, PlanError> {
        if !files::exists(&self.path) {
            return Ok(false);
        }
        Ok(!files::exists(&self.staged) || files::same_file(&self.staged, &self.path)?)
    }

    pub(super) fn undo(&self) -> Result<(), PlanError> {
        if !self.is_published()? {
            return Ok(());
        }
        let changed =
            || PlanError::changed(&self.path, "another program has changed it since, so it was left there");
        if !files::holds(&self.path, self.bytes, &self.sha256)? {
            return Err(changed());
        }
        if files::exists(&self.staged) {
            return files::remove_file(&self.path);
        }
        // First out of sight, then looked at again: nobody can change it in between.
        let back = |error| PlanError::io("take back", &self.path, error);
        files::rename_new(&self.path, &self.staged).map_err(back)?;
        if !files::holds(&self.staged, self.bytes, &self.sha256)? {
            files::rename_new(&self.staged, &self.path).map_err(back)?;
            return Err(changed());
        }
        files::sync_parent(&self.path)
    }
}
