//! Sessions that are trees of entries in one JSONL file, as pi invented them.
//!
//! A file begins with a header; every other entry has an id and names the entry it continues, so
//! that a conversation can go on from any earlier point of the same file. pi itself and several
//! programs that grew out of it or embed it share the entries; what tells them apart is a
//! `Dialect`.
//!
//! - `records`: the entries, typed.
//! - `tree`: who continues whom.
//! - `reader`: what entries mean; feeds the full read (`to_common`) and the scan (`scan_file`).
//! - `content`, `tools`: what stands inside messages.
//! - `writer`: from a common session to entries.
//! - `describe`: what a list shows, without reading the whole.

mod assembly;
mod content;
mod content_out;
mod describe;
mod lines;
mod place;
mod reader;
mod records;
mod scan;
mod store;
mod tools;
mod tree;
mod writer;

use ibid_carrier::jsonl::Document;
use ibid_model::{CarrierInfo, CarrierRole, Origin};

pub(crate) use assembly::to_common;
pub(crate) use describe::describe;
pub(crate) use records::{Parent, Said};
pub(crate) use scan::scan_file;
pub(crate) use store::{SavePlace, delete, fingerprints, from_bytes, list, load, open_in, recognises, save};
pub(crate) use tools::decode as read_call;
pub(crate) use tree::{Oddity, Placed, Tree};
pub(crate) use writer::from_common;

use crate::core::{Carrier, Carriers, Content, path_text};

/// What tells one pi-style program from another.
#[derive(Debug)]
pub(crate) struct Dialect {
    /// The harness's id, as sessions name it.
    pub(crate) harness: &'static str,
    /// The harness's name for people.
    pub(crate) name: &'static str,
    /// Whether an entry of type `leaf` moves the end of the live branch.
    pub(crate) leaf_entries: bool,
    /// Who wrote a message of role `user`.
    pub(crate) origin: fn(&Said) -> Origin,
}

/// A session that is one JSONL file.
#[derive(Clone, Debug)]
pub struct TreeFile {
    /// The file, byte for byte.
    pub document: Document,
}

impl TreeFile {
    /// What the file is as a carrier.
    fn info(&self) -> CarrierInfo {
        CarrierInfo {
            path: self.document.path().map(path_text).unwrap_or_default(),
            role: CarrierRole::Transcript,
            key: None,
            bytes: Some(self.document.bytes().len() as u64),
        }
    }
}

impl Carriers for TreeFile {
    fn carriers(&self) -> Vec<Carrier<'_>> {
        vec![Carrier { info: self.info(), content: Content::Bytes(self.document.bytes()) }]
    }
}
