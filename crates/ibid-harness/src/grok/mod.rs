//! Grok: xAI's command line agent (`grok`, also called Grok Build).
//!
//! Known from running 1.0.41 (npm `@xai-official/grok`), from its own documentation, and from files of
//! 2026-07 and 2026-08; see `docs/formats/grok.md`. A session is a folder with two logs and a
//! description.

mod assembly;
mod chat;
mod content;
mod place;
mod tools;
mod turns;
mod updates;

use std::path::{Path, PathBuf};

use ibid_carrier::jsonl::Document;
use ibid_model::{Argument, CarrierRole, Json, Session, SessionId, Text, Tool};
use uuid::Uuid;

use crate::core::{
    Capabilities, Class, Codec, CodecError, Common, Context, Converted, Declaration, EvidencePlatform,
    Harness, HarnessId, Listing, Reference, ResumeRecipe, Root, Surroundings, Target, Transcript,
};
use crate::families::files::{FilePlace, FilesBody, FilesHarness, add_listed, files_store, not_written};
use crate::families::folders::folders;
use crate::families::loose::Loose;

use place::{CHAT, MARKER, SUMMARY, UPDATES};

/// Grok.
#[derive(Clone, Copy, Debug)]
pub struct Grok;

static DECLARATION: Declaration = Declaration {
    id: HarnessId::declare("grok"),
    name: "Grok",
    aliases: &["grok-cli", "grok-build"],
    capabilities: Capabilities {
        store: true,
        write: false,
        resume: true,
        subagents: true,
        branches: true,
        compaction: true,
    },
    resume: Some(ResumeRecipe { program: "grok", arguments: &["--resume", "{id}"], in_cwd: true }),
    context_window: 200_000,
    versions_seen: &["1.0.41"],
    evidence: Some(EvidencePlatform { rank: 5, name: "grok" }),
    capture: &[],
    retention_days: None,
};

impl Harness for Grok {
    const DECLARATION: &'static Declaration = &DECLARATION;
    type Body = FilesBody;
}

impl Codec for Grok {
    fn to_common(transcript: &Transcript<Grok>) -> Result<Common, CodecError> {
        assembly::to_common(&transcript.id, &transcript.body)
    }

    fn from_common(_: &Session, target: &Target) -> Result<Converted<Transcript<Grok>>, CodecError> {
        not_written::<Grok>(target)
    }

    fn read_call(name: &Text, input: &Json) -> (Tool, Vec<Argument>) {
        tools::decode(name, input)
    }
}

impl FilesHarness for Grok {
    // All prompts, so that the two logs can be compared, and all that changes how others are read.
    const NEEDLES: &'static [&'static str] =
        &["user_message_chunk", "prompt_index", "rewind_marker", "model_changed", "model_auto_switched"];
    const MAIN: &'static str = UPDATES;

    fn roots(machine: &Surroundings) -> Vec<Root> {
        place::roots(machine)
    }

    fn list(root: &Root, _: &Context<'_>) -> Listing {
        let mut listing = Listing { present: root.path.symlink_metadata().is_ok(), ..Listing::default() };
        let mut found = Vec::new();
        for group in folders(&root.path, &mut listing.findings) {
            for session in folders(&group, &mut listing.findings) {
                let visible = [UPDATES, CHAT, SUMMARY].map(|name| session.join(name));
                if let Some(path) = visible.into_iter().find(|path| path.is_file()) {
                    let root = root.path.clone();
                    found.push(Reference { harness: DECLARATION.id, root, path, key: None });
                }
            }
        }
        add_listed::<Grok>(&mut listing, found);
        listing
    }

    fn places(reference: &Reference) -> Vec<FilePlace> {
        let name = reference.path.file_name().map(|name| name.to_string_lossy());
        let known = name.is_some_and(|name| [UPDATES, CHAT, SUMMARY].contains(&&*name));
        match reference.path.parent() {
            Some(directory) if known => {
                let mut files = place::files(directory);
                if session_directory(reference).is_none() {
                    files.retain(|file| file.name != MARKER);
                }
                files
            }
            _ => vec![FilePlace::new(UPDATES, &reference.path, CarrierRole::Transcript)],
        }
    }

    fn id(body: &FilesBody) -> SessionId {
        let named = body.path().and_then(Path::parent).and_then(place::id_of);
        // The program finds a session by the name of its folder, which it takes for an id when it is
        // a UUID; another name may be any folder that the files were put in.
        let is_uuid = named.as_deref().is_some_and(|name| Uuid::parse_str(name).is_ok());
        let written = || {
            let summary = body.file(SUMMARY).and_then(|(_, file)| file.document.text()).and_then(Loose::of);
            let said = summary.and_then(|summary| summary.object("info")?.some_text("id"));
            said.or_else(|| body.file(UPDATES).and_then(|(_, file)| first_id(&file.document)))
        };
        let id = if is_uuid { named } else { written().or(named) };
        id.map(SessionId::from).unwrap_or_default()
    }

    /// A description without a conversation is a session all the same; that its logs are missing is a
    /// finding.
    fn class(body: &FilesBody, common: &Common) -> Class {
        let session = &common.session;
        let spawned = |lineage: &ibid_model::Lineage| lineage.relation == ibid_model::Relation::Spawned;
        let empty = session.messages.is_empty() && session.events.is_empty();
        match (empty && body.file(SUMMARY).is_none(), session.lineage.iter().any(spawned)) {
            (true, _) => Class::Other,
            (false, true) => Class::Sidecar,
            (false, false) => Class::Session,
        }
    }

    fn directory(reference: &Reference) -> Option<PathBuf> {
        session_directory(reference)
    }

    /// The folder `subagents` of a session has one for each that it started, named by its id; the
    /// sessions themselves lie where all do (measured, 1.0.41).
    fn children(reference: &Reference, _: &Context<'_>) -> Vec<Reference> {
        let Some(directory) = session_directory(reference) else { return Vec::new() };
        let started = folders(&directory.join("subagents"), &mut Vec::new());
        let groups = if started.is_empty() { Vec::new() } else { folders(&reference.root, &mut Vec::new()) };
        let found = |child: &PathBuf| {
            let name = child.file_name()?;
            let own = directory.parent().map(Path::to_owned);
            own.into_iter().chain(groups.iter().cloned()).find_map(|group| {
                let files = [UPDATES, CHAT, SUMMARY].map(|file| group.join(name).join(file));
                files.into_iter().find(|path| path.is_file())
            })
        };
        let child = |path| Reference { path, ..reference.clone() };
        started.iter().filter_map(found).map(child).collect()
    }

    fn placed_for(reference: &Reference, directory: &Path, _: &Context<'_>) -> bool {
        session_directory(reference).is_some_and(|session| place::is_group_of(&session, directory))
    }

    fn recognises(path: &Path, head: &[u8]) -> u8 {
        let document = Document::from_bytes(head.to_vec());
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let first = document.lines().next().and_then(|line| document.text_of(line.start, line.end));
        let updates =
            || first.as_ref().is_some_and(|line| matches!(updates::Update::read(line), Ok(Some(_))));
        let summary = || {
            let summary = document.text().and_then(Loose::of)?;
            summary.object("info").filter(|info| info.text("id").is_some() && info.text("cwd").is_some())
        };
        match name.as_str() {
            SUMMARY if summary().is_some() => 85,
            UPDATES if updates() => 95,
            _ if updates() => 80,
            CHAT if matches!(first.map(|line| chat::Row::read(&line)), Some(Ok(chat::Row::System(_)))) => 90,
            _ => 0,
        }
    }
}

files_store!(Grok);

/// The directory of a session that lies where the program puts sessions.
fn session_directory(reference: &Reference) -> Option<PathBuf> {
    let within = reference.path.strip_prefix(&reference.root).ok()?;
    (within.components().count() == 3).then(|| reference.path.parent().map(Path::to_owned))?
}

/// The session that the first update names.
fn first_id(document: &Document) -> Option<Text> {
    let line = document
        .lines()
        .find_map(|line| document.text_of(line.start, line.end).as_ref().and_then(Loose::of))?;
    line.object("params")?.some_text("sessionId")
}
