//! Messages: what people, the model and tools said, and what took its place.

use ibid_model::{
    Block, CallId, Compaction, EventKind, Extent, FindingKind, Message, MessageId, ModelCall, Origin,
    Outcome, Role, StopReason, Text, Thinking, ToolResult,
};

use super::content;
use super::reading::{Entry, Reading};
use super::steps::{Stamp, Streamed};
use super::surface::Range;
use crate::families::files::fields::Value;

/// How an event of the conversation enters the surface.
enum Entrance {
    /// At the end.
    Append,
    /// In the place of the events between these two, both included.
    Replace(u64, u64),
}

fn entrance(entry: &Entry<'_>) -> Entrance {
    let op = entry.fields.fields("surfaceOp");
    match op.count("start").zip(op.count("end")) {
        Some((start, end)) => Entrance::Replace(start, end),
        None => Entrance::Append,
    }
}

/// What was streamed of a block; none when that is nothing.
fn told(streamed: Streamed) -> Option<Block> {
    match streamed {
        Streamed::Text(text) => (!text.is_empty()).then(|| Block::text(text)),
        Streamed::Reasoning(text) => {
            (!text.is_empty()).then(|| Block::Thinking(Thinking { text: text.into(), tokens: Vec::new() }))
        }
        Streamed::Call { id, name, arguments } => {
            Some(Block::ToolUse(content::call(id, name.unwrap_or_default(), Some(arguments.into()))))
        }
    }
}

impl Reading<'_> {
    pub(super) fn user(&mut self, entry: &Entry<'_>) {
        let source = entry.data.fields("source");
        let origin = match (source.text("kind").as_deref(), source.text("form").as_deref()) {
            (Some("user"), _) if self.subagent => Origin::Agent,
            (Some("user"), _) => Origin::Person,
            // A message that another agent addressed to this one.
            (_, Some("relay")) => Origin::Agent,
            (Some(_), _) => Origin::Harness,
            (None, _) => {
                self.find(FindingKind::MalformedRecord, "a message that names no source", entry);
                Origin::Harness
            }
        };
        let mut message = self.message(entry, entry.data.filled("id"), Role::User, origin);
        message.blocks = content::blocks(entry.data.get("content"));
        if message.is_prompt() {
            for text in message.texts() {
                self.session.meta.offer_preview(&text.to_str());
            }
        }
        self.enter(entry, message);
    }

    /// The prompt of the harness, which versions after 0 keep among the messages.
    pub(super) fn system(&mut self, entry: &Entry<'_>) {
        let said = entry.data.fields("message");
        let mut message = self.message(entry, said.filled("id"), Role::System, Origin::Harness);
        message.blocks = content::blocks(said.get("content"));
        self.enter(entry, message);
    }

    pub(super) fn assistant(&mut self, entry: &Entry<'_>) {
        let said = entry.data.fields("message");
        let model = said.fields("source").filled("model");
        let mut message = self.message(entry, said.filled("id"), Role::Assistant, Origin::Model);
        message.blocks = content::blocks(said.get("content"));
        message.model.clone_from(&model);
        if model.is_some() {
            self.session.meta.model.clone_from(&model);
        }
        let interrupted = entry.data.get("interrupted").and_then(Value::flag) == Some(true);
        let reported = content::usage(&entry.data.fields("usage"));
        let step = self.step_of(entry);
        // What was streamed of it is in it.
        step.blocks.clear();
        step.sources.clear();
        message.stop = if interrupted { Some(StopReason::Aborted) } else { step.finish.take() };
        let own = step.take_own();
        self.model_call(
            entry,
            &message,
            reported.or(own.as_ref().map(|own| own.usage)),
            own.map(|own| own.sources),
        );
        self.calls_of(&message);
        let at = self.enter(entry, message);
        self.step_of(entry).message = Some(at);
        self.answer = Some(at);
    }

    fn model_call(
        &mut self,
        entry: &Entry<'_>,
        message: &Message,
        usage: Option<ibid_model::Usage>,
        streamed: Option<Vec<ibid_model::Source>>,
    ) {
        let Some(usage) = usage else { return };
        let mut sources = streamed.unwrap_or_default();
        sources.push(self.source(entry));
        self.session.calls.push(ModelCall {
            api_id: None,
            request_id: None,
            message: Some(message.id.clone()),
            model: message.model.clone().or_else(|| self.asked()),
            at: entry.at,
            usage,
            inherited: message.inherited,
            sources,
        });
    }

    fn calls_of(&mut self, message: &Message) {
        for block in &message.blocks {
            if let Block::ToolUse(call) = block {
                self.calls_of_step.insert(call.id.clone());
                self.wait_for(call.id.clone());
            }
        }
    }

    fn wait_for(&mut self, call: CallId) {
        let order = self.pending.len();
        self.pending.insert(call, order);
    }

    /// A call begins. It stands in the message of its step too; where that was not written, it joins
    /// the last message of the model in its turn.
    pub(super) fn tool_call(&mut self, entry: &Entry<'_>) {
        let data = &entry.data;
        let Some((id, name)) = data.filled("callId").zip(data.text("name")) else {
            self.find(FindingKind::MalformedRecord, "a call without an id or a name", entry);
            return;
        };
        let call = CallId::from(id.clone());
        if let Some(seq) = entry.seq {
            self.called.insert(seq, call.clone());
        }
        let source = self.source(entry);
        self.step_of(entry);
        if !self.calls_of_step.contains(&call) {
            self.tell_streamed();
        }
        let known = self.calls_of_step.contains(&call);
        let told = self.step.as_ref().and_then(|step| step.message);
        let at = match told.or(self.answer) {
            Some(at) => at,
            None => {
                let mut message = self.message(entry, None, Role::Assistant, Origin::Model);
                message.model = self.asked();
                message.sources.clear();
                self.append(message)
            }
        };
        if let Some(message) = self.session.messages.get_mut(at) {
            message.sources.push(source);
            if !known {
                message.blocks.push(Block::ToolUse(content::call(id, name, data.text("arguments"))));
                self.calls_of_step.insert(call.clone());
                self.wait_for(call);
            }
        }
        if let Some(step) = &mut self.step {
            step.message = Some(at);
        }
        self.answer = Some(at);
    }

    pub(super) fn tool_result(&mut self, entry: &Entry<'_>) {
        let said = entry.data.fields("message");
        if self.is_rewritten(entry) {
            return;
        }
        let cited = entry.fields.elements("sourceEventSeqs").into_iter().filter_map(Value::count);
        let mut cited = cited.filter_map(|seq| self.called.get(&seq).cloned());
        let call = content::answered(&said).map(CallId::from).or_else(|| cited.next());
        let mut message = self.message(entry, said.filled("id"), Role::User, Origin::Tools);
        match call {
            Some(call) => {
                self.pending.remove(&call);
                let result = content::result(call.text().clone(), &entry.data);
                message.blocks.push(Block::ToolResult(result));
            }
            None => {
                self.find(FindingKind::ResultWithoutCall, "a result that names no call", entry);
                message.blocks = content::blocks(said.get("content"));
            }
        }
        self.enter(entry, message);
    }

    /// A result of which only the content is replaced, to save room: what people saw stays, and
    /// that the model sees less of it from here on is an event.
    fn is_rewritten(&mut self, entry: &Entry<'_>) -> bool {
        let Entrance::Replace(start, end) = entrance(entry) else { return false };
        let Some(range) = self.surface.range(start, end) else { return false };
        let [one] = range.messages.as_slice() else { return false };
        let one = *one;
        if self.session.messages.get(one).is_none_or(|message| message.origin != Origin::Tools) {
            return false;
        }
        self.surface.replace(&range, entry.seq, one);
        self.event(EventKind::Other("tool/result replaced".into()), None, entry);
        true
    }

    pub(super) fn turn_end(&mut self, entry: &Entry<'_>) {
        self.end_step();
        let reason = entry.data.fields("reason");
        let kind = reason.filled("kind");
        self.event(EventKind::Turn, kind.clone(), entry);
        if let Some(error) = reason.fields("error").filled("message") {
            self.event(EventKind::Error, Some(error), entry);
        }
        let stop = kind.as_ref().map(content::stop);
        let broken = matches!(stop, Some(StopReason::Aborted | StopReason::Error | StopReason::MaxTokens));
        if let Some(message) = self.answer.and_then(|at| self.session.messages.get_mut(at))
            && broken
            && message.stop.is_none()
        {
            message.stop.clone_from(&stop);
        }
        let mut pending: Vec<(CallId, usize)> = self.pending.drain().collect();
        pending.sort_by_key(|(_, order)| *order);
        // The turn was stopped, and with it the calls that had no result.
        if stop == Some(StopReason::Aborted) && !pending.is_empty() {
            let mut message = self.message(entry, None, Role::User, Origin::Tools);
            let stopped = |(call, _)| {
                Block::ToolResult(ToolResult {
                    call,
                    content: Vec::new(),
                    outcome: Outcome::Interrupted,
                    structured: None,
                })
            };
            message.blocks = pending.into_iter().map(stopped).collect();
            self.append(message);
        }
        self.answer = None;
    }

    /// Ends the step under way: what was only streamed is told, and attempts without a message are
    /// calls all the same.
    pub(super) fn end_step(&mut self) {
        self.tell_streamed();
        self.calls_of_step.clear();
        let Some(step) = self.step.take() else { return };
        let model = self.asked();
        self.session.calls.extend(step.attempts.into_iter().map(|attempt| ModelCall {
            api_id: None,
            request_id: None,
            message: None,
            model: model.clone(),
            at: attempt.at,
            usage: attempt.usage,
            inherited: attempt.inherited,
            sources: attempt.sources,
        }));
    }

    /// Makes a message of what was streamed in a step that has none.
    fn tell_streamed(&mut self) {
        let Some(step) = self.step.as_mut().filter(|step| step.message.is_none()) else { return };
        let blocks = std::mem::take(&mut step.blocks);
        let sources = std::mem::take(&mut step.sources);
        let (at, inherited, stop) = (step.at, step.inherited, step.finish.take());
        let blocks: Vec<Block> = blocks.into_values().filter_map(told).collect();
        let Some(Extent::Bytes { start, .. }) = sources.first().map(|source| source.extent.clone()) else {
            return;
        };
        if blocks.is_empty() {
            return;
        }
        let mut message = Message::new(self.free_id(None, None, start), Role::Assistant, Origin::Model);
        message.at = at;
        message.model = self.asked();
        message.stop = stop;
        message.inherited = inherited;
        message.sources = sources;
        message.blocks = blocks;
        if message.model.is_some() {
            self.session.meta.model.clone_from(&message.model);
        }
        self.calls_of(&message);
        let at = self.append(message);
        if let Some(step) = &mut self.step {
            step.message = Some(at);
        }
        self.answer = Some(at);
    }

    /// A message of an event.
    fn message(&mut self, entry: &Entry<'_>, id: Option<Text>, role: Role, origin: Origin) -> Message {
        let stamp: Stamp = self.stamp(entry);
        if id.as_ref().is_some_and(|id| self.ids.contains(id.as_str())) {
            self.find(FindingKind::RepeatedId, "an earlier message has this id", entry);
        }
        let mut message = Message::new(self.free_id(id, entry.seq, entry.start), role, origin);
        message.at = stamp.at;
        message.inherited = stamp.inherited;
        message.sources = vec![stamp.source];
        message
    }

    /// An id that no other message has: the written one, else one of the event's number, else one
    /// of its place in the file.
    fn free_id(&mut self, written: Option<Text>, seq: Option<u64>, start: u64) -> MessageId {
        let numbered = || seq.map(|seq| MessageId::from(format!("seq-{seq}")));
        let mut id = written.map(MessageId::from).or_else(numbered);
        if id.as_ref().is_some_and(|id| self.ids.contains(id)) {
            id = numbered();
        }
        let mut id = id.unwrap_or_else(|| MessageId::from(format!("at-{start}")));
        // Other messages can have ids of this form; those of one place are tried for it alone.
        let mut number = 0_u64;
        while self.ids.contains(&id) {
            id = MessageId::from(format!("at-{start}-{number}"));
            number += 1;
        }
        self.ids.insert(id.clone());
        id
    }

    /// Puts a message where its event says; returns its position.
    fn enter(&mut self, entry: &Entry<'_>, mut message: Message) -> usize {
        let range = match entrance(entry) {
            Entrance::Append => None,
            Entrance::Replace(start, end) => {
                let range = self.surface.range(start, end);
                if range.is_none() {
                    let detail = "it takes the place of events that are not there; it was added at the end";
                    self.find(FindingKind::MalformedRecord, detail, entry);
                }
                range
            }
        };
        let Some(range) = range else {
            let at = self.append(message);
            self.surface.append(entry.seq, at);
            return at;
        };
        let at = match (message.origin, range.messages.first(), range.messages.last()) {
            (Origin::Harness | Origin::Agent, ..) if message.role == Role::User => {
                message.origin = Origin::Summary;
                self.compaction(entry, &message, &range);
                self.append(message)
            }
            (_, Some(first), Some(last)) if self.chain.is_one_stretch(&range.messages) => {
                self.branch_off(*first, *last, message)
            }
            _ => self.append(message),
        };
        self.surface.replace(&range, entry.seq, at);
        at
    }

    /// The history up to the end of the range is behind a summary.
    fn compaction(&mut self, entry: &Entry<'_>, summary: &Message, range: &Range) {
        let compaction = Compaction {
            after: self.id_at(self.chain.tail),
            summary: Some(summary.id.clone()),
            text: None,
            first_kept: self.id_at(range.behind),
            trigger: None,
            tokens_before: None,
            at: entry.at,
            sources: summary.sources.clone(),
        };
        self.session.compactions.push(compaction);
    }

    /// What was replaced becomes a side branch: the new message goes on from what stands before it,
    /// and what stands behind it goes on from the new message.
    fn branch_off(&mut self, first: usize, last: usize, mut message: Message) -> usize {
        let at = self.session.messages.len();
        let (before, behind) = self.chain.replace(first, last);
        message.parent = self.id_at(before);
        if let Some(behind) = behind.and_then(|behind| self.session.messages.get_mut(behind)) {
            behind.parent = Some(message.id.clone());
        }
        self.session.messages.push(message);
        at
    }

    /// Adds a message at the end of the live branch; returns its position.
    fn append(&mut self, mut message: Message) -> usize {
        let at = self.session.messages.len();
        let before = self.chain.append();
        message.parent = self.id_at(before);
        self.session.messages.push(message);
        at
    }

    pub(super) fn id_at(&self, at: Option<usize>) -> Option<MessageId> {
        Some(self.session.messages.get(at?)?.id.clone())
    }
}
