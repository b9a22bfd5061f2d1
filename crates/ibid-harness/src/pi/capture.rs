//! pi as capture sees it.

use super::hooks::LIFECYCLE;
use crate::core::capture::{Attribution, CaptureProfile, Launch, Mechanism, Transcripts, UserAgentRule};
use crate::core::plugin::Plugin;

/// The one profile. Requests of pi name no session (measured with 1.6.0).
pub(super) static PROFILES: [CaptureProfile; 1] = [CaptureProfile {
    id: "pi",
    aliases: &[],
    name: "pi",
    user_agent: UserAgentRule::None,
    launch: Launch::Unsupported,
    attribution: Attribution::None,
    threads: &[],
    transcripts: Transcripts::None,
    mechanism: Mechanism::LifecycleHooks,
    plugin: Plugin::BundledExtension(&super::extension::PLUGIN),
    lifecycle: Some(&LIFECYCLE),
}];
