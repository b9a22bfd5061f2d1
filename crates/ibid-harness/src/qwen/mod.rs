//! Qwen Code: sessions that are trees of rows, one file each, and the transcripts of their subagents.
//!
//! Known from running 0.24.4 and 0.15.10 (npm `@qwen-code/qwen-code`) offline, from the program that
//! 0.24.4 ships, and from public files of 0.21; see `docs/formats/qwen.md`.

mod agent;
mod assembly;
mod content;
mod records;
mod spending;
mod store;
mod tools;

use ibid_model::{Argument, Json, Session, Text, Tool};

use crate::core::{
    Capabilities, Codec, CodecError, Common, Converted, Declaration, EvidencePlatform, Harness, HarnessId,
    ResumeRecipe, Target, Transcript,
};
use crate::families::files::{FilesBody, not_written};

/// Qwen Code.
#[derive(Clone, Copy, Debug)]
pub struct Qwen;

static DECLARATION: Declaration = Declaration {
    id: HarnessId::declare("qwen"),
    name: "Qwen Code",
    aliases: &["qwen-code"],
    capabilities: Capabilities {
        store: true,
        write: false,
        resume: true,
        subagents: true,
        branches: true,
        compaction: true,
    },
    resume: Some(ResumeRecipe { program: "qwen", arguments: &["--resume", "{id}"], in_cwd: true }),
    context_window: 131_072,
    versions_seen: &["0.24.4", "0.21.13", "0.21.7", "0.15.10"],
    evidence: Some(EvidencePlatform { rank: 7, name: "qwen" }),
    capture: &[],
    retention_days: None,
};

/// The rows.
const TRANSCRIPT: &str = "transcript.jsonl";

/// The note beside a subagent's transcript.
const NOTE: &str = "meta.json";

impl Harness for Qwen {
    const DECLARATION: &'static Declaration = &DECLARATION;
    type Body = FilesBody;
}

impl Codec for Qwen {
    fn to_common(transcript: &Transcript<Qwen>) -> Result<Common, CodecError> {
        assembly::read(&transcript.id, &transcript.body)
    }

    fn from_common(_: &Session, target: &Target) -> Result<Converted<Transcript<Qwen>>, CodecError> {
        not_written::<Qwen>(target)
    }

    fn read_call(name: &Text, input: &Json) -> (Tool, Vec<Argument>) {
        tools::decode(name, input)
    }
}
