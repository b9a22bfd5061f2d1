//! Moving files and directories to the trash.

use std::io;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::super::{ContentStamp, PlanError, files, path_text, place};
use super::Before;
use crate::trash::{TrashItem, TrashedFile};

/// A file or directory that goes to `stored` by one rename. When that lies on another file system,
/// it goes to the name `beside` first, is copied, and is removed after everything else is done.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(in super::super) struct TrashFile {
    #[serde(with = "path_text")]
    pub(in super::super) path: PathBuf,
    #[serde(with = "path_text")]
    pub(in super::super) stored: PathBuf,
    #[serde(with = "path_text")]
    pub(in super::super) beside: PathBuf,
    pub(in super::super) directory: bool,
    pub(in super::super) before: Before,
    pub(in super::super) parent_is_private: bool,
}

impl TrashFile {
    pub(super) fn stage(&self) -> Result<(), PlanError> {
        self.stored.parent().map_or(Ok(()), files::make_own_directory)
    }

    pub(super) fn publish(&self) -> Result<(), PlanError> {
        place::check_still_resolved(&self.path)?;
        let failed = |error| PlanError::io("move to the trash", &self.path, error);
        let moved = match files::rename_new(&self.path, &self.stored) {
            Ok(()) => &self.stored,
            Err(error) if error.kind() == io::ErrorKind::CrossesDevices => {
                files::rename_new(&self.path, &self.beside).map_err(failed)?;
                &self.beside
            }
            Err(error) => return Err(failed(error)),
        };
        // Now out of sight: was it what was expected?
        let now = ContentStamp::of(moved)?;
        let same = if self.directory {
            now.inode == self.before.stamp.inode
        } else {
            self.before.stamp.matches(&now)
        };
        if !same {
            files::rename_new(moved, &self.path).map_err(failed)?;
            return Err(PlanError::changed(&self.path, "changed since the plan was made"));
        }
        if moved == &self.beside {
            files::copy_exact(&self.beside, &self.stored)?;
        }
        files::sync_parent(&self.stored)?;
        files::sync_parent(&self.path)
    }

    pub(super) fn item(&self) -> TrashItem {
        let file = TrashedFile {
            path: self.path.clone(),
            stored: self.stored.clone(),
            stamp: self.before.stamp.clone(),
            mode: self.before.mode,
            parent_is_private: self.parent_is_private,
        };
        if self.directory { TrashItem::Directory(file) } else { TrashItem::File(file) }
    }

    pub(super) fn verify(&self) -> Result<(), PlanError> {
        let mismatch =
            |detail: &str| PlanError::Mismatch { path: self.path.clone(), detail: detail.to_owned() };
        // A later step may have put another file in its place.
        if files::exists(&self.path) && files::same_file(&self.path, &self.stored)? {
            return Err(mismatch("it is still there"));
        }
        if files::exists(&self.beside) && !files::same_tree(&self.beside, &self.stored)? {
            return Err(mismatch("its copy in the trash differs"));
        }
        // A program that had the file open may have gone on writing to it.
        let now = ContentStamp::of(&self.stored)?;
        let before = &self.before.stamp;
        if !self.directory && (now.bytes, now.modified_ns) != (before.bytes, before.modified_ns) {
            return Err(PlanError::changed(&self.path, "another program wrote to it while it was deleted"));
        }
        Ok(())
    }

    pub(super) fn is_published(&self) -> Result<bool, PlanError> {
        let kept = files::exists(&self.stored);
        if files::exists(&self.beside) {
            return Ok(kept && files::same_tree(&self.beside, &self.stored)?);
        }
        Ok(kept)
    }

    pub(super) fn undo(&self) -> Result<(), PlanError> {
        let kept = [&self.beside, &self.stored].into_iter().find(|path| files::exists(path));
        let Some(kept) = kept else { return Ok(()) };
        files::rename_new(kept, &self.path)
            .map_err(|error| PlanError::io("move back from the trash", &self.path, error))?;
        files::sync_parent(&self.path)
    }

    pub(super) fn discard(&self) -> Result<(), PlanError> {
        files::remove_all(&self.stored)?;
        if let Some(directory) = self.stored.parent() {
            files::remove_if_empty(directory);
        }
        Ok(())
    }

    pub(super) fn dismiss(&self) -> Result<(), PlanError> {
        if !files::exists(&self.beside) {
            return Ok(());
        }
        if files::exists(&self.stored) && files::same_tree(&self.beside, &self.stored)? {
            return files::remove_all(&self.beside);
        }
        Err(PlanError::changed(&self.beside, format!("this is what was {}", self.path.display())))
    }

    pub(super) fn finish(&self) -> Result<(), PlanError> {
        files::remove_all(&self.beside)
    }
}
