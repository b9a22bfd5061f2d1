//! The records of a log.

use ibid_carrier::jsonl::Item;
use ibid_model::{Source, Text, Timestamp};

use crate::families::files::SessionFile;
use crate::families::files::fields::{Fields, Value};

/// One record, with its place in time.
pub(super) struct Record<'a> {
    pub(super) kind: Text,
    /// Its own time.
    pub(super) at: Option<Timestamp>,
    /// Its time, else that of the record before it, else that of the name of its part.
    pub(super) order: Option<Timestamp>,
    pub(super) seq: Option<u64>,
    pub(super) call: Option<Text>,
    pub(super) data: Fields<'a>,
    pub(super) fields: Fields<'a>,
    pub(super) whole: Value<'a>,
    pub(super) source: Source,
    pub(super) line: u64,
}

/// The records of one part, in the order of the file.
pub(super) fn of_part<'a>(
    items: &'a [Item<Text>],
    carrier: u32,
    named: Option<Timestamp>,
) -> Vec<Record<'a>> {
    let mut order = named;
    let mut records = Vec::with_capacity(items.len());
    for item in items {
        let Ok(whole) = Value::read(&item.value) else { continue };
        let fields = whole.fields();
        let at = fields.get("ts").and_then(Value::time);
        order = at.or(order);
        records.push(Record {
            kind: fields.text("type").unwrap_or_default(),
            at,
            order,
            seq: fields.count("seq"),
            call: fields.filled("tool_call_id"),
            data: fields.fields("data"),
            fields,
            whole,
            source: Source::bytes(carrier, item.start, item.end),
            line: item.line,
        });
    }
    records
}

/// The time in the name of a part: `2026-09-08T05-38-19-958+08-00....jsonl` is
/// `2026-09-08T05:38:19.958+08:00`.
pub(super) fn time_of_name(file: &SessionFile) -> Option<Timestamp> {
    let name = file.name.rsplit('/').next()?;
    let (date, rest) = name.split_once('T')?;
    let digits = |text: &str, length: usize| -> Option<String> {
        let digits = text.get(..length)?;
        digits.bytes().all(|b| b.is_ascii_digit()).then(|| digits.to_owned())
    };
    let mut parts = Vec::new();
    let mut rest = rest;
    for length in [2, 2, 2, 3] {
        parts.push(digits(rest, length)?);
        rest = rest.get(length..)?;
        rest = if length < 3 { rest.strip_prefix('-')? } else { rest };
    }
    let [hours, minutes, seconds, milliseconds] = parts.as_slice() else { return None };
    let zone = match rest.get(..1)? {
        sign @ ("+" | "-") => {
            let (hours, minutes) = (digits(rest.get(1..)?, 2)?, digits(rest.get(4..)?, 2)?);
            format!("{sign}{hours}:{minutes}")
        }
        "Z" => "Z".to_owned(),
        _ => return None,
    };
    Timestamp::parse(&format!("{date}T{hours}:{minutes}:{seconds}.{milliseconds}{zone}"))
}

#[cfg(test)]
mod tests {
    use ibid_carrier::jsonl::Document;
    use ibid_model::CarrierRole;

    use super::*;

    #[test]
    fn the_name_of_a_part_says_when_it_began() {
        let time = |name: &str| {
            let file = SessionFile::unplaced(name, CarrierRole::Audit, Document::from_bytes(""));
            time_of_name(&file).map(Timestamp::to_iso_milliseconds)
        };
        let expected = Some("2026-09-07T21:38:19.958Z".to_owned());
        assert_eq!(time("segments/2026-09-08T05-38-19-958+08-00.jsonl"), expected);
        assert_eq!(time("2026-09-08T05-38-19-958+08-00-abc123.jsonl"), expected);
        assert_eq!(time("2026-09-07T21-38-19-958Z.jsonl"), expected);
        for odd in
            ["run.jsonl", "2026-09-08T05-38.jsonl", "T", "2026-09-08T05-38-19-95é+08-00", "xT05-38-19-958Z"]
        {
            assert_eq!(time(odd), None, "{odd}");
        }
    }
}
