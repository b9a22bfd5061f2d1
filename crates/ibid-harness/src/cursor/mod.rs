//! Cursor: the transcripts that its agent keeps of every conversation, in the editor and in the
//! command line alike.
//!
//! The program is closed and was not run: the records are known from public files of 2026 and from
//! what others found out; see `docs/formats/cursor.md`. What the two programs keep in databases (the
//! editor's `state.vscdb`, the command line's `store.db`) is not read here, and a listing says so.
//!
//! - `records`: one line of a transcript.
//! - `assembly`: lines as one common session.
//! - `place`: folders, and what they are named after.
//! - `store`: which transcripts lie in a store, and what else lies there.
//! - `tools`: the tools that have a typed form.

mod assembly;
mod place;
mod records;
mod store;
mod tools;

use ibid_model::{Argument, Json, Session, Text, Tool};

use crate::core::{
    Capabilities, Codec, CodecError, Common, Converted, Declaration, EvidencePlatform, Harness, HarnessId,
    ResumeRecipe, Target, Transcript,
};
use crate::families::files::{FilesBody, not_written};

/// Cursor.
#[derive(Clone, Copy, Debug)]
pub struct Cursor;

static DECLARATION: Declaration = Declaration {
    id: HarnessId::declare("cursor"),
    name: "Cursor",
    aliases: &["cursor-agent"],
    capabilities: Capabilities {
        store: true,
        write: false,
        resume: true,
        subagents: true,
        branches: false,
        compaction: false,
    },
    resume: Some(ResumeRecipe { program: "cursor-agent", arguments: &["--resume={id}"], in_cwd: true }),
    context_window: 200_000,
    versions_seen: &[],
    evidence: Some(EvidencePlatform { rank: 3, name: "cursor" }),
    capture: &[],
    retention_days: None,
};

impl Harness for Cursor {
    const DECLARATION: &'static Declaration = &DECLARATION;
    type Body = FilesBody;
}

impl Codec for Cursor {
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
