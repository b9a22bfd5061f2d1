//! Simple: the tolerant interchange document that txcript defined. Messages with typed blocks,
//! and nothing that one must know to write one by hand.

mod read;
mod tools;
mod write;

use std::path::Path;

use ibid_model::{Argument, Json, Session, SessionId, Text, Tool};

use crate::core::{
    Capabilities, Codec, CodecError, Common, Converted, Declaration, Harness, HarnessId, Target, TextCodec,
    Transcript,
};
use crate::families::documents::{DocumentBody, DocumentHarness, begins_with_key, document_store};

/// Simple documents.
pub struct Simple;

static DECLARATION: Declaration = Declaration {
    id: HarnessId::declare("simple"),
    name: "Simple",
    aliases: &["simple-json"],
    capabilities: Capabilities {
        store: false,
        write: true,
        resume: false,
        subagents: false,
        branches: false,
        compaction: false,
    },
    resume: None,
    context_window: u64::MAX,
    versions_seen: &["txcript 0.14"],
    evidence: None,
    capture: &[],
    retention_days: None,
};

impl Harness for Simple {
    const DECLARATION: &'static Declaration = &DECLARATION;
    type Body = DocumentBody;
}

impl Codec for Simple {
    fn to_common(transcript: &Transcript<Self>) -> Result<Common, CodecError> {
        read::to_common(&transcript.body)
    }

    fn from_common(session: &Session, target: &Target) -> Result<Converted<Transcript<Self>>, CodecError> {
        write::from_common(session, target)
    }

    fn read_call(name: &Text, input: &Json) -> (Tool, Vec<Argument>) {
        tools::decode(name, input)
    }
}

impl TextCodec for Simple {
    fn from_text(text: &[u8]) -> Result<Transcript<Self>, CodecError> {
        let body = DocumentBody::new(text.to_vec());
        let id: SessionId = read::to_common(&body)?.session.id;
        Ok(Transcript { id, body })
    }

    fn to_text(transcript: &Transcript<Self>) -> Result<Vec<u8>, CodecError> {
        Ok(transcript.body.bytes.to_vec())
    }
}

impl DocumentHarness for Simple {
    const EXTENSION: &'static str = "simple.json";
}

document_store!(Simple, |path: &Path, head: &[u8]| {
    let messages = begins_with_key(path, head, "messages");
    let alone = head.len() < 4096 && serde_json::from_slice::<read::Probe>(head).is_ok();
    u8::from(messages || alone) * 20
});
