//! Claude Code as capture sees it.

use super::attribution::THREADS;
use super::hooks::LIFECYCLE;
use crate::core::capture::{Attribution, CaptureProfile, Launch, Mechanism, Transcripts, UserAgentRule};
use crate::core::plugin::Plugin;

/// The one profile.
pub(super) static PROFILES: [CaptureProfile; 1] = [CaptureProfile {
    id: "claude",
    aliases: &["claude-code"],
    name: "Claude Code",
    user_agent: UserAgentRule::Prefix("claude"),
    launch: Launch::Recipe(super::launch::plan),
    attribution: Attribution::SessionsDir,
    threads: THREADS,
    transcripts: Transcripts::ClaudeProjects,
    mechanism: Mechanism::LaunchRedirect,
    plugin: Plugin::SettingsHooks(&super::plugin::PLUGIN),
    lifecycle: Some(&LIFECYCLE),
}];
