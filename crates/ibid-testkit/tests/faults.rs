//! docs/faults.md says which test covers which report from the field, and is made from the
//! comments above the tests: a comment with `fault 7` or `faults 2 and 3` in it, and behind it a
//! function.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test states what it expects")]

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

/// The reports that touch the core, in our words. Where no test can show it, the last field says
/// why.
const REPORTS: &[(u32, &str, &str)] = &[
    (1, "A forked or spawned Codex rollout replays its parent; the copy counts once, in the parent", ""),
    (2, "Rows of one Claude message repeat its usage; the last row counts, once", ""),
    (3, "Rows without a request id are still one call by their message id", ""),
    (4, "Two records on one line are both read; a torn one does not take the next with it", ""),
    (5, "Every character outside A-Z a-z 0-9 becomes a dash in a project folder", ""),
    (6, "A long project folder is cut and hashed; the recorded directory decides", ""),
    (7, "A subagent's file carries its parent's session id and is still a session of its own", ""),
    (8, "The live branch is not the one with the newest time", ""),
    (9, "A parent that was never written does not cut the history off", ""),
    (10, "History reaches across a compaction", ""),
    (11, "Codex turns in any of the three vocabularies are read once", ""),
    (12, "Codex files of bare objects are read", ""),
    (13, "A broken or repeated Codex header does not hide the session", ""),
    (16, "Messages that an OpenCode fork copied count once", ""),
    (18, "A replaced, shrunk or rewritten file is told apart from one that grew", ""),
    (19, "Unicode line separators inside a string do not end a record, and are written escaped", ""),
    (20, "A lone surrogate costs no record, and none is written to another harness", ""),
    (21, "A run of NUL bytes costs nothing but itself", ""),
    (23, "A record id that stands on several records is no failure", ""),
    (24, "A history copied by a resume is told as such, and calls count by their message id", ""),
    (25, "Results follow their calls, and an unanswered call gets one", ""),
    (26, "A call and its result go together or not at all", ""),
    (27, "Thinking without a valid signature is not written", ""),
    (28, "What was written is read back and compared, and undone when it differs", ""),
    (30, "A directory's neighbour with a longer name is not taken for it", ""),
    (31, "A project folder that is a link is followed once", ""),
    (32, "Composed and decomposed names are the same directory", ""),
    (33, "Projects that share a folder are told apart by the recorded directory", ""),
    (34, "A folder's name is never decoded into a path", ""),
    (35, "The working directory is kept for each record", ""),
    (36, "Variables that move a home count, and blank ones do not", ""),
    (37, "Reading leaves no trace", ""),
    (39, "Unreadable is not empty", ""),
    (40, "A line beyond the limit is named, and memory stays bounded", ""),
    (42, "An image is kept once, and its bytes are not shown as text", ""),
    (43, "The stream of `codex exec --json` is not taken for a rollout", ""),
    (44, "A rollout that another program wrote names its originator", ""),
    (46, "An index of the harness is never relied on", ""),
    (47, "A name that means several sessions is refused, and they are listed", ""),
    (48, "Nothing is offered for resuming that is not on disk", ""),
    (
        50,
        "A write-ahead log is part of what a fingerprint covers, and a busy database is not an empty one",
        "",
    ),
    (51, "Sessions in databases go the whole way from discovery to reading", ""),
    (52, "A subagent without its parent's file is listed", ""),
    (54, "Copies of one session are named as such", ""),
    (55, "Times have the unit of their harness, and a missing one stays missing", ""),
    (57, "The times of a fork's copied records are not taken for its own", ""),
    (58, "Saving in the same form keeps every field and spelling", ""),
    (62, "Escape sequences do not reach the terminal", ""),
    (74, "A byte order mark and carriage returns cost no record", ""),
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn sources(dir: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            found.push(path);
        }
    }
}

/// The numbers behind `fault` or `faults` in a comment.
fn numbers(comment: &str) -> Vec<u32> {
    let Some((_, rest)) = comment.split_once("fault") else { return Vec::new() };
    let rest = rest.trim_start_matches('s').trim_start();
    let end = rest.find(|c: char| !c.is_ascii_digit() && !", and".contains(c)).unwrap_or(rest.len());
    let (list, _) = rest.split_at(end);
    list.split(|c: char| !c.is_ascii_digit()).filter_map(|number| number.parse().ok()).collect()
}

/// The tests below a comment that names faults.
fn tests() -> BTreeMap<u32, BTreeSet<String>> {
    let mut files = Vec::new();
    sources(&root().join("crates"), &mut files);
    files.sort();
    let mut tests: BTreeMap<u32, BTreeSet<String>> = BTreeMap::new();
    for file in files {
        let text = fs::read_to_string(&file).unwrap();
        let mut open: Vec<u32> = Vec::new();
        let mut is_test = false;
        for line in text.lines() {
            let line = line.trim();
            if line.starts_with("//") {
                open.extend(numbers(line));
            } else if line.starts_with("#[") {
                is_test |= line.starts_with("#[test]") || line.starts_with("#[rstest");
            } else {
                if is_test
                    && let Some(name) = line.strip_prefix("fn ").and_then(|rest| rest.split('(').next())
                {
                    let file = file.strip_prefix(root()).unwrap_or(&file).display().to_string();
                    for number in &open {
                        tests.entry(*number).or_default().insert(format!("`{name}` in {file}"));
                    }
                }
                open.clear();
                is_test = false;
            }
        }
    }
    tests
}

#[test]
fn every_report_has_a_test_or_a_reason() {
    let tests = tests();
    let mut page = String::from(
        "# Reports from the field\n\nPublic reports about session data, by the numbers that the project gave them, and the \
         tests that keep them from coming back. The links are above the tests. The table is made from the comments in the code.\n\n\
         | report | what is right | tests |\n| --- | --- | --- |\n",
    );
    let mut missing = Vec::new();
    for (number, right, reason) in REPORTS {
        let own = tests.get(number);
        let cell = match own {
            Some(own) => own.iter().cloned().collect::<Vec<_>>().join("<br>"),
            None if reason.is_empty() => {
                missing.push(*number);
                "none yet".to_owned()
            }
            None => (*reason).to_owned(),
        };
        writeln!(page, "| {number} | {right} | {cell} |").unwrap();
    }
    let path = root().join("docs/faults.md");
    if std::env::var_os("IBID_BLESS").is_some() {
        fs::write(&path, &page).unwrap();
    }
    let published = fs::read_to_string(&path).unwrap_or_default();
    assert!(published == page, "docs/faults.md is stale; run this test with IBID_BLESS=1");
    assert!(missing.is_empty(), "reports without a test: {missing:?}");
}

#[test]
fn a_comment_can_name_several_reports() {
    assert_eq!(numbers("// https://x/issues/888 and /issues/976 (faults 2 and 3)"), [2, 3]);
    assert_eq!(numbers("// fault 7"), [7]);
    assert_eq!(numbers("// the default is 5"), [0_u32; 0]);
}
