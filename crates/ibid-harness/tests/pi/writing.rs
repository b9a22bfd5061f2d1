//! What a converted session looks like.

use std::collections::HashSet;

use ibid_harness::pi::Pi;
use ibid_harness::{Codec, Target, TextCodec};
use ibid_model::{
    Block, CallId, Compaction, Image, LossKind, Losses, Message, MessageId, ModelCall, Origin, Outcome,
    ProviderToken, ResultPart, Role, Session, Shell, StopReason, TextBlock, Thinking, Timestamp, Title,
    TitleOrigin, TokenUse, Tool, ToolResult, ToolUse, Usage,
};
use serde_json::Value;

struct Written {
    lines: Vec<Value>,
    losses: Losses,
    text: String,
}

fn write(session: &Session) -> Written {
    let made = Pi::from_common(session, &Target::default()).expect("it can be written");
    let text = String::from_utf8(Pi::to_text(&made.value).expect("it is text")).expect("it is UTF-8");
    let lines = text.lines().map(|line| serde_json::from_str(line).expect("a line is JSON")).collect();
    Written { lines, losses: made.losses, text }
}

impl Written {
    fn of_type(&self, kind: &str) -> Vec<&Value> {
        self.lines.iter().filter(|line| line["type"] == kind).collect()
    }

    fn of_role(&self, role: &str) -> Vec<&Value> {
        self.lines.iter().map(|line| &line["message"]).filter(|message| message["role"] == role).collect()
    }
}

fn shell(id: &str) -> Block {
    let shell = Shell {
        command: "ls".into(),
        cwd: None,
        timeout_ms: Some(1500),
        description: None,
        background: None,
    };
    Block::ToolUse(ToolUse {
        id: id.into(),
        name: "Bash".into(),
        tool: Tool::Shell(shell),
        extra: Vec::new(),
    })
}

fn result(id: &str, text: &str, outcome: Outcome) -> Block {
    let content = vec![ResultPart::Text(TextBlock { text: text.into() })];
    Block::ToolResult(ToolResult { call: CallId::from(id), content, outcome, structured: None })
}

/// A question, an answer with a call, its result, and a last answer.
fn session() -> Session {
    let mut session = Session::new("codex", "0199aaaa-0000-7000-8000-000000000001");
    session.meta.cwd = Some("/home/dev/demo".into());
    session.meta.model = Some("claude-sonnet-4-5".into());
    session.meta.title = Some(Title { text: "A title".into(), origin: TitleOrigin::Generated });
    let turns = [
        (Role::User, Origin::Person, vec![Block::text("What is here?")]),
        (Role::Assistant, Origin::Model, vec![Block::text("I look."), shell("call_1")]),
        (Role::User, Origin::Tools, vec![result("call_1", "file", Outcome::Ok)]),
        (Role::Assistant, Origin::Model, vec![Block::text("A file.")]),
    ];
    for (number, (role, origin, blocks)) in turns.into_iter().enumerate() {
        let mut message = Message::new(format!("m{number}"), role, origin);
        message.parent = number.checked_sub(1).map(|before| MessageId::from(format!("m{before}")));
        message.at = Timestamp::from_milliseconds(1_782_900_000_000 + 1_000 * number as i64);
        message.blocks = blocks;
        if role == Role::Assistant {
            message.model = Some("claude-sonnet-4-5".into());
            message.stop = Some(StopReason::EndTurn);
        }
        session.messages.push(message);
    }
    session.meta.started = session.messages[0].at;
    session.head = Some("m3".into());
    session
}

fn compaction(summary: &str, first_kept: Option<&str>) -> Compaction {
    Compaction {
        after: Some("m2".into()),
        summary: None,
        text: Some(summary.into()),
        first_kept: first_kept.map(MessageId::from),
        trigger: None,
        tokens_before: Some(9_000),
        at: None,
        sources: Vec::new(),
    }
}

#[test]
fn entries_have_ids_of_eight_digits_and_each_continues_the_one_before() {
    let written = write(&session());
    let header = &written.lines[0];
    assert_eq!((header["type"].as_str(), header["version"].as_u64()), (Some("session"), Some(3)));
    assert_eq!(header["cwd"], "/home/dev/demo");
    assert_eq!(header["timestamp"], "2026-07-01T10:00:00.000Z");
    let mut parent = Value::Null;
    let mut ids = HashSet::new();
    for entry in &written.lines[1..] {
        assert_eq!(entry["parentId"], parent);
        parent = entry["id"].clone();
        let id = parent.as_str().unwrap();
        assert!(id.len() == 8 && id.bytes().all(|b| b.is_ascii_hexdigit()) && ids.insert(id.to_owned()));
    }
    assert!(written.text.ends_with('\n'));
}

#[test]
fn the_title_and_the_model_are_entries_of_their_own() {
    let written = write(&session());
    assert_eq!(written.of_type("session_info")[0]["name"], "A title");
    let model = written.of_type("model_change")[0];
    assert_eq!(
        (model["provider"].as_str(), model["modelId"].as_str()),
        (Some("anthropic"), Some("claude-sonnet-4-5"))
    );
    let mut unknown = session();
    unknown.meta.model = Some("local-model".into());
    assert!(write(&unknown).of_type("model_change").is_empty());
}

#[test]
fn every_answer_has_token_counts_and_invented_ones_are_named() {
    let mut session = session();
    session.calls.push(ModelCall {
        api_id: None,
        request_id: None,
        message: Some("m1".into()),
        model: None,
        at: None,
        usage: Usage { input: Some(7), output: Some(3), cache_read: Some(2), ..Usage::default() },
        inherited: false,
        sources: Vec::new(),
    });
    let written = write(&session);
    let answers = written.of_role("assistant");
    assert_eq!(answers[0]["usage"]["input"], 7);
    assert_eq!(answers[0]["usage"]["totalTokens"], 12);
    assert_eq!(answers[1]["usage"]["output"], 0);
    assert_eq!(answers[1]["usage"]["cost"]["total"], 0.0);
    let filled: Vec<_> = written.losses.iter().filter(|loss| loss.what.as_deref() == Some("usage")).collect();
    assert_eq!((filled[0].kind, filled[0].count), (LossKind::FieldFilled, 1));
    assert!(!written.losses.has(LossKind::Usage));
}

#[test]
fn a_shell_call_is_written_with_the_programs_own_name_and_seconds() {
    let written = write(&session());
    let call = &written.of_role("assistant")[0]["content"][1];
    assert_eq!((call["type"].as_str(), call["name"].as_str()), (Some("toolCall"), Some("bash")));
    assert_eq!(call["arguments"], serde_json::json!({"command": "ls", "timeout": 1.5}));
    let result = written.of_role("toolResult")[0];
    assert_eq!((result["toolCallId"].as_str(), result["toolName"].as_str()), (Some("call_1"), Some("bash")));
    assert_eq!(result["isError"], false);
    assert!(!written.losses.has(LossKind::ToolKeptRaw));
}

// https://github.com/openclaw/openclaw/issues/101836 (fault 27)
#[test]
fn thinking_is_never_written() {
    let mut session = session();
    let token = ProviderToken {
        usage: TokenUse::Signature,
        provider: Some("anthropic".into()),
        value: "c2lnbmF0dXJl".into(),
    };
    let thinking = Block::Thinking(Thinking { text: "hidden thoughts".into(), tokens: vec![token] });
    session.messages[1].blocks.insert(0, thinking);
    let written = write(&session);
    assert!(!written.text.contains("hidden thoughts") && !written.text.contains("c2lnbmF0dXJl"));
    assert_eq!(written.losses.count(LossKind::Thinking), 1);
}

// https://github.com/earendil-works/pi/issues/812 (fault 26)
#[test]
fn an_answer_that_was_stopped_is_not_written_as_one_that_the_program_leaves_out() {
    let mut session = session();
    session.messages[1].stop = Some(StopReason::Aborted);
    session.messages[3].stop = Some(StopReason::Error);
    let written = write(&session);
    let reasons: Vec<_> = written.of_role("assistant").iter().map(|m| m["stopReason"].clone()).collect();
    assert_eq!(reasons, ["toolUse", "stop"]);
    assert_eq!(written.losses.count(LossKind::StopReason), 2);
}

#[test]
fn a_compaction_is_an_entry_that_names_the_entry_it_keeps_from() {
    let mut session = session();
    session.compactions = vec![compaction("So far: a file.", Some("m1"))];
    let written = write(&session);
    let entry = written.of_type("compaction")[0];
    let kept = written.lines.iter().find(|line| line["id"] == entry["firstKeptEntryId"]).unwrap();
    assert_eq!(kept["message"]["role"], "assistant");
    assert_eq!(
        (entry["summary"].as_str(), entry["tokensBefore"].as_u64()),
        (Some("So far: a file."), Some(9_000))
    );
    assert!(!written.losses.has(LossKind::CompactionMarker));

    session.compactions = vec![compaction("Nothing kept.", None)];
    let written = write(&session);
    let entry = written.of_type("compaction")[0];
    assert_eq!(entry["firstKeptEntryId"], entry["id"]);
}

#[test]
fn a_summary_that_is_a_message_becomes_the_compactions_own() {
    let mut session = session();
    let mut summary = Message::new("sum", Role::User, Origin::Summary);
    summary.parent = Some("m2".into());
    summary.blocks = vec![Block::text("Summed up.")];
    session.messages.insert(3, summary);
    session.messages[4].parent = Some("sum".into());
    session.compactions =
        vec![Compaction { summary: Some("sum".into()), text: None, ..compaction("", None) }];
    let written = write(&session);
    assert_eq!(written.of_type("compaction")[0]["summary"], "Summed up.");
    assert!(!written.losses.has(LossKind::CompactionSummary));
    assert_eq!(written.of_role("user").len(), 1);
}

#[test]
fn a_time_that_is_not_known_is_the_nearest_and_none_is_made_up() {
    let mut session = session();
    session.messages[3].at = None;
    let written = write(&session);
    let last = written.lines.last().unwrap();
    assert_eq!(last["timestamp"], "2026-07-01T10:00:01.000Z");
    assert_eq!(written.losses.count(LossKind::TimeFilled), 1);

    session.messages.iter_mut().for_each(|message| message.at = None);
    session.meta.started = None;
    let written = write(&session);
    assert!(written.lines.iter().all(|line| line["timestamp"].is_null()));
    assert!(!written.losses.has(LossKind::TimeFilled));
}

#[test]
fn a_call_without_a_result_is_answered_as_interrupted() {
    let mut session = session();
    session.messages[2].blocks.clear();
    session.messages[2].origin = Origin::Person;
    session.messages[2].blocks.push(Block::text("never mind"));
    let written = write(&session);
    let result = written.of_role("toolResult")[0];
    assert_eq!(result["isError"], true);
    assert!(result["content"][0]["text"].as_str().unwrap().contains("interrupted"));
    assert_eq!(written.losses.count(LossKind::OrphanCallCompleted), 1);
}

#[test]
fn a_picture_of_unknown_type_is_named_by_its_first_bytes() {
    let mut session = session();
    let picture = |data: &str| {
        Block::Image(Image { media_type: None, data: ibid_model::Data::Base64(data.into()), name: None })
    };
    session.messages[0].blocks.extend([picture("/9j/4AAQ"), picture("AAAA")]);
    let written = write(&session);
    let content = written.of_role("user")[0]["content"].as_array().unwrap().clone();
    assert_eq!(content.len(), 2);
    assert_eq!(content[1]["mimeType"], "image/jpeg");
    assert_eq!(written.losses.count(LossKind::Image), 1);
}

#[test]
fn the_id_follows_from_the_source_and_sorts_by_its_time() {
    let id = |session: &Session| Pi::from_common(session, &Target::default()).unwrap().value.id;
    let first = id(&session());
    assert_eq!(first, id(&session()));
    assert!(first.as_str().starts_with("019f1d1f"), "{first}");
    let mut longer = session();
    longer.head = Some("m1".into());
    assert_ne!(id(&longer), first);
}
