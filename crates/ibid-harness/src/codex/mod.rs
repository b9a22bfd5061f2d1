//! Codex CLI: one JSONL file (a *rollout*) for each thread, below `$CODEX_HOME/sessions`. The
//! format, with the versions seen, is in `docs/formats/codex.md`.

mod ahead;
mod answers;
pub mod attribution;
mod calls;
mod capture;
mod children;
mod codec;
pub mod config;
mod content;
mod copied;
mod describe;
mod doubt;
mod event;
mod files;
pub mod hooks;
mod item;
mod json;
mod launch;
mod lines;
mod messages;
mod names;
mod patch;
mod pieces;
pub mod plugin;
mod records;
mod results;
mod said;
mod scan;
mod state;
mod store;
mod thread_names;
mod toml_text;
mod tools;
mod vocabulary;
mod whole;
mod write;

use bytes::Bytes;
use ibid_carrier::jsonl::Document;
use ibid_model::{CarrierInfo, CarrierRole, Text};

use crate::core::{
    Capabilities, Carrier, Carriers, Content, Declaration, EvidencePlatform, Harness, HarnessId,
    ResumeRecipe, path_text,
};

/// The harness.
#[derive(Clone, Copy, Debug)]
pub struct Codex;

static DECLARATION: Declaration = Declaration {
    id: HarnessId::declare("codex"),
    name: "Codex",
    aliases: &["codex-cli", "openai-codex", "codex_cli_rs"],
    capabilities: Capabilities {
        store: true,
        write: true,
        resume: true,
        subagents: true,
        branches: false,
        compaction: true,
    },
    resume: Some(ResumeRecipe { program: "codex", arguments: &["resume", "{id}"], in_cwd: false }),
    context_window: 258_400,
    versions_seen: &["0.171.0", "0.146.0", "0.140.0", "0.100.0", "0.47.0", "0.39.0"],
    evidence: Some(EvidencePlatform { rank: 1, name: "codex" }),
    capture: &capture::PROFILES,
    retention_days: None,
};

impl Harness for Codex {
    const DECLARATION: &'static Declaration = &DECLARATION;
    type Body = Rollouts;
}

/// The rollout files of one thread. A thread that was taken back to an earlier point (0.171) has
/// several, each of which goes on from the one before it; every other thread has one.
#[derive(Clone, Debug)]
pub struct Rollouts {
    pub(crate) files: Vec<Rollout>,
    /// The files of the thread that this one was forked from (0.171 only refers to them). They
    /// belong to that thread, and are not saved with this one.
    pub(crate) base: Vec<Rollout>,
    /// The name that a person gave the thread, which lies in an index beside the rollouts.
    pub(crate) name: Option<Text>,
}

/// One rollout file.
#[derive(Clone, Debug)]
pub(crate) struct Rollout {
    /// Its content, decompressed.
    pub(crate) document: Document,
    /// Its place below the root, with `/`; none when it has no place yet.
    pub(crate) place: Option<String>,
    /// The bytes as they are stored, when they are compressed.
    pub(crate) stored: Option<Bytes>,
}

impl Rollout {
    /// A rollout that lies nowhere yet.
    fn unplaced(document: Document) -> Rollout {
        Rollout { document, place: None, stored: None }
    }
}

impl Rollouts {
    /// Whether the thread is put away.
    fn archived(&self) -> bool {
        let place = self.files.last().and_then(|file| file.place.as_deref());
        place.is_some_and(|place| place.starts_with("archived_sessions/"))
    }
}

impl Carriers for Rollouts {
    fn carriers(&self) -> Vec<Carrier<'_>> {
        let carrier = |file: &'_ Rollout| CarrierInfo {
            path: file.document.path().map(path_text).unwrap_or_default(),
            role: CarrierRole::Transcript,
            key: None,
            bytes: Some(file.stored.as_ref().map_or(file.document.bytes().len(), Bytes::len) as u64),
        };
        let files = self.files.iter().chain(&self.base);
        files
            .map(|file| Carrier { info: carrier(file), content: Content::Bytes(file.document.bytes()) })
            .collect()
    }
}
