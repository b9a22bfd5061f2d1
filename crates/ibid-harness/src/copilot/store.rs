//! Where sessions lie: one directory each below `session-state`, or, before there were directories,
//! one file each.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use ibid_carrier::jsonl::Document;
use ibid_carrier::walk::{WalkOptions, list_files};
use ibid_model::{CarrierRole, Finding, FindingKind, SessionId, Text};
use memchr::memmem;

use super::records::{Body, Event};
use super::workspace::Workspace;
use super::{Copilot, DECLARATION, EVENTS, WORKSPACE};
use crate::core::{Class, Common, Context, Listing, Reference, Root, RootOrigin, Surroundings};
use crate::families::files::{FilePlace, FilesBody, FilesHarness, add_listed, files_store};

/// Stands for `~/.copilot`.
const HOME: &str = "COPILOT_HOME";

/// Below the home: the sessions.
const SESSIONS: &str = "session-state";

/// Where the program keeps its locks, among the sessions.
const LOCKS: &str = ".session-operation-locks";

/// What writes the transcripts of the editor's chat, in the same grammar.
const EDITOR_CHAT: &str = "GitHub.copilot-chat";

impl FilesHarness for Copilot {
    const NEEDLES: &'static [&'static str] = &["session.title_changed"];
    const MAIN: &'static str = EVENTS;

    fn roots(machine: &Surroundings) -> Vec<Root> {
        vec![match machine.directory(HOME) {
            Some(home) => Root { path: home.join(SESSIONS), origin: RootOrigin::Variable(HOME) },
            None => {
                Root { path: machine.home().join(".copilot").join(SESSIONS), origin: RootOrigin::Default }
            }
        }]
    }

    fn list(root: &Root, _: &Context<'_>) -> Listing {
        let options = WalkOptions {
            extensions: &["jsonl", "yaml"],
            max_depth: 1,
            skip_dirs: &[LOCKS],
            ..WalkOptions::default()
        };
        let (files, findings) = list_files(&root.path, &options);
        let mut listing =
            Listing { findings, present: root.path.symlink_metadata().is_ok(), ..Listing::default() };
        let mut visible: Vec<PathBuf> = Vec::new();
        for file in files {
            let named = |name: &str| file.path.file_name() == Some(OsStr::new(name));
            let flat = file.path.parent() == Some(&root.path);
            // Sorted by path, the events of a directory come before what else it has.
            let has_events = || visible.last().is_some_and(|last| last.parent() == file.path.parent());
            let is_session = match flat {
                true => file.path.extension() == Some(OsStr::new("jsonl")),
                false => named(EVENTS) || named(WORKSPACE) && !has_events(),
            };
            if is_session {
                visible.push(file.path);
            }
        }
        listing.findings.extend(empty_directories(root, &visible));
        let reference =
            |path| Reference { harness: DECLARATION.id, root: root.path.clone(), path, key: None };
        add_listed::<Copilot>(&mut listing, visible.into_iter().map(reference));
        listing
    }

    fn places(reference: &Reference) -> Vec<FilePlace> {
        let directory = reference.path.parent().map(Path::to_path_buf).unwrap_or_default();
        let events = |path| FilePlace::new(EVENTS, path, CarrierRole::Transcript);
        let notes = |path| FilePlace::new(WORKSPACE, path, CarrierRole::Metadata);
        // A flat file, or one that is named by its path and so lies in no store, stands alone.
        if directory == reference.root {
            return vec![events(reference.path.clone())];
        }
        match reference.path.file_name() == Some(OsStr::new(WORKSPACE)) {
            true => vec![notes(reference.path.clone()), events(directory.join(EVENTS))],
            false => vec![events(reference.path.clone()), notes(directory.join(WORKSPACE))],
        }
    }

    fn id(body: &FilesBody) -> SessionId {
        let started = || body.file(EVENTS).and_then(|(_, file)| started_as(&file.document));
        let noted = || body.file(WORKSPACE).and_then(|(_, file)| Workspace::read(&file.document).id);
        let named = || {
            let path = body.path()?;
            let events = path.file_name() == Some(OsStr::new(EVENTS));
            let directory = events || path.file_name() == Some(OsStr::new(WORKSPACE));
            let name = if directory { path.parent()?.file_name()? } else { path.file_stem()? };
            Some(Text::from(name.to_string_lossy().into_owned()))
        };
        started().or_else(noted).or_else(named).map(SessionId::from).unwrap_or_default()
    }

    fn class(body: &FilesBody, common: &Common) -> Class {
        let Some((_, events)) = body.file(EVENTS) else { return Class::Partial };
        if common.session.meta.originator.as_deref() == Some(EDITOR_CHAT) {
            Class::Foreign
        } else if events.document.lines().all(|line| line.bytes.trim_ascii().is_empty()) {
            Class::Other
        } else if started_as(&events.document).is_none() && common.session.meta.version.is_none() {
            Class::Partial
        } else {
            Class::Session
        }
    }

    fn directory(reference: &Reference) -> Option<PathBuf> {
        reference.path.parent().filter(|parent| *parent != reference.root).map(Path::to_path_buf)
    }

    fn recognises(path: &Path, head: &[u8]) -> u8 {
        let document = Document::from_bytes(head.to_vec());
        let first = document.lines().filter_map(|line| document.text_of(line.start, line.end));
        let first = first.filter_map(|text| Event::read(&text).ok()).next();
        match first.map(|event| event.body) {
            Some(Body::Start(start)) if start.producer.as_deref() != Some(EDITOR_CHAT) => {
                if path.file_name() == Some(OsStr::new(EVENTS)) { 95 } else { 80 }
            }
            Some(Body::Start(_)) => 40,
            _ => 0,
        }
    }
}

files_store!(Copilot);

/// The id with which the session began, if that is written.
fn started_as(document: &Document) -> Option<Text> {
    let is_start = memmem::Finder::new("session.start");
    let lines = document.lines().filter(|line| is_start.find(line.bytes).is_some());
    let mut events = lines
        .filter_map(|line| document.text_of(line.start, line.end))
        .filter_map(|text| Event::read(&text).ok());
    let start = events.find_map(|event| match event.body {
        Body::Start(start) => Some(start),
        _ => None,
    });
    start?.id
}

/// That a directory of the store holds no session that could be read.
fn empty_directories(root: &Root, visible: &[PathBuf]) -> Vec<Finding> {
    // What cannot be listed is among the findings already.
    let Ok(entries) = fs::read_dir(&root.path) else { return Vec::new() };
    let known: std::collections::HashSet<&Path> = visible.iter().filter_map(|path| path.parent()).collect();
    let mut empty: Vec<PathBuf> = entries
        .filter_map(Result::ok)
        .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()))
        .filter(|entry| !entry.file_name().to_string_lossy().starts_with('.'))
        .map(|entry| entry.path())
        .filter(|path| !known.contains(path.as_path()))
        .collect();
    empty.sort();
    let detail = "a session's directory with neither events.jsonl nor workspace.yaml";
    empty
        .into_iter()
        .map(|path| Finding::new(FindingKind::MissingTranscript, detail).at_path(&path))
        .collect()
}
