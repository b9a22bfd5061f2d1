//! Adding to a file.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::super::stamp::digest_of;
use super::super::{Content, ContentStamp, PlanError, files, path_text, place};
use super::Before;

/// Bytes added at the end of a file, in place, so that programs that have it open see them. The
/// bytes lie in the journal under the name `addition`, which is changed to `begun` right before
/// they are written.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(in super::super) struct Append {
    #[serde(with = "path_text")]
    pub(in super::super) path: PathBuf,
    pub(in super::super) before: Before,
    #[serde(with = "path_text")]
    pub(in super::super) addition: PathBuf,
    #[serde(with = "path_text")]
    pub(in super::super) begun: PathBuf,
    pub(in super::super) bytes: u64,
    pub(in super::super) sha256: String,
}

impl Append {
    pub(super) fn stage(&self, content: &Content) -> Result<(), PlanError> {
        let mut file = files::create_new(&self.addition, true)?;
        let written = files::write_content(content, &mut file, &self.addition)?;
        if written != (self.bytes, self.sha256.clone()) {
            return Err(PlanError::changed(&self.path, "its content changed while it was copied"));
        }
        files::sync_parent(&self.addition)
    }

    pub(super) fn publish(&self) -> Result<(), PlanError> {
        place::check_still_resolved(&self.path)?;
        let failed = |error| PlanError::io("append to", &self.path, error);
        let mut file = OpenOptions::new().append(true).open(&self.path).map_err(failed)?;
        let now = ContentStamp::of_metadata(&file.metadata().map_err(failed)?);
        if !self.before.stamp.matches(&now) {
            return Err(PlanError::changed(&self.path, "changed since the plan was made"));
        }
        fs::rename(&self.addition, &self.begun)
            .map_err(|error| PlanError::io("write", &self.begun, error))?;
        files::sync_parent(&self.begun)?;
        let mut addition = File::open(&self.begun).map_err(failed)?;
        io::copy(&mut addition, &mut file).and_then(|_| file.sync_all()).map_err(failed)
    }

    /// Length and SHA-256 of what stands before and after the old end.
    fn halves(&self) -> Result<[(u64, String); 2], PlanError> {
        let failed = |error| PlanError::io("read", &self.path, error);
        let mut file = File::open(&self.path).map_err(failed)?;
        let first = digest_of(&mut (&mut file).take(self.before.stamp.bytes)).map_err(failed)?;
        let rest = digest_of(&mut file).map_err(failed)?;
        Ok([first, rest])
    }

    pub(super) fn verify(&self) -> Result<(), PlanError> {
        let [(_, first), rest] = self.halves()?;
        if self.before.stamp.sha256.as_ref() == Some(&first) && rest == (self.bytes, self.sha256.clone()) {
            return Ok(());
        }
        let detail = "it does not end with what was added, or another program wrote to it".to_owned();
        Err(PlanError::Mismatch { path: self.path.clone(), detail })
    }

    pub(super) fn is_published(&self) -> Result<bool, PlanError> {
        if !self.begun.exists() || !self.is_the_same_file()? {
            return Ok(false);
        }
        let tail = self.tail(self.bytes)?;
        let addition = read(&self.begun)?;
        Ok(tail == addition)
    }

    fn is_the_same_file(&self) -> Result<bool, PlanError> {
        let now = ContentStamp::of(&self.path)?;
        let before = &self.before.stamp;
        Ok(now.bytes >= before.bytes && (before.inode.is_none() || now.inode == before.inode))
    }

    /// At most `limit` bytes behind the old end.
    fn tail(&self, limit: u64) -> Result<Vec<u8>, PlanError> {
        let failed = |error| PlanError::io("read", &self.path, error);
        let mut file = File::open(&self.path).map_err(failed)?;
        file.seek(SeekFrom::Start(self.before.stamp.bytes)).map_err(failed)?;
        let mut tail = Vec::new();
        file.take(limit).read_to_end(&mut tail).map_err(failed)?;
        Ok(tail)
    }

    pub(super) fn undo(&self) -> Result<(), PlanError> {
        if !self.begun.exists() {
            return Ok(());
        }
        let changed = || PlanError::changed(&self.path, "another program has written to it since");
        if !self.is_the_same_file()? {
            return Err(changed());
        }
        let tail = self.tail(self.bytes.saturating_add(1))?;
        if tail.is_empty() {
            return Ok(());
        }
        // Less than the whole may have been written; more is somebody else's.
        if !read(&self.begun)?.starts_with(&tail) {
            return Err(changed());
        }
        let failed = |error| PlanError::io("shorten", &self.path, error);
        let file = OpenOptions::new().write(true).open(&self.path).map_err(failed)?;
        file.set_len(self.before.stamp.bytes).and_then(|()| file.sync_all()).map_err(failed)?;
        files::set_modified(&self.path, self.before.stamp.modified_ns)
    }
}

fn read(path: &Path) -> Result<Vec<u8>, PlanError> {
    fs::read(path).map_err(|error| PlanError::io("read", path, error))
}
