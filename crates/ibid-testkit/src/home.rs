//! Throw-away homes.

use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::Snapshot;

/// A home that is deleted when the value goes.
#[derive(Debug)]
pub struct Home {
    folder: TempDir,
}

impl Default for Home {
    fn default() -> Home {
        Home::new()
    }
}

impl Home {
    /// An empty home.
    #[must_use]
    pub fn new() -> Home {
        let folder = tempfile::Builder::new().prefix("ibid-home-").tempdir();
        Home { folder: folder.expect("a temporary folder can be made") }
    }

    /// Where it lies.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// The folder of all fixtures.
    #[must_use]
    pub fn fixtures() -> PathBuf {
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        here.ancestors().nth(2).unwrap_or(here).join("fixtures")
    }

    /// The same home with the files of `fixtures/<harness>/<version>/` that lie in folders whose
    /// names begin with a dot, at the same places below the home; where there is a `project/`,
    /// with its files as if the home were that project; and, where there is an `opencode.sql`,
    /// with the database made from it.
    #[must_use]
    pub fn with(self, harness: &str, version: &str) -> Home {
        let source = Home::fixtures().join(harness).join(version);
        let entries = fs::read_dir(&source);
        let entries = entries.unwrap_or_else(|error| panic!("no fixtures at {}: {error}", source.display()));
        for entry in entries {
            let entry = entry.expect("a folder of fixtures can be listed");
            if entry.file_name().to_string_lossy().starts_with('.') {
                copy(&entry.path(), &self.path().join(entry.file_name()));
            }
        }
        let project = source.join("project");
        if project.is_dir() {
            copy(&project, self.path());
        }
        let dump = source.join("opencode.sql");
        if dump.is_file() {
            self.make_database(&dump);
        }
        self
    }

    /// The same home with one folder (or file) of the fixtures at another place.
    #[must_use]
    pub fn with_tree(self, fixture: &str, place: &str) -> Home {
        copy(&Home::fixtures().join(fixture), &self.path().join(place));
        self
    }

    /// The same home with OpenCode's database made from a dump of the fixtures, such as
    /// `opencode/1.18.33/opencode-tools.sql`.
    #[must_use]
    pub fn with_opencode(self, dump: &str) -> Home {
        self.make_database(&Home::fixtures().join(dump));
        self
    }

    /// The same home with one file.
    #[must_use]
    pub fn with_file(self, place: &str, content: impl AsRef<[u8]>) -> Home {
        let path = self.path().join(place);
        make_parent(&path);
        fs::write(&path, content).expect("a file can be written");
        self
    }

    /// Everything below the home as it is now.
    #[must_use]
    pub fn snapshot(&self) -> Snapshot {
        Snapshot::of(self.path())
    }

    /// All files below a place of the home, sorted by path.
    #[must_use]
    pub fn files(&self, place: &str) -> Vec<PathBuf> {
        let mut files = Vec::new();
        let mut folders = vec![self.path().join(place)];
        while let Some(folder) = folders.pop() {
            let Ok(entries) = fs::read_dir(folder) else { continue };
            for path in entries.flatten().map(|entry| entry.path()) {
                if path.is_dir() { folders.push(path) } else { files.push(path) }
            }
        }
        files.sort();
        files
    }

    fn make_database(&self, dump: &Path) {
        let path = self.path().join(".local/share/opencode/opencode.db");
        make_parent(&path);
        let sql = fs::read_to_string(dump);
        let sql = sql.unwrap_or_else(|error| panic!("no dump at {}: {error}", dump.display()));
        let database = rusqlite::Connection::open(&path).expect("a database can be made");
        database.execute_batch(&sql).expect("the dump is SQL");
    }
}

fn make_parent(path: &Path) {
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent).expect("a folder can be made");
    }
}

fn copy(from: &Path, to: &Path) {
    if !from.is_dir() {
        make_parent(to);
        fs::copy(from, to).unwrap_or_else(|error| panic!("cannot copy {}: {error}", from.display()));
        return;
    }
    fs::create_dir_all(to).expect("a folder can be made");
    for entry in fs::read_dir(from).expect("a folder of fixtures can be listed") {
        let entry = entry.expect("a folder of fixtures can be listed");
        copy(&entry.path(), &to.join(entry.file_name()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_home_has_the_files_of_a_version_where_the_harness_keeps_them() {
        let home = Home::new().with("pi", "1.6.0").with("pi", "hand-written");
        let files = home.files(".pi/agent/sessions");
        assert!(files.len() > 9, "{files:?}");
        assert!(home.files("").iter().all(|file| !file.ends_with("PROVENANCE.md")));
    }

    #[test]
    fn a_dump_becomes_a_database() {
        let home = Home::new().with("opencode", "1.18.33");
        let path = home.path().join(".local/share/opencode/opencode.db");
        let database = rusqlite::Connection::open(path).expect("it opens");
        let sessions: i64 =
            database.query_row("select count(*) from session", [], |row| row.get(0)).expect("it counts");
        assert!(sessions > 0);
    }
}
