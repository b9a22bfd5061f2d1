//! Bytes at rest: what a session lives in, exactly as it is stored.
//!
//! A *carrier* is one file, or one set of database rows. This crate reads carriers without
//! touching anything beside them, keeps every byte, and reports what is wrong with them as
//! [`Finding`](ibid_model::Finding)s with their place. It knows no harness and no message.
//!
//! - [`jsonl`]: files of JSON lines, byte for byte: whole, scanned, from the end, or written.
//! - [`sqlite`]: rows of databases, read from a private copy.
//! - [`tree`]: directories of small files; [`walk`]: which files lie in a store.
//! - [`file`](mod@file) and [`zstd_file`]: one file as it is at one moment, decompressed within bounds.
//! - [`fingerprint`]: whether anything that a session lives in changed.
//! - [`findings`]: lists of findings that stay short.
//! - [`names`]: names from files that are to become part of a path.
//! - [`plan`] and [`trash`]: writes that can be shown, committed, and undone.
//!
//! What is wrong inside a carrier is a finding, and the rest is read; a [`CarrierError`] means
//! that there is nothing to read. Nothing here takes an absent file for an empty one.
//!
//! ```
//! use ibid_carrier::jsonl::{Document, Limits};
//! use ibid_carrier::walk::{WalkOptions, list_files};
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = tempfile::tempdir()?;
//! # let root = folder.path();
//! # std::fs::write(root.join("a.jsonl"), "{\"n\":1}\n{\"n\":2}\n{\"n\":")?;
//! let (files, unreadable) = list_files(root, &WalkOptions { extensions: &["jsonl"], ..WalkOptions::default() });
//! assert!(unreadable.is_empty());
//! for file in files {
//!     let document = Document::read(&file.path, &Limits::default())?;
//!     let records = document.read_records(|text| serde_json::from_str::<serde_json::Value>(text));
//!     assert_eq!(records.items.len(), 2);
//!     assert_eq!(records.findings[0].kind.code(), "cut-line");
//!     assert_eq!((records.findings[0].line, records.items[1].start), (Some(3), 8));
//! }
//! # Ok(())
//! # }
//! ```
//!
//! Limits: a document is held in memory as a whole, and a scanner, a buffer of the size of the
//! longest line; both caps are in [`jsonl::Limits`]. A write that keeps the size of a file and
//! falls into the same tick of the file system's clock as the one before it cannot be seen.

#![cfg_attr(test, allow(clippy::string_slice, reason = "tests cut texts where they know what stands there"))]

mod error;
pub mod file;
pub mod findings;
pub mod fingerprint;
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
