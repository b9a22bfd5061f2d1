//! What agents announce and send while they run. This crate knows no harness by name: what an
//! announcement means is read by the harness's own folder.
//!
//! - [`journal`]: the local log of observations, which many hook processes write at once.
//! - [`handoff`] and [`receiver`]: how a hook finds a process that listens, and what that process
//!   believes.
//! - [`envelope`]: identity in the headers of a request.
//! - [`join`]: one session as its lanes tell it.

pub mod envelope;
pub mod handoff;
pub mod join;
pub mod journal;
pub mod receiver;
