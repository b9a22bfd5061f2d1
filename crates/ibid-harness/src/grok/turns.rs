//! From the records of `updates.jsonl` to messages: pieces are joined, calls and results paired.

use std::collections::HashMap;

use ibid_model::{
    Block, Command, Compaction, Event, EventKind, Finding, FindingKind, Json, Message, MessageId, ModelCall,
    Origin, ResultPart, Role, Text, TextBlock, Thinking, Timestamp, ToolResult, ToolUse,
};

use super::chat::Chat;
use super::content::{outcome, shown, stop, usages};
use super::tools;
use super::updates::{Place, Update, is_known_event};
use crate::families::content_blocks::{blocks, part};
use crate::families::loose::Loose;

/// Records of events up to this size are kept with them, in bytes.
const SMALL: usize = 4 << 10;

/// A message whose pieces still come.
struct Open {
    /// Its place in the list.
    at: usize,
    role: Role,
    /// Of a prompt: its number.
    index: Option<u64>,
    /// Of an answer: when it began to come.
    stream: Option<u64>,
    pieces: Vec<Piece>,
}

enum Piece {
    Text(String),
    Thought(String),
    Block(Block),
    /// The call of this number.
    Call(usize),
}

struct Call {
    id: Text,
    /// The message it is in.
    message: usize,
    /// The tool's name where the record has it.
    name: Option<Text>,
    title: Option<Text>,
    input: Option<Json>,
}

/// What was read.
#[derive(Default)]
pub(super) struct Turns {
    pub(super) messages: Vec<Message>,
    pub(super) events: Vec<Event>,
    pub(super) compactions: Vec<Compaction>,
    pub(super) calls: Vec<ModelCall>,
    pub(super) findings: Vec<Finding>,
    /// The message of a prompt by its number; of several the last.
    pub(super) prompts: HashMap<u64, usize>,
    /// The message of a call by its id.
    pub(super) asked: HashMap<Text, usize>,
    /// The message of a result by the id of its call.
    pub(super) answered: HashMap<Text, usize>,
}

/// Reads updates in their order.
pub(super) struct Reader<'a> {
    session: &'a str,
    chat: &'a Chat,
    /// Who wrote prompts: the person, and to a subagent its parent.
    author: Origin,
    turns: Turns,
    open: Option<Open>,
    drafts: Vec<Call>,
    by_id: HashMap<Text, usize>,
    tip: Option<MessageId>,
    model: Option<Text>,
    /// Whether turns were undone since the last prompt.
    rewound: bool,
    /// The first message of the turn.
    turn: usize,
    /// The calls of turns by prompt and model, so that a turn that is reported again counts once.
    counted: HashMap<(Text, Option<Text>), usize>,
}

impl<'a> Reader<'a> {
    pub(super) fn new(session: &'a str, chat: &'a Chat, author: Origin) -> Reader<'a> {
        Reader {
            session,
            chat,
            author,
            turns: Turns::default(),
            open: None,
            drafts: Vec::new(),
            by_id: HashMap::new(),
            tip: None,
            model: None,
            rewound: false,
            turn: 0,
            counted: HashMap::new(),
        }
    }

    pub(super) fn take(&mut self, update: &Update, place: Place, line: u64) {
        match update.kind.as_str() {
            "user_message_chunk" => self.prompt(update, place),
            "agent_message_chunk" => self.said(update, place, false),
            "agent_thought_chunk" => self.said(update, place, true),
            "tool_call" => self.call(update, place),
            "tool_call_update" => self.call_goes_on(update, place),
            "turn_completed" => self.turn_completed(update, place),
            kind => {
                if !is_known_event(kind) {
                    let detail = format!("an update of the kind {}", short(kind));
                    let finding = Finding::new(FindingKind::UnknownRecord, detail);
                    self.turns.findings.push(finding.at_bytes(place.start, place.end).on_line(line));
                }
                self.event(update, place);
            }
        }
    }

    /// Ends the last message, and puts the calls where they belong.
    pub(super) fn finish(mut self) -> Turns {
        self.close();
        for call in &self.drafts {
            let written = self.chat.call(&call.id);
            let name = written.map(|call| &call.name).or(call.name.as_ref()).or(call.title.as_ref());
            let name = name.cloned().unwrap_or_default();
            let input = written.map(|call| &call.input).or(call.input.as_ref()).cloned();
            let input = input.unwrap_or_else(|| Json::from_text("{}").unwrap_or_else(|_| Json::null()));
            let (tool, extra) = tools::decode(&name, &input);
            let done = ToolUse { id: call.id.clone().into(), name, tool, extra };
            let blocks = self.turns.messages.get_mut(call.message).map(|message| &mut message.blocks);
            // Its place was kept by a call that has the id and no name.
            let kept = |block: &&mut Block| matches!(block, Block::ToolUse(kept) if kept.id == done.id);
            if let Some(block) = blocks.and_then(|blocks| blocks.iter_mut().find(kept)) {
                *block = Block::ToolUse(done);
            }
            if !self.turns.answered.contains_key(&call.id) {
                let detail = "a call without a result";
                self.turns.findings.push(Finding::new(FindingKind::CallWithoutResult, detail));
            }
        }
        self.turns
    }

    fn add(&mut self, mut message: Message, update: &Update, place: Place) -> usize {
        let at = self.turns.messages.len();
        message.at = update.at;
        message.parent = self.tip.take();
        message.inherited = update.is_from_another(self.session);
        message.sources.push(place.source());
        self.tip = Some(message.id.clone());
        self.turns.messages.push(message);
        at
    }

    fn begin(&mut self, role: Role, origin: Origin, update: &Update, place: Place) -> &mut Open {
        self.close();
        let mut message = Message::new(format!("update-{}", place.start), role, origin);
        if role == Role::Assistant {
            message.model.clone_from(&self.model);
        }
        let at = self.add(message, update, place);
        self.open.insert(Open { at, role, index: None, stream: update.stream, pieces: Vec::new() })
    }

    fn close(&mut self) {
        let Some(open) = self.open.take() else { return };
        let Some(message) = self.turns.messages.get_mut(open.at) else { return };
        message.blocks = open
            .pieces
            .into_iter()
            .filter_map(|piece| {
                Some(match piece {
                    Piece::Text(text) => Block::text(text),
                    Piece::Thought(text) => {
                        Block::Thinking(Thinking { text: text.into(), tokens: Vec::new() })
                    }
                    Piece::Block(block) => block,
                    Piece::Call(number) => {
                        let id = self.drafts.get(number)?.id.clone();
                        let (tool, extra) = tools::decode(&Text::default(), &Json::null());
                        Block::ToolUse(ToolUse { id: id.into(), name: Text::default(), tool, extra })
                    }
                })
            })
            .collect();
    }

    fn prompt(&mut self, update: &Update, place: Place) {
        let meta = update.body.object("_meta").unwrap_or_default();
        let index = meta.number("promptIndex");
        if let Some(model) = meta.some_text("modelId") {
            self.model = Some(model);
        }
        let content = update.body.get("content").map(blocks).unwrap_or_default();
        let goes_on = self.open.as_ref().is_some_and(|open| open.role == Role::User && open.index == index);
        if !goes_on {
            self.close();
            if std::mem::take(&mut self.rewound)
                && let Some(undone) = index.and_then(|index| self.turns.prompts.get(&index))
                && let Some(undone) = self.turns.messages.get(*undone)
            {
                // The conversation goes on from before the prompt that this one takes the place of.
                self.tip.clone_from(&undone.parent);
            }
            // The other log says whether somebody typed it; what nobody did is hidden from the screen (1.0.41).
            let hidden = meta.read_as::<bool>("hideFromScrollback") == Some(true);
            let put_in = index.and_then(|index| self.chat.put_in(index)).unwrap_or(hidden);
            let author = if put_in { Origin::Harness } else { self.author };
            let open = self.begin(Role::User, author, update, place);
            open.index = index;
            let at = open.at;
            self.turn = at;
            if let Some(index) = index {
                self.turns.prompts.insert(index, at);
            }
        } else {
            self.goes_on(place);
        }
        let host = meta.read_as::<bool>("hostTurn") == Some(true);
        let Some(open) = &mut self.open else { return };
        for block in content {
            match block {
                // What the program does by itself was a command.
                Block::Text(text) if host && text.text.starts_with('/') => {
                    let (name, args) = match text.text.split_once(char::is_whitespace) {
                        Some((name, args)) => (name, Some(args.trim()).filter(|args| !args.is_empty())),
                        None => (text.text.as_str(), None),
                    };
                    let part = |part| Text::part_of(&text.text, part);
                    let command = Command { name: part(name), args: args.map(part) };
                    open.pieces.push(Piece::Block(Block::Command(command)));
                }
                Block::Text(text) => push_text(&mut open.pieces, &text.text, false),
                block => open.pieces.push(Piece::Block(block)),
            }
        }
    }

    /// Another piece of the open message.
    fn goes_on(&mut self, place: Place) {
        let at = self.open.as_ref().map(|open| open.at);
        if let Some(message) = at.and_then(|at| self.turns.messages.get_mut(at)) {
            message.sources.push(place.source());
        }
    }

    /// The open answer, if this record is a piece of it.
    fn answers(&self, update: &Update) -> bool {
        let Some(open) = self.open.as_ref().filter(|open| open.role == Role::Assistant) else { return false };
        match (open.stream, update.stream) {
            (Some(open), Some(now)) => open == now,
            // Text behind a call is that of the next answer.
            _ => {
                update.kind.as_str() == "tool_call"
                    || !open.pieces.iter().any(|piece| matches!(piece, Piece::Call(_)))
            }
        }
    }

    fn answer(&mut self, update: &Update, place: Place) {
        if self.answers(update) {
            self.goes_on(place);
        } else {
            self.begin(Role::Assistant, Origin::Model, update, place);
        }
    }

    fn said(&mut self, update: &Update, place: Place, thought: bool) {
        self.answer(update, place);
        let Some(open) = &mut self.open else { return };
        for block in update.body.get("content").map(blocks).unwrap_or_default() {
            match block {
                Block::Text(text) => push_text(&mut open.pieces, &text.text, thought),
                block => open.pieces.push(Piece::Block(block)),
            }
        }
    }

    fn call(&mut self, update: &Update, place: Place) {
        let said = update.body.some_text("toolCallId");
        if said.as_ref().is_some_and(|id| self.by_id.contains_key(id)) {
            return self.call_goes_on(update, place);
        }
        let id = said.unwrap_or_else(|| Text::from(format!("call-{}", place.start)));
        self.answer(update, place);
        let number = self.drafts.len();
        let Some(open) = &mut self.open else { return };
        open.pieces.push(Piece::Call(number));
        self.by_id.insert(id.clone(), number);
        self.turns.asked.insert(id.clone(), open.at);
        self.drafts.push(Call {
            id,
            message: open.at,
            name: tool_name(&update.body),
            title: update.body.some_text("title"),
            input: update.body.json("rawInput"),
        });
        // A record of a call may already say how it ended.
        self.result(update, place);
    }

    fn call_goes_on(&mut self, update: &Update, place: Place) {
        let id = update.body.some_text("toolCallId");
        let draft = id.as_ref().and_then(|id| self.by_id.get(id)).and_then(|at| self.drafts.get_mut(*at));
        if let Some(draft) = draft {
            draft.name = draft.name.take().or_else(|| tool_name(&update.body));
            draft.input = draft.input.take().or_else(|| update.body.json("rawInput"));
        }
        self.result(update, place);
    }

    /// The result that a record holds, when its status says that the call has ended.
    fn result(&mut self, update: &Update, place: Place) {
        let Some(id) = update.body.some_text("toolCallId") else { return };
        let output = update.body.object("rawOutput");
        let status = update.body.text("status").unwrap_or_default();
        let Some(outcome) = outcome(&status, output.as_ref()) else { return };
        if !self.by_id.contains_key(&id) && !self.turns.answered.contains_key(&id) {
            let detail = "a result without a call";
            let finding = Finding::new(FindingKind::ResultWithoutCall, detail);
            self.turns.findings.push(finding.at_bytes(place.start, place.end));
        }
        let seen = self.chat.result(&id);
        let content = match seen {
            Some((_, content)) => content.to_vec(),
            None => what_the_model_saw(update, output.as_ref()),
        };
        let structured = update.body.json("rawOutput");
        let block = Block::ToolResult(ToolResult { call: id.clone().into(), content, outcome, structured });
        let seen = seen.map(|(place, _)| place.source());
        if let Some(message) = self.turns.answered.get(&id).and_then(|at| self.turns.messages.get_mut(*at)) {
            // A task in the background ends after its call did.
            message.blocks = vec![block];
            message.sources.push(place.source());
            return;
        }
        self.close();
        let mut message = Message::new(format!("update-{}", place.start), Role::User, Origin::Tools);
        message.blocks.push(block);
        let at = self.add(message, update, place);
        if let Some(message) = self.turns.messages.get_mut(at) {
            message.sources.extend(seen);
        }
        self.turns.answered.insert(id, at);
    }

    fn turn_completed(&mut self, update: &Update, place: Place) {
        self.close();
        let turn = self.turns.messages.get_mut(self.turn..).unwrap_or_default();
        let last = turn.iter_mut().rev().find(|message| message.role == Role::Assistant);
        let reason = update.body.some_text("stop_reason");
        let message = last.map(|message| {
            message.stop = reason.as_ref().map(stop).or(message.stop.take());
            message.id.clone()
        });
        let inherited = update.is_from_another(self.session);
        let counts = update.body.object("usage").unwrap_or_default();
        for (model, usage) in usages(&counts) {
            let call = ModelCall {
                api_id: None,
                request_id: None,
                message: message.clone(),
                model: model.clone().or_else(|| self.model.clone()),
                at: update.at,
                usage,
                inherited,
                sources: vec![place.source()],
            };
            let known = update.prompt.clone().map(|prompt| (prompt, model));
            match known.as_ref().and_then(|key| self.counted.get(key)) {
                Some(at) => {
                    if let Some(earlier) = self.turns.calls.get_mut(*at) {
                        *earlier = call;
                    }
                }
                None => {
                    if let Some(key) = known {
                        self.counted.insert(key, self.turns.calls.len());
                    }
                    self.turns.calls.push(call);
                }
            }
        }
        if message.is_none() || reason.as_deref().is_none_or(|reason| reason != "end_turn") {
            self.event(update, place);
        }
    }

    fn event(&mut self, update: &Update, place: Place) {
        let body = &update.body;
        let (kind, text) = match update.kind.as_str() {
            "hook_execution" | "hook_annotation" => (EventKind::Hook, body.text("event_name")),
            "retry_state" | "auto_compact_failed" => {
                (EventKind::Error, body.text("message").or_else(|| body.text("error")))
            }
            "current_mode_update" => (EventKind::Mode, body.text("currentModeId")),
            "model_changed" | "model_auto_switched" => {
                let model = body.some_text("new_model_id").or_else(|| body.some_text("model_id"));
                self.model = model.clone().or(self.model.take());
                (EventKind::Model, model)
            }
            "rewind_marker" => {
                self.close();
                self.rewound = true;
                (EventKind::Rollback, None)
            }
            "turn_completed" => (EventKind::Turn, body.text("agent_result")),
            _ => (EventKind::Other(update.kind.clone()), body.text("summary")),
        };
        match update.kind.as_str() {
            "compaction_checkpoint" => {
                self.close();
                self.turns.compactions.push(compaction(self.tip.clone(), update.at, place));
            }
            "auto_compact_completed" => {
                let before = body.number("tokens_before");
                match self.turns.compactions.last_mut().filter(|last| last.tokens_before.is_none()) {
                    Some(last) => last.tokens_before = before,
                    None => {
                        let done = compaction(self.tip.clone(), update.at, place);
                        self.turns.compactions.push(Compaction { tokens_before: before, ..done });
                    }
                }
            }
            _ => {}
        }
        let json = (body.len() <= SMALL).then(|| body.whole()).flatten();
        let sources = vec![place.source()];
        self.turns.events.push(Event { kind, at: update.at, after: self.tip.clone(), text, json, sources });
    }
}

pub(super) fn compaction(after: Option<MessageId>, at: Option<Timestamp>, place: Place) -> Compaction {
    Compaction {
        after,
        summary: None,
        text: None,
        first_kept: None,
        trigger: None,
        tokens_before: None,
        at,
        sources: vec![place.source()],
    }
}

/// `_meta["x.ai/tool"].name`; the title is for people.
fn tool_name(body: &Loose) -> Option<Text> {
    body.object("_meta")?.object("x.ai/tool")?.some_text("name")
}

/// What the model saw of a result, as far as the record says: the text made for it (of a command
/// `output_for_prompt`, of an edit `EditsApplied.tool_output_for_prompt`), else what was shown.
fn what_the_model_saw(update: &Update, output: Option<&Loose>) -> Vec<ResultPart> {
    let made = output.and_then(|output| {
        let edited = || output.object("EditsApplied")?.some_text("tool_output_for_prompt");
        output.some_text("output_for_prompt").or_else(edited)
    });
    if let Some(text) = made {
        return vec![part(Block::Text(TextBlock { text }))];
    }
    let content = shown(&update.body.list("content"));
    match (content.is_empty(), update.body.text("rawOutput")) {
        (true, Some(text)) => vec![part(Block::Text(TextBlock { text }))],
        _ => content,
    }
}

fn push_text(pieces: &mut Vec<Piece>, text: &str, thought: bool) {
    match (pieces.last_mut(), thought) {
        (Some(Piece::Text(so_far)), false) | (Some(Piece::Thought(so_far)), true) => so_far.push_str(text),
        (_, false) => pieces.push(Piece::Text(text.to_owned())),
        (_, true) => pieces.push(Piece::Thought(text.to_owned())),
    }
}

/// A name from a file, in a sentence.
pub(super) fn short(name: &str) -> String {
    let shown: String = name.chars().take(40).filter(|c| !c.is_control()).collect();
    if shown.is_empty() { "(none)".to_owned() } else { shown }
}
