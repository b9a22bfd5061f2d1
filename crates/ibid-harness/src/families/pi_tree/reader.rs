//! From entries to what they mean. One piece of code serves both the full read and the scan.

use std::collections::HashSet;

use ibid_model::{
    Block, Compaction, Event, EventKind, FindingKind, Lineage, Message, MessageId, ModelCall, Origin,
    Relation, Role, SessionId, Text, Timestamp, TitleOrigin,
};

use super::Dialect;
use super::content;
use super::place::{Place, id_of_path};
use super::records::{Body, Compacted, Entry, Header, Said};
use super::tree::{Oddity, Placed, Tree};
use crate::core::scan::{Fact, ScanEvent, Wants};

/// The largest record that an event carries whole, in bytes.
const EVENT_JSON_BYTES: usize = 4096;

/// Nothing is wanted: the reader only remembers what later entries may refer to.
pub(crate) const NOTHING: Wants = Wants { metadata: false, usage: false, text: false, tools: false };

/// Reads the entries of one file in order.
pub(crate) struct Reader {
    dialect: &'static Dialect,
    /// What is reported from here on.
    pub(crate) wants: Wants,
    tree: Tree,
    /// Whether the file is a subagent's, so that what its user says is said by another agent.
    pub(crate) of_subagent: bool,
    /// Whether entries have no ids and parents (version 1).
    linear: bool,
    /// When the header of a fork was written: what is stamped earlier was copied.
    forked_at: Option<Timestamp>,
    head: Option<MessageId>,
    has_preview: bool,
    /// Whether a record before the header holds the title that is in force.
    has_title: bool,
    responses: HashSet<Text>,
    summary: Summary,
}

/// What a file turned out to hold.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Summary {
    /// Whether the first entry is a header with an id.
    pub(crate) header: bool,
    /// How many entries are of a known type.
    pub(crate) known: u64,
    /// How many are messages of a person or the model, or their tools.
    pub(crate) turns: u64,
    /// How many could be messages of a kind that is not known.
    pub(crate) strange: u64,
    /// Whether the first entry continues one that is not in the file.
    pub(crate) beheaded: bool,
}

/// One entry on its way through the reader.
struct Step<'a> {
    place: Place,
    at: Option<Timestamp>,
    inherited: bool,
    sink: &'a mut dyn FnMut(ScanEvent),
}

impl Reader {
    pub(crate) fn new(dialect: &'static Dialect, wants: Wants) -> Reader {
        Reader {
            dialect,
            wants,
            tree: Tree::default(),
            of_subagent: false,
            linear: false,
            forked_at: None,
            head: None,
            has_preview: false,
            has_title: false,
            responses: HashSet::new(),
            summary: Summary::default(),
        }
    }

    /// A reader of lines that follow lines nobody read: what they say of themselves counts, what
    /// they say of others does not.
    pub(crate) fn beside(dialect: &'static Dialect, wants: Wants) -> Reader {
        let mut reader = Reader::new(dialect, wants);
        reader.tree.push_header();
        reader.has_preview = true;
        reader
    }

    pub(crate) fn summary(&self) -> Summary {
        self.summary
    }

    /// Whether the first thing a person said has been seen.
    pub(crate) fn has_preview(&self) -> bool {
        self.has_preview
    }

    /// Takes the next entry, and reports what it means.
    pub(crate) fn take(&mut self, entry: &Entry, place: Place, sink: &mut dyn FnMut(ScanEvent)) {
        let at = entry.recorded.time();
        let inherited = matches!((at, self.forked_at), (Some(at), Some(forked)) if at < forked);
        let mut step = Step { place, at, inherited, sink };
        let first = self.tree.len() == 0;
        if let Some(at) = at
            && self.wants.metadata
        {
            (step.sink)(ScanEvent::Fact(Fact::Stamp(at)));
        }
        if entry.recorded == super::records::Recorded::Unreadable {
            step.find(FindingKind::UnreadableTime, "the timestamp is no time with a zone");
        }
        if let Body::Header(header) = &entry.body {
            match first {
                true => self.header(header, &mut step),
                false => step.find(FindingKind::UnknownRecord, "a second header; the first one counts"),
            }
            self.tree.push_header();
            return;
        }
        // A record of a fixed width that is rewritten in place, and no entry of the tree.
        if let Body::Titled { title, by_person } = &entry.body
            && entry.id.is_none()
        {
            return self.titled(title.as_ref(), *by_person, None, &mut step);
        }
        if first {
            self.linear = entry.id.is_none();
            step.find(FindingKind::MissingHeader, "the first entry is no session header");
        }
        let bare = self.tree.is_bare();
        let placed = self.tree.push(entry.id.as_ref(), &entry.parent, self.linear, is_message(&entry.body));
        match placed.oddity {
            Some(Oddity::MissingParent) => {
                self.summary.beheaded |= bare;
                step.find(FindingKind::DanglingParent, "parentId names no earlier entry");
            }
            Some(Oddity::NoParent) => step.find(FindingKind::DanglingParent, "the entry names no parent"),
            Some(Oddity::Repeats) => {
                step.find(FindingKind::RepeatedId, "an earlier message has this id; this one replaces it");
            }
            Some(Oddity::Renamed) => {
                step.find(FindingKind::RepeatedId, "an earlier entry of another kind has this id");
            }
            None => {}
        }
        self.body(entry, &placed, &mut step);
        let leaf = match &entry.body {
            Body::Leaf { target: Some(target) } if self.dialect.leaf_entries => self.tree.find(target),
            _ => None,
        };
        let head = self.tree.message_at(leaf.unwrap_or(placed.node));
        if head.is_some() && head != self.head {
            if let Some(head) = &head
                && (self.wants.metadata || self.wants.text || self.wants.tools)
            {
                (step.sink)(ScanEvent::Head(head.clone()));
            }
            self.head = head;
        }
    }

    fn header(&mut self, header: &Header, step: &mut Step<'_>) {
        self.linear = header.version.unwrap_or(1) < 2;
        self.summary.known += 1;
        match &header.id {
            Some(id) => {
                self.summary.header = true;
                self.fact(step, || Fact::Id(SessionId::from(id.clone())));
            }
            None => step.find(FindingKind::MalformedRecord, "the header has no id"),
        }
        if let Some(cwd) = header.cwd.as_ref().filter(|cwd| !cwd.is_empty()) {
            self.fact(step, || Fact::Cwd(cwd.clone()));
        }
        if let Some(title) = header.title.as_ref().filter(|_| !self.has_title) {
            self.fact(step, || Fact::Title(title.clone(), TitleOrigin::Generated));
        }
        if let Some(path) = &header.parent {
            self.forked_at = step.at;
            if self.wants.metadata {
                (step.sink)(ScanEvent::Lineage(Lineage {
                    relation: Relation::Forked,
                    parent: id_of_path(path).map(SessionId::from),
                    parent_path: Some(path.clone()),
                    call: None,
                    agent: None,
                    agent_kind: None,
                    at: None,
                }));
            }
        }
    }

    fn body(&mut self, entry: &Entry, placed: &Placed, step: &mut Step<'_>) {
        self.summary.known += 1;
        match &entry.body {
            Body::Message(said) => self.said(said, placed, step),
            Body::Injected { content } => {
                let said = Said { content: content.clone(), ..Said::default() };
                self.message(Role::User, Origin::Harness, placed, step, || content::blocks(&said));
            }
            Body::Compaction(compacted) => self.compaction(compacted, placed, step),
            Body::BranchSummary { summary, usage } => {
                if let Some(summary) = summary {
                    self.message(Role::User, Origin::Model, placed, step, || {
                        vec![Block::text(summary.clone())]
                    });
                }
                self.extra_call(usage.as_ref(), None, step);
            }
            Body::Model { provider, model } => self.event(EventKind::Model, placed, step, |event| {
                let parts = [provider.as_deref(), model.as_deref()];
                event.text = Some(parts.into_iter().flatten().collect::<Vec<_>>().join("/").into());
            }),
            Body::ThinkingLevel(level) => self.event(EventKind::Model, placed, step, |event| {
                event.text = level.as_ref().map(|level| format!("thinking level {level}").into());
            }),
            Body::Named(name) => {
                let name = name.clone().unwrap_or_default();
                self.fact(step, || Fact::Title(name.clone(), TitleOrigin::Person));
                self.event(EventKind::Title, placed, step, |event| event.text = Some(name));
            }
            Body::Titled { title, by_person } => {
                self.titled(title.as_ref(), *by_person, placed.above.clone(), step);
            }
            Body::Label { label, json } => self.event(EventKind::Label, placed, step, |event| {
                event.text = label.clone();
                event.json = Some(json.clone()).filter(|json| json.as_str().len() <= EVENT_JSON_BYTES);
            }),
            Body::Usage { model, usage } => self.extra_call(usage.as_ref(), model.clone(), step),
            Body::Leaf { .. } if self.dialect.leaf_entries => {}
            Body::Leaf { .. } => self.unknown("leaf", step),
            Body::State { kind, json } => {
                self.event(EventKind::Other(Text::from(*kind)), placed, step, |event| {
                    event.json = Some(json.clone()).filter(|json| json.as_str().len() <= EVENT_JSON_BYTES);
                });
            }
            Body::Unknown(kind) => self.unknown(kind, step),
            Body::Header(_) => {}
        }
    }

    /// A title of Oh My Pi, which keeps the one in force before the header.
    fn titled(
        &mut self,
        title: Option<&Text>,
        by_person: bool,
        after: Option<MessageId>,
        step: &mut Step<'_>,
    ) {
        let Some(title) = title.filter(|title| !title.is_blank()) else { return };
        self.has_title |= self.tree.len() == 0;
        let origin = if by_person { TitleOrigin::Person } else { TitleOrigin::Generated };
        self.fact(step, || Fact::Title(title.clone(), origin));
        self.event_after(EventKind::Title, after, step, |event| event.text = Some(title.clone()));
    }

    fn unknown(&mut self, kind: &str, step: &mut Step<'_>) {
        self.summary.known -= 1;
        self.summary.strange += 1;
        // The type comes from the file, and so may be anything.
        let shown: String = kind.chars().filter(|c| !c.is_control()).take(40).collect();
        step.find(FindingKind::UnknownRecord, format!("an entry of type \"{shown}\""));
    }

    fn said(&mut self, said: &Said, placed: &Placed, step: &mut Step<'_>) {
        match said.role.as_deref().unwrap_or_default() {
            "user" => {
                self.summary.turns += 1;
                let origin = match (self.dialect.origin)(said) {
                    Origin::Person if self.of_subagent => Origin::Agent,
                    origin => origin,
                };
                if origin == Origin::Person && !self.has_preview {
                    self.preview(said, step);
                }
                self.message(Role::User, origin, placed, step, || content::blocks(said));
            }
            "assistant" => self.assistant(said, placed, step),
            "toolResult" => {
                self.summary.turns += 1;
                let has_call = said.tool_call_id.is_some();
                if !has_call {
                    step.find(FindingKind::MalformedRecord, "a tool result names no call");
                }
                self.message(Role::User, Origin::Tools, placed, step, || match content::result(said) {
                    Some(result) => vec![Block::ToolResult(result)],
                    None => content::blocks(said),
                });
                // What the tool itself asked of a model (1.6.0).
                self.extra_call(said.usage.as_ref(), None, step);
            }
            "system" => {
                self.message(Role::System, Origin::Harness, placed, step, || content::system_blocks(said));
            }
            "custom" | "hookMessage" => {
                self.message(Role::User, Origin::Harness, placed, step, || content::blocks(said));
            }
            "branchSummary" => {
                let summary = said.summary.clone().unwrap_or_default();
                self.message(Role::User, Origin::Model, placed, step, || vec![Block::text(summary)]);
            }
            "compactionSummary" => {
                let compacted = Compacted {
                    summary: said.summary.clone(),
                    tokens_before: said.tokens_before,
                    ..Compacted::default()
                };
                self.compaction(&compacted, placed, step);
            }
            // A person ran a command, and the harness showed it with its output to the model, on
            // the user's side. It is neither something that the person said nor a call by the
            // model, so it counts as neither: it is what a tool gave back, without a call.
            "bashExecution" if !said.exclude_from_context => {
                self.message(Role::User, Origin::Tools, placed, step, || {
                    vec![Block::text(content::ran(said))]
                });
            }
            // The model never saw this one.
            "bashExecution" => {
                self.event(EventKind::Other("bashExecution".into()), placed, step, |event| {
                    event.text = Some(content::ran(said));
                });
            }
            role => {
                self.summary.known -= 1;
                self.summary.strange += 1;
                let shown: String = role.chars().filter(|c| !c.is_control()).take(40).collect();
                step.find(FindingKind::UnknownRecord, format!("a message of role \"{shown}\""));
            }
        }
    }

    fn assistant(&mut self, said: &Said, placed: &Placed, step: &mut Step<'_>) {
        self.summary.turns += 1;
        let model = said.model.clone().filter(|model| !model.is_blank());
        if let Some(model) = &model {
            self.fact(step, || Fact::Model(model.clone()));
        }
        // One entry is one call. An id that comes again is another call all the same: stand-ins
        // and proxies hand out the same id every time.
        let api_id = said.response_id.clone().filter(|id| self.responses.insert(Text::from(id.as_str())));
        if let Some(mut message) =
            self.new_message(Role::Assistant, Origin::Model, placed, step, || content::blocks(said))
        {
            message.model.clone_from(&model);
            message.api_id.clone_from(&api_id);
            message.stop = said.stop_reason.as_ref().map(content::stop_reason);
            (step.sink)(ScanEvent::Message(message));
        }
        if let Some(usage) = said.usage.as_ref().filter(|_| self.wants.usage).and_then(content::usage) {
            (step.sink)(ScanEvent::Call(ModelCall {
                api_id,
                request_id: None,
                message: Some(placed.id.clone()),
                model,
                at: step.at,
                usage,
                inherited: step.inherited,
                sources: vec![step.place.source()],
            }));
        }
        if let Some(error) = said.error_message.as_ref().filter(|error| !error.is_blank()) {
            let after = placed.id.clone();
            self.event_after(EventKind::Error, Some(after), step, |event| event.text = Some(error.clone()));
        }
    }

    /// A model call that is no assistant message: of a summary, or beside the conversation.
    fn extra_call(&mut self, usage: Option<&Text>, model: Option<Text>, step: &mut Step<'_>) {
        if let Some(usage) = usage.filter(|_| self.wants.usage).and_then(content::usage) {
            (step.sink)(ScanEvent::Call(ModelCall {
                api_id: None,
                request_id: None,
                message: None,
                model,
                at: step.at,
                usage,
                inherited: step.inherited,
                sources: vec![step.place.source()],
            }));
        }
    }

    fn compaction(&mut self, compacted: &Compacted, placed: &Placed, step: &mut Step<'_>) {
        self.extra_call(compacted.usage.as_ref(), None, step);
        let kept = match (&compacted.first_kept, compacted.first_kept_index) {
            (Some(id), _) => self.tree.find(id),
            (None, Some(index)) if self.linear => usize::try_from(index).ok(),
            _ => None,
        };
        if compacted.first_kept.is_some() && kept.is_none() {
            step.find(FindingKind::MalformedRecord, "firstKeptEntryId names no earlier entry");
        }
        if !self.wants.metadata {
            return;
        }
        let first_kept = kept.and_then(|kept| self.tree.first_from(kept, placed.node));
        (step.sink)(ScanEvent::Compaction(Compaction {
            after: placed.above.clone(),
            summary: None,
            text: compacted.summary.clone(),
            first_kept,
            trigger: None,
            tokens_before: compacted.tokens_before,
            at: step.at,
            sources: vec![step.place.source()],
        }));
    }

    fn preview(&mut self, said: &Said, step: &mut Step<'_>) {
        let blocks = content::blocks(said);
        let text = blocks.iter().find_map(|block| match block {
            Block::Text(text) if !text.text.is_blank() => Some(text.text.clone()),
            _ => None,
        });
        if let Some(text) = text {
            self.has_preview = true;
            self.fact(step, || Fact::Preview(text));
        }
    }

    fn fact(&self, step: &mut Step<'_>, fact: impl FnOnce() -> Fact) {
        if self.wants.metadata {
            (step.sink)(ScanEvent::Fact(fact()));
        }
    }

    fn message(
        &self,
        role: Role,
        origin: Origin,
        placed: &Placed,
        step: &mut Step<'_>,
        blocks: impl FnOnce() -> Vec<Block>,
    ) {
        if let Some(message) = self.new_message(role, origin, placed, step, blocks) {
            (step.sink)(ScanEvent::Message(message));
        }
    }

    /// The message, with those of its blocks that are wanted; none when none of them is.
    fn new_message(
        &self,
        role: Role,
        origin: Origin,
        placed: &Placed,
        step: &Step<'_>,
        blocks: impl FnOnce() -> Vec<Block>,
    ) -> Option<Message> {
        if !self.wants.text && !self.wants.tools {
            return None;
        }
        let mut blocks = blocks();
        if !(self.wants.text && self.wants.tools) {
            let had_some = !blocks.is_empty();
            blocks.retain(|block| match block {
                Block::ToolUse(_) | Block::ToolResult(_) => self.wants.tools,
                _ => self.wants.text,
            });
            if had_some && blocks.is_empty() {
                return None;
            }
        }
        let mut message = Message::new(placed.id.clone(), role, origin);
        message.parent.clone_from(&placed.above);
        message.at = step.at;
        if (role, origin) == (Role::User, Origin::Person) {
            message.turn = Some(placed.id.to_string().into());
        }
        message.inherited = step.inherited;
        message.blocks = blocks;
        message.sources = vec![step.place.source()];
        Some(message)
    }

    fn event(&self, kind: EventKind, placed: &Placed, step: &mut Step<'_>, fill: impl FnOnce(&mut Event)) {
        self.event_after(kind, placed.above.clone(), step, fill);
    }

    fn event_after(
        &self,
        kind: EventKind,
        after: Option<MessageId>,
        step: &mut Step<'_>,
        fill: impl FnOnce(&mut Event),
    ) {
        if !self.wants.metadata {
            return;
        }
        let sources = vec![step.place.source()];
        let mut event = Event { kind, at: step.at, after, text: None, json: None, sources };
        fill(&mut event);
        (step.sink)(ScanEvent::Event(event));
    }
}

impl Step<'_> {
    fn find(&mut self, kind: FindingKind, detail: impl Into<Text>) {
        (self.sink)(ScanEvent::Finding(self.place.finding(kind, detail)));
    }
}

/// Whether an entry is a message of the common session.
fn is_message(body: &Body) -> bool {
    match body {
        Body::Message(said) => match said.role.as_deref().unwrap_or_default() {
            "user" | "assistant" | "toolResult" | "system" | "custom" | "hookMessage" | "branchSummary" => {
                true
            }
            "bashExecution" => !said.exclude_from_context,
            _ => false,
        },
        Body::Injected { .. } => true,
        Body::BranchSummary { summary, .. } => summary.is_some(),
        _ => false,
    }
}
