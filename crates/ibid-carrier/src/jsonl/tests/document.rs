//! Whole documents.

use std::io::Write;

use ibid_model::{Extent, FindingKind, Json, Text};
use proptest::prelude::*;
use serde_json::value::RawValue;

use super::{Row, broken_bytes, findings, ids, rows};
use crate::jsonl::{Document, Limits};

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

// https://github.com/github/copilot-cli/issues/2649 (fault 22)
#[test]
fn a_record_with_raw_newlines_in_a_string_is_reported_line_by_line_and_its_neighbours_are_read() {
    let records = rows("{\"id\":\"a\"}\n{\"id\":\"b\",\"text\":\"one\ntwo\nthree\"}\n{\"id\":\"c\"}\n");
    assert_eq!(ids(&records), ["a", "c"]);
    let lines: Vec<_> = records.findings.iter().map(|finding| (finding.kind, finding.line)).collect();
    assert_eq!(lines, [2, 3, 4].map(|line| (FindingKind::NotJson, Some(line))));
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

#[test]
fn a_document_full_of_broken_lines_has_few_findings() {
    let records = rows("no\n".repeat(2_000_000) + "{\"id\":\"a\"}\n");
    assert_eq!(ids(&records), ["a"]);
    assert_eq!(records.items[0].line, 2_000_001);
    assert_eq!(findings(&records), [(FindingKind::NotJson, 1, 0, 2)]);
    assert_eq!(records.findings[0].count, 2_000_000);
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
