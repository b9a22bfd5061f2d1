//! Cowork: the local agent mode of the Claude desktop app. A session is a record that the app
//! keeps, the conversation that Claude Code keeps below it, and an audit log. The format is in
//! `docs/formats/cowork.md`.

mod accounts;
mod body;
mod codec;
mod describe;
mod files;
mod load;
mod place;
mod record;
mod save;
mod scan;
mod store;
mod text;
mod write;

pub use body::{Beside, Body, SessionBody, SubagentBody};

use ibid_model::SessionId;

use crate::core::{Capabilities, Declaration, Harness, HarnessId, ResumeRecipe};

/// The local agent mode of Anthropic's Claude desktop app.
#[derive(Clone, Copy, Debug)]
pub struct Cowork;

static DECLARATION: Declaration = Declaration {
    id: HarnessId::declare("cowork"),
    name: "Cowork",
    aliases: &["claude-cowork", "claude-desktop"],
    capabilities: Capabilities {
        store: true,
        write: true,
        resume: false,
        subagents: true,
        branches: true,
        compaction: true,
    },
    resume: Some(START),
    context_window: 200_000,
    versions_seen: &["2.1.234", "2.1.5"],
    evidence: None,
    capture: &[],
    retention_days: None,
};

/// The app has no way to be started on one session: all that can be done is to start it.
const START: ResumeRecipe = if cfg!(target_os = "macos") {
    ResumeRecipe { program: "open", arguments: &["-a", "Claude"], in_cwd: false }
} else {
    ResumeRecipe { program: "Claude", arguments: &[], in_cwd: false }
};

impl Harness for Cowork {
    const DECLARATION: &'static Declaration = &DECLARATION;
    type Body = Body;
}

/// The id of a subagent: its session's and its own, since its rows name the session of its
/// parent, and only both together name it.
// https://github.com/AgentWorkforce/relayhistory/pull/97 (fault 7)
fn subagent_id(session: &str, agent: &str) -> SessionId {
    SessionId::from(format!("{session}/{agent}"))
}
