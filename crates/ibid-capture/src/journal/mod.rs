//! The local log of observations: append-only, written by many short-lived processes at once.
//!
//! It lies in `<data>/lifecycle/` (0700) and is made of *segments*, files of JSON lines (0600) that are
//! numbered from 1. A writer takes the lock, appends one whole line, and goes. What it promises:
//!
//! - **No record is torn, or taken for one that is not.** A writer that is killed in the middle leaves
//!   the beginning of a line. The next one ends that line before it writes its own, and no
//!   beginning of a JSON object is a JSON object: a reader reports it, with its place.
//! - **No record of a writer that reported success is lost.** When the lock cannot be had in time (a
//!   process that was stopped holds it), the line goes to a side file of its own, which a later
//!   writer moves into a segment; a reader reads both, and each entry once.
//! - **It stays small.** A segment of [`Bounds::segment_bytes`] is closed, and the oldest of more than
//!   [`Bounds::segments`] is removed. Numbers and the first line of each segment say how much that was.
//! - **It stays private.** Links in its place are refused, and so is what belongs to another user;
//!   what others could read is made private first.
//!
//! It is not synced to the disk: a loss of power can take the last seconds (and leave a line that is
//! reported), since a hook would otherwise wait for the disk while its agent waits for the hook.
//!
//! ```
//! use ibid_capture::journal::{Entry, Filter, Journal, Refusal, Refused};
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = tempfile::tempdir()?;
//! let journal = Journal::new(folder.path());
//! let at = ibid_model::Timestamp::parse("2026-07-01T10:00:00Z").ok_or("no time")?;
//! let refused = Refused { at, program: Some("pi".to_owned()), reason: Refusal::NotAnEvent, bytes: 7 };
//! journal.append(&Entry::Refused(refused))?;
//! let reading = journal.read(&Filter::default());
//! assert_eq!((reading.entries.len(), reading.findings.len()), (1, 0));
//! # Ok(())
//! # }
//! ```

mod directory;
mod entry;
mod reader;
mod state;
mod writer;

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

pub use entry::{Entry, Kept, Observed, Place, Refusal, Refused, ReportFailure, Unreported};
pub use reader::{Filter, Reading};
pub use state::{FailureCount, ProgramState, RefusalCount, Removed, State};

use directory::Directory;

/// How much the journal keeps, and how long a writer waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// A segment that would become larger is closed.
    pub segment_bytes: u64,
    /// At most so many segments are kept.
    pub segments: usize,
    /// At most so many side files are made.
    pub side_files: usize,
    /// How long a writer waits for the lock before it makes a side file.
    pub patience: Duration,
}

impl Default for Bounds {
    /// 16 segments of 4 MiB, 4096 side files, 300 ms.
    fn default() -> Bounds {
        Bounds {
            segment_bytes: 4 << 20,
            segments: 16,
            side_files: 4096,
            patience: Duration::from_millis(300),
        }
    }
}

/// The longest line, in bytes: more than a hook can make of the input that it reads.
pub const LINE_BYTES: usize = 4 << 20;

/// The journal of one data directory.
#[derive(Clone, Debug)]
pub struct Journal {
    directory: Directory,
    bounds: Bounds,
}

impl Journal {
    /// The journal of a data directory, whether it is there or not.
    #[must_use]
    pub fn new(data_dir: &Path) -> Journal {
        Journal { directory: Directory::new(data_dir.join("lifecycle")), bounds: Bounds::default() }
    }

    /// The same with other bounds.
    #[must_use]
    pub fn bounded(mut self, bounds: Bounds) -> Journal {
        self.bounds = bounds;
        self
    }

    /// Its directory.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.directory.path()
    }
}

/// Why something could not be kept or read. No text of an entry is in it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum JournalError {
    /// A link stands where the journal, or a file of it, belongs.
    #[error("{} is a link, which is not followed; remove it", path.display())]
    Link {
        /// Where.
        path: PathBuf,
    },
    /// Something else stands in the place of the directory.
    #[error("{} is no directory; remove it", path.display())]
    NotADirectory {
        /// Where.
        path: PathBuf,
    },
    /// Something else stands in the place of a file.
    #[error("{} is no regular file; remove it", path.display())]
    NotAFile {
        /// Where.
        path: PathBuf,
    },
    /// It belongs to another user.
    #[error("{} belongs to another user; remove it, or give it to yours", path.display())]
    Foreign {
        /// Where.
        path: PathBuf,
    },
    /// An entry is longer than [`LINE_BYTES`].
    #[error("an entry of {bytes} bytes is longer than the journal takes")]
    TooLarge {
        /// Its length.
        bytes: usize,
    },
    /// The observation of an entry is JSON on several lines.
    #[error("an observation has to be one line")]
    SeveralLines,
    /// The lock cannot be had, and there are as many side files as may be.
    #[error("another process holds the lock of {}, and there are {files} side files", path.display())]
    Full {
        /// The journal.
        path: PathBuf,
        /// How many side files there are.
        files: usize,
    },
    /// What the operating system says.
    #[error("could not {doing} {}", path.display())]
    Io {
        /// What was tried.
        doing: &'static str,
        /// On what.
        path: PathBuf,
        /// Why it failed.
        source: io::Error,
    },
}

impl JournalError {
    fn io(doing: &'static str, path: &Path, source: io::Error) -> JournalError {
        JournalError::Io { doing, path: path.to_owned(), source }
    }
}
