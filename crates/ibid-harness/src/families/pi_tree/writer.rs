//! From a common session to the entries of a file.
//!
//! What is written follows what pi 0.73.1 and 1.6.0 were seen to accept: entries need ids and a
//! chain of parents, and assistant messages need token counts; nothing else is needed, and what is
//! not known is left out.

use std::collections::{HashMap, HashSet};

use ibid_carrier::jsonl::Builder;
use ibid_model::{
    Block, Compaction, EventKind, LossKind, Losses, Message, MessageId, Origin, Outcome, Prepared, Role,
    Rules, Session, SessionId, StopReason, Text, Timestamp, ToolUse, Usage, prepare,
};

use super::content_out::{Part, message_parts, result_parts};
use super::lines::{
    AssistantLine, Chain, CompactionLine, Entry, Header, MessageLine, ModelLine, NameLine, ResultLine,
    UsageLine, UserLine,
};
use super::tools::{self, Encoded};
use super::{Dialect, TreeFile};
use crate::core::{CodecError, Converted, Target, conversion_name, derived_uuid_v7};

/// What a pi-style program accepts. Thinking without a signature would go out as a part of the
/// answer (measured with `anthropic-messages`), so none is written.
// https://github.com/openclaw/openclaw/issues/101836 (fault 27)
const RULES: Rules = Rules::STRICT;

/// Makes a session file.
///
/// # Errors
/// When a record cannot be written as JSON.
pub(crate) fn from_common(
    dialect: &'static Dialect,
    session: &Session,
    target: &Target,
) -> Result<Converted<(SessionId, TreeFile)>, CodecError> {
    let prepared = prepare(session, &target.selection, &RULES);
    let times = Times::of(session, &prepared);
    let id = target.id.clone().unwrap_or_else(|| {
        let zero = || Timestamp::from_milliseconds(0);
        let name = conversion_name(session, target);
        match times.begin.or_else(zero) {
            Some(at) => SessionId::from(derived_uuid_v7(at, dialect.harness, &name).to_string()),
            None => session.id.clone(),
        }
    });
    let mut writer = Writer {
        dialect,
        session,
        losses: kept_losses(&prepared),
        chain: Chain::new(&id),
        builder: Builder::new(),
        calls: calls_by_message(session),
        names: HashMap::new(),
        entries: HashMap::new(),
    };
    writer.losses.add_many(LossKind::TimeFilled, times.filled, None, None);
    writer.losses.add_many(LossKind::Time, times.inexact, Some("less than a millisecond"), None);
    let cwd = target.cwd.clone().or_else(|| session.meta.cwd.clone());
    writer.header(&id, cwd.as_ref(), times.begin)?;
    writer.messages(&prepared, &times)?;
    writer.report(&id, cwd.as_ref(), &prepared);
    let document = writer.builder.finish();
    Ok(Converted { value: (id, TreeFile { document }), losses: writer.losses })
}

/// The losses of the preparation without those that are none here: a summary is carried by the
/// compaction entry that it belongs to.
fn kept_losses(prepared: &Prepared) -> Losses {
    let carried = prepared.compactions.iter().filter(|(_, compaction)| compaction.summary.is_some()).count();
    prepared.losses.without(LossKind::CompactionSummary, carried as u64)
}

fn calls_by_message(session: &Session) -> HashMap<&MessageId, Usage> {
    let mut calls: HashMap<&MessageId, Usage> = HashMap::new();
    for call in &session.calls {
        if let Some(message) = &call.message {
            let sum = calls.entry(message).or_default();
            *sum = sum.plus(&call.usage);
        }
    }
    calls
}

/// The times of the messages, with those that are not known taken from their neighbours.
struct Times {
    begin: Option<Timestamp>,
    of: Vec<Option<Timestamp>>,
    filled: u64,
    inexact: u64,
}

impl Times {
    fn of(session: &Session, prepared: &Prepared) -> Times {
        let known: Vec<Option<Timestamp>> = prepared.messages.iter().map(|message| message.at).collect();
        let first = known.iter().flatten().next().copied();
        let begin = session.meta.started.or(first);
        let mut last = first.or(begin);
        let mut filled = 0;
        let mut inexact = 0;
        let mut of = Vec::with_capacity(known.len());
        for at in known {
            if let Some(at) = at {
                inexact += u64::from(at.to_jiff().subsec_nanosecond() % 1_000_000 != 0);
            } else {
                filled += u64::from(last.is_some());
            }
            last = at.or(last);
            of.push(last);
        }
        Times { begin, of, filled, inexact }
    }
}

struct Writer<'a> {
    dialect: &'static Dialect,
    session: &'a Session,
    losses: Losses,
    chain: Chain,
    builder: Builder,
    /// The tokens of each message that a model call made.
    calls: HashMap<&'a MessageId, Usage>,
    /// The names that calls were written under.
    names: HashMap<Text, Text>,
    /// The entry of each message.
    entries: HashMap<MessageId, String>,
}

impl Writer<'_> {
    fn header(
        &mut self,
        id: &SessionId,
        cwd: Option<&Text>,
        begin: Option<Timestamp>,
    ) -> Result<(), CodecError> {
        self.builder.push(&Header {
            kind: "session",
            version: 3,
            id: id.as_str(),
            timestamp: begin.map(Timestamp::to_iso_milliseconds),
            cwd: cwd.map(Text::as_str),
        })?;
        if let Some(model) = &self.session.meta.model
            && let Some((provider, _)) = provider_of(model)
        {
            self.entry("model_change", begin, ModelLine { provider, model_id: model.as_str() })?;
        }
        if let Some(title) = &self.session.meta.title {
            self.entry("session_info", begin, NameLine { name: title.text.as_str() })?;
        }
        Ok(())
    }

    fn entry<B: serde::Serialize>(
        &mut self,
        kind: &'static str,
        at: Option<Timestamp>,
        body: B,
    ) -> Result<String, CodecError> {
        let (id, parent) = self.chain.next();
        let timestamp = at.map(Timestamp::to_iso_milliseconds);
        self.builder.push(&Entry { kind, id: &id, parent_id: parent.as_deref(), timestamp, body })?;
        Ok(id)
    }

    fn messages(&mut self, prepared: &Prepared, times: &Times) -> Result<(), CodecError> {
        let mut compactions = prepared.compactions.iter().peekable();
        for (at, message) in prepared.messages.iter().enumerate() {
            while let Some((_, compaction)) = compactions.next_if(|(before, _)| *before <= at) {
                self.compaction(compaction, prepared)?;
            }
            let time = times.of.get(at).copied().flatten();
            match message.role {
                Role::Assistant => self.assistant(message, time)?,
                _ => self.user(message, time)?,
            }
        }
        for (_, compaction) in compactions {
            self.compaction(compaction, prepared)?;
        }
        Ok(())
    }

    fn user(&mut self, message: &Message, at: Option<Timestamp>) -> Result<(), CodecError> {
        let timestamp = at.map(Timestamp::as_milliseconds);
        let mut others = Vec::new();
        for block in &message.blocks {
            let Block::ToolResult(result) = block else {
                others.push(block);
                continue;
            };
            let content = result_parts(result, &message.id, &mut self.losses);
            let is_error = match result.outcome {
                Outcome::Unknown => None,
                Outcome::Ok => Some(false),
                Outcome::Error | Outcome::Interrupted => Some(true),
            };
            if result.outcome == Outcome::Interrupted {
                self.losses.add(LossKind::ResultStatus, Some("interrupted"), Some(&message.id));
            }
            // A structured form is a program's own; another program's renderers would stumble
            // over one that is not theirs.
            let own = self.session.harness == self.dialect.harness;
            if result.structured.is_some() && !own {
                self.losses.add(LossKind::StructuredResult, None, Some(&message.id));
            }
            let call = result.call.text();
            let line = ResultLine {
                role: "toolResult",
                tool_call_id: call.as_str(),
                tool_name: self.names.get(call.as_str()).cloned(),
                content,
                details: result.structured.as_ref().filter(|_| own),
                is_error,
                timestamp,
            };
            let id = self.entry("message", at, MessageLine { message: line })?;
            self.entries.entry(message.id.clone()).or_insert(id);
        }
        let content = message_parts(&others, message, &mut self.losses);
        if !content.is_empty() {
            let line = UserLine { role: "user", content, timestamp };
            let id = self.entry("message", at, MessageLine { message: line })?;
            self.entries.entry(message.id.clone()).or_insert(id);
        }
        Ok(())
    }

    fn assistant(&mut self, message: &Message, at: Option<Timestamp>) -> Result<(), CodecError> {
        let mut encoded: HashMap<&str, Encoded> = HashMap::new();
        for block in &message.blocks {
            if let Block::ToolUse(call) = block {
                encoded.insert(call.id.as_str(), self.call(call, &message.id));
            }
        }
        let blocks: Vec<&Block> = message.blocks.iter().collect();
        let mut content = message_parts(&blocks, message, &mut self.losses);
        for part in &mut content {
            if let Part::ToolCall { id, name, arguments } = part
                && let Some(written) = encoded.get(id.as_str())
            {
                (*name, *arguments) = (written.name.clone(), written.input.clone());
            }
        }
        if content.is_empty() {
            return Ok(());
        }
        let provider = message.model.as_ref().and_then(|model| provider_of(model));
        if provider.is_some() {
            self.losses.add(LossKind::FieldFilled, Some("provider"), Some(&message.id));
        }
        let line = AssistantLine {
            role: "assistant",
            content,
            api: provider.map(|(_, api)| api),
            provider: provider.map(|(provider, _)| provider),
            model: message.model.as_deref(),
            usage: self.usage(message),
            stop_reason: self.stop_reason(message),
            timestamp: at.map(Timestamp::as_milliseconds),
            response_id: message.api_id.as_deref(),
        };
        let id = self.entry("message", at, MessageLine { message: line })?;
        self.entries.insert(message.id.clone(), id);
        Ok(())
    }

    fn call(&mut self, call: &ToolUse, message: &MessageId) -> Encoded {
        let written = tools::encode(&call.name, &call.tool, &call.extra);
        let name = call.name.as_str();
        if written.raw {
            self.losses.add(LossKind::ToolKeptRaw, Some(name), Some(message));
        }
        if written.renamed {
            self.losses.add(LossKind::ToolRenamed, Some(name), Some(message));
        }
        if written.wrapped {
            self.losses.add(LossKind::InputWrapped, Some(name), Some(message));
        }
        self.names.insert(call.id.text().clone(), written.name.clone());
        written
    }

    /// The token counts of a message: the program stops at one without any.
    fn usage(&mut self, message: &Message) -> UsageLine {
        let known = self.calls.remove(&message.id).unwrap_or_default();
        if known.input.is_none() || known.output.is_none() {
            self.losses.add(LossKind::FieldFilled, Some("usage"), Some(&message.id));
        }
        UsageLine::from(&known)
    }

    fn stop_reason(&mut self, message: &Message) -> Option<&'static str> {
        let word = match message.stop.as_ref()? {
            StopReason::EndTurn => "stop",
            StopReason::ToolUse => "toolUse",
            StopReason::MaxTokens => "length",
            // The program leaves out an answer that says it failed or was stopped, text and all,
            // and sends the results of its calls without them.
            // https://github.com/earendil-works/pi/issues/812 (fault 26)
            _ => {
                self.losses.add(LossKind::StopReason, None, Some(&message.id));
                let calls = message.blocks.iter().any(|block| matches!(block, Block::ToolUse(_)));
                if calls { "toolUse" } else { "stop" }
            }
        };
        Some(word)
    }

    fn compaction(&mut self, compaction: &Compaction, prepared: &Prepared) -> Result<(), CodecError> {
        let summary_message = compaction.summary.as_ref();
        let is_carried_as_message =
            prepared.messages.iter().any(|m| m.origin == Origin::Summary && Some(&m.id) == summary_message);
        let summary = compaction.text.clone().or_else(|| {
            let message = self.session.message(summary_message?)?;
            let texts: Vec<&str> = message.texts().map(Text::as_str).collect();
            (!texts.is_empty()).then(|| texts.join("\n").into())
        });
        let Some(summary) = summary.filter(|_| !is_carried_as_message) else {
            self.losses.add(LossKind::CompactionMarker, None, compaction.after.as_ref());
            return Ok(());
        };
        if compaction.tokens_before.is_none() {
            self.losses.add(LossKind::FieldFilled, Some("tokensBefore"), compaction.after.as_ref());
        }
        let kept = compaction.first_kept.as_ref().and_then(|kept| self.entries.get(kept)).cloned();
        let (own, _) = self.chain.peek();
        let line = CompactionLine {
            summary: summary.as_str(),
            // An entry that keeps nothing names itself.
            first_kept_entry_id: kept.as_deref().unwrap_or(&own),
            tokens_before: compaction.tokens_before.unwrap_or(0),
        };
        self.entry("compaction", compaction.at, line)?;
        Ok(())
    }

    /// What the file has no place for.
    fn report(&mut self, id: &SessionId, cwd: Option<&Text>, prepared: &Prepared) {
        let (session, losses) = (self.session, &mut self.losses);
        if *id != session.id {
            losses.add(LossKind::SessionId, None, None);
        }
        losses.add_many(LossKind::MessageIds, prepared.messages.len() as u64, None, None);
        if cwd != session.meta.cwd.as_ref() && session.meta.cwd.is_some() {
            losses.add(LossKind::DirectoryChanged, None, None);
        }
        if session.meta.git_branch.is_some() {
            losses.add(LossKind::GitBranch, None, None);
        }
        losses.add_many(LossKind::Lineage, session.lineage.len() as u64, None, None);
        let moved = prepared.messages.iter().filter(|m| m.cwd.is_some() && m.cwd != session.meta.cwd);
        for message in moved {
            losses.add(LossKind::MessageDirectory, None, Some(&message.id));
        }
        let carried = |kind: &EventKind| matches!(kind, EventKind::Title | EventKind::Model);
        let events = session.events.iter().filter(|event| !carried(&event.kind)).count();
        losses.add_many(LossKind::HarnessEvents, events as u64, None, None);
        // Calls whose message was not written, other than those on branches left behind.
        let view: HashSet<&MessageId> =
            session.view(&Default::default()).messages.iter().map(|message| &message.id).collect();
        let left = session.calls.iter().filter(|call| match &call.message {
            Some(message) => view.contains(message) && self.calls.contains_key(message),
            None => true,
        });
        losses.add_many(LossKind::Usage, left.count() as u64, None, None);
        if session.reported_usage.is_some() {
            losses.add(LossKind::Usage, Some("the total that the program reported"), None);
        }
    }
}

/// The provider and the API of models whose names only one maker gives. pi goes on with the model
/// of the last message only when it knows both.
fn provider_of(model: &str) -> Option<(&'static str, &'static str)> {
    let begins = |starts: &[&str]| starts.iter().any(|start| model.starts_with(start));
    if begins(&["claude-"]) {
        Some(("anthropic", "anthropic-messages"))
    } else if begins(&["gpt-", "o1", "o3", "o4-", "codex-"]) {
        Some(("openai", "openai-responses"))
    } else if begins(&["gemini-"]) {
        Some(("google", "google-generative-ai"))
    } else {
        None
    }
}

impl From<&Usage> for UsageLine {
    fn from(usage: &Usage) -> UsageLine {
        let count = |count: Option<u64>| count.unwrap_or(0);
        let parts = [usage.input, usage.output, usage.cache_read, usage.cache_write];
        UsageLine {
            input: count(usage.input),
            output: count(usage.output),
            cache_read: count(usage.cache_read),
            cache_write: count(usage.cache_write),
            cache_write1h: usage.cache_write_1h,
            reasoning: usage.reasoning,
            total_tokens: parts.into_iter().map(count).fold(0, u64::saturating_add),
            cost: super::lines::CostLine { total: usage.cost_usd.unwrap_or(0.0), ..Default::default() },
        }
    }
}
