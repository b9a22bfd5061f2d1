//! Where the files of a session lie.
//!
//! Below one root there are two stores: conversations (`projects/<project>/<id>.jsonl`) and logs of
//! runs (`logs/sessions/<project>/<id>/segments/*.jsonl`). An id that is in both is one session.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use ibid_carrier::walk::{WalkOptions, list_files};
use ibid_model::{CarrierRole, Finding, FindingKind};

use super::{DECLARATION, Qoder, slug};
use crate::core::{Listing, Reference, Root};
use crate::families::files::{FilePlace, add_listed};

/// What the conversation is called within a session.
pub(super) const CONVERSATION: &str = "conversation.jsonl";

/// What the document beside a subagent's conversation is called.
pub(super) const AGENT: &str = "agent.meta.json";

/// The folder of the parts of a log, and what their names within a session begin with.
pub(super) const SEGMENTS: &str = "segments";

/// What a path says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// The conversation of a session.
    Conversation { id: String },
    /// The conversation of a subagent.
    Subagent { session: String, agent: String },
    /// One part of the log of a session. Its first part stands for a session that is a log alone.
    Segment { id: String },
}

fn name_of(path: Option<&Path>) -> Option<String> {
    path.and_then(Path::file_name).map(|name| name.to_string_lossy().into_owned())
}

/// What a path says, wherever it lies.
pub(super) fn of(path: &Path) -> Place {
    let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    let folder = path.parent();
    let around = || name_of(folder.and_then(Path::parent)).unwrap_or_default();
    match name_of(folder).as_deref() {
        Some(SEGMENTS) => Place::Segment { id: around() },
        Some("subagents") => Place::Subagent { session: around(), agent: stem },
        _ => Place::Conversation { id: stem },
    }
}

/// The session's id, as a path says.
pub(super) fn id(path: &Path) -> String {
    match of(path) {
        Place::Conversation { id } | Place::Segment { id } => id,
        Place::Subagent { session, agent } => {
            format!("{session}/{}", agent.strip_prefix("agent-").unwrap_or(&agent))
        }
    }
}

/// The sessions under a root.
pub(super) fn list(root: &Root) -> Listing {
    let jsonl = |max_depth| WalkOptions { extensions: &["jsonl"], max_depth, ..WalkOptions::default() };
    let (projects, logs) = (root.path.join("projects"), logs(&root.path));
    let (conversations, mut findings) = list_files(&projects, &jsonl(3));
    let (segments, more) = list_files(&logs, &jsonl(3));
    findings.extend(more);
    let present = [&projects, &logs].into_iter().any(|store| store.symlink_metadata().is_ok());
    let depth =
        |store: &Path, path: &Path| path.strip_prefix(store).map_or(0, |below| below.components().count());
    let mut paths = BTreeSet::new();
    let mut with_log = BTreeSet::new();
    let mut ids = BTreeSet::new();
    for path in conversations.into_iter().map(|file| file.path) {
        match (of(&path), depth(&projects, &path)) {
            (Place::Conversation { id }, 2) => {
                with_log.extend(logs_of(&path, &root.path));
                ids.insert(id);
                paths.insert(path);
            }
            (Place::Subagent { agent, .. }, 4) if agent.starts_with("agent-") => {
                paths.insert(path);
            }
            _ => {}
        }
    }
    let mut folders: BTreeMap<PathBuf, PathBuf> = BTreeMap::new();
    for path in segments.into_iter().map(|file| file.path) {
        let folder = path.parent().filter(|folder| folder.ends_with(SEGMENTS)).map(Path::to_owned);
        if let Some(folder) = folder.filter(|folder| depth(&logs, &path) == 4 && !with_log.contains(folder)) {
            // They come sorted, so that the first is the oldest.
            folders.entry(folder).or_insert(path);
        }
    }
    for first in folders.into_values() {
        if ids.contains(&id(&first)) {
            let detail = "a conversation of another project has the id of this log";
            findings.push(Finding::new(FindingKind::Variants, detail).at_path(&first));
        }
        paths.insert(first);
    }
    let mut listing = Listing { sessions: Vec::new(), findings, present };
    let reference = |path| Reference { harness: DECLARATION.id, root: root.path.clone(), path, key: None };
    add_listed::<Qoder>(&mut listing, paths.into_iter().map(reference));
    listing
}

fn logs(root: &Path) -> PathBuf {
    root.join("logs").join("sessions")
}

/// The folders with the log of a conversation's session.
fn logs_of(conversation: &Path, root: &Path) -> Vec<PathBuf> {
    let project = name_of(conversation.parent()).unwrap_or_default();
    let id = id(conversation);
    let mut folders: Vec<PathBuf> = fs::read_dir(logs(root))
        .into_iter()
        .flatten()
        .flatten()
        .filter(|entry| slug::agree(&project, &entry.file_name().to_string_lossy()))
        .map(|entry| entry.path().join(&id).join(SEGMENTS))
        .filter(|folder| folder.is_dir())
        .collect();
    folders.sort();
    folders
}

/// The files of a session.
pub(super) fn places(reference: &Reference) -> Vec<FilePlace> {
    let path = &reference.path;
    match of(path) {
        Place::Conversation { .. } => {
            let mut places = vec![FilePlace::new(CONVERSATION, path, CarrierRole::Transcript)];
            let logs = logs_of(path, &reference.root);
            places.extend(logs.iter().flat_map(|log| segments(log, CarrierRole::Audit)));
            places
        }
        Place::Subagent { .. } => vec![
            FilePlace::new(CONVERSATION, path, CarrierRole::Transcript),
            FilePlace::new(AGENT, path.with_extension("meta.json"), CarrierRole::Metadata),
        ],
        Place::Segment { .. } => match path.parent() {
            Some(log) => segments(log, CarrierRole::Transcript),
            None => Vec::new(),
        },
    }
}

/// The parts of a log, by name and so by time.
fn segments(log: &Path, role: CarrierRole) -> Vec<FilePlace> {
    let options = WalkOptions { extensions: &["jsonl"], max_depth: 0, ..WalkOptions::default() };
    let (files, _) = list_files(log, &options);
    let name = |path: &Path| format!("{SEGMENTS}/{}", name_of(Some(path)).unwrap_or_default());
    files.into_iter().map(|file| FilePlace::new(name(&file.path), file.path, role)).collect()
}

/// The folder of a log is the session's own when there is no conversation.
pub(super) fn directory(reference: &Reference) -> Option<PathBuf> {
    let own = reference.path.starts_with(logs(&reference.root));
    let folder = reference.path.parent().and_then(Path::parent);
    match of(&reference.path) {
        Place::Segment { .. } if own => folder.map(Path::to_owned),
        _ => None,
    }
}

/// The subagents of a session.
pub(super) fn children(reference: &Reference) -> Vec<Reference> {
    if !matches!(of(&reference.path), Place::Conversation { .. }) {
        return Vec::new();
    }
    let options = WalkOptions { extensions: &["jsonl"], max_depth: 0, ..WalkOptions::default() };
    let (files, _) = list_files(&reference.path.with_extension("").join("subagents"), &options);
    files.into_iter().map(|file| Reference { path: file.path, ..reference.clone() }).collect()
}

pub(super) fn placed_for(reference: &Reference, directory: &Path) -> bool {
    let Some(directory) = directory.to_str() else { return false };
    let below = |steps: usize| name_of(reference.path.ancestors().nth(steps)).unwrap_or_default();
    match of(&reference.path) {
        Place::Conversation { .. } => below(1) == slug::of_conversations(directory),
        Place::Subagent { .. } => below(3) == slug::of_conversations(directory),
        Place::Segment { .. } => slug::of_logs(directory).contains(&below(3)),
    }
}
