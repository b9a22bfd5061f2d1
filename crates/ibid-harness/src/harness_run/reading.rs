//! From the records of a trace to the common session.

use std::collections::HashMap;

use ibid_carrier::jsonl::Item;
use ibid_model::{
    Block, CallId, Event, EventKind, Finding, FindingKind, Json, Message, MessageId, Origin, OtherBlock,
    Outcome, ResultPart, Role, Session, SessionId, Source, Text, TextBlock, ToolResult, ToolUse,
};

use super::{DECLARATION, HarnessRun, REVISION, TRACE};
use crate::core::{CodecError, Common, Transcript};
use crate::families::claude_rows;
use crate::families::files::fields::{Fields, Value};
use crate::families::files::{FilesBody, SessionFile};

/// Records up to this size are kept with their events.
const EVENT_JSON_BYTES: usize = 4096;

fn trace(body: &FilesBody) -> Option<(u32, &SessionFile)> {
    (0_u32..).zip(&body.files).find(|(_, file)| file.name == TRACE || file.name.ends_with("/trace.jsonl"))
}

/// The revision of the harness, from the document of the variant.
fn revision(body: &FilesBody) -> Option<Text> {
    let (_, file) = body.file(REVISION)?;
    let text = file.document.text()?.clone();
    Value::read(&text).ok()?.fields().filled("revisionId")
}

/// `<revision>:<variant>:<trial>`; what is not known of it is left out.
pub(super) fn session_id(body: &FilesBody) -> SessionId {
    let name = trace(body).map(|(_, file)| file.name.as_str()).unwrap_or_default();
    let folders = name.split('/').rev().skip(1).filter(|folder| !folder.is_empty());
    let mut parts: Vec<String> = folders.map(str::to_owned).collect();
    parts.extend(revision(body).map(|revision| revision.to_string()));
    parts.reverse();
    SessionId::from(if parts.is_empty() { "harness-run".to_owned() } else { parts.join(":") })
}

pub(super) fn to_common(transcript: &Transcript<HarnessRun>) -> Result<Common, CodecError> {
    let body = &transcript.body;
    let foreign = |reason: &str| CodecError::Foreign { harness: DECLARATION.name, reason: reason.to_owned() };
    let (carrier, file) = trace(body).ok_or_else(|| foreign("there is no trace"))?;
    let mut session = Session::new(DECLARATION.id.as_str(), transcript.id.clone());
    session.carriers = body.infos();
    let records = file.document.read_records(|text| Value::read(text).map(|_| text.clone()));
    let mut findings: Vec<Finding> =
        file.document.findings().iter().cloned().chain(records.findings).collect();
    if revision(body).is_none() {
        let detail = "no revision.json beside the trial says which revision it is of; the id is without it";
        let finding = Finding::new(FindingKind::MissingHeader, detail);
        findings.push(match &file.path {
            Some(path) => finding.at_path(path),
            None => finding,
        });
    }
    let mut reading = Reading {
        file,
        carrier,
        session,
        findings,
        calls: HashMap::new(),
        open: None,
        stamped: false,
        known: 0,
    };
    for item in &records.items {
        reading.record(item);
    }
    if reading.known == 0 && !records.items.is_empty() {
        return Err(foreign("none of its lines is a record of a run"));
    }
    Ok(reading.finish())
}

struct Reading<'f> {
    file: &'f SessionFile,
    carrier: u32,
    session: Session,
    findings: Vec<Finding>,
    /// Whether a call has a result.
    calls: HashMap<CallId, bool>,
    /// The message that takes the calls that follow each other.
    open: Option<usize>,
    /// Whether a record has a time.
    stamped: bool,
    known: u64,
}

impl Reading<'_> {
    fn record(&mut self, item: &Item<Text>) {
        let Ok(whole) = Value::read(&item.value) else { return };
        let fields = whole.fields();
        let at = ["timestamp", "ts", "time"].into_iter().find_map(|name| fields.get(name)?.time());
        if let Some(at) = at {
            self.session.meta.stamp(at);
            self.stamped = true;
        }
        let kind = fields.text("type").unwrap_or_default();
        let place = Source::bytes(self.carrier, item.start, item.end);
        self.known += 1;
        match kind.as_str() {
            "tool-call-started" => self.call(&fields, at, place, item),
            "tool-call-result" => self.result(&fields, at, place, item),
            kind => {
                if !kind.starts_with("run-") {
                    self.known -= 1;
                    let shown: String = kind.chars().filter(|c| !c.is_control()).take(40).collect();
                    self.find(FindingKind::UnknownRecord, format!("a record of type \"{shown}\""), item);
                }
                self.session.events.push(Event {
                    kind: EventKind::Other(kind.into()),
                    at,
                    after: self.session.messages.last().map(|last| last.id.clone()),
                    text: None,
                    json: Some(whole.json()).filter(|json| json.as_str().len() <= EVENT_JSON_BYTES),
                    sources: vec![place],
                });
            }
        }
    }

    fn call(
        &mut self,
        fields: &Fields<'_>,
        at: Option<ibid_model::Timestamp>,
        place: Source,
        item: &Item<Text>,
    ) {
        let written = fields.filled("toolCallId");
        if written.is_none() {
            self.find(FindingKind::MalformedRecord, "a call without an id", item);
        }
        let id = written.unwrap_or_else(|| format!("harness-run-{}-{}", self.session.id, item.start).into());
        let call = CallId::from(id);
        if self.calls.contains_key(&call) {
            return self.find(
                FindingKind::RepeatedId,
                "a call of this id began before; it is one call",
                item,
            );
        }
        self.calls.insert(call.clone(), false);
        let name = fields.filled("toolName").unwrap_or_else(|| "tool".into());
        let input = fields.get("input").map_or_else(Json::null, Value::json);
        let (tool, extra) = claude_rows::read_call(&name, &input);
        let block = Block::ToolUse(ToolUse { id: call, name, tool, extra });
        match self.open.and_then(|at| self.session.messages.get_mut(at)) {
            Some(message) => {
                message.blocks.push(block);
                message.sources.push(place);
            }
            None => {
                self.open = Some(self.session.messages.len());
                self.message(Role::Assistant, Origin::Model, at, place, block, item);
            }
        }
    }

    fn result(
        &mut self,
        fields: &Fields<'_>,
        at: Option<ibid_model::Timestamp>,
        place: Source,
        item: &Item<Text>,
    ) {
        let Some(call) = fields.filled("toolCallId").map(CallId::from) else {
            return self.find(FindingKind::ResultWithoutCall, "a result that names no call", item);
        };
        match self.calls.get_mut(&call) {
            Some(answered @ false) => *answered = true,
            Some(true) => {
                return self.find(FindingKind::RepeatedId, "the call of this result has one already", item);
            }
            None => {
                self.find(FindingKind::ResultWithoutCall, "a result of a call that was not recorded", item)
            }
        }
        let outcome = match fields.get("isError").and_then(Value::flag) {
            Some(true) => Outcome::Error,
            Some(false) => Outcome::Ok,
            None => Outcome::Unknown,
        };
        let content = fields.get("content").map(content).unwrap_or_default();
        let block = Block::ToolResult(ToolResult { call, content, outcome, structured: None });
        self.open = None;
        self.message(Role::User, Origin::Tools, at, place, block, item);
    }

    fn message(
        &mut self,
        role: Role,
        origin: Origin,
        at: Option<ibid_model::Timestamp>,
        place: Source,
        block: Block,
        item: &Item<Text>,
    ) {
        let mut message = Message::new(MessageId::from(format!("at-{}", item.start)), role, origin);
        message.parent = self.session.messages.last().map(|last| last.id.clone());
        message.at = at;
        message.blocks = vec![block];
        message.sources = vec![place];
        self.session.messages.push(message);
    }

    fn find(&mut self, kind: FindingKind, detail: impl Into<Text>, item: &Item<Text>) {
        let finding = Finding::new(kind, detail).on_line(item.line).at_bytes(item.start, item.end);
        self.findings.push(match &self.file.path {
            Some(path) => finding.at_path(path),
            None => finding,
        });
    }

    fn finish(mut self) -> Common {
        // A trace keeps no times of its own: it was there when its file was last written.
        if !self.stamped
            && let Some(at) = self.file.written()
        {
            self.session.meta.stamp(at);
        }
        self.session.head = self.session.messages.last().map(|last| last.id.clone());
        Common { session: self.session, findings: self.findings }
    }
}

/// What a result holds: text, or blocks.
fn content(value: Value<'_>) -> Vec<ResultPart> {
    let other =
        |value: Value<'_>| ResultPart::Other(OtherBlock { kind: "content".into(), json: value.json() });
    if let Some(text) = value.text() {
        return vec![ResultPart::Text(TextBlock { text })];
    }
    if !value.is_list() {
        return vec![other(value)];
    }
    let part = |value: Value<'_>| {
        let fields = value.fields();
        match fields.text("text").filter(|_| fields.text("type").as_deref() == Some("text")) {
            Some(text) => ResultPart::Text(TextBlock { text }),
            None => other(value),
        }
    };
    value.elements().into_iter().map(part).collect()
}
