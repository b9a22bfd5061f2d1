//! docs/evidence-defects.md says which tests keep the evidence host from the defects that hosts of
//! its kind were seen to have. It is made from the comments in the code: `evidence defect 7` or
//! `evidence defects 7 and 9`, and behind it a test, in Rust or in the Node client.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test states what it expects")]

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

/// What is right, by the number that comments name.
const DEFECTS: &[(u32, &str)] = &[
    (1, "Files that lie directly in the project are observed"),
    (2, "What `sessions.discover` answers is accepted by `artifacts.observe`"),
    (
        3,
        "A recorded directory decides; a folder's name that stands for several directories admits nobody else's session",
    ),
    (
        4,
        "Bad parameters, an answer that is too large and a panic in one adapter are errors of that call or that platform; ids of any alphabet are cut at characters",
    ),
    (
        5,
        "Grok: tool names with a slash in their key, folder names as the program encodes them, folders of long paths, how calls ended",
    ),
    (
        6,
        "A call and its end are one call; a title is no prompt; parts of an answer are one message; the first time is never after the last",
    ),
    (
        7,
        "First and last seen do not depend on the order of records; limits never drop the newest; nothing is read without a bound; links inside a store are followed",
    ),
    (
        8,
        "Sessions recorded through a link to the project, of worktrees that are gone, and with Windows's long path form are found",
    ),
    (
        9,
        "Prompts are counted, not capped; usage is summed; the sessions that exist are counted; what cannot be read is no absence",
    ),
    (10, "Tool families go by words; patches name their files; commands are told apart by what they run"),
    (
        11,
        "`includeToolTrace` and `includeDialogue` are obeyed; variables that move a home count, `~` in them is the home",
    ),
    (
        12,
        "Secrets in texts are replaced, those with known prefixes too, and plain words with a slash are not",
    ),
    (
        13,
        "The client asks each process for its proof, keeps error codes and the end of stderr, and counts bytes as the host does",
    ),
    (14, "DSH: keys of every character, forks and replaced surfaces, sessions of folders below the project"),
    (15, "What has not changed is not read again"),
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn sources(dir: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        let ours = |ending: &std::ffi::OsStr| ending == "rs" || ending == "ts" || ending == "mts";
        if path.is_dir() {
            if !path.ends_with("node_modules") && !path.ends_with("dist") {
                sources(&path, found);
            }
        } else if path.extension().is_some_and(ours) {
            found.push(path);
        }
    }
}

/// The numbers behind the words `evidence defect` or `evidence defects` in a comment.
fn numbers(comment: &str) -> Vec<u32> {
    let Some((_, rest)) = comment.split_once("evidence defect") else { return Vec::new() };
    let rest = rest.trim_start_matches('s').trim_start();
    let end = rest.find(|c: char| !c.is_ascii_digit() && !", and".contains(c)).unwrap_or(rest.len());
    let (list, _) = rest.split_at(end);
    list.split(|c: char| !c.is_ascii_digit()).filter_map(|number| number.parse().ok()).collect()
}

/// The name of a test that begins on this line, in Rust or in TypeScript.
fn test_name(line: &str, is_test: bool) -> Option<String> {
    if let Some(name) = line.strip_prefix("fn ").and_then(|rest| rest.split('(').next()) {
        return is_test.then(|| format!("`{name}`"));
    }
    let call = ["it(", "test(", "it.each(", "test.each(", "it.skipIf(", "test.skipIf("];
    if !call.iter().any(|start| line.starts_with(start)) {
        return None;
    }
    let quote = line.find(['"', '\'', '`'])?;
    let (_, rest) = line.split_at(quote);
    let mark = rest.chars().next()?;
    rest.get(1..)?.split(mark).next().map(|name| format!("*{name}*"))
}

fn covered() -> BTreeMap<u32, BTreeSet<String>> {
    let mut files = Vec::new();
    sources(&root().join("crates"), &mut files);
    let client = root().join("clients");
    if client.is_dir() {
        sources(&client, &mut files);
    }
    files.sort();
    let mut covered: BTreeMap<u32, BTreeSet<String>> = BTreeMap::new();
    for file in files {
        if file.ends_with("tests/evidence_defects.rs") {
            continue;
        }
        let text = fs::read_to_string(&file).unwrap();
        let shown = file.strip_prefix(root()).unwrap_or(&file).display().to_string().replace('\\', "/");
        let mut open: Vec<u32> = Vec::new();
        let mut is_test = false;
        for line in text.lines().map(str::trim) {
            if line.starts_with("//") {
                open.extend(numbers(line));
            } else if line.starts_with("#[") {
                is_test |= line.starts_with("#[test]") || line.starts_with("#[rstest");
            } else {
                if let Some(name) = test_name(line, is_test) {
                    for number in &open {
                        covered.entry(*number).or_default().insert(format!("{name} in {shown}"));
                    }
                }
                open.clear();
                is_test = false;
            }
        }
    }
    covered
}

#[test]
fn the_published_defects_are_those_of_the_comments() {
    let covered = covered();
    let mut page = String::from(
        "# Defects that the evidence host does not have\n\nWhat hosts of its kind were seen to do wrong, and the tests that show \
         that this one differs. The table is made from the comments above the tests.\n\n| | what is right | tests |\n| --- | --- | --- |\n",
    );
    let mut missing = Vec::new();
    for (number, right) in DEFECTS {
        let tests = covered.get(number);
        if tests.is_none() {
            missing.push(*number);
        }
        let tests = tests.into_iter().flatten().map(String::as_str).collect::<Vec<_>>().join("<br>");
        writeln!(page, "| {number} | {right} | {tests} |").unwrap();
    }
    assert!(missing.is_empty(), "defects without a test: {missing:?}");
    let unknown: Vec<&u32> =
        covered.keys().filter(|number| DEFECTS.iter().all(|(known, _)| known != *number)).collect();
    assert!(unknown.is_empty(), "comments name defects that have no row in DEFECTS: {unknown:?}");
    let path = root().join("docs/evidence-defects.md");
    if std::env::var_os("IBID_BLESS").is_some() {
        fs::write(&path, &page).unwrap();
    }
    let published = fs::read_to_string(&path).unwrap_or_default();
    assert!(published == page, "docs/evidence-defects.md is stale; run this test with IBID_BLESS=1");
}

#[test]
fn tests_of_both_languages_are_known_by_their_first_line() {
    assert_eq!(test_name("fn it_holds() {", true).as_deref(), Some("`it_holds`"));
    assert_eq!(test_name("fn help() {", false), None);
    assert_eq!(test_name("it(\"asks again\", async () => {", false).as_deref(), Some("*asks again*"));
    assert_eq!(test_name("const it = 1", false), None);
    assert_eq!(numbers("// evidence defects 6 and 9"), [6, 9]);
}
