//! Which records of a stored session say a fact that is no message's.

use std::collections::BTreeMap;

use ibid_carrier::sqlite::{RowSet, SqlValue};
use ibid_harness::{AnyTranscript, Content};
use ibid_model::{Session, Source, Text, Timestamp};
use memchr::memmem;

/// A value, and how a record may write it.
struct Wanted {
    value: Text,
    written: String,
    /// Of a time: milliseconds, as databases keep it.
    number: Option<i64>,
    /// Whether the last record counts.
    last: bool,
}

/// The first record that holds each value of the session as a whole as a string of its own, and the
/// last one for the time of the last record.
pub(crate) fn facts(transcript: &AnyTranscript, session: &Session) -> BTreeMap<Text, Source> {
    let meta = &session.meta;
    let texts = [Some(session.id.text()), meta.cwd.as_ref(), meta.model.as_ref()];
    let parents = session.lineage.iter().filter_map(|lineage| lineage.parent.as_ref()).map(|id| id.text());
    let texts = texts.into_iter().flatten().chain(parents).map(|text| Wanted {
        value: text.clone(),
        written: text.to_string(),
        number: None,
        last: false,
    });
    // A file may write a time in more ways than these; its place is then not known.
    let time = |at: Timestamp, last| Wanted {
        value: at.to_string().into(),
        written: at.to_iso_milliseconds(),
        number: Some(at.as_milliseconds()),
        last,
    };
    let times = [meta.started.map(|at| time(at, false)), meta.updated.map(|at| time(at, true))];
    let wanted = texts.chain(times.into_iter().flatten());
    let mut places = BTreeMap::new();
    for Wanted { value, written, number: milliseconds, last } in wanted {
        if places.contains_key(&value) {
            continue;
        }
        for (number, carrier) in (0_u32..).zip(transcript.carriers()) {
            let place = match carrier.content {
                Content::Bytes(bytes) => {
                    in_lines(bytes, &written, last).map(|(start, end)| Source::bytes(number, start, end))
                }
                Content::Rows(rows) => {
                    in_rows(rows, &written, milliseconds).map(|(table, key)| Source::row(number, table, key))
                }
            };
            if let Some(place) = place {
                places.insert(value, place);
                break;
            }
        }
    }
    places
}

/// The line that holds the text as a JSON string.
fn in_lines(bytes: &[u8], text: &str, last: bool) -> Option<(u64, u64)> {
    let needle = serde_json::to_string(text).ok()?;
    let at = match last {
        true => memmem::rfind(bytes, needle.as_bytes())?,
        false => memmem::find(bytes, needle.as_bytes())?,
    };
    let start =
        bytes.get(..at).and_then(|before| memchr::memrchr(b'\n', before)).map_or(0, |newline| newline + 1);
    let end = bytes
        .get(at..)
        .and_then(|rest| memchr::memchr(b'\n', rest))
        .map_or(bytes.len(), |newline| at + newline);
    Some((u64::try_from(start).ok()?, u64::try_from(end).ok()?))
}

/// The row that has the text in a column, or in JSON that it keeps.
fn in_rows(rows: &RowSet, text: &str, number: Option<i64>) -> Option<(String, String)> {
    let quoted = serde_json::to_string(text).ok()?;
    let holds = |value: &SqlValue| match value {
        SqlValue::Text(held) => held == text || held.contains(&quoted),
        SqlValue::Integer(held) => Some(*held) == number,
        _ => false,
    };
    rows.tables.iter().find_map(|table| {
        let row = table.rows.iter().find(|row| row.iter().any(holds))?;
        Some((table.table.clone(), table.key_label(row)))
    })
}
