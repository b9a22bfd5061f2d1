//! What a file looked like at one moment.

use std::fs::{self, File, Metadata};
use std::io::{self, Read};
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::PlanError;
use crate::FileStamp;

/// What a file looked like when it was read, with its content where that is to be compared too.
/// Before the file is changed or removed, the engine looks again, and refuses when anything
/// differs. Made from a path, or from the [`FileStamp`] that reading a carrier gave.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContentStamp {
    /// Its size in bytes.
    pub bytes: u64,
    /// When it was last modified, in nanoseconds since 1970; `None` where that is unknown.
    pub modified_ns: Option<i64>,
    /// Device and inode, on systems that have them.
    pub inode: Option<(u64, u64)>,
    /// SHA-256 of its content in hexadecimal, when the content is to be compared too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
}

impl ContentStamp {
    /// The file at `path` as it is now, without reading it. A link is not followed.
    ///
    /// # Errors
    /// [`PlanError::Missing`] when there is nothing, [`PlanError::Io`] when it cannot be looked at.
    pub fn of(path: &Path) -> Result<ContentStamp, PlanError> {
        let metadata = fs::symlink_metadata(path).map_err(|error| PlanError::io("look at", path, error))?;
        Ok(ContentStamp::of_metadata(&metadata))
    }

    /// The file at `path` as it is now, with the SHA-256 of its content.
    ///
    /// # Errors
    /// As [`ContentStamp::of`], and when it cannot be read.
    pub fn with_content(path: &Path) -> Result<ContentStamp, PlanError> {
        let mut file = File::open(path).map_err(|error| PlanError::io("open", path, error))?;
        let metadata = file.metadata().map_err(|error| PlanError::io("look at", path, error))?;
        let mut stamp = ContentStamp::of_metadata(&metadata);
        let (_, digest) = digest_of(&mut file).map_err(|error| PlanError::io("read", path, error))?;
        stamp.sha256 = Some(digest);
        Ok(stamp)
    }

    /// The stamp that belongs to metadata already at hand (of an open file, say).
    #[must_use]
    pub fn of_metadata(metadata: &Metadata) -> ContentStamp {
        #[cfg(unix)]
        let inode = {
            use std::os::unix::fs::MetadataExt;
            Some((metadata.dev(), metadata.ino()))
        };
        #[cfg(not(unix))]
        let inode = None;
        ContentStamp {
            bytes: metadata.len(),
            modified_ns: metadata.modified().ok().and_then(nanoseconds),
            inode,
            sha256: None,
        }
    }

    /// Whether `now` is the same file with the same content, as far as both stamps say.
    #[must_use]
    pub fn matches(&self, now: &ContentStamp) -> bool {
        fn agree<T: PartialEq>(a: &Option<T>, b: &Option<T>) -> bool {
            a.is_none() || b.is_none() || a == b
        }
        self.bytes == now.bytes
            && agree(&self.modified_ns, &now.modified_ns)
            && agree(&self.inode, &now.inode)
            && agree(&self.sha256, &now.sha256)
    }
}

impl From<FileStamp> for ContentStamp {
    fn from(stamp: FileStamp) -> Self {
        ContentStamp {
            bytes: stamp.size,
            modified_ns: (stamp.mtime_ns != 0).then_some(stamp.mtime_ns),
            // What stands for an inode elsewhere does not survive renaming.
            inode: cfg!(unix).then_some((stamp.device, stamp.inode)),
            sha256: None,
        }
    }
}

/// Length and SHA-256 (hexadecimal) of everything that `input` still gives.
pub(crate) fn digest_of(input: &mut dyn Read) -> io::Result<(u64, String)> {
    let mut hasher = Sha256::new();
    let mut buffer = vec![0_u8; 1 << 16];
    let mut total = 0_u64;
    loop {
        let read = match input.read(&mut buffer) {
            Ok(0) => break,
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        hasher.update(buffer.get(..read).unwrap_or_default());
        total += read as u64;
    }
    Ok((total, hexadecimal(&hasher.finalize())))
}

pub(crate) fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Nanoseconds since 1970, negative before; `None` outside the years 1678 to 2262.
pub(crate) fn nanoseconds(time: SystemTime) -> Option<i64> {
    match time.duration_since(UNIX_EPOCH) {
        Ok(after) => i64::try_from(after.as_nanos()).ok(),
        Err(before) => i64::try_from(before.duration().as_nanos()).ok().map(i64::wrapping_neg),
    }
}

/// The time that [`nanoseconds`] names.
pub(crate) fn time_of(nanoseconds: i64) -> Option<SystemTime> {
    let distance = Duration::from_nanos(nanoseconds.unsigned_abs());
    if nanoseconds < 0 { UNIX_EPOCH.checked_sub(distance) } else { UNIX_EPOCH.checked_add(distance) }
}
