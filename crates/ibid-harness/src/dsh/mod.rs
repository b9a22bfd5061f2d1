//! DeepSeek Harness: sessions are logs of events, plain or in checksummed zstd frames.
//!
//! Not run: known from the packages that its makers publish (npm `@deepseek-ai/dsh-session`
//! 0.1.1-rc.2 and its neighbours, format version 0) and from recorded files; see
//! `docs/formats/dsh.md`.

mod chain;
mod content;
mod keys;
mod messages;
mod reading;
mod steps;
mod store;
mod surface;
mod tools;

use std::path::{Path, PathBuf};

use ibid_model::{Argument, Json, Relation, Session, SessionId, Text, Tool};

use crate::core::{
    Capabilities, Class, Codec, CodecError, Common, Context, Converted, Declaration, EvidencePlatform,
    Harness, HarnessId, Listing, Reference, ResumeRecipe, Root, RootOrigin, Surroundings, Target, Transcript,
};
use crate::families::files::{FilePlace, FilesBody, FilesHarness, files_store, not_written};

/// DeepSeek Harness.
#[derive(Clone, Copy, Debug)]
pub struct Dsh;

static DECLARATION: Declaration = Declaration {
    id: HarnessId::declare("dsh"),
    name: "DeepSeek Harness",
    aliases: &["deepseek-harness", "deepseek"],
    capabilities: Capabilities {
        store: true,
        write: false,
        resume: true,
        subagents: true,
        branches: true,
        compaction: true,
    },
    resume: Some(ResumeRecipe {
        program: "dsh",
        arguments: &["--profile", "tui", "--resume", "{id}"],
        in_cwd: true,
    }),
    context_window: 128_000,
    versions_seen: &[],
    evidence: Some(EvidencePlatform { rank: 11, name: "dsh" }),
    capture: &[],
    retention_days: None,
};

/// Names the directory that stands for `~/.dsh`.
const HOME: &str = "DSH_HOME";

impl Harness for Dsh {
    const DECLARATION: &'static Declaration = &DECLARATION;
    type Body = FilesBody;
}

impl Codec for Dsh {
    fn to_common(transcript: &Transcript<Dsh>) -> Result<Common, CodecError> {
        reading::to_common(transcript)
    }

    fn from_common(_: &Session, target: &Target) -> Result<Converted<Transcript<Dsh>>, CodecError> {
        not_written::<Dsh>(target)
    }

    fn read_call(name: &Text, input: &Json) -> (Tool, Vec<Argument>) {
        tools::decode(name, input)
    }
}

impl FilesHarness for Dsh {
    const NEEDLES: &'static [&'static str] = &["\"session/title\""];
    const MAIN: &'static str = store::PLAIN;

    fn roots(machine: &Surroundings) -> Vec<Root> {
        let (home, origin) = match machine.directory(HOME) {
            Some(home) => (home, RootOrigin::Variable(HOME)),
            None => (machine.home().join(".dsh"), RootOrigin::Default),
        };
        vec![Root { path: home.join("sessions"), origin }]
    }

    fn list(root: &Root, _: &Context<'_>) -> Listing {
        store::list(root)
    }

    fn places(reference: &Reference) -> Vec<FilePlace> {
        store::places(reference)
    }

    fn id(body: &FilesBody) -> SessionId {
        reading::session_id(body)
    }

    fn class(_: &FilesBody, common: &Common) -> Class {
        let session = &common.session;
        if session.messages.is_empty() && session.events.is_empty() {
            Class::Other
        } else if reading::lacks_header(common) {
            Class::Partial
        } else if session.lineage.iter().any(|lineage| lineage.relation == Relation::Spawned) {
            Class::Sidecar
        } else {
            Class::Session
        }
    }

    fn directory(reference: &Reference) -> Option<PathBuf> {
        store::directory(reference)
    }

    fn placed_for(reference: &Reference, directory: &Path, _: &Context<'_>) -> bool {
        store::placed_for(reference, directory)
    }

    fn recognises(path: &Path, head: &[u8]) -> u8 {
        store::recognises(path, head)
    }
}

files_store!(Dsh);
