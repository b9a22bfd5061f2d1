//! Claude-style rows: JSONL in which rows with a `uuid` and a `parentUuid` make a tree, one API
//! message is written as several rows, and tools are those of Claude Code. More than one harness
//! keeps its conversations so. Nothing here knows a root or the name of a harness.
//!
//! - [`Record`] is what one row says; loading and scanning both start from it.
//! - [`Assembly`] makes the conversation of rows.
//! - [`tools`] maps tools both ways.

mod assembly;
mod blocks;
mod compose;
mod content;
mod input;
mod lenient;
mod markup;
mod project;
mod record;
mod row;
mod sidecar;
mod skim;
mod spawn;
mod stream;
mod tools;
mod tree;
mod unnamed;
mod written;

use ibid_carrier::jsonl::Document;
use ibid_model::Finding;

pub(crate) use assembly::{Assembly, Place};
pub(crate) use compose::{Composed, Dialect, compose};
pub(crate) use project::{slug, slugs};
pub(crate) use record::Record;
pub(crate) use sidecar::{AgentMeta, spawned};
pub(crate) use skim::{READ_WHOLE, skim};
pub(crate) use spawn::{calling_subagent, subagent_transcripts};
pub(crate) use stream::{StreamSource, stream};
pub(crate) use tree::{Assembled, Shape};

/// Reads the rows of a document. With the conversation come the findings about lines.
pub(crate) fn read(document: &Document) -> (Assembly, Vec<Finding>) {
    let records = document.read_records(Record::read);
    let mut assembly = Assembly::default();
    for item in records.items {
        let place = Place { line: item.line, start: item.start, end: item.end };
        assembly.take(place, item.value);
    }
    let mut findings = document.findings().to_vec();
    findings.extend(records.findings);
    (assembly, findings)
}
