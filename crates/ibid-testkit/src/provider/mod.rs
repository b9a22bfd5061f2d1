//! A model provider that is a script: what the real programs talk to when they are tested offline.
//!
//! - [`wire`]: a request of any of the three APIs as one list of what was said.
//! - [`Exchange`] and [`log`]: every request and its answer, in memory and in a file.
//! - [`strict`]: what the real providers refuse.

mod exchange;
pub mod log;
pub mod strict;
pub mod wire;

pub use exchange::{Answer, Exchange};
