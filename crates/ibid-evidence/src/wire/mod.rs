//! The driver: the protocol ([`crate::PROTOCOL`]) over two streams, on any [`Evidence`].
//!
//! A request is one line of JSON, and so is its answer. Requests are answered one after the other,
//! in their order. What cannot be trusted as a frame ends the process ([`Fault`]); a question that
//! cannot be answered gets a call error ([`crate::Refusal`]), and the next one is read.
//! `docs/evidence-protocol.md` is the contract.
//!
//! # Limits
//!
//! Requests are bounded while they are read ([`REQUEST_LIMIT`], [`DEPTH_LIMIT`]), answers while
//! they are written ([`RESPONSE_LIMIT`]). One request is held in memory at a time.
//!
//! [`Evidence`]: crate::Evidence

mod driver;
mod envelope;
mod excerpt;
mod line;
mod process;
mod reply;
mod schema;

pub use driver::{CAPABILITIES, Ended, Fault, serve};
pub use line::{LineEnd, read_line};
pub use process::{complain, report_panics_on_one_line, run, run_alone};
pub use schema::{request_schema, response_schema};

/// The bytes of a request, its line feed included. A request that has as many is answered.
pub const REQUEST_LIMIT: usize = 4 * 1024 * 1024;

/// The bytes of an answer, before its line feed.
pub const RESPONSE_LIMIT: usize = 16 * 1024 * 1024;

/// How deep objects and lists of a request may stand in each other; the frame itself counts as one.
pub const DEPTH_LIMIT: usize = 128;

/// The version of the envelope.
pub const ENVELOPE_VERSION: u64 = 1;
