//! Qoder CLI: conversations in the rows of Claude Code, and logs of runs.
//!
//! Not run to a turn (the program asks for a login): conversations are known from the bundle of
//! Qoder CLI 1.1.52, logs from a public reader of them; see `docs/formats/qoder.md`.

mod log;
mod place;
mod reading;
mod record;
mod slug;

use std::path::{Path, PathBuf};

use ibid_model::{Argument, Json, Session, SessionId, Text, Tool};
use memchr::memmem;

use crate::core::{
    Capabilities, Class, Codec, CodecError, Common, Context, Converted, Declaration, EvidencePlatform,
    Harness, HarnessId, Listing, Reference, Root, RootOrigin, Surroundings, Target, Transcript,
};
use crate::families::claude_rows;
use crate::families::files::{FilePlace, FilesBody, FilesHarness, files_store, not_written};

/// Qoder CLI.
#[derive(Clone, Copy, Debug)]
pub struct Qoder;

static DECLARATION: Declaration = Declaration {
    id: HarnessId::declare("qoder"),
    name: "Qoder",
    aliases: &["qoder-cli", "qodercli"],
    capabilities: Capabilities {
        store: true,
        write: false,
        resume: false,
        subagents: true,
        branches: true,
        compaction: true,
    },
    // Not known: the program was not run to a turn.
    resume: None,
    context_window: 200_000,
    versions_seen: &[],
    evidence: Some(EvidencePlatform { rank: 0, name: "qoder" }),
    capture: &[],
    retention_days: None,
};

/// Names the directory that stands for `~/.qoder`.
const CONFIG_DIR: &str = "QODER_CONFIG_DIR";

impl Harness for Qoder {
    const DECLARATION: &'static Declaration = &DECLARATION;
    type Body = FilesBody;
}

impl Codec for Qoder {
    fn to_common(transcript: &Transcript<Qoder>) -> Result<Common, CodecError> {
        reading::to_common(transcript)
    }

    fn from_common(_: &Session, target: &Target) -> Result<Converted<Transcript<Qoder>>, CodecError> {
        not_written::<Qoder>(target)
    }

    fn read_call(name: &Text, input: &Json) -> (Tool, Vec<Argument>) {
        claude_rows::read_call(name, input)
    }
}

impl FilesHarness for Qoder {
    // Rows of the tree name each other, so that none can be passed over.
    const NEEDLES: &'static [&'static str] = &["{"];
    const MAIN: &'static str = place::CONVERSATION;

    fn roots(machine: &Surroundings) -> Vec<Root> {
        vec![match machine.directory(CONFIG_DIR) {
            Some(path) => Root { path, origin: RootOrigin::Variable(CONFIG_DIR) },
            None => Root { path: machine.home().join(".qoder"), origin: RootOrigin::Default },
        }]
    }

    fn list(root: &Root, _: &Context<'_>) -> Listing {
        place::list(root)
    }

    fn places(reference: &Reference) -> Vec<FilePlace> {
        place::places(reference)
    }

    fn id(body: &FilesBody) -> SessionId {
        reading::session_id(body)
    }

    fn class(body: &FilesBody, common: &Common) -> Class {
        reading::class(body, common)
    }

    fn directory(reference: &Reference) -> Option<PathBuf> {
        place::directory(reference)
    }

    fn children(reference: &Reference, _: &Context<'_>) -> Vec<Reference> {
        place::children(reference)
    }

    fn placed_for(reference: &Reference, directory: &Path, _: &Context<'_>) -> bool {
        place::placed_for(reference, directory)
    }

    fn recognises(path: &Path, head: &[u8]) -> u8 {
        if path.extension().is_none_or(|end| end != "jsonl") {
            return 0;
        }
        // The rows of a conversation are those of Claude Code: only where they lie tells.
        if path.components().any(|part| part.as_os_str() == ".qoder") {
            return 97;
        }
        let has = |word: &[u8]| memmem::find(head, word).is_some();
        let logs =
            has(b"\"input.prompt.") || has(b"\"tool.requested\"") || has(b"\"model.response.completed\"");
        if logs && has(b"\"seq\"") { 80 } else { 0 }
    }
}

files_store!(Qoder);
