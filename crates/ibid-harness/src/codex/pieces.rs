//! From records to pieces of the common session, one record at a time. Loading and scanning both
//! go through here, so they cannot disagree.

use ibid_model::{
    Block, Compaction, Event as CommonEvent, EventKind, Finding, FindingKind, Json, Message, MessageId,
    ModelCall, Origin, ProviderToken, Role, SessionId, Source, StopReason, Text, Thinking, Timestamp,
    TokenUse,
};
use serde::{Deserialize, Serialize};

use super::content::Part;
use super::copied::Copied;
use super::event::Event;
use super::item::{Item, Kind};
use super::json::Stamp;
use super::records::{Body, Record, SessionMeta};
use super::state::{State, Thought};
use super::vocabulary::Teller;
use crate::core::scan::{Fact, ScanEvent, Sink};

/// Where a record stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Place {
    pub(super) carrier: u32,
    pub(super) start: u64,
    pub(super) end: u64,
}

impl Place {
    pub(super) fn source(self) -> Source {
        Source::bytes(self.carrier, self.start, self.end)
    }

    /// The id of what a record says: its place, since not every version has ids of its own.
    pub(super) fn id(self) -> String {
        match self.carrier {
            0 => format!("r{}", self.start),
            carrier => format!("{carrier}r{}", self.start),
        }
    }
}

/// Takes records in the order of the file and hands on what they say.
pub(super) struct Pieces<'a> {
    pub(super) state: State,
    /// The id that the name of the file holds.
    named: Option<SessionId>,
    sink: &'a mut dyn Sink,
    going_on: bool,
    pub(super) place: Place,
    pub(super) at: Option<Timestamp>,
    pub(super) inherited: bool,
    /// The turn that the record belongs to.
    pub(super) turn: Option<Text>,
    /// Whether only the settings of a turn named it, so that a prompt may begin another one.
    pub(super) turn_is_old: bool,
    /// Whether the record is a message that looks like scaffolding, and a person typed it.
    persons: bool,
    /// Whether the record is the event of a prompt that was told as put there.
    pub(super) told_otherwise: bool,
}

impl<'a> Pieces<'a> {
    pub(super) fn new(state: State, named: Option<SessionId>, sink: &'a mut dyn Sink) -> Pieces<'a> {
        let place = Place { carrier: 0, start: 0, end: 0 };
        Pieces {
            state,
            named,
            sink,
            going_on: true,
            place,
            at: None,
            inherited: false,
            turn: None,
            turn_is_old: false,
            persons: false,
            told_otherwise: false,
        }
    }

    /// Goes on from what stood before the place where a later file leaves an earlier one.
    pub(super) fn branch(&mut self, from: Branch) {
        self.settle_for_now();
        self.close();
        (self.state.tip, self.state.prompts) = (from.tip, from.prompts);
        (self.state.turn, self.state.turn_began) = (None, false);
    }

    /// The next file is one of the session's own, or one of the thread it was forked from.
    pub(super) fn file_of(&mut self, own: bool) {
        self.settle_for_now();
        if own && self.state.of_base {
            self.close();
            let State { vocabulary, seen, tip, prompts, calls, thinks_in_items, .. } =
                std::mem::take(&mut self.state);
            let calls = calls.of_a_fork();
            self.state = State { vocabulary, seen, tip, prompts, calls, thinks_in_items, ..State::default() };
        }
        self.state.of_base = !own;
    }

    /// Where the conversation stands now.
    pub(super) fn here(&mut self) -> Branch {
        self.settle_for_now();
        Branch { tip: self.state.tip.clone(), prompts: self.state.prompts.clone() }
    }

    /// Takes one record. False when the sink wants no more.
    pub(super) fn take(&mut self, record: Record, place: Place) -> bool {
        let found = self.state.doubt.take(&record);
        self.settle(found);
        self.persons = found.this;
        self.place = place;
        match record.at {
            Stamp::At(at) => self.fact(Fact::Stamp(at)),
            Stamp::Unreadable => self.state.census.unreadable_times += 1,
            Stamp::Absent => {}
        }
        let meta = matches!(record.body, Body::Meta(_));
        let stranger = matches!(record.body, Body::Stream | Body::Stranger);
        if !self.state.begun && !meta && !stranger && !self.state.of_base {
            self.begin_without_header();
        }
        self.inherited = !meta && self.state.copied.holds(&record);
        // The lines of a copy have the time at which it was made, which is not theirs.
        // https://github.com/openai/codex/issues/35003 (fault 57)
        self.at = if self.inherited { None } else { record.at.known() };
        self.inherited |= self.state.of_base;
        // State alone makes no rollout: other programs write lines of that kind too.
        self.state.census.known += u64::from(!stranger && !matches!(record.body, Body::Quiet));
        self.turn_of(&record);
        match record.body {
            Body::Meta(meta) => self.meta(*meta, record.at),
            Body::Turn(turn) => {
                if let Some(cwd) = turn.cwd {
                    self.state.placed = true;
                    self.fact(Fact::Cwd(cwd));
                }
                if let Some(model) = turn.model {
                    self.fact(Fact::Model(model.clone()));
                    for call in self.state.calls.model_is(model) {
                        self.emit(ScanEvent::Call(call));
                    }
                }
            }
            Body::Item(item) => self.item(*item),
            Body::Event(event) => self.event(*event),
            Body::Compacted(text) => self.compacted(text),
            Body::Usage(record) => {
                let message = self.state.open.take().map(|open| open.id);
                if let (Some(id), Some(response)) = (&message, &record.response) {
                    let mut piece = self.piece(id.clone(), Role::Assistant, Origin::Model);
                    piece.api_id = Some(response.clone());
                    piece.sources.clear();
                    self.emit(ScanEvent::Message(piece));
                }
                let call =
                    self.state.calls.record(&record, message, self.at, self.inherited, self.place.source());
                self.emit_call(call);
            }
            Body::Quiet => {}
            Body::Unknown(kind) => {
                *self.state.census.unknown.entry(kind.to_string()).or_insert(0) += 1;
            }
            Body::Stream => self.state.census.stream += 1,
            Body::Stranger => self.state.census.strangers += 1,
        }
        self.going_on
    }

    /// Follows the turns. An item may name its own (0.171.0); else it belongs to the one that goes
    /// on, which is the `turn_id` that hooks announce (measured with 0.171.0).
    fn turn_of(&mut self, record: &Record) {
        let state = &mut self.state;
        let mut own = None;
        let mut ends = false;
        match &record.body {
            Body::Turn(turn) if turn.turn.is_some() && turn.turn != state.turn => {
                (state.turn, state.turn_began) = (turn.turn.clone(), false);
            }
            Body::Item(item) => own = item.turn.clone(),
            Body::Event(event) => match &**event {
                Event::TurnBegan(turn) => (state.turn, state.turn_began) = (turn.clone(), turn.is_some()),
                Event::TurnEnded(_) | Event::Aborted { .. } => ends = true,
                _ => {}
            },
            _ => {}
        }
        self.turn_is_old = own.is_none() && !state.turn_began;
        self.turn = own.or_else(|| state.turn.clone());
        if ends {
            (state.turn, state.turn_began) = (None, false);
        }
    }

    /// Ends the reading for now: hands on what waited, and what was wrong.
    pub(super) fn finish(&mut self) {
        self.settle_for_now();
        self.answer_from_events();
        for call in self.state.calls.rest() {
            self.emit(ScanEvent::Call(call));
        }
        if let Some(tip) = self.state.tip.clone() {
            self.emit(ScanEvent::Head(tip));
        }
        let census = std::mem::take(&mut self.state.census.unknown);
        for (kind, count) in census {
            let detail = format!("records of the kind {kind:?}");
            self.emit(ScanEvent::Finding(Finding::new(FindingKind::UnknownRecord, detail).times(count)));
        }
        let unreadable = std::mem::take(&mut self.state.census.unreadable_times);
        if unreadable > 0 {
            let detail = "times that are none, or have no zone";
            self.emit(ScanEvent::Finding(
                Finding::new(FindingKind::UnreadableTime, detail).times(unreadable),
            ));
        }
    }

    /// Hands on what the reader of the lines has to say. False when the sink wants no more.
    pub(super) fn tell(&mut self, event: ScanEvent) -> bool {
        self.emit(event);
        self.going_on
    }

    /// Whether nothing that follows can change what the beginning says: id, place, and what a
    /// person said first.
    pub(super) fn knows_its_beginning(&self) -> bool {
        self.state.own.is_some() && self.state.previewed && self.state.placed
    }

    pub(super) fn emit(&mut self, event: ScanEvent) {
        self.going_on &= self.sink.take(event);
    }

    pub(super) fn fact(&mut self, fact: Fact) {
        if self.state.of_base {
            return;
        }
        self.emit(ScanEvent::Fact(fact));
    }

    fn emit_call(&mut self, call: Option<ModelCall>) {
        if let Some(call) = call {
            self.emit(ScanEvent::Call(call));
        }
    }

    // https://github.com/openai/codex/issues/24425 (fault 13)
    fn begin_without_header(&mut self) {
        self.state.begun = true;
        let detail = match self.named.clone() {
            Some(id) => {
                self.fact(Fact::Id(id));
                "the first record is no session_meta; the id is the one in the name of the file"
            }
            None => "the first record is no session_meta",
        };
        let finding =
            Finding::new(FindingKind::MissingHeader, detail).at_bytes(self.place.start, self.place.end);
        self.emit(ScanEvent::Finding(finding));
    }

    fn meta(&mut self, meta: SessionMeta, at: Stamp) {
        // Behind a damaged first line the own header may still follow, known by the file's name.
        let named = self.named.is_some() && self.named == meta.id;
        if self.state.own.is_some() || (self.state.begun && !named) {
            let another = meta.id.is_some() && meta.id != self.state.own;
            if another && self.state.forks && self.state.tip.is_none() {
                self.state.copied.parents_header(self.state.own.as_ref(), at);
            }
            return;
        }
        self.state.begun = true;
        self.state.copied = Copied::by_header(&meta);
        self.state.own = meta.id.clone().or_else(|| self.named.clone());
        if self.state.of_base {
            return;
        }
        self.state.base.clone_from(&meta.history_base);
        if let Some(id) = self.state.own.clone() {
            self.fact(Fact::Id(id));
        }
        for lineage in meta.lineage() {
            self.state.forks = true;
            self.emit(ScanEvent::Lineage(lineage));
        }
        self.state.placed |= meta.cwd.is_some();
        let facts = [
            meta.cwd.map(Fact::Cwd),
            meta.git_branch.map(Fact::GitBranch),
            meta.version.map(Fact::Version),
            meta.model.map(Fact::Model),
        ];
        for fact in facts.into_iter().flatten() {
            self.fact(fact);
        }
        if let Some(originator) = meta.originator {
            // https://github.com/alp82/aistack/issues/73 (fault 44)
            if !originator.to_ascii_lowercase().starts_with("codex") {
                let detail = "the session_meta names another originator than Codex";
                self.emit(ScanEvent::Finding(Finding::new(FindingKind::ForeignOriginator, detail)));
            }
            self.fact(Fact::Originator(originator));
        }
    }

    pub(super) fn piece(&self, id: MessageId, role: Role, origin: Origin) -> Message {
        let mut message = Message::new(id, role, origin);
        message.at = self.at;
        message.inherited = self.inherited;
        message.turn.clone_from(&self.turn);
        message.sources.push(self.place.source());
        message
    }

    /// A new message at the end of the live branch.
    pub(super) fn next(&mut self, role: Role, origin: Origin) -> Message {
        let mut message = self.piece(MessageId::from(self.place.id()), role, origin);
        message.parent = self.state.tip.replace(message.id.clone());
        self.state.census.messages += 1;
        message
    }

    /// Nothing is added to the last messages any more.
    pub(super) fn close(&mut self) {
        self.state.open = None;
        self.state.results = None;
    }

    fn item(&mut self, item: Item) {
        // An item that says itself when it was made is right even in a copy.
        self.at = self.at.or(item.made);
        match item.kind {
            Kind::Message(message) => match message.role {
                Role::User if message.doubtful && self.persons => {
                    self.user(message.parts, None, Teller::Items);
                }
                Role::User if message.doubtful => self.hold(message),
                Role::User => self.user(message.parts, message.injected, Teller::Items),
                Role::System => {
                    self.close();
                    let mut piece = self.next(Role::System, Origin::Harness);
                    piece.blocks = message.parts.into_iter().map(Part::into_block).collect();
                    self.emit(ScanEvent::Message(piece));
                }
                Role::Assistant => {
                    // A scan may have told it by its event before the item was written.
                    let told = self.state.told.take();
                    let is_told = told.is_some_and(|told| message.parts == [Part::Text(told)]);
                    if self.state.vocabulary.assistant == Teller::Items && !is_told {
                        self.assistant(message.parts);
                    }
                    if let Some(call) = message.call {
                        self.call(call);
                    }
                }
            },
            Kind::Reasoning { text, token } => {
                self.state.thoughts.clear();
                self.state.thinks_in_items = true;
                let tokens: Vec<_> = token
                    .map(|value| ProviderToken {
                        usage: TokenUse::Encrypted,
                        provider: Some("openai".into()),
                        value,
                    })
                    .into_iter()
                    .collect();
                if !text.is_blank() || !tokens.is_empty() {
                    self.model_says(vec![Block::Thinking(Thinking { text, tokens })], false);
                }
            }
            Kind::Call(call) => self.call(call),
            Kind::Output { call, answer } => self.output(call, answer),
            Kind::Agent { parts } => {
                self.answer_from_events();
                self.close();
                let mut piece = self.next(Role::User, Origin::Agent);
                piece.blocks = parts.into_iter().map(Part::into_block).collect();
                self.emit(ScanEvent::Message(piece));
            }
            Kind::Other(other) => {
                self.tell_thoughts();
                self.model_says(vec![Block::Other(other)], false);
            }
            Kind::Quiet => {}
            Kind::Unknown(kind) => {
                *self.state.census.unknown.entry(kind.to_string()).or_insert(0) += 1;
            }
        }
    }

    fn event(&mut self, event: Event) {
        match event {
            Event::User { parts, lane } => {
                let teller = self.state.vocabulary.user;
                let told_otherwise = std::mem::take(&mut self.told_otherwise);
                if teller.is(lane) || told_otherwise {
                    self.user(parts, None, teller);
                }
            }
            Event::Agent { text, lane } => {
                if self.state.vocabulary.assistant.is(lane) && !text.is_empty() {
                    self.state.told = Some(text.clone());
                    self.assistant(vec![Part::Text(text)]);
                }
            }
            Event::Reasoning(text) => {
                self.state.thoughts.push(Thought {
                    text,
                    place: self.place,
                    at: self.at,
                    turn: self.turn.clone(),
                });
            }
            Event::Tokens(count) => {
                let message = self.state.open.as_ref().map(|open| open.id.clone());
                let call =
                    self.state.calls.count(count, message, self.at, self.inherited, self.place.source());
                self.emit_call(call);
            }
            Event::TurnBegan(_) | Event::TurnEnded(_) | Event::Quiet => {}
            Event::Result(structured) => self.wait(structured),
            Event::Aborted { reason, .. } => {
                if let Some(open) = self.state.open.clone() {
                    let mut piece = self.piece(open.id, Role::Assistant, Origin::Model);
                    piece.stop = Some(StopReason::Aborted);
                    piece.sources.clear();
                    self.emit(ScanEvent::Message(piece));
                }
                self.happened(EventKind::Turn, Some(reason), None);
            }
            Event::RolledBack(turns) => self.roll_back(turns),
            Event::Name(name) => self.happened(EventKind::Title, Some(name), None),
            Event::Error { text, json } => self.happened(EventKind::Error, Some(text), Some(json)),
            Event::Mode { kind, json } => self.happened(EventKind::Mode, Some(kind), Some(json)),
        }
    }

    fn happened(&mut self, kind: EventKind, text: Option<Text>, json: Option<Json>) {
        let event = CommonEvent {
            kind,
            at: self.at,
            after: self.state.tip.clone(),
            text: text.filter(|text| !text.is_empty()),
            json,
            sources: vec![self.place.source()],
        };
        self.emit(ScanEvent::Event(event));
    }

    /// Takes the last turns off the live branch; they become a side branch. A turn is counted from
    /// what the person said.
    fn roll_back(&mut self, turns: u64) {
        self.happened(EventKind::Rollback, None, None);
        let turns = usize::try_from(turns).unwrap_or(usize::MAX);
        if turns == 0 {
            return;
        }
        self.close();
        let kept = self.state.prompts.len().saturating_sub(turns);
        if turns > self.state.prompts.len() {
            self.state.tip = None;
        } else if let Some(before) = self.state.prompts.get(kept) {
            self.state.tip = before.clone();
        }
        self.state.prompts.truncate(kept);
    }

    fn compacted(&mut self, text: Text) {
        self.answer_from_events();
        self.close();
        let compaction = Compaction {
            after: self.state.tip.clone(),
            summary: None,
            text: Some(text).filter(|text| !text.is_blank()),
            first_kept: None,
            trigger: None,
            tokens_before: None,
            at: self.at,
            sources: vec![self.place.source()],
        };
        self.emit(ScanEvent::Compaction(compaction));
    }
}

/// A place in the conversation to go on from.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Branch {
    tip: Option<MessageId>,
    prompts: Vec<Option<MessageId>>,
}
