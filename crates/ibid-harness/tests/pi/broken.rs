//! Files that a crash, an editor, another program or malice left behind.

use std::time::{Duration, Instant};

use ibid_harness::pi::Pi;
use ibid_harness::{Class, Codec, CodecError, TextCodec};
use ibid_model::{FindingKind, Origin};
use ibid_testkit::Home;

use crate::{common, listed, machine, prompts};

const HEADER: &str =
    r#"{"type":"session","version":3,"id":"s","timestamp":"2026-07-01T10:00:00.000Z","cwd":"/w"}"#;

fn prompt(id: &str, parent: &str, text: &str) -> String {
    let parent = if parent.is_empty() { "null".to_owned() } else { format!("\"{parent}\"") };
    format!(
        r#"{{"type":"message","id":"{id}","parentId":{parent},"message":{{"role":"user","content":"{text}"}}}}"#
    )
}

fn kinds(text: &[u8]) -> Vec<FindingKind> {
    common(text).findings.iter().map(|finding| finding.kind).collect()
}

// https://github.com/github/copilot-cli/issues/4098 (fault 4)
#[test]
fn two_entries_on_one_line_are_both_read() {
    let text = format!("{HEADER}\n{}{}\n", prompt("a", "", "one"), prompt("b", "a", "two"));
    assert_eq!(prompts(&common(text.as_bytes()).session), ["one", "two"]);
    assert_eq!(kinds(text.as_bytes()), [FindingKind::SeveralValues]);
}

// https://github.com/openai/codex/issues/24425 (fault 4)
#[test]
fn the_entry_behind_a_torn_one_is_read() {
    let torn = prompt("a", "", "one");
    let text = format!("{HEADER}\n{}{}\n", &torn[..40], prompt("b", "", "two"));
    assert_eq!(prompts(&common(text.as_bytes()).session), ["two"]);
    assert_eq!(kinds(text.as_bytes()), [FindingKind::TornPrefix]);
}

// https://github.com/viggy28/recall/issues/38 (fault 74)
#[test]
fn a_byte_order_mark_and_carriage_returns_do_not_hide_the_header() {
    let text = format!("\u{feff}{HEADER}\r\n{}\r\n", prompt("a", "", "one"));
    let session = common(text.as_bytes()).session;
    assert_eq!(session.id, "s");
    assert_eq!(prompts(&session), ["one"]);
}

// https://github.com/siteboon/claudecodeui/issues/1002 (fault 19)
#[test]
fn separators_of_lines_inside_a_text_are_text() {
    let text = format!("{HEADER}\n{}\n", prompt("a", "", "a\u{2028}b\u{85}c"));
    assert_eq!(prompts(&common(text.as_bytes()).session), ["a\u{2028}b\u{85}c"]);
}

// https://github.com/anthropics/claude-code/issues/68325 (fault 20)
#[test]
fn half_of_a_surrogate_pair_does_not_lose_the_entry() {
    let text = format!("{HEADER}\n{}\n", prompt("a", "", r"\ud99c abc"));
    assert_eq!(prompts(&common(text.as_bytes()).session), ["\u{fffd} abc"]);
    assert_eq!(kinds(text.as_bytes()), [FindingKind::LoneSurrogate]);
}

// https://github.com/anthropics/claude-code/issues/76059 (fault 21)
#[test]
fn a_run_of_nul_bytes_does_not_lose_what_stands_before_it() {
    let text = format!("{HEADER}\n{}{}\n{}", prompt("a", "", "one"), "\0".repeat(9_000), "\0".repeat(500));
    assert_eq!(prompts(&common(text.as_bytes()).session), ["one"]);
    assert!(kinds(text.as_bytes()).contains(&FindingKind::NulRun));
}

// https://github.com/ctxrs/ctx/pull/663 (fault 23)
#[test]
fn of_two_entries_with_one_id_the_last_counts_at_the_place_of_the_first() {
    let lines = [prompt("a", "", "old"), prompt("b", "a", "next"), prompt("a", "b", "new")];
    let text = format!("{HEADER}\n{}\n", lines.join("\n"));
    let common = common(text.as_bytes());
    let texts: Vec<_> = common.session.messages.iter().flat_map(|m| m.texts().cloned()).collect();
    assert_eq!(texts, ["new", "next"]);
    assert_eq!(common.findings[0].kind, FindingKind::RepeatedId);
}

#[test]
fn an_entry_whose_parent_is_not_there_continues_the_one_before_it() {
    let text = format!("{HEADER}\n{}\n{}\n", prompt("a", "", "one"), prompt("b", "gone", "two"));
    assert_eq!(prompts(&common(text.as_bytes()).session), ["one", "two"]);
    assert_eq!(kinds(text.as_bytes()), [FindingKind::DanglingParent]);
}

#[test]
fn parents_in_a_circle_make_no_circle() {
    let lines = [prompt("a", "b", "one"), prompt("b", "a", "two"), prompt("c", "c", "three")];
    let text = format!("{HEADER}\n{}\n", lines.join("\n"));
    assert_eq!(prompts(&common(text.as_bytes()).session), ["one", "two", "three"]);
}

#[test]
fn a_line_that_is_cut_off_at_the_end_is_reported_and_the_rest_is_read() {
    let text = format!("{HEADER}\n{}\n{{\"type\":\"mess", prompt("a", "", "one"));
    assert_eq!(prompts(&common(text.as_bytes()).session), ["one"]);
    assert_eq!(kinds(text.as_bytes()), [FindingKind::CutLine]);
}

#[test]
fn an_unknown_entry_and_an_unknown_role_are_reported_and_hold_the_chain_together() {
    let odd = r#"{"type":"hologram","id":"b","parentId":"a"}"#;
    let role = r#"{"type":"message","id":"c","parentId":"b","message":{"role":"oracle","content":"?"}}"#;
    let text = format!("{HEADER}\n{}\n{odd}\n{role}\n{}\n", prompt("a", "", "one"), prompt("d", "c", "two"));
    assert_eq!(prompts(&common(text.as_bytes()).session), ["one", "two"]);
    assert_eq!(kinds(text.as_bytes()), [FindingKind::UnknownRecord, FindingKind::UnknownRecord]);
}

#[test]
fn a_file_whose_beginning_is_missing_is_a_part_and_one_of_another_program_is_foreign() {
    let beheaded = prompt("b", "gone", "two");
    let claude = r#"{"type":"user","uuid":"u","message":{"role":"user","content":"x"}}"#;
    let home = Home::new()
        .with_file(".pi/agent/sessions/--w--/2026-07-01T10-00-00-000Z_p1.jsonl", format!("{beheaded}\n"))
        .with_file(".pi/agent/sessions/--w--/2026-07-01T10-00-00-000Z_p2.jsonl", format!("{claude}\n"))
        .with_file(".pi/agent/sessions/--w--/2026-07-01T10-00-00-000Z_p3.jsonl", "")
        .with_file(
            ".pi/agent/sessions/--w--/2026-07-01T10-00-00-000Z_p4.jsonl",
            format!("{HEADER}\n{beheaded}\n"),
        );
    let described: Vec<_> = listed(&machine(&home)).iter().map(crate::store::describe).collect();
    let classes: Vec<_> = described.iter().map(|session| session.class).collect();
    assert_eq!(classes, [Class::Partial, Class::Foreign, Class::Other, Class::Partial]);
    assert_eq!(described[0].id, "p1");
    assert_eq!(described[1].findings.last().unwrap().kind, FindingKind::ForeignContent);
}

#[test]
fn a_text_of_another_program_is_refused() {
    let claude = r#"{"type":"user","uuid":"u","message":{"role":"user","content":"x"}}"#;
    assert!(matches!(Pi::from_text(claude.as_bytes()), Err(CodecError::Foreign { .. })));
    assert!(matches!(Pi::from_text(b""), Err(CodecError::Foreign { .. })));
}

#[test]
fn fields_of_the_wrong_type_hide_nothing_but_themselves() {
    let answer = r#"{"type":"message","id":"b","parentId":"a","timestamp":7,"message":{"role":"assistant","content":[{"type":"text","text":5},{"type":"text","text":"ok"},17],"usage":"none","stopReason":{}}}"#;
    let text = format!("{HEADER}\n{}\n{answer}\n", prompt("a", "", "one"));
    let session = common(text.as_bytes()).session;
    let answers: Vec<_> = session.messages.iter().filter(|m| m.origin == Origin::Model).collect();
    assert_eq!(answers[0].blocks.len(), 3);
    assert_eq!(crate::said(answers[0]), "ok");
    assert!(session.calls.is_empty());
}

#[test]
fn of_a_key_that_stands_twice_the_last_value_counts() {
    let message = r#"{"type":"message","id":"a","parentId":null,"message":{"role":"user","content":"old","content":"new"}}"#;
    let block = r#"{"type":"message","id":"b","parentId":"a","message":{"role":"user","content":[{"type":"text","text":"x","text":"y"}]}}"#;
    let text = format!("{HEADER}\n{message}\n{block}\n");
    assert_eq!(prompts(&common(text.as_bytes()).session), ["new", "y"]);
    assert_eq!(kinds(text.as_bytes()), [FindingKind::DuplicateKey]);
}

#[test]
fn many_compactions_of_a_long_history_take_no_time_that_grows_with_their_product() {
    let mut text = format!("{HEADER}\n{}\n", r#"{"type":"label","id":"l","parentId":null}"#);
    let mut parent = "l".to_owned();
    for number in 0..30_000 {
        let id = format!("e{number}");
        let line = match number % 2 {
            0 => prompt(&id, &parent, "x"),
            _ => format!(
                r#"{{"type":"compaction","id":"{id}","parentId":"{parent}","summary":"s","firstKeptEntryId":"l"}}"#
            ),
        };
        text.push_str(&line);
        text.push('\n');
        parent = id;
    }
    let begin = Instant::now();
    let transcript = Pi::from_text(text.as_bytes()).unwrap();
    assert_eq!(Pi::to_common(&transcript).unwrap().session.compactions.len(), 15_000);
    assert!(begin.elapsed() < Duration::from_secs(20), "{:?}", begin.elapsed());
}
