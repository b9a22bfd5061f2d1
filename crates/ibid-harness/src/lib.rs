//! One folder per coding agent ("harness"): where it keeps sessions, its records, the way between
//! them and the common session, and its store.
//!
//! A harness is a type that implements [`Harness`], [`Codec`], [`TextCodec`] and [`Store`]. Code
//! that knows the harness uses these ([`convert`]); code that picks one at run time goes through
//! [`all`] or [`find`] and the facade [`AnyHarness`].
//!
//! Reading leaves no trace. Writing and deleting only make a plan
//! ([`ibid_carrier::plan::Plan`]), which the caller shows, checks and commits.
//!
//! # Limits
//!
//! Formats of closed programs are known from their files and from running them, not from a
//! promise of their makers; `docs/formats/` says for each claim how it is known and for which
//! version.

pub mod augment;
pub mod claude_code;
pub mod codex;
pub mod copilot;
pub mod core;
pub mod cowork;
pub mod cursor;
pub mod dsh;
pub mod families;
pub mod grok;
pub mod harness_run;
pub mod ibid_json;
pub mod kimi;
pub mod opencode;
pub mod pi;
pub mod qoder;
pub mod qwen;
pub mod simple;
pub mod workbuddy;

pub use core::capture::{
    Announced, Attribution, CaptureProfile, Launch, Lifecycle, Mechanism, NotAnEvent, Transcripts,
    UserAgentRule, profile, profiles, thread_rules,
};
pub use core::scan::{Control, Cursor, Fact, ScanEvent, Sink, Wants};
pub use core::{
    AnyHarness, AnyTranscript, Arguments, Capabilities, Carrier, Carriers, Class, Codec, CodecError, Common,
    Content, Context, Converted, Declaration, Deleting, Discovered, Discovery, DiscoveryCache,
    EvidencePlatform, Fold, Harness, HarnessId, Listed, Listing, NameError, OpenIn, Platform, Progress,
    Proven, Reference, Resolution, ResumeRecipe, Root, RootOrigin, SaveOptions, Saved, Saving, SessionName,
    Store, StoreError, Surroundings, Target, TextCodec, Transcript, comparable_path, convert, convert_to,
    discover, listed_at, proven, proven_to_be_read, resolve,
};

/// Every harness, in the order in which lists name them: those that are written first, then those
/// that are only read, by name, then the documents. Adding one is a folder and a line here.
static HARNESSES: &[&dyn AnyHarness] = &[
    &core::Erased::<claude_code::ClaudeCode>::new(),
    &core::Erased::<codex::Codex>::new(),
    &core::Erased::<cowork::Cowork>::new(),
    &core::Erased::<opencode::OpenCode>::new(),
    &core::Erased::<pi::Pi>::new(),
    &core::Erased::<augment::Augment>::new(),
    &core::Erased::<copilot::Copilot>::new(),
    &core::Erased::<cursor::Cursor>::new(),
    &core::Erased::<dsh::Dsh>::new(),
    &core::Erased::<grok::Grok>::new(),
    &core::Erased::<harness_run::HarnessRun>::new(),
    &core::Erased::<kimi::Kimi>::new(),
    &core::Erased::<qoder::Qoder>::new(),
    &core::Erased::<qwen::Qwen>::new(),
    &core::Erased::<workbuddy::WorkBuddy>::new(),
    &core::Erased::<simple::Simple>::new(),
    &core::Erased::<ibid_json::IbidJson>::new(),
];

/// Every harness that Ibid knows.
#[must_use]
pub fn all() -> &'static [&'static dyn AnyHarness] {
    HARNESSES
}

/// The harness of this id or alias, in any case, `_` and `-` alike.
#[must_use]
pub fn find(name: &str) -> Option<&'static dyn AnyHarness> {
    HARNESSES.iter().copied().find(|harness| harness.declaration().is_called(name))
}
