//! The full read: the lines of a transcript, and what the command line keeps about its chat, as one
//! common session.

use std::path::Path;

use ibid_carrier::jsonl::Item;
use ibid_model::{
    Block, CarrierRole, Event, EventKind, Finding, FindingKind, Json, Lineage, Message, MessageId, Meta,
    Origin, Relation, Role, Session, SessionId, Source, StopReason, Text, Timestamp, TitleOrigin, ToolResult,
    ToolUse,
};

use super::place::Placed;
use super::records::{Answer, Body, Call, Piece, Row, Said};
use super::store::{RECORD, TRANSCRIPT};
use super::{Cursor, tools};
use crate::core::{CodecError, Common, Harness, Transcript};
use crate::families::call_ids::CallIds;
use crate::families::files::{FilesBody, SessionFile};
use crate::families::project_folder::folder_names;
use crate::families::user_query::{self, Part};
use crate::families::values::Value;

/// Records that an event keeps are at most this long, in bytes.
const EVENT_JSON_BYTES: usize = 4 << 10;

/// Reads a session.
///
/// # Errors
/// When no line of the transcript is one that Cursor writes.
pub(super) fn to_common(transcript: &Transcript<Cursor>) -> Result<Common, CodecError> {
    let body = &transcript.body;
    let foreign =
        |reason: &str| CodecError::Foreign { harness: Cursor::DECLARATION.name, reason: reason.into() };
    let Some((carrier, file)) = body.file(TRANSCRIPT) else {
        return Err(foreign("there is no transcript"));
    };
    let placed = file.path.as_deref().map(Placed::of).unwrap_or_default();
    let records = file.document.read_records(Row::read);
    let mut reader = Reader::new(transcript.id.clone(), carrier, &placed);
    reader.session.carriers = body.infos();
    reader.findings.extend_from_slice(file.document.findings());
    reader.findings.extend(records.findings);
    for item in records.items {
        reader.row(item);
    }
    if reader.known == 0 && reader.strange > 0 {
        return Err(foreign("none of its lines is a message of a transcript"));
    }
    let mut common = reader.finish();
    if let Some(parent) = placed.parent.as_deref() {
        let mut lineage = Lineage::to(Relation::Spawned, parent);
        lineage.agent = Some(Text::from(placed.id.as_str()));
        common.session.lineage.push(lineage);
    }
    let about = About::of(body, placed.workspace.as_deref(), &mut common.findings);
    about.fill(&mut common.session.meta, file);
    if let Some(path) = &file.path {
        common.findings = common.findings.into_iter().map(|finding| at(finding, path)).collect();
    }
    Ok(common)
}

fn at(finding: Finding, path: &Path) -> Finding {
    if finding.path.is_some() { finding } else { finding.at_path(path) }
}

/// What `chats/<hash>/<id>/meta.json` says, for chats of the command line.
#[derive(Default)]
struct About {
    title: Option<Text>,
    cwd: Option<Text>,
    created: Option<Timestamp>,
    updated: Option<Timestamp>,
}

impl About {
    /// The record that was written last of those whose directory has the project folder that the
    /// transcript lies in; one of another directory is about another chat.
    fn of(body: &FilesBody, folder: Option<&str>, findings: &mut Vec<Finding>) -> About {
        let mut about = About::default();
        for file in
            body.files.iter().filter(|file| file.role == CarrierRole::Record && file.name.ends_with(RECORD))
        {
            let Some(found) = About::read(file, findings) else { continue };
            let elsewhere = found
                .cwd
                .as_ref()
                .zip(folder)
                .is_some_and(|(cwd, folder)| !folder_names(Path::new(cwd.as_str())).contains(folder));
            if elsewhere {
                let detail =
                    "it names a directory that this transcript's folder is not of, and does not count";
                findings.push(file_finding(FindingKind::ForeignContent, detail, file));
            } else if found.updated >= about.updated {
                about = found;
            }
        }
        about
    }

    fn read(file: &SessionFile, findings: &mut Vec<Finding>) -> Option<About> {
        let read = |text: &Text| {
            let fields = Value::of(text).ok()?.fields()?;
            Some(About {
                title: fields.filled("title"),
                cwd: fields.filled("cwd"),
                created: fields.time("createdAtMs"),
                updated: fields.time("updatedAtMs"),
            })
        };
        let about = file.document.text().and_then(read);
        if about.is_none() {
            findings.push(file_finding(FindingKind::NotJson, "it is not one JSON object", file));
        }
        about
    }

    /// Title, directory and times. Transcripts carry no times as a rule: what the record says of the
    /// chat comes first, then lines that do, then when the transcript was last written.
    fn fill(self, meta: &mut Meta, file: &SessionFile) {
        if let Some(title) = &self.title {
            meta.offer_title(title, TitleOrigin::Generated);
        }
        meta.cwd = self.cwd;
        meta.started = self.created.into_iter().chain(meta.started).min();
        meta.updated = self.updated.into_iter().chain(meta.updated).max().or_else(|| file.written());
        // The clock of the file system may be behind: nothing ends before it begins. What is known
        // to have ended and not when it began is a moment.
        meta.updated = meta.updated.max(meta.started);
        meta.started = meta.started.or(meta.updated);
    }
}

fn file_finding(kind: FindingKind, detail: &str, file: &SessionFile) -> Finding {
    let finding = Finding::new(kind, detail);
    match &file.path {
        Some(path) => finding.at_path(path),
        None => finding,
    }
}

struct Reader {
    session: Session,
    findings: Vec<Finding>,
    carrier: u32,
    /// Whether a user's rows were written by the parent of a subagent.
    of_subagent: bool,
    /// Rows of a known and of an unknown type.
    known: u64,
    strange: u64,
    rows: u64,
    ids: CallIds,
}

/// Where a row stands.
struct Here {
    number: u64,
    at: Option<Timestamp>,
    source: Source,
}

impl Reader {
    fn new(id: SessionId, carrier: u32, placed: &Placed) -> Reader {
        let harness = Cursor::DECLARATION.id.as_str();
        Reader {
            ids: CallIds::new(harness, &id),
            session: Session::new(harness, id),
            findings: Vec::new(),
            carrier,
            of_subagent: placed.parent.is_some(),
            known: 0,
            strange: 0,
            rows: 0,
        }
    }

    fn finish(mut self) -> Common {
        self.session.head = self.session.messages.last().map(|message| message.id.clone());
        if self.session.messages.is_empty() && self.strange > 0 {
            self.findings
                .push(Finding::new(FindingKind::NoTurns, "lines, but no message of a person or a model"));
        }
        Common { session: self.session, findings: self.findings }
    }

    fn row(&mut self, item: Item<Row>) {
        self.rows += 1;
        self.known += 1;
        let source = Source::bytes(self.carrier, item.start, item.end);
        let here = Here { number: self.rows, at: item.value.at, source };
        if let Some(at) = here.at {
            let meta = &mut self.session.meta;
            meta.started = meta.started.into_iter().chain([at]).min();
            meta.updated = meta.updated.into_iter().chain([at]).max();
        }
        let place = |finding: Finding| finding.on_line(item.line).at_bytes(item.start, item.end);
        match item.value.body {
            Body::TurnEnded { status, error, json } => self.turn_ended(here, status, error, json),
            Body::Unknown { kind, json } => {
                (self.known, self.strange) = (self.known - 1, self.strange + 1);
                // The type comes from the file, and so may be anything.
                let shown: String = kind.chars().filter(|c| !c.is_control()).take(40).collect();
                let detail = format!("a line of type \"{shown}\"");
                self.findings.push(place(Finding::new(FindingKind::UnknownRecord, detail)));
                self.event(EventKind::Other(shown.into()), here, None, json);
            }
            Body::Said(Said { role, model, pieces }) => {
                let Some(pieces) = pieces else {
                    let finding = Finding::new(FindingKind::MalformedRecord, "a message without content");
                    return self.findings.push(place(finding));
                };
                match role.as_str() {
                    "assistant" => self.answer(here, model, pieces),
                    "user" | "tool" => self.user(here, pieces),
                    "system" => {
                        let blocks = self.blocks(pieces);
                        self.push(&here, "", Role::System, Origin::Harness, blocks);
                    }
                    _ => {
                        let shown: String = role.chars().filter(|c| !c.is_control()).take(40).collect();
                        let detail = format!("a message of role \"{shown}\"");
                        self.findings.push(place(Finding::new(FindingKind::UnknownRecord, detail)));
                    }
                }
            }
        }
    }

    fn push(&mut self, here: &Here, part: &str, role: Role, origin: Origin, blocks: Vec<Block>) {
        let mut message = Message::new(format!("row-{}{part}", here.number), role, origin);
        message.parent = self.session.messages.last().map(|message| message.id.clone());
        message.at = here.at;
        message.blocks = blocks;
        message.sources = vec![here.source.clone()];
        self.session.messages.push(message);
    }

    fn answer(&mut self, here: Here, model: Option<Text>, pieces: Vec<Piece>) {
        let blocks = self.blocks(pieces);
        self.push(&here, "", Role::Assistant, Origin::Model, blocks);
        if let Some(message) = self.session.messages.last_mut() {
            message.model.clone_from(&model);
        }
        if model.is_some() {
            self.session.meta.model = model;
        }
    }

    /// A user's row holds what was typed, what Cursor put around it, and results. Each becomes a
    /// message of its own, since each has another author.
    fn user(&mut self, here: Here, pieces: Vec<Piece>) {
        let tagged =
            pieces.iter().any(|piece| matches!(piece, Piece::Text(text) if user_query::has_query(text)));
        let (mut results, mut before, mut typed, mut after) = (vec![], vec![], vec![], vec![]);
        for piece in pieces {
            match piece {
                Piece::Text(text) => {
                    for part in user_query::parts(&text, tagged) {
                        match part {
                            Part::Typed(text) => typed.push(Block::text(text)),
                            Part::Context(text) if typed.is_empty() => before.push(Block::text(text)),
                            Part::Context(text) => after.push(Block::text(text)),
                        }
                    }
                }
                Piece::Result(answer) => results.push(Block::ToolResult(self.result(answer))),
                Piece::Call(call) => typed.push(Block::ToolUse(self.call(call))),
                Piece::Block(block) => typed.push(block),
            }
        }
        let has_more = !(results.is_empty() && before.is_empty() && after.is_empty());
        let origin = if self.of_subagent { Origin::Agent } else { Origin::Person };
        if !typed.is_empty() {
            self.ids.prompt();
        }
        for (part, origin, blocks) in [
            ("-results", Origin::Tools, results),
            ("-context", Origin::Harness, before),
            ("", origin, typed),
            ("-behind", Origin::Harness, after),
        ] {
            if !blocks.is_empty() || (part.is_empty() && !has_more) {
                self.offer_preview(origin, &blocks);
                self.push(&here, part, Role::User, origin, blocks);
            }
        }
    }

    fn offer_preview(&mut self, origin: Origin, blocks: &[Block]) {
        if origin != Origin::Person {
            return;
        }
        for block in blocks {
            if let Block::Text(text) = block {
                self.session.meta.offer_preview(&text.text);
            }
        }
    }

    fn blocks(&mut self, pieces: Vec<Piece>) -> Vec<Block> {
        let block = |piece| match piece {
            Piece::Text(text) => Block::text(text),
            Piece::Call(call) => Block::ToolUse(self.call(call)),
            Piece::Result(answer) => Block::ToolResult(self.result(answer)),
            Piece::Block(block) => block,
        };
        pieces.into_iter().map(block).collect()
    }

    fn call(&mut self, call: Call) -> ToolUse {
        let Call { id, name, input } = call;
        let id = self.ids.call(id, &name);
        let (tool, extra) = tools::decode(&name, &input);
        ToolUse { id, name, tool, extra }
    }

    fn result(&mut self, answer: Answer) -> ToolResult {
        let Answer { call, name, content, outcome } = answer;
        let call = self.ids.result(call, name.as_ref());
        if !self.ids.has(&call) {
            let detail = "a tool result without a call before it";
            self.findings.push(Finding::new(FindingKind::ResultWithoutCall, detail));
        }
        ToolResult { call, content, outcome, structured: None }
    }

    fn turn_ended(&mut self, here: Here, status: Option<Text>, error: Option<Text>, json: Json) {
        let stop = match status.as_deref() {
            Some("success" | "completed") => Some(StopReason::EndTurn),
            Some("error" | "failed") => Some(StopReason::Error),
            Some("aborted" | "cancelled" | "canceled" | "interrupted") => Some(StopReason::Aborted),
            Some(_) => status.clone().map(StopReason::Other),
            None => None,
        };
        let failed = stop == Some(StopReason::Error) || error.is_some();
        if let Some(last) = self.session.messages.last_mut().filter(|last| last.role == Role::Assistant) {
            last.stop = stop;
        }
        let kind = if failed { EventKind::Error } else { EventKind::Turn };
        self.event(kind, here, error.or(status), json);
    }

    fn event(&mut self, kind: EventKind, here: Here, text: Option<Text>, json: Json) {
        let after: Option<MessageId> = self.session.messages.last().map(|message| message.id.clone());
        let json = Some(json).filter(|json| json.as_str().len() <= EVENT_JSON_BYTES);
        self.session.events.push(Event { kind, at: here.at, after, text, json, sources: vec![here.source] });
    }
}
