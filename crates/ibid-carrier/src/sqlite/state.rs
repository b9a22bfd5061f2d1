//! What a database and the files beside it look like from outside.

use std::fs::{self, File, Metadata};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::SqliteError;

/// Two writes within one tick of the file system's clock leave the same time behind. A file that
/// was modified less than this ago is looked at again later; ticks are at most 10 ms on Linux
/// (`CONFIG_HZ=100`), macOS and Windows keep finer times.
const TICK: Duration = Duration::from_millis(20);

/// The first bytes of a rollback journal that is to be rolled back (SQLite file format, "The
/// Rollback Journal"). A journal that was finished has them zeroed, or is empty or gone.
const JOURNAL_MAGIC: [u8; 8] = [0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7];

/// One file, as far as the file system describes it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct FileMark {
    bytes: u64,
    modified_ns: Option<u128>,
    changed: Option<(i64, i64)>,
    inode: Option<(u64, u64)>,
}

impl FileMark {
    fn of(metadata: &Metadata) -> FileMark {
        #[cfg(unix)]
        let (changed, inode) = {
            use std::os::unix::fs::MetadataExt;
            (Some((metadata.ctime(), metadata.ctime_nsec())), Some((metadata.dev(), metadata.ino())))
        };
        #[cfg(not(unix))]
        let (changed, inode) = (None, None);
        let modified_ns = metadata
            .modified()
            .ok()
            .and_then(|time| time.duration_since(UNIX_EPOCH).ok())
            .map(|d| d.as_nanos());
        FileMark { bytes: metadata.len(), modified_ns, changed, inode }
    }

    fn is_fresh(&self) -> bool {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
        self.modified_ns.is_some_and(|modified| now.abs_diff(modified) < TICK.as_nanos())
    }
}

/// The write-ahead log: a non-empty `-wal` file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct WalMark {
    file: FileMark,
    /// Checkpoint number and salts, bytes 12..24 of the header. They change when the log starts
    /// again from its beginning.
    generation: Vec<u8>,
}

/// A database as it looks from outside: main file, write-ahead log and rollback journal. Equal
/// states mean equal content; a log that grew or a journal that appeared is another state even
/// though the main file did not change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DatabaseState {
    main: FileMark,
    /// Bytes 24..28 of the main file, which each transaction without a log increases.
    change_counter: Vec<u8>,
    wal: Option<WalMark>,
    hot_journal: Option<FileMark>,
}

/// The path of the file beside `database` whose name ends with `suffix`.
pub(super) fn beside(database: &Path, suffix: &str) -> PathBuf {
    let mut name = database.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

/// Opens one of the files of a database; `None` when there is no such file. Only regular files
/// belong to databases: opening a pipe or a device would wait or act.
pub(super) fn open_regular(path: &Path) -> Result<Option<(File, Metadata)>, SqliteError> {
    let regular = |metadata: Metadata| match metadata.is_file() {
        true => Ok(metadata),
        false => Err(SqliteError::Damaged { path: path.to_owned(), detail: "not a regular file".to_owned() }),
    };
    let absent_or = |error: io::Error| match error.kind() {
        io::ErrorKind::NotFound => Ok(None),
        _ => Err(SqliteError::io(path, error)),
    };
    match fs::metadata(path) {
        Ok(metadata) => regular(metadata)?,
        Err(error) => return absent_or(error),
    };
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) => return absent_or(error),
    };
    let metadata = regular(file.metadata().map_err(|error| SqliteError::io(path, error))?)?;
    Ok(Some((file, metadata)))
}

/// The metadata and the first `length` bytes (fewer when the file is shorter) of a file; `None`
/// when there is no such file.
fn head(path: &Path, length: u64) -> Result<Option<(FileMark, Vec<u8>)>, SqliteError> {
    let Some((file, metadata)) = open_regular(path)? else { return Ok(None) };
    let mut bytes = Vec::new();
    file.take(length).read_to_end(&mut bytes).map_err(|error| SqliteError::io(path, error))?;
    Ok(Some((FileMark::of(&metadata), bytes)))
}

fn part(bytes: &[u8], from: usize, to: usize) -> Vec<u8> {
    bytes.get(from..to).unwrap_or_default().to_vec()
}

impl DatabaseState {
    /// Looks at the database at `path`. Reads at most 100 bytes of it, and changes nothing.
    ///
    /// # Errors
    /// [`SqliteError::NotFound`] when there is no file; [`SqliteError::Io`] when it, or a file
    /// beside it, cannot be read.
    pub fn read(path: &Path) -> Result<DatabaseState, SqliteError> {
        let (main, header) =
            head(path, 100)?.ok_or_else(|| SqliteError::NotFound { path: path.to_owned() })?;
        let wal = head(&beside(path, "-wal"), 32)?
            .filter(|(file, _)| file.bytes > 0)
            .map(|(file, header)| WalMark { file, generation: part(&header, 12, 24) });
        let hot_journal = head(&beside(path, "-journal"), 8)?
            .filter(|(_, magic)| magic.as_slice() == JOURNAL_MAGIC)
            .map(|(file, _)| file);
        Ok(DatabaseState { main, change_counter: part(&header, 24, 28), wal, hot_journal })
    }

    /// A name for the state, safe in a file name: 32 hexadecimal digits.
    #[must_use]
    pub fn digest(&self) -> String {
        short_digest(format!("{self:?}").as_bytes())
    }

    /// The size of main file, log and journal together, in bytes.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        let wal = self.wal.as_ref().map_or(0, |wal| wal.file.bytes);
        let journal = self.hot_journal.as_ref().map_or(0, |file| file.bytes);
        self.main.bytes.saturating_add(wal).saturating_add(journal)
    }

    /// Whether all content is in the main file.
    pub(super) fn is_single_file(&self) -> bool {
        self.wal.is_none() && self.hot_journal.is_none()
    }

    pub(super) fn has_wal(&self) -> bool {
        self.wal.is_some()
    }

    pub(super) fn has_hot_journal(&self) -> bool {
        self.hot_journal.is_some()
    }

    /// Whether the main file (or journal) was modified so recently that a further write could
    /// leave the same time behind.
    pub(super) fn is_fresh(&self) -> bool {
        self.main.is_fresh() || self.hot_journal.as_ref().is_some_and(FileMark::is_fresh)
    }

    pub(super) fn wal_is_fresh(&self) -> bool {
        self.wal.as_ref().is_some_and(|wal| wal.file.is_fresh())
    }

    /// Whether files copied while the database went from `self` to `later` belong together. The
    /// log may have grown meanwhile: what was copied of it is a valid beginning, because each
    /// frame carries a checksum over all before it. It must not have started again, and nothing
    /// may have been moved from it into the main file.
    pub(super) fn copied_whole(&self, later: &DatabaseState) -> bool {
        let same_log = match (&self.wal, &later.wal) {
            (None, None) => true,
            (Some(a), Some(b)) => {
                a.generation == b.generation && a.file.inode == b.file.inode && a.file.bytes <= b.file.bytes
            }
            _ => false,
        };
        same_log
            && self.main == later.main
            && self.change_counter == later.change_counter
            && self.hot_journal == later.hot_journal
    }
}

/// The first half of a SHA-256, as 32 hexadecimal digits.
pub(super) fn short_digest(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().take(16).map(|byte| format!("{byte:02x}")).collect()
}
