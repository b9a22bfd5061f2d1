//! Proof that nothing was touched.

use std::collections::BTreeMap;
use std::fs::{self, Metadata};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use sha2::{Digest, Sha256};

/// Everything below a folder at one moment: which files and folders there are, and of each its
/// size, inode, time of the last write, mode, and the SHA-256 of its content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Snapshot {
    root: PathBuf,
    entries: BTreeMap<PathBuf, Entry>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Entry {
    kind: Kind,
    size: u64,
    modified_ns: Option<u128>,
    inode: u64,
    mode: u32,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Kind {
    Folder,
    Link(PathBuf),
    File(String),
    Other,
}

impl Snapshot {
    /// What is below `root` now; nothing when it is not there.
    #[must_use]
    pub fn of(root: &Path) -> Snapshot {
        let mut entries = BTreeMap::new();
        let mut waiting = vec![root.to_owned()];
        while let Some(path) = waiting.pop() {
            let Ok(metadata) = fs::symlink_metadata(&path) else { continue };
            let kind = if metadata.is_dir() {
                let children = fs::read_dir(&path);
                waiting.extend(children.into_iter().flatten().flatten().map(|child| child.path()));
                Kind::Folder
            } else if metadata.is_symlink() {
                Kind::Link(fs::read_link(&path).unwrap_or_default())
            } else if metadata.is_file() {
                Kind::File(fs::read(&path).map_or_else(|error| error.to_string(), |bytes| digest(&bytes)))
            } else {
                Kind::Other
            };
            let below = path.strip_prefix(root).unwrap_or(&path).to_owned();
            entries.insert(below, Entry::of(&metadata, kind));
        }
        Snapshot { root: root.to_owned(), entries }
    }

    /// What differs from an earlier snapshot, one line each; empty when nothing does.
    #[must_use]
    pub fn differences_from(&self, earlier: &Snapshot) -> Vec<String> {
        let mut differences = Vec::new();
        for (path, before) in &earlier.entries {
            match self.entries.get(path) {
                None => differences.push(format!("gone: {}", path.display())),
                Some(now) if now != before => {
                    differences.push(format!("changed: {}: {before:?} is now {now:?}", path.display()));
                }
                Some(_) => {}
            }
        }
        let new = self.entries.keys().filter(|path| !earlier.entries.contains_key(*path));
        differences.extend(new.map(|path| format!("new: {}", path.display())));
        differences
    }

    /// Fails the test when anything differs from an earlier snapshot.
    ///
    /// # Panics
    /// Then, with the list of differences.
    #[track_caller]
    pub fn assert_same_as(&self, earlier: &Snapshot) {
        let differences = self.differences_from(earlier);
        assert!(differences.is_empty(), "below {}:\n{}", self.root.display(), differences.join("\n"));
    }
}

impl Entry {
    fn of(metadata: &Metadata, kind: Kind) -> Entry {
        let modified = metadata.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
        #[cfg(unix)]
        let (inode, mode) = {
            use std::os::unix::fs::MetadataExt;
            (metadata.ino(), metadata.mode())
        };
        #[cfg(not(unix))]
        let (inode, mode) = (0, u32::from(metadata.permissions().readonly()));
        let size = if metadata.is_dir() { 0 } else { metadata.len() };
        Entry { kind, size, modified_ns: modified.map(|time| time.as_nanos()), inode, mode }
    }
}

fn digest(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use crate::Home;

    #[test]
    fn a_write_a_new_file_and_a_lost_one_are_seen_and_reading_is_not() {
        let home = Home::new().with_file("a", "1").with_file("b/c", "2");
        let before = home.snapshot();
        std::fs::read(home.path().join("a")).expect("it is there");
        home.snapshot().assert_same_as(&before);
        std::fs::remove_file(home.path().join("b/c")).expect("it is there");
        let home = home.with_file("a", "3").with_file("d", "");
        let differences = home.snapshot().differences_from(&before).join("\n");
        for difference in ["changed: a", "gone: b/c", "new: d", "changed: b"] {
            assert!(differences.contains(difference), "{differences}");
        }
    }
}
