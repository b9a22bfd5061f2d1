//! The report of a conversion names the messages that lost something.

use ibid_harness::{Target, find};
use ibid_model::{Block, LossKind, Message, Origin, Role, Session, Thinking, Timestamp};

#[test]
fn every_message_that_loses_its_thinking_is_named_by_every_target() {
    let mut session = Session::new("test", "s");
    session.meta.cwd = Some("/home/dev/demo".into());
    let mut parent = None;
    for (number, role) in [Role::User, Role::Assistant, Role::User, Role::Assistant].into_iter().enumerate() {
        let origin = if role == Role::User { Origin::Person } else { Origin::Model };
        let mut message = Message::new(format!("m{number}"), role, origin);
        message.at = Timestamp::parse("2026-07-01T10:00:00Z");
        if role == Role::Assistant {
            message.blocks.push(Block::Thinking(Thinking { text: "hm".into(), tokens: Vec::new() }));
        }
        message.blocks.push(Block::text("said"));
        message.parent = parent.replace(message.id.clone());
        session.messages.push(message);
    }
    for target in ["claude-code", "cowork", "opencode", "pi"] {
        let losses = find(target).unwrap().from_common(&session, &Target::default()).unwrap().losses;
        let thinking = losses.iter().find(|loss| loss.kind == LossKind::Thinking).unwrap();
        assert_eq!(thinking.messages, ["m1", "m3"], "{target}");
    }
}
