//! The local log of observations: append-only, written by many short-lived processes at once.

mod entry;

pub use entry::{Entry, Kept, Observed, Place, Refusal, Refused};
