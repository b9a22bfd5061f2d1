//! GitHub Copilot CLI: sessions that are a log of events and a few notes beside it.
//!
//! Known from running 1.0.102 (npm `@github/copilot`) offline with a provider of its own, from the
//! schema of events that it ships, and from files of 0.0.420 to 1.0.77; see
//! `docs/formats/copilot.md`.

mod assembly;
mod content;
mod records;
mod spending;
mod store;
mod tools;
mod workspace;

use ibid_model::{Argument, Json, Session, Text, Tool};

use crate::core::{
    Capabilities, Codec, CodecError, Common, Converted, Declaration, EvidencePlatform, Harness, HarnessId,
    ResumeRecipe, Target, Transcript,
};
use crate::families::files::{FilesBody, not_written};

/// GitHub Copilot CLI.
#[derive(Clone, Copy, Debug)]
pub struct Copilot;

static DECLARATION: Declaration = Declaration {
    id: HarnessId::declare("copilot"),
    name: "Copilot CLI",
    aliases: &["copilot-cli", "github-copilot", "github-copilot-cli"],
    capabilities: Capabilities {
        store: true,
        write: false,
        resume: true,
        subagents: false,
        branches: false,
        compaction: true,
    },
    // Found by its id from any directory; it goes on in its own (measured).
    resume: Some(ResumeRecipe { program: "copilot", arguments: &["--resume={id}"], in_cwd: false }),
    context_window: 64_000,
    versions_seen: &["1.0.102", "1.0.77", "1.0.11", "0.0.420"],
    evidence: Some(EvidencePlatform { rank: 4, name: "copilot" }),
    capture: &[],
    retention_days: None,
};

/// The log of events.
const EVENTS: &str = "events.jsonl";

/// The notes beside it.
const WORKSPACE: &str = "workspace.yaml";

impl Harness for Copilot {
    const DECLARATION: &'static Declaration = &DECLARATION;
    type Body = FilesBody;
}

impl Codec for Copilot {
    fn to_common(transcript: &Transcript<Copilot>) -> Result<Common, CodecError> {
        assembly::read(&transcript.id, &transcript.body)
    }

    fn from_common(_: &Session, target: &Target) -> Result<Converted<Transcript<Copilot>>, CodecError> {
        not_written::<Copilot>(target)
    }

    fn read_call(name: &Text, input: &Json) -> (Tool, Vec<Argument>) {
        tools::decode(name, input)
    }
}
