//! What agents announce and send while they run. This crate knows no harness by name: what an
//! announcement means is read by the harness's own folder.
//!
//! - [`journal`]: the local log of observations, which many hook processes write at once.
//! - [`hook_input`]: what an agent gives a hook, within bounds.
//! - [`handoff`], [`report`] and [`receiver`]: how a hook finds a process that listens, what it tells it,
//!   and what that process believes.
//! - [`envelope`]: identity in the headers of a request.
//! - [`join`]: one session as its lanes tell it.

pub mod envelope;
pub mod handoff;
pub mod hook_input;
pub mod join;
pub mod journal;
pub mod receiver;
pub mod report;
