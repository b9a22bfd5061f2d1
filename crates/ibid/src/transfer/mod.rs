//! Bringing a session into another harness: what `convert`, `continue` and `import` share.
//!
//! The way is always the same: the material is converted and planned ([`prepare()`]), the result is
//! read once more in memory and compared with the source ([`story`]), the plan is checked; only
//! then may it be committed ([`Transfer::commit`]), and what was written is read back before the
//! commit counts.

mod commit;
mod material;
mod prepare;
mod report;
mod story;

use ibid_carrier::plan::{Plan, Policy};
use ibid_harness::{AnyHarness, Reference};
use ibid_model::{Essence, Finding, Losses, Selection, SessionId, Text};
use std::path::PathBuf;

pub(crate) use material::{Material, Piece};
pub(crate) use prepare::prepare;
pub(crate) use report::{exists_already, refusal};

/// Which id the new session gets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum IdWish {
    /// One derived from the source, so that the same conversion gives the same id.
    #[default]
    Derived,
    /// The source's.
    Keep,
    /// One that no conversion has given yet.
    New,
}

/// What a transfer should make.
#[derive(Clone)]
pub(crate) struct Wishes {
    /// The target.
    pub(crate) to: &'static dyn AnyHarness,
    /// The root to write in; none means the target's own.
    pub(crate) out: Option<PathBuf>,
    /// The id.
    pub(crate) id: IdWish,
    /// The working directory; none keeps the source's.
    pub(crate) cwd: Option<Text>,
    /// Which part of the source.
    pub(crate) selection: Selection,
    /// The account of a target that has several.
    pub(crate) account: Option<String>,
    /// Whether subagents go along.
    pub(crate) subagents: bool,
    /// Whether a session of the same id may be replaced.
    pub(crate) replace: bool,
    /// Whether it may be replaced while a running program has it open.
    pub(crate) while_open: bool,
}

impl Wishes {
    /// The whole live branch with its subagents, under a derived id, in the target's own place.
    pub(crate) fn of(to: &'static dyn AnyHarness) -> Wishes {
        Wishes {
            to,
            out: None,
            id: IdWish::Derived,
            cwd: None,
            selection: Selection::default(),
            account: None,
            subagents: true,
            replace: false,
            while_open: false,
        }
    }
}

/// A transfer that can be shown, and committed.
pub(crate) struct Transfer {
    to: &'static dyn AnyHarness,
    /// Everything that would be written.
    pub(crate) plan: Plan,
    policy: Policy,
    /// Whether it is written where the target's program does not look by itself.
    elsewhere: bool,
    /// What is changed or left behind.
    pub(crate) losses: Losses,
    /// What was wrong with the source.
    pub(crate) findings: Vec<Finding>,
    /// What the person should know before it is done, one sentence each.
    pub(crate) notes: Vec<String>,
    /// The session, and behind it its subagents.
    made: Vec<Made>,
}

/// One session that the transfer makes.
struct Made {
    id: SessionId,
    reference: Reference,
    /// What it says, read from memory before anything was written.
    says: Vec<Essence>,
}
