//! The interchange documents: Simple and Ibid JSON.

use ibid_harness::ibid_json::IbidJson;
use ibid_harness::simple::Simple;
use ibid_harness::{Codec, Target, TextCodec, convert};
use ibid_model::{Block, FindingKind, LossKind, Origin, Role, SessionDocument, Tool, essence};

const WRITTEN_BY_HAND: &str = r#"{
  "id": "s1", "timestamp": "2026-07-01T10:00:00Z", "cwd": "/w/demo", "title": "By hand", "extra": {"kept": true},
  "messages": [
    {"role": "User", "content": "run it"},
    {"role": "assistant", "model": "m", "stop_reason": "tool_use", "usage": {"input_tokens": 5, "output_tokens": 7},
     "content": [
      {"type": "thinking", "text": "hm", "signature": "c2ln"},
      {"type": "tool_use", "name": "Bash", "input": {"command": "ls", "n": 12345678901234567890123}},
      {"type": "tool_use", "name": "count", "input": null}]},
    {"role": "user", "content": [
      {"type": "tool_result", "content": "a\u2028b"},
      {"type": "tool_result", "content": {"n": 1.50}, "is_error": true}]},
    {"role": "narrator", "content": "unseen"},
    {"role": "user", "content": [{"type": "tool_use", "name": "/clear", "input": {"args": "all"}}]}
  ]
}"#;

#[test]
fn a_document_written_by_hand_is_read_as_far_as_it_can_be() {
    let transcript = Simple::from_text(WRITTEN_BY_HAND.as_bytes()).unwrap();
    let common = Simple::to_common(&transcript).unwrap();
    let session = &common.session;
    assert_eq!(session.problems(), []);
    assert_eq!(session.id, "s1");
    assert_eq!(session.messages.len(), 4);
    assert_eq!(common.findings.len(), 1);
    assert_eq!(common.findings[0].kind, FindingKind::MalformedRecord);
    let call = session.messages[1].blocks.iter().find_map(|block| match block {
        Block::ToolUse(call) => Some(call),
        _ => None,
    });
    let call = call.unwrap();
    assert!(matches!(&call.tool, Tool::Shell(shell) if shell.command == "ls"));
    assert_eq!(call.extra[0].value.as_str(), "12345678901234567890123");
    assert_eq!(session.messages[2].origin, Origin::Tools);
    assert!(matches!(&session.messages[3].blocks[0], Block::Command(command) if command.name == "/clear"));
}

#[test]
fn results_without_an_id_answer_the_oldest_open_call() {
    let transcript = Simple::from_text(WRITTEN_BY_HAND.as_bytes()).unwrap();
    let session = Simple::to_common(&transcript).unwrap().session;
    let counts = session.counts();
    assert_eq!((counts.tool_calls, counts.tool_results), (2, 2));
}

#[test]
fn the_bytes_of_a_document_come_back_as_they_were() {
    let transcript = Simple::from_text(WRITTEN_BY_HAND.as_bytes()).unwrap();
    assert_eq!(Simple::to_text(&transcript).unwrap(), WRITTEN_BY_HAND.as_bytes());
}

#[test]
fn simple_to_ibid_and_back_says_the_same() {
    let source = Simple::from_text(WRITTEN_BY_HAND.as_bytes()).unwrap();
    let there = convert::<Simple, IbidJson>(&source, &Target::default()).unwrap();
    // One message has a role that is none, and is the only thing that does not arrive.
    assert_eq!(there.losses.iter().count(), 1, "{:?}", there.losses);
    assert_eq!(there.losses.count(LossKind::UnreadableRecords), 1);
    let back = convert::<IbidJson, Simple>(&there.value, &Target::default()).unwrap();
    let said = Simple::to_common(&source).unwrap().session;
    let heard = Simple::to_common(&back.value).unwrap().session;
    assert_eq!(essence(&said.messages), essence(&heard.messages));
    assert_eq!(said.calls[0].usage, heard.calls[0].usage);
    assert_eq!(said.meta, heard.meta);
}

#[test]
fn the_same_conversion_gives_the_same_bytes() {
    let source = Simple::from_text(WRITTEN_BY_HAND.as_bytes()).unwrap();
    let once = convert::<Simple, IbidJson>(&source, &Target::default()).unwrap().value;
    let twice = convert::<Simple, IbidJson>(&source, &Target::default()).unwrap().value;
    assert_eq!(once.body.bytes, twice.body.bytes);
}

#[test]
fn a_selection_of_an_ibid_document_is_consistent() {
    let source = Simple::from_text(WRITTEN_BY_HAND.as_bytes()).unwrap();
    let mut target = Target::default();
    target.selection.span = Some((1..3).into());
    let made = convert::<Simple, IbidJson>(&source, &target).unwrap();
    let text = String::from_utf8(made.value.body.bytes.to_vec()).unwrap();
    let document = SessionDocument::from_text(&text).unwrap();
    assert_eq!(document.session.messages.len(), 2);
    assert_eq!(document.session.messages[0].role, Role::Assistant);
}

#[test]
fn what_is_no_document_is_refused_with_the_reason() {
    let error = Simple::from_text(b"{\"hello\": 1}").unwrap_err();
    assert!(error.to_string().contains("messages"), "{error}");
    assert!(IbidJson::from_text(b"{\"ibid\": 99, \"session\": {}}").unwrap_err().to_string().contains("99"));
}

#[test]
fn however_broken_a_file_is_its_findings_are_few() {
    let header = r#"{"type":"session","id":"s","version":3,"timestamp":"2026-07-01T10:00:00Z","cwd":"/w"}"#;
    let text = format!("{header}\n{}", "{}\n".repeat(5000));
    let transcript = ibid_harness::find("pi").unwrap().from_text(text.as_bytes()).unwrap();
    let findings = transcript.to_common().unwrap().findings;
    assert!(findings.len() < 200, "{} findings", findings.len());
    assert!(findings.iter().map(|finding| finding.count).sum::<u64>() >= 5000);
}
