//! The full read: the rows of a session as one common session.

use std::collections::HashMap;

use ibid_carrier::jsonl::Item;
use ibid_model::{
    Block, Event, EventKind, Finding, FindingKind, Json, Message, MessageId, ModelCall, Origin, Role,
    Session, Source, Text, Thinking, Timestamp, TitleOrigin, ToolResult, ToolUse, Usage,
};

use super::records::{Body, Piece, Row};
use super::store::TRANSCRIPT;
use super::{WorkBuddy, tools};
use crate::core::scan::CallLedger;
use crate::core::{CodecError, Common, Harness, Transcript};
use crate::families::call_ids::CallIds;
use crate::families::user_query::{self, Part};

/// Rows that an event keeps are at most this long, in bytes.
const EVENT_JSON_BYTES: usize = 4 << 10;

/// Reads a session.
///
/// # Errors
/// When no row of it is one that WorkBuddy writes.
pub(super) fn to_common(transcript: &Transcript<WorkBuddy>) -> Result<Common, CodecError> {
    let foreign =
        |reason: &str| CodecError::Foreign { harness: WorkBuddy::DECLARATION.name, reason: reason.into() };
    let Some((carrier, file)) = transcript.body.file(TRANSCRIPT) else {
        return Err(foreign("there is no transcript"));
    };
    let records = file.document.read_records(Row::read);
    let harness = WorkBuddy::DECLARATION.id.as_str();
    let mut session = Session::new(harness, transcript.id.clone());
    session.carriers = transcript.body.infos();
    let mut reader = Reader {
        session,
        findings: file.document.findings().to_vec(),
        carrier,
        ids: CallIds::new(harness, &transcript.id),
        responses: HashMap::new(),
        ledger: CallLedger::default(),
        rows: 0,
        known: 0,
    };
    reader.findings.extend(records.findings);
    let strange = records.items.len();
    for item in records.items {
        reader.row(item);
    }
    if reader.known == 0 && strange > 0 {
        return Err(foreign("none of its lines is a row that it writes"));
    }
    let mut session = reader.session;
    session.calls = reader.ledger.into_calls();
    session.head = session.messages.last().map(|message| message.id.clone());
    let mut findings = reader.findings;
    if let Some(path) = &file.path {
        let at = |finding: Finding| if finding.path.is_some() { finding } else { finding.at_path(path) };
        findings = findings.into_iter().map(at).collect();
    }
    Ok(Common { session, findings })
}

struct Reader {
    session: Session,
    findings: Vec<Finding>,
    carrier: u32,
    ids: CallIds,
    /// The message of each response of the model.
    responses: HashMap<Text, usize>,
    ledger: CallLedger,
    rows: u64,
    known: u64,
}

/// What a row says beside its content.
struct Here {
    number: u64,
    at: Option<Timestamp>,
    cwd: Option<Text>,
    response: Option<Text>,
    model: Option<Text>,
    usage: Option<Usage>,
    source: Source,
}

impl Reader {
    fn row(&mut self, item: Item<Row>) {
        self.rows += 1;
        self.known += 1;
        let Row { cwd, at, response, model, usage, body, .. } = item.value;
        let source = Source::bytes(self.carrier, item.start, item.end);
        let here = Here { number: self.rows, at, cwd, response, model, usage, source };
        let meta = &mut self.session.meta;
        meta.started = meta.started.into_iter().chain(at).min();
        meta.updated = meta.updated.into_iter().chain(at).max();
        if meta.cwd.is_none() {
            meta.cwd.clone_from(&here.cwd);
        }
        let place = |finding: Finding| finding.on_line(item.line).at_bytes(item.start, item.end);
        match body {
            Body::Start => {
                if here.model.is_some() {
                    self.session.meta.model = here.model;
                }
            }
            Body::Message { role, pieces } => match role.as_str() {
                "assistant" => {
                    let blocks = pieces.into_iter().map(block).collect();
                    self.answer(here, blocks);
                }
                "user" => self.user(&here, pieces),
                "system" | "developer" => {
                    let blocks = pieces.into_iter().map(block).collect();
                    self.push(&here, "", Role::System, Origin::Harness, blocks);
                }
                _ => {
                    let shown: String = role.chars().filter(|c| !c.is_control()).take(40).collect();
                    let detail = format!("a message of role \"{shown}\"");
                    self.findings.push(place(Finding::new(FindingKind::UnknownRecord, detail)));
                }
            },
            Body::Call { id, name, input } => {
                let id = self.ids.call(id, &name);
                let (tool, extra) = tools::decode(&name, &input);
                self.answer(here, vec![Block::ToolUse(ToolUse { id, name, tool, extra })]);
            }
            Body::Reasoning(text) => {
                self.answer(here, vec![Block::Thinking(Thinking { text, tokens: Vec::new() })]);
            }
            Body::Result { call, name, content, outcome } => {
                let call = self.ids.result(call, name.as_ref());
                if !self.ids.has(&call) {
                    let detail = "a tool result without a call before it";
                    self.findings.push(place(Finding::new(FindingKind::ResultWithoutCall, detail)));
                }
                let result = ToolResult { call, content, outcome, structured: None };
                self.push(&here, "", Role::User, Origin::Tools, vec![Block::ToolResult(result)]);
            }
            Body::Title(title) => {
                self.session.meta.offer_title(&title, TitleOrigin::Generated);
                self.event(EventKind::Title, here, Some(title), None);
            }
            Body::Snapshot(json) => self.event(EventKind::Snapshot, here, None, Some(json)),
            Body::Malformed(detail) => {
                self.findings.push(place(Finding::new(FindingKind::MalformedRecord, detail)));
            }
            Body::Unknown { kind, json } => {
                self.known -= 1;
                // The type comes from the file, and so may be anything.
                let shown: String = kind.chars().filter(|c| !c.is_control()).take(40).collect();
                let detail = format!("a row of type \"{shown}\"");
                self.findings.push(place(Finding::new(FindingKind::UnknownRecord, detail)));
                self.event(EventKind::Other(shown.into()), here, None, Some(json));
            }
        }
    }

    fn push(&mut self, here: &Here, part: &str, role: Role, origin: Origin, blocks: Vec<Block>) -> usize {
        let mut message = Message::new(format!("row-{}{part}", here.number), role, origin);
        message.parent = self.session.messages.last().map(|message| message.id.clone());
        message.at = here.at;
        message.cwd.clone_from(&here.cwd);
        message.blocks = blocks;
        message.sources = vec![here.source.clone()];
        self.session.messages.push(message);
        self.session.messages.len() - 1
    }

    /// What was typed, and what the program put around it.
    fn user(&mut self, here: &Here, pieces: Vec<Piece>) {
        let is_tagged = |piece: &Piece| matches!(piece, Piece::Text(text) if user_query::has_query(text));
        let tagged = pieces.iter().any(is_tagged);
        let (mut context, mut typed) = (Vec::new(), Vec::new());
        for piece in pieces {
            match piece {
                Piece::Text(text) => {
                    for part in user_query::parts(&text, tagged) {
                        match part {
                            Part::Typed(text) => typed.push(Block::text(text)),
                            Part::Context(text) => context.push(Block::text(text)),
                        }
                    }
                }
                Piece::Block(block) => typed.push(block),
            }
        }
        if !context.is_empty() {
            self.push(here, "-context", Role::User, Origin::Harness, context);
        }
        if !typed.is_empty() {
            self.ids.prompt();
            for block in &typed {
                if let Block::Text(text) = block {
                    self.session.meta.offer_preview(&text.text);
                }
            }
            self.push(here, "", Role::User, Origin::Person, typed);
        }
    }

    /// Rows of one response are one message: those that name the same response, and such without a
    /// name that follow each other with one text at most.
    fn answer(&mut self, here: Here, blocks: Vec<Block>) {
        let named = here.response.as_ref().and_then(|response| self.responses.get(response)).copied();
        let last = self.session.messages.len().checked_sub(1).filter(|last| {
            let Some(message) = self.session.messages.get(*last) else { return false };
            let has_text = |blocks: &[Block]| blocks.iter().any(|block| matches!(block, Block::Text(_)));
            let unnamed = message.api_id.is_none() || here.response.is_none();
            let two_texts = has_text(&message.blocks) && has_text(&blocks);
            message.role == Role::Assistant && unnamed && !two_texts
        });
        let at = match named.or(last) {
            Some(at) => at,
            None => self.push(&here, "", Role::Assistant, Origin::Model, Vec::new()),
        };
        let Some(message) = self.session.messages.get_mut(at) else { return };
        message.blocks.extend(blocks);
        if !message.sources.contains(&here.source) {
            message.sources.push(here.source.clone());
        }
        if message.api_id.is_none() {
            message.api_id.clone_from(&here.response);
        }
        if message.model.is_none() {
            message.model.clone_from(&here.model);
        }
        let id: MessageId = message.id.clone();
        if let Some(response) = &here.response {
            self.responses.entry(response.clone()).or_insert(at);
        }
        if here.model.is_some() {
            self.session.meta.model.clone_from(&here.model);
        }
        if let Some(usage) = here.usage {
            self.ledger.take(ModelCall {
                api_id: here.response,
                request_id: None,
                message: Some(id),
                model: here.model,
                at: here.at,
                usage,
                inherited: false,
                sources: vec![here.source],
            });
        }
    }

    fn event(&mut self, kind: EventKind, here: Here, text: Option<Text>, json: Option<Json>) {
        let after = self.session.messages.last().map(|message| message.id.clone());
        let json = json.filter(|json| json.as_str().len() <= EVENT_JSON_BYTES);
        self.session.events.push(Event { kind, at: here.at, after, text, json, sources: vec![here.source] });
    }
}

fn block(piece: Piece) -> Block {
    match piece {
        Piece::Text(text) => Block::text(text),
        Piece::Block(block) => block,
    }
}
