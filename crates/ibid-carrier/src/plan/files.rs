//! The few operations on files that commits are made of: each either happens as a whole or not
//! at all, and none overwrites what is there.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use super::stamp::{digest_of, hexadecimal, time_of};
use super::{Content, ContentStamp, PlanError};

/// Directories deeper than this are not copied to another file system.
const DEEPEST: usize = 64;

/// Whether there is anything at the path, a dangling link included.
pub(crate) fn exists(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok()
}

/// Makes a file that must not be there yet; `private`: readable and writable for its owner alone,
/// else as the user's umask says.
pub(crate) fn create_new(path: &Path, private: bool) -> Result<File, PlanError> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    if private {
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    }
    #[cfg(not(unix))]
    let _ = private;
    options.open(path).map_err(|error| PlanError::io("create", path, error))
}

/// Makes one directory, as [`create_new`] makes a file.
pub(crate) fn make_directory(path: &Path, private: bool) -> io::Result<()> {
    #[allow(unused_mut, reason = "only Unix has modes")]
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    if private {
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    }
    #[cfg(not(unix))]
    let _ = private;
    builder.create(path)
}

/// Makes a directory of Ibid's own, and those above it, for its owner alone.
pub(crate) fn make_own_directory(path: &Path) -> Result<(), PlanError> {
    if path.is_dir() {
        return Ok(());
    }
    if let Some(parent) = path.parent() {
        make_own_directory(parent)?;
    }
    match make_directory(path, true) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
            Err(PlanError::io("make the directory", path, error))
        }
        _ => sync_parent(path),
    }
}

/// Makes sure that the names in the directory of `path` are on the disk. Windows has no such
/// call; there the file system's own journal orders the names.
pub(crate) fn sync_parent(path: &Path) -> Result<(), PlanError> {
    match path.parent() {
        Some(parent) if cfg!(unix) && !parent.as_os_str().is_empty() => {
            let synced = File::open(parent).and_then(|directory| directory.sync_all());
            synced.map_err(|error| PlanError::io("write to the disk", parent, error))
        }
        _ => Ok(()),
    }
}

/// Writes a file of Ibid's own so that it is either there whole or not at all. A failure (a full
/// disk, say) leaves nothing of it behind.
pub(crate) fn write_own(path: &Path, bytes: &[u8]) -> Result<(), PlanError> {
    let draft = draft_of(path);
    remove_file(&draft)?;
    let written = write_draft(&draft, bytes)
        .and_then(|()| fs::rename(&draft, path).map_err(|error| PlanError::io("write", path, error)));
    if let Err(error) = written {
        // Why it failed says more than that it could not be cleared up either.
        let _ = remove_file(&draft);
        return Err(error);
    }
    sync_parent(path)
}

fn write_draft(draft: &Path, bytes: &[u8]) -> Result<(), PlanError> {
    let mut file = create_new(draft, true)?;
    let written = file.write_all(bytes).and_then(|()| file.sync_all());
    written.map_err(|error| PlanError::io("write", draft, error))
}

/// Removes a file of Ibid's own, and what a writer that died left of it.
pub(crate) fn remove_own(path: &Path) -> Result<(), PlanError> {
    remove_file(&draft_of(path))?;
    remove_file(path)
}

fn draft_of(path: &Path) -> PathBuf {
    let mut draft = path.as_os_str().to_owned();
    draft.push(".draft");
    PathBuf::from(draft)
}

/// Gives a file or directory another name, which must be free.
///
/// Linux and macOS do this in one step where the file system can. Elsewhere a file gets a second
/// name and then loses the first, which also fails when the name is taken; directories, and file
/// systems without second names, are looked at first and then renamed.
pub(crate) fn rename_new(from: &Path, to: &Path) -> io::Result<()> {
    #[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
    {
        use rustix::fs::{CWD, RenameFlags, renameat_with};
        use rustix::io::Errno;
        match renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE) {
            Err(Errno::NOSYS | Errno::INVAL | Errno::NOTSUP) => {}
            other => return other.map_err(io::Error::from),
        }
    }
    if !fs::symlink_metadata(from)?.is_dir() {
        match fs::hard_link(from, to) {
            Ok(()) => return fs::remove_file(from),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Err(error),
            Err(error) if error.kind() == io::ErrorKind::CrossesDevices => return Err(error),
            Err(_) => {}
        }
    }
    if exists(to) {
        return Err(io::ErrorKind::AlreadyExists.into());
    }
    fs::rename(from, to)
}

/// Exchanges two files in one step; `false` where the system cannot.
pub(crate) fn exchange(a: &Path, b: &Path) -> io::Result<bool> {
    #[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
    {
        use rustix::fs::{CWD, RenameFlags, renameat_with};
        use rustix::io::Errno;
        match renameat_with(CWD, a, CWD, b, RenameFlags::EXCHANGE) {
            Err(Errno::NOSYS | Errno::INVAL | Errno::NOTSUP) => Ok(false),
            other => other.map(|()| true).map_err(io::Error::from),
        }
    }
    #[cfg(not(any(target_os = "linux", target_os = "android", target_vendor = "apple")))]
    {
        let _ = (a, b);
        Ok(false)
    }
}

/// Whether both names belong to one file. Where the system has no inodes: whether both hold the
/// same.
pub(crate) fn same_file(a: &Path, b: &Path) -> Result<bool, PlanError> {
    let (one, two) = (ContentStamp::of(a)?, ContentStamp::of(b)?);
    if one.inode.is_some() {
        return Ok(one.inode == two.inode);
    }
    Ok(one.bytes == two.bytes
        && ContentStamp::with_content(a)?.sha256 == ContentStamp::with_content(b)?.sha256)
}

/// Removes a file, if it is there.
pub(crate) fn remove_file(path: &Path) -> Result<(), PlanError> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(PlanError::io("remove", path, error)),
        _ => Ok(()),
    }
}

/// Removes a file or a directory with everything in it, if it is there. Links are removed, never
/// followed.
pub(crate) fn remove_all(path: &Path) -> Result<(), PlanError> {
    match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(PlanError::io("look at", path, error)),
        Ok(metadata) if metadata.is_dir() => {
            fs::remove_dir_all(path).map_err(|error| PlanError::io("remove", path, error))
        }
        Ok(_) => remove_file(path),
    }
}

/// Removes directories that are empty, and leaves others.
pub(crate) fn remove_if_empty(path: &Path) {
    // It is not empty, or not there: both are fine.
    let _ = fs::remove_dir(path);
}

/// The permission bits, on systems that have them.
pub(crate) fn mode_of(path: &Path) -> Result<Option<u32>, PlanError> {
    let metadata = fs::symlink_metadata(path).map_err(|error| PlanError::io("look at", path, error))?;
    #[cfg(unix)]
    let mode = Some(std::os::unix::fs::PermissionsExt::mode(&metadata.permissions()) & 0o7777);
    #[cfg(not(unix))]
    let mode = {
        let _ = metadata;
        None
    };
    Ok(mode)
}

pub(crate) fn set_mode(path: &Path, mode: Option<u32>) -> Result<(), PlanError> {
    #[cfg(unix)]
    if let Some(mode) = mode {
        let permissions = std::os::unix::fs::PermissionsExt::from_mode(mode);
        return fs::set_permissions(path, permissions)
            .map_err(|error| PlanError::io("set the mode of", path, error));
    }
    #[cfg(not(unix))]
    let _ = (path, mode);
    Ok(())
}

/// Sets the modification time. Windows does not open directories for this; theirs stay as they are.
pub(crate) fn set_modified(path: &Path, modified_ns: Option<i64>) -> Result<(), PlanError> {
    let Some(time) = modified_ns.and_then(time_of) else { return Ok(()) };
    let file = match OpenOptions::new().write(true).open(path) {
        Ok(file) => Ok(file),
        // Directories, and files that are read-only, can be opened for reading, and that is enough.
        Err(_) => File::open(path),
    };
    match file.and_then(|file| file.set_modified(time)) {
        Err(_) if cfg!(not(unix)) && path.is_dir() => Ok(()),
        other => other.map_err(|error| PlanError::io("set the time of", path, error)),
    }
}

/// Writes `content` to an empty file and to the disk; says its length and SHA-256.
pub(crate) fn write_content(
    content: &Content,
    file: &mut File,
    path: &Path,
) -> Result<(u64, String), PlanError> {
    let failed = |error| PlanError::io("write", path, error);
    match content {
        Content::Bytes(bytes) => file.write_all(bytes).map_err(failed)?,
        Content::File { path: source, expected } => {
            let mut from = open_expected(source, expected)?;
            io::copy(&mut from, file).map_err(failed)?;
        }
    }
    file.sync_all().map_err(failed)?;
    digest_at(path)
}

/// Length and SHA-256 of what `content` is now.
pub(crate) fn digest_content(content: &Content) -> Result<(u64, String), PlanError> {
    match content {
        Content::Bytes(bytes) => Ok((bytes.len() as u64, hexadecimal(&Sha256::digest(bytes)))),
        Content::File { path, expected } => {
            let mut file = open_expected(path, expected)?;
            digest_of(&mut file).map_err(|error| PlanError::io("read", path, error))
        }
    }
}

fn open_expected(path: &Path, expected: &ContentStamp) -> Result<File, PlanError> {
    let file = File::open(path).map_err(|error| PlanError::io("open", path, error))?;
    let metadata = file.metadata().map_err(|error| PlanError::io("look at", path, error))?;
    if expected.matches(&ContentStamp::of_metadata(&metadata)) {
        return Ok(file);
    }
    Err(PlanError::changed(path, "changed since the plan was made"))
}

/// Length and SHA-256 of a file.
pub(crate) fn digest_at(path: &Path) -> Result<(u64, String), PlanError> {
    let mut file = File::open(path).map_err(|error| PlanError::io("open", path, error))?;
    digest_of(&mut file).map_err(|error| PlanError::io("read", path, error))
}

/// Whether there is a plain file with this length and SHA-256.
pub(crate) fn holds(path: &Path, bytes: u64, sha256: &str) -> Result<bool, PlanError> {
    match fs::symlink_metadata(path) {
        Ok(metadata) if metadata.is_file() && metadata.len() == bytes => {
            digest_at(path).map(|(length, digest)| length == bytes && digest == sha256)
        }
        Ok(_) => Ok(false),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(PlanError::io("look at", path, error)),
    }
}

/// Copies a file, or a directory with everything in it, with modes and times, onto the disk.
/// Links are copied as links.
pub(crate) fn copy_exact(from: &Path, to: &Path) -> Result<(), PlanError> {
    copy_at(from, to, 0)?;
    sync_parent(to)
}

fn copy_at(from: &Path, to: &Path, depth: usize) -> Result<(), PlanError> {
    let metadata = fs::symlink_metadata(from).map_err(|error| PlanError::io("look at", from, error))?;
    let kind = metadata.file_type();
    if kind.is_file() {
        let mut source = File::open(from).map_err(|error| PlanError::io("open", from, error))?;
        let mut target = create_new(to, true)?;
        let copied = io::copy(&mut source, &mut target).and_then(|_| target.sync_all());
        copied.map_err(|error| PlanError::io("copy to", to, error))?;
    } else if kind.is_dir() && depth < DEEPEST {
        make_directory(to, true).map_err(|error| PlanError::io("make the directory", to, error))?;
        for name in names_in(from)? {
            copy_at(&from.join(&name), &to.join(&name), depth + 1)?;
        }
        sync_parent(&to.join("."))?;
    } else {
        return copy_link(from, to);
    }
    set_mode(to, mode_of(from)?)?;
    set_modified(to, ContentStamp::of_metadata(&metadata).modified_ns)
}

#[cfg(unix)]
fn copy_link(from: &Path, to: &Path) -> Result<(), PlanError> {
    match fs::read_link(from) {
        Ok(target) => {
            std::os::unix::fs::symlink(target, to).map_err(|error| PlanError::io("make the link", to, error))
        }
        Err(_) => Err(PlanError::NotPlain { path: from.to_owned() }),
    }
}

/// Making links needs a privilege on Windows.
#[cfg(not(unix))]
fn copy_link(from: &Path, _: &Path) -> Result<(), PlanError> {
    Err(PlanError::NotPlain { path: from.to_owned() })
}

fn names_in(directory: &Path) -> Result<Vec<std::ffi::OsString>, PlanError> {
    let failed = |error| PlanError::io("list", directory, error);
    let entries = fs::read_dir(directory).map_err(failed)?;
    let mut names: Vec<_> = entries
        .map(|entry| entry.map(|entry| entry.file_name()))
        .collect::<Result<_, _>>()
        .map_err(failed)?;
    names.sort();
    Ok(names)
}

/// Whether two files, or two directories with everything in them, are the same in content, mode
/// and modification time (of links: in where they lead).
pub(crate) fn same_tree(a: &Path, b: &Path) -> Result<bool, PlanError> {
    Ok(describe(a, 0)? == describe(b, 0)?)
}

fn describe(path: &Path, depth: usize) -> Result<Vec<String>, PlanError> {
    let metadata = fs::symlink_metadata(path).map_err(|error| PlanError::io("look at", path, error))?;
    let kind = metadata.file_type();
    if kind.is_symlink() {
        return Ok(vec![format!("link {:?}", fs::read_link(path).ok())]);
    }
    let modified = ContentStamp::of_metadata(&metadata).modified_ns;
    let mode = mode_of(path)?;
    if kind.is_file() {
        return Ok(vec![format!("file {mode:?} {modified:?} {:?}", digest_at(path)?)]);
    }
    if depth >= DEEPEST {
        return Err(PlanError::NotPlain { path: path.to_owned() });
    }
    let mut lines = vec![format!("directory {mode:?} {modified:?}")];
    for name in names_in(path)? {
        lines.push(format!("{depth} {name:?}"));
        lines.extend(describe(&path.join(&name), depth + 1)?);
    }
    Ok(lines)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test states what it expects")]
mod tests {
    use super::*;

    #[test]
    fn a_file_of_ibids_own_that_cannot_be_written_leaves_nothing_behind() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("rows-0.json");
        fs::create_dir(&path).unwrap();
        assert!(write_own(&path, b"[]").is_err());
        assert_eq!(names_in(folder.path()).unwrap(), ["rows-0.json"]);
    }

    /// A writer that died between beginning its draft and giving it its name.
    #[test]
    fn removing_a_file_of_ibids_own_removes_its_draft_too() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("rows-0.json");
        fs::write(draft_of(&path), b"[").unwrap();
        remove_own(&path).unwrap();
        assert!(names_in(folder.path()).unwrap().is_empty());
    }
}
