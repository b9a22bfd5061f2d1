//! Claude Code: one JSONL file a session, in a folder named after the working directory, with
//! the files of its subagents beside it. The format is in `docs/formats/claude-code.md`.

mod agents;
pub mod attribution;
mod capture;
mod codec;
pub mod hooks;
mod launch;
mod place;
pub mod plugin;
mod running;
mod save;
mod scan;
mod store;

use ibid_carrier::jsonl::Document;
use ibid_model::{CarrierInfo, CarrierRole, SessionId, Text};

use crate::core::{
    Capabilities, Carrier, Carriers, Content, Declaration, EvidencePlatform, Harness, HarnessId,
    ResumeRecipe, path_text,
};
use crate::families::claude_rows::Dialect;

/// Anthropic's Claude Code.
#[derive(Clone, Copy, Debug)]
pub struct ClaudeCode;

static DECLARATION: Declaration = Declaration {
    id: HarnessId::declare("claude-code"),
    name: "Claude Code",
    aliases: &["claude", "claudecode", "cc"],
    capabilities: Capabilities {
        store: true,
        write: true,
        resume: true,
        subagents: true,
        branches: true,
        compaction: true,
    },
    resume: Some(ResumeRecipe { program: "claude", arguments: &["--resume", "{id}"], in_cwd: true }),
    context_window: 200_000,
    versions_seen: &["2.1.332", "2.1.197", "1.0.60"],
    evidence: Some(EvidencePlatform { rank: 2, name: "claude" }),
    capture: &capture::PROFILES,
    retention_days: Some(30),
};

/// How the rows that Ibid writes are to be.
static DIALECT: Dialect =
    Dialect { kin: &["claude-code", "cowork"], version: "2.1.332", purpose: "claude-code" };

impl Harness for ClaudeCode {
    const DECLARATION: &'static Declaration = &DECLARATION;
    type Body = Body;
}

/// A session of Claude Code as it is at rest.
#[derive(Clone, Debug)]
pub struct Body {
    /// The conversation.
    pub transcript: Document,
    /// For a subagent: the document that says what it is for, where there is one.
    pub agent_meta: Option<Document>,
    /// For a subagent: what started it, as far as the store knows.
    pub spawned_by: Option<SessionId>,
}

impl Carriers for Body {
    fn carriers(&self) -> Vec<Carrier<'_>> {
        let carrier = |document: &'_ Document, role| CarrierInfo {
            path: document.path().map_or_else(Text::default, path_text),
            role,
            key: None,
            bytes: Some(document.bytes().len() as u64),
        };
        let mut carriers = vec![Carrier {
            info: carrier(&self.transcript, CarrierRole::Transcript),
            content: Content::Bytes(self.transcript.bytes()),
        }];
        carriers.extend(self.agent_meta.as_ref().map(|meta| Carrier {
            info: carrier(meta, CarrierRole::Metadata),
            content: Content::Bytes(meta.bytes()),
        }));
        carriers
    }
}

/// The id of a subagent: its session's and its own, since rows of a subagent name the session of
/// its parent, and only both together name it.
// https://github.com/AgentWorkforce/relayhistory/pull/97 (fault 7)
pub(crate) fn subagent_id(session: &str, agent: &str) -> SessionId {
    SessionId::from(format!("{session}/{agent}"))
}
