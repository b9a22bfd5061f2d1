//! docs/faults.md says which test covers which report from the field, and is made from the
//! comments in the code: a comment with `fault 7` or `faults 2 and 3` in it, the link to the report
//! on the same line, and behind it a function. The numbers only hold a link and its row together.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test states what it expects")]

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

/// The reports, in our words. Where no test can show it, the last field says why.
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
    (17, "A half-written last line is read when it is whole, and no line is read twice", ""),
    (18, "A replaced, shrunk or rewritten file is told apart from one that grew", ""),
    (19, "Unicode line separators inside a string do not end a record, and are written escaped", ""),
    (20, "A lone surrogate costs no record, and none is written to another harness", ""),
    (21, "A run of NUL bytes costs nothing but itself", ""),
    (22, "Raw newlines inside a string are reported, and the records around them are read", ""),
    (23, "A record id that stands on several records is no failure", ""),
    (24, "A history copied by a resume is told as such, and calls count by their message id", ""),
    (25, "Results follow their calls, and an unanswered call gets one", ""),
    (26, "A call and its result go together or not at all", ""),
    (27, "Thinking without a valid signature is not written", ""),
    (28, "What was written is read back and compared, and undone when it differs", ""),
    (29, "A fork's own turns count, however much they look like the parent's", ""),
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
    (45, "Tokens that come before the model is named wait for it", ""),
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
    (63, "Secrets are replaced by shape, place and name, in JSON inside strings as well", ""),
    (70, "Compressed content that would grow without bound is stopped", ""),
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

/// The numbers behind the word `fault` or `faults` in a comment.
fn numbers(comment: &str) -> Vec<u32> {
    let Some((before, rest)) = comment.split_once("fault") else { return Vec::new() };
    if before.ends_with(char::is_alphabetic) {
        return Vec::new();
    }
    let rest = rest.trim_start_matches('s').trim_start();
    let end = rest.find(|c: char| !c.is_ascii_digit() && !", and".contains(c)).unwrap_or(rest.len());
    let (list, _) = rest.split_at(end);
    list.split(|c: char| !c.is_ascii_digit()).filter_map(|number| number.parse().ok()).collect()
}

/// The link in a comment, as Markdown: `[owner/name#7](https://github.com/owner/name/issues/7)`.
fn link(comment: &str) -> Option<String> {
    let (_, rest) = comment.split_once("https://github.com/")?;
    let path = rest.split_whitespace().next()?.trim_end_matches([':', ',', '.', ')']);
    let mut parts = path.split('/');
    let (owner, name, _, number) = (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
    Some(format!("[{owner}/{name}#{number}](https://github.com/{path})"))
}

/// What the comments in the code say of one report.
#[derive(Default)]
struct Covered {
    links: BTreeSet<String>,
    tests: BTreeSet<String>,
}

fn covered() -> BTreeMap<u32, Covered> {
    let mut files = Vec::new();
    sources(&root().join("crates"), &mut files);
    files.sort();
    let mut covered: BTreeMap<u32, Covered> = BTreeMap::new();
    for file in files {
        let text = fs::read_to_string(&file).unwrap();
        let file = file.strip_prefix(root()).unwrap_or(&file).display().to_string().replace('\\', "/");
        let mut open: Vec<u32> = Vec::new();
        let mut is_test = false;
        for line in text.lines() {
            let line = line.trim();
            if line.starts_with("//") {
                let named = numbers(line);
                for number in &named {
                    covered.entry(*number).or_default();
                }
                if let ([number], Some(link)) = (named.as_slice(), link(line)) {
                    covered.entry(*number).or_default().links.insert(link);
                }
                open.extend(named);
            } else if line.starts_with("#[") {
                is_test |= line.starts_with("#[test]") || line.starts_with("#[rstest");
            } else {
                if is_test
                    && let Some(name) = line.strip_prefix("fn ").and_then(|rest| rest.split('(').next())
                {
                    for number in &open {
                        let tests = &mut covered.entry(*number).or_default().tests;
                        tests.insert(format!("`{name}` in {file}"));
                    }
                }
                open.clear();
                is_test = false;
            }
        }
    }
    covered
}

fn lines(entries: &BTreeSet<String>) -> String {
    entries.iter().map(String::as_str).collect::<Vec<_>>().join("<br>")
}

#[test]
fn the_published_reports_are_those_of_the_comments() {
    let covered = covered();
    let mut page = String::from(
        "# Reports from the field\n\nPublic reports about session data, and the tests that keep them from coming back. The \
         table is made from the comments above the tests.\n\n| report | what is right | tests |\n| --- | --- | --- |\n",
    );
    let mut missing = Vec::new();
    for (number, right, reason) in REPORTS {
        let own = covered.get(number).filter(|own| !own.links.is_empty());
        let tests = own.map(|own| lines(&own.tests)).filter(|tests| !tests.is_empty());
        if own.is_none() || (tests.is_none() && reason.is_empty()) {
            missing.push(*number);
        }
        let links = own.map(|own| lines(&own.links)).unwrap_or_default();
        let tests = tests.unwrap_or_else(|| (*reason).to_owned());
        writeln!(page, "| {links} | {right} | {tests} |").unwrap();
    }
    assert!(missing.is_empty(), "reports without a link, or without a test or a reason: {missing:?}");
    let unknown: Vec<&u32> =
        covered.keys().filter(|number| REPORTS.iter().all(|(known, ..)| known != *number)).collect();
    assert!(unknown.is_empty(), "comments name reports that have no row in REPORTS: {unknown:?}");
    let path = root().join("docs/faults.md");
    if std::env::var_os("IBID_BLESS").is_some() {
        fs::write(&path, &page).unwrap();
    }
    let published = fs::read_to_string(&path).unwrap_or_default();
    assert!(published == page, "docs/faults.md is stale; run this test with IBID_BLESS=1");
}

#[test]
fn a_comment_can_name_several_reports() {
    assert_eq!(numbers("// https://x/issues/888 and /issues/976 (faults 2 and 3)"), [2, 3]);
    assert_eq!(numbers("// fault 7"), [7]);
    assert_eq!(numbers("// the default is 5"), [0_u32; 0]);
    assert_eq!(numbers("// by default 5"), [0_u32; 0]);
}

#[test]
fn a_link_is_shown_by_its_repository_and_number() {
    let shown = "[a/b#94](https://github.com/a/b/pull/94)";
    assert_eq!(link("// https://github.com/a/b/pull/94 (fault 7)").as_deref(), Some(shown));
    assert_eq!(link("// https://github.com/a/b/pull/94: a bomb (fault 7)").as_deref(), Some(shown));
    assert_eq!(link("// fault 7"), None);
}
