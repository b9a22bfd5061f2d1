//! Files that are one JSON document, `{"session": {...}, "items": [...]}`, as the first versions
//! of Codex wrote them.

use ibid_carrier::jsonl::{Document, Item};
use ibid_model::Text;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::records::{self, Body, Record};

#[derive(Deserialize)]
struct Whole<'a> {
    #[serde(borrow)]
    session: &'a RawValue,
    #[serde(borrow)]
    items: Vec<&'a RawValue>,
}

/// The records of a document that is such a file; none when it is not.
pub(super) fn records(document: &Document) -> Option<Vec<Item<Record>>> {
    // Rollouts begin with another key, so nothing is parsed twice.
    let head = document.bytes().get(..64).unwrap_or(document.bytes());
    let head = std::str::from_utf8(head).ok()?.trim_start();
    if !head.strip_prefix('{')?.trim_start().starts_with("\"session\"") {
        return None;
    }
    let text = document.text()?;
    let whole: Whole<'_> = serde_json::from_str(text).ok()?;
    let base = text.as_str().as_ptr() as usize;
    let mut records = Vec::with_capacity(whole.items.len() + 1);
    let mut add = |raw: &RawValue, record: Option<Record>| {
        let Some(value) = record else { return };
        let start = (raw.get().as_ptr() as usize).saturating_sub(base) as u64;
        records.push(Item { line: 0, start, end: start + raw.get().len() as u64, value });
    };
    add(whole.session, records::read_session(&Text::part_of(text, whole.session.get())).ok());
    for item in whole.items {
        let read = records::read_old_item(&Text::part_of(text, item.get())).ok();
        add(item, read.filter(|record| !matches!(record.body, Body::Stranger)));
    }
    Some(records)
}
