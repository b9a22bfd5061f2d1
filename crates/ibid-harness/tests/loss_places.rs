//! The report of a conversion names the messages that lost something.

use ibid_harness::{Target, find};
use ibid_model::{Block, Compaction, LossKind, Message, Origin, Role, Session, Thinking, Timestamp};

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
