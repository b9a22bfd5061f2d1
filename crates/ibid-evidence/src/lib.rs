//! The evidence host: a local, read-only process that a studio, an editor or a script asks which
//! agent sessions belong to a project, what happened in them, and which files of the project they
//! touched. It speaks JSON lines over its standard input and output
//! (`docs/evidence-protocol.md`).
//!
//! Everything that knows a harness's format is in `ibid-harness`; what is here works on common
//! sessions alone.

pub mod answer;
mod artifacts;
pub mod ask;
mod discover;
mod host;
mod summary;
pub mod transport;
pub mod wire;
mod workspace;

use std::fmt;

use answer::{Discovery, Observations};
use ask::{DiscoverParams, ObserveParams};

pub use discover::Budgets;
pub use host::Host;
pub use workspace::Workspace;

/// The name and version of the protocol, as `host.describe` reports it.
pub const PROTOCOL: &str = "evidence-rust-1.0.0+jsonl-v1";

/// What answers the questions. The driver ([`PROTOCOL`] over two streams) works on any of these,
/// so that it can be tested on one that misbehaves.
pub trait Evidence: Send + Sync {
    /// The names of the platforms, in the order of the protocol.
    fn platforms(&self) -> Vec<&'static str>;

    /// The sessions of a project.
    ///
    /// # Errors
    /// When the question makes no sense. A store that cannot be read is part of the answer.
    fn discover(&self, params: &DiscoverParams) -> Result<Discovery, Refusal>;

    /// The files of a project that sessions touched.
    ///
    /// # Errors
    /// As [`Evidence::discover`].
    fn observe(&self, params: &ObserveParams) -> Result<Observations, Refusal>;
}

/// Why a question is not answered: a call error of the protocol.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The code.
    pub code: RefusalCode,
    /// What is wrong, and what to do, in a sentence.
    pub message: String,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.code.as_str(), self.message)
    }
}

/// The codes of call errors. The host goes on after each of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RefusalCode {
    /// There is no such method.
    UnknownMethod,
    /// The parameters cannot be read.
    InvalidParams,
    /// The answer would be longer than 16 MiB.
    ResponseLimit,
    /// The question could not be answered for a reason that is the host's.
    Internal,
}

impl RefusalCode {
    /// Every code.
    pub const ALL: [RefusalCode; 4] = [
        RefusalCode::UnknownMethod,
        RefusalCode::InvalidParams,
        RefusalCode::ResponseLimit,
        RefusalCode::Internal,
    ];

    /// The code on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            RefusalCode::UnknownMethod => "unknown-method",
            RefusalCode::InvalidParams => "invalid-params",
            RefusalCode::ResponseLimit => "response-limit",
            RefusalCode::Internal => "internal",
        }
    }
}
