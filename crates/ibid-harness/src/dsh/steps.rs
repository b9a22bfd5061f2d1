//! One step: a call of the model, and what was streamed of it.
//!
//! A step has one `assistant/message` at its end. Of a step that has none (the program was stopped,
//! or the provider failed) the streamed pieces are all there is. One step can take several
//! attempts, and each that reports tokens is a call that was paid for.

use std::collections::BTreeMap;

use ibid_model::{Source, StopReason, Text, Timestamp, Usage};

use super::content;
use crate::families::files::fields::{Fields, Value};

/// A step has no more blocks than this; pieces of further ones are left out.
const MOST_BLOCKS: usize = 10_000;

/// One attempt at a call that reported its tokens.
#[derive(Clone, Debug)]
pub(super) struct Attempt {
    pub(super) usage: Usage,
    pub(super) at: Option<Timestamp>,
    pub(super) sources: Vec<Source>,
    pub(super) inherited: bool,
    /// Whether what follows is another attempt.
    over: bool,
    /// Whether it failed, so that the message of the step is not its own.
    failed: bool,
}

/// What was streamed of one block.
#[derive(Clone, Debug)]
pub(super) enum Streamed {
    Text(String),
    Reasoning(String),
    Call { id: Text, name: Option<Text>, arguments: String },
}

/// The step that is under way.
#[derive(Clone, Debug, Default)]
pub(super) struct Step {
    pub(super) turn: u64,
    pub(super) step: u64,
    pub(super) attempts: Vec<Attempt>,
    pub(super) blocks: BTreeMap<u64, Streamed>,
    /// When the first piece came, and where the pieces are.
    pub(super) at: Option<Timestamp>,
    pub(super) sources: Vec<Source>,
    pub(super) inherited: bool,
    pub(super) finish: Option<StopReason>,
    /// The position of its message, once it has one.
    pub(super) message: Option<usize>,
}

/// What an event says beside its data.
#[derive(Clone, Debug)]
pub(super) struct Stamp {
    pub(super) at: Option<Timestamp>,
    pub(super) source: Source,
    pub(super) inherited: bool,
}

impl Step {
    pub(super) fn new(turn: u64, step: u64) -> Step {
        Step { turn, step, ..Step::default() }
    }

    /// Takes one piece of a stream (`assistant/chunk`).
    pub(super) fn chunk(&mut self, chunk: &Fields<'_>, stamp: &Stamp) {
        let index = chunk.count("index").unwrap_or_default();
        let piece = |name: &str| chunk.text(name).unwrap_or_default();
        match chunk.text("type").as_deref().unwrap_or_default() {
            "text-delta" => self.text(index, false, &[piece("text")], stamp),
            "reasoning-delta" => self.text(index, true, &[piece("text")], stamp),
            "tool-call-delta" => self.call(index, chunk, &[piece("argumentsDelta")], stamp),
            "usage" => self.usage(&chunk.fields("usage"), stamp),
            "finish" => self.finished(chunk.fields("reason").text("kind").as_ref()),
            // `block-start` and `block-end` say nothing that the pieces between do not say.
            _ => {}
        }
    }

    /// Takes a packed row of pieces.
    pub(super) fn row(&mut self, kind: &str, data: &Fields<'_>, stamp: &Stamp) {
        let index = data.count("index").unwrap_or_default();
        let pieces =
            |name: &str| -> Vec<Text> { data.elements(name).into_iter().filter_map(Value::text).collect() };
        match kind {
            "text-chunks" => self.text(index, false, &pieces("texts"), stamp),
            "reasoning-chunks" => self.text(index, true, &pieces("texts"), stamp),
            _ => self.call(index, data, &pieces("args"), stamp),
        }
    }

    fn seen(&mut self, stamp: &Stamp) {
        self.at = self.at.or(stamp.at);
        self.inherited = stamp.inherited;
        self.sources.push(stamp.source.clone());
    }

    fn text(&mut self, index: u64, reasoning: bool, pieces: &[Text], stamp: &Stamp) {
        self.seen(stamp);
        if self.blocks.len() >= MOST_BLOCKS {
            return;
        }
        let new =
            || if reasoning { Streamed::Reasoning(String::new()) } else { Streamed::Text(String::new()) };
        if let Streamed::Text(text) | Streamed::Reasoning(text) = self.blocks.entry(index).or_insert_with(new)
        {
            pieces.iter().for_each(|piece| text.push_str(piece));
        }
    }

    fn call(&mut self, index: u64, fields: &Fields<'_>, pieces: &[Text], stamp: &Stamp) {
        self.seen(stamp);
        let Some(id) = fields.text("id").filter(|_| self.blocks.len() < MOST_BLOCKS) else { return };
        let new = || Streamed::Call { id, name: None, arguments: String::new() };
        if let Streamed::Call { name, arguments, .. } = self.blocks.entry(index).or_insert_with(new) {
            *name = name.take().or_else(|| fields.text("name"));
            pieces.iter().for_each(|piece| arguments.push_str(piece));
        }
    }

    fn usage(&mut self, fields: &Fields<'_>, stamp: &Stamp) {
        let Some(usage) = content::usage(fields) else { return };
        match self.attempts.last_mut() {
            // Of one attempt the last report counts.
            Some(attempt) if !attempt.over => {
                attempt.usage = usage;
                attempt.at = stamp.at.or(attempt.at);
                attempt.sources.push(stamp.source.clone());
            }
            _ => self.attempts.push(Attempt {
                usage,
                at: stamp.at,
                sources: vec![stamp.source.clone()],
                inherited: stamp.inherited,
                over: false,
                failed: false,
            }),
        }
    }

    fn finished(&mut self, reason: Option<&Text>) {
        self.finish = reason.map(content::stop);
        if let Some(attempt) = self.attempts.last_mut() {
            attempt.over = true;
            attempt.failed |= self.finish == Some(StopReason::Error);
        }
    }

    /// The provider is asked once more (`llm/retry`): what was streamed is void.
    pub(super) fn again(&mut self) {
        self.blocks.clear();
        self.sources.clear();
        self.finish = None;
        if let Some(attempt) = self.attempts.last_mut() {
            (attempt.over, attempt.failed) = (true, true);
        }
    }

    /// The attempt that the message of the step is from.
    pub(super) fn take_own(&mut self) -> Option<Attempt> {
        self.attempts.pop_if(|attempt| !attempt.failed)
    }
}
