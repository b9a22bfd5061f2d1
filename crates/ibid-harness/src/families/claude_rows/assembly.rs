//! From rows to a conversation.
//!
//! Rows come in the order of the file. What belongs together is told by their ids: the rows of
//! one API message are one message, a row that comes again is the same message, and the parents
//! make the tree ([`super::tree`]), through rows that hold no message.

use std::sync::Arc;

use ibid_carrier::jsonl::Item;
use ibid_model::{
    Block, CallId, Event, FindingKind, Message, MessageId, Meta, ModelCall, Origin, Role, Text,
};

use super::recent::Ambient;
use super::record::{Boundary, EventRow, Parent, Record, TitleRow, Turn, What};
use super::tally::{Place, Tally};
use super::unnamed::Unnamed;
use super::{Map, Set};
use crate::core::scan::CallLedger;

/// More sessions and subagents than this are not told apart in one file.
pub(super) const NAMES: usize = 64;

/// The row before a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum NodeParent {
    /// The row does not say.
    Unsaid,
    /// It is the first of a tree.
    Root,
    /// The row of this node; mostly the one before it in the file, which saves a look into a map.
    Node(usize),
    /// The row with this id.
    Row(Text),
}

/// Room is made at once for at most this many rows.
const ROOM: usize = 1 << 19;

/// Lists up to this length have no spare room.
const SHORT: usize = 8;

/// One row of the tree.
#[derive(Clone, Debug)]
pub(super) struct Node {
    /// The message it is a part of.
    pub(super) message: Option<usize>,
    /// The row before it.
    pub(super) parent: NodeParent,
    /// The message before it in the file, on the same side.
    pub(super) previous: Option<usize>,
    /// Which blocks of the message are its own.
    blocks: (usize, usize),
    /// Where it stands.
    pub(super) place: Place,
}

/// A compaction, before its ends are known as messages.
#[derive(Debug)]
pub(super) struct OpenCompaction {
    pub(super) node: usize,
    pub(super) boundary: Option<Box<Boundary>>,
    pub(super) summary: Option<usize>,
    pub(super) at: Option<ibid_model::Timestamp>,
}

/// The conversation as far as it was read.
#[derive(Debug, Default)]
pub(crate) struct Assembly {
    pub(super) messages: Vec<Message>,
    pub(super) nodes: Vec<Node>,
    /// The first row of each message.
    pub(super) first_nodes: Vec<usize>,
    pub(super) by_uuid: Map<Text, usize>,
    /// The last new row with an id.
    last_uuid: Option<(Text, usize)>,
    by_api_id: Map<Text, usize>,
    results: Map<CallId, usize>,
    unnamed: Unnamed,
    /// The last message of the main conversation, and of those beside it.
    last: [Option<usize>; 2],
    /// The API message that is being written, on either side.
    pub(super) open: [Option<usize>; 2],
    pub(super) compactions: Vec<OpenCompaction>,
    /// The rows that begin a compacted history, with the last row of the old one.
    pub(super) boundaries: Map<usize, Option<Text>>,
    /// The first message of the main conversation that has the id of its request.
    pub(super) first_request: Option<usize>,
    pub(super) leaf: Option<Text>,
    pub(super) ledger: CallLedger,
    pub(super) events: Vec<Event>,
    pub(super) meta: Meta,
    pub(super) summaries: Vec<TitleRow>,
    /// The model that wrote last in the main conversation, and of all.
    pub(super) models: [Option<Text>; 2],
    /// Rows that are in the file and were not taken.
    pub(super) elsewhere: Set<Text>,
    pub(super) sessions: Vec<(Text, u64)>,
    /// What the last row named, and which of the sessions that is.
    pub(super) ambient: Option<Arc<Ambient>>,
    pub(super) session_at: Option<usize>,
    pub(super) agents: Vec<Text>,
    pub(super) copied_from: Option<(Text, usize)>,
    pub(super) tally: Tally,
    /// Whether any row names a parent.
    pub(super) names_parents: bool,
    /// Rows of kinds that only this program writes, and rows of other kinds.
    pub(super) own_rows: u64,
    pub(super) foreign_rows: u64,
    pub(super) foreign_turns: u64,
    /// The first row that says what is before it: where it stands, and the parent it names.
    pub(super) first_chained: Option<Parent>,
}

impl Assembly {
    /// Makes room for about `rows` rows, within reason: the number is an estimate from the file.
    pub(super) fn reserve(&mut self, rows: usize) {
        let rows = rows.min(ROOM);
        self.nodes.reserve(rows);
        self.first_nodes.reserve(rows);
        self.messages.reserve(rows);
        self.by_uuid.reserve(rows);
    }

    /// Takes the rows of a part of the file that begins at byte `start`.
    pub(super) fn take_all(&mut self, start: u64, rows: Vec<Item<Record>>) {
        for item in rows {
            let place = Place { line: item.line, start: start + item.start, end: start + item.end };
            self.take(place, item.value);
        }
    }

    /// Takes the next row.
    pub(crate) fn take(&mut self, place: Place, record: Record) {
        self.facts(place, &record);
        let side = usize::from(record.sidechain);
        let node = self.node(place, &record, side);
        let Record { uuid, at, ambient, sidechain, what, .. } = record;
        match what {
            What::Turn(mut turn) => {
                let copied_from = turn.copied_from.take();
                let cwd = ambient.cwd.clone();
                let row = RowOfTurn { node, uuid, at, cwd, sidechain, place };
                self.turn(row, *turn);
                if let (Some(parent), Some(at)) = (copied_from, self.last.get(side).copied().flatten()) {
                    self.copied_from = Some((parent, at));
                }
            }
            What::Boundary(boundary) => {
                self.boundaries.insert(node, boundary.after.clone());
                let open = OpenCompaction { node, boundary: Some(boundary), summary: None, at };
                self.compactions.push(open);
            }
            What::Title(title) => {
                match title.leaf {
                    Some(_) => self.summaries.push((*title).clone()),
                    None => self.meta.offer_title(&title.text, title.origin),
                }
                self.event(
                    place,
                    at,
                    EventRow { kind: ibid_model::EventKind::Title, text: Some(title.text), json: None },
                );
            }
            What::Leaf(leaf) => self.leaf = Some(leaf),
            What::Event(event) => self.event(place, at, *event),
            What::Malformed => {
                self.tally.add(
                    FindingKind::MalformedRecord,
                    "a message without content that can be read",
                    place,
                );
            }
            What::Unknown(kind) => {
                self.tally.add(FindingKind::UnknownRecord, format!("rows of type {kind:?}"), place);
            }
            What::Kindless => {
                self.tally.add(FindingKind::UnknownRecord, "rows without a type", place);
            }
            What::Known => {}
        }
    }

    /// The row in the tree; a row without an id has a node of its own.
    fn node(&mut self, place: Place, record: &Record, side: usize) -> usize {
        if record.uuid.is_some() && record.parent != Parent::Unsaid && self.first_chained.is_none() {
            self.first_chained = Some(record.parent.clone());
        }
        self.names_parents |= matches!(record.parent, Parent::Row(_));
        if let Some(uuid) = &record.uuid
            && let Some(at) = self.by_uuid.get(uuid).copied()
        {
            let known = self.nodes.get(at).is_some_and(|node| node.message.is_some() || !record.is_turn());
            if known {
                self.tally.add(FindingKind::RepeatedId, "rows with the uuid of an earlier row", place);
            }
            return at;
        }
        let at = self.nodes.len();
        let parent = match &record.parent {
            Parent::Unsaid => NodeParent::Unsaid,
            Parent::Root => NodeParent::Root,
            Parent::Row(parent) => match &self.last_uuid {
                Some((last, node)) if last == parent => NodeParent::Node(*node),
                _ => NodeParent::Row(parent.clone()),
            },
        };
        self.nodes.push(Node {
            message: None,
            parent,
            previous: self.last.get(side).copied().flatten(),
            blocks: (0, 0),
            place,
        });
        if let Some(uuid) = &record.uuid {
            self.by_uuid.insert(uuid.clone(), at);
            self.last_uuid = Some((uuid.clone(), at));
        }
        at
    }

    fn turn(&mut self, mut row: RowOfTurn, mut turn: Turn) {
        self.unnamed.name(&mut turn.blocks);
        let known = self.nodes.get(row.node).and_then(|node| node.message);
        let same_role = |at: &usize| self.messages.get(*at).is_some_and(|message| message.role == turn.role);
        let repeated = known.filter(same_role);
        if known.is_some() && repeated.is_none() {
            // Two rows that say different things under one id are two messages.
            row.node = self.own_node(&row);
            row.uuid = None;
        }
        let joined = turn.api_id.as_ref().and_then(|id| self.answer(id, usize::from(row.sidechain)));
        let at = match (repeated, joined) {
            (Some(at), _) => {
                self.replace(row.node, at, &mut turn);
                at
            }
            (None, Some(at)) => {
                self.extend(&row, at, &mut turn);
                at
            }
            (None, None) => match self.replayed_results(&turn) {
                Some(at) => {
                    self.tally.add(FindingKind::RepeatedId, "results that the file holds already", row.place);
                    at
                }
                None => self.begin(&row, &mut turn),
            },
        };
        if let Some(node) = self.nodes.get_mut(row.node) {
            node.message = Some(at);
        }
        if let Some(message) = self.messages.get_mut(at) {
            push(&mut message.sources, row.place.source());
            if turn.stop.is_some() {
                message.stop = turn.stop;
            }
        }
        let side = usize::from(row.sidechain);
        if let Some(last) = self.last.get_mut(side) {
            *last = Some(at);
        }
        if turn.request_id.is_some() && self.first_request.is_none() && !row.sidechain {
            self.first_request = Some(at);
        }
        self.call(at, &row, turn.api_id, turn.model, turn.request_id, turn.usage);
    }

    /// The message that has this id of the provider; mostly the one that is being written.
    fn answer(&self, api_id: &Text, side: usize) -> Option<usize> {
        let open = self.open.get(side).copied().flatten();
        let is_open = |at: &usize| self.messages.get(*at).is_some_and(|m| m.api_id.as_ref() == Some(api_id));
        open.filter(is_open).or_else(|| self.by_api_id.get(api_id).copied())
    }

    /// A node for a row whose id is taken.
    fn own_node(&mut self, row: &RowOfTurn) -> usize {
        let at = self.nodes.len();
        let Some(taken) = self.nodes.get(row.node) else { return at };
        let mut node = taken.clone();
        (node.message, node.blocks, node.place) = (None, (0, 0), row.place);
        node.previous = self.last.get(usize::from(row.sidechain)).copied().flatten();
        self.nodes.push(node);
        at
    }

    /// Adds the model call that a row mentions.
    fn call(
        &mut self,
        at: usize,
        row: &RowOfTurn,
        api_id: Option<Text>,
        model: Option<Text>,
        request_id: Option<Text>,
        usage: Option<ibid_model::Usage>,
    ) {
        let Some(usage) = usage else { return };
        self.ledger.take(ModelCall {
            api_id,
            request_id,
            message: self.messages.get(at).map(|message| message.id.clone()),
            model,
            at: row.at,
            usage,
            inherited: false,
            sources: vec![row.place.source()],
        });
    }

    /// A row that comes again: its content counts, at the place of the first one.
    fn replace(&mut self, node: usize, at: usize, turn: &mut Turn) {
        let (Some(node), Some(message)) = (self.nodes.get_mut(node), self.messages.get_mut(at)) else {
            return;
        };
        let (start, end) = node.blocks;
        let last = end == message.blocks.len();
        let mut blocks = std::mem::take(&mut turn.blocks);
        let Some(old) = message.blocks.get(start..end) else { return };
        // A call that was made is not unmade by a later row.
        let lost = old.iter().filter(|old| match old {
            Block::ToolUse(_) | Block::ToolResult(_) => !blocks.iter().any(|new| same_call(old, new)),
            _ => false,
        });
        let lost: Vec<Block> = lost.cloned().collect();
        blocks.extend(lost);
        if last || blocks.len() == end - start {
            node.blocks = (start, start + blocks.len());
            message.blocks.splice(start..end, blocks);
            message.origin = turn.origin;
        }
    }

    /// A further row of an API message.
    fn extend(&mut self, row: &RowOfTurn, at: usize, turn: &mut Turn) {
        let side = usize::from(row.sidechain);
        let is_open = self.open.get(side).copied().flatten() == Some(at);
        let Some(message) = self.messages.get_mut(at) else { return };
        let start = message.blocks.len();
        for block in std::mem::take(&mut turn.blocks) {
            // A compaction or a resume can write rows again under new ids, after other messages.
            let known = match &block {
                Block::ToolUse(call) => message
                    .blocks
                    .iter()
                    .any(|known| matches!(known, Block::ToolUse(known) if known.id == call.id)),
                block => !is_open && message.blocks.contains(block),
            };
            if !known {
                push(&mut message.blocks, block);
            }
        }
        if turn.model.is_some() {
            message.model.clone_from(&turn.model);
        }
        let end = message.blocks.len();
        if let Some(node) = self.nodes.get_mut(row.node) {
            node.blocks = (start, end);
        }
    }

    /// The message that holds these results already: another row of it, under a new id.
    fn replayed_results(&self, turn: &Turn) -> Option<usize> {
        if turn.origin != Origin::Tools {
            return None;
        }
        let mut place = None;
        for block in &turn.blocks {
            let Block::ToolResult(result) = block else { return None };
            let at = *self.results.get(&result.call)?;
            let message = self.messages.get(at)?;
            let same = message.blocks.iter().any(|known| {
                matches!(known, Block::ToolResult(known) if known.call == result.call && known.content == result.content)
            });
            if !same || place.is_some_and(|place| place != at) {
                return None;
            }
            place = Some(at);
        }
        place
    }

    fn begin(&mut self, row: &RowOfTurn, turn: &mut Turn) -> usize {
        let at = self.messages.len();
        let id = match &row.uuid {
            Some(uuid) => MessageId::from(uuid.clone()),
            None => MessageId::from(format!("at-{}", row.place.start)),
        };
        let mut message = Message::new(id, turn.role, turn.origin);
        message.at = row.at;
        message.model = turn.model.clone();
        message.turn = turn.prompt.take();
        message.api_id.clone_from(&turn.api_id);
        message.cwd.clone_from(&row.cwd);
        message.sidechain = row.sidechain;
        message.blocks = std::mem::take(&mut turn.blocks);
        if self.meta.preview.is_none() && message.is_prompt() {
            for text in message.texts() {
                self.meta.offer_preview(&text.to_str());
            }
        }
        for block in &message.blocks {
            if let Block::ToolResult(result) = block {
                self.results.entry(result.call.clone()).or_insert(at);
            }
        }
        if turn.origin == Origin::Summary {
            self.summary(row, at);
        }
        if let Some(node) = self.nodes.get_mut(row.node) {
            node.blocks = (0, message.blocks.len());
        }
        let side = usize::from(row.sidechain);
        if let Some(api_id) = &turn.api_id {
            self.by_api_id.insert(api_id.clone(), at);
        }
        if turn.role == Role::Assistant
            && let Some(open) = self.open.get_mut(side)
        {
            *open = Some(at);
        }
        self.messages.push(message);
        self.first_nodes.push(row.node);
        at
    }

    /// Joins a summary to the boundary before it. Without one, a summary at the root of a tree is
    /// a compaction too; one in the middle of a chain is not (the program then sends everything).
    fn summary(&mut self, row: &RowOfTurn, at: usize) {
        if let Some(open) = self.compactions.last_mut()
            && open.summary.is_none()
            && open.boundary.is_some()
        {
            open.summary = Some(at);
            return;
        }
        if self.nodes.get(row.node).is_some_and(|node| node.parent == NodeParent::Root) {
            self.boundaries.insert(row.node, None);
            let open = OpenCompaction { node: row.node, boundary: None, summary: Some(at), at: row.at };
            self.compactions.push(open);
        }
    }

    fn event(&mut self, place: Place, at: Option<ibid_model::Timestamp>, row: EventRow) {
        let after = self.last.first().copied().flatten().and_then(|at| self.messages.get(at));
        self.events.push(Event {
            kind: row.kind,
            at,
            after: after.map(|message| message.id.clone()),
            text: row.text,
            json: row.json,
            sources: vec![place.source()],
        });
    }

    /// Gives back what only joining rows needs.
    pub(super) fn forget_joins(&mut self) {
        self.by_api_id = Map::default();
        self.results = Map::default();
        self.ambient = None;
    }

    /// Whether a row of this id is in the file.
    pub(super) fn has_row(&self, uuid: &Text) -> bool {
        self.by_uuid.contains_key(uuid) || self.elsewhere.contains(uuid)
    }
}

/// Adds to a list that mostly stays short, without room for more than it holds.
fn push<T>(list: &mut Vec<T>, item: T) {
    if list.len() < SHORT {
        list.reserve_exact(1);
    }
    list.push(item);
}

/// Whether two blocks are the same call, or results of the same call.
fn same_call(a: &Block, b: &Block) -> bool {
    match (a, b) {
        (Block::ToolUse(a), Block::ToolUse(b)) => a.id == b.id,
        (Block::ToolResult(a), Block::ToolResult(b)) => a.call == b.call,
        _ => false,
    }
}

/// What a row says about the message it is a part of.
struct RowOfTurn {
    node: usize,
    uuid: Option<Text>,
    at: Option<ibid_model::Timestamp>,
    cwd: Option<Text>,
    sidechain: bool,
    place: Place,
}
