//! The directory of the journal, and its files, opened without following anything.

use std::fs::{self, DirBuilder, File, Metadata, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use super::JournalError;

/// How the names of segments and side files end.
const EXTENSION: &str = ".jsonl";

/// How the names of side files begin.
const SIDE: &str = "side-";

/// How the names of side files begin while they are written.
const DRAFT: &str = "draft-";

/// The file that writers lock.
pub(super) const LOCK: &str = "lock";

/// The file that has one byte for each entry that could not be kept.
pub(super) const LOST: &str = "lost";

/// The directory.
#[derive(Clone, Debug)]
pub(super) struct Directory {
    path: PathBuf,
}

/// What lies in it, each list in its order: segments by number, the rest by name, which begins with
/// a time.
#[derive(Debug, Default)]
pub(super) struct Names {
    pub(super) segments: Vec<u64>,
    pub(super) sides: Vec<String>,
    pub(super) drafts: Vec<String>,
}

impl Directory {
    pub(super) fn new(path: PathBuf) -> Directory {
        Directory { path }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn join(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// Whether it is there, and fit to be read.
    ///
    /// # Errors
    /// For a link, anything else that is no directory, and what cannot be looked at.
    pub(super) fn is_present(&self) -> Result<bool, JournalError> {
        match fs::symlink_metadata(&self.path) {
            Ok(about) if about.is_dir() => Ok(true),
            Ok(about) if about.is_symlink() => Err(JournalError::Link { path: self.path.clone() }),
            Ok(_) => Err(JournalError::NotADirectory { path: self.path.clone() }),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(JournalError::io("look at", &self.path, error)),
        }
    }

    /// Makes it when it is not there, and private when it is not.
    ///
    /// # Errors
    /// As [`Directory::is_present`], for one of another user, and when it cannot be made.
    pub(super) fn prepare(&self) -> Result<(), JournalError> {
        if !self.is_present()? {
            let mut builder = DirBuilder::new();
            builder.recursive(true);
            #[cfg(unix)]
            std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
            builder.create(&self.path).map_err(|error| JournalError::io("make", &self.path, error))?;
        }
        let about = fs::symlink_metadata(&self.path);
        let about = about.map_err(|error| JournalError::io("look at", &self.path, error))?;
        if !about.is_dir() {
            return Err(JournalError::NotADirectory { path: self.path.clone() });
        }
        if needs_repair(&about, &self.path, 0o077)? {
            make_private(&self.path, 0o700)?;
        }
        Ok(())
    }

    /// Opens one of its files for writing, with the lock or without; made private when it is not.
    ///
    /// # Errors
    /// For a link, anything else that is no file, one of another user, and when it cannot be opened.
    pub(super) fn open(&self, name: &str, options: &mut OpenOptions) -> Result<File, JournalError> {
        let path = self.join(name);
        let file = open_as_it_is(&path, options)?;
        let about = file.metadata().map_err(|error| JournalError::io("look at", &path, error))?;
        if !about.is_file() {
            return Err(JournalError::NotAFile { path });
        }
        if needs_repair(&about, &path, 0o177)? {
            #[cfg(unix)]
            file.set_permissions(std::os::unix::fs::PermissionsExt::from_mode(0o600))
                .map_err(|error| JournalError::io("make private", &path, error))?;
        }
        Ok(file)
    }

    /// Opens one of its files for reading; none when it is not there any more.
    ///
    /// # Errors
    /// As [`Directory::open`], but for whose it is, which a reader does not judge.
    pub(super) fn open_to_read(&self, name: &str) -> Result<Option<File>, JournalError> {
        let path = self.join(name);
        match open_as_it_is(&path, OpenOptions::new().read(true)) {
            Ok(file) => match file.metadata() {
                Ok(about) if about.is_file() => Ok(Some(file)),
                Ok(_) => Err(JournalError::NotAFile { path }),
                Err(error) => Err(JournalError::io("look at", &path, error)),
            },
            Err(JournalError::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The names in it.
    ///
    /// # Errors
    /// When it cannot be listed.
    pub(super) fn names(&self) -> Result<Names, JournalError> {
        let io = |error| JournalError::io("list", &self.path, error);
        let mut names = Names::default();
        for entry in fs::read_dir(&self.path).map_err(io)? {
            let Ok(name) = entry.map_err(io)?.file_name().into_string() else { continue };
            if let Some(number) = segment_number(&name) {
                names.segments.push(number);
            } else if name.starts_with(SIDE) && name.ends_with(EXTENSION) {
                names.sides.push(name);
            } else if name.starts_with(DRAFT) {
                names.drafts.push(name);
            }
        }
        names.segments.sort_unstable();
        names.sides.sort_unstable();
        names.drafts.sort_unstable();
        Ok(names)
    }

    /// # Errors
    /// When it is there and cannot be removed.
    pub(super) fn remove(&self, name: &str) -> Result<(), JournalError> {
        let path = self.join(name);
        match fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(JournalError::io("remove", &path, error))
            }
            _ => Ok(()),
        }
    }
}

/// The name of a segment.
pub(super) fn segment_name(number: u64) -> String {
    format!("{number:010}{EXTENSION}")
}

fn segment_number(name: &str) -> Option<u64> {
    let number = name.strip_suffix(EXTENSION)?.parse().ok()?;
    (segment_name(number) == name).then_some(number)
}

/// The names of a side file: while it is written, and then.
pub(super) fn side_names(mark: &str) -> (String, String) {
    (format!("{DRAFT}{mark}"), format!("{SIDE}{mark}{EXTENSION}"))
}

/// Opens without following a link, and without waiting for a pipe.
fn open_as_it_is(path: &Path, options: &mut OpenOptions) -> Result<File, JournalError> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt as _;
        let flags = rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK;
        options.mode(0o600).custom_flags(flags.bits().cast_signed());
    }
    let is_link = || fs::symlink_metadata(path).is_ok_and(|about| about.is_symlink());
    #[cfg(not(unix))]
    if is_link() {
        return Err(JournalError::Link { path: path.to_owned() });
    }
    options.open(path).map_err(|error| match is_link() {
        true => JournalError::Link { path: path.to_owned() },
        false => JournalError::io("open", path, error),
    })
}

/// Whether others can get at it.
#[cfg(unix)]
fn needs_repair(about: &Metadata, path: &Path, others: u32) -> Result<bool, JournalError> {
    use std::os::unix::fs::MetadataExt as _;
    if about.uid() != rustix::process::geteuid().as_raw() {
        return Err(JournalError::Foreign { path: path.to_owned() });
    }
    Ok(about.mode() & others != 0)
}

/// Windows keeps the user's folders private by their own lists.
#[cfg(not(unix))]
fn needs_repair(_: &Metadata, _: &Path, _: u32) -> Result<bool, JournalError> {
    Ok(false)
}

#[cfg(unix)]
fn make_private(path: &Path, mode: u32) -> Result<(), JournalError> {
    let mode = std::os::unix::fs::PermissionsExt::from_mode(mode);
    fs::set_permissions(path, mode).map_err(|error| JournalError::io("make private", path, error))
}

#[cfg(not(unix))]
fn make_private(_: &Path, _: u32) -> Result<(), JournalError> {
    Ok(())
}
