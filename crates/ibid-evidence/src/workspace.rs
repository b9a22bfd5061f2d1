//! The directory of a project, and whether a path that some program wrote down lies in it.
//!
//! A project has up to two spellings: the path as it was asked for, and the real one, with links
//! followed. Programs record either. Paths are compared by whole components, after Unicode
//! normalisation ([`ibid_harness::comparable_path`]), and without regard to case where they have a
//! drive letter or a server, as on Windows.

use std::collections::HashMap;
use std::io::ErrorKind;
use std::path::{Component, Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use ibid_harness::comparable_path;

use crate::{Refusal, RefusalCode};

/// The longest path that is looked at, in bytes. No system takes a longer one.
const LONGEST: usize = 4 * 1024;

/// How many recorded directories are remembered. A home of ten thousand sessions has hundreds.
const REMEMBERED: usize = 100_000;

/// A project.
#[derive(Debug)]
pub struct Workspace {
    home: PathBuf,
    logical: PathBuf,
    canonical: Option<PathBuf>,
    spellings: Vec<Spelling>,
    /// Where recorded directories lie, so that the file system is asked once for each.
    known: Mutex<HashMap<String, Option<Vec<String>>>>,
}

/// One absolute path, taken apart.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Spelling {
    /// Whether it has a drive letter or a server, and case does not count.
    windows: bool,
    /// The components, in the form in which they are compared.
    parts: Vec<String>,
}

impl Workspace {
    /// The project at `path`; `~` means `home`, and a path that is not absolute is one below the
    /// current directory. It need not exist: worktrees are deleted, and their sessions stay.
    ///
    /// # Errors
    /// When the path is blank, has a NUL, or is too long to be one.
    pub fn of(path: &Path, home: &Path) -> Result<Workspace, Refusal> {
        let refused = |message: &str| Refusal {
            code: RefusalCode::InvalidParams,
            message: format!("`workspace` {message}; name the directory of the project"),
        };
        let text = path.to_string_lossy();
        if text.trim().is_empty() {
            return Err(refused("is empty"));
        }
        if text.contains('\0') || text.len() > LONGEST {
            return Err(refused("cannot be the path of a directory"));
        }
        let text = without_verbatim(&text);
        let foreign = cfg!(not(windows)) && drive_or_server(&text);
        let logical = match foreign {
            true => PathBuf::from(&text),
            false => {
                let expanded = expand(&text, home);
                lexical(&std::path::absolute(&expanded).unwrap_or(expanded))
            }
        };
        let canonical = if foreign { None } else { real(&logical) };
        let mut spellings = Vec::new();
        for path in [Some(&logical), canonical.as_ref()].into_iter().flatten() {
            if let Some((spelling, _)) = path.to_str().and_then(take_apart)
                && !spellings.contains(&spelling)
            {
                spellings.push(spelling);
            }
        }
        Ok(Workspace { home: home.to_owned(), logical, canonical, spellings, known: Mutex::default() })
    }

    /// The path as it was asked for, absolute.
    #[must_use]
    pub fn logical(&self) -> &Path {
        &self.logical
    }

    /// The real path; of a project that was deleted, as far as its ancestors tell. None when
    /// nothing can be told.
    #[must_use]
    pub fn canonical(&self) -> Option<&Path> {
        self.canonical.as_deref()
    }

    /// Both paths, each once.
    pub(crate) fn paths(&self) -> impl Iterator<Item = &Path> {
        let other = self.canonical.as_deref().filter(|canonical| *canonical != self.logical);
        std::iter::once(self.logical.as_path()).chain(other)
    }

    /// Whether its paths have a drive letter or a server, so that case does not count.
    pub(crate) fn ignores_case(&self) -> bool {
        self.spellings.iter().any(|spelling| spelling.windows)
    }

    /// Whether a working directory that a session recorded is the project or lies in it. One that
    /// does not exist any more is compared as it is written.
    #[must_use]
    pub fn holds(&self, recorded: &str) -> bool {
        self.place_of(recorded).is_some()
    }

    /// What is known of a recorded directory without asking the file system: whether it lies in
    /// the project as it is written, or was found to lie in it, or not.
    pub(crate) fn holds_for_all_that_is_known(&self, recorded: &str) -> Option<bool> {
        let recorded = recorded.trim();
        if let Some(place) = self.known.lock().unwrap_or_else(PoisonError::into_inner).get(recorded) {
            return Some(place.is_some());
        }
        self.below(&without_verbatim(recorded)).is_some().then_some(true)
    }

    /// The components of a recorded directory below the project, when it lies in it.
    pub(crate) fn place_of(&self, recorded: &str) -> Option<Vec<String>> {
        let recorded = recorded.trim();
        if recorded.is_empty() || recorded.len() > LONGEST || recorded.contains('\0') {
            return None;
        }
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(place) = known.get(recorded) {
            return place.clone();
        }
        // The file system may take its time; others must not wait for this.
        drop(known);
        let place = self.look_up(recorded);
        known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() < REMEMBERED {
            known.insert(recorded.to_owned(), place.clone());
        }
        place
    }

    fn look_up(&self, recorded: &str) -> Option<Vec<String>> {
        let text = without_verbatim(recorded);
        if cfg!(not(windows)) && drive_or_server(&text) {
            return self.below(&text);
        }
        let path = expand(&text, &self.home);
        if !path.is_absolute() {
            return None;
        }
        let written = lexical(&path);
        written
            .to_str()
            .and_then(|text| self.below(text))
            .or_else(|| real(&path).and_then(|real| real.to_str().and_then(|text| self.below(text))))
    }

    /// What stands behind a spelling of the project in an absolute path, as it is written there.
    fn below(&self, absolute: &str) -> Option<Vec<String>> {
        let (path, names) = take_apart(absolute)?;
        self.spellings.iter().find_map(|root| {
            let inside = root.windows == path.windows && path.parts.starts_with(&root.parts);
            inside.then(|| names.get(root.parts.len()..).map(<[String]>::to_vec)).flatten()
        })
    }

    /// The components below the project of a directory that a call names; one that is not absolute
    /// is taken from `base`. None when it lies outside.
    pub(crate) fn directory(&self, path: &str, base: Option<&[String]>) -> Option<Vec<String>> {
        let path = path.trim();
        if path.starts_with(['/', '~']) || drive_or_server(&without_verbatim(path)) {
            return self.place_of(path);
        }
        let own = path.split('/').filter(|part| !part.is_empty() && *part != ".");
        let names: Vec<String> = base?.iter().cloned().chain(own.map(ToOwned::to_owned)).collect();
        (!names.iter().any(|name| name == "..") && !path.contains('\0')).then_some(names)
    }

    /// A path that a tool call names, relative to the project and with `/`: one that is not
    /// absolute is taken from `base`, the components of the directory of the call (none when that
    /// lies outside). None for the project itself, for what lies outside, and for every path with
    /// `..`: what that means depends on links that may be gone.
    pub(crate) fn rebase(&self, path: &str, base: Option<&[String]>) -> Option<String> {
        let path = path.trim();
        if path.is_empty() || path.len() > LONGEST || path.contains('\0') || path.contains('\n') {
            return None;
        }
        let path = without_verbatim(path);
        let absolute = path.starts_with('/') || drive_or_server(&path);
        let names = if absolute {
            self.below_strictly(&path)?
        } else if path == "~" || path.starts_with("~/") {
            self.below_strictly(expand(&path, &self.home).to_str()?)?
        } else {
            let split = |c: char| c == '/' || (c == '\\' && self.ignores_case());
            let own = path.split(split).filter(|part| !part.is_empty() && *part != ".");
            base?.iter().cloned().chain(own.map(ToOwned::to_owned)).collect()
        };
        if names.is_empty() || names.iter().any(|name| name == "..") {
            return None;
        }
        Some(names.join("/"))
    }

    /// As [`Workspace::below`], but nothing with `..` in it.
    fn below_strictly(&self, absolute: &str) -> Option<Vec<String>> {
        let climbs = absolute.split(['/', '\\']).any(|part| part == "..");
        if climbs { None } else { self.below(absolute) }
    }
}

/// Takes an absolute path apart: the components as they are compared, and as they are written.
fn take_apart(path: &str) -> Option<(Spelling, Vec<String>)> {
    let windows = drive_or_server(path);
    if !windows && !path.starts_with('/') {
        return None;
    }
    let separator = |c: char| c == '/' || (windows && c == '\\');
    let mut names: Vec<String> = Vec::new();
    for part in path.split(separator) {
        match part {
            "" | "." => {}
            ".." => drop(names.pop()),
            name => names.push(name.to_owned()),
        }
    }
    let compared = |name: &String| {
        let text = comparable_path(Path::new(name)).to_string_lossy().into_owned();
        if windows { text.to_lowercase() } else { text }
    };
    let parts = names.iter().map(compared).collect();
    Some((Spelling { windows, parts }, names))
}

/// Whether a path begins with a drive letter or, in the way of Windows, a server.
fn drive_or_server(path: &str) -> bool {
    match path.as_bytes() {
        [letter, b':', rest @ ..] => {
            letter.is_ascii_alphabetic() && matches!(rest.first(), None | Some(b'/' | b'\\'))
        }
        [b'\\', b'\\', rest @ ..] => !rest.is_empty(),
        _ => false,
    }
}

/// The path without the prefix by which Windows marks paths that are taken literally.
fn without_verbatim(path: &str) -> String {
    if let Some(server) = path.strip_prefix(r"\\?\UNC\") {
        return format!(r"\\{server}");
    }
    path.strip_prefix(r"\\?\").unwrap_or(path).to_owned()
}

/// `~` and `~/x` below the home; anything else as it is.
fn expand(path: &str, home: &Path) -> PathBuf {
    if path == "~" {
        return home.to_owned();
    }
    let below = path.strip_prefix("~/").or_else(|| path.strip_prefix(r"~\").filter(|_| cfg!(windows)));
    match below {
        Some(rest) => home.join(rest),
        None => PathBuf::from(path),
    }
}

/// The path without `.` and `..`, as it is written.
fn lexical(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                out.pop();
            }
            other => out.push(other),
        }
    }
    out
}

/// The path with links followed. Of what is gone, the nearest ancestor that is there counts.
fn real(path: &Path) -> Option<PathBuf> {
    let mut missing = Vec::new();
    let mut existing = path;
    loop {
        match existing.canonicalize() {
            Ok(real) => {
                let mut real = PathBuf::from(without_verbatim(real.to_str()?));
                real.extend(missing.iter().rev());
                return Some(real);
            }
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
                missing.push(existing.file_name()?.to_owned());
                existing = existing.parent()?;
            }
            Err(_) => return None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(path: &str) -> Workspace {
        Workspace::of(Path::new(path), Path::new("/home/u")).unwrap()
    }

    #[test]
    fn whole_components_decide_and_ancestors_never_match() {
        let workspace = at("/w/demo");
        assert!(workspace.holds("/w/demo"));
        assert!(workspace.holds("/w/demo/"));
        assert!(workspace.holds("/w/demo/./src/../src"));
        for outside in [
            "/w",
            "/",
            "/w/demo/../other",
            "/w/demo2",
            "/w/demo-worktree",
            "/x/w/demo",
            "w/demo",
            "",
            "  ",
            "demo",
        ] {
            assert_ne!(workspace.holds_for_all_that_is_known(outside), Some(true), "{outside}");
            assert!(!workspace.holds(outside), "{outside}");
        }
    }

    #[test]
    fn a_name_is_one_name_composed_or_decomposed() {
        assert!(at("/w/ドライブ").holds("/w/ト\u{3099}ライフ\u{3099}/src"));
        assert!(at("/w/cafe\u{301}").holds("/w/café"));
    }

    #[test]
    fn windows_paths_compare_without_case_and_with_either_separator() {
        let workspace = at(r"C:\Repo\App");
        for inside in [r"c:\repo\app", "C:/REPO/app/src", r"\\?\C:\Repo\App\src"] {
            assert!(workspace.holds(inside), "{inside}");
        }
        assert!(!workspace.holds(r"C:\Repo\App2"));
        assert!(!workspace.holds(r"C:\Repo\App\..\Other"));
        assert!(!workspace.holds("/C:/Repo/App"));
        assert!(at(r"\\srv\share\app").holds(r"\\?\UNC\SRV\share\app\x"));
        assert_eq!(workspace.rebase(r"c:\repo\app\Src\Main.rs", None).as_deref(), Some("Src/Main.rs"));
        assert_eq!(workspace.rebase(r"Src\Main.rs", Some(&[])).as_deref(), Some("Src/Main.rs"));
    }

    // evidence defect 8
    #[cfg(unix)]
    #[test]
    fn both_the_link_and_what_it_leads_to_are_the_project_even_when_it_is_gone() {
        let folder = tempfile::tempdir().unwrap();
        let real = folder.path().canonicalize().unwrap().join("real");
        std::fs::create_dir_all(real.join("demo")).unwrap();
        let link = folder.path().join("link");
        std::os::unix::fs::symlink(&real, &link).unwrap();
        for exists in [true, false] {
            if !exists {
                std::fs::remove_dir(real.join("demo")).unwrap();
            }
            let through_link = Workspace::of(&link.join("demo"), Path::new("/")).unwrap();
            let direct = Workspace::of(&real.join("demo"), Path::new("/")).unwrap();
            for workspace in [&through_link, &direct] {
                assert!(workspace.holds(link.join("demo/sub").to_str().unwrap()));
                assert!(workspace.holds(real.join("demo/sub").to_str().unwrap()));
            }
            let file = link.join("demo/a.rs");
            assert_eq!(through_link.rebase(file.to_str().unwrap(), None).as_deref(), Some("a.rs"));
            let file = real.join("demo/a.rs");
            assert_eq!(through_link.rebase(file.to_str().unwrap(), None).as_deref(), Some("a.rs"));
        }
    }

    #[test]
    fn a_path_of_a_call_is_rebased_or_dropped() {
        let workspace = at("/w/demo");
        let sub = ["sub".to_owned()];
        let rebased = |path: &str| workspace.rebase(path, Some(&sub));
        assert_eq!(rebased("/w/demo/src/a.rs").as_deref(), Some("src/a.rs"));
        assert_eq!(rebased("README.md").as_deref(), Some("sub/README.md"));
        assert_eq!(rebased("./a/b.rs").as_deref(), Some("sub/a/b.rs"));
        for dropped in ["/w/demo", "/w/demo/", "/w/other/a", "../a", "/w/demo/../x", "a\0b", "", "/w/demo2/a"]
        {
            assert_eq!(rebased(dropped), None, "{dropped:?}");
        }
        assert_eq!(workspace.rebase("README.md", None), None);
    }

    // evidence defect 11
    #[test]
    fn a_tilde_is_the_home() {
        assert_eq!(at("~/demo").logical(), Path::new("/home/u/demo"));
        assert!(at("/home/u/demo").holds("~/demo/src"));
        assert_eq!(at("/home/u/demo").rebase("~/demo/a", None).as_deref(), Some("a"));
    }

    #[test]
    fn what_is_no_path_is_refused() {
        for path in ["", "  ", "/a\0b"] {
            let refusal = Workspace::of(Path::new(path), Path::new("/")).unwrap_err();
            assert_eq!(refusal.code, RefusalCode::InvalidParams);
        }
    }
}
