//! Sessions of the older store: one JSON file for each record, below `storage/`.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use ibid_carrier::fingerprint::{Fingerprint, FingerprintBuilder};
use ibid_carrier::names::checked_component;
use ibid_carrier::walk::{FileEntry, WalkOptions, list_files};
use ibid_carrier::{CarrierError, FileStamp, file};
use ibid_model::{CallId, CarrierInfo, Finding, FindingKind, SessionId, Source, Text};

use super::body::{Copied, EntryKind, Kin, TreeBody, TreeEntry, info};
use super::fields::Fields;
use super::kin::{Mark, call_of, mark, shared};
use super::records::{SessionRecord, session_of_record};

/// The folder with everything, below the root.
pub(crate) const STORAGE: &str = "storage";

/// The most that a record of a session may have in bytes; real ones have some hundred.
const RECORD_BYTES: u64 = 16 << 20;

/// The older store below a root.
pub(crate) struct Tree {
    root: PathBuf,
    /// Everything in it by what it belongs to, when all of it was listed; else folders are listed
    /// as they are needed.
    index: Option<Index>,
    pub(crate) findings: Vec<Finding>,
}

/// Files by the name of the folder that they lie in (a session's id for messages, a message's for
/// parts), or by their own where that is a session's id.
#[derive(Default)]
struct Index {
    sessions: Vec<FileEntry>,
    messages: HashMap<String, Vec<FileEntry>>,
    parts: HashMap<String, Vec<FileEntry>>,
    companions: HashMap<String, Vec<FileEntry>>,
}

/// A session of the tree: its record and the files that belong to it.
pub(crate) struct TreeSession {
    pub(crate) id: String,
    pub(crate) entries: Vec<(EntryKind, FileEntry)>,
}

impl TreeSession {
    pub(crate) fn fingerprint(&self) -> Fingerprint {
        let start = Fingerprint::of().note(&self.id);
        let add =
            |builder: FingerprintBuilder, entry: &FileEntry| builder.stamped(&entry.path, Some(entry.stamp));
        self.entries.iter().fold(start, |builder, (_, entry)| add(builder, entry)).finish()
    }

    /// The session with its record and messages alone.
    pub(crate) fn without_parts(&self) -> TreeSession {
        self.filtered(|kind, _| matches!(kind, EntryKind::Session | EntryKind::Message))
    }

    /// The session with its record, and the parts of one message alone.
    pub(crate) fn with_parts_of(&self, message: &str) -> TreeSession {
        self.filtered(|kind, path| match kind {
            EntryKind::Session => true,
            EntryKind::Part => name_of(path.parent()) == message,
            _ => false,
        })
    }

    fn filtered(&self, keep: impl Fn(EntryKind, &Path) -> bool) -> TreeSession {
        let entries = self.entries.iter().filter(|(kind, entry)| keep(*kind, &entry.path)).cloned().collect();
        TreeSession { id: self.id.clone(), entries }
    }

    /// Its files as carriers.
    pub(crate) fn carriers(&self) -> Vec<CarrierInfo> {
        self.entries.iter().map(|(kind, entry)| info(&entry.path, *kind, entry.stamp.size)).collect()
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.entries.iter().map(|(_, entry)| entry.stamp.size).sum()
    }
}

fn name_of(path: Option<&Path>) -> String {
    path.and_then(Path::file_name).unwrap_or_default().to_string_lossy().into_owned()
}

fn stem_of(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

impl Tree {
    /// The store below `root`, of which folders are listed as they are needed.
    pub(crate) fn at(root: &Path) -> Tree {
        Tree { root: root.to_owned(), index: None, findings: Vec::new() }
    }

    /// Lists the whole store below `root`; none when there is none.
    pub(crate) fn list(root: &Path) -> Option<Tree> {
        let storage = root.join(STORAGE);
        if let Ok(None) = FileStamp::at(&storage) {
            return None;
        }
        let (files, findings) = list_files(&storage, &options(3));
        let mut index = Index::default();
        for entry in files {
            let Ok(below) = entry.path.strip_prefix(&storage) else { continue };
            let depth = below.components().count();
            let top = below.components().next().map(|part| part.as_os_str().to_string_lossy().into_owned());
            let folder = name_of(below.parent());
            match (top.as_deref(), depth) {
                (Some("session"), 3) => index.sessions.push(entry),
                (Some("message"), 3) => index.messages.entry(folder).or_default().push(entry),
                (Some("part"), 3) => index.parts.entry(folder).or_default().push(entry),
                (Some("session" | "message" | "part" | "project"), _) => {}
                (Some(_), 2) => index.companions.entry(stem_of(&entry.path)).or_default().push(entry),
                _ => {}
            }
        }
        Some(Tree { root: root.to_owned(), index: Some(index), findings })
    }

    fn folder(&self, kind: &str, name: &str) -> Vec<FileEntry> {
        // A name from a record must not lead out of the store.
        match checked_component(name) {
            Ok(name) => list_files(&self.root.join(STORAGE).join(kind).join(name), &options(0)).0,
            Err(_) => Vec::new(),
        }
    }

    /// The records of all sessions.
    pub(crate) fn sessions(&self) -> Vec<FileEntry> {
        match &self.index {
            Some(index) => index.sessions.clone(),
            None => list_files(&self.root.join(STORAGE).join("session"), &options(1)).0,
        }
    }

    /// The record at a path, when it is that of a session of this store.
    pub(crate) fn record(&self, path: &Path) -> Option<FileEntry> {
        let below = path.strip_prefix(self.root.join(STORAGE).join("session")).ok()?;
        let stamp = FileStamp::at(path).ok()??;
        (below.components().count() == 2).then(|| FileEntry { path: path.to_owned(), stamp })
    }

    fn messages(&self, session: &str) -> Vec<FileEntry> {
        match &self.index {
            Some(index) => index.messages.get(session).cloned().unwrap_or_default(),
            None => self.folder("message", session),
        }
    }

    fn parts(&self, message: &str) -> Vec<FileEntry> {
        match &self.index {
            Some(index) => index.parts.get(message).cloned().unwrap_or_default(),
            None => self.folder("part", message),
        }
    }

    fn companions(&self, session: &str) -> Vec<FileEntry> {
        if let Some(index) = &self.index {
            return index.companions.get(session).cloned().unwrap_or_default();
        }
        let Ok(folders) = std::fs::read_dir(self.root.join(STORAGE)) else { return Vec::new() };
        let Ok(name) = checked_component(session) else { return Vec::new() };
        let mut found = Vec::new();
        for folder in folders.flatten() {
            let kind = folder.file_name().to_string_lossy().into_owned();
            let path = folder.path().join(format!("{name}.json"));
            if !matches!(kind.as_str(), "session" | "message" | "part" | "project")
                && let Ok(Some(stamp)) = FileStamp::at(&path)
            {
                found.push(FileEntry { path, stamp });
            }
        }
        found
    }

    /// The files of the session with this record: the record, then the others in the order of
    /// their paths. The record's own id counts, which is the file's name unless someone renamed it.
    pub(crate) fn session(&self, record: &FileEntry) -> TreeSession {
        let named = stem_of(&record.path);
        let mut id = named.clone();
        let mut messages = self.messages(&id);
        if messages.is_empty()
            && let Some(session) = read_record(&record.path)
            && session.id != named.as_str()
        {
            id = session.id.to_string();
            messages = self.messages(&id);
        }
        let mut entries: Vec<(EntryKind, FileEntry)> = Vec::new();
        for message in messages {
            let parts = self.parts_of(&message);
            entries.push((EntryKind::Message, message));
            entries.extend(parts.into_iter().map(|part| (EntryKind::Part, part)));
        }
        entries.extend(self.companions(&id).into_iter().map(|entry| (EntryKind::Companion, entry)));
        entries.sort_by(|a, b| a.1.path.cmp(&b.1.path));
        entries.insert(0, (EntryKind::Session, record.clone()));
        TreeSession { id, entries }
    }

    /// The parts of a message. They are filed under its id: the file's name, unless no parts lie
    /// there and the record says otherwise.
    fn parts_of(&self, message: &FileEntry) -> Vec<FileEntry> {
        let named = self.parts(&stem_of(&message.path));
        if !named.is_empty() {
            return named;
        }
        let own = file::read(&message.path, RECORD_BYTES).ok().and_then(|stored| {
            let text = Text::from(String::from_utf8_lossy(&stored.bytes));
            Fields::of(&text)?.text("id")
        });
        own.map(|id| self.parts(&id)).unwrap_or_default()
    }

    /// Reads the files of a session. What cannot be read is a finding, except its record.
    pub(crate) fn load(&self, session: &TreeSession, limit: u64) -> Result<TreeBody, CarrierError> {
        let mut body = TreeBody {
            root: self.root.clone(),
            files: Vec::new(),
            kin: Kin::default(),
            findings: Vec::new(),
        };
        for (kind, entry) in &session.entries {
            let path = entry.path.strip_prefix(&self.root).unwrap_or(&entry.path).to_owned();
            match file::read(&entry.path, limit) {
                Ok(stored) => {
                    body.findings.extend(stored.findings);
                    body.files.push(TreeEntry { path, kind: *kind, bytes: stored.bytes.into() });
                }
                Err(error) if *kind == EntryKind::Session => return Err(error),
                // Deleted since it was listed.
                Err(CarrierError::NotFound { .. }) => {}
                Err(error) => body
                    .findings
                    .push(Finding::new(FindingKind::Unreadable, error.to_string()).at_path(&entry.path)),
            }
        }
        Ok(body)
    }

    /// What other sessions of the tree say of one.
    pub(crate) fn kin(&self, record: &SessionRecord, session: &TreeSession) -> Kin {
        match &record.parent {
            Some(parent) => Kin { copied: None, call: self.starting_call(parent, record.id.as_str()) },
            None => Kin { copied: self.copied(record, session), call: None },
        }
    }

    fn starting_call(&self, parent: &SessionId, id: &str) -> Option<CallId> {
        for message in self.messages(parent.as_str()) {
            for part in self.parts(&stem_of(&message.path)) {
                let Ok(stored) = file::read(&part.path, RECORD_BYTES) else { continue };
                if memchr::memmem::find(&stored.bytes, id.as_bytes()).is_none() {
                    continue;
                }
                let text = Text::from(String::from_utf8_lossy(&stored.bytes));
                if let Some(call) = call_of(&text, id) {
                    return Some(call);
                }
            }
        }
        None
    }

    fn copied(&self, record: &SessionRecord, session: &TreeSession) -> Option<Copied> {
        let created = record.created?.as_milliseconds();
        let own = self.messages(&session.id);
        let first = marks(&own, created.saturating_sub(1), 1);
        let (first, ..) = first.first()?;
        let own = marks(&own, created, usize::MAX);
        let mut best: Option<(i64, Copied)> = None;
        for other in self.sessions() {
            let id = stem_of(&other.path);
            let messages = if id == session.id { Vec::new() } else { self.messages(&id) };
            if marks(&messages, *first, 1).first().map(|(time, ..)| time) != Some(first) {
                continue;
            }
            let Some(parent) = read_record(&other.path) else { continue };
            let Some(made) = parent.created.map(ibid_model::Timestamp::as_milliseconds) else { continue };
            if parent.parent.is_some() || made >= created {
                continue;
            }
            let messages = shared(&own, &marks(&messages, created, usize::MAX));
            let better = match &best {
                None => messages > 0,
                Some((age, known)) => {
                    messages > known.messages || (messages == known.messages && made < *age)
                }
            };
            if better {
                best = Some((made, Copied { parent: parent.id, messages }));
            }
        }
        best.map(|(_, copied)| copied)
    }

    /// The records of the sessions that this one started.
    pub(crate) fn children(&self, id: &str) -> Vec<PathBuf> {
        let started = |entry: &FileEntry| {
            read_record(&entry.path).and_then(|session| session.parent).is_some_and(|parent| parent == id)
        };
        self.sessions().into_iter().filter(started).map(|entry| entry.path).collect()
    }
}

fn options(depth: usize) -> WalkOptions<'static> {
    WalkOptions { extensions: &["json"], max_depth: depth, skip_dirs: &[], max_files: 5_000_000 }
}

/// The marks of a session's messages from before a time, in order.
fn marks(messages: &[FileEntry], before: i64, most: usize) -> Vec<Mark> {
    let mut marks: Vec<(String, Mark)> = Vec::new();
    for message in messages.iter().take(most) {
        let Ok(stored) = file::read(&message.path, RECORD_BYTES) else { continue };
        let text = Text::from(String::from_utf8_lossy(&stored.bytes));
        let Some(fields) = Fields::of(&text) else { continue };
        let created = fields.object("time").and_then(|times| times.integer("created")).unwrap_or(0);
        let id = fields.text("id").map_or_else(|| stem_of(&message.path), |id| id.to_string());
        if created <= before {
            marks.push((id, mark(created, &text)));
        }
    }
    marks.sort();
    marks.into_iter().map(|(_, mark)| mark).collect()
}

/// The record of a session; none when it cannot be read.
pub(crate) fn read_record(path: &Path) -> Option<SessionRecord> {
    let stored = file::read(path, RECORD_BYTES).ok()?;
    let text = Text::from(String::from_utf8_lossy(&stored.bytes));
    let fields = Fields::of(&text)?;
    let mut record = session_of_record(&fields, Source::whole(0));
    if record.id.is_empty() {
        record.id = stem_of(path).into();
    }
    Some(record)
}
