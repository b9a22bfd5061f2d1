//! The messages of a rollout that is written.

use std::borrow::Cow;

use foldhash::{HashMap, HashSet};

use ibid_model::{
    Block, CallId, Compaction, Data, LossKind, Losses, Message, MessageId, ModelCall, Origin, ResultPart,
    Role, Selection, Session, Step, Text, TextBlock, Timestamp, ToolResult, ToolUse, Usage,
};
use serde::Serialize;

use super::ahead::{Ahead, first_time};
use super::answers;
use super::content::{self, Item};
use super::item;
use super::lines::Lines;
use super::records::Tokens;
use super::tools::{self, Input};

#[derive(Serialize)]
struct MessageItem<'a> {
    r#type: &'static str,
    role: &'static str,
    content: Vec<Item<'a>>,
    #[serde(rename = "internal_chat_message_metadata_passthrough", skip_serializing_if = "Option::is_none")]
    kinds: Option<Kinds>,
}

/// What the parts of a message are, as 0.171.0 writes it. It takes this in a legacy file too, and
/// does not send it; older versions pass over it.
#[derive(Serialize)]
struct Kinds {
    content_item_kinds: Vec<&'static str>,
}

#[derive(Serialize)]
struct UserEvent<'a> {
    r#type: &'static str,
    message: &'a str,
    kind: &'static str,
}

#[derive(Serialize)]
struct AgentEvent<'a> {
    r#type: &'static str,
    message: &'a str,
}

#[derive(Serialize)]
struct ThoughtEvent<'a> {
    r#type: &'static str,
    text: &'a str,
}

#[derive(Serialize)]
struct FunctionCall<'a> {
    r#type: &'static str,
    name: &'a str,
    arguments: &'a str,
    call_id: &'a str,
}

#[derive(Serialize)]
struct CustomCall<'a> {
    r#type: &'static str,
    status: &'static str,
    call_id: &'a str,
    name: &'a str,
    input: &'a str,
}

#[derive(Serialize)]
struct CallOutput<'a> {
    r#type: &'static str,
    call_id: &'a str,
    output: answers::Output<'a>,
}

#[derive(Serialize)]
struct TokenEvent {
    r#type: &'static str,
    info: TokenInfo,
}

#[derive(Serialize)]
struct TokenInfo {
    total_token_usage: Tokens,
    last_token_usage: Tokens,
}

#[derive(Serialize)]
struct TurnContext<'a> {
    cwd: &'a str,
    model: &'a str,
}

#[derive(Serialize)]
struct Compacted<'a> {
    message: &'a str,
}

/// The session's own calls by the message they made.
struct Calls<'a> {
    calls: &'a [ModelCall],
    /// The first call of each message, and behind each call the next one of its message.
    first: HashMap<&'a str, usize>,
    next: Vec<Option<usize>>,
    left: usize,
}

impl<'a> Calls<'a> {
    fn of(session: &'a Session) -> Calls<'a> {
        let calls = session.calls.as_slice();
        let mut first: HashMap<&str, usize> = HashMap::default();
        let mut next = vec![None; calls.len()];
        for (at, (call, next)) in calls.iter().zip(&mut next).enumerate().rev() {
            if let Some(message) = call.message.as_ref().filter(|_| !call.inherited) {
                *next = first.insert(message.as_str(), at);
            }
        }
        Calls { calls, first, next, left: calls.len() }
    }

    /// Takes the first call of a message.
    fn take(&mut self, message: &MessageId) -> Option<usize> {
        self.first.remove(message.as_str())
    }

    /// A call that was taken, and the next one of its message.
    fn get(&mut self, at: usize) -> Option<(&'a ModelCall, Option<usize>)> {
        self.left = self.left.saturating_sub(1);
        Some((self.calls.get(at)?, self.next.get(at).copied().flatten()))
    }
}

/// Writes messages one after the other.
pub(super) struct Messages<'a> {
    session: &'a Session,
    started: Timestamp,
    cwd: &'a str,
    lines: &'a mut Lines,
    losses: &'a mut Losses,
    total: Option<Tokens>,
    /// Calls that were written as custom ones, whose output is another item.
    custom: HashSet<CallId>,
    model: Option<Text>,
    /// How many summaries go along with their compactions.
    summaries: u64,
}

impl<'a> Messages<'a> {
    pub(super) fn new(
        session: &'a Session,
        started: Timestamp,
        cwd: &'a str,
        lines: &'a mut Lines,
        losses: &'a mut Losses,
    ) -> Messages<'a> {
        let custom = HashSet::default();
        Messages { session, started, cwd, lines, losses, total: None, custom, model: None, summaries: 0 }
    }

    pub(super) fn write(mut self, selection: &Selection) -> Result<(), serde_json::Error> {
        let session = self.session;
        let mut calls = Calls::of(session);
        let mut last = None;
        let mut ids = 0;
        // A compaction has the time of the message behind it.
        let mut waiting = Vec::new();
        let mut steps = Ahead::of(session, selection);
        while let Some((step, model)) = steps.next(session.meta.model.as_ref()) {
            let message = match step {
                Step::Message(message) => message,
                Step::Compaction(compaction) => {
                    waiting.push(compaction);
                    continue;
                }
            };
            ids += 1;
            let first = || first_time(session, selection);
            let time = self.time(&message).or(last).or_else(first).unwrap_or(self.started);
            last = Some(time);
            for compaction in waiting.drain(..) {
                self.compaction(compaction, time)?;
            }
            self.turn(model, time)?;
            match message.role {
                Role::User => self.user(&message, time)?,
                Role::Assistant => self.assistant(&message, time)?,
                // The rules leave no system message.
                Role::System => {}
            }
            let mut call = calls.take(&message.id);
            while let Some((made, next)) = call.and_then(|at| calls.get(at)) {
                self.usage(made, time)?;
                call = next;
            }
            self.lost_of(&message);
        }
        // Without a message there is no time but the beginning.
        let last = last.unwrap_or(self.started);
        for compaction in waiting {
            self.compaction(compaction, last)?;
        }
        self.losses.add_many(LossKind::Usage, calls.left as u64, None, None);
        self.losses.add_many(LossKind::MessageIds, ids, None, None);
        let left_behind = steps.into_losses();
        let mut losses = left_behind.without(LossKind::CompactionSummary, self.summaries);
        losses.merge(std::mem::take(self.losses));
        *self.losses = losses;
        Ok(())
    }

    /// The time of a message; one without has that of the one before.
    fn time(&mut self, message: &Message) -> Option<Timestamp> {
        match message.at {
            Some(at) if Timestamp::from_milliseconds(at.as_milliseconds()) != Some(at) => {
                self.losses.add(LossKind::Time, None, Some(&message.id));
            }
            Some(_) => {}
            None => self.losses.add(LossKind::TimeFilled, None, Some(&message.id)),
        }
        message.at
    }

    fn item<P: Serialize>(&mut self, at: Timestamp, payload: &P) -> Result<(), serde_json::Error> {
        self.lines.push(at, "response_item", payload)
    }

    fn event<P: Serialize>(&mut self, at: Timestamp, payload: &P) -> Result<(), serde_json::Error> {
        self.lines.push(at, "event_msg", payload)
    }

    fn turn(&mut self, model: Option<Text>, at: Timestamp) -> Result<(), serde_json::Error> {
        let Some(model) = model.filter(|model| Some(model) != self.model.as_ref()) else { return Ok(()) };
        self.lines.push(at, "turn_context", &TurnContext { cwd: self.cwd, model: &model })?;
        self.model = Some(model);
        Ok(())
    }

    fn compaction(&mut self, compaction: &'a Compaction, at: Timestamp) -> Result<(), serde_json::Error> {
        let summary = compaction.summary.as_ref().and_then(|id| self.session.message(id));
        let text = compaction.text.clone().or_else(|| {
            let texts: Vec<&str> = summary?.texts().map(Text::as_str).collect();
            Some(Text::from(texts.join("\n\n")))
        });
        match text.filter(|text| !text.is_blank()) {
            Some(text) => {
                // The summary goes along with its mark.
                if summary.is_some() {
                    self.summaries += 1;
                }
                self.lines.push(compaction.at.unwrap_or(at), "compacted", &Compacted { message: &text })
            }
            None => {
                self.losses.add(LossKind::CompactionMarker, None, None);
                Ok(())
            }
        }
    }

    fn user(&mut self, message: &Message, at: Timestamp) -> Result<(), serde_json::Error> {
        let mut items = Vec::new();
        for block in &message.blocks {
            match block {
                Block::ToolResult(result) => self.result(result, message, at)?,
                Block::Text(text) => items.push(Item::InputText { text: text.text.to_str() }),
                Block::Image(image) => {
                    if !content::push_image(&mut items, image) {
                        self.losses.add(LossKind::Image, None, Some(&message.id));
                    }
                }
                Block::Document(document) => {
                    self.losses.add(LossKind::Document, None, Some(&message.id));
                    if let Data::Text(text) = &document.data {
                        items.push(Item::InputText { text: text.to_str() });
                    }
                }
                other => self.lost_block(other, message),
            }
        }
        if items.is_empty() {
            return Ok(());
        }
        // A text that looks like scaffolding would be taken for it.
        let texts: Option<Vec<&str>> = items.iter().map(Item::text).collect();
        let kinds = texts
            .and_then(item::look_of_texts)
            .map(|_| Kinds { content_item_kinds: vec!["user.text"; items.len()] });
        self.item(at, &MessageItem { r#type: "message", role: "user", content: items, kinds })?;
        if message.origin == Origin::Person {
            let texts: Vec<Cow<'_, str>> = message.texts().map(Text::to_str).collect();
            let text = texts.join("\n");
            self.event(at, &UserEvent { r#type: "user_message", message: &text, kind: "plain" })?;
        }
        Ok(())
    }

    fn assistant(&mut self, message: &Message, at: Timestamp) -> Result<(), serde_json::Error> {
        // Texts are read as one message only behind a call.
        let (mut said, mut calls, mut split) = (false, false, false);
        for block in &message.blocks {
            match block {
                Block::Text(text) => {
                    split |= said && !calls;
                    said = true;
                    let words = text.text.to_str();
                    let item = Item::OutputText { text: Cow::Borrowed(&words) };
                    self.item(
                        at,
                        &MessageItem {
                            r#type: "message",
                            role: "assistant",
                            content: vec![item],
                            kinds: None,
                        },
                    )?;
                    self.event(at, &AgentEvent { r#type: "agent_message", message: &words })?;
                }
                Block::Thinking(thinking) => {
                    let text = &thinking.text.to_str();
                    self.event(at, &ThoughtEvent { r#type: "agent_reasoning", text })?;
                }
                Block::ToolUse(call) => {
                    calls = true;
                    self.call(call, message, at)?;
                }
                other => self.lost_block(other, message),
            }
        }
        if split {
            self.losses.add(LossKind::Regrouped, None, Some(&message.id));
        }
        Ok(())
    }

    fn call(&mut self, call: &ToolUse, message: &Message, at: Timestamp) -> Result<(), serde_json::Error> {
        let encoded = tools::encode(call);
        let name = encoded.call.name.as_str();
        if encoded.kept {
            self.losses.add(LossKind::ToolKeptRaw, Some(&call.name), Some(&message.id));
        }
        if encoded.renamed {
            self.losses.add(LossKind::ToolRenamed, Some(&call.name), Some(&message.id));
        }
        if encoded.wrapped {
            self.losses.add(LossKind::InputWrapped, Some(&call.name), Some(&message.id));
        }
        let call_id = call.id.as_str();
        match &encoded.call.input {
            Input::Arguments(json) => {
                let arguments = json.as_str();
                self.item(at, &FunctionCall { r#type: "function_call", name, arguments, call_id })
            }
            Input::Free(input) => {
                self.custom.insert(call.id.clone());
                let r#type = "custom_tool_call";
                self.item(at, &CustomCall { r#type, status: "completed", call_id, name, input })
            }
        }
    }

    fn result(
        &mut self,
        result: &ToolResult,
        message: &Message,
        at: Timestamp,
    ) -> Result<(), serde_json::Error> {
        if result.structured.is_some() {
            self.losses.add(LossKind::StructuredResult, None, Some(&message.id));
        }
        let alone = result.content.len() == 1;
        let parts: Vec<ResultPart> =
            result.content.iter().filter_map(|part| self.result_part(part, alone, message)).collect();
        let call_id = result.call.as_str();
        let r#type = match self.custom.contains(call_id) {
            true => "custom_tool_call_output",
            false => "function_call_output",
        };
        let output = answers::write(&parts, result.outcome);
        self.item(at, &CallOutput { r#type, call_id, output })
    }

    /// A part as text or a picture; none when it can be neither.
    fn result_part(&mut self, part: &ResultPart, alone: bool, message: &Message) -> Option<ResultPart> {
        let text = |text: &Text| Some(ResultPart::Text(TextBlock { text: text.clone() }));
        match part {
            ResultPart::Text(text) => {
                // Measured with 0.171.0.
                if text.text.is_empty() && !alone {
                    let what = "kept among other parts of a result, and not sent";
                    self.losses.add(LossKind::EmptyText, Some(what), Some(&message.id));
                }
                Some(part.clone())
            }
            ResultPart::Image(image) => {
                let held = content::push_image(&mut Vec::new(), image);
                if !held {
                    self.losses.add(LossKind::Image, None, Some(&message.id));
                }
                held.then(|| part.clone())
            }
            ResultPart::Document(document) => {
                self.losses.add(LossKind::Document, None, Some(&message.id));
                match &document.data {
                    Data::Text(data) => text(data),
                    _ => None,
                }
            }
            ResultPart::Other(other) => {
                self.losses.add(LossKind::ResultFlattened, Some(&other.kind), Some(&message.id));
                text(&Text::from(other.json.as_str()))
            }
            _ => None,
        }
    }

    fn usage(&mut self, call: &ModelCall, at: Timestamp) -> Result<(), serde_json::Error> {
        let whole = Usage { cost_usd: None, cache_write_5m: None, cache_write_1h: None, ..call.usage };
        if whole != call.usage || call.api_id.is_some() || call.request_id.is_some() {
            self.losses.add(LossKind::Usage, None, call.message.as_ref());
        }
        // Counters without input or output, or with nothing in them, are no call for a reader.
        let last = Tokens::of(&call.usage).filter(|last| last.total_tokens > 0);
        let Some(last) = last else {
            if whole == call.usage {
                self.losses.add(LossKind::Usage, None, call.message.as_ref());
            }
            return Ok(());
        };
        // Codex reads no counter without these two.
        let last = Tokens {
            cached_input_tokens: Some(last.cached_input_tokens.unwrap_or(0)),
            reasoning_output_tokens: Some(last.reasoning_output_tokens.unwrap_or(0)),
            ..last
        };
        let total = self.total.map_or(last, |total| total.plus(&last));
        self.total = Some(total);
        let info = TokenInfo { total_token_usage: total, last_token_usage: last };
        self.event(call.at.unwrap_or(at), &TokenEvent { r#type: "token_count", info })
    }

    fn lost_block(&mut self, block: &Block, message: &Message) {
        let (kind, what) = match block {
            Block::Image(_) => (LossKind::Image, None),
            Block::Document(_) => (LossKind::Document, None),
            Block::Other(other) => (LossKind::UnknownBlock, Some(other.kind.as_str())),
            _ => (LossKind::UnknownBlock, None),
        };
        self.losses.add(kind, what, Some(&message.id));
    }

    fn lost_of(&mut self, message: &Message) {
        if message.stop.is_some() {
            self.losses.add(LossKind::StopReason, None, Some(&message.id));
        }
        if message.cwd.is_some() && message.cwd != self.session.meta.cwd {
            self.losses.add(LossKind::MessageDirectory, None, Some(&message.id));
        }
    }
}
