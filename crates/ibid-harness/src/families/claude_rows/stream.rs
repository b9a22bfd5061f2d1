//! Rows as a stream of events, from any line on.

use std::collections::VecDeque;
use std::fs::File;
use std::path::Path;

use ibid_carrier::CarrierError;
use ibid_carrier::jsonl::{Change, Checkpoint, Limits, RawLine, Records, open_scanner};
use ibid_model::{
    Block, Compaction, Event, EventKind, FindingKind, Lineage, Message, MessageId, ModelCall, Origin,
    Relation, Text, Timestamp, TitleOrigin,
};
use serde::{Deserialize, Serialize};

use super::record::{Boundary, EventRow, Parent, Record, TitleRow, Turn, What};
use super::tally::Place;
use super::unnamed::Unnamed;
use crate::core::StoreError;
use crate::core::scan::{Control, Cursor, Fact, ScanEvent, Sink, Wants};

/// How many of the last rows and API messages are remembered, to find parents and first rows.
const REMEMBERED: usize = 64;

/// The control is asked every so many lines whether to stop.
const PATIENCE: u64 = 64;

/// The file, and where in it to begin.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StreamSource<'a> {
    /// The file.
    pub(crate) path: &'a Path,
    /// Where to begin.
    pub(crate) from: &'a Cursor,
    /// Whether the file is a subagent's own.
    pub(crate) subagent: bool,
    /// The limits for reading.
    pub(crate) limits: &'a Limits,
}

/// What must be known of the rows before a place to go on from there.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Memory {
    /// The last rows of the tree, with the messages that they are a part of, or stand behind.
    rows: VecDeque<(String, Option<String>)>,
    /// The last API messages, with the ids of the messages that they are.
    answers: VecDeque<(String, String)>,
    /// The last message of the main conversation, and of those beside it.
    last: [Option<String>; 2],
    /// A compaction whose summary has not come yet.
    compaction: Option<Compaction>,
    /// Summaries of rows that have not come yet: the rows and the titles.
    summaries: Vec<(String, String)>,
    preview: bool,
    copied: bool,
    old_version: bool,
    /// The time of the first message, while all that followed has the same.
    copied_at: Option<Timestamp>,
    began: bool,
    unnamed: Unnamed,
    /// The end of a last line that was read although nothing ended it yet.
    upto: u64,
}

/// Streams the rows of a file from the cursor on; `opening` comes before the first row. The last
/// line is read although nothing ends it, and not again when it has been ended.
///
/// # Errors
/// When the file cannot be read, was rewritten since the cursor, or the control stops.
pub(crate) fn stream(
    source: &StreamSource<'_>,
    wants: Wants,
    control: &Control<'_>,
    sink: &mut dyn Sink,
    opening: impl FnOnce() -> Vec<ScanEvent>,
) -> Result<Cursor, StoreError> {
    let path = source.path;
    let file = File::open(path).map_err(|error| CarrierError::io(path, error))?;
    let rewritten = || StoreError::Rewritten(path.display().to_string());
    let (offset, memory) = match source.from {
        Cursor::Start => (0, Memory::default()),
        Cursor::File { checkpoint, state } => {
            let change = checkpoint.verify(&file).map_err(|error| CarrierError::io(path, error))?;
            if !matches!(change, Change::Unchanged | Change::Appended) {
                return Err(rewritten());
            }
            (checkpoint.offset(), serde_json::from_str(state).map_err(|_| rewritten())?)
        }
        Cursor::Whole { .. } => return Err(rewritten()),
    };
    let mut stream = Stream { memory, wants, sink, going: true, subagent: source.subagent };
    if matches!(source.from, Cursor::Start) {
        opening().into_iter().for_each(|event| stream.emit(event));
    }
    let mut scanner = open_scanner(path, offset, source.limits)?;
    let mut lines: u64 = 0;
    while stream.going
        && let Some(line) = scanner.next()?
    {
        lines += 1;
        if lines.is_multiple_of(PATIENCE) && control.stopped() {
            return Err(StoreError::Stopped(path.display().to_string()));
        }
        stream.line(&line);
    }
    for finding in scanner.findings() {
        stream.emit(ScanEvent::Finding(finding.clone()));
    }
    stream.head();
    let memory = stream.memory;
    let checkpoint =
        Checkpoint::new(&file, scanner.committed()).map_err(|error| CarrierError::io(path, error))?;
    let state = serde_json::to_string(&memory).map_err(crate::core::CodecError::from)?;
    Ok(Cursor::File { checkpoint, state })
}

struct Stream<'s> {
    memory: Memory,
    wants: Wants,
    sink: &'s mut dyn Sink,
    going: bool,
    subagent: bool,
}

impl Stream<'_> {
    fn emit(&mut self, event: ScanEvent) {
        if self.going {
            self.going = self.sink.take(event);
        }
    }

    fn fact(&mut self, fact: Fact) {
        if self.wants.metadata {
            self.emit(ScanEvent::Fact(fact));
        }
    }

    fn line(&mut self, line: &RawLine<'_>) {
        let mut records = Records { items: Vec::new(), findings: Vec::new() };
        line.read_into(&mut records, |text| Record::read(&Text::from(text)));
        for item in records.items {
            if item.end <= self.memory.upto {
                continue;
            }
            let place = Place { line: item.line, start: item.start, end: item.end };
            self.row(place, item.value);
            if !line.terminated {
                self.memory.upto = item.end;
            }
        }
        for finding in records.findings {
            self.emit(ScanEvent::Finding(finding));
        }
    }

    fn row(&mut self, place: Place, record: Record) {
        self.facts(place, &record);
        let side = usize::from(record.sidechain);
        let (before, again) = self.before(&record, side);
        if let Some(uuid) = &record.uuid {
            self.summary_of(uuid);
        }
        let uuid = record.uuid.clone();
        let mut message = before.clone();
        match record.what.clone() {
            What::Turn(turn) => message = self.turn(place, &record, *turn, before, again),
            What::Boundary(boundary) => self.boundary(place, &record, *boundary),
            What::Title(title) => self.title(place, record.at, *title),
            What::Leaf(leaf) => {
                let known = self.memory.rows.iter().rev().find(|(uuid, _)| *uuid == leaf.as_str());
                if let Some((_, Some(message))) = known {
                    self.memory.last[0] = Some(message.clone());
                }
            }
            What::Event(event) => self.event(place, record.at, *event),
            What::Malformed => {
                let finding =
                    place.finding(FindingKind::MalformedRecord, "a message without content that can be read");
                self.emit(ScanEvent::Finding(finding));
            }
            What::Unknown(_) | What::Kindless | What::Known => {}
        }
        if let Some(uuid) = uuid
            && !again
        {
            remember(&mut self.memory.rows, (uuid.to_string(), message));
        }
    }

    fn facts(&mut self, place: Place, record: &Record) {
        match record.at {
            Some(at) => self.fact(Fact::Stamp(at)),
            None if record.unreadable_time => {
                let finding =
                    place.finding(FindingKind::UnreadableTime, "a timestamp that is no time, or has no zone");
                self.emit(ScanEvent::Finding(finding));
            }
            None => {}
        }
        if let Some(version) = &record.ambient.version {
            self.memory.old_version |= version.starts_with("1.");
        }
        if !self.wants.metadata {
            return;
        }
        let facts = [
            record.ambient.cwd.clone().map(Fact::Cwd),
            record.ambient.git_branch.clone().map(Fact::GitBranch),
            record.ambient.version.clone().map(Fact::Version),
        ];
        facts.into_iter().flatten().for_each(|fact| self.fact(fact));
        if let What::Turn(turn) = &record.what
            && let Some(model) = &turn.model
            && (self.subagent || !record.sidechain)
        {
            self.fact(Fact::Model(model.clone()));
        }
    }

    /// The message before a row, and whether the row was seen already.
    fn before(&self, record: &Record, side: usize) -> (Option<String>, bool) {
        let rows = &self.memory.rows;
        let known = |uuid: &Text| rows.iter().rev().find(|(known, _)| known == uuid.as_str());
        let again = record.uuid.as_ref().and_then(known);
        if let Some((_, message)) = again {
            return (message.clone(), true);
        }
        let previous = || self.memory.last.get(side).cloned().flatten();
        let before = match &record.parent {
            Parent::Root if !matches!(record.what, What::Boundary(_)) => None,
            Parent::Row(parent) => known(parent).map_or_else(previous, |(_, message)| message.clone()),
            _ => previous(),
        };
        (before, false)
    }

    /// Emits a piece of a message; its id comes back.
    fn turn(
        &mut self,
        place: Place,
        record: &Record,
        mut turn: Turn,
        before: Option<String>,
        again: bool,
    ) -> Option<String> {
        self.memory.unnamed.name(&mut turn.blocks);
        let side = usize::from(record.sidechain);
        let own = || record.uuid.as_ref().map_or_else(|| format!("at-{}", place.start), ToString::to_string);
        let answers = &self.memory.answers;
        let joined = turn.api_id.as_ref().and_then(|api_id| {
            answers.iter().rev().find(|(known, _)| known == api_id.as_str()).map(|(_, id)| id.clone())
        });
        let id = match (again, joined) {
            (true, _) => before.clone().unwrap_or_else(own),
            (_, Some(id)) => id,
            (_, None) => {
                let id = own();
                if let Some(api_id) = &turn.api_id {
                    remember(&mut self.memory.answers, (api_id.to_string(), id.clone()));
                }
                id
            }
        };
        let inherited = self.is_copied(record, &turn);
        if let Some(usage) = turn.usage
            && self.wants.usage
        {
            self.emit(ScanEvent::Call(ModelCall {
                api_id: turn.api_id.clone(),
                request_id: turn.request_id.clone(),
                message: Some(MessageId::from(id.as_str())),
                model: turn.model.clone(),
                at: record.at,
                usage,
                inherited,
                sources: vec![place.source()],
            }));
        }
        let mut message = Message::new(id.as_str(), turn.role, turn.origin);
        message.parent = before.filter(|before| *before != id).map(MessageId::from);
        message.at = record.at;
        message.model = turn.model;
        message.turn = turn.prompt;
        message.api_id = turn.api_id;
        message.stop = turn.stop;
        message.cwd.clone_from(&record.ambient.cwd);
        message.sidechain = record.sidechain;
        message.inherited = inherited;
        message.blocks = turn.blocks;
        message.sources = vec![place.source()];
        // Rows that say different things under one id are several messages.
        self.prompt(&message);
        if !again {
            self.close_compaction(&message);
            if let Some(last) = self.memory.last.get_mut(side) {
                *last = Some(id.clone());
            }
            self.piece(message);
        }
        Some(id)
    }

    fn piece(&mut self, mut message: Message) {
        let wants = self.wants;
        if !wants.text && !wants.tools {
            return;
        }
        message.blocks.retain(|block| match block {
            Block::ToolUse(_) | Block::ToolResult(_) => wants.tools,
            _ => wants.text,
        });
        if !message.blocks.is_empty() || wants.text {
            self.emit(ScanEvent::Message(message));
        }
    }

    fn prompt(&mut self, message: &Message) {
        if self.memory.preview || !message.is_prompt() {
            return;
        }
        let said = message.texts().find(|text| !text.is_blank()).cloned();
        if let Some(text) = said {
            self.memory.preview = true;
            self.fact(Fact::Preview(text));
        }
    }

    /// Whether the row is a copy of another session's, as far as that is known by now.
    fn is_copied(&mut self, record: &Record, turn: &Turn) -> bool {
        if !std::mem::replace(&mut self.memory.began, true) {
            self.memory.copied_at = record.at.filter(|_| self.memory.old_version);
        }
        if record.at.is_none() || record.at != self.memory.copied_at || turn.request_id.is_some() {
            self.memory.copied_at = None;
        }
        let restamped = self.memory.copied_at.is_some() && turn.origin == Origin::Model;
        if !self.memory.copied && (restamped || turn.copied_from.is_some()) {
            self.memory.copied = true;
            let relation = if restamped { Relation::Resumed } else { Relation::Forked };
            let mut lineage = Lineage::to(relation, "");
            lineage.parent = turn.copied_from.clone().map(Into::into);
            if self.wants.metadata {
                self.emit(ScanEvent::Lineage(lineage));
            }
        }
        restamped || turn.copied_from.is_some()
    }

    fn boundary(&mut self, place: Place, record: &Record, boundary: Boundary) {
        let message = |uuid: Option<&Text>| {
            let uuid = uuid?;
            let known = self.memory.rows.iter().rev().find(|(known, _)| known == uuid.as_str());
            known.and_then(|(_, message)| message.as_deref()).map(MessageId::from)
        };
        let last = || self.memory.last.first().cloned().flatten().map(MessageId::from);
        let compaction = Compaction {
            after: message(boundary.after.as_ref()).or_else(last),
            summary: None,
            text: None,
            first_kept: message(boundary.first_kept.as_ref()),
            trigger: boundary.trigger,
            tokens_before: boundary.tokens_before,
            at: record.at,
            sources: vec![place.source()],
        };
        self.memory.compaction = Some(compaction);
    }

    fn close_compaction(&mut self, next: &Message) {
        let Some(mut compaction) = self.memory.compaction.take() else { return };
        compaction.summary = (next.origin == Origin::Summary).then(|| next.id.clone());
        if self.wants.metadata {
            self.emit(ScanEvent::Compaction(compaction));
        }
    }

    fn title(&mut self, place: Place, at: Option<Timestamp>, title: TitleRow) {
        let known = |leaf: &Text| self.memory.rows.iter().any(|(uuid, _)| uuid == leaf.as_str());
        match &title.leaf {
            Some(leaf) if !known(leaf) && self.memory.summaries.len() < REMEMBERED => {
                self.memory.summaries.push((leaf.to_string(), title.text.to_string()));
            }
            _ => self.fact(Fact::Title(title.text.clone(), title.origin)),
        }
        self.event(place, at, EventRow { kind: EventKind::Title, text: Some(title.text), json: None });
    }

    fn summary_of(&mut self, uuid: &Text) {
        while let Some(at) = self.memory.summaries.iter().position(|(leaf, _)| leaf == uuid.as_str()) {
            let (_, title) = self.memory.summaries.remove(at);
            self.fact(Fact::Title(title.into(), TitleOrigin::Summary));
        }
    }

    fn event(&mut self, place: Place, at: Option<Timestamp>, row: EventRow) {
        if !self.wants.metadata {
            return;
        }
        let after = self.memory.last.first().cloned().flatten().map(MessageId::from);
        let sources = vec![place.source()];
        self.emit(ScanEvent::Event(Event {
            kind: row.kind,
            at,
            after,
            text: row.text,
            json: row.json,
            sources,
        }));
    }

    fn head(&mut self) {
        let [main, beside] = &self.memory.last;
        if let Some(head) = main.as_ref().or(beside.as_ref()).cloned()
            && self.wants.metadata
        {
            self.emit(ScanEvent::Head(MessageId::from(head)));
        }
    }
}

fn remember<T>(list: &mut VecDeque<T>, item: T) {
    if list.len() >= REMEMBERED {
        list.pop_front();
    }
    list.push_back(item);
}
