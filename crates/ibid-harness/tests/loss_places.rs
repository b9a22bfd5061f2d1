//! The report of a conversion names the messages that lost something.

use ibid_harness::{Target, find};
use ibid_model::{
    Block, Compaction, Data, Document, Image, List, LossKind, Message, Origin, Outcome, ResultPart, Role,
    Session, TextBlock, Thinking, Timestamp, Tool, ToolResult, ToolUse,
};

/// A conversation of these messages in one branch.
fn session(messages: Vec<Message>) -> Session {
    let mut session = Session::new("test", "s");
    session.meta.cwd = Some("/home/dev/demo".into());
    let mut parent = None;
    for mut message in messages {
        message.at = Timestamp::parse("2026-07-01T10:00:00Z");
        message.blocks.push(Block::text("said"));
        message.parent = parent.replace(message.id.clone());
        session.messages.push(message);
    }
    session
}

#[test]
fn a_summary_that_goes_along_with_its_compaction_is_not_reported_as_lost() {
    let mut session = session(vec![
        Message::new("m0", Role::User, Origin::Person),
        Message::new("m1", Role::Assistant, Origin::Model),
        Message::new("summary", Role::User, Origin::Summary),
        Message::new("m2", Role::User, Origin::Person),
    ]);
    session.compactions.push(Compaction {
        after: Some("m1".into()),
        summary: Some("summary".into()),
        text: None,
        first_kept: None,
        trigger: None,
        tokens_before: None,
        at: None,
        sources: Vec::new(),
    });
    for target in ["claude-code", "codex", "opencode", "pi"] {
        let losses = find(target).unwrap().from_common(&session, &Target::default()).unwrap().losses;
        assert!(!losses.has(LossKind::CompactionSummary), "{target}");
    }
}

#[test]
fn every_message_that_loses_its_thinking_is_named_by_every_target() {
    let thinking = || Block::Thinking(Thinking { text: "hm".into(), tokens: Vec::new() });
    let message = |id: &str, role, origin| Message::new(id, role, origin);
    let mut messages = vec![
        message("m0", Role::User, Origin::Person),
        message("m1", Role::Assistant, Origin::Model),
        message("m2", Role::User, Origin::Person),
        message("m3", Role::Assistant, Origin::Model),
    ];
    messages.iter_mut().filter(|m| m.role == Role::Assistant).for_each(|m| m.blocks.push(thinking()));
    let session = session(messages);
    for target in ["claude-code", "cowork", "opencode", "pi"] {
        let losses = find(target).unwrap().from_common(&session, &Target::default()).unwrap().losses;
        let thinking = losses.iter().find(|loss| loss.kind == LossKind::Thinking).unwrap();
        assert_eq!(thinking.messages, ["m1", "m3"], "{target}");
    }
}

/// A conversation in which one call gives this back.
fn called(content: Vec<ResultPart>, outcome: Outcome) -> Session {
    let mut call = Message::new("m1", Role::Assistant, Origin::Model);
    let tool = Tool::List(List { path: None });
    call.blocks.push(Block::ToolUse(ToolUse {
        id: "c".into(),
        name: "look".into(),
        tool,
        extra: Vec::new(),
    }));
    let mut answer = Message::new("m2", Role::User, Origin::Tools);
    answer.blocks.push(Block::ToolResult(ToolResult {
        call: "c".into(),
        content,
        outcome,
        structured: None,
    }));
    let mut session = session(vec![Message::new("m0", Role::User, Origin::Person), call, answer]);
    for message in &mut session.messages {
        let keep = message.id == "m0";
        message.blocks.retain(|block| keep || !matches!(block, Block::Text(_)));
    }
    session
}

// Measured with Claude Code 2.1.332: of a failed result only the texts reach the provider.
#[test]
fn a_picture_that_claude_code_will_not_send_with_a_failed_call_is_reported() {
    let picture =
        Image { media_type: Some("image/png".into()), data: Data::Base64("iVBORw0KGgo=".into()), name: None };
    for (outcome, lost) in
        [(Outcome::Error, 1), (Outcome::Interrupted, 1), (Outcome::Ok, 0), (Outcome::Unknown, 0)]
    {
        let session = called(vec![ResultPart::Image(picture.clone())], outcome);
        let losses = find("claude-code").unwrap().from_common(&session, &Target::default()).unwrap().losses;
        assert_eq!(losses.count(LossKind::Image), lost, "{outcome:?}");
    }
}

// Measured with Codex 0.171.0: an empty text in a list of parts does not reach the provider.
#[test]
fn an_empty_text_that_codex_will_not_send_is_reported() {
    let text = |text: &str| ResultPart::Text(TextBlock { text: text.into() });
    for (parts, lost) in
        [(vec![text(""), text("said")], 1), (vec![text("")], 0), (vec![text(" "), text("said")], 0)]
    {
        let session = called(parts, Outcome::Ok);
        let losses = find("codex").unwrap().from_common(&session, &Target::default()).unwrap().losses;
        assert_eq!(losses.count(LossKind::EmptyText), lost);
    }
}

/// A conversation in which a person shows this.
fn shown(block: Block) -> Session {
    let mut message = Message::new("m0", Role::User, Origin::Person);
    message.blocks.push(block);
    session(vec![message])
}

#[expect(clippy::unwrap_used, reason = "a test that fails shall say where")]
fn losses(target: &str, session: &Session, kind: LossKind) -> u64 {
    find(target).unwrap().from_common(session, &Target::default()).unwrap().losses.count(kind)
}

// Providers take four types of pictures; Codex 0.171.0 sends a note in place of any other.
#[test]
fn a_picture_of_a_type_that_providers_refuse_is_left_behind_by_every_target() {
    for target in ["claude-code", "codex", "opencode", "pi"] {
        for (kind, lost) in [("image/png", 0), ("image/webp", 0), ("image/svg+xml", 1)] {
            let data = Data::Base64("PHN2Zy8+".into());
            let picture = Block::Image(Image { media_type: Some(kind.into()), data, name: None });
            assert_eq!(losses(target, &shown(picture), LossKind::Image), lost, "{target} {kind}");
        }
    }
}

// Codex 0.171.0 sends "image content omitted because remote image URLs are not supported".
#[test]
fn a_picture_at_an_address_is_left_behind_by_codex() {
    let data = Data::Url("https://example.com/a.png".into());
    let picture = Block::Image(Image { media_type: Some("image/png".into()), data, name: None });
    assert_eq!(losses("codex", &shown(picture), LossKind::Image), 1);
}

// The provider documents two types: application/pdf as bytes, text/plain as text.
#[test]
fn a_document_of_a_type_that_the_provider_refuses_does_not_reach_claude_code_as_it_is() {
    let bytes = || Data::Base64("AAEC".into());
    let text = || Data::Text("said".into());
    for (kind, data, lost) in [
        ("application/pdf", bytes(), 0),
        ("application/octet-stream", bytes(), 1),
        ("text/plain", text(), 0),
        ("text/markdown", text(), 1),
    ] {
        let document = Block::Document(Document { media_type: Some(kind.into()), data, name: None });
        let session = shown(document);
        assert_eq!(losses("claude-code", &session, LossKind::Document), lost, "{kind}");
        let made = find("claude-code").unwrap().from_common(&session, &Target::default()).unwrap();
        let file = String::from_utf8(made.value.to_text().unwrap()).unwrap();
        assert!(!file.contains("octet-stream") && !file.contains("markdown"), "{kind}");
    }
}

// OpenCode 1.18.33 sends a result with an attached text as the JSON of both.
#[test]
fn a_text_document_of_a_result_becomes_text_in_opencode() {
    let data = Data::Text("inside".into());
    let document =
        ResultPart::Document(Document { media_type: Some("text/markdown".into()), data, name: None });
    let session = called(vec![document], Outcome::Ok);
    let made = find("opencode").unwrap().from_common(&session, &Target::default()).unwrap();
    assert_eq!(made.losses.count(LossKind::Document), 1);
    let text = String::from_utf8(made.value.to_text().unwrap()).unwrap();
    assert!(text.contains(r#""output": "inside""#) && !text.contains("attachments"), "{text}");
}
