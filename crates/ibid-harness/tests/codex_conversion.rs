//! Codex as the target of conversions from every other harness.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot go on fails"
)]

use std::fs;
use std::path::Path;

use ibid_carrier::jsonl::Limits;
use ibid_harness::codex::Codex;
use ibid_harness::{Codec, Context, Surroundings, Target, TextCodec};
use ibid_model::{
    Block, CommandRule, Essence, Json, LossKind, Message, MessageId, Origin, Outcome, Raw, ResultPart, Role,
    Rules, Selection, Session, Text, TextBlock, ThinkingRule, Timestamp, Tool, ToolResult, ToolUse, essence,
    prepare,
};
use proptest::prelude::*;

const RULES: Rules = Rules { thinking: ThinkingRule::Text, commands: CommandRule::Text, ..Rules::STRICT };

/// What cannot be the same: a name that had to be spelled otherwise, and what the losses name.
fn comparable(messages: Vec<&Message>) -> Vec<Essence> {
    let document = |block: &Block| matches!(block, Block::Document(_));
    let mut said = essence(messages);
    said.retain(|said| !matches!(said, Essence::Other(_, block) if document(block)));
    said
}

fn told_again(session: &Session) -> (Session, ibid_model::Losses) {
    let written = Codex::from_common(session, &Target::default()).unwrap();
    let again = Codex::to_common(&written.value).unwrap().session;
    assert_eq!(again.problems(), []);
    (again, written.losses)
}

/// The sessions in the fixtures of every harness but Codex.
fn foreign() -> Vec<Session> {
    let limits = Limits::default();
    let mut sessions = Vec::new();
    for harness in ibid_harness::all() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../../fixtures")
            .join(harness.declaration().id.as_str());
        if harness.declaration().id.as_str() == "codex" || !folder.is_dir() {
            continue;
        }
        for version in fs::read_dir(folder).unwrap() {
            let cache = tempfile::TempDir::new().unwrap();
            let home = version.unwrap().path();
            let machine = Surroundings::isolated(&home).with_variable("XDG_CACHE_HOME", cache.path());
            let context = Context { machine: &machine, limits: &limits };
            for root in harness.roots(&machine) {
                for listed in harness.list(&root, &context).sessions {
                    let Ok(transcript) = harness.load(&listed.reference, &context) else { continue };
                    let Ok(common) = transcript.to_common() else { continue };
                    sessions.push(common.session);
                }
            }
        }
    }
    sessions
}

#[test]
fn every_harness_tells_codex_the_same_story() {
    let sessions = foreign();
    assert!(!sessions.is_empty());
    for session in sessions {
        let prepared = prepare(&session, &Selection::default(), &RULES);
        let (again, losses) = told_again(&session);
        let read = comparable(again.view(&Selection::default()).messages);
        let expected = comparable(prepared.messages.iter().collect());
        if losses.has(LossKind::ToolRenamed) || losses.has(LossKind::Image) {
            assert_eq!(read.len(), expected.len(), "{}:{}", session.harness, session.id);
            continue;
        }
        assert_eq!(read, expected, "{}:{}", session.harness, session.id);
    }
}

#[test]
fn what_a_rollout_does_not_say_is_a_loss() {
    let mut session = Session::new("other", "s");
    session.meta.title = Some(ibid_model::Title {
        text: "made by a model".into(),
        origin: ibid_model::TitleOrigin::Generated,
    });
    let mut message = Message::new("m", Role::User, Origin::Person);
    message.blocks.push(Block::text("Q"));
    session.messages.push(message);
    let mut answer = Message::new("n", Role::Assistant, Origin::Model);
    answer.parent = Some("m".into());
    answer.stop = Some(ibid_model::StopReason::EndTurn);
    answer.blocks.push(Block::text("A"));
    session.messages.push(answer);
    let (_, losses) = told_again(&session);
    for kind in [
        LossKind::SessionId,
        LossKind::Title,
        LossKind::StopReason,
        LossKind::TimeFilled,
        LossKind::MessageIds,
    ] {
        assert!(losses.has(kind), "{kind}");
    }
    assert!(!losses.has(LossKind::Model) && !losses.has(LossKind::GitBranch));
}

// https://github.com/Dicklesworthstone/cross_agent_session_resumer/pull/13 (fault 25)
#[test]
fn results_stand_right_behind_their_calls() {
    let tool = || Tool::Raw(Raw { name: "t".into(), input: Json::from_text("{}").unwrap() });
    let call = |id: &str| {
        Block::ToolUse(ToolUse { id: id.into(), name: "t".into(), tool: tool(), extra: Vec::new() })
    };
    let mut session = Session::new("other", "s");
    let mut parent: Option<MessageId> = None;
    let mut add = |role, origin, blocks| {
        let mut message = Message::new(format!("m{}", session.messages.len()), role, origin);
        message.parent = parent.replace(message.id.clone());
        message.blocks = blocks;
        session.messages.push(message);
    };
    let result = |id: &str, text: &str| {
        let content = vec![ResultPart::Text(TextBlock { text: text.into() })];
        Block::ToolResult(ToolResult { call: id.into(), content, outcome: Outcome::Error, structured: None })
    };
    add(Role::Assistant, Origin::Model, vec![call("a"), call("b")]);
    add(Role::User, Origin::Person, vec![Block::text("meanwhile")]);
    add(Role::User, Origin::Tools, vec![result("a", "A")]);
    let written = Codex::from_common(&session, &Target::default()).unwrap().value;
    let text = String::from_utf8(Codex::to_text(&written).unwrap()).unwrap();
    let kinds: Vec<&str> = text
        .lines()
        .filter_map(|line| {
            ["function_call_output", "function_call", "user_message"]
                .into_iter()
                .find(|kind| line.contains(&format!("\"type\":\"{kind}\"")))
        })
        .collect();
    assert_eq!(
        kinds,
        ["function_call", "function_call", "function_call_output", "function_call_output", "user_message"]
    );
}

// https://github.com/openai/codex/issues/24676 (fault 42)
#[test]
fn a_picture_is_written_once() {
    let mut session = Session::new("other", "s");
    let mut message = Message::new("m", Role::User, Origin::Person);
    let data = ibid_model::Data::Base64("QUJDREVGR0g=".into());
    message.blocks.push(Block::Image(ibid_model::Image {
        media_type: Some("image/png".into()),
        data,
        name: None,
    }));
    session.messages.push(message);
    let written = Codex::from_common(&session, &Target::default()).unwrap().value;
    let text = String::from_utf8(Codex::to_text(&written).unwrap()).unwrap();
    assert_eq!(text.matches("QUJDREVGR0g=").count(), 1);
}

#[test]
fn a_compaction_is_marked_with_its_summary() {
    let mut session = Session::new("other", "s");
    for (id, text) in [("a", "before"), ("b", "after")] {
        let mut message = Message::new(id, Role::User, Origin::Person);
        message.parent = session.messages.last().map(|last| last.id.clone());
        message.blocks.push(Block::text(text));
        session.messages.push(message);
    }
    session.compactions.push(ibid_model::Compaction {
        after: Some("a".into()),
        summary: None,
        text: Some("the summary".into()),
        first_kept: None,
        trigger: None,
        tokens_before: None,
        at: None,
        sources: Vec::new(),
    });
    let (again, losses) = told_again(&session);
    assert_eq!(again.compactions.len(), 1);
    assert_eq!(again.compactions[0].text.as_deref(), Some("the summary"));
    assert_eq!(again.compactions[0].after.as_ref(), again.messages.first().map(|message| &message.id));
    assert!(!losses.has(LossKind::CompactionMarker));
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-z \n\"\\\\\u{2028}\u{85}é😀]{0,12}",
        Just("Exit code: 0\nOutput:\nx".into()),
        Just("aborted".into())
    ]
}

fn tool() -> impl Strategy<Value = Tool> {
    let raw = |name: &str, input: Json| Tool::Raw(Raw { name: name.into(), input });
    prop_oneof![
        text().prop_map(|command| Tool::Shell(ibid_model::Shell {
            command: command.into(),
            cwd: None,
            timeout_ms: Some(5),
            description: None,
            background: None,
        })),
        (text(), text()).prop_map(|(path, content)| Tool::Write(ibid_model::Write {
            path: path.into(),
            content: content.into()
        })),
        (text(), text()).prop_map(|(old, new)| {
            let edits = vec![ibid_model::Replacement { old: old.into(), new: new.into(), all: false }];
            Tool::Edit(ibid_model::Edit { path: "p".into(), edits })
        }),
        text().prop_map(|patch| Tool::Patch(ibid_model::Patch { patch: patch.into() })),
        text().prop_map(|pattern| Tool::Find(ibid_model::Find { pattern: pattern.into(), path: None })),
        text().prop_map(move |text| raw(
            "exec_command",
            Json::of(&serde_json::json!({ "cmd": text })).unwrap()
        )),
        text().prop_map(move |text| raw("apply_patch", Json::string(&text))),
        text().prop_map(move |text| raw("mcp__a__b", Json::of(&[text]).unwrap())),
    ]
}

/// A conversation of calls with results, and of texts.
fn session() -> impl Strategy<Value = Session> {
    let outcome = prop_oneof![
        Just(Outcome::Unknown),
        Just(Outcome::Ok),
        Just(Outcome::Error),
        Just(Outcome::Interrupted)
    ];
    let turn = (
        text(),
        text(),
        proptest::collection::vec((tool(), proptest::collection::vec(text(), 0..3), outcome), 0..3),
    );
    proptest::collection::vec(turn, 0..5).prop_map(|turns| {
        let mut session = Session::new("other", "s");
        let mut add = |role, origin, blocks: Vec<Block>| {
            let number = session.messages.len();
            let mut message = Message::new(format!("m{number}"), role, origin);
            message.parent = session.messages.last().map(|last: &Message| last.id.clone());
            message.at = Timestamp::from_milliseconds(1_700_000_000_000 + i64::try_from(number).unwrap());
            message.blocks = blocks;
            session.messages.push(message);
        };
        for (turn, (question, answer, calls)) in turns.into_iter().enumerate() {
            add(Role::User, Origin::Person, vec![Block::text(question)]);
            let mut blocks = vec![Block::text(answer)];
            let mut results = Vec::new();
            for (number, (tool, texts, outcome)) in calls.into_iter().enumerate() {
                let id = format!("c{turn}_{number}");
                let name: Text = match &tool {
                    Tool::Raw(raw) => raw.name.clone(),
                    _ => "Tool".into(),
                };
                blocks.push(Block::ToolUse(ToolUse { id: id.clone().into(), name, tool, extra: Vec::new() }));
                let content =
                    texts.into_iter().map(|text| ResultPart::Text(TextBlock { text: text.into() })).collect();
                results.push(Block::ToolResult(ToolResult {
                    call: id.into(),
                    content,
                    outcome,
                    structured: None,
                }));
            }
            add(Role::Assistant, Origin::Model, blocks);
            if !results.is_empty() {
                add(Role::User, Origin::Tools, results);
            }
        }
        session
    })
}

/// The outcomes of all results, in order.
fn outcomes<'a>(messages: impl IntoIterator<Item = &'a Message>) -> Vec<Outcome> {
    let blocks = messages.into_iter().flat_map(|message| &message.blocks);
    blocks
        .filter_map(|block| match block {
            Block::ToolResult(result) => Some(result.outcome),
            _ => None,
        })
        .collect()
}

proptest! {
    #[test]
    fn any_conversation_is_read_back(session in session()) {
        let prepared = prepare(&session, &Selection::default(), &RULES);
        let written = Codex::from_common(&session, &Target::default()).unwrap();
        let again = Codex::to_common(&written.value).unwrap().session;
        prop_assert_eq!(again.problems(), vec![]);
        let read = again.view(&Selection::default()).messages;
        prop_assert_eq!(outcomes(read.iter().copied()), outcomes(&prepared.messages));
        prop_assert_eq!(essence(read), essence(&prepared.messages));
        prop_assert!(!written.losses.has(LossKind::ResultStatus));
        let text = Codex::to_text(&written.value).unwrap();
        prop_assert_eq!(Codex::to_text(&Codex::from_text(&text).unwrap()).unwrap(), text);
    }
}
