//! Kimi Code: Moonshot AI's command line agent (`kimi`).
//!
//! Known from running 2.1.0 (npm `@moonshot-ai/kimi-code`) and from files of 2026-07 and 2026-08 (wire
//! protocol 1.4); see `docs/formats/kimi.md`. A session is a folder with a state and one log for each
//! agent. The archived `kimi-cli` keeps its sessions elsewhere and in another form.

mod appended;
mod assembly;
mod place;
mod reader;
mod tools;
mod wire;

use std::path::{Path, PathBuf};

use ibid_carrier::jsonl::Document;
use ibid_model::{Argument, Json, Session, SessionId, Text, Tool};

use crate::core::{
    Capabilities, Class, Codec, CodecError, Common, Context, Converted, Declaration, EvidencePlatform,
    Harness, HarnessId, Listing, Reference, ResumeRecipe, Root, Surroundings, Target, Transcript,
};
use crate::families::files::{FilePlace, FilesBody, FilesHarness, add_listed, files_store, not_written};
use crate::families::folders::folders;
use crate::families::loose::Loose;

use place::{MAIN, STATE, WIRE};

/// Kimi Code.
#[derive(Clone, Copy, Debug)]
pub struct Kimi;

static DECLARATION: Declaration = Declaration {
    id: HarnessId::declare("kimi"),
    name: "Kimi Code",
    aliases: &["kimi-code"],
    capabilities: Capabilities {
        store: true,
        write: false,
        resume: true,
        subagents: true,
        branches: true,
        compaction: true,
    },
    resume: Some(ResumeRecipe { program: "kimi", arguments: &["--session", "{id}"], in_cwd: true }),
    context_window: 200_000,
    versions_seen: &["2.1.0"],
    evidence: Some(EvidencePlatform { rank: 9, name: "kimi" }),
    capture: &[],
    retention_days: None,
};

fn subagent_id(session: &str, agent: &str) -> SessionId {
    SessionId::from(format!("{session}/{agent}"))
}

impl Harness for Kimi {
    const DECLARATION: &'static Declaration = &DECLARATION;
    type Body = FilesBody;
}

impl Codec for Kimi {
    fn to_common(transcript: &Transcript<Kimi>) -> Result<Common, CodecError> {
        assembly::to_common(&transcript.id, &transcript.body)
    }

    fn from_common(_: &Session, target: &Target) -> Result<Converted<Transcript<Kimi>>, CodecError> {
        not_written::<Kimi>(target)
    }

    fn read_call(name: &Text, input: &Json) -> (Tool, Vec<Argument>) {
        tools::decode(name, input)
    }
}

impl FilesHarness for Kimi {
    const MAIN: &'static str = WIRE;

    fn roots(machine: &Surroundings) -> Vec<Root> {
        place::roots(machine)
    }

    fn list(root: &Root, _: &Context<'_>) -> Listing {
        let mut listing = Listing { present: root.path.symlink_metadata().is_ok(), ..Listing::default() };
        let mut found = Vec::new();
        for folder in folders(&root.path, &mut listing.findings) {
            for session in folders(&folder, &mut listing.findings) {
                let agents = folders(&session.join("agents"), &mut listing.findings);
                let mut logs: Vec<PathBuf> =
                    agents.iter().map(|agent| agent.join(WIRE)).filter(|path| path.is_file()).collect();
                let main = session.join("agents").join(MAIN).join(WIRE);
                let state = session.join(STATE);
                if !logs.contains(&main) && state.is_file() {
                    logs.push(state);
                }
                let reference =
                    |path| Reference { harness: DECLARATION.id, root: root.path.clone(), path, key: None };
                found.extend(logs.into_iter().map(reference));
            }
        }
        add_listed::<Kimi>(&mut listing, found);
        listing
    }

    fn places(reference: &Reference) -> Vec<FilePlace> {
        place::files(&reference.path)
    }

    fn id(body: &FilesBody) -> SessionId {
        match assembly::agent_of(body) {
            Some((session, agent)) if agent == MAIN => session.into(),
            Some((session, agent)) => subagent_id(&session, &agent),
            None => written_id(body).map(SessionId::from).unwrap_or_default(),
        }
    }

    fn class(body: &FilesBody, common: &Common) -> Class {
        let session = &common.session;
        let empty = session.messages.is_empty() && session.events.is_empty() && body.file(STATE).is_none();
        match (empty, session.lineage.is_empty()) {
            (true, _) => Class::Other,
            (false, true) => Class::Session,
            (false, false) => Class::Sidecar,
        }
    }

    fn directory(reference: &Reference) -> Option<PathBuf> {
        let place = own_place(reference)?;
        Some(match place.agent.as_str() {
            MAIN => place.session,
            agent => place.session.join("agents").join(agent),
        })
    }

    fn children(reference: &Reference, context: &Context<'_>) -> Vec<Reference> {
        let Some(place) = own_place(reference) else { return Vec::new() };
        let state = Document::read(&place.session.join(STATE), context.limits).ok();
        let agents = state.and_then(|state| Loose::of(state.text()?)?.object("agents")).unwrap_or_default();
        let above = |agent: &str| {
            let said = agents.object(agent).and_then(|agent| agent.some_text("parentAgentId"));
            said.unwrap_or_else(|| Text::from(MAIN))
        };
        let is_child = |folder: &PathBuf| {
            place::name_of(folder).is_some_and(|agent| agent != MAIN && above(&agent) == place.agent.as_str())
        };
        let folders = folders(&place.session.join("agents"), &mut Vec::new());
        let logs = folders.iter().filter(|folder| is_child(folder)).map(|folder| folder.join(WIRE));
        logs.filter(|path| path.is_file()).map(|path| Reference { path, ..reference.clone() }).collect()
    }

    fn placed_for(reference: &Reference, directory: &Path, context: &Context<'_>) -> bool {
        place::is_for(reference, directory, context)
    }

    fn recognises(path: &Path, head: &[u8]) -> u8 {
        let document = Document::from_bytes(head.to_vec());
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let first = document.lines().next().and_then(|line| document.text_of(line.start, line.end));
        let first = first.as_ref().and_then(Loose::of).unwrap_or_default();
        let wire = first.text("type").is_some_and(|kind| kind == "metadata")
            && first.text("protocol_version").is_some();
        let state = || {
            let state = document.text().and_then(Loose::of).unwrap_or_default();
            state.object("agents").is_some_and(|agents| agents.object(MAIN).is_some())
        };
        match name.as_str() {
            STATE if state() => 85,
            WIRE if wire => 90,
            _ if wire => 60,
            _ => 0,
        }
    }
}

files_store!(Kimi);

/// What the path of a session says that lies where the program puts sessions: two folders below the
/// root.
fn own_place(reference: &Reference) -> Option<place::Place> {
    let place = place::of(&reference.path)?;
    let within = place.session.strip_prefix(&reference.root).ok()?;
    (within.components().count() == 2).then_some(place)
}

/// The id of a session whose files lie elsewhere: what the state says, else the folder that it names.
fn written_id(body: &FilesBody) -> Option<Text> {
    let (_, file) = body.file(STATE)?;
    let state = Loose::of(file.document.text()?)?;
    state.some_text("id").or_else(|| {
        let home = state.object("agents")?.object(MAIN)?.some_text("homedir")?;
        let folder = home.rsplit(['/', '\\']).nth(2)?;
        Some(Text::part_of(&home, folder))
    })
}
