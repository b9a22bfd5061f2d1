//! The events of a session as one common session.
//!
//! The program takes events in the order of the file, whatever `parentId` says (measured: a prompt
//! whose `parentId` was set back was sent with all that stands before it). A subagent's events stand
//! among the others and name it in `agentId`; they are a conversation beside the main one.

mod ending;
mod placing;

use std::collections::{HashMap, HashSet};

use ibid_carrier::jsonl::Item;
use ibid_model::{
    Block, Compaction, EventKind, Finding, FindingKind, Lineage, Message, MessageId, Origin, Relation, Role,
    Session, SessionId, Source, StopReason, Text, Timestamp, TitleOrigin,
};

use super::content;
use super::records::{Answer, Body, Compacted, Done, Event, Prompt, Receipt, Request, Start};
use super::spending::Spending;
use super::workspace::Workspace;
use super::{DECLARATION, EVENTS, WORKSPACE};
use crate::core::{CodecError, Common};
use crate::families::fields::Recorded;
use crate::families::files::FilesBody;

/// The largest record that an event carries whole, in bytes.
const EVENT_JSON_BYTES: usize = 4096;

/// Reads a session.
///
/// # Errors
/// When no line of it is an event of such a session.
pub(super) fn read(id: &SessionId, body: &FilesBody) -> Result<Common, CodecError> {
    let mut session = Session::new(DECLARATION.id.as_str(), id.clone());
    session.carriers = body.infos();
    let workspace = body.file(WORKSPACE).map(|(_, file)| Workspace::read(&file.document));
    let mut reader = Reader::new(session);
    match body.file(EVENTS) {
        Some((carrier, file)) => {
            reader.carrier = carrier;
            let records = file.document.read_records(Event::read);
            let known =
                records.items.iter().filter(|item| !matches!(item.value.body, Body::Malformed)).count();
            if known == 0
                && (!records.items.is_empty() || !records.findings.is_empty() || file.path.is_none())
            {
                let reason = "none of its lines is an event with a type and data".to_owned();
                return Err(CodecError::Foreign { harness: DECLARATION.name, reason });
            }
            reader.findings.extend_from_slice(file.document.findings());
            reader.findings.extend(records.findings);
            let begins = |item: &Item<Event>| matches!(item.value.body, Body::Receipt(_));
            reader.spending.has_receipts = records.items.iter().any(begins);
            for item in &records.items {
                reader.take(item);
            }
        }
        None => {
            let detail = "the session's directory has no events.jsonl, so what was said is not known";
            reader.findings.push(Finding::new(FindingKind::MissingTranscript, detail));
        }
    }
    let written = body.files.iter().filter_map(|file| file.written()).max();
    let mut common = reader.finish(workspace.unwrap_or_default(), written);
    if let Some(path) = body.path() {
        for finding in &mut common.findings {
            if finding.path.is_none() {
                *finding = finding.clone().at_path(path);
            }
        }
    }
    Ok(common)
}

/// One conversation of the file: the main one, or a subagent's.
#[derive(Debug, Default)]
struct Thread {
    last: Option<MessageId>,
    /// The last answer, for calls that no answer asks for.
    answer: Option<usize>,
    /// Thoughts that no answer has taken up.
    thoughts: Vec<Text>,
    /// The call that started the subagent.
    call: Option<Text>,
}

struct Reader {
    session: Session,
    findings: Vec<Finding>,
    carrier: u32,
    threads: HashMap<Option<Text>, Thread>,
    /// The ids that messages have, the messages by who wrote them and the id they were to have, and
    /// by the calls and results in them.
    by_id: HashSet<MessageId>,
    by_kind: HashMap<(Role, Origin, bool, MessageId), usize>,
    called: HashMap<Text, usize>,
    answered: HashMap<Text, usize>,
    /// The ids of the provider's responses that messages have.
    responses: HashSet<Text>,
    /// Why each call of a model ended, by its id.
    finishes: HashMap<Text, StopReason>,
    cwd: Option<Text>,
    /// The model that answers unless an answer names another.
    model: Option<Text>,
    spending: Spending,
    begun: bool,
    strange: HashSet<Text>,
}

/// One event on its way through the reader.
struct Step<'a> {
    event: &'a Event,
    at: Option<Timestamp>,
    source: Source,
    line: u64,
}

impl Reader {
    fn new(session: Session) -> Reader {
        Reader {
            session,
            findings: Vec::new(),
            carrier: 0,
            threads: HashMap::new(),
            by_id: HashSet::new(),
            by_kind: HashMap::new(),
            called: HashMap::new(),
            answered: HashMap::new(),
            responses: HashSet::new(),
            finishes: HashMap::new(),
            cwd: None,
            model: None,
            spending: Spending::default(),
            begun: false,
            strange: HashSet::new(),
        }
    }

    fn take(&mut self, item: &Item<Event>) {
        let event = &item.value;
        let source = Source::bytes(self.carrier, item.start, item.end);
        let step = Step { event, at: event.recorded.time(), source, line: item.line };
        if let Some(at) = step.at {
            self.session.meta.stamp(at);
        }
        if event.recorded == Recorded::Unreadable {
            self.find(&step, FindingKind::UnreadableTime, "the timestamp is no time with a zone");
        }
        match &event.body {
            Body::Start(start) => self.start(start, &step),
            Body::Place { cwd, model } => {
                self.place(cwd.as_ref());
                if event.agent.is_none() {
                    self.selected(model.as_ref());
                }
                self.happened(EventKind::Other(event.kind.clone()), None, &step);
            }
            Body::Prompt(prompt) => self.prompt(prompt, &step),
            Body::Answer(answer) => self.answer(answer, &step),
            Body::Reasoning(thought) => {
                let thread = self.thread(&event.agent);
                thread.thoughts.extend(thought.clone().filter(|thought| !thought.is_blank()));
            }
            Body::System(text) => {
                let blocks = text.iter().map(|text| Block::text(text.clone())).collect();
                self.say(None, Role::System, Origin::Harness, blocks, &step);
            }
            Body::Begun(request) => self.begun_call(request, false, &step),
            Body::Asked(request) => self.begun_call(request, true, &step),
            Body::Done(done) => self.done(done, &step),
            Body::Model(model) => {
                if event.agent.is_none() {
                    self.selected(model.as_ref());
                }
                self.happened(EventKind::Model, model.clone(), &step);
            }
            Body::Receipt(receipt) => self.receipt(receipt, &step),
            Body::Shutdown(shutdown) => {
                self.spending.shutdown(shutdown, step.at, step.source.clone());
                self.happened(EventKind::Other(event.kind.clone()), None, &step);
            }
            Body::Compaction(compacted) => self.compaction(compacted, &step),
            Body::Cleared(text) => {
                let trigger = event.kind.clone();
                self.compact(text.clone().unwrap_or_default(), Some(trigger), None, &step);
            }
            Body::Title(title) => {
                if let Some(title) = title {
                    self.session.meta.offer_title(title, TitleOrigin::Generated);
                }
                self.happened(EventKind::Title, title.clone(), &step);
            }
            Body::Agent { call } => {
                self.thread(&event.agent).call.clone_from(call);
                self.happened(EventKind::Other(event.kind.clone()), None, &step);
            }
            Body::Said(text) => {
                let kind = match event.kind.as_str() {
                    "session.error" => EventKind::Error,
                    "abort" => EventKind::Turn,
                    _ => EventKind::Other(event.kind.clone()),
                };
                if event.kind == "abort" {
                    self.aborted(&step);
                }
                self.happened(kind, text.clone(), &step);
            }
            Body::Other => self.happened(kind_of(&event.kind), None, &step),
            Body::Malformed => {
                let detail = "the event has no type, or no data that is an object";
                self.find(&step, FindingKind::MalformedRecord, detail);
            }
        }
    }

    fn start(&mut self, start: &Start, step: &Step<'_>) {
        if self.begun {
            self.find(step, FindingKind::UnknownRecord, "a second beginning; the first one counts");
            return;
        }
        self.begun = true;
        let meta = &mut self.session.meta;
        meta.version.clone_from(&start.version);
        meta.originator.clone_from(&start.producer);
        meta.git_branch = start.branch.clone().filter(|branch| !branch.is_blank());
        if let Some(parent) = start.continues.clone().filter(|parent| !parent.is_blank()) {
            self.session.lineage.push(Lineage::to(Relation::Resumed, SessionId::from(parent)));
        }
        self.place(start.cwd.as_ref());
        self.selected(start.model.as_ref());
    }

    fn place(&mut self, cwd: Option<&Text>) {
        if let Some(cwd) = cwd.filter(|cwd| !cwd.is_blank()) {
            self.cwd = Some(cwd.clone());
            self.session.meta.cwd.get_or_insert_with(|| cwd.clone());
        }
    }

    /// The model that was chosen; `auto` leaves it to each answer to say.
    fn selected(&mut self, model: Option<&Text>) {
        if let Some(model) = model.filter(|model| !model.is_blank()) {
            self.model = (*model != "auto").then(|| model.clone());
            if self.model.is_some() {
                self.session.meta.model.clone_from(&self.model);
            }
        }
    }

    fn prompt(&mut self, prompt: &Prompt, step: &Step<'_>) {
        let agent = step.event.agent.is_some();
        let origin = match prompt.source.as_deref() {
            _ if prompt.automatic => Origin::Harness,
            Some(source) if source.starts_with("agent-") => Origin::Agent,
            _ if agent => Origin::Agent,
            None | Some("user") => Origin::Person,
            Some(_) => Origin::Harness,
        };
        let mut blocks = Vec::with_capacity(1 + prompt.attachments.len());
        if let Some(content) = &prompt.content {
            blocks.push(Block::text(content.clone()));
        }
        blocks.extend(prompt.attachments.iter().map(content::attachment));
        if origin == Origin::Person
            && let Some(content) = &prompt.content
        {
            self.session.meta.offer_preview(content);
        }
        self.settle_thoughts(step);
        self.thread(&step.event.agent).answer = None;
        self.say(prompt.id.as_ref(), Role::User, origin, blocks, step);
    }

    fn answer(&mut self, answer: &Answer, step: &Step<'_>) {
        let agent = &step.event.agent;
        let mut thoughts = std::mem::take(&mut self.thread(agent).thoughts);
        if let Some(call) = &answer.parent_call {
            self.thread(agent).call.get_or_insert_with(|| call.clone());
        }
        thoughts.retain(|thought| Some(thought) != answer.reasoning.as_ref());
        let mut blocks = content::thoughts(thoughts, answer);
        blocks.extend(answer.content.iter().map(|text| Block::text(text.clone())));
        for request in &answer.requests {
            blocks.extend(content::call(request).map(Block::ToolUse));
        }
        let model = answer.model.clone().or_else(|| self.model.clone().filter(|_| agent.is_none()));
        if let Some(model) = answer.model.as_ref().filter(|_| agent.is_none()) {
            self.session.meta.model = Some(model.clone());
        }
        // One response of the provider may be split into several messages (`chunkIndex`).
        let goes_on = self.thread(agent).answer.filter(|at| {
            let same = |message: &Message| message.api_id.is_some() && message.api_id == answer.api_call;
            let last = self.threads.get(agent).and_then(|thread| thread.last.as_ref());
            self.session.messages.get(*at).is_some_and(|m| same(m) && Some(&m.id) == last)
        });
        let at = match goes_on {
            Some(at) => {
                if let Some(message) = self.session.messages.get_mut(at) {
                    message.blocks.extend(blocks);
                    message.sources.push(step.source.clone());
                }
                at
            }
            None => self.say(answer.id.as_ref(), Role::Assistant, Origin::Model, blocks, step),
        };
        let finish = answer.api_call.as_ref().and_then(|id| self.finishes.get(id).cloned());
        let Some(message) = self.session.messages.get_mut(at) else { return };
        message.model.clone_from(&answer.model);
        message.stop = finish.or(message.stop.take());
        let id = message.id.clone();
        if message.api_id.is_none() {
            // An id that comes again after other messages joins nothing.
            let new = |id: &Text| self.responses.insert(Text::from(id.as_str()));
            message.api_id = answer.api_call.clone().filter(new);
        }
        for request in &answer.requests {
            if let Some(call) = &request.call {
                self.called.insert(call.clone(), at);
            }
        }
        self.thread(agent).answer = Some(at);
        self.spending.answer(answer, &id, model, step.at, step.source.clone());
    }

    /// A call that begins. An answer has asked for it, mostly; a second mention is no second call.
    fn begun_call(&mut self, request: &Request, by_person: bool, step: &Step<'_>) {
        let agent = &step.event.agent;
        if let Some(call) = &request.parent_call {
            self.thread(agent).call.get_or_insert_with(|| call.clone());
        }
        let Some(call) = &request.call else {
            self.find(step, FindingKind::MalformedRecord, "a tool begins, and no call is named");
            return;
        };
        if let Some(message) = self.called.get(call).and_then(|at| self.session.messages.get_mut(*at)) {
            let known = message.blocks.iter_mut().find_map(|block| match block {
                Block::ToolUse(known) if known.id == call.as_str() => Some(known),
                _ => None,
            });
            if let Some(known) = known {
                content::begun(known, request);
            }
            return;
        }
        let Some(call_block) = content::call(request).map(Block::ToolUse) else { return };
        let at = match self.thread(agent).answer.filter(|_| !by_person) {
            Some(at) => {
                if let Some(message) = self.session.messages.get_mut(at) {
                    message.blocks.push(call_block);
                    message.sources.push(step.source.clone());
                }
                at
            }
            None => {
                let origin = if by_person { Origin::Harness } else { Origin::Model };
                self.say(None, Role::Assistant, origin, vec![call_block], step)
            }
        };
        self.called.insert(call.clone(), at);
    }

    fn done(&mut self, done: &Done, step: &Step<'_>) {
        let Some(call) = &done.call else {
            self.find(step, FindingKind::MalformedRecord, "a tool ends, and no call is named");
            return;
        };
        let result = content::result(call, done);
        if let Some(message) = self.answered.get(call).and_then(|at| self.session.messages.get_mut(*at)) {
            message.blocks = vec![Block::ToolResult(result)];
            message.sources.push(step.source.clone());
            return;
        }
        if !self.called.contains_key(call) {
            self.find(step, FindingKind::ResultWithoutCall, "a tool ends that no event says began");
        }
        let at = self.say(None, Role::User, Origin::Tools, vec![Block::ToolResult(result)], step);
        self.answered.insert(call.clone(), at);
    }

    fn receipt(&mut self, receipt: &Receipt, step: &Step<'_>) {
        if let (Some(id), Some(finish)) = (&receipt.api_call, &receipt.finish) {
            self.finishes.insert(id.clone(), content::stop_reason(finish));
        }
        self.spending.receipt(receipt, step.at, step.source.clone());
    }

    fn compaction(&mut self, compacted: &Compacted, step: &Step<'_>) {
        self.spending.compaction(compacted, step.at, step.source.clone());
        if !compacted.success || step.event.agent.is_some() {
            let kind = if compacted.success { kind_of(&step.event.kind) } else { EventKind::Error };
            self.happened(kind, compacted.error.clone(), step);
            return;
        }
        let text = compacted.summary.clone().unwrap_or_default();
        self.compact(text, compacted.trigger.clone(), compacted.tokens_before, step);
    }

    fn compact(&mut self, text: Text, trigger: Option<Text>, tokens_before: Option<u64>, step: &Step<'_>) {
        let after = self.thread(&None).last.clone();
        self.session.compactions.push(Compaction {
            after,
            summary: None,
            text: Some(text).filter(|text| !text.is_blank()),
            first_kept: None,
            trigger,
            tokens_before,
            at: step.at,
            sources: vec![step.source.clone()],
        });
    }

    /// The answer that was being given was stopped, unless it had come to its end.
    fn aborted(&mut self, step: &Step<'_>) {
        let answer = self.thread(&step.event.agent).answer;
        if let Some(message) = answer.and_then(|at| self.session.messages.get_mut(at))
            && message.stop != Some(StopReason::EndTurn)
        {
            message.stop = Some(StopReason::Aborted);
        }
    }

    /// Thoughts that no answer followed are a message of their own.
    fn settle_thoughts(&mut self, step: &Step<'_>) {
        let thoughts = std::mem::take(&mut self.thread(&step.event.agent).thoughts);
        if !thoughts.is_empty() {
            let blocks = content::thoughts(thoughts, &Answer::default());
            self.say(None, Role::Assistant, Origin::Model, blocks, step);
        }
    }

    fn thread(&mut self, agent: &Option<Text>) -> &mut Thread {
        // The key must not keep the memory of the whole file alive.
        let key = agent.as_ref().map(|agent| Text::from(agent.as_str()));
        self.threads.entry(key).or_default()
    }
}

/// What kind of event one of a type that says nothing to people is.
fn kind_of(kind: &Text) -> EventKind {
    match kind.split('.').next().unwrap_or_default() {
        "hook" => EventKind::Hook,
        "permission" => EventKind::Permission,
        _ => match kind.as_str() {
            "assistant.turn_start" | "assistant.turn_end" => EventKind::Turn,
            "session.mode_changed" => EventKind::Mode,
            "session.snapshot_rewind" => EventKind::Rollback,
            _ => EventKind::Other(kind.clone()),
        },
    }
}
