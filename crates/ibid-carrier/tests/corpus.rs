//! Real session files: set `IBID_CORPUS` to a folder with an `EXPECT.tsv` to run these.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use ibid_carrier::jsonl::{Document, Limits, Records, open_scanner};
use ibid_model::FindingKind;
use serde_json::Value;

/// One row of `EXPECT.tsv` about a file of lines: its path, its lines, its lines that are not
/// exactly one JSON value.
fn expectations(corpus: &Path) -> Vec<(PathBuf, u64, u64)> {
    let table = std::fs::read_to_string(corpus.join("EXPECT.tsv")).unwrap_or_default();
    let row = |line: &str| {
        let fields: Vec<&str> = line.split('\t').collect();
        let number = |at: usize| fields.get(at)?.parse().ok();
        Some((corpus.join(fields.first()?), number(4)?, number(5)?))
    };
    table.lines().skip(1).filter_map(row).collect()
}

#[test]
fn corpus_files_have_the_lines_and_the_bad_lines_that_are_expected() {
    let Some(corpus) = std::env::var_os("IBID_CORPUS").map(PathBuf::from) else {
        println!("skipped: IBID_CORPUS is not set");
        return;
    };
    let rows = expectations(&corpus);
    assert!(!rows.is_empty(), "no row of EXPECT.tsv is about a file of lines");
    for (path, lines, bad_lines) in rows {
        let document = Document::read(&path, &Limits::default()).unwrap();
        let records = document.read_records(|text| serde_json::from_str::<Value>(text));
        assert_eq!(document.lines().count() as u64, lines, "lines of {}", path.display());
        let whole = [FindingKind::NotAnObject, FindingKind::CarriageReturns, FindingKind::LoneSurrogate];
        let bad: BTreeSet<_> =
            records.findings.iter().filter(|f| !whole.contains(&f.kind)).map(|f| f.line).collect();
        assert_eq!(bad.len() as u64, bad_lines, "bad lines of {}: {:?}", path.display(), records.findings);

        let mut scanner = open_scanner(&path, 0, &Limits::default()).unwrap();
        let mut scanned = Records::default();
        while let Some(line) = scanner.next().unwrap() {
            line.read_into(&mut scanned, |text| serde_json::from_str::<Value>(text));
        }
        assert_eq!(scanned.items, records.items, "records of {}", path.display());
    }
}
