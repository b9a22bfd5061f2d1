//! What can go wrong between a path and its bytes.

use std::io;
use std::path::{Path, PathBuf};

/// A carrier that could not be read or written at all. What is wrong *inside* a carrier that
/// could be read is a [`Finding`](ibid_model::Finding), never an error.
///
/// Every message names the path, and says what to do next.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CarrierError {
    /// The operating system refused.
    #[error("{}: {source}; {}", path.display(), advice_for(source))]
    Io {
        /// The file or directory.
        path: PathBuf,
        /// What the operating system said.
        source: io::Error,
    },
    /// There is nothing at the path. Absence is no fault of the store: callers decide.
    #[error("{}: there is no such file; list the sessions again, it may have been moved or deleted", path.display())]
    NotFound {
        /// The path that was asked for.
        path: PathBuf,
    },
    /// There is something at the path that is no regular file (a directory, a pipe, a device).
    #[error("{}: not a regular file; name a file that holds a session", path.display())]
    NotAFile {
        /// The path that was asked for.
        path: PathBuf,
    },
    /// The content is larger than the limit that the caller gave.
    #[error("{}: {bytes} bytes are more than the limit of {limit}; raise the limit if the file is what it should be", path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// Its size, or how much had been decompressed when the limit was reached.
        bytes: u64,
        /// The limit.
        limit: u64,
    },
    /// Reading was to go on from a place that lies behind the end of the file.
    #[error("{}: reading was to go on at byte {offset}, and there are only {bytes}; read it again from the beginning", path.display())]
    PastEnd {
        /// The file.
        path: PathBuf,
        /// Where reading was to begin.
        offset: u64,
        /// How many bytes there are.
        bytes: u64,
    },
    /// A name or path that must not be used as it is.
    #[error(
        "{name:?} cannot be used as a path: {reason}; rename it in the record that holds it, or copy the file by hand"
    )]
    Unsafe {
        /// The name or path.
        name: String,
        /// Why it is refused, a clause without a full stop.
        reason: &'static str,
    },
}

impl CarrierError {
    /// The error for something the operating system said about `path`;
    /// [`NotFound`](CarrierError::NotFound) when it said that there is nothing.
    #[must_use]
    pub fn io(path: &Path, source: io::Error) -> CarrierError {
        match source.kind() {
            io::ErrorKind::NotFound => CarrierError::NotFound { path: path.to_owned() },
            _ => CarrierError::Io { path: path.to_owned(), source },
        }
    }

    /// Whether the error says that there is nothing at the path.
    #[must_use]
    pub fn is_absence(&self) -> bool {
        matches!(self, CarrierError::NotFound { .. })
    }
}

/// What a person can do about an error of the operating system.
fn advice_for(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::PermissionDenied => "check its permissions",
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => "free some space and try again",
        io::ErrorKind::ReadOnlyFilesystem => "choose a place that can be written",
        io::ErrorKind::IsADirectory | io::ErrorKind::NotADirectory => "check the path",
        _ => "check the disk and try again",
    }
}
