//! What the file system says about a file.

use std::fs::{self, File, Metadata};
use std::path::Path;
use std::time::UNIX_EPOCH;

use serde::{Deserialize, Serialize};

use crate::CarrierError;

/// What the file system says about one file at one moment. Two equal stamps of one path mean
/// that nobody wrote the file in between, as far as the clock of the file system can tell
/// (a write within the same tick, some milliseconds on Linux, that keeps the size is not seen).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct FileStamp {
    /// The device; 0 where the platform does not say.
    pub device: u64,
    /// The inode on Unix; elsewhere the time of creation, which tells a replaced file apart too.
    pub inode: u64,
    /// The size in bytes.
    pub size: u64,
    /// When the content was last written, in nanoseconds since 1970-01-01T00:00:00Z; 0 when the
    /// file system does not say.
    pub mtime_ns: i64,
}

impl FileStamp {
    /// The stamp of a file that is already known by its metadata.
    #[must_use]
    pub fn of(metadata: &Metadata) -> FileStamp {
        let (device, inode) = identity(metadata);
        FileStamp { device, inode, size: metadata.len(), mtime_ns: mtime_ns(metadata) }
    }

    /// The stamp of what an open file is now.
    ///
    /// # Errors
    /// [`CarrierError::Io`] when the operating system refuses; `path` is only named in it.
    pub fn of_file(file: &File, path: &Path) -> Result<FileStamp, CarrierError> {
        file.metadata().map(|m| FileStamp::of(&m)).map_err(|e| CarrierError::io(path, e))
    }

    /// The stamp of what is at `path`, links followed; none when nothing is there.
    ///
    /// # Errors
    /// [`CarrierError::Io`] for everything but absence, so that unreadable is never taken for
    /// absent.
    pub fn at(path: &Path) -> Result<Option<FileStamp>, CarrierError> {
        match fs::metadata(path) {
            Ok(metadata) => Ok(Some(FileStamp::of(&metadata))),
            Err(error) => match CarrierError::io(path, error) {
                CarrierError::NotFound { .. } => Ok(None),
                error => Err(error),
            },
        }
    }

    /// Whether both stamps are of the same file, whatever was written to it.
    #[must_use]
    pub fn same_file(&self, other: &FileStamp) -> bool {
        (self.device, self.inode) == (other.device, other.inode)
    }
}

fn mtime_ns(metadata: &Metadata) -> i64 {
    let Ok(modified) = metadata.modified() else { return 0 };
    match modified.duration_since(UNIX_EPOCH) {
        Ok(after) => i64::try_from(after.as_nanos()).unwrap_or(i64::MAX),
        Err(before) => i64::try_from(before.duration().as_nanos()).map_or(i64::MIN, |ns| -ns),
    }
}

#[cfg(unix)]
fn identity(metadata: &Metadata) -> (u64, u64) {
    use std::os::unix::fs::MetadataExt;
    (metadata.dev(), metadata.ino())
}

#[cfg(windows)]
fn identity(metadata: &Metadata) -> (u64, u64) {
    use std::os::windows::fs::MetadataExt;
    (0, metadata.creation_time())
}

#[cfg(not(any(unix, windows)))]
fn identity(_: &Metadata) -> (u64, u64) {
    (0, 0)
}
