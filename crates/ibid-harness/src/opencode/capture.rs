//! OpenCode as capture sees it.

use ibid_model::ThreadRule;

use super::hooks::LIFECYCLE;
use crate::core::capture::{Attribution, CaptureProfile, Launch, Mechanism, Transcripts, UserAgentRule};
use crate::core::plugin::Plugin;

/// Only requests of a subagent name the session that spawned it, and the subagent's own stands in
/// another header, which every request has: no rule of this kind tells the sub-thread (measured
/// with 1.18.33; 1.0.152 has none of the headers).
static THREADS: &[ThreadRule] = &[];

/// The one profile.
pub(super) static PROFILES: [CaptureProfile; 1] = [CaptureProfile {
    id: "opencode",
    aliases: &["open-code"],
    name: "OpenCode",
    user_agent: UserAgentRule::None,
    launch: Launch::Unsupported,
    attribution: Attribution::LifecycleHooks,
    threads: THREADS,
    transcripts: Transcripts::None,
    mechanism: Mechanism::LifecycleHooks,
    plugin: Plugin::BundledExtension(&super::plugin::PLUGIN),
    lifecycle: Some(&LIFECYCLE),
}];
