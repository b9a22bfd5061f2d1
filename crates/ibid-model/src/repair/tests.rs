//! What conversations are made fit for a target.

use super::*;
use crate::{CarrierInfo, Raw};

fn call(id: &str) -> Block {
    let tool = Tool::Raw(Raw { name: "t".into(), input: Json::from_text("{}").unwrap() });
    Block::ToolUse(ToolUse { id: id.into(), name: "t".into(), tool, extra: Vec::new() })
}

fn result(id: &str, text: &str) -> Block {
    let content = vec![ResultPart::Text(TextBlock { text: text.into() })];
    Block::ToolResult(ToolResult { call: id.into(), content, outcome: Outcome::Ok, structured: None })
}

fn session(messages: Vec<(Role, Origin, Vec<Block>)>) -> Session {
    let mut session = Session::new("test", "s");
    let mut parent = None;
    for (number, (role, origin, blocks)) in messages.into_iter().enumerate() {
        let mut message = Message::new(format!("m{number}"), role, origin);
        message.blocks = blocks;
        message.parent = parent.replace(message.id.clone());
        session.messages.push(message);
    }
    session
}

fn story(prepared: &Prepared) -> Vec<String> {
    let block = |block: &Block| match block {
        Block::Text(text) => text.text.to_string(),
        Block::ToolUse(call) => format!("call {}", call.id),
        Block::ToolResult(result) => format!("result {} {}", result.call, result.text()),
        other => format!("{other:?}"),
    };
    prepared.messages.iter().map(|m| m.blocks.iter().map(block).collect::<Vec<_>>().join(" | ")).collect()
}

// https://github.com/Dicklesworthstone/cross_agent_session_resumer/pull/13 (fault 25)
#[test]
fn results_follow_their_calls_and_a_call_without_one_is_interrupted() {
    let session = session(vec![
        (Role::User, Origin::Person, vec![Block::text("go")]),
        (Role::Assistant, Origin::Model, vec![call("a"), call("b"), call("c")]),
        (Role::User, Origin::Tools, vec![result("b", "B")]),
        (Role::Assistant, Origin::Model, vec![Block::text("meanwhile")]),
        (Role::User, Origin::Tools, vec![result("a", "A")]),
    ]);
    let prepared = prepare(&session, &Selection::default(), &Rules::STRICT);
    let interrupted = Rules::STRICT.interrupted;
    let results = format!("result a A | result b B | result c {interrupted}");
    assert_eq!(story(&prepared), ["go", "call a | call b | call c", results.as_str(), "meanwhile"]);
    assert_eq!(prepared.losses.count(LossKind::OrphanCallCompleted), 1);
    assert_eq!(prepared.losses.count(LossKind::ResultsMoved), 1);
}

#[test]
fn results_that_stand_in_another_order_than_their_calls_are_reported() {
    let parallel = |results: Vec<Vec<Block>>| {
        let mut messages = vec![
            (Role::User, Origin::Person, vec![Block::text("go")]),
            (Role::Assistant, Origin::Model, vec![call("a"), call("b"), call("c")]),
        ];
        messages.extend(results.into_iter().map(|blocks| (Role::User, Origin::Tools, blocks)));
        prepare(&session(messages), &Selection::default(), &Rules::STRICT)
    };
    let (a, b, c) = (result("a", "A"), result("b", "B"), result("c", "C"));

    let in_order = parallel(vec![vec![a.clone()], vec![b.clone(), c.clone()]]);
    assert_eq!(in_order.losses.count(LossKind::ResultsMoved), 0);
    // One that stands in the front of others is one move, in one message and over several.
    for other_order in [vec![vec![c.clone(), a.clone(), b.clone()]], vec![vec![b], vec![a, c]]] {
        let prepared = parallel(other_order);
        assert_eq!(
            story(&prepared),
            ["go", "call a | call b | call c", "result a A | result b B | result c C"]
        );
        assert_eq!(prepared.losses.count(LossKind::ResultsMoved), 1);
    }
}

// https://github.com/earendil-works/pi/issues/812 (fault 26)
#[test]
fn a_result_never_stays_without_its_call() {
    let session = session(vec![
        (Role::User, Origin::Person, vec![Block::text("go")]),
        (Role::User, Origin::Tools, vec![result("gone", "?")]),
    ]);
    let prepared = prepare(&session, &Selection::default(), &Rules::STRICT);
    assert_eq!(story(&prepared), ["go"]);
    assert_eq!(prepared.losses.count(LossKind::OrphanResult), 1);
}

#[test]
fn the_same_call_id_in_a_later_turn_is_another_call() {
    let session = session(vec![
        (Role::Assistant, Origin::Model, vec![call("x")]),
        (Role::User, Origin::Tools, vec![result("x", "first")]),
        (Role::Assistant, Origin::Model, vec![call("x")]),
        (Role::User, Origin::Tools, vec![result("x", "second")]),
    ]);
    let prepared = prepare(&session, &Selection::default(), &Rules::STRICT);
    let story = story(&prepared);
    assert!(story[1].ends_with("first") && story[3].ends_with("second"), "{story:?}");
    assert_eq!(prepared.losses.count(LossKind::CallIdChanged), 1);
}

// https://github.com/openclaw/openclaw/issues/101836 (fault 27)
#[test]
fn thinking_without_a_valid_token_is_left_behind() {
    let thinking = |value: &str| {
        let token = crate::ProviderToken {
            usage: TokenUse::Signature,
            provider: Some("anthropic".into()),
            value: value.into(),
        };
        Block::Thinking(Thinking { text: "hm".into(), tokens: vec![token] })
    };
    let session = session(vec![(
        Role::Assistant,
        Origin::Model,
        vec![thinking("c2ln"), thinking(""), Block::text("done")],
    )]);
    let strict = prepare(&session, &Selection::default(), &Rules::STRICT);
    assert_eq!(strict.losses.count(LossKind::Thinking), 2);
    let signed = Rules { thinking: ThinkingRule::Signed("anthropic"), ..Rules::STRICT };
    let signed = prepare(&session, &Selection::default(), &signed);
    assert_eq!(signed.losses.count(LossKind::Thinking), 1);
    let other = Rules { thinking: ThinkingRule::Signed("openai"), ..Rules::STRICT };
    assert_eq!(prepare(&session, &Selection::default(), &other).losses.count(LossKind::Thinking), 2);
}

#[test]
fn a_call_that_the_model_did_not_make_is_left_behind_with_its_result() {
    let session = session(vec![
        (Role::User, Origin::Person, vec![Block::text("go"), call("a")]),
        (Role::User, Origin::Tools, vec![result("a", "A")]),
    ]);
    let prepared = prepare(&session, &Selection::default(), &Rules::STRICT);
    assert_eq!(story(&prepared), ["go"]);
    assert_eq!(prepared.losses.count(LossKind::UnknownBlock), 1);
    assert_eq!(prepared.losses.count(LossKind::OrphanResult), 1);
}

#[test]
fn the_text_beside_a_picture_that_was_put_in_is_left_behind() {
    let picture =
        Block::Image(crate::Image { media_type: None, data: crate::Data::Base64("QUJD".into()), name: None });
    let session = session(vec![(Role::User, Origin::Harness, vec![Block::text("[Image: /p.png]"), picture])]);
    let prepared = prepare(&session, &Selection::default(), &Rules::STRICT);
    assert_eq!(prepared.losses.count(LossKind::InjectedContext), 1);
    assert!(matches!(prepared.messages[0].blocks.as_slice(), [Block::Image(_)]));
    let kept = Rules { injected_context: true, ..Rules::STRICT };
    assert_eq!(prepare(&session, &Selection::default(), &kept).messages[0].blocks.len(), 2);
}

#[test]
fn blank_text_and_what_it_leaves_empty_go() {
    let session = session(vec![
        (Role::User, Origin::Person, vec![Block::text("  ")]),
        (Role::Assistant, Origin::Model, vec![Block::text("hi")]),
    ]);
    let prepared = prepare(&session, &Selection::default(), &Rules::STRICT);
    assert_eq!(story(&prepared), ["hi"]);
    assert!(prepared.losses.has(LossKind::EmptyText) && prepared.losses.has(LossKind::EmptyMessage));
}

#[test]
fn what_lies_beside_the_conversation_is_left_behind_and_named() {
    let mut session = session(vec![(Role::User, Origin::Person, vec![Block::text("go")])]);
    for (role, path) in [
        (CarrierRole::Transcript, "/s/a.jsonl"),
        (CarrierRole::Audit, "/s/audit.jsonl"),
        (CarrierRole::Companion, "/s/uploads"),
    ] {
        session.carriers.push(CarrierInfo { path: path.into(), role, key: None, bytes: None });
    }
    let prepared = prepare(&session, &Selection::default(), &Rules::STRICT);
    let left: Vec<_> = prepared.losses.iter().map(|loss| (loss.kind, loss.what.as_deref())).collect();
    assert_eq!(left, [(LossKind::Companion, Some("audit log")), (LossKind::Companion, Some("uploads"))]);
}
