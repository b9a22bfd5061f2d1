//! Plugins planned, installed, looked at and taken back in throw-away homes, and the driver of Codex's
//! plugin manager against a program that answers what a test says.
#![cfg(unix)]
#![allow(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test that cannot go on must fail"
)]

mod bundled;
mod grammars;
mod manager;
