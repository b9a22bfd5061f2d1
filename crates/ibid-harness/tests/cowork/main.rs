//! Cowork: homes of two organisations, with real Claude Code transcripts inside.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test states what it expects"
)]

mod converting;
mod damaged;
mod deleting;
mod home;
mod reading;
mod saving;
