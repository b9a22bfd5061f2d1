//! Reading a line that is not simply one JSON object.

use std::borrow::Cow;

use ibid_model::{Finding, FindingKind, replace_lone_surrogates};

use super::values::{Part, parts};
use super::{Item, duplicate_keys};
use crate::findings::report;

/// A line whose plain reading failed.
pub(super) struct BrokenLine<'a> {
    /// Its number, if the lines were counted.
    pub(super) number: Option<u64>,
    /// Where it begins in the input.
    pub(super) start: u64,
    /// Its bytes.
    pub(super) bytes: &'a [u8],
    /// Whether a newline ended it.
    pub(super) terminated: bool,
}

/// The text of one JSON value.
pub(super) enum ValueText<'a> {
    /// As it stands in the line.
    InPlace(&'a str),
    /// A repaired copy.
    Repaired(String),
}

/// Reads every value of a broken line, as far as it can be read, and reports what is wrong.
pub(super) fn read_line<T>(
    line: &BrokenLine<'_>,
    items: &mut Vec<Item<T>>,
    findings: &mut Vec<Finding>,
    read: &mut dyn FnMut(ValueText<'_>) -> Result<T, serde_json::Error>,
) {
    let mut reading = Reading { line, items, findings, read };
    let parts = reading.split();
    let values = parts.iter().filter(|part| matches!(part, Part::Value(_))).count();
    if values > 1 {
        reading.report(
            FindingKind::SeveralValues,
            0,
            line.bytes.len(),
            format!("{values} values on one line"),
        );
    }
    for part in parts {
        match part {
            Part::Value(range) => reading.value(range.start, range.end),
            Part::Torn(range) => {
                let detail = "these bytes are no complete value, and a complete one follows on the same line";
                reading.report(FindingKind::TornPrefix, range.start, range.end, detail.to_owned());
            }
            Part::Cut(range) if !line.terminated => {
                let detail = "the input ends in the middle of a value";
                reading.report(FindingKind::CutLine, range.start, range.end, detail.to_owned());
            }
            Part::Cut(range) => {
                let detail = "the line ends in the middle of a value";
                reading.report(FindingKind::NotJson, range.start, range.end, detail.to_owned());
            }
            Part::NotJson(range) => {
                let detail = "these bytes are not JSON";
                reading.report(FindingKind::NotJson, range.start, range.end, detail.to_owned());
            }
        }
    }
}

struct Reading<'r, 'a, T> {
    line: &'r BrokenLine<'a>,
    items: &'r mut Vec<Item<T>>,
    findings: &'r mut Vec<Finding>,
    read: &'r mut dyn FnMut(ValueText<'_>) -> Result<T, serde_json::Error>,
}

impl<T> Reading<'_, '_, T> {
    /// The parts of the line. NUL bytes stand for what a crash lost; they are looked at as white
    /// space, so that what is before and after them is found.
    fn split(&mut self) -> Vec<Part> {
        let bytes = self.line.bytes;
        let runs = nul_runs(bytes);
        if runs.is_empty() {
            return parts(bytes);
        }
        for (start, end) in &runs {
            self.report(FindingKind::NulRun, *start, *end, format!("{} NUL bytes", end - start));
        }
        let spaced: Vec<u8> = bytes.iter().map(|byte| if *byte == 0 { b' ' } else { *byte }).collect();
        parts(&spaced)
    }

    /// Reads the value at `start..end` of the line.
    fn value(&mut self, start: usize, end: usize) {
        let bytes = self.line.bytes.get(start..end).unwrap_or_default();
        let mut text = String::from_utf8_lossy(bytes);
        if let Cow::Owned(_) = text {
            self.report_invalid(bytes, start);
        }
        if text.contains('\0') {
            text = Cow::Owned(with_holes(&text));
        }
        if !text.starts_with('{') {
            self.report(FindingKind::NotAnObject, start, end, "the value is not an object".to_owned());
            return;
        }
        // Each repair is tried once: a value can have both faults.
        let (mut surrogates, mut keys) = (true, true);
        let error = loop {
            let value = match &text {
                Cow::Borrowed(text) => (self.read)(ValueText::InPlace(text)),
                Cow::Owned(text) => (self.read)(ValueText::Repaired(text.clone())),
            };
            let error = match value {
                Ok(value) => {
                    let (start, end) = self.in_input(start, end);
                    self.items.push(Item { line: self.line.number.unwrap_or(0), start, end, value });
                    return;
                }
                Err(error) => error,
            };
            if std::mem::take(&mut surrogates)
                && let (Cow::Owned(repaired), count) = replace_lone_surrogates(&text)
            {
                let detail = format!("{count} escapes of half a surrogate pair");
                self.report(FindingKind::LoneSurrogate, start, end, detail);
                text = Cow::Owned(repaired);
                continue;
            }
            if duplicate_keys::is_duplicate(&error)
                && std::mem::take(&mut keys)
                && let Some((repaired, count)) = duplicate_keys::keep_last(&text)
            {
                self.report(
                    FindingKind::DuplicateKey,
                    start,
                    end,
                    format!("{count} keys that come again later"),
                );
                text = Cow::Owned(repaired);
                continue;
            }
            break error;
        };
        let message = error.to_string();
        let (kind, detail) = match message.starts_with("recursion limit exceeded") {
            true => (FindingKind::TooDeep, "values nest deeper than 128".to_owned()),
            false => (FindingKind::MalformedRecord, without_content(&message)),
        };
        self.report(kind, start, end, detail);
    }

    fn report_invalid(&mut self, bytes: &[u8], start: usize) {
        let (mut at, mut count, mut first, mut last) = (start, 0u64, None, start);
        for chunk in bytes.utf8_chunks() {
            at += chunk.valid().len();
            if !chunk.invalid().is_empty() {
                count += 1;
                first.get_or_insert(at);
                at += chunk.invalid().len();
                last = at;
            }
        }
        let detail = format!("{count} sequences of bytes that are not UTF-8");
        self.report(FindingKind::InvalidUtf8, first.unwrap_or(start), last, detail);
    }

    /// Reports something at `start..end` of the line.
    fn report(&mut self, kind: FindingKind, start: usize, end: usize, detail: String) {
        let (start, end) = self.in_input(start, end);
        let mut finding = Finding::new(kind, detail).at_bytes(start, end);
        finding.line = self.line.number;
        report(self.findings, finding);
    }

    /// The place in the input of a place in the line.
    fn in_input(&self, start: usize, end: usize) -> (u64, u64) {
        (self.line.start + start as u64, self.line.start + end as u64)
    }
}

/// Where NUL bytes stand, each run once.
fn nul_runs(bytes: &[u8]) -> Vec<(usize, usize)> {
    let mut runs: Vec<(usize, usize)> = Vec::new();
    for at in memchr::memchr_iter(0, bytes) {
        match runs.last_mut() {
            Some((_, end)) if *end == at => *end += 1,
            _ => runs.push((at, at + 1)),
        }
    }
    runs
}

/// A copy of a JSON value in which each run of NUL bytes inside a string is one U+FFFD, so that
/// the hole can be seen, and a space elsewhere.
fn with_holes(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    let (mut in_string, mut escaped, mut in_run) = (false, false, false);
    for c in json.chars() {
        if c == '\0' {
            if !std::mem::replace(&mut in_run, true) {
                out.push(if in_string { '\u{FFFD}' } else { ' ' });
            }
            continue;
        }
        in_run = false;
        out.push(c);
        match c {
            '"' if !escaped => in_string = !in_string,
            '\\' if in_string && !escaped => {
                escaped = true;
                continue;
            }
            _ => {}
        }
        escaped = false;
    }
    out
}

/// What a JSON reader said, without what the value holds: its messages quote strings from the
/// input, and only say in their last part what was expected.
fn without_content(message: &str) -> String {
    let told = message.rsplit_once(" at line ").map_or(message, |(told, _)| told);
    if told.starts_with("missing field `") {
        return told.to_owned();
    }
    match told.rsplit_once(", expected ") {
        Some((_, expected)) => format!("a value has another type: expected {expected}"),
        None => "a value has another type than the record's kind says".to_owned(),
    }
}
