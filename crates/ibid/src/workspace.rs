//! The sessions of a directory.

use std::io;
use std::path::{Component, Path, PathBuf};

use ibid_harness::{Discovered, comparable_path};

/// A directory that someone named, as a program that runs in it sees its working directory: with
/// links resolved, and without `.` and `..`. Agents find their sessions again by that. It need not
/// exist.
///
/// # Errors
/// When it is empty, or the current directory is gone.
pub(crate) fn working_directory(dir: &Path) -> io::Result<PathBuf> {
    let dir = std::path::absolute(dir)?;
    // On Windows a resolved path is spelled in a way that no agent uses.
    if cfg!(unix)
        && let Ok(real) = dir.canonicalize()
    {
        return Ok(real);
    }
    let mut plain = PathBuf::new();
    for part in dir.components() {
        match part {
            Component::ParentDir => drop(plain.pop()),
            part => plain.push(part),
        }
    }
    Ok(plain)
}

/// A directory whose sessions are meant, as written and as it is behind symbolic links.
// Whole components are compared, so that /w/foo is not taken for /w/foobar:
// https://github.com/anthropics/claude-code/issues/60842 (fault 30)
pub(crate) struct Workspace(Vec<PathBuf>);

impl Workspace {
    /// The directory, which need not exist.
    pub(crate) fn new(dir: &Path) -> Workspace {
        let mut forms = vec![comparable_path(dir)];
        forms.extend(dir.canonicalize().ok().map(|real| comparable_path(&real)));
        Workspace(forms)
    }

    /// Whether a session belongs to the directory or one below it.
    pub(crate) fn holds(&self, session: &Discovered) -> bool {
        self.any(session, |cwd, dir| cwd.starts_with(dir))
    }

    /// Whether a session belongs to the directory itself.
    pub(crate) fn is_of(&self, session: &Discovered) -> bool {
        self.any(session, |cwd, dir| cwd == dir)
    }

    fn any(&self, session: &Discovered, fits: impl Fn(&Path, &Path) -> bool) -> bool {
        let Some(cwd) = &session.meta.cwd else { return false };
        let cwd = Path::new(cwd.as_str());
        let one = |cwd: &Path| self.0.iter().any(|dir| fits(cwd, dir));
        one(&comparable_path(cwd)) || cwd.canonicalize().is_ok_and(|real| one(&comparable_path(&real)))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test states what it expects")]
mod tests {
    use super::*;

    #[test]
    fn a_directory_that_is_not_there_is_taken_without_its_dots() {
        let dir = working_directory(Path::new("/not there/./a/../b")).unwrap();
        assert_eq!(dir, std::path::absolute("/not there/b").unwrap());
        let above = working_directory(Path::new("/../../not there")).unwrap();
        assert_eq!(above, std::path::absolute("/not there").unwrap());
    }

    #[cfg(unix)]
    #[test]
    fn a_link_to_a_directory_is_followed() {
        let folder = tempfile::tempdir().unwrap();
        let real = folder.path().canonicalize().unwrap().join("real");
        std::fs::create_dir(&real).unwrap();
        std::os::unix::fs::symlink(&real, folder.path().join("link")).unwrap();
        assert_eq!(working_directory(&folder.path().join("link")).unwrap(), real);
    }
}
