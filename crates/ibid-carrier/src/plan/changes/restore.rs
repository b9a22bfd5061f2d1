//! Bringing files back from the trash.

use std::io;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::super::{ContentStamp, PlanError, files, path_text, place};
use super::Before;
use crate::trash::{MANIFEST, is_sibling};

/// A file or directory that goes back to its place by one rename. When the trash lies on another
/// file system, it is copied to the name `staged` first.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(in super::super) struct Restore {
    #[serde(with = "path_text")]
    pub(in super::super) stored: PathBuf,
    #[serde(with = "path_text")]
    pub(in super::super) path: PathBuf,
    #[serde(with = "path_text")]
    pub(in super::super) staged: PathBuf,
    pub(in super::super) before: Before,
}

impl Restore {
    pub(super) fn publish(&self) -> Result<(), PlanError> {
        place::check_still_resolved(&self.path)?;
        let failed = |error| PlanError::io("restore", &self.path, error);
        match files::rename_new(&self.stored, &self.path) {
            Err(error) if error.kind() == io::ErrorKind::CrossesDevices => {
                files::copy_exact(&self.stored, &self.staged)?;
                files::rename_new(&self.staged, &self.path).map_err(failed)?;
            }
            other => other.map_err(failed)?,
        }
        files::sync_parent(&self.stored)?;
        files::sync_parent(&self.path)
    }

    fn is_unchanged(&self) -> Result<bool, PlanError> {
        if files::exists(&self.stored) && !files::same_tree(&self.stored, &self.path)? {
            return Ok(false);
        }
        let (now, before) = (ContentStamp::of(&self.path)?, &self.before.stamp);
        let mut same =
            now.modified_ns == before.modified_ns && files::mode_of(&self.path)? == self.before.mode;
        if let Some(digest) = &before.sha256 {
            same = same && files::holds(&self.path, before.bytes, digest)?;
        }
        Ok(same)
    }

    pub(super) fn verify(&self) -> Result<(), PlanError> {
        if self.is_unchanged()? {
            return Ok(());
        }
        let detail = "it is not as it was deleted".to_owned();
        Err(PlanError::Mismatch { path: self.path.clone(), detail })
    }

    pub(super) fn is_published(&self) -> Result<bool, PlanError> {
        if !files::exists(&self.path) || files::exists(&self.staged) {
            return Ok(false);
        }
        // Something else may have taken the place in the meantime.
        Ok(!files::exists(&self.stored) || files::same_tree(&self.stored, &self.path)?)
    }

    pub(super) fn undo(&self) -> Result<(), PlanError> {
        if !self.is_published()? {
            return Ok(());
        }
        if !self.is_unchanged()? {
            return Err(PlanError::changed(
                &self.path,
                "another program has changed it since, so it was left there",
            ));
        }
        let back = if files::exists(&self.stored) { &self.staged } else { &self.stored };
        files::rename_new(&self.path, back)
            .map_err(|error| PlanError::io("move back to the trash", &self.path, error))?;
        files::sync_parent(&self.path)
    }

    pub(super) fn dismiss(&self) -> Result<(), PlanError> {
        if files::exists(&self.stored) { files::remove_all(&self.staged) } else { Ok(()) }
    }

    pub(super) fn finish(&self) -> Result<(), PlanError> {
        files::remove_all(&self.stored)?;
        if let Some(directory) = self.stored.parent().filter(|directory| is_sibling(directory)) {
            files::remove_if_empty(directory);
        }
        Ok(())
    }
}

/// An entry of the trash whose content has been restored.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(in super::super) struct CloseEntry {
    #[serde(with = "path_text")]
    pub(in super::super) directory: PathBuf,
    /// The files in which its rows were kept.
    #[serde(with = "path_text::list")]
    pub(in super::super) rows: Vec<PathBuf>,
}

impl CloseEntry {
    /// The manifest goes first: an entry without one is not listed.
    pub(super) fn finish(&self) -> Result<(), PlanError> {
        files::remove_file(&self.directory.join(MANIFEST))?;
        for path in &self.rows {
            files::remove_file(path)?;
        }
        files::remove_if_empty(&self.directory);
        Ok(())
    }
}
