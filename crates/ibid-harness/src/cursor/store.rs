//! Which transcripts lie in a store, and what else lies there.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use ibid_carrier::jsonl::Document;
use ibid_carrier::names::checked_component;
use ibid_carrier::walk::{WalkOptions, list_files};
use ibid_model::{CarrierRole, Finding, FindingKind, SessionId};

use super::Cursor;
use super::place::{Placed, TRANSCRIPTS, is_folder_of, subagents_of};
use super::records::{Body, Row};
use crate::core::{
    Class, Common, Context, Harness, Listing, Platform, Reference, Root, RootOrigin, Surroundings,
};
use crate::families::files::{FilePlace, FilesBody, FilesHarness, add_listed, files_store};

/// The name of the transcript within a session.
pub(super) const TRANSCRIPT: &str = "transcript.jsonl";

/// What the names of the records about a chat end in.
pub(super) const RECORD: &str = "meta.json";

/// Names the directory that stands for `~/.cursor`.
const DATA_DIR: &str = "CURSOR_DATA_DIR";

/// Names the directory of the editor's settings and databases.
const DESKTOP_DIR: &str = "CURSOR_DESKTOP_USER_DIR";

impl FilesHarness for Cursor {
    const MAIN: &'static str = TRANSCRIPT;

    /// The editor does not look at the variable, so its own place counts too.
    fn roots(machine: &Surroundings) -> Vec<Root> {
        let usual =
            Root { path: machine.home().join(".cursor").join("projects"), origin: RootOrigin::Default };
        let named = machine
            .directory(DATA_DIR)
            .map(|data| Root { path: data.join("projects"), origin: RootOrigin::Variable(DATA_DIR) });
        match named {
            Some(named) if named.path != usual.path => vec![named, usual],
            _ => vec![usual],
        }
    }

    fn list(root: &Root, context: &Context<'_>) -> Listing {
        let options = WalkOptions { extensions: &["jsonl", "txt"], ..WalkOptions::default() };
        let (files, findings) = list_files(&root.path, &options);
        let of_transcript = |path: &PathBuf| {
            let below = path.strip_prefix(&root.path).unwrap_or(path);
            below.components().nth(1).is_some_and(|name| name.as_os_str() == TRANSCRIPTS)
        };
        let files = files.into_iter().map(|file| file.path).filter(of_transcript);
        let (files, texts): (Vec<PathBuf>, Vec<PathBuf>) =
            files.partition(|path| path.extension().is_some_and(|ending| ending == "jsonl"));
        let present = root.path.symlink_metadata().is_ok();
        let mut listing = Listing { findings, present, ..Listing::default() };
        let reference = |path| {
            let harness = Cursor::DECLARATION.id;
            Reference { harness, root: root.path.clone(), path, key: None }
        };
        add_listed::<Cursor>(&mut listing, files.into_iter().map(reference));
        if !texts.is_empty() {
            let detail = "transcripts in the older form of plain text (.txt), which are not read";
            let finding = Finding::new(FindingKind::UnreadStore, detail).at_path(&root.path);
            listing.findings.push(finding.times(texts.len() as u64));
        }
        listing.findings.extend(databases(root, context.machine));
        listing
    }

    fn places(reference: &Reference) -> Vec<FilePlace> {
        let mut places = vec![FilePlace::new(TRANSCRIPT, &reference.path, CarrierRole::Transcript)];
        let placed = Placed::of(&reference.path);
        if placed.parent.is_some() || checked_component(&placed.id).is_err() {
            return places;
        }
        let chats = chats_beside(&reference.root);
        for hash in directories(&chats).unwrap_or_default() {
            let path = chats.join(&hash).join(&placed.id).join(RECORD);
            if path.is_file() {
                let name = format!("chats/{}/{RECORD}", hash.to_string_lossy());
                places.push(FilePlace::new(name, path, CarrierRole::Record));
            }
        }
        places
    }

    fn id(body: &FilesBody) -> SessionId {
        let path = body.file(TRANSCRIPT).and_then(|(_, file)| file.path.as_deref());
        path.map(|path| SessionId::from(Placed::of(path).id)).unwrap_or_default()
    }

    fn class(body: &FilesBody, common: &Common) -> Class {
        let path = body.file(TRANSCRIPT).and_then(|(_, file)| file.path.as_deref());
        let of_subagent = path.is_some_and(|path| Placed::of(path).parent.is_some());
        match common.session.messages.is_empty() && common.session.events.is_empty() {
            true => Class::Other,
            false if of_subagent => Class::Sidecar,
            false => Class::Session,
        }
    }

    fn directory(reference: &Reference) -> Option<PathBuf> {
        let folder = reference.path.parent()?;
        Placed::of(&reference.path).own_folder.then(|| folder.to_owned())
    }

    fn children(reference: &Reference, _: &Context<'_>) -> Vec<Reference> {
        let Some(folder) = subagents_of(&reference.path) else { return Vec::new() };
        let options = WalkOptions { extensions: &["jsonl"], ..WalkOptions::default() };
        let (files, _) = list_files(&folder, &options);
        files.into_iter().map(|file| Reference { path: file.path, ..reference.clone() }).collect()
    }

    fn placed_for(reference: &Reference, directory: &Path, _: &Context<'_>) -> bool {
        let below = reference.path.strip_prefix(&reference.root).ok();
        let folder = below.and_then(|below| below.components().next());
        folder.is_some_and(|folder| is_folder_of(&reference.root.join(folder), directory))
    }

    fn recognises(path: &Path, head: &[u8]) -> u8 {
        let records = Document::from_bytes(head.to_vec()).read_records(Row::read);
        let Some(first) = records.items.first() else { return 0 };
        let in_place = path.components().any(|component| component.as_os_str() == TRANSCRIPTS);
        match (&first.value.body, in_place) {
            (Body::Said(_), true) => 90,
            (Body::Said(_), false) => 40,
            (Body::TurnEnded { .. }, true) => 60,
            _ => 0,
        }
    }
}

files_store!(Cursor);

/// The directory of the command line's chats: `<md5 of the working directory>/<id>/`.
fn chats_beside(root: &Path) -> PathBuf {
    root.parent().unwrap_or(root).join("chats")
}

/// The names of the directories in a directory, in order; none when it is not there.
fn directories(directory: &Path) -> io::Result<Vec<OsString>> {
    let entries = match fs::read_dir(directory) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    let mut names = Vec::new();
    for entry in entries {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            names.push(entry.file_name());
        }
    }
    names.sort();
    Ok(names)
}

/// What says that conversations lie in databases too, which are not read.
fn databases(root: &Root, machine: &Surroundings) -> Vec<Finding> {
    let mut findings = Vec::new();
    let chats = chats_beside(&root.path);
    match chats_with_database(&chats) {
        Ok(0) => {}
        Ok(count) => {
            let detail = "chats that Cursor's command line keeps as databases (store.db); only their transcripts are read";
            findings.push(Finding::new(FindingKind::UnreadStore, detail).at_path(&chats).times(count));
        }
        Err(error) => {
            findings.push(Finding::new(FindingKind::Unreadable, error.to_string()).at_path(&chats));
        }
    }
    let database = desktop(machine).join("globalStorage").join("state.vscdb");
    if root.origin == RootOrigin::Default && database.is_file() {
        let detail =
            "the database of Cursor's editor (state.vscdb) is there and is not read; only transcripts are";
        findings.push(Finding::new(FindingKind::UnreadStore, detail).at_path(&database));
    }
    findings
}

fn chats_with_database(chats: &Path) -> io::Result<u64> {
    let mut count = 0;
    for hash in directories(chats)? {
        let folder = chats.join(hash);
        for id in directories(&folder)? {
            count += u64::from(folder.join(id).join("store.db").is_file());
        }
    }
    Ok(count)
}

fn desktop(machine: &Surroundings) -> PathBuf {
    let home = machine.home();
    machine.directory(DESKTOP_DIR).unwrap_or_else(|| match machine.platform() {
        Platform::MacOs => home.join("Library/Application Support/Cursor/User"),
        Platform::Windows => home.join("AppData/Roaming/Cursor/User"),
        Platform::Linux => home.join(".config/Cursor/User"),
    })
}
