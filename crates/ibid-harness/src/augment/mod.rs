//! Augment: the sessions of its command line, Auggie.
//!
//! The program needs a login and was not run to a turn: the place is known from its bundle (0.36.0),
//! the documents from what others found out; see `docs/formats/augment.md`.
//!
//! - `records`: the exchanges of a session's document.
//! - `assembly`: the document as a common session.
//! - `store`: which documents lie in a store.
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

/// Augment.
#[derive(Clone, Copy, Debug)]
pub struct Augment;

static DECLARATION: Declaration = Declaration {
    id: HarnessId::declare("augment"),
    name: "Augment",
    aliases: &["auggie", "augment-code"],
    capabilities: Capabilities {
        store: true,
        write: false,
        resume: false,
        subagents: false,
        branches: false,
        compaction: false,
    },
    resume: None,
    context_window: 200_000,
    versions_seen: &[],
    evidence: Some(EvidencePlatform { rank: 6, name: "augment" }),
    capture: &[],
    retention_days: None,
};

impl Harness for Augment {
    const DECLARATION: &'static Declaration = &DECLARATION;
    type Body = FilesBody;
}

impl Codec for Augment {
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
