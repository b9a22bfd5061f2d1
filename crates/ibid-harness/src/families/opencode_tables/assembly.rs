//! From records to the common session.

use std::collections::HashSet;

use ibid_model::{
    Block, CarrierInfo, Event, EventKind, Finding, FindingKind, Lineage, Message, MessageId, Meta, ModelCall,
    Origin, Relation, Role, Session, Source, Text, Timestamp, TitleOrigin, ToolResult,
};

use super::compaction::Summaries;
use super::fields::Fields;
use super::parts;
use super::records::{MessageRecord, Native, PartRecord, SessionRecord, small, time};
use super::steps::stop;
use super::{usage, whole_messages};
use crate::core::Common;

/// The text in front of a command that the person ran in the program.
const TYPED_COMMAND: &str = "The following tool was executed by the user";

/// The common session that the records say.
pub(crate) fn assemble(harness: &str, native: &Native, carriers: Vec<CarrierInfo>) -> Common {
    let mut session = Session::new(harness, native.session.id.clone());
    session.carriers = carriers;
    session.meta = meta_of(&native.session);
    session.reported_usage = native.session.usage;
    let mut assembly = Assembly {
        session,
        findings: native.findings.clone(),
        ids: HashSet::new(),
        last: None,
        kept: None,
        subagent: native.session.parent.is_some(),
        inherited: false,
        open_calls: 0,
    };
    let copied = native.kin.copied.as_ref();
    let mut last_copied = None;
    let summaries = Summaries::of(&native.messages);
    for (at, record) in native.messages.iter().enumerate() {
        assembly.inherited = copied.is_some_and(|copied| at < copied.messages);
        assembly.note_revert(&native.session, &record.id);
        assembly.message(record, &summaries, typed_command(&native.messages, at));
        assembly.note_partial_revert(&native.session, &record.id);
        if assembly.inherited {
            last_copied = Some(MessageId::from(record.id.clone()));
        }
    }
    assembly.inherited = false;
    for record in &native.whole {
        whole_messages::take(&mut assembly, record);
    }
    assembly.finish(native, last_copied)
}

/// What the session's own record says for a list.
pub(crate) fn meta_of(record: &SessionRecord) -> Meta {
    let mut meta = Meta {
        cwd: record.directory.clone(),
        version: record.version.clone(),
        archived: record.archived,
        started: record.created,
        updated: record.updated.or(record.created),
        ..Meta::default()
    };
    if let Some(title) = &record.title {
        // The program has a model make it; that of a subagent comes with the call.
        let origin = if record.parent.is_some() { TitleOrigin::Agent } else { TitleOrigin::Generated };
        meta.offer_title(title, origin);
    }
    meta
}

/// Takes a message's time for what a list shows.
pub(crate) fn stamp(meta: &mut Meta, created: Option<Timestamp>) {
    let Some(at) = created else { return };
    meta.started.get_or_insert(at);
    meta.updated = Some(meta.updated.map_or(at, |updated| updated.max(at)));
}

/// Where a session came from.
pub(crate) fn lineage_of(native: &Native, last_copied: Option<MessageId>) -> Vec<Lineage> {
    let record = &native.session;
    let mut lineage = Vec::new();
    if let Some(parent) = &record.parent {
        let mut spawned = Lineage::to(Relation::Spawned, parent.clone());
        spawned.call.clone_from(&native.kin.call);
        spawned.agent_kind.clone_from(&record.agent);
        lineage.push(spawned);
    }
    if let Some(copied) = &native.kin.copied {
        let mut forked = Lineage::to(Relation::Forked, copied.parent.clone());
        forked.at = last_copied;
        lineage.push(forked);
    }
    lineage
}

/// The time that a message has: the column, by which messages are ordered, before the JSON.
pub(crate) fn created(record: &MessageRecord, fields: &Fields<'_>) -> Option<Timestamp> {
    let own = || fields.object("time").and_then(|times| times.integer("created"));
    time(record.created).or_else(|| time(own()))
}

/// The model that wrote a message.
pub(crate) fn model_of(fields: &Fields<'_>) -> Option<Text> {
    fields.text("modelID").filter(|model| !model.is_empty() && *model != super::compose_parts::UNKNOWN)
}

/// The text of a part of a user message that no program put there.
pub(crate) fn typed_text(part: &Fields<'_>) -> Option<Text> {
    let text = match part.text("type")?.as_str() {
        "text" if !part.flag("synthetic") && !part.flag("ignored") => part.text("text"),
        "subtask" => part.text("prompt"),
        _ => None,
    };
    text.filter(|text| !text.is_blank())
}

/// Whether a message is the user's.
pub(crate) fn is_user(message: &MessageRecord) -> bool {
    Fields::of(&message.data).and_then(|fields| fields.text("role")).is_some_and(|role| role == "user")
}

/// Whether a person said something in any of the messages, as far as their parts were read.
pub(crate) fn has_typed_text(native: &Native) -> bool {
    let users = native.messages.iter().filter(|message| is_user(message));
    users
        .flat_map(|message| &message.parts)
        .any(|part| Fields::of(&part.data).as_ref().and_then(typed_text).is_some())
}

/// Whether the message at this place is the result of a command that the person ran.
fn typed_command(messages: &[MessageRecord], at: usize) -> bool {
    let Some(before) = at.checked_sub(1).and_then(|before| messages.get(before)) else { return false };
    let [only] = before.parts.as_slice() else { return false };
    Fields::of(&only.data).and_then(|part| part.text("text")).is_some_and(|text| text == TYPED_COMMAND)
}

/// The session in the making.
pub(crate) struct Assembly {
    pub(crate) session: Session,
    pub(crate) findings: Vec<Finding>,
    pub(super) ids: HashSet<MessageId>,
    /// The message before the next one.
    pub(crate) last: Option<MessageId>,
    /// The last message before a revert, once it was reached.
    kept: Option<Option<MessageId>>,
    subagent: bool,
    inherited: bool,
    open_calls: u64,
}

impl Assembly {
    /// Adds a message behind the last one, under an id that no other message has.
    pub(crate) fn push(&mut self, mut message: Message) -> MessageId {
        let wanted = message.id.clone();
        let mut number = 2_u64;
        while !self.ids.insert(message.id.clone()) {
            message.id = format!("{wanted}:{number}").into();
            number += 1;
        }
        message.inherited = self.inherited;
        message.parent.clone_from(&self.last);
        self.last = Some(message.id.clone());
        let id = message.id.clone();
        self.session.messages.push(message);
        id
    }

    /// Adds the results of a message's calls.
    pub(crate) fn push_results(&mut self, call: &MessageId, results: Vec<ToolResult>, like: &Message) {
        if results.is_empty() {
            return;
        }
        let mut message = Message::new(format!("{call}:results"), Role::User, Origin::Tools);
        message.at = like.at;
        message.cwd.clone_from(&like.cwd);
        message.turn.clone_from(&like.turn);
        message.sources.clone_from(&like.sources);
        message.blocks = results.into_iter().map(Block::ToolResult).collect();
        self.push(message);
    }

    pub(crate) fn event(
        &mut self,
        kind: EventKind,
        at: Option<Timestamp>,
        text: Option<Text>,
        source: &Source,
    ) {
        self.session.events.push(Event {
            kind,
            at,
            after: self.last.clone(),
            text,
            json: None,
            sources: vec![source.clone()],
        });
    }

    pub(crate) fn call(&mut self, call: ModelCall) {
        self.session.calls.push(ModelCall { inherited: self.inherited, ..call });
    }

    pub(crate) fn malformed(&mut self, detail: &'static str, source: &Source) {
        let mut finding = Finding::new(FindingKind::MalformedRecord, detail);
        finding.extent = Some(source.extent.clone());
        finding.path = usize::try_from(source.carrier)
            .ok()
            .and_then(|at| self.session.carriers.get(at))
            .map(|carrier| carrier.path.clone())
            .filter(|path| !path.is_empty());
        self.findings.push(finding);
    }

    pub(crate) fn count_open_call(&mut self) {
        self.open_calls += 1;
    }

    pub(crate) fn is_subagent(&self) -> bool {
        self.subagent
    }

    fn note_revert(&mut self, session: &SessionRecord, id: &Text) {
        if let Some(revert) = &session.revert
            && revert.part.is_none()
            && revert.message == *id
        {
            self.kept = Some(self.last.clone());
        }
    }

    /// Of a message whose last parts alone are hidden the whole is kept: the model has no half of a
    /// message.
    fn note_partial_revert(&mut self, session: &SessionRecord, id: &Text) {
        if let Some(revert) = &session.revert
            && revert.part.is_some()
            && revert.message == *id
        {
            self.kept = Some(self.last.clone());
        }
    }

    fn message(&mut self, record: &MessageRecord, summaries: &Summaries, typed_command: bool) {
        let Some(fields) = Fields::of(&record.data) else {
            self.malformed("the message is no JSON object", &record.source);
            return;
        };
        let at = created(record, &fields);
        if at.is_none() {
            let finding = Finding::new(FindingKind::UnreadableTime, "a message has no time");
            self.findings.push(finding);
        }
        stamp(&mut self.session.meta, at);
        match fields.text("role").as_deref() {
            Some("user") => self.user(record, at, summaries),
            Some("assistant") => {
                self.assistant(record, &fields, at, summaries.given.contains(&record.id), typed_command);
            }
            Some("system") => {
                let mut message = Message::new(record.id.clone(), Role::System, Origin::Harness);
                message.at = at;
                message.sources = sources(record);
                let texts = record.parts.iter().filter_map(|part| Fields::of(&part.data)?.text("text"));
                message.blocks = texts.map(Block::text).collect();
                self.push(message);
            }
            _ => self.malformed("the message has no role that is known", &record.source),
        }
    }

    /// A user message is up to two messages of the common session: what the program put in, and
    /// what the person said.
    fn user(&mut self, record: &MessageRecord, at: Option<Timestamp>, summaries: &Summaries) {
        let (mut put_in, mut said) = (Vec::new(), Vec::new());
        let (mut put_in_sources, mut said_sources) =
            (vec![record.source.clone()], vec![record.source.clone()]);
        let mut only_asks = !record.parts.is_empty();
        // The program marks the picture of a person's prompt as put in, too; where a person said
        // nothing at all, it is.
        let spoken = |part: &PartRecord| {
            Fields::of(&part.data).is_some_and(|fields| {
                let text = fields.text("type").is_some_and(|kind| kind == "text" || kind == "subtask");
                text && !fields.flag("synthetic") && !fields.flag("ignored")
            })
        };
        let has_spoken = record.parts.iter().any(spoken);
        for part in &record.parts {
            let Some(fields) = Fields::of(&part.data) else {
                self.malformed("the part is no JSON object", &part.source);
                continue;
            };
            let kind = fields.text("type").unwrap_or_default();
            only_asks &= kind == "compaction";
            match kind.as_str() {
                "text" => {
                    let text = Block::text(fields.text("text").unwrap_or_default());
                    if fields.flag("synthetic") || fields.flag("ignored") {
                        put_in.push(text);
                        put_in_sources.push(part.source.clone());
                    } else {
                        said.push(text);
                        said_sources.push(part.source.clone());
                    }
                }
                "file" => match parts::file(&fields) {
                    Some(block) if fields.flag("synthetic") && !has_spoken => {
                        put_in.push(block);
                        put_in_sources.push(part.source.clone());
                    }
                    Some(block) => {
                        said.push(block);
                        said_sources.push(part.source.clone());
                    }
                    None => self.malformed("the file has no address", &part.source),
                },
                "subtask" => {
                    said.push(Block::text(fields.text("prompt").unwrap_or_default()));
                    said_sources.push(part.source.clone());
                }
                "compaction" => {}
                _ => self.other_part(&kind, &fields, part, at),
            }
        }
        if only_asks && summaries.asked.contains(&record.id) {
            return;
        }
        let origin = if self.subagent { Origin::Agent } else { Origin::Person };
        let mut message = |id: MessageId, origin, blocks, sources| {
            let mut message = Message::new(id, Role::User, origin);
            message.at = at;
            message.turn = Some(record.id.clone());
            message.blocks = blocks;
            message.sources = sources;
            self.push(message);
        };
        let id = MessageId::from(record.id.clone());
        match (put_in.is_empty(), said.is_empty()) {
            (false, true) => message(id, Origin::Harness, put_in, put_in_sources),
            (false, false) => {
                message(format!("{id}:synthetic").into(), Origin::Harness, put_in, put_in_sources);
                message(id, origin, said, said_sources);
            }
            (true, false) => message(id, origin, said, said_sources),
            // Nothing that anyone said: a request for a summary, or an empty prompt.
            (true, true) => message(id, Origin::Harness, Vec::new(), sources(record)),
        }
    }

    fn assistant(
        &mut self,
        record: &MessageRecord,
        fields: &Fields<'_>,
        at: Option<Timestamp>,
        is_summary: bool,
        typed_command: bool,
    ) {
        let model = model_of(fields);
        if let Some(model) = &model {
            self.session.meta.model = Some(model.clone());
        }
        let completed = fields.object("time").and_then(|times| time(times.integer("completed")));
        let steps = self.steps(record, at);
        let error = fields.object("error");
        let count = steps.len();
        let counted = steps.iter().any(|step| step.usage.is_some());
        let origin = match (is_summary, typed_command) {
            (true, _) => Origin::Summary,
            // The person ran the command; no model did.
            (false, true) => Origin::Person,
            (false, false) => Origin::Model,
        };
        if is_summary {
            self.compaction(record, fields, at);
        }
        for (number, step) in steps.into_iter().enumerate() {
            let id = match number {
                0 => MessageId::from(record.id.clone()),
                _ => format!("{}:step{}", record.id, number + 1).into(),
            };
            let last = number + 1 == count;
            let mut message = Message::new(id, Role::Assistant, origin);
            message.at = at;
            message.model.clone_from(&model);
            message.turn = fields.text("parentID").filter(|parent| !parent.is_empty());
            message.cwd = fields.object("path").and_then(|path| path.text("cwd"));
            message.stop = stop(&step, fields, error.as_ref(), last);
            message.blocks = step.blocks;
            message.sources.push(record.source.clone());
            message.sources.extend(step.sources);
            let mut results = Message { at: step.ended.or(completed).or(at), ..message.clone() };
            results.blocks = Vec::new();
            let id = self.push(message);
            self.push_results(&id, step.results, &results);
            let whole = || {
                let tokens = fields.object("tokens").filter(|_| last && !counted)?;
                Some(usage::of_call(&tokens, fields.number("cost"))).filter(|u| !usage::is_nothing(u))
            };
            if let Some(usage) = step.usage.or_else(whole) {
                self.call(ModelCall {
                    api_id: None,
                    request_id: None,
                    message: Some(id),
                    model: model.clone(),
                    at: completed.or(at),
                    usage,
                    inherited: false,
                    sources: vec![record.source.clone()],
                });
            }
        }
        if let Some(error) = error {
            let name = error.text("name").unwrap_or_default();
            let detail = error.object("data").and_then(|data| data.text("message"));
            let text = detail.map_or_else(|| name.clone(), |detail| Text::from(format!("{name}: {detail}")));
            self.event(EventKind::Error, completed.or(at), Some(text), &record.source);
        }
    }

    /// A part that is no conversation.
    pub(super) fn other_part(
        &mut self,
        kind: &Text,
        fields: &Fields<'_>,
        part: &PartRecord,
        at: Option<Timestamp>,
    ) {
        let kind = match kind.as_str() {
            "patch" | "snapshot" => EventKind::Snapshot,
            "retry" => EventKind::Error,
            "agent" => EventKind::Other("agent".into()),
            "step-start" | "step-finish" | "compaction" => return,
            _ => {
                let detail = "a part of a kind that is not known was left out of the conversation";
                let known = self
                    .findings
                    .iter_mut()
                    .find(|f| f.kind == FindingKind::UnknownRecord && f.detail == detail);
                match known {
                    Some(finding) => finding.count += 1,
                    None => self.findings.push(Finding::new(FindingKind::UnknownRecord, detail)),
                }
                EventKind::Other(kind.clone())
            }
        };
        let text = match kind {
            EventKind::Error => fields
                .object("error")
                .and_then(|error| error.object("data")?.text("message").or_else(|| error.text("name"))),
            _ => fields.text("name"),
        };
        self.session.events.push(Event {
            kind,
            at,
            after: self.last.clone(),
            text,
            json: small(ibid_model::Json::from_text(part.data.clone()).ok()),
            sources: vec![part.source.clone()],
        });
    }

    fn finish(mut self, native: &Native, last_copied: Option<MessageId>) -> Common {
        self.complete_compactions(&native.messages);
        self.session.lineage = lineage_of(native, last_copied);
        self.session.head = match self.kept.take() {
            Some(Some(kept)) => {
                if self.last.as_ref() != Some(&kept) {
                    self.session.events.push(Event {
                        kind: EventKind::Rollback,
                        at: None,
                        after: Some(kept.clone()),
                        text: Some("the turns after this message were undone".into()),
                        json: None,
                        sources: native.session.sources.clone(),
                    });
                }
                Some(kept)
            }
            _ => self.last.take(),
        };
        let preview = self.session.messages.iter().filter(|message| message.origin == Origin::Person);
        let preview = preview.filter(|message| message.role == Role::User);
        let first = preview.flat_map(Message::texts).find(|text| !text.is_blank()).cloned();
        if let Some(first) = first {
            self.session.meta.offer_preview(&first);
        }
        if self.open_calls > 0 {
            let finding = Finding::new(FindingKind::CallWithoutResult, "calls have no result");
            self.findings.push(finding.times(self.open_calls));
        }
        let records = native.messages.len() + native.whole.len();
        if records > 0 && self.session.messages.is_empty() {
            let detail = format!("{records} records hold no message that can be read");
            self.findings.push(Finding::new(FindingKind::NoTurns, detail));
        }
        Common { session: self.session, findings: self.findings }
    }
}

/// A message's row and those of its parts.
fn sources(record: &MessageRecord) -> Vec<Source> {
    let parts = record.parts.iter().map(|part| part.source.clone());
    std::iter::once(record.source.clone()).chain(parts).collect()
}
