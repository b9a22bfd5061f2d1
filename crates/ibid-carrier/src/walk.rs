//! Which files lie in a store.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::fs::{self, DirEntry, Metadata};
use std::io;
use std::path::{Path, PathBuf};

use ibid_model::{Finding, FindingKind};
use rayon::prelude::*;

use crate::FileStamp;
use crate::findings::{report, report_all};

/// What to list.
#[derive(Clone, Copy, Debug)]
pub struct WalkOptions<'a> {
    /// What the names of the files end in, without the first dot (`jsonl`, `jsonl.zst`); every
    /// file when there is none.
    pub extensions: &'a [&'a str],
    /// How many directories deep: 0 lists the files of the root alone.
    pub max_depth: usize,
    /// Names of directories that are not entered.
    pub skip_dirs: &'a [&'a str],
    /// How many files are listed at most; that there are more is a finding.
    pub max_files: usize,
}

impl Default for WalkOptions<'_> {
    /// Every file, 32 directories deep, two million at most.
    fn default() -> Self {
        WalkOptions { extensions: &[], max_depth: 32, skip_dirs: &[], max_files: 2_000_000 }
    }
}

/// One file of a store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileEntry {
    /// Its path, which begins with the root as it was given.
    pub path: PathBuf,
    /// What the file system says of it.
    pub stamp: FileStamp,
}

/// Lists the files below `root`, sorted by path, each real file once.
///
/// Directories that are links are followed when they lead to a place below the root that would
/// not be listed anyway, so that no circle can catch the walk; a link that leads out of the root
/// is reported and not followed. A root that is a link itself is followed. When nothing is at
/// `root`, the list is empty and there is no finding: absence is no fault. What cannot be read
/// is a finding, and the rest is listed.
#[must_use]
pub fn list_files(root: &Path, options: &WalkOptions<'_>) -> (Vec<FileEntry>, Vec<Finding>) {
    let mut walk = Walk {
        options,
        files: Vec::new(),
        entered: HashSet::new(),
        links: Vec::new(),
        followed: false,
        findings: Vec::new(),
    };
    match fs::metadata(root) {
        Ok(metadata) if metadata.is_dir() => {
            walk.enter(Named { path: root.to_owned(), place: root.to_owned() }, 0);
            walk.follow_links(root);
        }
        Ok(_) => report(&mut walk.findings, unreadable(root, "not a directory")),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => report(&mut walk.findings, unreadable_because(root, &error)),
    }
    walk.finish(root)
}

struct Walk<'a> {
    options: &'a WalkOptions<'a>,
    files: Vec<Found>,
    /// The places of the directories that were listed.
    entered: HashSet<PathBuf>,
    /// The links that were met, and how deep.
    links: Vec<(Named, usize)>,
    /// Whether a link was followed, so that a file may have been met on two ways.
    followed: bool,
    findings: Vec<Finding>,
}

/// A directory or link.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Named {
    /// Its path as it was come by.
    path: PathBuf,
    /// The path that leads there without links below the root.
    place: PathBuf,
}

impl Named {
    /// What stands in this directory under a name.
    fn join(&self, name: &OsStr) -> Named {
        Named { path: self.path.join(name), place: self.place.join(name) }
    }
}

/// A file, and whether it has more than one name.
struct Found {
    entry: FileEntry,
    shared: bool,
}

/// What one directory holds.
#[derive(Default)]
struct Listing {
    files: Vec<Found>,
    directories: Vec<Named>,
    links: Vec<Named>,
    findings: Vec<Finding>,
}

impl Walk<'_> {
    /// Lists a directory and what lies below it, level by level, each level on several threads.
    /// What was listed before is left out.
    fn enter(&mut self, directory: Named, depth: usize) {
        let mut level = vec![directory];
        for depth in depth..=self.options.max_depth {
            level.retain(|directory| self.entered.insert(directory.place.clone()));
            let listings: Vec<Listing> =
                level.par_iter().map(|directory| list(directory, self.options)).collect();
            level = Vec::new();
            for listing in listings {
                self.files.extend(listing.files);
                level.extend(listing.directories);
                self.links.extend(listing.links.into_iter().map(|link| (link, depth)));
                report_all(&mut self.findings, listing.findings);
            }
            if level.is_empty() || self.files.len() > self.options.max_files {
                return;
            }
        }
    }

    /// Follows the links that were met, after all that lies there without them.
    fn follow_links(&mut self, root: &Path) {
        let real_root = match root.canonicalize() {
            Ok(real_root) => real_root,
            Err(error) => return report(&mut self.findings, unreadable_because(root, &error)),
        };
        while !self.links.is_empty() && self.files.len() <= self.options.max_files {
            let mut links = std::mem::take(&mut self.links);
            links.sort();
            for (link, depth) in links {
                self.follow(link, depth, root, &real_root);
            }
        }
    }

    fn follow(&mut self, link: Named, depth: usize, root: &Path, real_root: &Path) {
        let target = link.path.canonicalize().and_then(|to| fs::metadata(&to).map(|metadata| (to, metadata)));
        let (target, metadata) = match target {
            Ok(found) => found,
            Err(error) => {
                if self.wants(&link.path) || error.kind() != io::ErrorKind::NotFound {
                    report(&mut self.findings, unreadable_because(&link.path, &error));
                }
                return;
            }
        };
        if !metadata.is_dir() && !self.wants(&link.path) {
            return;
        }
        let Ok(below) = target.strip_prefix(real_root) else {
            return self.not_followed(&link.path, "it leads out of the store");
        };
        let place = root.join(below);
        if metadata.is_file() {
            self.followed = true;
            let entry = FileEntry { path: link.path, stamp: FileStamp::of(&metadata) };
            let listed =
                self.wants(&place) && place.parent().is_some_and(|parent| self.entered.contains(parent));
            if !listed {
                self.files.push(Found { entry, shared: true });
            }
        } else if metadata.is_dir() && link.place.starts_with(&place) {
            self.not_followed(&link.path, "it leads back to a directory that holds it");
        } else if metadata.is_dir() && depth < self.options.max_depth {
            self.followed = true;
            self.enter(Named { path: link.path, place }, depth + 1);
        }
    }

    fn wants(&self, path: &Path) -> bool {
        wants(path, self.options)
    }

    fn not_followed(&mut self, link: &Path, why: &str) {
        report(&mut self.findings, Finding::new(FindingKind::LinkNotFollowed, why).at_path(link));
    }

    fn finish(mut self, root: &Path) -> (Vec<FileEntry>, Vec<Finding>) {
        self.files.sort_by(|a, b| a.entry.path.cmp(&b.entry.path));
        let mut seen = HashSet::new();
        self.files.retain(|found| {
            let stamp = &found.entry.stamp;
            // Only Unix says for sure which names are of one file.
            let once = !found.shared && !self.followed;
            cfg!(not(unix)) || once || seen.insert((stamp.device, stamp.inode))
        });
        if self.files.len() > self.options.max_files {
            self.files.truncate(self.options.max_files);
            let detail = format!("more than {} files; the rest is not listed", self.options.max_files);
            report(&mut self.findings, Finding::new(FindingKind::Oversize, detail).at_path(root));
        }
        (self.files.into_iter().map(|found| found.entry).collect(), self.findings)
    }
}

fn list(directory: &Named, options: &WalkOptions<'_>) -> Listing {
    let mut listing = Listing::default();
    let entries = match fs::read_dir(&directory.path) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return listing,
        Err(error) => {
            listing.findings.push(unreadable_because(&directory.path, &error));
            return listing;
        }
    };
    for entry in entries {
        let outcome = entry.and_then(|entry| sort_in(&entry, directory, options, &mut listing));
        match outcome {
            Ok(()) => {}
            // Gone since the directory was read.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => listing.findings.push(unreadable_because(&directory.path, &error)),
        }
    }
    listing
}

/// Puts one entry of a directory where it belongs.
fn sort_in(
    entry: &DirEntry,
    directory: &Named,
    options: &WalkOptions<'_>,
    listing: &mut Listing,
) -> io::Result<()> {
    let path = entry.path();
    let kind = entry.file_type()?;
    if kind.is_dir() || kind.is_symlink() {
        let name = entry.file_name();
        if options.skip_dirs.iter().any(|skipped| name == **skipped) {
            return Ok(());
        }
        let list = if kind.is_dir() { &mut listing.directories } else { &mut listing.links };
        list.push(directory.join(&name));
    } else if wants(&path, options) {
        if kind.is_file() {
            let metadata = entry.metadata()?;
            let stamp = FileStamp::of(&metadata);
            listing
                .files
                .push(Found { entry: FileEntry { path, stamp }, shared: has_several_names(&metadata) });
        } else {
            listing.findings.push(unreadable(&path, "not a regular file"));
        }
    }
    Ok(())
}

fn wants(path: &Path, options: &WalkOptions<'_>) -> bool {
    let Some(name) = path.file_name() else { return false };
    let name = name.as_encoded_bytes();
    options.extensions.is_empty()
        || options
            .extensions
            .iter()
            .any(|extension| name.strip_suffix(extension.as_bytes()).is_some_and(|stem| stem.ends_with(b".")))
}

#[cfg(unix)]
fn has_several_names(metadata: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    metadata.nlink() > 1
}

#[cfg(not(unix))]
fn has_several_names(_: &Metadata) -> bool {
    false
}

fn unreadable(path: &Path, why: &str) -> Finding {
    Finding::new(FindingKind::Unreadable, why).at_path(path)
}

/// The finding for what the operating system said about a path.
pub(crate) fn unreadable_because(path: &Path, error: &io::Error) -> Finding {
    match error.kind() {
        io::ErrorKind::NotFound => unreadable(path, "a link that leads nowhere"),
        kind => unreadable(path, &kind.to_string()),
    }
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    /// A store with the given files, and what is listed of it.
    fn store(files: &[&str]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for file in files {
            let path = folder.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "{}\n").unwrap();
        }
        folder
    }

    fn listed(root: &Path, options: &WalkOptions<'_>) -> (Vec<String>, Vec<(FindingKind, String)>) {
        let (files, findings) = list_files(root, options);
        let below = |path: &Path| path.strip_prefix(root).unwrap().to_string_lossy().into_owned();
        let findings =
            findings.iter().map(|f| (f.kind, below(Path::new(f.path.as_ref().unwrap().as_str())))).collect();
        (files.iter().map(|file| below(&file.path)).collect(), findings)
    }

    const JSONL: WalkOptions<'static> = WalkOptions {
        extensions: &["jsonl", "jsonl.zst"],
        max_depth: 8,
        skip_dirs: &["memory"],
        max_files: 100,
    };

    #[test]
    fn files_are_listed_by_extension_in_order_and_without_skipped_directories() {
        let store =
            store(&["b/2.jsonl", "a/1.jsonl.zst", "a/x.json", "a/jsonl", "memory/3.jsonl", "0.jsonl"]);
        assert_eq!(listed(store.path(), &JSONL).0, ["0.jsonl", "a/1.jsonl.zst", "b/2.jsonl"]);
        let flat = WalkOptions { max_depth: 0, ..JSONL };
        assert_eq!(listed(store.path(), &flat).0, ["0.jsonl"]);
    }

    #[test]
    fn an_absent_store_is_no_finding_and_a_file_in_its_place_is_one() {
        let store = store(&["file"]);
        assert_eq!(list_files(&store.path().join("no"), &JSONL), (vec![], vec![]));
        assert_eq!(list_files(&store.path().join("file"), &JSONL).1[0].kind, FindingKind::Unreadable);
    }

    // https://github.com/anthropics/claude-code/issues/59393 (fault 31)
    #[test]
    fn a_project_directory_that_is_a_link_shows_each_file_once() {
        let store = store(&["-x-y/1.jsonl"]);
        symlink("-x-y", store.path().join("-a-b")).unwrap();
        symlink("1.jsonl", store.path().join("-x-y/2.jsonl")).unwrap();
        assert_eq!(listed(store.path(), &JSONL), (vec!["-x-y/1.jsonl".to_owned()], vec![]));
    }

    // https://github.com/anthropics/claude-code/issues/59393 (fault 31)
    #[test]
    fn a_link_to_what_would_not_be_listed_is_followed_once() {
        let store = store(&["memory/kept/1.jsonl"]);
        symlink("memory/kept", store.path().join("-a")).unwrap();
        symlink("memory/kept", store.path().join("-b")).unwrap();
        assert_eq!(listed(store.path(), &JSONL), (vec!["-a/1.jsonl".to_owned()], vec![]));
    }

    #[test]
    fn links_that_meet_in_a_directory_that_is_not_listed_otherwise_show_each_file_once() {
        let store = store(&["memory/kept/1.jsonl", "memory/2.jsonl"]);
        symlink("memory/kept", store.path().join("-a")).unwrap();
        symlink("..", store.path().join("memory/kept/up")).unwrap();
        symlink("memory/kept/1.jsonl", store.path().join("0.jsonl")).unwrap();
        let (files, findings) = listed(store.path(), &JSONL);
        assert_eq!(files, ["-a/1.jsonl"]);
        assert_eq!(findings, [(FindingKind::LinkNotFollowed, "-a/up".to_owned())]);
    }

    #[test]
    fn a_root_that_is_a_link_is_followed() {
        let store = store(&["real/p/1.jsonl"]);
        let root = store.path().join("root");
        symlink("real", &root).unwrap();
        assert_eq!(listed(&root, &JSONL).0, ["p/1.jsonl"]);
    }

    #[test]
    fn links_in_a_circle_and_links_out_are_reported_and_not_followed() {
        let elsewhere = store(&["secret/1.jsonl", "2.jsonl"]);
        let store = store(&["p/1.jsonl"]);
        symlink("..", store.path().join("p/up")).unwrap();
        symlink(elsewhere.path().join("secret"), store.path().join("q")).unwrap();
        symlink(elsewhere.path().join("2.jsonl"), store.path().join("p/2.jsonl")).unwrap();
        let (files, findings) = listed(store.path(), &JSONL);
        assert_eq!(files, ["p/1.jsonl"]);
        let not_followed = |path: &str| (FindingKind::LinkNotFollowed, path.to_owned());
        assert_eq!(findings, [not_followed("p/2.jsonl"), not_followed("p/up"), not_followed("q")]);
    }

    // https://github.com/can1357/oh-my-pi/issues/11476 (fault 39)
    #[test]
    fn what_cannot_be_read_is_reported_and_the_rest_is_listed() {
        let store = store(&["a/1.jsonl", "locked/2.jsonl"]);
        symlink("nowhere", store.path().join("a/3.jsonl")).unwrap();
        let locked = store.path().join("locked");
        fs::set_permissions(&locked, fs::Permissions::from_mode(0o000)).unwrap();
        let unreadable = fs::read_dir(&locked).is_err();
        let (files, findings) = listed(store.path(), &JSONL);
        fs::set_permissions(&locked, fs::Permissions::from_mode(0o700)).unwrap();
        assert!(files.contains(&"a/1.jsonl".to_owned()));
        assert!(findings.contains(&(FindingKind::Unreadable, "a/3.jsonl".to_owned())));
        // The superuser may read everything.
        assert_eq!(findings.contains(&(FindingKind::Unreadable, "locked".to_owned())), unreadable);
    }

    #[test]
    fn a_file_with_two_names_is_listed_once() {
        let store = store(&["a/1.jsonl"]);
        fs::hard_link(store.path().join("a/1.jsonl"), store.path().join("a/2.jsonl")).unwrap();
        assert_eq!(listed(store.path(), &JSONL).0, ["a/1.jsonl"]);
    }

    #[test]
    fn more_files_than_wanted_are_a_finding() {
        let store = store(&["1.jsonl", "2.jsonl", "3.jsonl"]);
        let (files, findings) = listed(store.path(), &WalkOptions { max_files: 2, ..JSONL });
        assert_eq!(files, ["1.jsonl", "2.jsonl"]);
        assert_eq!(findings[0].0, FindingKind::Oversize);
    }
}
