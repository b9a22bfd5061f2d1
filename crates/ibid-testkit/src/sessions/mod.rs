//! Generated common sessions.
//!
//! [`session`] makes sessions with everything that a codec may meet: all kinds of blocks, typed,
//! raw and MCP calls, failed, interrupted, missing, late and orphan results, call ids that come
//! again or have odd characters, structured results, pictures, thinking with and without tokens,
//! usage, blank texts, text beyond ASCII, text that looks like some harness's scaffolding, text behind
//! calls, missing times, side branches, compactions and events.
//! Every one of them is consistent ([`ibid_model::Session::problems`] is empty), and shrinks
//! turn by turn.

mod text;
mod tools;
mod turns;

use ibid_model::{
    Block, CallId, Compaction, Event, EventKind, Message, MessageId, ModelCall, Origin, Role, Session, Text,
    Timestamp, Title, TitleOrigin, ToolResult, ToolUse,
};
use proptest::option;
use proptest::prelude::*;

pub use text::{any_text, json, object, path, scaffolding, text, word};
pub use tools::{Answer, Call, PIXEL, answer, call, document, image};
pub use turns::usage;
use turns::{Given, Turn, turn};

/// Sessions of up to twelve turns.
pub fn session() -> impl Strategy<Value = Session> {
    session_of(0..12)
}

/// Sessions with a number of turns out of a range.
pub fn session_of(turns: impl Into<prop::collection::SizeRange>) -> impl Strategy<Value = Session> {
    let facts = (
        option::weighted(0.7, text()),
        option::weighted(0.9, path()),
        option::weighted(0.3, word()),
        // Of each message: whether its time is known.
        prop::collection::vec(prop::bool::weighted(0.9), 1..8),
        // Of each call: 0 a new plain id, 1 an odd one, 2 one that was there already.
        prop::collection::vec(prop_oneof![8 => Just(0_u8), 1 => Just(1), 1 => Just(2)], 1..8),
    );
    (prop::collection::vec(turn(), turns), facts).prop_map(|(turns, (title, cwd, branch, timed, ids))| {
        let mut session = Session::new("generated", "5f0c1f6e-0000-4000-8000-000000000001");
        session.meta.title = title.map(|text| Title { text, origin: TitleOrigin::Person });
        session.meta.cwd = cwd;
        session.meta.git_branch = branch;
        let mut scene = Scene { session, at: None, timed, ids, calls: 0, late: Vec::new() };
        for turn in turns {
            scene.play(turn);
        }
        scene.finish()
    })
}

/// When generated sessions begin: 2026-07-01T10:00:00Z.
const BEGIN_MS: i64 = 1_782_900_000_000;

/// A session being made.
struct Scene {
    session: Session,
    /// The message that the next one continues.
    at: Option<MessageId>,
    timed: Vec<bool>,
    ids: Vec<u8>,
    calls: usize,
    late: Vec<ToolResult>,
}

impl Scene {
    fn play(&mut self, turn: Turn) {
        let late = std::mem::take(&mut self.late);
        match turn {
            Turn::Said { role, origin, blocks } => {
                self.push(role, origin, blocks);
            }
            Turn::Answered(reply) => self.answer(*reply),
            Turn::OrphanResult(answer) => {
                let result = given_back("call_without".into(), answer);
                self.push(Role::User, Origin::Tools, vec![Block::ToolResult(result)]);
            }
            Turn::Compacted { summary, as_message, keeps, tokens } => {
                self.compact(summary, as_message, keeps, tokens);
            }
            Turn::Branched(index) => {
                if !self.session.messages.is_empty() {
                    self.at = index.get(&self.session.messages).parent.clone();
                }
            }
            Turn::Happened(word) => self.session.events.push(Event {
                kind: EventKind::Other(word),
                at: None,
                after: self.at.clone(),
                text: None,
                json: None,
                sources: Vec::new(),
            }),
        }
        self.results(late);
    }

    fn answer(&mut self, reply: turns::Reply) {
        let mut blocks = reply.blocks;
        let mut at_once = Vec::new();
        let mut late = Vec::new();
        for (call, given, behind) in reply.calls {
            let id = self.call_id();
            match given {
                Given::AtOnce(answer) => at_once.push(given_back(id.clone(), answer)),
                Given::Late(answer) => late.push(given_back(id.clone(), answer)),
                Given::Never => {}
            }
            blocks.push(Block::ToolUse(ToolUse { id, name: call.name, tool: call.tool, extra: call.extra }));
            blocks.extend(behind);
        }
        let number = self.session.messages.len();
        let message = self.push(Role::Assistant, Origin::Model, blocks);
        let api_id = Some(Text::from(format!("msg_{number:04}")));
        message.model = reply.model.map(Text::from);
        message.stop = reply.stop;
        message.api_id.clone_from(&api_id);
        let (id, at, model) = (message.id.clone(), message.at, message.model.clone());
        if model.is_some() {
            self.session.meta.model.clone_from(&model);
        }
        if let Some(usage) = reply.usage {
            self.session.calls.push(ModelCall {
                api_id,
                request_id: None,
                message: Some(id),
                model,
                at,
                usage,
                inherited: false,
                sources: Vec::new(),
            });
        }
        self.results(at_once);
        self.late = late;
    }

    fn results(&mut self, results: Vec<ToolResult>) {
        if !results.is_empty() {
            let blocks = results.into_iter().map(Block::ToolResult).collect();
            self.push(Role::User, Origin::Tools, blocks);
        }
    }

    fn compact(
        &mut self,
        summary: Text,
        as_message: bool,
        keeps: Option<prop::sample::Index>,
        tokens: Option<u64>,
    ) {
        let Some(after) = self.at.clone() else { return };
        let path = self.session.path_to(&after);
        let first_kept = keeps
            .map(|index| *index.get(&path))
            .and_then(|at| self.session.messages.get(at))
            .map(|message| message.id.clone());
        let (summary, text) = if as_message {
            let message = self.push(Role::User, Origin::Summary, vec![Block::text(summary)]);
            (Some(message.id.clone()), None)
        } else {
            (None, Some(summary))
        };
        self.session.compactions.push(Compaction {
            after: Some(after),
            summary,
            text,
            first_kept,
            trigger: Some("auto".into()),
            tokens_before: tokens,
            at: None,
            sources: Vec::new(),
        });
    }

    fn call_id(&mut self) -> CallId {
        let number = self.calls;
        self.calls += 1;
        let kind = self.ids.get(number % self.ids.len()).copied().unwrap_or(0);
        match kind {
            1 => CallId::from(format!("call {number}|fc.\u{e9}")),
            2 if number > 0 => CallId::from(format!("call_{:04}", number - 1)),
            _ => CallId::from(format!("call_{number:04}")),
        }
    }

    fn push(&mut self, role: Role, origin: Origin, blocks: Vec<Block>) -> &mut Message {
        let number = self.session.messages.len();
        let mut message = Message::new(format!("m{number}"), role, origin);
        message.parent = self.at.replace(message.id.clone());
        message.blocks = blocks;
        if self.timed.get(number % self.timed.len()).copied().unwrap_or(true) {
            let minutes = i64::try_from(number).unwrap_or(0);
            message.at = Timestamp::from_milliseconds(BEGIN_MS + minutes * 60_000);
        }
        let meta = &mut self.session.meta;
        if let Some(at) = message.at {
            meta.stamp(at);
        }
        if origin == Origin::Person {
            message.texts().for_each(|text| meta.offer_preview(text));
        }
        self.session.messages.push(message);
        self.session.messages.last_mut().expect("one was pushed")
    }

    fn finish(mut self) -> Session {
        let late = std::mem::take(&mut self.late);
        self.results(late);
        self.session.head = self.at.or_else(|| self.session.messages.last().map(|m| m.id.clone()));
        self.session
    }
}

fn given_back(call: CallId, answer: Answer) -> ToolResult {
    let Answer { content, outcome, structured } = answer;
    ToolResult { call, content, outcome, structured }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use ibid_model::Outcome;
    use proptest::strategy::ValueTree;
    use proptest::test_runner::TestRunner;

    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(200))]

        #[test]
        fn every_session_is_consistent(session in session()) {
            prop_assert_eq!(session.problems(), []);
        }
    }

    #[test]
    fn two_hundred_sessions_have_everything_in_them() {
        let mut runner = TestRunner::deterministic();
        let mut seen = BTreeSet::new();
        for _ in 0..200 {
            let session = session().new_tree(&mut runner).expect("a session can be made").current();
            if session.branches().len() > 1 {
                seen.insert("branch".to_owned());
            }
            if !session.compactions.is_empty() {
                seen.insert("compaction".to_owned());
            }
            if session.messages.iter().any(|message| message.at.is_none()) {
                seen.insert("no time".to_owned());
            }
            if session.messages.iter().any(|message| {
                let call = message.blocks.iter().position(|block| matches!(block, Block::ToolUse(_)));
                let text = message.blocks.iter().rposition(|block| matches!(block, Block::Text(_)));
                call.is_some() && call < text
            }) {
                seen.insert("text behind a call".to_owned());
            }
            for block in session.messages.iter().flat_map(|message| &message.blocks) {
                match block {
                    Block::ToolUse(call) => seen.insert(call.tool.kind().to_owned()),
                    Block::ToolResult(result) if result.outcome == Outcome::Interrupted => {
                        seen.insert("interrupted".to_owned())
                    }
                    Block::ToolResult(result) if result.structured.is_some() => {
                        seen.insert("structured".to_owned())
                    }
                    Block::Text(text) if text.text.is_blank() => seen.insert("blank".to_owned()),
                    Block::Text(text) if text.text.contains('\u{2028}') => seen.insert("U+2028".to_owned()),
                    Block::Text(text) if text.text.starts_with("<system-reminder>") => {
                        seen.insert("scaffolding".to_owned())
                    }
                    Block::Image(_) => seen.insert("image".to_owned()),
                    Block::Document(_) => seen.insert("document".to_owned()),
                    Block::Command(_) => seen.insert("command".to_owned()),
                    Block::Other(_) => seen.insert("other".to_owned()),
                    Block::Thinking(_) => seen.insert("thinking".to_owned()),
                    _ => false,
                };
            }
        }
        for wanted in [
            "branch",
            "compaction",
            "no time",
            "interrupted",
            "structured",
            "blank",
            "U+2028",
            "scaffolding",
            "text behind a call",
            "image",
            "document",
            "command",
            "other",
            "thinking",
            "shell",
            "read",
            "write",
            "edit",
            "patch",
            "search",
            "find",
            "list",
            "fetch",
            "web_search",
            "task",
            "todo",
            "mcp",
            "raw",
        ] {
            assert!(seen.contains(wanted), "no session has: {wanted}");
        }
    }
}
