//! Whether a path names a file inside a project.
//!
//! On Unix the path is walked from the open directory of the project, one component after the
//! other, without following links: a link to a directory is read, and what it says is walked in
//! the same way, so that it can never lead out, however it is changed meanwhile. Elsewhere the
//! components are looked at one by one, and the real path is compared with that of the project.

use std::cell::RefCell;
use std::collections::HashMap;
#[cfg(not(unix))]
use std::path::PathBuf;

use crate::workspace::Workspace;

/// The longest path that is looked at, in bytes.
const LONGEST: usize = 4 << 10;

/// A project whose files can be looked at.
pub(crate) struct Project {
    #[cfg(unix)]
    root: Option<unix::Root>,
    #[cfg(not(unix))]
    root: Option<PathBuf>,
    /// What was found of each path: many sessions of a project touch the same files.
    found: RefCell<HashMap<String, bool>>,
}

impl Project {
    /// The project as it is now. One that is gone has no files.
    pub(crate) fn of(workspace: &Workspace) -> Project {
        #[cfg(unix)]
        let root = unix::Root::open(workspace);
        #[cfg(not(unix))]
        let root = workspace.logical().canonicalize().ok();
        Project { root, found: RefCell::default() }
    }

    /// Whether a path, relative and with `/`, names a regular file of the project that has no
    /// other name.
    pub(crate) fn has_file(&self, path: &str) -> bool {
        if let Some(found) = self.found.borrow().get(path) {
            return *found;
        }
        let found = self.look_for(path);
        self.found.borrow_mut().insert(path.to_owned(), found);
        found
    }

    fn look_for(&self, path: &str) -> bool {
        let Some(root) = &self.root else { return false };
        let Some(names) = components(path) else { return false };
        #[cfg(unix)]
        return root.has_file(&names);
        #[cfg(not(unix))]
        return elsewhere::has_file(root, &names);
    }
}

/// The components of a relative path; none when it is anything else, or could be read as anything
/// else.
fn components(path: &str) -> Option<Vec<&str>> {
    let windows = cfg!(windows) && path.contains(['\\', ':']);
    if path.is_empty() || path.len() > LONGEST || path.contains('\0') || windows {
        return None;
    }
    let names: Vec<&str> = path.split('/').collect();
    let plain = |name: &&str| !matches!(*name, "" | "." | "..") && !is_git(name);
    names.iter().all(plain).then_some(names)
}

/// Whether a name is `.git` to any file system: without regard to case, to dots and spaces at the
/// end, to characters that some ignore, and by its short name.
fn is_git(name: &str) -> bool {
    let ignored = |c: &char| !matches!(*c, '\u{200c}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{206a}'..='\u{206f}' | '\u{feff}');
    let bare: String = name.chars().filter(ignored).collect();
    let bare = bare.split(':').next().unwrap_or_default().trim_end_matches(['.', ' ']);
    bare.eq_ignore_ascii_case(".git") || bare.eq_ignore_ascii_case("git~1")
}

#[cfg(unix)]
mod unix {
    use std::collections::VecDeque;
    use std::ffi::OsStr;
    use std::os::fd::OwnedFd;
    use std::os::unix::ffi::OsStrExt;
    use std::path::{Component, Path, PathBuf};

    use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, openat, readlinkat, statat};
    use rustix::io::Errno;

    use super::is_git;
    use crate::workspace::Workspace;

    /// How many links are followed on the way to one file.
    const LINKS: usize = 40;

    /// The open directory of a project, and the paths that lead to it.
    pub(super) struct Root {
        directory: OwnedFd,
        paths: Vec<PathBuf>,
    }

    fn open(
        at: impl std::os::fd::AsFd,
        name: impl rustix::path::Arg,
        links: OFlags,
    ) -> Result<OwnedFd, Errno> {
        #[cfg(target_os = "linux")]
        let kind = OFlags::PATH;
        #[cfg(not(target_os = "linux"))]
        let kind = OFlags::RDONLY | OFlags::NONBLOCK;
        openat(at, name, kind | OFlags::DIRECTORY | OFlags::CLOEXEC | links, Mode::empty())
    }

    /// The open directories on the way; the project's own is below all of them.
    struct Way<'a> {
        root: &'a OwnedFd,
        inside: Vec<OwnedFd>,
    }

    impl Way<'_> {
        fn here(&self) -> &OwnedFd {
            self.inside.last().unwrap_or(self.root)
        }
    }

    impl Root {
        pub(super) fn open(workspace: &Workspace) -> Option<Root> {
            let directory = open(CWD, workspace.logical(), OFlags::empty()).ok()?;
            Some(Root { directory, paths: workspace.paths().map(ToOwned::to_owned).collect() })
        }

        pub(super) fn has_file(&self, names: &[&str]) -> bool {
            let Some((file, directories)) = names.split_last() else { return false };
            let mut way = Way { root: &self.directory, inside: Vec::new() };
            let mut left: VecDeque<PathBuf> = directories.iter().map(PathBuf::from).collect();
            let mut links = 0;
            while let Some(name) = left.pop_front() {
                match open(way.here(), &name, OFlags::NOFOLLOW) {
                    Ok(directory) => way.inside.push(directory),
                    // A link is no directory, whatever it leads to.
                    Err(Errno::LOOP | Errno::NOTDIR | Errno::MLINK) => {
                        links += 1;
                        let target = readlinkat(way.here(), &name, Vec::new());
                        let (Ok(target), true) = (target, links <= LINKS) else { return false };
                        let target = Path::new(OsStr::from_bytes(target.as_bytes()));
                        if !self.follow(target, &mut way, &mut left) {
                            return false;
                        }
                    }
                    Err(_) => return false,
                }
            }
            let Ok(stat) = statat(way.here(), *file, AtFlags::SYMLINK_NOFOLLOW) else { return false };
            // A file with a second name may be one of another place.
            FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile && stat.st_nlink == 1
        }

        /// Puts what a link says before what is left of the way; whether that stays inside.
        fn follow(&self, target: &Path, way: &mut Way<'_>, left: &mut VecDeque<PathBuf>) -> bool {
            let below = match target.is_absolute() {
                true => {
                    let Some(below) = self.paths.iter().find_map(|root| target.strip_prefix(root).ok())
                    else {
                        return false;
                    };
                    way.inside.clear();
                    below
                }
                false => target,
            };
            let mut names = Vec::new();
            for component in below.components() {
                match component {
                    Component::CurDir => {}
                    // What was opened is left again; a name that was not yet opened may be a link.
                    Component::ParentDir if names.is_empty() => {
                        if way.inside.pop().is_none() {
                            return false;
                        }
                    }
                    Component::Normal(name) if !is_git(&name.to_string_lossy()) => {
                        names.push(PathBuf::from(name));
                    }
                    _ => return false,
                }
            }
            for name in names.into_iter().rev() {
                left.push_front(name);
            }
            true
        }
    }
}

#[cfg(not(unix))]
mod elsewhere {
    use std::path::Path;

    /// Whether the components lead to a regular file below `root`, without a link on the way.
    pub(super) fn has_file(root: &Path, names: &[&str]) -> bool {
        let mut path = root.to_owned();
        for (at, name) in names.iter().enumerate() {
            path.push(name);
            let Ok(metadata) = path.symlink_metadata() else { return false };
            let last = at + 1 == names.len();
            let expected = if last { metadata.is_file() } else { metadata.is_dir() };
            if !expected || metadata.is_symlink() {
                return false;
            }
        }
        path.canonicalize().is_ok_and(|real| real.starts_with(root))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn git_is_known_under_every_name() {
        for name in [".git", ".GIT", ".git.", ".git ", "git~1", ".g\u{200c}it", ".git::$INDEX_ALLOCATION"] {
            assert!(is_git(name), "{name:?}");
        }
        for name in [".gitignore", ".github", "git", "x.git"] {
            assert!(!is_git(name), "{name:?}");
        }
    }

    #[test]
    fn only_plain_relative_paths_are_looked_at() {
        for path in ["", "/a", "a//b", "./a", "a/..", "../a", "a/./b", ".git/config", "a/.Git/x", "a\0", "a/"]
        {
            assert_eq!(components(path), None, "{path:?}");
        }
        assert_eq!(components("a/b.rs"), Some(vec!["a", "b.rs"]));
    }
}
