//! The records of a document.

use std::ops::Range;

use ibid_model::{Finding, FindingKind, Text};
use rayon::prelude::*;

use super::document::{Document, Line, Lines};
use super::recovery::{BrokenLine, ValueText, read_line};
use super::{BYTE_ORDER_MARK, trim};
use crate::findings::{report, report_all};

/// Documents over this size are read on several threads.
const PARALLEL: usize = 4 << 20;

/// The least that one thread takes at a time.
const PIECE: usize = 1 << 20;

/// What was read from the lines of a document.
#[derive(Clone, Debug)]
pub struct Records<T> {
    /// One for each record, in the order of the document.
    pub items: Vec<Item<T>>,
    /// What is wrong with the lines, in their order; a kind that occurs more than a hundred times
    /// is one finding with a count, at the first place.
    pub findings: Vec<Finding>,
}

impl<T> Default for Records<T> {
    fn default() -> Records<T> {
        Records { items: Vec::new(), findings: Vec::new() }
    }
}

/// One record and its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item<T> {
    /// The line it stands on, counted from 1; 0 when the lines were not counted.
    pub line: u64,
    /// The first byte of the value, from the beginning of the document.
    pub start: u64,
    /// The byte after its last.
    pub end: u64,
    /// The record.
    pub value: T,
}

impl Document {
    /// Reads every JSON value of every line with `read`, which gets the text of exactly one value;
    /// the text shares the memory of the document wherever the bytes could stay as they are.
    ///
    /// A line that is not simply one object is read as far as it can be: several values, a torn
    /// value before a complete one, NUL bytes, bytes that are not UTF-8, lone surrogates, keys
    /// that come twice (the last one counts, when `read` says that a field is duplicate). What is
    /// wrong, and what had to be left out, is in the findings. A record that `read` refuses is
    /// left out as [`MalformedRecord`](FindingKind::MalformedRecord). Blank lines are nothing.
    ///
    /// `read` is called on several threads when the document is over 4 MiB, and may be called
    /// more than once for a value that needs a repair.
    pub fn read_records<T: Send>(
        &self,
        read: impl Fn(&Text) -> Result<T, serde_json::Error> + Sync,
    ) -> Records<T> {
        let body = match self.bytes().starts_with(BYTE_ORDER_MARK) {
            true => BYTE_ORDER_MARK.len()..self.bytes().len(),
            false => 0..self.bytes().len(),
        };
        let piece = if body.len() < PARALLEL { usize::MAX } else { PIECE };
        let pieces = split(self.bytes(), body, piece);
        let read_pieces: Vec<Piece<T>> = match pieces.len() {
            0 | 1 => pieces.into_iter().map(|range| self.read_piece(range, &read)).collect(),
            _ => pieces.into_par_iter().map(|range| self.read_piece(range, &read)).collect(),
        };
        let mut items = Vec::with_capacity(read_pieces.iter().map(|piece| piece.items.len()).sum());
        let mut findings = Vec::new();
        let mut lines = 0;
        let mut returns = Returns::default();
        for mut piece in read_pieces {
            for item in &mut piece.items {
                item.line += lines;
            }
            items.append(&mut piece.items);
            let in_document = |f: Finding| Finding { line: f.line.map(|line| line + lines), ..f };
            report_all(&mut findings, piece.findings.into_iter().map(in_document));
            returns.append(piece.returns, lines);
            lines += piece.lines;
        }
        report_all(&mut findings, returns.finding());
        if let Some(path) = self.path() {
            findings = findings.into_iter().map(|finding| finding.at_path(path)).collect();
        }
        Records { items, findings }
    }

    fn read_piece<T>(
        &self,
        range: Range<usize>,
        read: &(impl Fn(&Text) -> Result<T, serde_json::Error> + Sync),
    ) -> Piece<T> {
        // One text for all lines of the piece, of which those of the lines are parts; a byte that is
        // not UTF-8 anywhere in it makes one text for each line.
        let shared = self.text_of(range.start as u64, range.end as u64);
        let text_at = |start: u64, part: &[u8]| match &shared {
            Some(whole) => {
                let from = usize::try_from(start).ok()?.checked_sub(range.start)?;
                Some(Text::part_of(whole, whole.get(from..from + part.len())?))
            }
            None => self.text_of(start, start + part.len() as u64),
        };
        let mut piece =
            Piece { items: Vec::new(), findings: Vec::new(), returns: Returns::default(), lines: 0 };
        let mut lines = Lines::new(self.bytes().get(range.clone()).unwrap_or_default(), range.start as u64);
        for line in lines.by_ref() {
            piece.returns.see(&line);
            let (lead, value) = trim(line.bytes);
            if value.is_empty() {
                continue;
            }
            if line.after - line.start - u64::from(line.terminated) > self.line_limit() {
                report(&mut piece.findings, oversize(line.start, line.end).on_line(line.number));
                continue;
            }
            if value.first() == Some(&b'{') {
                let start = line.start + lead as u64;
                if let Some(Ok(read)) = text_at(start, value).as_ref().map(read) {
                    let end = start + value.len() as u64;
                    piece.items.push(Item { line: line.number, start, end, value: read });
                    continue;
                }
            }
            let broken = BrokenLine {
                number: Some(line.number),
                start: line.start,
                bytes: line.bytes,
                terminated: line.terminated,
            };
            read_line(&broken, &mut piece.items, &mut piece.findings, &mut |text| match text {
                ValueText::Repaired(text) => read(&Text::from(text)),
                ValueText::InPlace(text) => match &shared {
                    Some(whole) => read(&Text::part_of(whole, text)),
                    None => read(&self.shared_text(text)),
                },
            });
        }
        piece.lines = lines.count_so_far();
        piece
    }
}

/// What one thread read. Lines are counted from the beginning of the piece.
struct Piece<T> {
    items: Vec<Item<T>>,
    findings: Vec<Finding>,
    returns: Returns,
    lines: u64,
}

/// The finding for a line that is too long to be read.
pub(super) fn oversize(start: u64, end: u64) -> Finding {
    let detail = format!("{} bytes, over the limit for one line", end - start);
    Finding::new(FindingKind::Oversize, detail).at_bytes(start, end)
}

/// How many lines end with a carriage return, and the first of them.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Returns {
    count: u64,
    first: Option<(u64, u64, u64)>,
}

impl Returns {
    pub(super) fn see(&mut self, line: &Line<'_>) {
        if line.after - line.end > 1 {
            self.count += 1;
            self.first.get_or_insert((line.number, line.end, line.after));
        }
    }

    fn append(&mut self, later: Returns, lines_before: u64) {
        self.count += later.count;
        self.first = self.first.or(later.first.map(|(line, start, end)| (line + lines_before, start, end)));
    }

    fn finding(self) -> Option<Finding> {
        let (line, start, end) = self.first?;
        let finding =
            Finding::new(FindingKind::CarriageReturns, "lines end with a carriage return and a newline");
        Some(finding.on_line(line).at_bytes(start, end).times(self.count))
    }
}

/// Cuts `body` after newlines into ranges of about `size` bytes.
fn split(bytes: &[u8], body: Range<usize>, size: usize) -> Vec<Range<usize>> {
    let mut pieces = Vec::new();
    let mut start = body.start;
    while start < body.end {
        let wanted = start.saturating_add(size);
        let end = match bytes.get(wanted..body.end).and_then(|rest| memchr::memchr(b'\n', rest)) {
            Some(newline) => wanted + newline + 1,
            None => body.end,
        };
        pieces.push(start..end);
        start = end;
    }
    pieces
}
