//! What a file is to hold.

use std::fmt;
use std::path::{Path, PathBuf};

use bytes::Bytes;
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use super::{ContentStamp, PlanError};

/// What a file is to hold. It may hold secrets: neither JSON, text nor debug output of a plan
/// ever shows it, only its size.
#[derive(Clone, PartialEq, Eq)]
pub enum Content {
    /// These bytes.
    Bytes(Bytes),
    /// The bytes of another file, which must still be as `expected` when the plan is committed.
    File {
        /// The file to copy.
        path: PathBuf,
        /// What it looked like when the plan was made.
        expected: ContentStamp,
    },
}

impl Content {
    /// The bytes of the file at `path` as it is now.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn copy_of(path: &Path) -> Result<Content, PlanError> {
        Ok(Content::File { path: path.to_owned(), expected: ContentStamp::of(path)? })
    }

    /// How many bytes it is.
    #[must_use]
    pub fn len(&self) -> u64 {
        match self {
            Content::Bytes(bytes) => bytes.len() as u64,
            Content::File { expected, .. } => expected.bytes,
        }
    }

    /// Whether it is no bytes at all.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl From<Vec<u8>> for Content {
    fn from(bytes: Vec<u8>) -> Self {
        Content::Bytes(bytes.into())
    }
}

impl From<String> for Content {
    fn from(text: String) -> Self {
        Content::Bytes(text.into())
    }
}

impl From<&str> for Content {
    fn from(text: &str) -> Self {
        Content::Bytes(Bytes::copy_from_slice(text.as_bytes()))
    }
}

impl From<Bytes> for Content {
    fn from(bytes: Bytes) -> Self {
        Content::Bytes(bytes)
    }
}

impl fmt::Display for Content {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Content::Bytes(_) => write!(f, "{} bytes", self.len()),
            Content::File { path, .. } => write!(f, "{} bytes, a copy of {}", self.len(), path.display()),
        }
    }
}

impl fmt::Debug for Content {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Content({self})")
    }
}

impl Serialize for Content {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Copied<'a>(#[serde(serialize_with = "super::path_text::serialize")] &'a Path);

        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("bytes", &self.len())?;
        if let Content::File { path, .. } = self {
            map.serialize_entry("copy_of", &Copied(path))?;
        }
        map.end()
    }
}
