//! From a common session to rows.

use std::collections::{HashMap, HashSet};

use ibid_carrier::jsonl::{Builder, Document};
use ibid_model::{
    Block, CommandRule, Compaction, EventKind, Json, LossKind, Losses, Message, MessageId, ModelCall, Origin,
    Outcome, Prepared, Role, Rules, Session, SessionId, StopReason, Text, ThinkingRule, Timestamp,
    TitleOrigin, prepare,
};

use super::blocks::BlockWriter;
use super::content::{self, PROVIDER};
use super::markup::{self, Mark};
use super::record::{HUMAN, UNKNOWN_MODEL};
use super::written::{
    AssistantMessage, AssistantRow, BoundaryRow, Common, CompactMetadata, Content, Links, PreservedSegment,
    RowOrigin, TitleRow, Tokens, UserMessage, UserRow, stop_word,
};
use crate::core::{Target, derived_uuid};

/// What the harnesses that keep such rows differ in.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Dialect {
    /// The harnesses whose structured results and reasons to stop are the same.
    pub(crate) kin: &'static [&'static str],
    /// The version of the program whose rows these are.
    pub(crate) version: &'static str,
    /// What derived ids are made for.
    pub(crate) purpose: &'static str,
}

/// What the provider and the program accept.
pub(crate) const RULES: Rules = Rules {
    thinking: ThinkingRule::Signed(PROVIDER),
    commands: CommandRule::Keep,
    system_messages: false,
    injected_context: false,
    // A task notification is told by its tag, which the text keeps.
    agent_messages: true,
    ..Rules::STRICT
};

/// A conversation as rows.
#[derive(Debug)]
pub(crate) struct Composed {
    /// The rows.
    pub(crate) document: Document,
    /// What could not be said.
    pub(crate) losses: Losses,
}

/// Writes the part of a session that the target names. `id` is the session that the rows name,
/// `agent` the subagent they are of.
///
/// # Errors
/// When a row cannot be JSON.
pub(crate) fn compose(
    session: &Session,
    target: &Target,
    id: &SessionId,
    agent: Option<&str>,
    dialect: &Dialect,
) -> Result<Composed, serde_json::Error> {
    let prepared = prepare(session, &target.selection, &RULES);
    let mut composer = Composer::new(session, target, id, agent, dialect, &prepared);
    composer.title()?;
    let mut compactions = prepared.compactions.iter().peekable();
    for (at, message) in prepared.messages.iter().enumerate() {
        while let Some((_, compaction)) = compactions.next_if(|(before, _)| *before <= at) {
            composer.compaction(compaction, Some(message))?;
        }
        composer.message(message)?;
    }
    for (_, compaction) in compactions {
        composer.compaction(compaction, None)?;
    }
    let (document, losses) = composer.finish(&prepared);
    Ok(Composed { document, losses })
}

struct Composer<'a> {
    session: &'a Session,
    target: &'a Target,
    id: &'a str,
    agent: Option<&'a str>,
    dialect: &'a Dialect,
    kin: bool,
    rows: Builder,
    losses: Losses,
    /// The last row of the chain.
    last: Option<String>,
    count: usize,
    calls: HashMap<&'a str, &'a ModelCall>,
    used_calls: HashSet<&'a str>,
    api_ids: HashSet<String>,
    /// The first row of each message.
    first_rows: HashMap<MessageId, String>,
    times: Times,
    summaries_carried: u64,
    summary_before: bool,
}

impl<'a> Composer<'a> {
    fn new(
        session: &'a Session,
        target: &'a Target,
        id: &'a SessionId,
        agent: Option<&'a str>,
        dialect: &'a Dialect,
        prepared: &Prepared,
    ) -> Composer<'a> {
        let calls = session.calls.iter().filter_map(|call| Some((call.message.as_ref()?.as_str(), call)));
        Composer {
            session,
            target,
            id: id.as_str(),
            agent,
            dialect,
            kin: dialect.kin.contains(&session.harness.as_str()),
            rows: Builder::new(),
            losses: Losses::none(),
            last: None,
            count: 0,
            calls: calls.collect(),
            used_calls: HashSet::new(),
            api_ids: HashSet::new(),
            first_rows: HashMap::new(),
            times: Times::of(&prepared.messages, session),
            summaries_carried: 0,
            summary_before: false,
        }
    }

    fn title(&mut self) -> Result<(), serde_json::Error> {
        let Some(title) = &self.session.meta.title else { return Ok(()) };
        let (text, session) = (title.text.as_str(), self.id);
        self.rows.push(&match title.origin {
            TitleOrigin::Generated => TitleRow::Generated { title: text, session },
            _ => TitleRow::Custom { title: text, session },
        })
    }

    fn message(&mut self, message: &'a Message) -> Result<(), serde_json::Error> {
        self.times.step(message, &mut self.losses);
        if std::mem::take(&mut self.summary_before) && message.origin == Origin::Summary {
            return self.summary(&message.id, message.texts().cloned().collect());
        }
        match message.role {
            Role::Assistant => self.assistant(message),
            _ => self.user(message),
        }
    }

    fn user(&mut self, message: &'a Message) -> Result<(), serde_json::Error> {
        let mut pending: Vec<&'a Block> = Vec::new();
        for block in &message.blocks {
            match block {
                Block::Command(command) => {
                    self.user_row(message, &std::mem::take(&mut pending))?;
                    let text = markup::command_text(command).unwrap_or_else(|| {
                        self.losses.add(LossKind::CommandFlattened, None, Some(&message.id));
                        format!("{} {}", command.name, command.args.as_deref().unwrap_or_default())
                    });
                    self.push_user(message, Content::Owned(text), None, false)?;
                }
                // The program writes each result as a row of its own.
                Block::ToolResult(_) => {
                    self.user_row(message, &std::mem::take(&mut pending))?;
                    self.user_row(message, &[block])?;
                }
                block => pending.push(block),
            }
        }
        self.user_row(message, &pending)
    }

    fn user_row(&mut self, message: &'a Message, blocks: &[&'a Block]) -> Result<(), serde_json::Error> {
        let structured = match blocks {
            [] => return Ok(()),
            [Block::ToolResult(result)] => result.structured.as_ref(),
            _ => None,
        };
        // What says that a person stopped it would be believed before the result itself.
        let stopped = structured.is_some_and(|json| content::was_interrupted(json.as_str()));
        let ended = match blocks {
            [Block::ToolResult(result)] => Some(result.outcome),
            _ => None,
        };
        let told = structured.filter(|_| self.kin && (!stopped || ended == Some(Outcome::Interrupted)));
        if structured.is_some() && told.is_none() {
            self.losses.add(LossKind::StructuredResult, None, Some(&message.id));
        }
        if ended == Some(Outcome::Interrupted) && !(stopped && told.is_some()) {
            self.losses.add(LossKind::ResultStatus, Some("interrupted"), Some(&message.id));
        }
        // The first text is what tells a person's row from one that the program put in.
        let first = blocks.iter().find_map(|block| match block {
            Block::Text(text) => Some(&text.text),
            _ => None,
        });
        let mistakable = first.is_some_and(markup::is_mistakable);
        let notice = first.is_some_and(|text| markup::mark(text) == Some(Mark::Agent));
        let human = mistakable && !(message.origin == Origin::Agent && notice);
        let of_agent = message.origin == Origin::Agent && !blocks.is_empty();
        if of_agent && (human || !(notice || self.agent.is_some())) {
            self.losses.add(LossKind::AgentMessage, None, Some(&message.id));
        }
        let content = match blocks {
            [Block::Text(text)] if !mistakable => Content::Text(&text.text),
            blocks => {
                let mut writer = BlockWriter { message: &message.id, losses: &mut self.losses };
                let written: Vec<_> = blocks.iter().filter_map(|block| writer.user(block)).collect();
                if written.is_empty() {
                    return Ok(());
                }
                Content::Blocks(written)
            }
        };
        self.push_user(message, content, told, human)
    }

    fn push_user(
        &mut self,
        message: &Message,
        content: Content<'_>,
        structured: Option<&Json>,
        human: bool,
    ) -> Result<(), serde_json::Error> {
        let uuid = self.next_uuid(&message.id);
        let row = Json::of(&UserRow {
            links: self.links(),
            kind: "user",
            message: UserMessage { role: "user", content },
            origin: human.then_some(RowOrigin { kind: HUMAN }),
            transcript_only: false,
            compact_summary: false,
            structured,
            common: self.common(&uuid, message.cwd.as_deref()),
        })?;
        self.push(&row, uuid);
        Ok(())
    }

    /// Adds a row, from which the next one goes on.
    fn push(&mut self, row: &Json, uuid: String) {
        self.rows.push_json(row);
        self.last = Some(uuid);
    }

    /// One row for each block, as the program writes an answer.
    fn assistant(&mut self, message: &'a Message) -> Result<(), serde_json::Error> {
        let call = self.calls.get(message.id.as_str()).copied();
        if let Some(id) = call.and_then(|call| call.message.as_ref()) {
            self.used_calls.insert(id.as_str());
        }
        let api_id = self.api_id(message);
        let stop = message.stop.as_ref().and_then(|stop| match stop {
            StopReason::Other(word) if self.kin => Some(word.as_str()),
            stop => stop_word(stop),
        });
        if message.stop.is_some() && stop.is_none() {
            self.losses.add(LossKind::StopReason, None, Some(&message.id));
        }
        // 2.1.197 does not end when it resumes a session in which an answer names no model (measured).
        let model = message.model.as_deref().unwrap_or_else(|| {
            self.losses.add(LossKind::FieldFilled, Some("the model"), Some(&message.id));
            UNKNOWN_MODEL
        });
        for block in &message.blocks {
            let mut writer = BlockWriter { message: &message.id, losses: &mut self.losses };
            let Some(block) = writer.assistant(block) else { continue };
            let uuid = self.next_uuid(&message.id);
            let row = Json::of(&AssistantRow {
                links: self.links(),
                message: AssistantMessage {
                    id: &api_id,
                    kind: "message",
                    role: "assistant",
                    model,
                    content: [block],
                    stop_reason: stop,
                    stop_sequence: None,
                    usage: call.map(|call| Tokens::from(&call.usage)),
                },
                request: call.and_then(|call| call.request_id.as_deref()).filter(|_| self.kin),
                kind: "assistant",
                common: self.common(&uuid, message.cwd.as_deref()),
            })?;
            self.push(&row, uuid);
        }
        Ok(())
    }

    /// The provider's id of a message: its own if no other message has it.
    fn api_id(&mut self, message: &Message) -> String {
        if let Some(id) = message.api_id.as_ref().filter(|id| !id.is_empty())
            && self.api_ids.insert(id.to_string())
        {
            return id.to_string();
        }
        let name = format!("{}\n{}", self.id, message.id);
        let derived = derived_uuid(&format!("{} message", self.dialect.purpose), &name).simple().to_string();
        let derived = format!("msg_{}", derived.get(..24).unwrap_or(&derived));
        self.api_ids.insert(derived.clone());
        derived
    }

    /// Marks a compaction, with the summary that the model sees in place of what precedes.
    fn compaction(
        &mut self,
        compaction: &'a Compaction,
        next: Option<&'a Message>,
    ) -> Result<(), serde_json::Error> {
        let own = next.is_some_and(|next| next.origin == Origin::Summary);
        let summary = compaction.summary.as_ref().and_then(|id| self.session.message(id));
        let texts: Vec<Text> = match (summary, &compaction.text) {
            (Some(message), _) => message.texts().cloned().collect(),
            (None, Some(text)) => vec![text.clone()],
            (None, None) => Vec::new(),
        };
        if !own && texts.iter().all(Text::is_blank) {
            self.losses.add(LossKind::CompactionMarker, None, compaction.after.as_ref());
            return Ok(());
        }
        let tail = self.last.clone();
        let boundary = self.new_uuid();
        // The row behind this one will be the summary.
        let anchor = self.uuid_at(self.count);
        let head = compaction.first_kept.as_ref().and_then(|id| self.first_rows.get(id)).cloned();
        let preserved = match (&head, &tail) {
            (Some(head), Some(tail)) => Some(PreservedSegment { head, anchor: &anchor, tail }),
            _ => None,
        };
        let row = Json::of(&BoundaryRow {
            links: Links { parent: None, logical_parent: tail.as_deref(), ..self.links() },
            kind: "system",
            subtype: "compact_boundary",
            content: "Conversation compacted",
            meta: false,
            level: "info",
            compact: CompactMetadata {
                trigger: compaction.trigger.as_deref(),
                tokens_before: compaction.tokens_before,
                preserved,
            },
            common: self.common(&boundary, None),
        })?;
        self.push(&row, boundary);
        if own {
            self.summary_before = true;
            return Ok(());
        }
        self.summaries_carried += u64::from(summary.is_some());
        self.summary(&MessageId::from("summary"), texts)
    }

    fn summary(&mut self, message: &MessageId, texts: Vec<Text>) -> Result<(), serde_json::Error> {
        let text = texts.iter().map(Text::as_str).collect::<Vec<_>>().join("\n");
        let uuid = self.next_uuid(message);
        let row = Json::of(&UserRow {
            links: self.links(),
            kind: "user",
            message: UserMessage { role: "user", content: Content::Owned(text) },
            origin: None,
            transcript_only: true,
            compact_summary: true,
            structured: None,
            common: self.common(&uuid, None),
        })?;
        self.push(&row, uuid);
        Ok(())
    }

    fn links(&self) -> Links<'_> {
        Links {
            parent: self.last.as_deref(),
            logical_parent: None,
            sidechain: self.agent.is_some(),
            agent: self.agent,
        }
    }

    fn common<'s>(&'s self, uuid: &'s str, cwd: Option<&'s str>) -> Common<'s> {
        let meta = &self.session.meta;
        let cwd = self.target.cwd.as_deref().or(cwd).or(meta.cwd.as_deref());
        let git_branch = meta.git_branch.as_deref();
        let timestamp = self.times.now.map(Timestamp::to_iso_milliseconds);
        let version = self.dialect.version;
        Common { uuid, timestamp, user_type: "external", cwd, session: self.id, version, git_branch }
    }

    fn uuid_at(&self, count: usize) -> String {
        let name = format!("{}\n{}\n{count}", self.id, self.agent.unwrap_or_default());
        derived_uuid(&format!("{} row", self.dialect.purpose), &name).to_string()
    }

    fn new_uuid(&mut self) -> String {
        self.count += 1;
        self.uuid_at(self.count - 1)
    }

    fn next_uuid(&mut self, message: &MessageId) -> String {
        let uuid = self.new_uuid();
        if !self.first_rows.contains_key(message) {
            self.first_rows.insert(message.clone(), uuid.clone());
        }
        uuid
    }

    fn finish(mut self, prepared: &Prepared) -> (Document, Losses) {
        let mut losses = prepared.losses.without(LossKind::CompactionSummary, self.summaries_carried);
        let session = self.session;
        let unused = session
            .calls
            .iter()
            .filter(|call| call.message.as_ref().is_none_or(|id| !self.used_calls.contains(id.as_str())));
        self.losses.add_many(LossKind::Usage, unused.count() as u64, None, None);
        let priced = session.calls.iter().filter(|call| call.usage.cost_usd.is_some()).count();
        self.losses.add_many(LossKind::Usage, priced as u64, Some("cost"), None);
        if session.reported_usage.is_some() {
            self.losses.add(LossKind::Usage, Some("total"), None);
        }
        let events = session.events.iter().filter(|event| event.kind != EventKind::Title).count();
        self.losses.add_many(LossKind::HarnessEvents, events as u64, None, None);
        self.losses.add_many(LossKind::MessageIds, prepared.messages.len() as u64, None, None);
        self.directories(prepared);
        losses.merge(self.losses);
        (self.rows.finish(), losses)
    }

    fn directories(&mut self, prepared: &Prepared) {
        let Some(cwd) = &self.target.cwd else { return };
        if self.session.meta.cwd.as_ref().is_some_and(|own| own != cwd) {
            self.losses.add(LossKind::DirectoryChanged, None, None);
        }
        let own = self.session.meta.cwd.as_ref();
        let elsewhere =
            |message: &&Message| message.cwd.as_ref().is_some_and(|at| at != cwd && Some(at) != own);
        let others = prepared.messages.iter().filter(elsewhere).count();
        self.losses.add_many(LossKind::MessageDirectory, others as u64, None, None);
    }
}

/// The times of rows: a message without one gets the nearest that is known. Where none is, it is the
/// first that there is: a session whose last row has no time is one that 2.1.197 does not find
/// (measured; 2.1.332 does).
struct Times {
    now: Option<Timestamp>,
}

impl Times {
    fn of(messages: &[Message], session: &Session) -> Times {
        let known = messages.iter().find_map(|message| message.at);
        Times { now: known.or(session.meta.started).or(Timestamp::from_milliseconds(0)) }
    }

    fn step(&mut self, message: &Message, losses: &mut Losses) {
        match message.at {
            Some(at) => {
                self.now = Some(at);
                if Timestamp::parse(&at.to_iso_milliseconds()) != Some(at) {
                    losses.add(LossKind::Time, None, Some(&message.id));
                }
            }
            None if self.now.is_some() => losses.add(LossKind::TimeFilled, None, Some(&message.id)),
            None => {}
        }
    }
}
