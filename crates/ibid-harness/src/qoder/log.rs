//! What a log tells: the prompts, the calls and their ends, and the tokens. It keeps neither what the
//! model said nor all of what tools gave back.

use std::collections::{HashMap, HashSet};

use ibid_model::{
    Block, CallId, Event, EventKind, Finding, FindingKind, Json, Message, MessageId, ModelCall, Origin,
    Outcome, ResultPart, Role, Session, Text, Timestamp, ToolResult, ToolUse, Usage,
};

use super::record::{self, Record};
use crate::families::claude_rows;
use crate::families::files::fields::{Fields, Value};
use crate::families::files::{FilesBody, SessionFile};

/// Records up to this size are kept with their events.
const EVENT_JSON_BYTES: usize = 4096;

/// What is read from the parts of a log.
#[derive(Debug, Default)]
pub(super) struct Told {
    pub(super) messages: Vec<Message>,
    pub(super) calls: Vec<ModelCall>,
    pub(super) events: Vec<Event>,
    pub(super) findings: Vec<Finding>,
    pub(super) cwd: Option<Text>,
    pub(super) model: Option<Text>,
    pub(super) first: Option<Timestamp>,
    pub(super) last: Option<Timestamp>,
    /// Whether any record is one of such a log.
    pub(super) known: bool,
}

/// Reads the parts of a log: their records by time and number, whatever part they stand in.
pub(super) fn read(body: &FilesBody, session: &str, is_part: impl Fn(&SessionFile) -> bool) -> Told {
    let mut told = Told::default();
    let parts: Vec<(u32, &SessionFile)> =
        (0_u32..).zip(&body.files).filter(|(_, file)| is_part(file)).collect();
    let items: Vec<_> = parts
        .iter()
        .map(|(carrier, file)| {
            let read = file.document.read_records(|text| Value::read(text).map(|_| text.clone()));
            told.findings.extend(file.document.findings().iter().cloned());
            told.findings.extend(read.findings);
            (*carrier, record::time_of_name(file), read.items)
        })
        .collect();
    let mut records: Vec<Record<'_>> =
        items.iter().flat_map(|(carrier, named, items)| record::of_part(items, *carrier, *named)).collect();
    records.sort_by_key(|record| (record.order, record.seq));
    // A record without a time does not make the time of the name of its part that of the session.
    let stamps = records.iter().filter_map(|record| record.at);
    (told.first, told.last) = bounds(stamps);
    if told.first.is_none() {
        (told.first, told.last) = bounds(items.iter().filter_map(|(_, named, _)| *named));
    }
    if told.first.is_none() {
        (told.first, told.last) = bounds(parts.iter().filter_map(|(_, file)| file.written()));
    }
    let submitted = records.iter().any(|record| record.kind == "input.prompt.submitted");
    let mut reading = Reading {
        told,
        files: &body.files,
        session,
        prompts: if submitted { "input.prompt.submitted" } else { "input.prompt.received" },
        answer: None,
        open: false,
        requested: HashSet::new(),
        results: HashMap::new(),
        ended: HashSet::new(),
        responses: HashSet::new(),
        unnamed: 0,
    };
    for record in &records {
        reading.record(record);
    }
    reading.told
}

fn bounds(times: impl Iterator<Item = Timestamp>) -> (Option<Timestamp>, Option<Timestamp>) {
    times.fold((None, None), |(first, last), at| {
        (
            Some(first.map_or(at, |first: Timestamp| first.min(at))),
            Some(last.map_or(at, |last: Timestamp| last.max(at))),
        )
    })
}

struct Reading<'s> {
    told: Told,
    files: &'s [SessionFile],
    session: &'s str,
    /// The kind of record that a prompt is taken from; the others say the same once more.
    prompts: &'static str,
    /// The message that holds the calls of the model since the last prompt.
    answer: Option<usize>,
    /// Whether its end was not recorded yet.
    open: bool,
    requested: HashSet<CallId>,
    /// The messages with the results of calls.
    results: HashMap<CallId, usize>,
    /// The calls whose end is certain.
    ended: HashSet<CallId>,
    responses: HashSet<Text>,
    unnamed: usize,
}

impl Reading<'_> {
    fn record(&mut self, record: &Record<'_>) {
        let cwd = record.data.filled("cwd").or_else(|| record.fields.filled("cwd"));
        self.told.cwd = self.told.cwd.take().or(cwd);
        // Kinds have two or three words.
        self.told.known |= record.kind.contains('.');
        match record.kind.as_str() {
            "input.prompt.submitted" | "input.prompt.received" => {
                if record.kind == self.prompts {
                    self.prompt(record);
                }
            }
            "model.response.completed" => self.response(record),
            "tool.requested" => self.requested(record),
            "tool.shell.finished" => self.shell_finished(record),
            "tool.execution.finished" => self.finished(record),
            _ => self.event(record),
        }
    }

    fn prompt(&mut self, record: &Record<'_>) {
        let Some(text) = record.data.filled("text_preview") else {
            return self.find(FindingKind::MalformedRecord, "a prompt without its text", record);
        };
        let mut message = self.message(record, Role::User, Origin::Person);
        message.blocks = vec![Block::text(text)];
        self.told.messages.push(message);
        (self.answer, self.open) = (None, false);
    }

    fn response(&mut self, record: &Record<'_>) {
        let data = &record.data;
        let id = data.filled("response_id").or_else(|| data.filled("responseId"));
        if id.as_ref().is_some_and(|id| !self.responses.insert(id.clone())) {
            return;
        }
        let model = data.filled("model");
        self.told.model = model.clone().or(self.told.model.take());
        let at = match self.answer.filter(|_| self.open) {
            Some(at) => at,
            None => self.begin_answer(record),
        };
        self.open = false;
        let Some(message) = self.told.messages.get_mut(at) else { return };
        message.model.clone_from(&model);
        message.api_id.clone_from(&id);
        if message.sources.last() != Some(&record.source) {
            message.sources.push(record.source.clone());
        }
        let usage = usage(data);
        if !usage.is_unknown() {
            self.told.calls.push(ModelCall {
                api_id: id,
                request_id: None,
                message: Some(message.id.clone()),
                model,
                at: record.at,
                usage,
                inherited: false,
                sources: vec![record.source.clone()],
            });
        }
    }

    fn begin_answer(&mut self, record: &Record<'_>) -> usize {
        let message = self.message(record, Role::Assistant, Origin::Model);
        self.told.messages.push(message);
        let at = self.told.messages.len() - 1;
        self.answer = Some(at);
        at
    }

    fn requested(&mut self, record: &Record<'_>) {
        let id = record.call.clone().unwrap_or_else(|| {
            self.unnamed += 1;
            format!("qoder-{}-{}", self.session, self.unnamed).into()
        });
        let call = CallId::from(id.clone());
        if !self.requested.insert(call.clone()) {
            return;
        }
        // Calls that follow results are of another answer, whose end is still to come.
        let last = self.told.messages.len().checked_sub(1);
        let at = match self.answer.filter(|at| self.open || Some(*at) == last) {
            Some(at) => at,
            None => {
                self.open = true;
                self.begin_answer(record)
            }
        };
        let name = record.data.filled("tool_name").unwrap_or_else(|| "tool".into());
        let input = record.data.get("args").map_or_else(Json::null, arguments);
        let (tool, extra) = claude_rows::read_call(&name, &input);
        let Some(message) = self.told.messages.get_mut(at) else { return };
        message.blocks.push(Block::ToolUse(ToolUse { id: call, name, tool, extra }));
        if message.sources.last() != Some(&record.source) {
            message.sources.push(record.source.clone());
        }
    }

    /// What a shell says of a command that ended. Whether the call as a whole is told to have worked
    /// says nothing against it.
    fn shell_finished(&mut self, record: &Record<'_>) {
        let aborted = record.data.get("aborted").and_then(Value::flag) == Some(true);
        let outcome = match record.data.get("exit_code").and_then(Value::integer) {
            _ if aborted => Outcome::Interrupted,
            Some(0) => Outcome::Ok,
            Some(_) => Outcome::Error,
            None => Outcome::Unknown,
        };
        let structured = record.fields.get("data").map(Value::json);
        self.end(record, outcome, structured, outcome != Outcome::Unknown);
    }

    fn finished(&mut self, record: &Record<'_>) {
        let outcome = match record.data.text("status").as_deref().unwrap_or_default() {
            "success" | "completed" => Outcome::Ok,
            "failed" | "error" => Outcome::Error,
            "aborted" | "cancelled" | "canceled" | "interrupted" => Outcome::Interrupted,
            _ => Outcome::Unknown,
        };
        self.end(record, outcome, None, false);
    }

    /// A call ended: one result for all records that say so.
    fn end(&mut self, record: &Record<'_>, outcome: Outcome, structured: Option<Json>, certain: bool) {
        let Some(call) = record.call.clone().map(CallId::from) else {
            return self.find(
                FindingKind::ResultWithoutCall,
                "the end of a call that it does not name",
                record,
            );
        };
        if !self.requested.contains(&call) {
            self.find(FindingKind::ResultWithoutCall, "the end of a call that was not recorded", record);
            return self.event(record);
        }
        let at = match self.results.get(&call) {
            Some(at) => *at,
            None => {
                let mut message = self.message(record, Role::User, Origin::Tools);
                message.blocks.push(Block::ToolResult(ToolResult {
                    call: call.clone(),
                    content: Vec::new(),
                    outcome: Outcome::Unknown,
                    structured: None,
                }));
                self.told.messages.push(message);
                let at = self.told.messages.len() - 1;
                self.results.insert(call.clone(), at);
                at
            }
        };
        let Some(message) = self.told.messages.get_mut(at) else { return };
        message.at = record.at.or(message.at);
        if message.sources.last() != Some(&record.source) {
            message.sources.push(record.source.clone());
        }
        let Some(Block::ToolResult(result)) = message.blocks.first_mut() else { return };
        if outcome != Outcome::Unknown && !self.ended.contains(&call) {
            result.outcome = outcome;
        }
        if certain {
            self.ended.insert(call);
        }
        result.structured = structured.or(result.structured.take());
        if let Some(text) = record.data.filled("text_preview") {
            result.content = vec![ResultPart::Text(ibid_model::TextBlock { text })];
        }
    }

    fn message(&self, record: &Record<'_>, role: Role, origin: Origin) -> Message {
        // Positions are unique, and stay as long as nothing comes between.
        let id = MessageId::from(format!("log-{}", self.told.messages.len()));
        let mut message = Message::new(id, role, origin);
        message.parent = self.told.messages.last().map(|last| last.id.clone());
        message.at = record.at;
        message.sources = vec![record.source.clone()];
        message
    }

    fn event(&mut self, record: &Record<'_>) {
        self.told.events.push(Event {
            kind: EventKind::Other(record.kind.clone()),
            at: record.at,
            after: self.told.messages.last().map(|last| last.id.clone()),
            text: None,
            json: Some(record.whole.json()).filter(|json| json.as_str().len() <= EVENT_JSON_BYTES),
            sources: vec![record.source.clone()],
        });
    }

    fn find(&mut self, kind: FindingKind, detail: &'static str, record: &Record<'_>) {
        let mut finding = Finding::new(kind, detail).on_line(record.line);
        finding.extent = Some(record.source.extent.clone());
        let carrier = usize::try_from(record.source.carrier).unwrap_or(usize::MAX);
        self.told.findings.push(match self.files.get(carrier).and_then(|file| file.path.as_deref()) {
            Some(path) => finding.at_path(path),
            None => finding,
        });
    }
}

/// The arguments of a call; where they are JSON in a string, what the string says.
fn arguments(args: Value<'_>) -> Json {
    let inner = args.text().and_then(|text| Json::from_text(text).ok());
    inner.filter(Json::is_object).unwrap_or_else(|| args.json())
}

/// The counts have the names of Anthropic's, which do not overlap.
fn usage(data: &Fields<'_>) -> Usage {
    Usage {
        input: data.count("input_tokens"),
        output: data.count("output_tokens"),
        cache_read: data.count("cache_read_input_tokens"),
        cache_write: data.count("cache_creation_input_tokens"),
        ..Usage::default()
    }
}

/// Adds what a log tells to the session of a conversation: what that has itself counts.
pub(super) fn add(session: &mut Session, told: Told) {
    let meta = &mut session.meta;
    meta.cwd = meta.cwd.take().or(told.cwd);
    meta.model = meta.model.take().or(told.model);
    meta.started = meta.started.into_iter().chain(told.first).min();
    meta.updated = meta.updated.into_iter().chain(told.last).max();
    if session.messages.is_empty() {
        for text in told.messages.iter().filter(|message| message.is_prompt()).flat_map(Message::texts) {
            meta.offer_preview(&text.to_str());
        }
        session.head = told.messages.last().map(|last| last.id.clone());
        session.messages = told.messages;
        session.calls = told.calls;
        session.events.extend(told.events);
        return;
    }
    // The log tells the same conversation once more, without what was said.
    if session.calls.is_empty() {
        session.calls = told.calls.into_iter().map(|call| ModelCall { message: None, ..call }).collect();
    }
    session.events.extend(told.events.into_iter().map(|event| Event { after: None, ..event }));
}
