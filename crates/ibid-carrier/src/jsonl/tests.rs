//! What a document says about files as they are found in the field.

use std::io::Write;

use ibid_model::{Extent, FindingKind, Json, Text};
use proptest::prelude::*;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::{Document, Limits, LinesFromEnd, Records, Scanner, open_from_end, open_scanner};

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
    let place = |finding: &ibid_model::Finding| match finding.extent {
        Some(Extent::Bytes { start, end }) => (finding.kind, finding.line.unwrap_or(0), start, end),
        _ => (finding.kind, finding.line.unwrap_or(0), 0, 0),
    };
    records.findings.iter().map(place).collect()
}

#[test]
fn a_record_shares_the_memory_of_the_document() {
    let document = Document::from_bytes("{\"id\":\"a\"}\n");
    let records = document.read_records(|text| {
        let raw: &RawValue = serde_json::from_str(text)?;
        Ok(Json::part_of(text, raw))
    });
    let value = &records.items[0].value;
    assert_eq!(value.as_str().as_ptr(), document.bytes().as_ptr());
}

#[test]
fn the_range_of_an_item_is_that_of_its_value() {
    let text = "\n  {\"id\":\"a\"} \r\n{\"id\":\"b\"}{\"id\":\"c\"}\n";
    let records = rows(text);
    let values: Vec<_> =
        records.items.iter().map(|item| (item.line, &text[item.start as usize..item.end as usize])).collect();
    assert_eq!(values, [(2, "{\"id\":\"a\"}"), (3, "{\"id\":\"b\"}"), (3, "{\"id\":\"c\"}")]);
}

// https://github.com/github/copilot-cli/issues/4098 (fault 4)
#[test]
fn two_records_on_one_line_are_both_read() {
    let records = rows("{\"id\":\"a\"}{\"id\":\"b\"}\n{\"id\":\"c\"}\n");
    assert_eq!(ids(&records), ["a", "b", "c"]);
    assert_eq!(findings(&records), [(FindingKind::SeveralValues, 1, 0, 20)]);
}

// https://github.com/openai/codex/issues/24425 (fault 4)
#[test]
fn a_record_behind_a_torn_one_is_read_and_the_torn_one_is_reported() {
    let records = rows("{\"id\":\"a\",\"text\":\"ha{\"id\":\"b\"}\n{\"id\":\"c\"}\n");
    assert_eq!(ids(&records), ["b", "c"]);
    assert_eq!(findings(&records), [(FindingKind::TornPrefix, 1, 0, 20)]);
}

// https://github.com/thedotmack/claude-mem/pull/4192 (fault 17)
#[test]
fn a_last_line_that_ends_inside_a_value_is_a_cut_line() {
    let records = rows("{\"id\":\"a\"}\n{\"id\":\"b");
    assert_eq!(ids(&records), ["a"]);
    assert_eq!(findings(&records), [(FindingKind::CutLine, 2, 11, 19)]);
}

// https://github.com/siteboon/claudecodeui/issues/1002 (fault 19)
#[test]
fn separators_of_unicode_do_not_end_a_line() {
    let text = "a\u{2028}b\u{2029}c\u{85}d\u{b}".replace('\u{b}', "\\u000b");
    let records = rows(format!("{{\"text\":\"{text}\"}}\n"));
    assert_eq!(records.items[0].value.text.as_deref(), Some("a\u{2028}b\u{2029}c\u{85}d\u{b}"));
    assert!(records.findings.is_empty());
}

// https://github.com/anthropics/claude-code/issues/68325 (fault 20)
#[test]
fn a_record_with_half_a_surrogate_pair_is_read() {
    let records = rows(r#"{"id":"\ud99c abc","text":"cut \ud83d"}"#);
    assert_eq!(ids(&records), ["\u{FFFD} abc"]);
    assert_eq!(records.items[0].value.text.as_deref(), Some("cut \u{FFFD}"));
    assert_eq!(findings(&records), [(FindingKind::LoneSurrogate, 1, 0, 39)]);
}

// https://github.com/anthropics/claude-code/issues/76059 (fault 21)
#[test]
fn nul_bytes_around_records_are_reported_and_the_records_are_read() {
    let mut bytes = b"{\"id\":\"a\"}".to_vec();
    bytes.extend([0; 9000]);
    bytes.extend(b"\n");
    bytes.extend([0; 40]);
    bytes.extend(b"{\"id\":\"b\"}\n");
    bytes.extend([0; 143_000]);
    let records = rows(bytes);
    assert_eq!(ids(&records), ["a", "b"]);
    assert_eq!(
        findings(&records),
        [
            (FindingKind::NulRun, 1, 10, 9010),
            (FindingKind::NulRun, 2, 9011, 9051),
            (FindingKind::NulRun, 3, 9062, 152_062),
        ]
    );
}

#[test]
fn nul_bytes_inside_a_string_leave_a_hole_that_can_be_seen() {
    let records = rows(&b"{\"id\":\0\"a\",\"text\":\"one\0\0\0\0two\"}\n"[..]);
    assert_eq!(records.items[0].value.text.as_deref(), Some("one\u{FFFD}two"));
    assert_eq!(records.findings.len(), 2);
}

#[test]
fn bytes_that_are_not_utf8_cost_neither_the_record_nor_its_neighbours() {
    let mut bytes = b"{\"id\":\"a\"}\n{\"id\":\"b\",\"text\":\"x".to_vec();
    bytes.extend([0xFF, b'y', 0xC3]);
    bytes.extend(b"\"}\n{\"id\":\"\xC3\xA9\"}\n");
    let document = Document::from_bytes(bytes);
    assert!(document.text().is_none());
    let records = document.read_records(|text| serde_json::from_str::<Row>(text));
    assert_eq!(ids(&records), ["a", "b", "\u{e9}"]);
    assert_eq!(records.items[1].value.text.as_deref(), Some("x\u{FFFD}y\u{FFFD}"));
    assert_eq!(findings(&records), [(FindingKind::InvalidUtf8, 2, 30, 33)]);
}

#[test]
fn the_last_of_equal_keys_counts() {
    let records = rows(r#"{"id":"a","id":"b","inner":{"text":"x","text":"y"}}"#);
    assert_eq!(ids(&records), ["b"]);
    assert_eq!(records.items[0].value.inner.as_ref().unwrap().text.as_deref(), Some("y"));
    assert_eq!(records.findings[0].kind, FindingKind::DuplicateKey);
}

#[test]
fn a_record_can_have_several_faults() {
    let records = rows("{\"id\":\"a\",\"id\":\"\\ud83d\",\"text\":\"\0\"}{\"id\":\"b\"}");
    assert_eq!(ids(&records), ["\u{FFFD}", "b"]);
    let kinds: Vec<_> = records.findings.iter().map(|finding| finding.kind).collect();
    use FindingKind::{DuplicateKey, LoneSurrogate, NulRun, SeveralValues};
    assert_eq!(kinds, [NulRun, SeveralValues, LoneSurrogate, DuplicateKey]);
}

#[test]
fn values_that_are_no_objects_are_no_records() {
    let records = rows("[\"a\",\"b\",null]\n5\n\"x\"\nnull\n");
    assert!(records.items.is_empty());
    assert_eq!(records.findings.len(), 4);
    assert!(records.findings.iter().all(|finding| finding.kind == FindingKind::NotAnObject));
}

#[test]
fn a_record_of_another_type_is_reported_without_what_it_holds() {
    let records = rows("{\"id\":{\"secret\":\"s3cr3t, expected nothing\"}}\n{\"text\":7}\n{\"id\":\"a\"}\n");
    assert_eq!(ids(&records), ["a"]);
    assert_eq!(records.findings.len(), 2);
    for finding in &records.findings {
        assert_eq!(finding.kind, FindingKind::MalformedRecord);
        assert!(!finding.to_string().contains("s3cr3t"), "{finding}");
        assert!(finding.detail.contains("expected a string"), "{finding}");
    }
}

#[test]
fn a_value_nested_too_deep_is_reported() {
    let deep = format!("{{\"inner\":{}null{}}}\n", "{\"inner\":".repeat(5000), "}".repeat(5000));
    let records = rows(deep);
    assert_eq!(findings(&records)[0].0, FindingKind::TooDeep);
}

#[test]
fn big_numbers_keep_every_digit() {
    let document = Document::from_bytes(r#"{"n":123456789012345678901234567890.10}"#);
    let records = document.read_records(|text| {
        let raw: &RawValue = serde_json::from_str(text)?;
        Ok(Json::part_of(text, raw))
    });
    assert_eq!(records.items[0].value.as_str(), r#"{"n":123456789012345678901234567890.10}"#);
}

// https://github.com/viggy28/recall/issues/38 (fault 74)
#[test]
fn a_byte_order_mark_and_carriage_returns_cost_no_record() {
    let bytes = "\u{FEFF}{\"id\":\"a\"}\r\n{\"id\":\"b\"}\r\n{\"id\":\"c\"}";
    let document = Document::from_bytes(bytes);
    let records = document.read_records(|text| serde_json::from_str::<Row>(text));
    assert_eq!(ids(&records), ["a", "b", "c"]);
    assert_eq!(records.items[0].start, 3);
    assert_eq!(document.bytes(), bytes.as_bytes());
    assert_eq!(document.findings()[0].kind, FindingKind::ByteOrderMark);
    assert_eq!(findings(&records), [(FindingKind::CarriageReturns, 1, 13, 15)]);
    assert_eq!(records.findings[0].count, 2);
}

#[test]
fn a_second_byte_order_mark_is_no_json() {
    let records = rows("{\"id\":\"a\"}\n\u{FEFF}{\"id\":\"b\"}\n");
    assert_eq!(ids(&records), ["a", "b"]);
    assert_eq!(findings(&records), [(FindingKind::TornPrefix, 2, 11, 14)]);
}

#[test]
fn blank_lines_are_nothing() {
    let records = rows("\n \t\r\n{\"id\":\"a\"}\n\n");
    assert_eq!(ids(&records), ["a"]);
    assert_eq!(records.items[0].line, 3);
}

// https://github.com/slopus/happy/pull/1586 (fault 40)
#[test]
fn a_line_over_the_limit_is_reported_with_its_place() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.jsonl");
    std::fs::write(&path, format!("{{\"id\":\"{}\"}}\n{{\"id\":\"b\"}}\n", "a".repeat(100))).unwrap();
    let limits = Limits { line_bytes: 50, ..Limits::default() };
    let records =
        Document::read(&path, &limits).unwrap().read_records(|text| serde_json::from_str::<Row>(text));
    assert_eq!(ids(&records), ["b"]);
    assert_eq!(findings(&records), [(FindingKind::Oversize, 1, 0, 109)]);
}

#[test]
fn a_line_of_thirty_megabytes_is_read() {
    let image = "A".repeat(30 << 20);
    let records = rows(format!("{{\"id\":\"a\",\"text\":\"{image}\"}}\n{{\"id\":\"b\"}}\n"));
    assert_eq!(ids(&records), ["a", "b"]);
    assert_eq!(records.items[0].value.text.as_ref().map(String::len), Some(30 << 20));
}

#[test]
fn a_large_document_reads_the_same_as_a_small_one() {
    let mut text = String::new();
    for number in 0..60_000 {
        match number % 20_000 {
            7 => text.push_str("\r\n"),
            9 => text.push_str(&format!("{{\"id\":\"{number}\"}} {{\"id\":\"x\"}}\r\n")),
            _ => {
                text.push_str(&format!("{{\"id\":\"{number}\",\"text\":\"{}\"}}\n", "t".repeat(number % 300)))
            }
        }
    }
    assert!(text.len() > 8 << 20);
    let whole = rows(text.clone());
    assert_eq!(whole.items.len(), 60_000);
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    for item in &whole.items {
        let id = item.value.id.as_deref().unwrap();
        assert!(text[item.start as usize..item.end as usize].contains(id));
        assert!(lines[item.line as usize - 1].contains(id), "line {}", item.line);
    }
    assert!(whole.items.is_sorted_by_key(|item| item.start));
    let several: Vec<_> =
        findings(&whole).into_iter().filter(|f| f.0 == FindingKind::SeveralValues).collect();
    assert_eq!(several.iter().map(|f| f.1).collect::<Vec<_>>(), [10, 20_010, 40_010]);
}

#[test]
fn a_compressed_file_is_known_by_its_content() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.jsonl");
    let stored = zstd::encode_all(&b"{\"id\":\"a\"}\n"[..], 0).unwrap();
    std::fs::write(&path, &stored).unwrap();
    let document = Document::read(&path, &Limits::default()).unwrap();
    assert_eq!(document.bytes(), b"{\"id\":\"a\"}\n");
    assert!(document.was_compressed());
    assert_eq!(document.stamp().unwrap().size, stored.len() as u64);
}

#[test]
fn a_directory_and_a_missing_file_are_told_apart() {
    let folder = tempfile::tempdir().unwrap();
    let limits = Limits::default();
    assert!(matches!(Document::read(folder.path(), &limits), Err(crate::CarrierError::NotAFile { .. })));
    assert!(Document::read(&folder.path().join("no"), &limits).unwrap_err().is_absence());
}

#[test]
fn reading_leaves_the_file_as_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.jsonl");
    std::fs::File::create(&path).unwrap().write_all(b"{}\n").unwrap();
    let before = crate::FileStamp::at(&path).unwrap();
    Document::read(&path, &Limits::default()).unwrap();
    assert_eq!(crate::FileStamp::at(&path).unwrap(), before);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
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

proptest! {
    #[test]
    fn lines_and_what_ends_them_are_the_whole_document(bytes in broken_bytes()) {
        let document = Document::from_bytes(bytes.clone());
        let mark = if bytes.starts_with(b"\xEF\xBB\xBF") { 3 } else { 0 };
        let mut joined = bytes[..mark].to_vec();
        for (number, line) in (1..).zip(document.lines()) {
            prop_assert_eq!(line.number, number);
            prop_assert_eq!(line.start as usize, joined.len());
            prop_assert!(!line.bytes.contains(&b'\n'));
            joined.extend_from_slice(line.bytes);
            prop_assert_eq!(line.end as usize, joined.len());
            let ending = &bytes[line.end as usize..line.after as usize];
            let expected: &[&[u8]] = if line.terminated { &[b"\n", b"\r\n"] } else { &[b""] };
            prop_assert!(expected.contains(&ending));
            joined.extend_from_slice(ending);
        }
        prop_assert_eq!(joined, bytes);
    }

    #[test]
    fn items_lie_in_the_document_in_order_and_apart(bytes in broken_bytes()) {
        let document = Document::from_bytes(bytes.clone());
        let records = document.read_records(|text| {
            let raw: &RawValue = serde_json::from_str(text)?;
            let _: Row = serde_json::from_str(text)?;
            Ok(Text::part_of(text, raw.get()))
        });
        let mut at = 0;
        for item in &records.items {
            prop_assert!(at <= item.start && item.start < item.end && item.end <= bytes.len() as u64);
            prop_assert_eq!(bytes[item.start as usize], b'{');
            prop_assert_eq!(bytes[item.end as usize - 1], b'}');
            at = item.end;
        }
        for finding in &records.findings {
            let Some(Extent::Bytes { start, end }) = finding.extent else { panic!("no place: {finding}") };
            prop_assert!(start <= end && end <= bytes.len() as u64);
        }
    }

    #[test]
    fn every_byte_that_is_no_record_is_reported(bytes in broken_bytes()) {
        let document = Document::from_bytes(bytes.clone());
        let records = document.read_records(|text| serde_json::from_str::<Row>(text));
        let mut covered = vec![false; bytes.len()];
        let places = records.items.iter().map(|item| (item.start, item.end));
        let reported = document.findings().iter().chain(&records.findings).filter_map(|finding| match finding.extent {
            Some(Extent::Bytes { start, end }) => Some((start, end)),
            _ => None,
        });
        for (start, end) in places.chain(reported) {
            covered[start as usize..end as usize].fill(true);
        }
        for (byte, covered) in bytes.iter().zip(covered) {
            prop_assert!(covered || matches!(byte, b' ' | b'\t' | b'\r' | b'\n'));
        }
    }
}

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

#[test]
fn a_document_full_of_broken_lines_has_few_findings() {
    let records = rows("no\n".repeat(2_000_000) + "{\"id\":\"a\"}\n");
    assert_eq!(ids(&records), ["a"]);
    assert_eq!(records.items[0].line, 2_000_001);
    assert_eq!(findings(&records), [(FindingKind::NotJson, 1, 0, 2)]);
    assert_eq!(records.findings[0].count, 2_000_000);
}
