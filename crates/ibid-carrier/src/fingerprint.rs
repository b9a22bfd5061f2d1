//! Whether anything that a session lives in changed.

use std::fmt;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::CarrierError;
pub use crate::FileStamp;

/// One short string over all carriers of a session. Two equal fingerprints mean that no carrier
/// was written in between, appeared, or vanished; what was cached for one holds for the other.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Fingerprint(String);

impl Fingerprint {
    /// Starts a fingerprint of several carriers. Their order counts.
    #[must_use]
    pub fn of() -> FingerprintBuilder {
        FingerprintBuilder { digest: Sha256::new() }
    }

    /// The fingerprint of one file.
    ///
    /// # Errors
    /// As [`FingerprintBuilder::file`].
    pub fn of_file(path: &Path) -> Result<Fingerprint, CarrierError> {
        Ok(Fingerprint::of().file(path)?.finish())
    }

    /// The fingerprint of one database.
    ///
    /// # Errors
    /// As [`FingerprintBuilder::database`].
    pub fn of_database(path: &Path) -> Result<Fingerprint, CarrierError> {
        Ok(Fingerprint::of().database(path)?.finish())
    }

    /// The fingerprint as text: 32 hexadecimal digits.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Collects what a [`Fingerprint`] is made of.
#[derive(Clone, Debug)]
pub struct FingerprintBuilder {
    digest: Sha256,
}

impl FingerprintBuilder {
    /// Adds a file: device, inode, size and time of the last write. That it is absent is part of
    /// the fingerprint.
    ///
    /// # Errors
    /// [`CarrierError::Io`] when it cannot be looked at; absence is no error.
    pub fn file(self, path: &Path) -> Result<FingerprintBuilder, CarrierError> {
        let stamp = FileStamp::at(path)?;
        Ok(self.stamped(path, stamp))
    }

    /// Adds a file whose stamp is already known, as after [`list_files`](crate::walk::list_files).
    #[must_use]
    pub fn stamped(mut self, path: &Path, stamp: Option<FileStamp>) -> FingerprintBuilder {
        self.field(path.as_os_str().as_encoded_bytes());
        match stamp {
            Some(stamp) => {
                self.field(&stamp.device.to_le_bytes());
                self.field(&stamp.inode.to_le_bytes());
                self.field(&stamp.size.to_le_bytes());
                self.field(&stamp.mtime_ns.to_le_bytes());
            }
            None => self.field(b"absent"),
        }
        self
    }

    /// Adds an SQLite database: the file, its write-ahead log and its rollback journal as files,
    /// and from their headers the change counter of the database (offset 24 of the file) and the
    /// salts of the log (offset 16), which change when the log is begun anew at the same size.
    /// Only the headers are read, without a lock.
    ///
    /// # Errors
    /// [`CarrierError::Io`] when a part cannot be looked at or read; absence is no error.
    pub fn database(mut self, path: &Path) -> Result<FingerprintBuilder, CarrierError> {
        let log = beside(path, "-wal");
        self = self.file(path)?.file(&log)?.file(&beside(path, "-journal"))?;
        self.field(&header(path, 24, 4)?);
        self.field(&header(&log, 16, 8)?);
        Ok(self)
    }

    /// Adds anything else that what is cached depends on, a version of the reader for example.
    #[must_use]
    pub fn note(mut self, note: &str) -> FingerprintBuilder {
        self.field(note.as_bytes());
        self
    }

    /// The fingerprint.
    #[must_use]
    pub fn finish(self) -> Fingerprint {
        let digest = self.digest.finalize();
        Fingerprint(hexadecimal(digest.get(..16).unwrap_or(&digest)))
    }

    /// Adds one field with its length, so that fields cannot run into each other.
    fn field(&mut self, bytes: &[u8]) {
        self.digest.update((bytes.len() as u64).to_le_bytes());
        self.digest.update(bytes);
    }
}

/// The file that SQLite keeps beside a database under `suffix`.
fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

/// Up to `size` bytes of a file at `offset`; fewer when it is shorter, none when it is absent.
fn header(path: &Path, offset: u64, size: u64) -> Result<Vec<u8>, CarrierError> {
    let mut bytes = Vec::new();
    let outcome = File::open(path).and_then(|mut file| {
        file.seek(SeekFrom::Start(offset))?;
        file.take(size).read_to_end(&mut bytes)
    });
    match outcome {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(CarrierError::io(path, error)),
        _ => Ok(bytes),
    }
}

pub(crate) fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn absence_is_part_of_a_fingerprint() {
        let folder = tempfile::tempdir().unwrap();
        let (a, b) = (folder.path().join("a"), folder.path().join("b"));
        fs::write(&a, "x").unwrap();
        let of_both = || Fingerprint::of().file(&a).unwrap().file(&b).unwrap().finish();
        let before = of_both();
        assert_eq!(of_both(), before);
        fs::write(&b, "").unwrap();
        assert_ne!(of_both(), before);
    }

    // https://github.com/AstroQore/vibe-bar/pull/184 (fault 50)
    #[test]
    fn a_write_that_only_reached_the_log_changes_the_fingerprint_of_a_database() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("store.db");
        let database = rusqlite::Connection::open(&path).unwrap();
        database.pragma_update(None, "journal_mode", "wal").unwrap();
        database.execute_batch("create table t (x); insert into t values (1)").unwrap();
        let (file, before) = (FileStamp::at(&path).unwrap(), Fingerprint::of_database(&path).unwrap());
        database.execute_batch("insert into t values (2)").unwrap();
        assert_eq!(FileStamp::at(&path).unwrap(), file, "the write stayed in the log");
        assert_ne!(Fingerprint::of_database(&path).unwrap(), before);
    }

    #[test]
    fn a_log_begun_anew_at_the_same_size_changes_the_fingerprint_of_a_database() {
        let folder = tempfile::tempdir().unwrap();
        let (path, log) = (folder.path().join("a.db"), folder.path().join("a.db-wal"));
        fs::write(&path, [0; 100]).unwrap();
        fs::write(&log, [1; 64]).unwrap();
        let before = Fingerprint::of_database(&path).unwrap();
        let time = fs::metadata(&log).unwrap().modified().unwrap();
        fs::write(&log, [2; 64]).unwrap();
        File::options().append(true).open(&log).unwrap().set_modified(time).unwrap();
        assert_ne!(Fingerprint::of_database(&path).unwrap(), before);
    }

    #[cfg(unix)]
    #[test]
    fn what_cannot_be_looked_at_is_an_error_and_not_absent() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        fs::write(&file, "").unwrap();
        assert!(matches!(Fingerprint::of_file(&file.join("below")), Err(CarrierError::Io { .. })));
    }
}
