//! The sessions of a directory.

use std::path::{Path, PathBuf};

use ibid_harness::{Discovered, comparable_path};

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
