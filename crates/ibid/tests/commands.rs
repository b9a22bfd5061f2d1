//! The commands as people use them, one file each, in throw-away homes with real sessions.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test that cannot go on must fail"
)]
#![allow(clippy::indexing_slicing, reason = "JSON in tests is looked at by keys that must be there")]

mod common;

mod capture;
mod completions;
mod r#continue;
mod convert;
mod delete;
mod demo;
mod doctor;
mod explain;
mod export;
mod hook;
mod host;
mod import;
#[cfg(unix)]
mod killed;
mod list;
mod man;
mod no_network;
mod overview;
mod path;
#[cfg(unix)]
mod plugin;
mod published;
mod restore;
mod show;
