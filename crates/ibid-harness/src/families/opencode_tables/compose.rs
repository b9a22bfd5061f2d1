//! From the common session to rows.

use std::collections::HashMap;

use ibid_carrier::sqlite::{RowSet, SqlValue, TableRows};
use ibid_model::{
    Block, CommandRule, Compaction, LossKind, Losses, Message, MessageId, Origin, Prepared, Relation, Role,
    Rules, Session, Text, ThinkingRule, ToolResult, Usage, prepare,
};

use super::body::{Kin, RowsBody};
use super::compose_parts as parts;
use super::ids::{Ascending, session as session_id};
use super::usage::finish_word;
use crate::core::{Arguments, Converted, Target, conversion_name, derived_uuid};

/// The project that the program moves sessions out of by itself, when their directory turns out to
/// belong to another one (measured).
pub(crate) const GLOBAL: &str = "global";

/// What the program takes. Reasoning of another provider or model would be sent as plain text.
fn rules(own: bool) -> Rules {
    Rules {
        thinking: ThinkingRule::Drop,
        commands: CommandRule::Text,
        system_messages: false,
        // What another program put in front of its model means nothing here.
        injected_context: own,
        ..Rules::STRICT
    }
}

/// Makes the rows of a session. `harness` is the program they are for, `version` the one whose
/// tables they have.
pub(crate) fn from_common(
    harness: &str,
    version: &str,
    session: &Session,
    target: &Target,
) -> Converted<RowsBody> {
    let own = session.harness == *harness;
    let prepared = prepare(session, &target.selection, &rules(own));
    let name = conversion_name(session, target);
    let times = Times::of(session, &prepared);
    let id = match &target.id {
        Some(id) => id.clone(),
        None => session_id(times.started, &name).into(),
    };
    let mut composer = Composer {
        session,
        own,
        id: id.to_string(),
        cwd: directory(session, target),
        keep_cwd: target.cwd.is_none(),
        ids: Ascending::new(&name),
        usage: usage_by_message(session),
        losses: Losses::none(),
        messages: Vec::new(),
        parts: Vec::new(),
        asked: None,
        waiting: Vec::new(),
        summaries: 0,
        next_model: None,
        written: HashMap::new(),
    };
    composer.conversation(&prepared, &times);
    composer.report(&prepared, &times, target);
    let rows = composer.rows(version, target, &times, &name);
    let body = RowsBody { database: Default::default(), key: id, rows, kin: Kin::default() };
    Converted { value: body, losses: composer.losses }
}

fn directory(session: &Session, target: &Target) -> Text {
    let recorded = target.cwd.as_ref().or(session.meta.cwd.as_ref()).or(target.home.as_ref());
    recorded.cloned().unwrap_or_else(|| Text::from("/"))
}

/// When each message was, without gaps and never going back: the program orders by it.
struct Times {
    started: i64,
    updated: i64,
    messages: Vec<i64>,
    filled: u64,
    moved: u64,
}

impl Times {
    fn of(session: &Session, prepared: &Prepared) -> Times {
        let known = |message: &Message| message.at.map(|at| at.as_milliseconds()).filter(|ms| *ms > 0);
        let meta = |at: Option<ibid_model::Timestamp>| at.map(|at| at.as_milliseconds()).filter(|ms| *ms > 0);
        let first = prepared.messages.iter().find_map(known);
        let (started, updated) = (meta(session.meta.started), meta(session.meta.updated));
        // A session that is younger than its messages would be taken for a copy of another one.
        let begin = started.into_iter().chain(first).min().or(updated).unwrap_or(1);
        let mut times = Times { started: begin, updated: begin, messages: Vec::new(), filled: 0, moved: 0 };
        let mut last = first.unwrap_or(begin).max(begin);
        for message in &prepared.messages {
            match known(message) {
                Some(at) if at >= last => last = at,
                Some(_) => times.moved += 1,
                None => times.filled += 1,
            }
            times.messages.push(last);
        }
        times.updated = updated.unwrap_or(begin).max(last);
        times
    }
}

/// The first model that wrote from this message on.
fn models(prepared: &Prepared, at: usize) -> Option<Text> {
    prepared.messages.get(at..)?.iter().find_map(|message| message.model.clone())
}

fn usage_by_message(session: &Session) -> HashMap<MessageId, Usage> {
    let mut usage: HashMap<MessageId, Usage> = HashMap::new();
    for call in &session.calls {
        if let Some(message) = &call.message {
            usage.entry(message.clone()).and_modify(|sum| *sum = sum.plus(&call.usage)).or_insert(call.usage);
        }
    }
    usage
}

struct Composer<'a> {
    session: &'a Session,
    own: bool,
    id: String,
    cwd: Text,
    keep_cwd: bool,
    ids: Ascending<'a>,
    usage: HashMap<MessageId, Usage>,
    losses: Losses,
    messages: Vec<Vec<SqlValue>>,
    parts: Vec<Vec<SqlValue>>,
    /// The last user message, which the next assistant messages answer.
    asked: Option<String>,
    /// What the program put in front of the next user message.
    waiting: Vec<Arguments>,
    summaries: u64,
    /// The model that answers what comes next.
    next_model: Option<Text>,
    /// The rows that messages became.
    written: HashMap<MessageId, String>,
}

impl Composer<'_> {
    fn conversation(&mut self, prepared: &Prepared, times: &Times) {
        let mut compactions = prepared.compactions.iter().peekable();
        let mut messages = prepared.messages.iter().zip(&times.messages).enumerate().peekable();
        self.next_model = models(prepared, 0).or_else(|| self.session.meta.model.clone());
        while let Some((at, (message, time))) = messages.next() {
            if message.role == Role::User {
                self.next_model = models(prepared, at).or_else(|| self.next_model.take());
            }
            while let Some((_, compaction)) = compactions.next_if(|(before, _)| *before <= at) {
                self.compaction(compaction, message, *time);
            }
            match message.role {
                Role::Assistant => {
                    let answered = |next: &(usize, (&Message, &i64))| next.1.0.origin == Origin::Tools;
                    let results = messages.next_if(answered);
                    let end = results.map_or(*time, |(_, (_, time))| *time);
                    let results =
                        results.map(|(_, (message, _))| message.blocks.as_slice()).unwrap_or_default();
                    self.assistant(message, results, *time, end);
                }
                _ => {
                    let next_is_said = messages.peek().is_some_and(|(_, (next, _))| next.role == Role::User);
                    self.user(message, *time, next_is_said);
                }
            }
        }
        for (_, compaction) in compactions {
            // Nothing follows it, so the program would compact when the session is carried on.
            self.losses.add(LossKind::CompactionMarker, None, compaction.after.as_ref());
        }
    }

    fn row(&mut self, data: &Arguments, time: i64) -> String {
        let id = self.ids.next("msg", time);
        self.messages.push(vec![
            SqlValue::from(id.as_str()),
            SqlValue::from(self.id.as_str()),
            SqlValue::Integer(time),
            SqlValue::Integer(time),
            SqlValue::from(data.to_json().as_str()),
        ]);
        id
    }

    fn part(&mut self, message: &str, data: &Arguments, time: i64) {
        let id = self.ids.next("prt", time);
        self.parts.push(vec![
            SqlValue::from(id),
            SqlValue::from(message),
            SqlValue::from(self.id.as_str()),
            SqlValue::Integer(time),
            SqlValue::Integer(time),
            SqlValue::from(parts::spelled(data).as_str()),
        ]);
    }

    /// A user message. What the program put in goes into the message that the person then wrote.
    fn user(&mut self, message: &Message, time: i64, next_is_said: bool) {
        let put_in = message.origin == Origin::Harness;
        let mut written = std::mem::take(&mut self.waiting);
        for block in &message.blocks {
            written.extend(parts::said(block, put_in, message, &mut self.losses));
        }
        // A picture beside what a person says would read as the person's.
        let pictures = message.blocks.iter().any(|b| matches!(b, Block::Image(_) | Block::Document(_)));
        if put_in && next_is_said && !pictures {
            self.waiting = written;
            return;
        }
        let mut data = Arguments::default();
        data.push("role", "user");
        data.push("time", &parts::object([("created", time)]));
        data.push("agent", "build");
        data.push("model", &parts::model(self.next_model.as_ref()));
        let id = self.row(&data, time);
        for part in &written {
            self.part(&id, part, time);
        }
        self.written.insert(message.id.clone(), id.clone());
        self.asked = Some(id);
    }

    fn assistant(&mut self, message: &Message, results: &[Block], time: i64, end: i64) {
        let usage = self.usage.remove(&message.id);
        let mut data = Arguments::default();
        data.push("role", "assistant");
        // What nobody asked for answers a message that is not there; the screen wants a name.
        let asked = self.asked.clone().unwrap_or_else(|| self.ids.next("msg", time));
        data.push("parentID", &asked);
        data.push("mode", "build");
        data.push("agent", "build");
        self.tail_of_assistant(&mut data, message, usage.as_ref(), time, end);
        let id = self.row(&data, time);
        self.written.insert(message.id.clone(), id.clone());
        let mut start = Arguments::default();
        start.push("type", "step-start");
        self.part(&id, &start, time);
        let by_call: HashMap<&str, &ToolResult> = results
            .iter()
            .filter_map(|block| match block {
                Block::ToolResult(result) => Some((result.call.as_str(), result)),
                _ => None,
            })
            .collect();
        let mut called = false;
        for block in &message.blocks {
            let part = match block {
                Block::ToolUse(call) => {
                    called = true;
                    let result = by_call.get(call.id.as_str()).copied();
                    Some(parts::call(call, result, self.own, message, (time, end), &mut self.losses))
                }
                Block::Text(_) if called => {
                    // The program sends the texts of a message before its calls.
                    self.losses.add(LossKind::Regrouped, None, Some(&message.id));
                    parts::said(block, false, message, &mut self.losses)
                }
                block => parts::written(block, message, &mut self.losses),
            };
            if let Some(part) = part {
                self.part(&id, &part, time);
            }
        }
        if let Some(usage) = usage {
            let mut finish = Arguments::default();
            finish.push("type", "step-finish");
            finish.push("reason", &message.stop.as_ref().map_or("unknown".into(), finish_word));
            finish.push("tokens", &parts::tokens(Some(&usage)));
            finish.push("cost", &usage.cost_usd.unwrap_or(0.0));
            self.part(&id, &finish, end);
            parts::report_usage(&usage, message, &mut self.losses);
        }
    }

    fn tail_of_assistant(
        &self,
        data: &mut Arguments,
        message: &Message,
        usage: Option<&Usage>,
        time: i64,
        end: i64,
    ) {
        let cwd = message.cwd.as_ref().filter(|_| self.keep_cwd).unwrap_or(&self.cwd);
        let mut path = Arguments::default();
        path.push("cwd", cwd);
        path.push("root", &self.cwd);
        data.push("path", &path.to_json());
        data.push("cost", &usage.and_then(|usage| usage.cost_usd).unwrap_or(0.0));
        data.push("tokens", &parts::tokens(usage));
        data.push("modelID", parts::model_name(message.model.as_ref()));
        data.push("providerID", parts::provider(message.model.as_ref()));
        data.push("time", &parts::object([("created", time), ("completed", end)]));
        data.push_some("finish", message.stop.as_ref().map(finish_word).as_ref());
    }

    /// A compaction: a message that asks for a summary, and the summary that answers it.
    fn compaction(&mut self, compaction: &Compaction, next: &Message, time: i64) {
        let summary = compaction.summary.as_ref();
        if summary == Some(&next.id) {
            // The summary is carried as what the conversation begins with.
            return;
        }
        let held = summary.and_then(|id| self.session.message(id));
        let text = match (&compaction.text, held) {
            (Some(text), _) => Some(text.clone()),
            (None, Some(message)) => {
                let texts: Vec<&str> = message.texts().map(Text::as_str).collect();
                Some(Text::from(texts.join("\n")))
            }
            (None, None) => None,
        };
        let kept = compaction.first_kept.as_ref().map(|kept| self.written.get(kept).cloned());
        // A tail that begins at nothing would make the program ignore the summary.
        let Some(text) = text.filter(|text| !text.is_blank() && kept != Some(None)) else {
            self.losses.add(LossKind::CompactionMarker, None, compaction.after.as_ref());
            return;
        };
        let mut data = Arguments::default();
        data.push("role", "user");
        data.push("time", &parts::object([("created", time)]));
        data.push("agent", "build");
        data.push("model", &parts::model(self.next_model.as_ref()));
        let asked = self.row(&data, time);
        let mut part = Arguments::default();
        part.push("type", "compaction");
        part.push("auto", &(compaction.trigger.as_deref() == Some("auto")));
        part.push_some("tail_start_id", kept.flatten().as_ref());
        self.part(&asked, &part, time);
        let mut data = Arguments::default();
        data.push("role", "assistant");
        data.push("parentID", &asked);
        data.push("mode", "compaction");
        data.push("agent", "compaction");
        data.push("summary", &true);
        let mut like = Message::new("", Role::Assistant, Origin::Summary);
        like.model = held.and_then(|message| message.model.clone());
        like.stop = Some(ibid_model::StopReason::EndTurn);
        let usage = held.and_then(|message| self.usage.remove(&message.id));
        self.tail_of_assistant(&mut data, &like, usage.as_ref(), time, time);
        let id = self.row(&data, time);
        let mut part = Arguments::default();
        part.push("type", "text");
        part.push("text", &text);
        self.part(&id, &part, time);
        self.summaries += u64::from(held.is_some());
        self.asked = Some(asked);
    }

    fn report(&mut self, prepared: &Prepared, times: &Times, target: &Target) {
        self.losses.merge(prepared.losses.without(LossKind::CompactionSummary, self.summaries));
        let session = self.session;
        let losses = &mut self.losses;
        losses.add_many(LossKind::TimeFilled, times.filled, None, None);
        losses.add_many(LossKind::Time, times.moved, Some("a time before the message in front of it"), None);
        losses.add_many(LossKind::Usage, self.usage.len() as u64, None, None);
        losses.add_many(LossKind::HarnessEvents, session.events.len() as u64, None, None);
        if session.meta.git_branch.is_some() {
            losses.add(LossKind::GitBranch, None, None);
        }
        let carried = |relation| relation == Relation::Spawned && target.parent.is_some();
        let lost = session.lineage.iter().filter(|lineage| !carried(lineage.relation)).count();
        losses.add_many(LossKind::Lineage, lost as u64, None, None);
        let kept = |message: &Message| self.keep_cwd && message.role == Role::Assistant;
        let directories = prepared
            .messages
            .iter()
            .filter(|message| message.cwd.is_some() && message.cwd != session.meta.cwd && !kept(message));
        losses.add_many(LossKind::MessageDirectory, directories.count() as u64, None, None);
        if session.meta.cwd.as_ref() != Some(&self.cwd) {
            losses.add(LossKind::DirectoryChanged, None, None);
        }
        if session.id != self.id.as_str() {
            losses.add(LossKind::SessionId, None, None);
        }
        // The screen shows no session whose messages lack one, and no source says which it was.
        losses.add_many(
            LossKind::FieldFilled,
            prepared.messages.iter().filter(|message| message.origin != Origin::Tools).count() as u64,
            Some("the provider of the model"),
            None,
        );
        losses.add_many(LossKind::MessageIds, prepared.messages.len() as u64, None, None);
    }

    fn rows(&mut self, version: &str, target: &Target, times: &Times, name: &str) -> RowSet {
        let title = match (&self.session.meta.title, target.parent.is_some()) {
            (Some(title), _) => title.text.to_string(),
            // The program's own words for a session without a title: it makes one.
            (None, child) => {
                let at = ibid_model::Timestamp::from_milliseconds(times.started);
                let at = at.map(ibid_model::Timestamp::to_iso_milliseconds).unwrap_or_default();
                format!("{} session - {at}", if child { "Child" } else { "New" })
            }
        };
        let digest = derived_uuid("slug", name).simple().to_string();
        let slug = format!("ibid-{}", digest.get(..8).unwrap_or_default());
        let parent = target.parent.as_ref().map_or(SqlValue::Null, |parent| SqlValue::from(parent.as_str()));
        let session = vec![
            SqlValue::from(self.id.as_str()),
            SqlValue::from(GLOBAL),
            parent,
            SqlValue::from(slug),
            SqlValue::from(self.cwd.as_str()),
            SqlValue::from(title),
            SqlValue::from(version),
            SqlValue::Integer(times.started),
            SqlValue::Integer(times.updated),
        ];
        let table = |name: &str, columns: &[&str], rows| TableRows {
            table: name.to_owned(),
            columns: columns.iter().map(|column| (*column).to_owned()).collect(),
            key: vec!["id".to_owned()],
            rows,
        };
        let of_session = [
            "id",
            "project_id",
            "parent_id",
            "slug",
            "directory",
            "title",
            "version",
            "time_created",
            "time_updated",
        ];
        let of_message = ["id", "session_id", "time_created", "time_updated", "data"];
        let of_part = ["id", "message_id", "session_id", "time_created", "time_updated", "data"];
        let mut tables = vec![table("session", &of_session, vec![session])];
        if !self.messages.is_empty() {
            tables.push(table("message", &of_message, std::mem::take(&mut self.messages)));
        }
        if !self.parts.is_empty() {
            tables.push(table("part", &of_part, std::mem::take(&mut self.parts)));
        }
        RowSet { tables }
    }
}
