//! The language-neutral cases of the contracts: what is written into the headers of a request, what
//! is read from them, which thread they name, and what is read of a hook's input.
//!
//! Our own cases are in `fixtures/contracts`, sealed by a digest; those that the tapes project
//! publishes are run too when `IBID_CORPUS` names a folder that has them.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test that cannot go on must fail"
)]
#![allow(clippy::indexing_slicing, reason = "JSON in tests is looked at by keys that must be there")]

mod case;
mod coverage;
mod envelope;
mod hooks;
mod sealed;
mod thread;
