//! Putting other content in the place of a file.

use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::super::{Content, ContentStamp, PlanError, files, path_text, place};
use super::Before;

/// A file whose content is replaced. The new content is written under the name `staged` and
/// exchanged with the file in one step; where the system cannot exchange, the file gets the second
/// name `old` before the new one takes its place. Undoing brings back the very same file.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(in super::super) struct Replace {
    #[serde(with = "path_text")]
    pub(in super::super) path: PathBuf,
    #[serde(with = "path_text")]
    pub(in super::super) staged: PathBuf,
    #[serde(with = "path_text")]
    pub(in super::super) old: PathBuf,
    #[serde(with = "path_text")]
    pub(in super::super) backup: PathBuf,
    pub(in super::super) before: Before,
    pub(in super::super) bytes: u64,
    pub(in super::super) sha256: String,
    pub(in super::super) private: bool,
}

impl Replace {
    pub(super) fn stage(&self, content: &Content) -> Result<(), PlanError> {
        place::check_still_resolved(&self.staged)?;
        if let Some(directory) = self.backup.parent() {
            files::make_own_directory(directory)?;
        }
        files::copy_exact(&self.path, &self.backup)?;
        let digest = self.before.stamp.sha256.as_deref().unwrap_or_default();
        if !files::holds(&self.backup, self.before.stamp.bytes, digest)? {
            return Err(PlanError::changed(&self.path, "changed since the plan was made"));
        }
        let mut file = files::create_new(&self.staged, true)?;
        let written = files::write_content(content, &mut file, &self.staged)?;
        if written != (self.bytes, self.sha256.clone()) {
            return Err(PlanError::changed(&self.path, "its content changed while it was copied"));
        }
        keep_owner(&self.path, &self.staged)?;
        files::set_mode(&self.staged, self.mode())?;
        files::sync_parent(&self.staged)
    }

    fn mode(&self) -> Option<u32> {
        if self.private { self.before.mode.map(|_| 0o600) } else { self.before.mode }
    }

    pub(super) fn publish(&self) -> Result<(), PlanError> {
        place::check_still_resolved(&self.path)?;
        let failed = |error| PlanError::io("replace", &self.path, error);
        let changed = || PlanError::changed(&self.path, "changed since the plan was made");
        if !self.is_before(&self.path)? {
            return Err(changed());
        }
        if files::exchange(&self.staged, &self.path).map_err(failed)? {
            // Whatever was there in that moment is now out of sight: was it what was expected?
            if !self.is_before(&self.staged)? {
                files::exchange(&self.staged, &self.path).map_err(failed)?;
                return Err(changed());
            }
        } else {
            if fs::hard_link(&self.path, &self.old).is_err() {
                files::copy_exact(&self.path, &self.old)?;
            }
            fs::rename(&self.staged, &self.path).map_err(failed)?;
        }
        files::sync_parent(&self.path)
    }

    /// Whether the file at `path` is the one that was there before, unchanged.
    fn is_before(&self, path: &Path) -> Result<bool, PlanError> {
        let now = match self.before.stamp.inode {
            Some(_) => ContentStamp::of(path)?,
            None => ContentStamp::with_content(path)?,
        };
        Ok(self.before.stamp.matches(&now))
    }

    /// Whether the file at `path` is the one that was there before, whatever it holds now.
    fn was_before(&self, path: &Path) -> Result<bool, PlanError> {
        match self.before.stamp.inode {
            Some(inode) => Ok(ContentStamp::of(path)?.inode == Some(inode)),
            None => self.is_before(path),
        }
    }

    pub(super) fn verify(&self) -> Result<(), PlanError> {
        let mismatch =
            |detail: &str| PlanError::Mismatch { path: self.path.clone(), detail: detail.to_owned() };
        if !files::holds(&self.path, self.bytes, &self.sha256)? {
            return Err(mismatch("its content is another"));
        }
        if files::mode_of(&self.path)? != self.mode() {
            return Err(mismatch("its mode is another"));
        }
        // A program that had the old file open may have gone on writing to it.
        let old = if files::exists(&self.staged) { &self.staged } else { &self.old };
        let now = ContentStamp::of(old)?;
        if now.bytes == self.before.stamp.bytes && now.modified_ns == self.before.stamp.modified_ns {
            return Ok(());
        }
        Err(PlanError::changed(&self.path, "another program wrote to it while it was replaced"))
    }

    pub(super) fn is_published(&self) -> Result<bool, PlanError> {
        if files::exists(&self.staged) {
            return self.was_before(&self.staged);
        }
        Ok(files::exists(&self.old))
    }

    pub(super) fn undo(&self) -> Result<(), PlanError> {
        if !self.is_published()? {
            return Ok(());
        }
        if !files::holds(&self.path, self.bytes, &self.sha256)? {
            return Err(PlanError::changed(
                &self.path,
                format!(
                    "another program has changed it since; what was there is kept as {}",
                    self.backup.display()
                ),
            ));
        }
        let failed = |error| PlanError::io("take back", &self.path, error);
        let old = if files::exists(&self.staged) { &self.staged } else { &self.old };
        if !files::exchange(old, &self.path).map_err(failed)? {
            fs::rename(old, &self.path).map_err(failed)?;
        }
        files::sync_parent(&self.path)
    }

    pub(super) fn discard(&self) -> Result<(), PlanError> {
        self.finish()?;
        files::remove_file(&self.backup)?;
        if let Some(directory) = self.backup.parent() {
            files::remove_if_empty(directory);
        }
        Ok(())
    }

    pub(super) fn finish(&self) -> Result<(), PlanError> {
        files::remove_file(&self.staged)?;
        files::remove_file(&self.old)
    }
}

/// Gives the new file owner and group of the old one. Where only the group differs and may not be
/// set, the new file keeps the group that the system gave it.
fn keep_owner(from: &Path, to: &Path) -> Result<(), PlanError> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::{MetadataExt, chown};
        let look =
            |path: &Path| fs::symlink_metadata(path).map_err(|error| PlanError::io("look at", path, error));
        let (old, new) = (look(from)?, look(to)?);
        if (old.uid(), old.gid()) != (new.uid(), new.gid()) {
            let set = chown(to, Some(old.uid()), Some(old.gid()));
            if old.uid() != new.uid() {
                set.map_err(|error| PlanError::io("set the owner of", to, error))?;
            }
        }
    }
    #[cfg(not(unix))]
    let _ = (from, to);
    Ok(())
}
