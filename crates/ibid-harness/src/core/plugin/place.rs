//! Reading what is there, without following what leads elsewhere.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use ibid_carrier::file::read_own;

use super::PluginError;
use crate::core::Surroundings;

/// The most that is read of a file, in bytes: settings and plugins are small.
const LIMIT: u64 = 8 << 20;

/// What stands at a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum There {
    /// Nothing.
    Nothing,
    /// A file with these bytes.
    File(Vec<u8>),
    /// A link, a directory or something else that is no plain file.
    Other,
}

/// What stands at a path. A link is not followed.
pub(super) fn look_at(path: &Path) -> Result<There, PluginError> {
    let unreadable = |error| PluginError::Unreadable { path: path.to_owned(), error };
    match fs::symlink_metadata(path) {
        Ok(metadata) if metadata.is_file() => Ok(There::File(read_own(path, LIMIT).map_err(unreadable)?)),
        Ok(_) => Ok(There::Other),
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            Ok(There::Nothing)
        }
        Err(error) => Err(unreadable(error)),
    }
}

/// A text that a person or an agent keeps.
pub(super) fn text_of(path: &Path, bytes: Vec<u8>) -> Result<String, PluginError> {
    let not_text = || io::Error::new(io::ErrorKind::InvalidData, "it is not UTF-8; correct it first");
    String::from_utf8(bytes).map_err(|_| PluginError::Unreadable { path: path.to_owned(), error: not_text() })
}

/// Where a file is really written. A link is refused, whether the file itself is one (programs that
/// manage dotfiles make such) or a directory between the home and it; with `follow`, a link is
/// followed as long as it ends below the home.
pub(super) fn real_place(path: &Path, machine: &Surroundings, follow: bool) -> Result<PathBuf, PluginError> {
    let home = machine.home();
    let below = path.strip_prefix(home).unwrap_or(Path::new(""));
    let mut step = home.to_owned();
    let mut parts: Vec<PathBuf> = below
        .components()
        .map(|part| {
            step.push(part);
            step.clone()
        })
        .collect();
    if parts.is_empty() {
        parts.push(path.to_owned());
    }
    let Some(link) = parts.into_iter().find(|part| part.is_symlink()) else { return Ok(path.to_owned()) };
    if !follow {
        return Err(PluginError::Link { path: path.to_owned(), link });
    }
    let leads_out = || PluginError::LeadsOut { path: path.to_owned() };
    let target = resolved(path).ok_or_else(leads_out)?;
    let real_home = home.canonicalize().unwrap_or_else(|_| home.to_owned());
    if target.starts_with(&real_home) { Ok(target) } else { Err(leads_out()) }
}

/// The path with every link on the way followed, as far as it exists. None for a link that leads
/// nowhere.
fn resolved(path: &Path) -> Option<PathBuf> {
    if let Ok(real) = path.canonicalize() {
        return Some(real);
    }
    if path.is_symlink() {
        return None;
    }
    Some(resolved(path.parent()?)?.join(path.file_name()?))
}
