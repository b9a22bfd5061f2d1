//! From steps to changes: everything that can be refused is refused here, before anything is
//! written.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use super::changes::{
    Append, Before, Change, CloseEntry, Create, Directory, Insert, Replace, Restore, TrashFile, TrashRows,
};
use super::place::Roots;
use super::{Content, ContentStamp, Plan, PlanError, Policy, Step, files};
use crate::sqlite::write::Existing;
use crate::trash::{SIBLING, Trash, TrashItem, is_sibling};

/// Room that a commit needs besides contents: journal, directories, the database's own log.
const MARGIN: u64 = 256 * 1024;

/// Where one commit keeps its own files.
pub(super) struct Layout<'a> {
    pub(super) id: &'a str,
    pub(super) data_dir: &'a Path,
    pub(super) journal: PathBuf,
}

impl Layout<'_> {
    fn backup(&self, step: usize) -> PathBuf {
        self.data_dir.join("backups").join(self.id).join(step.to_string())
    }

    fn trash(&self) -> PathBuf {
        Trash::new(self.data_dir).directory_of(self.id)
    }
}

struct Preparation<'a> {
    layout: &'a Layout<'a>,
    policy: &'a Policy,
    roots: Roots,
    /// Directories that earlier steps make.
    made: BTreeSet<PathBuf>,
    /// Files that earlier steps make or change.
    taken: BTreeSet<PathBuf>,
    /// Paths that earlier steps free.
    freed: BTreeSet<PathBuf>,
    /// What earlier steps restore.
    restored: BTreeSet<PathBuf>,
    /// Bytes that go to each file system, named by one of its directories.
    room: BTreeMap<(u64, PathBuf), u64>,
}

/// The changes that `plan` comes down to.
pub(super) fn prepare(plan: &Plan, policy: &Policy, layout: &Layout<'_>) -> Result<Vec<Change>, PlanError> {
    let mut preparation = Preparation {
        layout,
        policy,
        roots: Roots::new(&policy.roots)?,
        made: BTreeSet::new(),
        taken: BTreeSet::new(),
        freed: BTreeSet::new(),
        restored: BTreeSet::new(),
        room: BTreeMap::new(),
    };
    let mut changes: Vec<Change> = plan
        .steps
        .iter()
        .enumerate()
        .map(|(at, step)| preparation.change(at, step))
        .collect::<Result<_, _>>()?;
    let mut inserted = BTreeSet::new();
    for change in changes.iter_mut().rev() {
        match change {
            Change::Insert(change) => drop(inserted.insert(change.database.clone())),
            Change::TrashRows(change) => change.superseded = inserted.contains(&change.database),
            _ => {}
        }
    }
    Ok(changes)
}

impl Preparation<'_> {
    fn change(&mut self, at: usize, step: &Step) -> Result<Change, PlanError> {
        match step {
            Step::MakeDirectory { path, private } => self.directory(path, *private),
            Step::CreateFile { path, content, private } => self.create(at, path, content, *private),
            Step::AppendFile { path, expected, content } => self.append(at, path, expected, content),
            Step::ReplaceFile { path, expected, content, private } => {
                let path = self.plain_file(path)?;
                let before = self.expected_file(&path, Some(expected))?;
                self.replace(at, path, before, content, *private)
            }
            Step::InsertRows { database, refuse_existing, .. } => {
                let existing = match (*refuse_existing, self.policy.replace_existing) {
                    (false, _) => Existing::Keep,
                    (true, true) => Existing::Replace,
                    (true, false) => Existing::Refuse,
                };
                self.insert(at, step, database, existing)
            }
            Step::RestoreRows { database, .. } => self.insert(at, step, database, Existing::Refuse),
            Step::TrashFile { path, expected } => {
                let path = self.plain_file(path)?;
                let before = self.expected_file(&path, expected.as_ref())?;
                self.trash(at, path, before, false)
            }
            Step::TrashDirectory { path } => self.trash_directory(at, path),
            Step::TrashRows { database, selections } => {
                let database = self.database(database)?;
                let stored = self.layout.trash().join(format!("rows-{at}.json"));
                let (selections, superseded) = (selections.clone(), false);
                Ok(Change::TrashRows(TrashRows { database, selections, stored, superseded }))
            }
            Step::RestoreFile { stored, path } => self.restore(at, stored, path),
            Step::CloseTrashEntry { entry } => self.close(entry),
        }
    }

    fn directory(&mut self, path: &Path, private: bool) -> Result<Change, PlanError> {
        let (path, _) = self.roots.admit(path)?;
        let mut missing = Vec::new();
        let mut above = Some(path.as_path());
        while let Some(directory) = above.filter(|directory| !directory.is_dir()) {
            if files::exists(directory) {
                return Err(PlanError::NotPlain { path: directory.to_owned() });
            }
            missing.push(directory.to_owned());
            above = directory.parent();
        }
        missing.reverse();
        if let (Some(first), Some(above)) = (missing.first(), above)
            && !self.made.contains(first)
        {
            check_writable(above)?;
        }
        self.made.extend(missing.iter().cloned());
        Ok(Change::Directory(Directory { path, missing, private }))
    }

    /// The directory that a new file goes into must be there, or be made before.
    fn check_parent(&self, path: &Path) -> Result<(), PlanError> {
        let parent = path.parent().unwrap_or(path);
        if self.made.contains(parent) {
            return Ok(());
        }
        if !parent.is_dir() {
            return Err(PlanError::Missing { path: parent.to_owned() });
        }
        check_writable(parent)
    }

    fn create(
        &mut self,
        at: usize,
        path: &Path,
        content: &Content,
        private: bool,
    ) -> Result<Change, PlanError> {
        let (path, _) = self.roots.admit(path)?;
        if !self.taken.insert(path.clone()) {
            return Err(PlanError::Exists { path });
        }
        self.check_parent(&path)?;
        match fs::symlink_metadata(&path) {
            Ok(_) if self.freed.contains(&path) => {}
            Ok(metadata) if self.policy.replace_existing && metadata.is_file() => {
                let before = self.expected_file(&path, None)?;
                return self.replace(at, path, before, content, private);
            }
            Ok(_) => return Err(PlanError::Exists { path }),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => return Err(PlanError::io("look at", &path, error)),
        }
        self.need(&path, content.len())?;
        let (bytes, sha256) = files::digest_content(content)?;
        let staged = staging_name(&path);
        Ok(Change::Create(Create { path, staged, bytes, sha256, private }))
    }

    fn append(
        &mut self,
        at: usize,
        path: &Path,
        expected: &ContentStamp,
        content: &Content,
    ) -> Result<Change, PlanError> {
        let path = self.plain_file(path)?;
        self.taken.insert(path.clone());
        check_writable(&path)?;
        let before = self.expected_file(&path, Some(expected))?;
        self.need(&path, content.len())?;
        let (bytes, sha256) = files::digest_content(content)?;
        self.need(self.layout.data_dir, bytes)?;
        let addition = self.layout.journal.join(format!("addition-{at}"));
        let begun = self.layout.journal.join(format!("addition-{at}-begun"));
        Ok(Change::Append(Append { path, before, addition, begun, bytes, sha256 }))
    }

    fn replace(
        &mut self,
        at: usize,
        path: PathBuf,
        before: Before,
        content: &Content,
        private: bool,
    ) -> Result<Change, PlanError> {
        self.taken.insert(path.clone());
        self.check_parent(&path)?;
        self.need(&path, content.len())?;
        let (bytes, sha256) = files::digest_content(content)?;
        self.need(self.layout.data_dir, before.stamp.bytes)?;
        let (staged, old) = (staging_name(&path), staging_name(&path));
        let backup = self.layout.backup(at);
        Ok(Change::Replace(Replace { path, staged, old, backup, before, bytes, sha256, private }))
    }

    fn insert(
        &mut self,
        at: usize,
        step: &Step,
        database: &Path,
        existing: Existing,
    ) -> Result<Change, PlanError> {
        let database = self.database(database)?;
        self.need(&database, step.bytes())?;
        self.need(self.layout.data_dir, step.bytes())?;
        let record = self.layout.journal.join(format!("rows-{at}.json"));
        let backup = self.layout.backup(at).with_extension("rows.json");
        Ok(Change::Insert(Insert { database, record, backup, existing }))
    }

    fn database(&self, path: &Path) -> Result<PathBuf, PlanError> {
        let path = self.plain_file(path)?;
        check_writable(&path)?;
        check_writable(path.parent().unwrap_or(&path))?;
        Ok(path)
    }

    /// A regular file within the roots that no earlier step has touched.
    fn plain_file(&self, path: &Path) -> Result<PathBuf, PlanError> {
        let (path, _) = self.roots.admit(path)?;
        let metadata = fs::symlink_metadata(&path).map_err(|error| PlanError::io("look at", &path, error))?;
        if !metadata.is_file() {
            return Err(PlanError::NotPlain { path });
        }
        if self.taken.contains(&path) || self.freed.contains(&path) {
            return Err(PlanError::changed(&path, "two steps of the plan change it"));
        }
        Ok(path)
    }

    fn expected_file(&self, path: &Path, expected: Option<&ContentStamp>) -> Result<Before, PlanError> {
        let before = Before::of(path, true)?;
        if expected.is_none_or(|expected| expected.matches(&before.stamp)) {
            return Ok(before);
        }
        Err(PlanError::changed(path, "changed since the plan was made"))
    }

    fn trash_directory(&mut self, at: usize, path: &Path) -> Result<Change, PlanError> {
        let (path, root) = self.roots.admit(path)?;
        if path == root {
            return Err(PlanError::Outside { path });
        }
        let metadata = fs::symlink_metadata(&path).map_err(|error| PlanError::io("look at", &path, error))?;
        if !metadata.is_dir() {
            return Err(PlanError::NotPlain { path });
        }
        let before = Before::of(&path, false)?;
        self.trash(at, path, before, true)
    }

    fn trash(
        &mut self,
        at: usize,
        path: PathBuf,
        before: Before,
        directory: bool,
    ) -> Result<Change, PlanError> {
        let parent = path.parent().unwrap_or(&path);
        check_writable(parent)?;
        let (_, root) = self.roots.admit(&path)?;
        let stored = self.trash_place(parent, root).join(at.to_string());
        let beside = staging_name(&path);
        let parent_is_private = files::mode_of(parent)?.is_some_and(|mode| mode & 0o077 == 0);
        self.freed.insert(path.clone());
        self.taken.remove(&path);
        Ok(Change::TrashFile(TrashFile { path, stored, beside, directory, before, parent_is_private }))
    }

    /// A directory on the file system of `parent`: Ibid's own trash when it is there, else one
    /// beside the root (where no harness looks), else one in the root, under a name that begins
    /// with a dot and with contents that have no extension.
    fn trash_place(&self, parent: &Path, root: &Path) -> PathBuf {
        let own = self.layout.trash();
        let device = device_of(parent);
        if device == device_of(&own) {
            return own;
        }
        let name = format!("{SIBLING}{}", self.layout.id);
        let beside = [root.parent(), Some(root)];
        beside
            .into_iter()
            .flatten()
            .find(|place| place.is_dir() && device_of(place) == device && check_writable(place).is_ok())
            .map_or(own, |place| place.join(name))
    }

    fn restore(&mut self, _: usize, stored: &Path, path: &Path) -> Result<Change, PlanError> {
        let (path, _) = self.roots.admit(path)?;
        let trash = self.layout.data_dir.join("trash");
        let clean = stored.components().all(|part| part != std::path::Component::ParentDir);
        let in_trash = stored.starts_with(&trash) || stored.parent().is_some_and(is_sibling);
        if !clean || !in_trash {
            return Err(PlanError::Outside { path: stored.to_owned() });
        }
        if !self.taken.insert(path.clone()) || (files::exists(&path) && !self.freed.contains(&path)) {
            return Err(PlanError::Exists { path });
        }
        self.check_parent(&path)?;
        let metadata =
            fs::symlink_metadata(stored).map_err(|error| PlanError::io("look at", stored, error))?;
        let before = match metadata.file_type() {
            kind if kind.is_file() => Before::of(stored, true)?,
            kind if kind.is_dir() => Before::of(stored, false)?,
            _ => return Err(PlanError::NotPlain { path: stored.to_owned() }),
        };
        if device_of(stored) != device_of(&path) {
            self.need(&path, before.stamp.bytes)?;
        }
        self.restored.insert(stored.to_owned());
        let staged = staging_name(&path);
        Ok(Change::Restore(Restore { stored: stored.to_owned(), path, staged, before }))
    }

    /// An entry is closed only when every file of it is restored before; its rows are compared
    /// when they are inserted.
    fn close(&self, entry: &str) -> Result<Change, PlanError> {
        let trash = Trash::new(self.layout.data_dir);
        let kept = trash.entry(entry)?;
        let mut rows = Vec::new();
        for item in &kept.items {
            match item {
                TrashItem::File(file) | TrashItem::Directory(file)
                    if !self.restored.contains(&file.stored) =>
                {
                    return Err(PlanError::Exists { path: file.stored.clone() });
                }
                TrashItem::Rows(kept) if kept.stored.parent() == Some(&trash.directory_of(entry)) => {
                    rows.push(kept.stored.clone());
                }
                _ => {}
            }
        }
        Ok(Change::CloseEntry(CloseEntry { directory: trash.directory_of(entry), rows }))
    }

    /// Counts bytes that go to the file system of `path`, and refuses when there is no room for all
    /// that were counted.
    fn need(&mut self, path: &Path, bytes: u64) -> Result<(), PlanError> {
        let directory = nearest_directory(path);
        let device = device_of(&directory).unwrap_or_default();
        let known = self.room.keys().find(
            |(other, name)| {
                if cfg!(unix) { *other == device } else { *name == directory }
            },
        );
        let key = known.cloned().unwrap_or((device, directory.clone()));
        let room = self.room.entry(key).or_default();
        *room = room.saturating_add(bytes);
        let needed = room.saturating_add(MARGIN);
        let available = fs4::available_space(&directory)
            .map_err(|error| PlanError::io("look at the room of", &directory, error))?;
        if available < needed {
            Err(PlanError::NoSpace { path: directory, needed, available })
        } else {
            Ok(())
        }
    }
}

/// A name beside `path` that no harness looks for: it begins with a dot and has no extension.
fn staging_name(path: &Path) -> PathBuf {
    path.with_file_name(format!(".ibid-stage-{}", uuid::Uuid::new_v4().simple()))
}

fn nearest_directory(path: &Path) -> PathBuf {
    path.ancestors().find(|above| above.is_dir()).unwrap_or(path).to_owned()
}

/// The file system on which `path` lies or would lie. `None` where that cannot be told: renaming
/// is tried then, and copying when it fails.
fn device_of(path: &Path) -> Option<u64> {
    let directory = path.ancestors().find(|above| files::exists(above))?;
    ContentStamp::of(directory).ok()?.inode.map(|(device, _)| device)
}

/// Asks the system early whether it would let us write; on systems without that question, the
/// read-only mark is looked at. The answer is a help, not a promise: writing may still fail, and
/// is then undone.
fn check_writable(path: &Path) -> Result<(), PlanError> {
    #[cfg(unix)]
    let refused = rustix::fs::access(path, rustix::fs::Access::WRITE_OK).map_err(std::io::Error::from);
    #[cfg(not(unix))]
    let refused = match fs::metadata(path) {
        Ok(metadata) if metadata.is_file() && metadata.permissions().readonly() => {
            Err(std::io::ErrorKind::PermissionDenied.into())
        }
        Ok(_) => Ok(()),
        Err(error) => Err(error),
    };
    refused.map_err(|error| PlanError::io("write to", path, error))
}
