//! From the lines of a log to messages: one for each prompt, each step of the model and each result.

use std::collections::{HashMap, HashSet};

use ibid_model::{
    Block, Compaction, Event, EventKind, Finding, FindingKind, Json, Message, MessageId, ModelCall, Origin,
    Outcome, ResultPart, Role, StopReason, Text, ToolResult, ToolUse, Usage,
};

use super::appended::Appended;
use super::tools;
use super::wire::{Line, Matter, Place, matter_of};
use crate::families::content_blocks::{blocks, parts};
use crate::families::loose::Loose;

/// Records of events up to this size are kept with them, in bytes.
const SMALL: usize = 4 << 10;

/// What was read.
#[derive(Default)]
pub(super) struct Read {
    pub(super) messages: Vec<Message>,
    pub(super) head: Option<MessageId>,
    pub(super) events: Vec<Event>,
    pub(super) compactions: Vec<Compaction>,
    pub(super) calls: Vec<ModelCall>,
    pub(super) findings: Vec<Finding>,
    /// The working directory that the log names first.
    pub(super) cwd: Option<Text>,
}

#[derive(Default)]
struct Reader {
    read: Read,
    appended: Appended,
    tip: Option<MessageId>,
    /// The message of a step by its id.
    steps: HashMap<Text, usize>,
    /// The answer that lines without the id of a step add to.
    open: Option<usize>,
    /// The step that was begun last.
    step: Option<Text>,
    /// Which step a model call was made in.
    made_in: Vec<Option<Text>>,
    /// The id of a call by the id of its line.
    by_line: HashMap<Text, Text>,
    asked: HashSet<Text>,
    answered: HashMap<Text, usize>,
    api_ids: HashSet<Text>,
    /// The prompts of the live branch.
    prompts: Vec<usize>,
    /// The model as the provider calls it, and as the program does.
    model: Option<Text>,
    alias: Option<Text>,
    /// What started the compaction that goes on.
    trigger: Option<Text>,
    instructed: bool,
    /// Whether the log is that of a subagent, which nobody talks to but the agent that started it.
    subagent: bool,
}

/// Reads a log, of a subagent or of the agent that a person talks to.
pub(super) fn read(lines: &[(Place, Line)], subagent: bool) -> Read {
    let mut reader = Reader { appended: Appended::of(lines), subagent, ..Reader::default() };
    for (place, line) in lines {
        reader.take(line, *place);
    }
    // Without records of usage the steps say what they cost.
    if reader.read.calls.is_empty() {
        for (place, line) in lines {
            reader.step_usage(line, *place);
        }
    }
    reader.finish()
}

impl Reader {
    fn finish(mut self) -> Read {
        for (call, step) in self.read.calls.iter_mut().zip(&self.made_in) {
            let message = step.as_ref().and_then(|step| self.steps.get(step));
            call.message =
                message.and_then(|at| self.read.messages.get(*at)).map(|message| message.id.clone());
        }
        let open = self.asked.iter().filter(|id| !self.answered.contains_key(*id)).count() as u64;
        if open > 0 {
            let finding = Finding::new(FindingKind::CallWithoutResult, "calls without a result");
            self.read.findings.push(finding.times(open));
        }
        self.read.head = self.tip;
        self.read
    }

    fn take(&mut self, line: &Line, place: Place) {
        if line.is_mirror() {
            return;
        }
        let body = &line.body;
        match line.kind.as_str() {
            "config.update" | "profile.bind" => self.configured(line, place),
            "turn.prompt" | "turn.steer" => {
                if !self.appended.has(body) {
                    let content = body.get("input").map(blocks).unwrap_or_default();
                    self.user(body, content, line, place);
                }
            }
            "context.append_message" => self.appended_message(line, place),
            "context.append_loop_event" => self.loop_event(line, place),
            "context.undo" => self.undo(line, place),
            "full_compaction.begin" => {
                self.trigger = body.some_text("source");
                self.event(EventKind::Other(line.kind.clone()), line, place);
            }
            "context.apply_compaction" => self.compaction(line, place),
            "llm.request" => {
                self.model = body.some_text("model").or(self.model.take());
                self.alias = body.some_text("modelAlias").or(self.alias.take());
            }
            "usage.record" => self.usage(line, place),
            _ => self.beside(line, place),
        }
    }

    fn beside(&mut self, line: &Line, place: Place) {
        let kind = match matter_of(&line.kind) {
            Matter::Conversation | Matter::Bookkeeping => return,
            Matter::Turn if line.body.text("reason").is_some_and(|reason| reason == "completed") => return,
            Matter::Turn => EventKind::Turn,
            Matter::Permission => EventKind::Permission,
            Matter::Mode => EventKind::Mode,
            Matter::Snapshot => EventKind::Snapshot,
            Matter::Other => EventKind::Other(line.kind.clone()),
            Matter::Unknown => {
                let detail = format!("a line of the type {}", short(&line.kind));
                self.report(FindingKind::UnknownRecord, detail, place);
                EventKind::Other(line.kind.clone())
            }
        };
        self.event(kind, line, place);
    }

    fn report(&mut self, kind: FindingKind, detail: impl Into<Text>, place: Place) {
        let finding = Finding::new(kind, detail).at_bytes(place.start, place.end).on_line(place.line);
        self.read.findings.push(finding);
    }

    fn event(&mut self, kind: EventKind, line: &Line, place: Place) {
        let json = (line.body.len() <= SMALL).then(|| line.body.whole()).flatten();
        let text = ["reason", "mode", "action", "description"]
            .into_iter()
            .find_map(|name| line.body.some_text(name));
        let sources = vec![place.source()];
        self.read.events.push(Event { kind, at: line.at, after: self.tip.clone(), text, json, sources });
    }

    fn add(&mut self, role: Role, origin: Origin, line: &Line, place: Place) -> usize {
        let at = self.read.messages.len();
        let mut message = Message::new(format!("wire-{}", place.start), role, origin);
        message.at = line.at;
        message.parent = self.tip.replace(message.id.clone());
        message.sources.push(place.source());
        self.read.messages.push(message);
        at
    }

    fn configured(&mut self, line: &Line, place: Place) {
        let body = &line.body;
        self.alias = body.some_text("modelAlias").or(self.alias.take());
        let disclosed = body.object("environmentDisclosure").and_then(|disclosed| disclosed.some_text("cwd"));
        let cwd = body.some_text("cwd").or(disclosed);
        self.read.cwd = self.read.cwd.take().or(cwd);
        if let Some(prompt) = body.some_text("systemPrompt")
            && !std::mem::replace(&mut self.instructed, true)
        {
            let at = self.add(Role::System, Origin::Harness, line, place);
            self.set_blocks(at, vec![Block::text(prompt)]);
        }
    }

    fn set_blocks(&mut self, at: usize, blocks: Vec<Block>) {
        if let Some(message) = self.read.messages.get_mut(at) {
            message.blocks = blocks;
        }
    }

    fn user(&mut self, said: &Loose, content: Vec<Block>, line: &Line, place: Place) {
        let origin = said.object("origin").unwrap_or_default();
        let author = match (origin.text("kind").as_deref(), origin.text("name").as_deref()) {
            // Older versions do not say whom a prompt is of.
            (None, _) if self.subagent => Origin::Agent,
            (None | Some("user"), _) => Origin::Person,
            (Some("system_trigger"), Some("subagent")) => Origin::Agent,
            _ => Origin::Harness,
        };
        self.open = None;
        let at = self.add(Role::User, author, line, place);
        self.set_blocks(at, content);
        if author != Origin::Harness {
            self.prompts.push(at);
        }
    }

    fn appended_message(&mut self, line: &Line, place: Place) {
        let Some(message) = line.body.object("message") else {
            return self.report(FindingKind::MalformedRecord, "a message line without a message", place);
        };
        let content = message.get("content").map(blocks).unwrap_or_default();
        match message.text("role").as_deref() {
            Some("user") => self.user(&message, content, line, place),
            Some("assistant") => {
                let at = self.add(Role::Assistant, Origin::Model, line, place);
                self.set_blocks(at, content);
                self.set_model(at);
                for call in message.list("toolCalls").iter().filter_map(Loose::of) {
                    self.call(at, &call, place);
                }
            }
            Some("tool") => {
                let parts = message.get("content").map(parts).unwrap_or_default();
                let id = message.some_text("toolCallId");
                self.result(id, parts, Outcome::Unknown, line, place);
            }
            Some("system") => {
                let at = self.add(Role::System, Origin::Harness, line, place);
                self.set_blocks(at, content);
            }
            _ => self.report(FindingKind::UnknownRecord, "a message of an unknown role", place),
        }
    }

    fn set_model(&mut self, at: usize) {
        if let Some(message) = self.read.messages.get_mut(at) {
            message.model = self.model.clone().or_else(|| self.alias.clone());
        }
    }

    /// The message of a step: made with the first thing that it holds.
    fn answer(&mut self, event: &Loose, line: &Line, place: Place) -> usize {
        let step = event.some_text("stepUuid");
        let known = match &step {
            Some(step) => self.steps.get(step).copied(),
            None => self.open,
        };
        if let Some(at) = known {
            if let Some(message) = self.read.messages.get_mut(at) {
                message.sources.push(place.source());
            }
            return at;
        }
        let at = self.add(Role::Assistant, Origin::Model, line, place);
        self.set_model(at);
        if let Some(step) = step.or_else(|| self.step.clone()) {
            self.steps.entry(step).or_insert(at);
        }
        self.open = Some(at);
        at
    }

    fn loop_event(&mut self, line: &Line, place: Place) {
        let Some(event) = line.body.object("event") else {
            return self.report(FindingKind::MalformedRecord, "an event line without an event", place);
        };
        match event.text("type").as_deref() {
            Some("step.begin") => {
                self.step = event.some_text("uuid");
                self.open = None;
            }
            Some("content.part") => {
                let at = self.answer(&event, line, place);
                let content = event.get("part").map(blocks).unwrap_or_default();
                if let Some(message) = self.read.messages.get_mut(at) {
                    message.blocks.extend(content);
                }
            }
            Some("tool.call") => {
                let at = self.answer(&event, line, place);
                self.call(at, &event, place);
            }
            Some("tool.result") => self.loop_result(&event, line, place),
            Some("step.end") => self.step_end(&event),
            kind => {
                let detail = format!("an event of the type {}", short(kind.unwrap_or_default()));
                self.report(FindingKind::UnknownRecord, detail, place);
                self.event(EventKind::Other(line.kind.clone()), line, place);
            }
        }
    }

    fn call(&mut self, at: usize, call: &Loose, place: Place) {
        let line_id = call.some_text("uuid");
        let id = call.some_text("toolCallId").or_else(|| call.some_text("id")).or_else(|| line_id.clone());
        let id = id.unwrap_or_else(|| Text::from(format!("call-{}", place.start)));
        if let Some(line_id) = line_id {
            self.by_line.insert(line_id, id.clone());
        }
        if !self.asked.insert(id.clone()) {
            return self.report(FindingKind::RepeatedId, "a call with the id of another one", place);
        }
        let function = call.object("function").unwrap_or_default();
        let name = call.text("name").or_else(|| function.text("name")).unwrap_or_default();
        let input = call.json("args").or_else(|| call.json("input")).or_else(|| {
            let written = call.text("arguments").or_else(|| function.text("arguments"))?;
            Some(Json::from_text(written.clone()).unwrap_or_else(|_| Json::string(&written)))
        });
        let input = input.unwrap_or_else(|| Json::from_text("{}").unwrap_or_else(|_| Json::null()));
        let (tool, extra) = tools::decode(&name, &input);
        let display = call.object("display").unwrap_or_default();
        let asked_elsewhere = call.object("args").is_some_and(|arguments| arguments.get("cwd").is_some());
        let Some(message) = self.read.messages.get_mut(at) else { return };
        message.blocks.push(Block::ToolUse(ToolUse { id: id.into(), name, tool, extra }));
        // A command that names no directory of its own runs in the session's.
        if !asked_elsewhere && display.text("kind").is_some_and(|kind| kind == "command") {
            message.cwd = message.cwd.take().or_else(|| display.some_text("cwd"));
        }
    }

    fn loop_result(&mut self, event: &Loose, line: &Line, place: Place) {
        let parent = event.some_text("parentUuid");
        let by_line = parent.as_ref().and_then(|parent| self.by_line.get(parent)).cloned();
        let id = event.some_text("toolCallId").or(by_line).or(parent);
        let result = event.object("result").unwrap_or_default();
        let failed = result.read_as::<bool>("isError") == Some(true) || result.get("error").is_some();
        let content = match (result.get("output"), result.get("error"), event.text("result")) {
            (Some(output), ..) => parts(output),
            (None, Some(error), _) => parts(error),
            (None, None, Some(text)) => vec![text_part(text)],
            (None, None, None) => Vec::new(),
        };
        let outcome = if failed { Outcome::Error } else { Outcome::Ok };
        self.result(id, content, outcome, line, place);
    }

    fn result(
        &mut self,
        id: Option<Text>,
        content: Vec<ResultPart>,
        outcome: Outcome,
        line: &Line,
        place: Place,
    ) {
        let Some(id) = id else {
            return self.report(FindingKind::MalformedRecord, "a result that names no call", place);
        };
        if !self.asked.contains(&id) {
            self.report(FindingKind::ResultWithoutCall, "a result without a call", place);
        }
        self.open = None;
        let block =
            Block::ToolResult(ToolResult { call: id.clone().into(), content, outcome, structured: None });
        if let Some(message) = self.answered.get(&id).and_then(|at| self.read.messages.get_mut(*at)) {
            message.blocks = vec![block];
            message.sources.push(place.source());
            return;
        }
        let at = self.add(Role::User, Origin::Tools, line, place);
        self.set_blocks(at, vec![block]);
        self.answered.insert(id, at);
    }

    fn step_end(&mut self, event: &Loose) {
        let at = event.some_text("uuid").and_then(|step| self.steps.get(&step).copied()).or(self.open);
        let message = at.and_then(|at| self.read.messages.get_mut(at));
        if let Some(message) = message {
            message.stop =
                event.some_text("finishReason").map(|reason| stop(&reason)).or(message.stop.take());
            let api_id = event.some_text("messageId").filter(|id| self.api_ids.insert(id.clone()));
            message.api_id = message.api_id.take().or(api_id);
        }
        self.open = None;
    }

    /// Takes back the last turns: the conversation goes on from before the first of them.
    fn undo(&mut self, line: &Line, place: Place) {
        let count = line.body.number("count").unwrap_or(1);
        self.open = None;
        let keep = self.prompts.len().saturating_sub(usize::try_from(count).unwrap_or(usize::MAX));
        if let Some(first) = self.prompts.get(keep).and_then(|at| self.read.messages.get(*at)) {
            self.tip.clone_from(&first.parent);
        }
        self.prompts.truncate(keep);
        self.event(EventKind::Rollback, line, place);
    }

    fn compaction(&mut self, line: &Line, place: Place) {
        let body = &line.body;
        self.open = None;
        self.read.compactions.push(Compaction {
            after: self.tip.clone(),
            summary: None,
            // What goes to the model from here on.
            text: body.some_text("contextSummary").or_else(|| body.some_text("summary")),
            first_kept: None,
            trigger: self.trigger.take(),
            tokens_before: body.number("tokensBefore"),
            at: line.at,
            sources: vec![place.source()],
        });
    }

    fn usage(&mut self, line: &Line, place: Place) {
        let counts = line.body.object("usage").unwrap_or_default();
        let in_turn = line.body.text("usageScope").is_none_or(|scope| scope == "turn");
        let own = line.body.some_text("model");
        let model = if in_turn { self.model.clone().or(own) } else { own };
        let step = if in_turn { self.step.clone() } else { None };
        self.add_call(&counts, model, step, line, place);
    }

    fn step_usage(&mut self, line: &Line, place: Place) {
        let Some(event) = line.body.object("event").filter(|_| line.kind == "context.append_loop_event")
        else {
            return;
        };
        if event.text("type").is_some_and(|kind| kind == "step.end")
            && let Some(counts) = event.object("usage")
        {
            let step = event.some_text("uuid");
            let at = step.as_ref().and_then(|step| self.steps.get(step));
            let model =
                at.and_then(|at| self.read.messages.get(*at)).and_then(|message| message.model.clone());
            self.add_call(&counts, model, step, line, place);
        }
    }

    fn add_call(
        &mut self,
        counts: &Loose,
        model: Option<Text>,
        step: Option<Text>,
        line: &Line,
        place: Place,
    ) {
        let usage = Usage {
            input: counts.number("inputOther").or_else(|| counts.number("input")),
            output: counts.number("output"),
            cache_read: counts.number("inputCacheRead"),
            cache_write: counts.number("inputCacheCreation"),
            ..Usage::default()
        };
        if usage.is_unknown() {
            return;
        }
        let (api_id, request_id, message) = (None, None, None);
        let sources = vec![place.source()];
        let call =
            ModelCall { api_id, request_id, message, model, at: line.at, usage, inherited: false, sources };
        self.read.calls.push(call);
        self.made_in.push(step);
    }
}

fn text_part(text: Text) -> ResultPart {
    ResultPart::Text(ibid_model::TextBlock { text })
}

fn stop(reason: &Text) -> StopReason {
    match reason.as_str() {
        "end_turn" | "completed" => StopReason::EndTurn,
        "tool_use" | "tool_calls" => StopReason::ToolUse,
        "max_tokens" | "truncated" | "length" => StopReason::MaxTokens,
        "cancelled" | "canceled" | "aborted" => StopReason::Aborted,
        "error" => StopReason::Error,
        "refusal" | "filtered" => StopReason::Refusal,
        _ => StopReason::Other(reason.clone()),
    }
}

/// A name from a file, in a sentence.
fn short(name: &str) -> String {
    let shown: String = name.chars().take(40).filter(|c| !c.is_control()).collect();
    if shown.is_empty() { "(none)".to_owned() } else { shown }
}
