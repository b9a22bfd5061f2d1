//! The rows of a session as one common session.
//!
//! Rows are a tree; those of type `system` stand in it too, so a message hangs from the nearest
//! message above it. As the program itself reads a session (0.24.4): the live branch ends at the last
//! row that is no artifact, a `rewind` hangs from the row before the turn it goes back to, and rows
//! with one `uuid` are pieces of one message.

use std::collections::{HashMap, HashSet, VecDeque};

use ibid_carrier::jsonl::Item;
use ibid_model::{
    Block, Compaction, Event, EventKind, Finding, FindingKind, Json, Lineage, Message, MessageId, ModelCall,
    Origin, Relation, Role, Session, SessionId, Source, Text, Timestamp, TitleOrigin,
};

use super::agent::AgentNote;
use super::content;
use super::records::{Kind, Part, Row, Telemetry};
use super::spending::Spending;
use super::{DECLARATION, TRANSCRIPT};
use crate::core::{CodecError, Common};
use crate::families::fields::Recorded;
use crate::families::files::FilesBody;
use crate::families::pi_tree::{Oddity, Placed, Tree};

/// The largest record that an event carries whole, in bytes.
const EVENT_JSON_BYTES: usize = 4096;

/// Reads a session.
///
/// # Errors
/// When no line of it is a row of such a session.
pub(super) fn read(id: &SessionId, body: &FilesBody) -> Result<Common, CodecError> {
    let foreign = |reason: &str| CodecError::Foreign { harness: DECLARATION.name, reason: reason.to_owned() };
    let Some((carrier, file)) = body.file(TRANSCRIPT) else { return Err(foreign("it has no transcript")) };
    let records = file.document.read_records(Row::read);
    let known = records.items.iter().any(|item| item.value.kind != Kind::Unknown);
    if !known && (!records.items.is_empty() || !records.findings.is_empty() || file.path.is_none()) {
        return Err(foreign("none of its lines is a row of a known type"));
    }
    let mut session = Session::new(DECLARATION.id.as_str(), id.clone());
    session.carriers = body.infos();
    session.meta.archived = body.path().is_some_and(super::store::is_archived);
    let mut reader = Reader::new(session, carrier);
    reader.findings.extend_from_slice(file.document.findings());
    reader.findings.extend(records.findings);
    for item in &records.items {
        reader.take(item);
    }
    let mut common = reader.finish(&AgentNote::of(body), file.written());
    if let Some(path) = body.path() {
        for finding in common.findings.iter_mut().filter(|finding| finding.path.is_none()) {
            *finding = finding.clone().at_path(path);
        }
    }
    Ok(common)
}

struct Reader {
    session: Session,
    findings: Vec<Finding>,
    counted: HashMap<(FindingKind, &'static str), usize>,
    carrier: u32,
    tree: Tree,
    /// The messages by id, with the digest of the last row that made them.
    messages: HashMap<MessageId, (usize, u64)>,
    /// Calls that have no result, by name, for results that name no call.
    open: HashMap<Text, VecDeque<Text>>,
    /// The node that the live branch ends at.
    leaf: Option<usize>,
    /// Titles, with their nodes.
    titles: Vec<(usize, Text, TitleOrigin)>,
    agent: Option<(Text, Option<Text>)>,
    /// The session that rows of a subagent belong to.
    owner: Option<Text>,
    spending: Spending,
}

/// One row on its way through the reader.
struct Step<'a> {
    row: &'a Row,
    at: Option<Timestamp>,
    source: Source,
    line: u64,
    placed: Placed,
}

impl Reader {
    fn new(session: Session, carrier: u32) -> Reader {
        Reader {
            session,
            findings: Vec::new(),
            counted: HashMap::new(),
            carrier,
            tree: Tree::default(),
            messages: HashMap::new(),
            open: HashMap::new(),
            leaf: None,
            titles: Vec::new(),
            agent: None,
            owner: None,
            spending: Spending::default(),
        }
    }

    fn take(&mut self, item: &Item<Row>) {
        let row = &item.value;
        let source = Source::bytes(self.carrier, item.start, item.end);
        let placed = self.tree.push(row.uuid.as_ref(), &row.parent, false, row.kind.is_message());
        let step = Step { row, at: row.recorded.time(), source, line: item.line, placed };
        self.facts(&step);
        match step.placed.oddity {
            Some(Oddity::MissingParent) => {
                self.find(&step, FindingKind::DanglingParent, "parentUuid names no earlier row");
            }
            Some(Oddity::Renamed) => {
                self.find(&step, FindingKind::RepeatedId, "an earlier row of another type has this uuid");
            }
            _ => {}
        }
        match row.kind {
            Kind::User => self.said(&step),
            Kind::Assistant => self.answered(&step),
            Kind::ToolResult => self.ended(&step),
            Kind::System => self.noted(&step),
            Kind::Unknown => {
                self.find(&step, FindingKind::UnknownRecord, "a row of a type that is not known")
            }
        }
        if ends_branch(row) {
            self.leaf = Some(step.placed.node);
        }
    }

    fn facts(&mut self, step: &Step<'_>) {
        let (row, meta) = (step.row, &mut self.session.meta);
        if let Some(at) = step.at {
            meta.stamp(at);
        }
        meta.cwd = meta.cwd.take().or_else(|| row.cwd.clone());
        meta.version = meta.version.take().or_else(|| row.version.clone());
        meta.git_branch = meta.git_branch.take().or_else(|| row.branch.clone());
        if let Some(model) = row.model.as_ref().filter(|_| row.kind == Kind::Assistant) {
            meta.model = Some(model.clone());
        }
        if let (None, Some(agent)) = (&self.agent, &row.agent) {
            self.agent = Some((agent.clone(), row.agent_name.clone()));
            self.owner.clone_from(&row.session);
        }
        if let Some(parent) = &row.forked_from {
            let known = self.session.lineage.iter().any(|lineage| lineage.relation == Relation::Forked);
            if !known {
                self.session.lineage.push(Lineage::to(Relation::Forked, SessionId::from(parent.clone())));
            }
        }
        if row.recorded == Recorded::Unreadable {
            self.find(step, FindingKind::UnreadableTime, "the timestamp is no time with a zone");
        }
    }

    fn said(&mut self, step: &Step<'_>) {
        let row = step.row;
        let origin = match row.subtype.as_deref() {
            _ if row.agent.is_some() => Origin::Agent,
            Some("notification") if is_notification(row) => Origin::Agent,
            None | Some("mid_turn_user_message" | "realtime_message")
                if row.provenance.as_deref().is_none_or(|made| made == "real_user") =>
            {
                Origin::Person
            }
            _ => Origin::Harness,
        };
        let mut blocks = Vec::with_capacity(row.parts.len());
        let mut injected: Vec<Text> = Vec::new();
        let mut in_files = false;
        for part in &row.parts {
            if let (Part::Text(text), Origin::Person) = (part, origin) {
                let trimmed = text.to_str().trim().to_owned();
                in_files |= trimmed == content::FILES_BEGIN && !blocks.is_empty();
                if in_files || content::is_injected(text) {
                    in_files &= trimmed != content::FILES_END;
                    injected.push(text.clone());
                    continue;
                }
            }
            blocks.push(content::block(part));
        }
        if blocks.is_empty() && !injected.is_empty() {
            let blocks = injected.into_iter().map(Block::text).collect();
            self.say(Role::User, Origin::Harness, blocks, step);
            return;
        }
        if origin == Origin::Person
            && let Some(text) = blocks.iter().find_map(|block| match block {
                Block::Text(text) if !text.text.is_blank() => Some(text.text.clone()),
                _ => None,
            })
        {
            self.session.meta.offer_preview(&text);
        }
        self.say(Role::User, origin, blocks, step);
        // What the harness added to a prompt is no part of what the person said; the model saw it.
        if !injected.is_empty() {
            let text = injected.iter().map(Text::as_str).collect::<Vec<_>>().join("\n");
            self.happened(EventKind::Attachment, Some(Text::from(text)), None, step);
        }
    }

    fn answered(&mut self, step: &Step<'_>) {
        let row = step.row;
        let mut blocks = Vec::with_capacity(row.parts.len());
        for (number, part) in row.parts.iter().enumerate() {
            match part {
                Part::Call { id, name, args } => {
                    let id = id.clone().unwrap_or_else(|| Text::from(format!("{}-{number}", step.placed.id)));
                    let own = Text::from(name.as_str());
                    self.open.entry(own).or_default().push_back(Text::from(id.as_str()));
                    blocks.push(Block::ToolUse(content::call(id, name, args.as_ref())));
                }
                Part::Text(text) if text.is_empty() => {}
                other => blocks.push(content::block(other)),
            }
        }
        self.say(Role::Assistant, Origin::Model, blocks, step);
        if let Some(tokens) = &row.tokens {
            self.spending.answer(
                ModelCall {
                    api_id: None,
                    request_id: None,
                    message: Some(step.placed.id.clone()),
                    model: row.model.clone(),
                    at: step.at,
                    usage: content::usage(tokens),
                    inherited: row.forked_from.is_some(),
                    sources: vec![step.source.clone()],
                },
                *tokens,
            );
        }
    }

    fn ended(&mut self, step: &Step<'_>) {
        let row = step.row;
        let mut blocks: Vec<Block> = Vec::with_capacity(row.parts.len());
        for part in &row.parts {
            match (part, blocks.last_mut()) {
                (Part::Response(response), _) => {
                    // The note of how it ended is about the call that it names.
                    let noted = Some(&row.result).filter(|ended| {
                        ended.call.is_none() || response.id.is_none() || ended.call == response.id
                    });
                    let by_name = || response.name.as_ref().and_then(|name| self.oldest_open(name));
                    let id = response.id.clone().or_else(|| row.result.call.clone()).or_else(by_name);
                    let Some(id) = id else {
                        self.find(step, FindingKind::MalformedRecord, "a tool result names no call");
                        blocks.push(content::block(part));
                        continue;
                    };
                    if let Some(open) =
                        response.name.as_ref().and_then(|name| self.open.get_mut(name.as_str()))
                    {
                        // Results mostly come in the order of their calls.
                        if let Some(at) = open.iter().take(64).position(|open| *open == id) {
                            open.remove(at);
                        }
                    }
                    blocks.push(Block::ToolResult(content::result(id, Some(response), noted)));
                }
                // What stands behind a response belongs to it: the picture that was read.
                (other, Some(Block::ToolResult(result))) => result.content.push(content::part(other)),
                (other, _) => blocks.push(content::block(other)),
            }
        }
        let has_result = blocks.iter().any(|block| matches!(block, Block::ToolResult(_)));
        if let Some(call) = row.result.call.clone().filter(|_| !has_result) {
            blocks.insert(0, Block::ToolResult(content::result(call, None, Some(&row.result))));
        }
        self.say(Role::User, Origin::Tools, blocks, step);
    }

    fn oldest_open(&self, name: &Text) -> Option<Text> {
        self.open.get(name.as_str())?.front().cloned()
    }

    fn noted(&mut self, step: &Step<'_>) {
        let system = &step.row.system;
        let subtype = step.row.subtype.clone().unwrap_or_else(|| "system".into());
        match subtype.as_str() {
            "custom_title" => {
                let origin =
                    if system.title_by_person { TitleOrigin::Person } else { TitleOrigin::Generated };
                self.titles.extend(system.title.clone().map(|title| (step.placed.node, title, origin)));
                self.happened(EventKind::Title, system.title.clone(), Some(&step.row.whole), step);
            }
            "parent_session" => {
                let lineage = system.parent_session.clone();
                let lineage = lineage.map(|parent| Lineage::to(Relation::Spawned, SessionId::from(parent)));
                self.session.lineage.extend(lineage);
                self.happened(EventKind::Other(subtype), None, Some(&step.row.whole), step);
            }
            "chat_compression" if system.replaced => self.session.compactions.push(Compaction {
                after: step.placed.above.clone(),
                summary: None,
                text: system.compressed.clone().filter(|text| !text.is_blank()),
                first_kept: None,
                trigger: system.trigger.clone(),
                tokens_before: system.tokens_before,
                at: step.at,
                sources: vec![step.source.clone()],
            }),
            "ui_telemetry" => match &system.telemetry {
                Some(telemetry) => self.measured(telemetry, step),
                None => self.happened(EventKind::Other(subtype), None, Some(&step.row.whole), step),
            },
            "slash_command" => {
                let text = system.command.clone();
                self.happened(EventKind::Other(subtype), text, Some(&step.row.whole), step);
            }
            _ => {
                let kind = match subtype.as_str() {
                    "rewind" => EventKind::Rollback,
                    "session_model" => EventKind::Model,
                    "attribution_snapshot" | "file_history_snapshot" => EventKind::Snapshot,
                    "at_command" => EventKind::Attachment,
                    _ => EventKind::Other(subtype),
                };
                self.happened(kind, None, Some(&step.row.whole), step);
            }
        }
    }

    fn measured(&mut self, telemetry: &Telemetry, step: &Step<'_>) {
        // A subagent's calls are in a transcript of its own. The program's own helpers have none, and
        // before there were transcripts subagents had no ids.
        let counts = telemetry.agent.as_deref().is_none_or(|agent| agent.starts_with("managed-"));
        if telemetry.name == "qwen-code.api_response" && counts {
            self.spending.measured(telemetry, step.at, step.source.clone());
        }
        let kind = match telemetry.error.is_some() {
            true => EventKind::Error,
            false => EventKind::Other(telemetry.name.clone()),
        };
        self.happened(kind, telemetry.error.clone(), Some(&step.row.whole), step);
    }

    /// Puts a message in its place, or adds a piece to the one with its id.
    fn say(&mut self, role: Role, origin: Origin, blocks: Vec<Block>, step: &Step<'_>) {
        let row = step.row;
        let id = step.placed.id.clone();
        let digest = digest(row.whole.as_str());
        if let Some((at, last)) = self.messages.get(&id).copied() {
            if last == digest {
                self.find(step, FindingKind::RepeatedId, "a row stands twice; it counts once");
                return;
            }
            if let Some(message) = self.session.messages.get_mut(at) {
                message.blocks.extend(blocks);
                message.model = message.model.take().or_else(|| row.model.clone());
                message.sources.push(step.source.clone());
            }
            self.messages.insert(id, (at, digest));
            return;
        }
        let mut message = Message::new(id.clone(), role, origin);
        message.parent.clone_from(&step.placed.above);
        message.at = step.at;
        message.model = row.model.clone().filter(|_| role == Role::Assistant);
        message.cwd.clone_from(&row.cwd);
        message.inherited = row.forked_from.is_some();
        message.blocks = blocks;
        message.sources = vec![step.source.clone()];
        self.messages.insert(id, (self.session.messages.len(), digest));
        self.session.messages.push(message);
    }

    fn happened(&mut self, kind: EventKind, text: Option<Text>, json: Option<&Json>, step: &Step<'_>) {
        let json = json.filter(|json| json.as_str().len() <= EVENT_JSON_BYTES).cloned();
        let sources = vec![step.source.clone()];
        let after = match step.row.kind.is_message() {
            true => Some(step.placed.id.clone()),
            false => step.placed.above.clone(),
        };
        self.session.events.push(Event { kind, at: step.at, after, text, json, sources });
    }

    fn find(&mut self, step: &Step<'_>, kind: FindingKind, detail: &'static str) {
        if let Some(first) = self.counted.get(&(kind, detail)).and_then(|at| self.findings.get_mut(*at)) {
            first.count = first.count.saturating_add(1);
            return;
        }
        self.counted.insert((kind, detail), self.findings.len());
        let mut finding = Finding::new(kind, detail).on_line(step.line);
        finding.extent = Some(step.source.extent.clone());
        self.findings.push(finding);
    }

    fn finish(self, note: &AgentNote, written: Option<Timestamp>) -> Common {
        let Reader { mut session, mut findings, tree, leaf, titles, agent, owner, spending, .. } = self;
        session.head = leaf.and_then(|leaf| tree.message_at(leaf));
        let live: HashSet<usize> =
            leaf.map(|leaf| tree.way_up(leaf)).unwrap_or_default().into_iter().collect();
        for (_, title, origin) in titles.iter().filter(|(node, ..)| live.contains(node)) {
            session.meta.offer_title(title, *origin);
        }
        if let Some((agent, name)) = agent {
            session.lineage.insert(
                0,
                Lineage {
                    relation: Relation::Spawned,
                    parent: owner.or_else(|| note.parent.clone()).map(SessionId::from),
                    parent_path: None,
                    call: note.call.clone().map(Into::into),
                    agent: Some(agent),
                    agent_kind: note.kind.clone().or(name),
                    at: None,
                },
            );
            if let Some(task) = &note.description {
                session.meta.offer_title(task, TitleOrigin::Agent);
            }
        }
        session.meta.started = session.meta.started.or(written);
        session.meta.updated = session.meta.updated.or(written);
        session.calls = spending.finish();
        let mut open: HashSet<&str> = HashSet::new();
        let mut called: HashSet<&str> = HashSet::new();
        let mut orphans = 0;
        for block in session.messages.iter().flat_map(|message| &message.blocks) {
            match block {
                Block::ToolUse(call) => {
                    called.insert(call.id.as_str());
                    open.insert(call.id.as_str());
                }
                Block::ToolResult(result) => {
                    open.remove(result.call.as_str());
                    orphans += u64::from(!called.contains(result.call.as_str()));
                }
                _ => {}
            }
        }
        if !open.is_empty() {
            let finding = Finding::new(FindingKind::CallWithoutResult, "tool calls without a result");
            findings.push(finding.times(open.len() as u64));
        }
        if orphans > 0 {
            let finding =
                Finding::new(FindingKind::ResultWithoutCall, "tool results without a call before them");
            findings.push(finding.times(orphans));
        }
        if session.messages.is_empty() && !session.events.is_empty() {
            findings.push(Finding::new(FindingKind::NoTurns, "rows, but no message of a person or a model"));
        }
        Common { session, findings }
    }
}

impl Kind {
    fn is_message(self) -> bool {
        matches!(self, Kind::User | Kind::Assistant | Kind::ToolResult)
    }
}

/// Tells two rows apart without keeping them.
fn digest(row: &str) -> u64 {
    use std::hash::{DefaultHasher, Hash, Hasher};
    let mut hasher = DefaultHasher::new();
    row.hash(&mut hasher);
    hasher.finish()
}

/// Whether the live branch may end at a row: artifacts and the program's own books do not count.
fn ends_branch(row: &Row) -> bool {
    let beside = |subtype: &str| {
        subtype.starts_with("session_artifact_")
            || subtype.starts_with("managed_session_")
            || subtype == "session_sources_snapshot"
    };
    row.kind != Kind::Unknown && !(row.kind == Kind::System && row.subtype.as_deref().is_some_and(beside))
}

/// Whether a notification is the report of a subagent.
fn is_notification(row: &Row) -> bool {
    row.parts
        .iter()
        .any(|part| matches!(part, Part::Text(text) if text.to_str().starts_with("<task-notification>")))
}
