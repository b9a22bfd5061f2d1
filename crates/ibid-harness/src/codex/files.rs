//! Which files are a thread.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use ibid_carrier::fingerprint::Fingerprint;
use ibid_carrier::jsonl::{Limits, Records, open_scanner};
use ibid_carrier::walk::{FileEntry, WalkOptions, list_files};
use ibid_carrier::{CarrierError, FileStamp};
use ibid_model::{Finding, FindingKind, Text};

use super::names::RolloutName;
use super::records::{self, Body, HistoryBase, Record, SessionMeta, time_of_id};

/// The folders of a root that hold rollouts.
pub(super) const FOLDERS: [&str; 2] = ["sessions", "archived_sessions"];

/// One file with the name of a rollout.
#[derive(Clone, Debug)]
pub(super) struct RolloutFile {
    pub(super) path: PathBuf,
    pub(super) stamp: FileStamp,
}

impl RolloutFile {
    fn file_name(&self) -> &str {
        self.path.file_name().and_then(|name| name.to_str()).unwrap_or_default()
    }

    pub(super) fn name(&self) -> Option<RolloutName<'_>> {
        RolloutName::of(self.file_name())
    }
}

/// All rollout files of a root, sorted by path, and what could not be read. A root that has none
/// of the usual folders is taken to be such a folder itself.
pub(super) fn rollouts(root: &Path) -> (Vec<RolloutFile>, Vec<Finding>) {
    let options = WalkOptions { extensions: &["jsonl", "jsonl.zst", "json"], ..WalkOptions::default() };
    let mut folders: Vec<PathBuf> = FOLDERS.iter().map(|folder| root.join(folder)).collect();
    if folders.iter().all(|folder| folder.symlink_metadata().is_err()) {
        folders = vec![root.to_owned()];
    }
    let mut files = Vec::new();
    let mut findings = Vec::new();
    for folder in folders {
        let (found, wrong) = list_files(&folder, &options);
        findings.extend(wrong);
        let found = found.into_iter().map(|FileEntry { path, stamp }| RolloutFile { path, stamp });
        files.extend(found.filter(|file| file.name().is_some()));
    }
    (files, findings)
}

/// The files of one thread, as far as names tell: the live one last.
#[derive(Clone, Debug)]
pub(super) struct Group {
    pub(super) files: Vec<RolloutFile>,
}

impl Group {
    /// The file that goes on.
    pub(super) fn live(&self) -> Option<&RolloutFile> {
        self.files.last()
    }

    pub(super) fn bytes(&self) -> u64 {
        self.files.iter().map(|file| file.stamp.size).sum()
    }

    /// The fingerprint over all of its files and its name, which lies elsewhere.
    pub(super) fn fingerprint(&self, name: Option<&Text>) -> Fingerprint {
        let mut fingerprint = Fingerprint::of();
        for file in &self.files {
            fingerprint = fingerprint.stamped(&file.path, Some(file.stamp));
        }
        match name {
            Some(name) => fingerprint.note(name).finish(),
            None => fingerprint.finish(),
        }
    }
}

/// Joins the files of one thread. Of the same file plain and compressed, the newer counts (the
/// plain one of two equally old ones); the others of one thread are its earlier parts when it was
/// taken back, else sessions of their own that are named as variants of each other.
// https://github.com/openai/codex/issues/31074 (fault 46)
pub(super) fn groups(files: Vec<RolloutFile>) -> (Vec<Group>, Vec<Finding>) {
    let mut findings = Vec::new();
    let mut threads: BTreeMap<String, Vec<RolloutFile>> = BTreeMap::new();
    for file in files {
        if let Some(thread) = file.name().map(|name| name.thread.to_owned()) {
            threads.entry(thread).or_default().push(file);
        }
    }
    let mut groups = Vec::new();
    for mut files in threads.into_values() {
        files = without_copies(files, &mut findings);
        let order =
            |file: &RolloutFile| file.name().map(|name| (name.time.to_owned(), name.rollout_id().to_owned()));
        files.sort_by_cached_key(|file| (order(file), file.path.clone()));
        let parts = files.iter().any(|file| file.name().is_some_and(|name| name.rollout.is_some()));
        if parts {
            groups.push(Group { files });
            continue;
        }
        if let [first, .., last] = files.as_slice() {
            let detail = format!("the same thread lies at {} too", last.path.display());
            findings.push(Finding::new(FindingKind::Variants, detail).at_path(&first.path));
        }
        groups.extend(files.into_iter().map(|file| Group { files: vec![file] }));
    }
    groups.sort_by(|a, b| a.live().map(|file| &file.path).cmp(&b.live().map(|file| &file.path)));
    (groups, findings)
}

/// One of each file that is there plain and compressed.
fn without_copies(files: Vec<RolloutFile>, findings: &mut Vec<Finding>) -> Vec<RolloutFile> {
    let stem = |file: &RolloutFile| file.path.to_string_lossy().trim_end_matches(".zst").to_owned();
    let mut kept: Vec<RolloutFile> = Vec::with_capacity(files.len());
    let mut by_stem: BTreeMap<String, Vec<RolloutFile>> = BTreeMap::new();
    for file in files {
        by_stem.entry(stem(&file)).or_default().push(file);
    }
    for mut copies in by_stem.into_values() {
        copies.sort_by_key(|file| {
            (Reverse(file.stamp.mtime_ns), file.name().is_some_and(|name| name.compressed))
        });
        let mut copies = copies.into_iter();
        let Some(used) = copies.next() else { continue };
        for other in copies {
            let detail = format!("{} is older and is not used", other.path.display());
            findings.push(Finding::new(FindingKind::Variants, detail).at_path(&used.path));
        }
        kept.push(used);
    }
    kept
}

/// The header of a file; none when its first lines have none.
pub(super) fn header(path: &Path, limits: &Limits) -> Result<Option<SessionMeta>, CarrierError> {
    let mut scanner = open_scanner(path, 0, limits)?;
    let mut read: Records<Record> = Records { items: Vec::new(), findings: Vec::new() };
    // A torn first line may stand before the header, and nothing else.
    for _ in 0..3 {
        let Some(line) = scanner.next()? else { break };
        line.read_into(&mut read, |text| records::read(&Text::from(text)));
        let meta = read.items.drain(..).find_map(|item| match item.value.body {
            Body::Meta(meta) => Some(*meta),
            _ => None,
        });
        if meta.is_some() {
            return Ok(meta);
        }
    }
    Ok(None)
}

/// The rollout file with this id, which another file names as its base. It lies beside that file,
/// or in the folder of the day on which it was made, which an id of version 7 tells; a whole tree
/// is searched only for another kind of id.
fn find(rollout: &str, beside: &Path, root: &Path) -> Option<PathBuf> {
    let mut folders: Vec<PathBuf> = beside.parent().map(Path::to_owned).into_iter().collect();
    folders.push(root.join("archived_sessions"));
    match time_of_id(rollout) {
        // Folders are named by local time, which is at most a day off.
        Some(made) => folders.extend([-24, 0, 24].into_iter().map(|hours| {
            let day = made.to_jiff() + jiff::SignedDuration::from_hours(hours);
            root.join("sessions").join(day.strftime("%Y/%m/%d").to_string())
        })),
        None => {
            let (files, _) = rollouts(root);
            let fits = |file: &RolloutFile| file.name().is_some_and(|name| name.rollout_id() == rollout);
            return files.into_iter().find(fits).map(|file| file.path);
        }
    }
    let fits = |path: &PathBuf| {
        let name = path.file_name().and_then(|name| name.to_str()).and_then(RolloutName::of);
        name.is_some_and(|name| name.rollout_id() == rollout)
    };
    let in_folder = |folder: PathBuf| {
        let mut paths: Vec<PathBuf> = folder
            .read_dir()
            .into_iter()
            .flatten()
            .flatten()
            .map(|entry| entry.path())
            .filter(fits)
            .collect();
        // The plain file before the compressed one.
        paths.sort();
        paths.into_iter().next()
    };
    folders.into_iter().find_map(in_folder)
}

/// The files that tell a thread.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct History {
    /// Files of the thread it was forked from, as far as they are there; the first one first.
    pub(super) base: Vec<PathBuf>,
    /// Its own files, the live one last.
    pub(super) own: Vec<PathBuf>,
}

/// A thread goes on from no more files than this.
const MOST_FILES: usize = 1000;

impl History {
    /// Follows the files that the live one goes on from.
    ///
    /// # Errors
    /// When one of them cannot be read.
    pub(super) fn of(live: &Path, root: &Path, limits: &Limits) -> Result<History, CarrierError> {
        let own = chain(live, root, limits)?;
        let first = own.first().map_or(live, PathBuf::as_path);
        let base = header(first, limits)?.and_then(|meta| meta.history_base);
        Ok(History { base: bases(base, first, root, limits)?, own })
    }
}

/// The files behind a base, the first one first.
pub(super) fn bases(
    base: Option<HistoryBase>,
    beside: &Path,
    root: &Path,
    limits: &Limits,
) -> Result<Vec<PathBuf>, CarrierError> {
    let mut found: Vec<PathBuf> = Vec::new();
    let mut next = base;
    while let Some(base) = next {
        // A circle, or a base that is not there, ends the way back.
        let known = |path: &PathBuf| path != beside && !found.contains(path) && found.len() < MOST_FILES;
        let Some(path) = find(&base.rollout, beside, root).filter(known) else { break };
        next = header(&path, limits)?.and_then(|meta| meta.history_base);
        found.push(path);
    }
    found.reverse();
    Ok(found)
}

/// The files of one thread, the first of them first and the live one last. Only a file that a
/// revert made has others before it; its name says so.
pub(super) fn chain(live: &Path, root: &Path, limits: &Limits) -> Result<Vec<PathBuf>, CarrierError> {
    let mut chain = vec![live.to_owned()];
    let name = |path: &Path| path.file_name().and_then(|name| name.to_str()).map(str::to_owned);
    let Some(own) = name(live) else { return Ok(chain) };
    let Some((thread, Some(_))) = RolloutName::of(&own).map(|name| (name.thread, name.rollout)) else {
        return Ok(chain);
    };
    let of_thread = |path: &PathBuf| {
        name(path).is_some_and(|name| RolloutName::of(&name).is_some_and(|name| name.thread == thread))
    };
    let mut next = live.to_owned();
    while let Some(base) = header(&next, limits)?.and_then(|meta| meta.history_base) {
        let known = |path: &PathBuf| of_thread(path) && !chain.contains(path) && chain.len() < MOST_FILES;
        let Some(path) = find(&base.rollout, &next, root).filter(known) else { break };
        chain.push(path.clone());
        next = path;
    }
    chain.reverse();
    Ok(chain)
}
