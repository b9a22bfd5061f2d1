//! Paths in JSON: text where they are UTF-8, else their bytes, so that no path is ever changed.

use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Written {
    Text(String),
    Bytes { base64: String },
}

pub(crate) fn serialize<S: Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
    match path.to_str() {
        Some(text) => serializer.serialize_str(text),
        None => Written::Bytes { base64: STANDARD.encode(path.as_os_str().as_encoded_bytes()) }
            .serialize(serializer),
    }
}

pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<PathBuf, D::Error> {
    match Written::deserialize(deserializer)? {
        Written::Text(text) => Ok(PathBuf::from(text)),
        Written::Bytes { base64 } => {
            let bytes = STANDARD.decode(base64).map_err(D::Error::custom)?;
            from_bytes(bytes).ok_or_else(|| D::Error::custom("a path that this system cannot have"))
        }
    }
}

#[cfg(unix)]
#[allow(clippy::unnecessary_wraps, reason = "other systems cannot have every path")]
fn from_bytes(bytes: Vec<u8>) -> Option<PathBuf> {
    Some(PathBuf::from(<std::ffi::OsString as std::os::unix::ffi::OsStringExt>::from_vec(bytes)))
}

#[cfg(not(unix))]
fn from_bytes(_: Vec<u8>) -> Option<PathBuf> {
    None
}

/// The same for a list of paths.
pub(crate) mod list {
    use super::{Deserialize, Deserializer, Path, PathBuf, Serialize, Serializer};

    #[derive(Serialize)]
    struct Borrowed<'a>(#[serde(serialize_with = "super::serialize")] &'a Path);

    #[derive(Deserialize)]
    struct Owned(#[serde(deserialize_with = "super::deserialize")] PathBuf);

    pub(crate) fn serialize<S: Serializer>(paths: &[PathBuf], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(paths.iter().map(|path| Borrowed(path)))
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<PathBuf>, D::Error> {
        Ok(Vec::<Owned>::deserialize(deserializer)?.into_iter().map(|Owned(path)| path).collect())
    }
}
