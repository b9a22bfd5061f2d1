//! What a list shows of a session, from the two ends of its file and the lines between that name
//! it.

use ibid_carrier::jsonl::{Limits, RawLine, Records, open_scanner};
use ibid_carrier::names::is_conflict_copy;
use ibid_model::{CarrierInfo, CarrierRole, Finding, FindingKind};
use memchr::memmem::Finder;

use super::Dialect;
use super::assembly::{class_of, no_turns, session_id};
use super::place::{Place, subagent_of};
use super::reader::Reader;
use super::records::Entry;
use crate::core::scan::{Fact, ScanEvent, Sink, Wants};
use crate::core::{Class, Discovered, Fold, Listed, StoreError, path_text};

/// How much of the end of a file is read for the last time and the last model.
const TAIL_BYTES: u64 = 256 << 10;

/// Describes a session. Of a long file only the beginning up to the first prompt, the last
/// [`TAIL_BYTES`], and the lines between that hold a name are taken apart; the rest is passed over.
///
/// # Errors
/// When the file cannot be read.
pub(crate) fn describe(
    dialect: &'static Dialect,
    listed: &Listed,
    limits: &Limits,
) -> Result<Discovered, StoreError> {
    let ends = Reading::of(dialect, listed, limits, TAIL_BYTES)?;
    let reading = match ends.is_enough() {
        true => ends,
        false => Reading::of(dialect, listed, limits, u64::MAX)?,
    };
    Ok(reading.finish(listed))
}

struct Reading {
    reader: Reader,
    fold: Fold,
    /// Whether any line was passed over.
    skipped: bool,
    /// What the tail says.
    tail_stamp: bool,
    tail_model: bool,
    is_blank: bool,
}

impl Reading {
    fn of(
        dialect: &'static Dialect,
        listed: &Listed,
        limits: &Limits,
        tail_bytes: u64,
    ) -> Result<Reading, StoreError> {
        let mut scanner = open_scanner(&listed.reference.path, 0, limits)?;
        let size = scanner.stamp().map_or(listed.bytes, |stamp| stamp.size);
        let tail = size.saturating_sub(tail_bytes);
        let names = [Finder::new("session_info"), Finder::new("\"title_change\"")];
        let mut reading = Reading {
            reader: Reader::new(dialect, Wants::METADATA),
            fold: Fold::default(),
            skipped: false,
            tail_stamp: false,
            tail_model: false,
            is_blank: true,
        };
        reading.reader.of_subagent = subagent_of(&listed.reference.path).is_some();
        let mut beside = Reader::beside(dialect, Wants::METADATA);
        let mut records = Records { items: Vec::new(), findings: Vec::new() };
        while let Some(line) = scanner.next()? {
            if !reading.skipped && (line.start >= tail || !reading.reader.has_preview()) {
                reading.read(&line, &mut records);
            } else if line.start >= tail || names.iter().any(|name| name.find(line.bytes).is_some()) {
                reading.read_beside(&line, &mut records, &mut beside, line.start >= tail);
            } else {
                reading.skipped = true;
            }
        }
        reading.fold.findings.extend_from_slice(scanner.findings());
        Ok(reading)
    }

    /// Reads a line that follows all lines before it.
    fn read(&mut self, line: &RawLine<'_>, records: &mut Records<Entry>) {
        line.read_into(records, |text| Entry::read(&text.into()));
        for item in records.items.drain(..) {
            self.is_blank = false;
            let place = Place { line: item.line, start: item.start, end: item.end };
            let fold = &mut self.fold;
            self.reader.take(&item.value, place, &mut |event| {
                fold.take(event);
            });
        }
        self.is_blank &= records.findings.is_empty();
        self.fold.findings.append(&mut records.findings);
    }

    /// Reads a line behind lines that were passed over: only its facts count.
    fn read_beside(
        &mut self,
        line: &RawLine<'_>,
        records: &mut Records<Entry>,
        beside: &mut Reader,
        in_tail: bool,
    ) {
        self.skipped = true;
        line.read_into(records, |text| Entry::read(&text.into()));
        for item in records.items.drain(..) {
            let place = Place { line: item.line, start: item.start, end: item.end };
            beside.take(&item.value, place, &mut |event| {
                let ScanEvent::Fact(fact) = event else { return };
                self.tail_stamp |= in_tail && matches!(fact, Fact::Stamp(_));
                self.tail_model |= in_tail && matches!(fact, Fact::Model(_));
                self.fold.take(ScanEvent::Fact(fact));
            });
        }
        self.fold.findings.append(&mut records.findings);
    }

    /// Whether what was passed over cannot matter.
    fn is_enough(&self) -> bool {
        !self.skipped || (self.tail_stamp && self.tail_model)
    }

    fn finish(self, listed: &Listed) -> Discovered {
        let path = &listed.reference.path;
        let summary = self.reader.summary();
        let class = class_of(path, summary, self.is_blank);
        let mut findings: Vec<Finding> =
            self.fold.findings.into_iter().map(|finding| finding.at_path(path)).collect();
        if class == Class::Foreign {
            let detail = "no line of it is an entry that the program writes";
            findings.push(Finding::new(FindingKind::ForeignContent, detail).at_path(path));
        }
        if path.file_name().is_some_and(|name| is_conflict_copy(&name.to_string_lossy())) {
            let detail = "its name is one that a copy gets";
            findings.push(Finding::new(FindingKind::ConflictCopy, detail).at_path(path));
        }
        if matches!(class, Class::Session | Class::Partial) {
            findings.extend(no_turns(summary).map(|finding| finding.at_path(path)));
        }
        let text = path_text(path);
        Discovered {
            reference: listed.reference.clone(),
            class,
            id: session_id(self.fold.id, &text),
            meta: self.fold.meta,
            lineage: subagent_of(path).into_iter().chain(self.fold.lineage).collect(),
            carriers: vec![CarrierInfo {
                path: text,
                role: CarrierRole::Transcript,
                key: None,
                bytes: Some(listed.bytes),
            }],
            fingerprint: listed.fingerprint.clone(),
            bytes: listed.bytes,
            findings,
        }
    }
}
