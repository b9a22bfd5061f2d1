//! What is installed in a harness so that it announces its boundaries: as a fact of its profile
//! ([`Plugin`]), as what belongs on a machine ([`Delivery`]), as what would be written
//! ([`Installation`], [`Removal`]), as what was ([`Receipt`]), and as it stands ([`Status`]).
//!
//! The harness says *what* belongs on the machine: files of its own, patches of a configuration
//! in its own grammar, the commands of its own plugin manager. How that is planned, written down,
//! compared with what is there and taken back is the same for every harness, and is here. Nothing
//! here writes: a plan is committed by the caller ([`ibid_carrier::plan::Engine`]). Only looking
//! reads files, and only a [`Registrar`] runs a program, the one it is given.
//!
//! Trust is the user's: what a person has to approve in the harness is said ([`Approval`]), and
//! never approved here.

mod bundled;
mod delivery;
mod error;
mod hook_command;
mod install;
mod look;
mod manifest;
mod patch;
mod place;
mod program;
mod quote;
mod receipt;
mod registration;
mod remove;
mod settings;
mod slots;

pub use bundled::{BundledExtension, BundledFile};
pub use delivery::{Delivery, Differences, FileRole, Piece};
pub use error::PluginError;
pub use hook_command::{HookCommand, NotUnicode};
pub use install::{Installation, Request};
pub use look::{Evidence, State, Status, Weight};
pub use manifest::{HookManifest, TreeFile};
pub use patch::{Gateway, GatewayAuth, Grammar, PatchError, Patched, Unpatched, Wish};
pub(crate) use program::{Ended, run, shown};
pub use quote::{posix_line, posix_word};
pub use receipt::{Receipt, ReceiptConfig, ReceiptFile};
pub use registration::{
    Goal, PluginOutcome, Registered, Registrar, RegistrarRun, SourceOutcome, Unregistered, Withdrawn,
};
pub use remove::{Left, Removal, RemovalRequest};
pub use settings::SettingsHooks;
pub use slots::{HOOK_LINE, HOOK_WORDS, Slot, UnfilledSlot, fill};

/// What a program needs to be observed.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Plugin {
    /// Nothing, and why: what it announces is announced already, or it announces nothing.
    None(&'static str),
    /// Files that the program loads by itself from a folder of extensions.
    BundledExtension(&'static BundledExtension),
    /// A plugin of the program's own kind, which its plugin manager has to be told of.
    HookManifest(&'static HookManifest),
    /// Hooks in the program's settings file.
    SettingsHooks(&'static SettingsHooks),
}

/// Something that only the user can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Approval {
    /// What, as a sentence.
    pub what: &'static str,
    /// When it has to be done (again).
    pub when: &'static str,
}
