//! Going over lines forwards and backwards.

use std::io::Write;

use ibid_model::FindingKind;
use proptest::prelude::*;

use super::{Row, broken_bytes, findings, ids};
use crate::jsonl::{Document, Limits, LinesFromEnd, Records, Scanner, open_from_end, open_scanner};

/// What a scanner says about each line: number, start, end, bytes, terminated, oversize.
type Scanned = (Option<u64>, u64, u64, Vec<u8>, bool, bool);

fn scanned<R: std::io::Read>(mut scanner: Scanner<R>) -> Vec<Scanned> {
    let mut lines = Vec::new();
    while let Some(line) = scanner.next().unwrap() {
        lines.push((line.number, line.start, line.end, line.bytes.to_vec(), line.terminated, line.oversize));
    }
    lines
}

/// Gives a few bytes at a time.
struct Drops<'a>(&'a [u8], usize);

impl std::io::Read for Drops<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let size = self.1.min(buffer.len()).min(self.0.len());
        buffer[..size].copy_from_slice(&self.0[..size]);
        self.0 = &self.0[size..];
        Ok(size)
    }
}

proptest! {
    #[test]
    fn a_scanner_gives_the_lines_of_the_document_whatever_its_buffer(
        bytes in broken_bytes(), buffer in 0usize..300, drop in 1usize..64,
    ) {
        let document = Document::from_bytes(bytes.clone());
        let expected: Vec<Scanned> = document
            .lines()
            .map(|line| (Some(line.number), line.start, line.end, line.bytes.to_vec(), line.terminated, false))
            .collect();
        let scanner = Scanner::with_buffer(Drops(&bytes, drop), 0, &Limits::default(), buffer);
        prop_assert_eq!(scanned(scanner), expected);
    }

    #[test]
    fn a_scanner_reads_the_records_of_the_document(bytes in broken_bytes()) {
        let records = Document::from_bytes(bytes.clone())
            .read_records(|text| serde_json::from_str::<serde_json::Value>(text));
        let mut scanner = Scanner::new(&bytes[..], 0, &Limits::default());
        let mut same = Records::default();
        while let Some(line) = scanner.next().unwrap() {
            line.read_into(&mut same, |text| serde_json::from_str::<serde_json::Value>(text));
        }
        prop_assert_eq!(same.items, records.items);
        let mut findings = records.findings;
        findings.retain(|finding| finding.kind != FindingKind::CarriageReturns);
        prop_assert_eq!(same.findings, findings);
    }

    #[test]
    fn a_scanner_passes_long_lines_with_their_whole_range_in_bounded_memory(
        bytes in broken_bytes(), limit in 0u64..40, buffer in 0usize..100, drop in 1usize..64,
    ) {
        let limits = Limits { line_bytes: limit, ..Limits::default() };
        let lines: Vec<_> = Document::from_bytes(bytes.clone()).lines().map(|line| (line.start, line.end, line.after)).collect();
        let scanner = Scanner::with_buffer(Drops(&bytes, drop), 0, &limits, buffer);
        let found = scanned(scanner);
        prop_assert_eq!(found.len(), lines.len());
        for ((_, start, end, shown, terminated, oversize), line) in found.into_iter().zip(lines) {
            prop_assert_eq!((start, end), (line.0, line.1));
            prop_assert_eq!(oversize, line.2 - line.0 - u64::from(terminated) > limit);
            let whole = &bytes[start as usize..end as usize];
            let expected = if oversize { &whole[..limit as usize] } else { whole };
            prop_assert_eq!(shown, expected);
        }
    }
}

proptest! {
    #[test]
    fn lines_from_the_end_are_the_lines_backwards(
        bytes in broken_bytes(), limit in prop_oneof![Just(1u64 << 20), 0u64..40], block in 1usize..80,
    ) {
        let limits = Limits { line_bytes: limit, ..Limits::default() };
        let mut expected = scanned(Scanner::new(&bytes[..], 0, &limits));
        expected.reverse();
        let mut lines = LinesFromEnd::with_block(std::io::Cursor::new(&bytes), bytes.len() as u64, &limits, block);
        let mut found = Vec::new();
        while let Some(line) = lines.next().unwrap() {
            found.push((line.start, line.end, line.bytes.to_vec(), line.terminated, line.oversize));
        }
        let expected: Vec<_> = expected.into_iter().map(|line| (line.1, line.2, line.3, line.4, line.5)).collect();
        prop_assert_eq!(found, expected);
    }
}

/// A file without a newline, larger than the limit for one line, as a hole in a disk leaves it.
#[test]
fn a_line_over_the_limit_takes_no_more_memory_than_one_at_the_limit() {
    const LIMIT: u64 = 4 << 20;
    let input = vec![0; 40 << 20];
    let limits = Limits { line_bytes: LIMIT, ..Limits::default() };
    let mut scanner = Scanner::new(&input[..], 0, &limits);
    assert!(scanner.next().unwrap().unwrap().oversize);
    assert!(scanner.buffer_bytes() as u64 <= LIMIT + 1, "{}", scanner.buffer_bytes());
    let (input, size) = (std::io::Cursor::new(&input), input.len() as u64);
    let mut lines = LinesFromEnd::with_block(input, size, &limits, 64 << 10);
    assert!(lines.next().unwrap().unwrap().oversize);
    assert!(lines.buffer_bytes() as u64 <= LIMIT, "{}", lines.buffer_bytes());
}

#[test]
fn the_last_line_of_a_large_file_is_known_without_reading_the_rest() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.jsonl");
    let hole = std::fs::File::create(&path).unwrap();
    hole.set_len(1 << 30).unwrap();
    let mut file = std::fs::OpenOptions::new().append(true).open(&path).unwrap();
    file.write_all(b"\n{\"id\":\"a\"}\n").unwrap();
    let mut lines = open_from_end(&path, &Limits::default()).unwrap().unwrap();
    let line = lines.next().unwrap().unwrap();
    assert_eq!((line.start, line.bytes), ((1 << 30) + 1, &b"{\"id\":\"a\"}"[..]));
}

#[test]
fn a_compressed_file_has_no_lines_from_the_end() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.jsonl");
    std::fs::write(&path, zstd::encode_all(&b"{}\n"[..], 0).unwrap()).unwrap();
    assert!(open_from_end(&path, &Limits::default()).unwrap().is_none());
}

// https://github.com/openclaw/openclaw/pull/64858 (fault 40)
#[test]
fn a_gigabyte_without_a_newline_needs_no_gigabyte_of_memory() {
    let limits = Limits { line_bytes: 1 << 20, ..Limits::default() };
    let input =
        std::io::Read::chain(std::io::Read::take(std::io::repeat(b'x'), 1 << 30), &b"\n{\"id\":\"a\"}\n"[..]);
    let mut scanner = Scanner::new(input, 0, &limits);
    let mut records = Records::<Row>::default();
    while let Some(line) = scanner.next().unwrap() {
        assert!(line.bytes.len() <= 64 << 10);
        line.read_into(&mut records, |text| serde_json::from_str(text));
    }
    assert_eq!(findings(&records), [(FindingKind::Oversize, 1, 0, 1 << 30)]);
    assert_eq!(ids(&records), ["a"]);
    assert!(scanner.buffer_bytes() <= 4 << 20);
}

#[test]
fn a_scanner_goes_on_where_whole_lines_ended() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.jsonl");
    std::fs::write(&path, "{\"id\":\"a\"}\n{\"id\":\"b").unwrap();
    let mut first = open_scanner(&path, 0, &Limits::default()).unwrap();
    while first.next().unwrap().is_some() {}
    assert_eq!(first.committed(), 11);
    std::fs::write(&path, "{\"id\":\"a\"}\n{\"id\":\"b\"}\n").unwrap();
    let second = open_scanner(&path, first.committed(), &Limits::default()).unwrap();
    assert_eq!(scanned(second), [(None, 11, 21, b"{\"id\":\"b\"}".to_vec(), true, false)]);
    let past = open_scanner(&path, 23, &Limits::default());
    assert!(matches!(past, Err(crate::CarrierError::PastEnd { offset: 23, bytes: 22, .. })));
}

#[test]
fn a_scanner_of_a_compressed_file_counts_decompressed_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.jsonl.zst");
    let content = b"{\"id\":\"a\"}\n".repeat(100_000);
    std::fs::write(&path, zstd::encode_all(&content[..], 0).unwrap()).unwrap();
    let scanner = open_scanner(&path, 11 * 99_999, &Limits::default()).unwrap();
    assert_eq!(scanned(scanner), [(None, 1_099_989, 1_099_999, b"{\"id\":\"a\"}".to_vec(), true, false)]);
    assert!(matches!(
        open_scanner(&path, 1_100_001, &Limits::default()),
        Err(crate::CarrierError::PastEnd { .. })
    ));
}

#[test]
fn a_scanner_of_a_damaged_compressed_file_gives_what_it_can_and_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.jsonl.zst");
    let content: String =
        (0..100_000u32).map(|n| format!("{{\"id\":\"{}\"}}\n", n.wrapping_mul(2_654_435_761))).collect();
    let stored = zstd::encode_all(content.as_bytes(), 0).unwrap();
    std::fs::write(&path, &stored[..stored.len() / 2]).unwrap();
    let mut scanner = open_scanner(&path, 0, &Limits::default()).unwrap();
    let mut lines = 0;
    while scanner.next().unwrap().is_some() {
        lines += 1;
    }
    assert!(lines > 1000);
    assert_eq!(scanner.findings()[0].kind, FindingKind::DamagedCompression);
}

#[test]
fn a_scanner_of_a_compressed_file_stops_at_the_limit() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.jsonl.zst");
    std::fs::write(&path, zstd::encode_all(&b"{}\n".repeat(1000)[..], 0).unwrap()).unwrap();
    let limits = Limits { file_bytes: 2999, ..Limits::default() };
    let mut scanner = open_scanner(&path, 0, &limits).unwrap();
    let outcome = loop {
        match scanner.next() {
            Ok(Some(_)) => {}
            Ok(None) => break Ok(()),
            Err(error) => break Err(error),
        }
    };
    assert!(matches!(outcome, Err(crate::CarrierError::TooLarge { limit: 2999, .. })));
}
