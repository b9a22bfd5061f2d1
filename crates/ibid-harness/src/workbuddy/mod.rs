//! WorkBuddy: sessions in rows like those of OpenAI's Responses API.
//!
//! The program is closed and was not run: the rows are known from public files of 2026 and from what
//! others found out; see `docs/formats/workbuddy.md`.
//!
//! - `records`: one row.
//! - `assembly`: rows as one common session.
//! - `store`: which sessions lie in a store.
//! - `tools`: the tools that have a typed form.

mod assembly;
mod records;
mod store;
mod tools;

use ibid_model::{Argument, Json, Session, Text, Tool};

use crate::core::{
    Capabilities, Codec, CodecError, Common, Converted, Declaration, EvidencePlatform, Harness, HarnessId,
    Target, Transcript,
};
use crate::families::files::{FilesBody, not_written};

/// WorkBuddy.
#[derive(Clone, Copy, Debug)]
pub struct WorkBuddy;

static DECLARATION: Declaration = Declaration {
    id: HarnessId::declare("workbuddy"),
    name: "WorkBuddy",
    aliases: &["work-buddy"],
    capabilities: Capabilities {
        store: true,
        write: false,
        resume: false,
        subagents: false,
        branches: false,
        compaction: false,
    },
    resume: None,
    context_window: 128_000,
    versions_seen: &[],
    evidence: Some(EvidencePlatform { rank: 10, name: "workbuddy" }),
    capture: &[],
    retention_days: None,
};

impl Harness for WorkBuddy {
    const DECLARATION: &'static Declaration = &DECLARATION;
    type Body = FilesBody;
}

impl Codec for WorkBuddy {
    fn to_common(transcript: &Transcript<Self>) -> Result<Common, CodecError> {
        assembly::to_common(transcript)
    }

    fn from_common(_: &Session, target: &Target) -> Result<Converted<Transcript<Self>>, CodecError> {
        not_written(target)
    }

    fn read_call(name: &Text, input: &Json) -> (Tool, Vec<Argument>) {
        tools::decode(name, input)
    }
}
