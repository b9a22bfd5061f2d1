//! Codex as capture sees it: the command and the desktop app, which share their sessions and their hooks.

use super::attribution::THREADS;
use super::hooks::LIFECYCLE;
use crate::core::capture::{Attribution, CaptureProfile, Launch, Mechanism, Transcripts, UserAgentRule};
use crate::core::plugin::Plugin;

/// The profiles, the command first.
pub(super) static PROFILES: [CaptureProfile; 2] = [
    CaptureProfile {
        id: "codex",
        aliases: &[],
        name: "Codex",
        user_agent: UserAgentRule::None,
        launch: Launch::Recipe(super::launch::plan),
        attribution: Attribution::OpenRollout,
        threads: THREADS,
        transcripts: Transcripts::CodexRollouts,
        mechanism: Mechanism::LaunchRedirect,
        plugin: Plugin::None("the plugin of codex-app runs in the command too, and announces its sessions"),
        lifecycle: Some(&LIFECYCLE),
    },
    CaptureProfile {
        id: "codex-app",
        aliases: &["codex-desktop"],
        name: "Codex app",
        user_agent: UserAgentRule::None,
        launch: Launch::Unsupported,
        attribution: Attribution::LifecycleHooks,
        threads: THREADS,
        transcripts: Transcripts::CodexRollouts,
        mechanism: Mechanism::LifecycleHooks,
        plugin: Plugin::HookManifest(&super::plugin::PLUGIN),
        lifecycle: Some(&LIFECYCLE),
    },
];
