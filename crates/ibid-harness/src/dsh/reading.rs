//! From the events of a log to the common session.
//!
//! Source: npm `@deepseek-ai/dsh-session` 0.1.1-rc.2 (`types`, `surface`, `chunk-rows`) and
//! `-persistence-jsonl` 0.1.0-rc.8 (`format`).

use std::collections::{HashMap, HashSet};

use ibid_carrier::jsonl::{Document, Item};
use ibid_model::{
    CallId, Event, EventKind, Finding, FindingKind, Lineage, MessageId, ModelCall, Relation, Session,
    SessionId, Source, Text, Timestamp, TitleOrigin,
};

use super::chain::Chain;
use super::steps::{Stamp, Step};
use super::surface::Surface;
use super::{DECLARATION, Dsh, keys, store};
use crate::core::{CodecError, Common, Transcript};
use crate::families::files::FilesBody;
use crate::families::files::fields::{Fields, Value};

/// The version of the format that the sources describe.
const FORMAT: u64 = 0;

/// Records up to this size are kept with their events.
const EVENT_JSON_BYTES: usize = 4096;

/// The types of events that the program's own parts write (`known-event-types`). An event of
/// another type is of a plugin, or of a newer version.
const KNOWN: &[&str] = &[
    "agent-preset/selected",
    "agent/inbox/spliced",
    "approval/asked",
    "approval/decided",
    "approval/policy",
    "command/done",
    "command/run",
    "compaction/end",
    "compaction/prune",
    "compaction/start",
    "feedback/record",
    "goal/change",
    "hook/invoked",
    "hook/result",
    "llm/retry-started",
    "permission/preset",
    "plan/mode",
    "request/header",
    "sandbox/mode",
    "schedule/change",
    "session/end-seed",
    "session/title-llm-request",
    "subagent/descriptor",
    "team/member",
    "team/message/delivered",
    "team/message/queued",
    "team/task",
    "todo/write",
    "tool-workflow/agent-end",
    "tool-workflow/agent-start",
    "tool-workflow/run-end",
    "tool-workflow/run-start",
    "tool/code-dispatch",
    "tool/code-dispatch-start",
    "web/deepseek-search-llm-request",
];

/// One event, and where it stands.
pub(super) struct Entry<'a> {
    pub(super) kind: Text,
    pub(super) seq: Option<u64>,
    pub(super) at: Option<Timestamp>,
    pub(super) data: Fields<'a>,
    pub(super) fields: Fields<'a>,
    whole: Value<'a>,
    line: u64,
    pub(super) start: u64,
    end: u64,
}

impl<'a> Entry<'a> {
    fn of(item: &'a Item<Text>) -> Option<Entry<'a>> {
        let whole = Value::read(&item.value).ok()?;
        let fields = whole.fields();
        Some(Entry {
            kind: fields.text("type").unwrap_or_default(),
            seq: fields.count("seq").or_else(|| fields.count("seq0")),
            at: fields.get("time").or_else(|| fields.get("time0")).and_then(Value::time),
            data: fields.fields("data"),
            fields,
            whole,
            line: item.line,
            start: item.start,
            end: item.end,
        })
    }

    /// How many events a packed row stands for, and the time of the last one. A row that only has
    /// the type of one, and the envelope of an event, is one.
    fn run(&self) -> (u64, Option<Timestamp>) {
        if self.fields.get("seq0").is_none() {
            return (1, self.at);
        }
        let gaps = self.data.elements("dt");
        let total = gaps.iter().filter_map(|gap| gap.integer()).fold(0_i64, i64::saturating_add);
        let last =
            self.at.and_then(|at| Timestamp::from_milliseconds(at.as_milliseconds().saturating_add(total)));
        (gaps.len() as u64 + 1, last.or(self.at))
    }
}

/// What is known while a log is read.
pub(super) struct Reading<'d> {
    document: &'d Document,
    carrier: u32,
    pub(super) session: Session,
    pub(super) findings: Vec<Finding>,
    /// Events before this one are the parent's.
    seed: u64,
    /// Whether another agent gave the task.
    pub(super) subagent: bool,
    next_seq: Option<u64>,
    pub(super) surface: Surface,
    pub(super) chain: Chain,
    pub(super) ids: HashSet<MessageId, foldhash::fast::RandomState>,
    pub(super) step: Option<Step>,
    /// The calls of the step under way.
    pub(super) calls_of_step: HashSet<CallId>,
    /// The calls of the turn that have no result yet, and their order.
    pub(super) pending: HashMap<CallId, usize>,
    /// The calls that events tell, by the numbers of the events.
    pub(super) called: HashMap<u64, CallId, foldhash::fast::RandomState>,
    /// The last message of the model within the turn.
    pub(super) answer: Option<usize>,
    /// The model that is asked.
    route: Option<Text>,
    header: bool,
    known: u64,
}

/// The id of a session: the header's, else that of its folder.
pub(super) fn session_id(body: &FilesBody) -> SessionId {
    let file = body.files.first();
    let written = file.and_then(|file| header_text(&file.document)).and_then(|text| {
        let fields = Value::read(&text).ok()?.fields();
        fields.filled("id").filter(|_| fields.text("type").as_deref() == Some("session"))
    });
    if let Some(id) = written {
        return SessionId::from(id);
    }
    let folder = body.path().and_then(store::folders).map(|(session, _)| session.to_owned());
    SessionId::from(folder.map_or_else(String::new, |folder| keys::session_id(&folder).unwrap_or(folder)))
}

/// The first line that is not blank.
fn header_text(document: &Document) -> Option<Text> {
    let line = document.lines().find(|line| !line.bytes.trim_ascii().is_empty())?;
    document.text_of(line.start, line.end)
}

/// Whether the beginning of the log is not in the file.
pub(super) fn lacks_header(common: &Common) -> bool {
    common.findings.iter().any(|finding| finding.kind == FindingKind::MissingHeader)
}

pub(super) fn to_common(transcript: &Transcript<Dsh>) -> Result<Common, CodecError> {
    let body = &transcript.body;
    let foreign = |reason: &str| CodecError::Foreign { harness: DECLARATION.name, reason: reason.to_owned() };
    let Some((carrier, file)) = body.file(store::PLAIN) else {
        return Err(foreign("there is no log of events"));
    };
    let mut session = Session::new(DECLARATION.id.as_str(), transcript.id.clone());
    session.carriers = body.infos();
    let records = file.document.read_records(|text| Value::read(text).map(|_| text.clone()));
    let mut reading = Reading {
        document: &file.document,
        carrier,
        session,
        findings: file.document.findings().iter().cloned().chain(records.findings).collect(),
        seed: 0,
        subagent: false,
        next_seq: Some(0),
        surface: Surface::default(),
        chain: Chain::default(),
        ids: HashSet::default(),
        step: None,
        calls_of_step: HashSet::new(),
        pending: HashMap::new(),
        called: HashMap::default(),
        answer: None,
        route: None,
        header: false,
        known: 0,
    };
    let mut entries = records.items.iter().filter_map(Entry::of).peekable();
    if let Some(header) = entries.next_if(|entry| entry.kind == "session") {
        reading.header(&header, &records.items);
    }
    for entry in entries {
        reading.entry(&entry);
    }
    reading.finish().ok_or_else(|| foreign("none of its lines is an event that it writes"))
}

impl Reading<'_> {
    fn header(&mut self, entry: &Entry<'_>, items: &[Item<Text>]) {
        let fields = &entry.fields;
        self.header = true;
        self.known += 1;
        match fields.count("version") {
            Some(FORMAT) => {}
            other => {
                let version =
                    other.map_or("an unreadable version".into(), |version| format!("version {version}"));
                let detail = format!("{version} of the format; what is known of version {FORMAT} was used");
                self.find(FindingKind::UnknownRecord, detail, entry);
            }
        }
        if fields.filled("id").is_none() {
            self.find(
                FindingKind::MalformedRecord,
                "the header has no id; the name of its folder counts",
                entry,
            );
        }
        let cwd = fields.filled("cwd");
        self.check_place(fields.filled("id").as_ref(), cwd.as_ref(), entry);
        self.session.meta.cwd = cwd;
        match fields.get("createdAt").and_then(Value::time) {
            Some(at) => self.session.meta.stamp(at),
            None => self.find(FindingKind::UnreadableTime, "the header does not say when it began", entry),
        }
        self.seed = fields.count("seedLength").unwrap_or_default();
        // Versions after 0 have a mark in the log instead (read in a published migration to 3).
        if fields.get("isSeeded").and_then(Value::flag) == Some(true) {
            self.seed = seeded_up_to(items).unwrap_or_default();
        }
        self.subagent = fields.text("origin").as_deref() == Some("subagent")
            || fields.count("delegationDepth").is_some_and(|depth| depth > 0);
        if let Some(parent) = fields.filled("parentSession") {
            let relation = if self.subagent { Relation::Spawned } else { Relation::Forked };
            let mut lineage = Lineage::to(relation, parent);
            lineage.agent_kind = fields.filled("agentPreset").filter(|_| self.subagent);
            self.session.lineage.push(lineage);
        }
    }

    /// A log lies in folders that its header names. When it does not, it was moved or copied; what
    /// it says itself counts.
    fn check_place(&mut self, id: Option<&Text>, cwd: Option<&Text>, entry: &Entry<'_>) {
        let Some((session, project)) = self.document.path().and_then(store::folders) else { return };
        let (session, project) = (session.to_owned(), project.to_owned());
        if id.is_some_and(|id| !keys::session_folder(id).eq_ignore_ascii_case(&session)) {
            let detail = "its id is not the one that its folder is named for; the id counts";
            self.find(FindingKind::MalformedRecord, detail, entry);
        }
        let expected = cwd.map_or_else(|| keys::NO_CWD.to_owned(), |cwd| keys::project_folder(cwd));
        if !expected.eq_ignore_ascii_case(&project) {
            let detail = "its cwd is not the one that the folder around it is named for; the cwd counts";
            self.find(FindingKind::MalformedRecord, detail, entry);
        }
    }

    fn entry(&mut self, entry: &Entry<'_>) {
        if !self.header {
            self.header = true;
            self.find(FindingKind::MissingHeader, "the first line is not the header of a session", entry);
        }
        let (events, last) = entry.run();
        self.in_sequence(entry, events);
        match entry.at {
            Some(at) => self.session.meta.stamp(at),
            None => self.find(FindingKind::UnreadableTime, "an event without a time", entry),
        }
        if let Some(last) = last.filter(|last| Some(*last) != entry.at) {
            self.session.meta.stamp(last);
        }
        self.known += 1;
        let data = &entry.data;
        match entry.kind.as_str() {
            "user/message" => self.user(entry),
            "assistant/message" => self.assistant(entry),
            "system/message" => self.system(entry),
            "tool/call" => self.tool_call(entry),
            "tool/result" => self.tool_result(entry),
            "assistant/chunk" => {
                let stamp = self.stamp(entry);
                self.step_of(entry).chunk(&data.fields("chunk"), &stamp);
            }
            "text-chunks" | "reasoning-chunks" | "tool-call-chunks" => {
                let member = if entry.kind == "tool-call-chunks" { "args" } else { "texts" };
                let pieces = data.elements(member);
                if pieces.is_empty() || pieces.iter().any(|piece| piece.text().is_none()) {
                    self.find(FindingKind::MalformedRecord, "a row of pieces with none in it", entry);
                }
                let stamp = self.stamp(entry);
                self.step_of(entry).row(&entry.kind, data, &stamp);
            }
            "llm/retry" => {
                if let Some(step) = &mut self.step {
                    step.again();
                }
                let said = data.fields("error").filled("message").or_else(|| data.filled("message"));
                self.event(EventKind::Error, said, entry);
            }
            "turn/start" => {
                self.end_step();
                self.pending.clear();
                self.answer = None;
            }
            "turn/end" => self.turn_end(entry),
            "step/start" | "step/end" => self.end_step(),
            "session/title" => {
                let title = data.text("title").unwrap_or_default();
                let by_person = data.fields("source").text("kind").as_deref() == Some("user");
                let origin = if by_person { TitleOrigin::Person } else { TitleOrigin::Generated };
                self.session.meta.offer_title(&title, origin);
                self.event(EventKind::Title, Some(title), entry);
            }
            "request/context" => {
                self.route = data.filled("model").or(self.route.take());
                let parts = [data.text("provider"), data.text("model")];
                let parts: Vec<Text> = parts.into_iter().flatten().collect();
                let shown = parts.iter().map(Text::as_str).collect::<Vec<_>>().join("/");
                self.event(EventKind::Model, Some(shown.into()), entry);
            }
            "compaction/summary" => {
                self.extra_call(entry);
                self.event(EventKind::Other(entry.kind.clone()), None, entry);
            }
            kind => {
                let known = KNOWN.contains(&kind);
                if !known && entry.fields.get("ignorable").and_then(Value::flag) != Some(true) {
                    self.known -= 1;
                    // The type comes from the file, and so may be anything.
                    let shown: String = kind.chars().filter(|c| !c.is_control()).take(40).collect();
                    self.find(FindingKind::UnknownRecord, format!("an event of type \"{shown}\""), entry);
                }
                let kind = match kind.split('/').next().unwrap_or_default() {
                    "permission" | "approval" | "sandbox" => EventKind::Permission,
                    "plan" | "agent-preset" => EventKind::Mode,
                    "hook" => EventKind::Hook,
                    _ => EventKind::Other(entry.kind.clone()),
                };
                self.event(kind, None, entry);
            }
        }
    }

    /// Events are numbered without gaps; one that is missing or twice was lost or written by two
    /// programs at once.
    fn in_sequence(&mut self, entry: &Entry<'_>, events: u64) {
        match (entry.seq, self.next_seq) {
            (None, _) => self.find(FindingKind::MalformedRecord, "an event without a number", entry),
            (Some(seq), Some(next)) if seq != next => {
                let detail = format!("event {seq} stands where event {next} belongs");
                self.find(FindingKind::MalformedRecord, detail, entry);
            }
            _ => {}
        }
        self.next_seq = entry.seq.or(self.next_seq).map(|seq| seq.saturating_add(events));
    }

    pub(super) fn stamp(&self, entry: &Entry<'_>) -> Stamp {
        Stamp { at: entry.at, source: self.source(entry), inherited: self.inherited(entry) }
    }

    pub(super) fn source(&self, entry: &Entry<'_>) -> Source {
        Source::bytes(self.carrier, entry.start, entry.end)
    }

    pub(super) fn inherited(&self, entry: &Entry<'_>) -> bool {
        entry.seq.is_some_and(|seq| seq < self.seed)
    }

    /// The step that an event is of. Another one than that under way ends that.
    pub(super) fn step_of(&mut self, entry: &Entry<'_>) -> &mut Step {
        let turn = entry.data.count("turn").unwrap_or_default();
        let number = entry.data.count("step").unwrap_or_default();
        if self.step.as_ref().is_some_and(|step| (step.turn, step.step) != (turn, number)) {
            self.end_step();
        }
        self.step.get_or_insert_with(|| Step::new(turn, number))
    }

    /// The model that a step without a message asked.
    pub(super) fn asked(&self) -> Option<Text> {
        self.route.clone()
    }

    /// A call beside the conversation: what a summary cost.
    fn extra_call(&mut self, entry: &Entry<'_>) {
        let Some(usage) = super::content::usage(&entry.data.fields("usage")) else { return };
        self.session.calls.push(ModelCall {
            api_id: None,
            request_id: None,
            message: None,
            model: entry.data.filled("model"),
            at: entry.at,
            usage,
            inherited: self.inherited(entry),
            sources: vec![self.source(entry)],
        });
    }

    pub(super) fn event(&mut self, kind: EventKind, text: Option<Text>, entry: &Entry<'_>) {
        let json = Some(entry.whole.json()).filter(|json| json.as_str().len() <= EVENT_JSON_BYTES);
        let after = self.id_at(self.chain.tail);
        let sources = vec![self.source(entry)];
        self.session.events.push(Event { kind, at: entry.at, after, text, json, sources });
    }

    pub(super) fn find(&mut self, kind: FindingKind, detail: impl Into<Text>, entry: &Entry<'_>) {
        let finding = Finding::new(kind, detail).on_line(entry.line).at_bytes(entry.start, entry.end);
        self.findings.push(match self.document.path() {
            Some(path) => finding.at_path(path),
            None => finding,
        });
    }

    /// The session; none when no line of the file is an event.
    fn finish(mut self) -> Option<Common> {
        self.end_step();
        if self.known == 0 {
            return None;
        }
        self.session.head = self.id_at(self.chain.tail);
        let session = &mut self.session;
        let copied = session.messages.iter().rev().find(|message| message.inherited);
        let copied = copied.map(|message| message.id.clone());
        if let Some(lineage) = session.lineage.first_mut() {
            lineage.at = copied;
        }
        if session.messages.is_empty() && self.known > 1 {
            let detail = format!("{} events", self.known);
            self.findings.push(Finding::new(FindingKind::NoTurns, detail));
        }
        Some(Common { session: self.session, findings: self.findings })
    }
}

/// The number of the event that ends the part that was copied from the parent.
fn seeded_up_to(items: &[Item<Text>]) -> Option<u64> {
    items.iter().rev().filter(|item| item.value.contains("session/end-seed")).find_map(|item| {
        let entry = Entry::of(item)?;
        let inherited = entry.data.get("inherited").and_then(Value::flag) == Some(true);
        entry.seq.filter(|_| inherited && entry.kind == "session/end-seed")
    })
}
