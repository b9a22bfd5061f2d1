//! Bytes at rest: what a session lives in, exactly as it is stored.
//!
//! A *carrier* is one file, or one set of database rows. This crate reads carriers without
//! touching anything beside them, keeps every byte, and reports what is wrong with them as
//! [`Finding`](ibid_model::Finding)s with their place. It knows no harness and no message.

#![cfg_attr(test, allow(clippy::string_slice, reason = "tests cut texts where they know what stands there"))]

mod error;
pub mod file;
pub mod fingerprint;
mod fold;
mod journal;
pub mod jsonl;
pub mod names;
pub mod plan;
pub mod sqlite;
mod stamp;
pub mod trash;
pub mod tree;
pub mod walk;
pub mod zstd_file;

pub use error::CarrierError;
pub use stamp::FileStamp;
