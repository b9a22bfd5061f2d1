//! What is said about files as they are found in the field.

mod document;
mod scanner;

use ibid_model::{Extent, Finding, FindingKind};
use proptest::prelude::*;
use serde::Deserialize;

use super::{Document, Records};

#[derive(Debug, Deserialize)]
struct Row {
    id: Option<String>,
    text: Option<String>,
    inner: Option<Box<Row>>,
}

fn rows(bytes: impl Into<bytes::Bytes>) -> Records<Row> {
    Document::from_bytes(bytes).read_records(|text| serde_json::from_str(text))
}

fn ids(records: &Records<Row>) -> Vec<&str> {
    records.items.iter().map(|item| item.value.id.as_deref().unwrap_or("")).collect()
}

/// Each finding as its kind, line and byte range.
fn findings<T>(records: &Records<T>) -> Vec<(FindingKind, u64, u64, u64)> {
    let place = |finding: &Finding| match finding.extent {
        Some(Extent::Bytes { start, end }) => (finding.kind, finding.line.unwrap_or(0), start, end),
        _ => (finding.kind, finding.line.unwrap_or(0), 0, 0),
    };
    records.findings.iter().map(place).collect()
}

/// Bytes that look like sessions and are broken in every way known.
fn broken_bytes() -> impl Strategy<Value = Vec<u8>> {
    let part = prop_oneof![
        4 => Just(br#"{"id":"a","text":"x"}"#.to_vec()),
        2 => Just(br#"{"id":"a","id":"b"}"#.to_vec()),
        2 => Just(br#"{"id":"\ud83d","inner":{"id":"#.to_vec()),
        3 => Just(b"\n".to_vec()),
        1 => Just(b"\r\n".to_vec()),
        1 => Just(vec![0; 3]),
        1 => Just("\u{FEFF}".as_bytes().to_vec()),
        1 => Just(b" \t".to_vec()),
        1 => Just(b"[1,2]".to_vec()),
        2 => proptest::collection::vec(any::<u8>(), 0..6),
    ];
    let parts = proptest::collection::vec(part, 0..24).prop_map(|parts| parts.concat());
    prop_oneof![3 => parts, 1 => proptest::collection::vec(any::<u8>(), 0..200)]
}
