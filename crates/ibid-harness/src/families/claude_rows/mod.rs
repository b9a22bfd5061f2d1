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
mod facts;
mod input;
mod lenient;
mod markup;
mod project;
mod recent;
mod record;
mod row;
mod sidecar;
mod skim;
mod spawn;
mod stream;
mod tally;
mod tools;
mod tree;
mod unnamed;
mod written;

use std::ops::Range;

use ibid_carrier::jsonl::{Document, Records};
use ibid_model::{Extent, Finding};

pub(crate) use assembly::Assembly;
pub(crate) use compose::{Composed, Dialect, compose};
pub(crate) use project::{slug, slugs};
pub(crate) use record::Record;
pub(crate) use sidecar::{AgentMeta, spawned};
pub(crate) use skim::{READ_WHOLE, skim};
pub(crate) use spawn::{calling_subagent, subagent_transcripts};
pub(crate) use stream::{StreamSource, stream};
pub(crate) use tools::read_call;
pub(crate) use tree::{Assembled, Shape};

/// Maps and sets of ids from files: seeded anew for each process, and faster than the standard
/// ones.
type Map<K, V> = std::collections::HashMap<K, V, foldhash::fast::RandomState>;
type Set<K> = std::collections::HashSet<K, foldhash::fast::RandomState>;

/// Documents are read in parts of this size, so that the rows of one part are put together while
/// the next one is read, and not all rows are in memory beside the conversation.
const PART: usize = 8 << 20;

/// Reads the rows of a document. With the conversation come the findings about lines.
pub(crate) fn read(document: &Document) -> (Assembly, Vec<Finding>) {
    let mut assembly = Assembly::default();
    let mut findings = document.findings().to_vec();
    let mut parts = parts(document.bytes()).into_iter();
    if parts.len() <= 1 {
        let records = document.read_records(Record::read);
        assembly.take_all(0, records.items);
        findings.extend(records.findings);
        return (assembly, findings);
    }
    let more = parts.len();
    let mut next = parts.next().map(|range| read_part(document, range));
    if let Some((_, records)) = &next {
        assembly.reserve(records.items.len().saturating_mul(more));
    }
    while let Some((start, records)) = next {
        findings.extend(records.findings.into_iter().map(|finding| moved(finding, start)));
        let range = parts.next();
        let (_, read) = rayon::join(
            || assembly.take_all(start, records.items),
            || range.map(|range| read_part(document, range)),
        );
        next = read;
    }
    (assembly, findings)
}

/// The records of a part of a document, and where it begins.
fn read_part(document: &Document, range: Range<usize>) -> (u64, Records<Record>) {
    let start = range.start as u64;
    let part = Document::from_bytes(document.shared_bytes().slice(range));
    let mut records = part.read_records(Record::read);
    for item in &mut records.items {
        item.line = 0;
    }
    (start, records)
}

/// The finding of a part, as one of the whole. Which line it is on is counted later.
fn moved(mut finding: Finding, by: u64) -> Finding {
    finding.line = None;
    if let Some(Extent::Bytes { start, end }) = &mut finding.extent {
        *start += by;
        *end += by;
    }
    finding
}

/// Parts of about [`PART`] bytes that end with lines.
fn parts(bytes: &[u8]) -> Vec<Range<usize>> {
    let mut parts = Vec::new();
    let mut start = 0;
    while start < bytes.len() {
        let least = start.saturating_add(PART);
        let newline = bytes.get(least..).and_then(|rest| memchr::memchr(b'\n', rest));
        let end = newline.map_or(bytes.len(), |at| least + at + 1);
        parts.push(start..end);
        start = end;
    }
    parts
}

/// Fills in the lines of findings that only have a place.
pub(crate) fn number_lines(document: &Document, findings: &mut [Finding]) {
    let mut places: Vec<(u64, &mut Finding)> = findings
        .iter_mut()
        .filter(|finding| finding.line.is_none())
        .filter_map(|finding| match finding.extent {
            Some(Extent::Bytes { start, .. }) => Some((start, finding)),
            _ => None,
        })
        .collect();
    places.sort_by_key(|(start, _)| *start);
    let (mut counted, mut lines) = (0, 1);
    for (start, finding) in places {
        let upto = usize::try_from(start).unwrap_or(usize::MAX);
        let between = document.bytes().get(counted..upto).unwrap_or_default();
        lines += memchr::memchr_iter(b'\n', between).count() as u64;
        counted = counted.max(upto);
        finding.line = Some(lines);
    }
}
