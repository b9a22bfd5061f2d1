//! The full read: a session's document as one common session.

use std::collections::HashSet;

use ibid_model::{
    Block, CallId, Event, EventKind, Finding, FindingKind, Message, ModelCall, Origin, Role, Session, Source,
    Text, Timestamp, ToolResult, ToolUse,
};

use super::records::{Exchange, Piece};
use super::store::DOCUMENT;
use super::{Augment, tools};
use crate::core::{CodecError, Common, Harness, Transcript};
use crate::families::call_ids::CallIds;
use crate::families::values::{Fields, Value, whole_text};

/// Nodes that an event keeps are at most this long, in bytes.
const EVENT_JSON_BYTES: usize = 4 << 10;

/// Reads a session.
///
/// # Errors
/// When the document is not one JSON object with a `chatHistory`.
pub(super) fn to_common(transcript: &Transcript<Augment>) -> Result<Common, CodecError> {
    let foreign =
        |reason: &str| CodecError::Foreign { harness: Augment::DECLARATION.name, reason: reason.into() };
    let Some((carrier, file)) = transcript.body.file(DOCUMENT) else {
        return Err(foreign("there is no document"));
    };
    let (text, mut findings) = whole_text(&file.document);
    let Ok(value) = Value::of(&text) else {
        return Err(foreign("it is not one JSON value; it may be cut off"));
    };
    let document = value.fields().ok_or_else(|| foreign("it is no JSON object"))?;
    let history = document.get("chatHistory").and_then(Value::items);
    let history = history.ok_or_else(|| foreign("it has no list of exchanges (chatHistory)"))?;
    let mut session = Session::new(Augment::DECLARATION.id.as_str(), transcript.id.clone());
    session.carriers = transcript.body.infos();
    let mut reader = Reader {
        model: document.fields("agentState").and_then(|state| state.filled("modelId")),
        session,
        findings: Vec::new(),
        carrier,
        ids: CallIds::new(Augment::DECLARATION.id.as_str(), &transcript.id),
        called: HashSet::new(),
        answered: HashSet::new(),
        has_folders: false,
        terminals: Vec::new(),
    };
    reader.read(&history);
    reader.finish(&document);
    findings.append(&mut reader.findings);
    if let Some(path) = &file.path {
        findings = findings.into_iter().map(|finding| finding.at_path(path)).collect();
    }
    Ok(Common { session: reader.session, findings })
}

struct Reader {
    session: Session,
    findings: Vec<Finding>,
    carrier: u32,
    /// The model of the session.
    model: Option<Text>,
    ids: CallIds,
    /// Ids of calls, and those that have results.
    called: HashSet<CallId>,
    answered: HashSet<CallId>,
    /// Whether any exchange names a folder; a terminal's directory counts only when none does.
    has_folders: bool,
    /// The terminals' directories, each with the first message of its exchange.
    terminals: Vec<(usize, Text)>,
}

/// What messages of one exchange have in common.
struct Here<'a> {
    number: usize,
    source: Source,
    cwd: Option<&'a Text>,
}

impl Reader {
    fn read(&mut self, history: &[Value<'_>]) {
        for (at, value) in history.iter().enumerate() {
            match Exchange::read(*value) {
                Some(exchange) => self.exchange(at + 1, exchange),
                None => {
                    let (start, end) = value.place();
                    let finding = Finding::new(FindingKind::MalformedRecord, "an exchange that is no object");
                    self.findings.push(finding.at_bytes(start, end));
                }
            }
        }
    }

    fn exchange(&mut self, number: usize, exchange: Exchange) {
        let first = self.session.messages.len();
        let (start, end) = exchange.place;
        let source = Source::bytes(self.carrier, start, end);
        self.has_folders |= exchange.folder.is_some();
        let here = Here { number, source, cwd: exchange.folder.as_ref() };
        let asked = exchange.asked.or(exchange.first);
        let mut results = Vec::new();
        for result in exchange.results {
            results.extend(self.result(result, exchange.place));
        }
        if !results.is_empty() {
            self.push(&here, "-results", Role::User, Origin::Tools, asked, results);
        }
        let mut said: Vec<Block> = exchange.said.into_iter().map(Block::text).collect();
        said.extend(exchange.images.into_iter().map(Block::Image));
        if !said.is_empty() {
            for block in &said {
                if let Block::Text(text) = block {
                    self.session.meta.offer_preview(&text.text);
                }
            }
            self.push(&here, "", Role::User, Origin::Person, asked, said);
        }
        let model = exchange.model.or_else(|| self.model.clone());
        let answer = self.answer(exchange.answer);
        let at = exchange.ended.or(exchange.began).or(exchange.last);
        let mut answered = None;
        if !answer.is_empty() {
            self.push(&here, "-answer", Role::Assistant, Origin::Model, at, answer);
            if let Some(message) = self.session.messages.last_mut() {
                message.model.clone_from(&model);
                message.api_id.clone_from(&exchange.request);
                answered = Some(message.id.clone());
            }
            if model.is_some() {
                self.session.meta.model.clone_from(&model);
            }
        }
        if let Some(usage) = exchange.usage.filter(|usage| !usage.is_unknown()) {
            self.session.calls.push(ModelCall {
                api_id: exchange.request,
                request_id: None,
                message: answered,
                model,
                at,
                usage,
                inherited: false,
                sources: vec![here.source.clone()],
            });
        }
        for other in exchange.others {
            self.session.events.push(Event {
                kind: EventKind::Other(other.kind),
                at,
                after: self.session.messages.last().map(|message| message.id.clone()),
                text: None,
                json: Some(other.json).filter(|json| json.as_str().len() <= EVENT_JSON_BYTES),
                sources: vec![here.source.clone()],
            });
        }
        for at in [exchange.first, exchange.last].into_iter().flatten() {
            let meta = &mut self.session.meta;
            meta.started = meta.started.into_iter().chain([at]).min();
            meta.updated = meta.updated.into_iter().chain([at]).max();
        }
        if let Some(terminal) = exchange.terminal {
            self.terminals.push((first, terminal));
        }
    }

    fn push(
        &mut self,
        here: &Here<'_>,
        part: &str,
        role: Role,
        origin: Origin,
        at: Option<Timestamp>,
        blocks: Vec<Block>,
    ) {
        let mut message = Message::new(format!("exchange-{}{part}", here.number), role, origin);
        message.parent = self.session.messages.last().map(|message| message.id.clone());
        message.at = at;
        message.cwd = here.cwd.cloned();
        message.blocks = blocks;
        message.sources = vec![here.source.clone()];
        self.session.messages.push(message);
    }

    fn answer(&mut self, pieces: Vec<Piece>) -> Vec<Block> {
        let mut blocks = Vec::new();
        for piece in pieces {
            match piece {
                Piece::Text(text) => blocks.push(Block::text(text)),
                Piece::Thinking(thinking) => blocks.push(Block::Thinking(thinking)),
                Piece::Call { id, name, input } => {
                    let id = self.ids.call(id, &name);
                    // A call that is mentioned again while it goes on is the same call.
                    if self.called.insert(id.clone()) {
                        let (tool, extra) = tools::decode(&name, &input);
                        blocks.push(Block::ToolUse(ToolUse { id, name, tool, extra }));
                    }
                }
            }
        }
        blocks
    }

    /// The result of a call; a later exchange may repeat one, which is then the same result.
    fn result(&mut self, result: ToolResult, (start, end): (u64, u64)) -> Option<Block> {
        if !self.called.contains(&result.call) {
            let finding =
                Finding::new(FindingKind::ResultWithoutCall, "a tool result without a call before it");
            self.findings.push(finding.at_bytes(start, end));
        }
        if self.answered.insert(result.call.clone()) {
            return Some(Block::ToolResult(result));
        }
        let finding =
            Finding::new(FindingKind::RepeatedId, "a second result of one call, which does not count");
        self.findings.push(finding.at_bytes(start, end));
        None
    }

    fn finish(&mut self, document: &Fields<'_>) {
        let session = &mut self.session;
        if !self.has_folders {
            for (first, terminal) in self.terminals.drain(..) {
                if let Some(message) = session.messages.get_mut(first) {
                    message.cwd = Some(terminal);
                }
            }
        }
        session.meta.cwd = session.messages.iter().find_map(|message| message.cwd.clone());
        let meta = &mut session.meta;
        meta.started = document.time("created").into_iter().chain(meta.started).min();
        meta.updated = document.time("modified").into_iter().chain(meta.updated).max();
        session.head = session.messages.last().map(|message| message.id.clone());
        let open = self.called.difference(&self.answered).count();
        if open > 0 {
            let finding = Finding::new(FindingKind::CallWithoutResult, "tool calls without a result");
            self.findings.push(finding.times(open as u64));
        }
    }
}
