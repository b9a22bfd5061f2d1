//! Reading a session as a stream, without loading it.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use ibid_carrier::jsonl::Checkpoint;
use ibid_model::{
    Block, Compaction, Event, Finding, Lineage, Message, MessageId, ModelCall, SessionId, Text, Timestamp,
    TitleOrigin, Usage,
};
use serde::{Deserialize, Serialize};

/// Where a scan goes on. A cursor is made by a scan and only makes sense for the same carrier; a
/// carrier that was replaced is told apart.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Cursor {
    /// At the beginning.
    #[default]
    Start,
    /// Behind the last whole record of an append-only file.
    File {
        /// The place, and what precedes it.
        checkpoint: Checkpoint,
        /// What the harness's reader must remember, as it wrote it.
        state: String,
    },
    /// Everything was read from a carrier that is not append-only; it is read again as a whole
    /// when its fingerprint changes.
    Whole {
        /// The fingerprint that was read.
        fingerprint: String,
    },
}

/// What a scan should report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wants {
    /// Titles, places, times, lineage, compactions.
    pub metadata: bool,
    /// Model calls.
    pub usage: bool,
    /// Messages with text, thinking, pictures and commands.
    pub text: bool,
    /// Tool calls and results.
    pub tools: bool,
}

impl Wants {
    /// Everything.
    pub const ALL: Wants = Wants { metadata: true, usage: true, text: true, tools: true };
    /// Metadata alone.
    pub const METADATA: Wants = Wants { metadata: true, usage: false, text: false, tools: false };
}

/// How long a scan may take.
#[derive(Clone, Copy, Debug, Default)]
pub struct Control<'a> {
    /// When to stop.
    pub deadline: Option<Instant>,
    /// Set by another thread to stop.
    pub cancel: Option<&'a AtomicBool>,
}

impl Control<'_> {
    /// Whether to stop now. Cheap enough to ask for every few records.
    #[must_use]
    pub fn stopped(&self) -> bool {
        self.cancel.is_some_and(|cancel| cancel.load(Ordering::Relaxed))
            || self.deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }
}

/// One fact for a list.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fact {
    /// The session's id.
    Id(SessionId),
    /// A title.
    Title(Text, TitleOrigin),
    /// What a person said first.
    Preview(Text),
    /// A working directory.
    Cwd(Text),
    /// The model that writes from here on.
    Model(Text),
    /// The time of a record.
    Stamp(Timestamp),
    /// The git branch.
    GitBranch(Text),
    /// The version of the harness.
    Version(Text),
    /// The program that writes.
    Originator(Text),
    /// Whether it is put away.
    Archived(bool),
}

/// One thing that a scan found. Everything but facts carries its source.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ScanEvent {
    /// A fact for a list.
    Fact(Fact),
    /// Where the session came from.
    Lineage(Lineage),
    /// A message, or a piece of one: pieces with one `api_id` belong together.
    Message(Message),
    /// A model call. A later one with the same `api_id` replaces it.
    Call(ModelCall),
    /// The tokens of the whole session as the harness itself summed them so far. A later one
    /// replaces an earlier one.
    ReportedUsage(Usage),
    /// A compaction.
    Compaction(Compaction),
    /// What is not conversation.
    Event(Event),
    /// The live branch now ends here.
    Head(MessageId),
    /// Something wrong with the input.
    Finding(Finding),
}

/// Takes what a scan finds.
pub trait Sink {
    /// Takes one event; returns whether the scan should go on.
    fn take(&mut self, event: ScanEvent) -> bool;
}

impl<F: FnMut(ScanEvent) -> bool> Sink for F {
    fn take(&mut self, event: ScanEvent) -> bool {
        self(event)
    }
}

/// Lists of sources up to this length have no spare room.
const SHORT: usize = 8;

/// The model calls of a stream, each once: of several with one API id the last counts.
#[derive(Clone, Debug, Default)]
pub struct CallLedger {
    calls: Vec<ModelCall>,
    by_api_id: HashMap<Text, usize, foldhash::fast::RandomState>,
}

impl CallLedger {
    /// Takes a call that a record mentions. The sources of all its records are kept, and a
    /// message or request once known stays known.
    // https://github.com/ccusage/ccusage/issues/888 and /issues/976 (faults 2 and 3)
    pub fn take(&mut self, call: ModelCall) {
        let known = call.api_id.as_ref().and_then(|id| {
            // The records of one call mostly follow each other.
            let last = self.calls.len().checked_sub(1);
            let is_last =
                |at: &usize| self.calls.get(*at).is_some_and(|last| last.api_id.as_ref() == Some(id));
            last.filter(is_last).or_else(|| self.by_api_id.get(id).copied())
        });
        match known.and_then(|at| self.calls.get_mut(at)) {
            Some(earlier) => {
                let mut sources = std::mem::take(&mut earlier.sources);
                if sources.len() < SHORT {
                    sources.reserve_exact(call.sources.len());
                }
                sources.extend(call.sources.iter().cloned());
                *earlier = ModelCall {
                    sources,
                    message: earlier.message.clone().or(call.message),
                    request_id: call.request_id.or(earlier.request_id.take()),
                    model: call.model.or(earlier.model.take()),
                    at: call.at.or(earlier.at),
                    api_id: call.api_id,
                    usage: call.usage,
                    inherited: call.inherited,
                };
            }
            None => {
                if let Some(id) = &call.api_id {
                    self.by_api_id.insert(id.clone(), self.calls.len());
                }
                self.calls.push(call);
            }
        }
    }

    /// The calls, in the order of their first records.
    #[must_use]
    pub fn into_calls(self) -> Vec<ModelCall> {
        self.calls
    }
}

/// Streams a session that was loaded whole, for carriers that are not append-only. Returns
/// whether it came to the end.
pub fn emit(common: &super::Common, wants: Wants, control: &Control<'_>, sink: &mut dyn Sink) -> bool {
    let session = &common.session;
    let mut events: Vec<ScanEvent> = Vec::new();
    if wants.metadata {
        events.push(ScanEvent::Fact(Fact::Id(session.id.clone())));
        events.extend(facts(&session.meta).into_iter().map(ScanEvent::Fact));
        events.extend(session.lineage.iter().cloned().map(ScanEvent::Lineage));
    }
    if wants.text || wants.tools {
        events.extend(
            session.messages.iter().filter_map(|message| wanted(message, wants)).map(ScanEvent::Message),
        );
    }
    if wants.metadata {
        events.extend(session.compactions.iter().cloned().map(ScanEvent::Compaction));
        events.extend(session.events.iter().cloned().map(ScanEvent::Event));
        events.extend(session.head.clone().map(ScanEvent::Head));
    }
    if wants.usage {
        events.extend(session.calls.iter().cloned().map(ScanEvent::Call));
        events.extend(session.reported_usage.map(ScanEvent::ReportedUsage));
    }
    events.extend(common.findings.iter().cloned().map(ScanEvent::Finding));
    events.into_iter().all(|event| !control.stopped() && sink.take(event))
}

/// The facts that give this list entry again.
fn facts(meta: &ibid_model::Meta) -> Vec<Fact> {
    let mut facts = Vec::new();
    facts.extend(meta.title.clone().map(|title| Fact::Title(title.text, title.origin)));
    facts.extend(meta.preview.clone().map(Fact::Preview));
    facts.extend(meta.cwd.clone().map(Fact::Cwd));
    facts.extend(meta.model.clone().map(Fact::Model));
    facts.extend(meta.started.map(Fact::Stamp));
    facts.extend(meta.updated.map(Fact::Stamp));
    facts.extend(meta.git_branch.clone().map(Fact::GitBranch));
    facts.extend(meta.version.clone().map(Fact::Version));
    facts.extend(meta.originator.clone().map(Fact::Originator));
    facts.push(Fact::Archived(meta.archived));
    facts
}

/// The part of a message that is wanted; none when nothing of it is.
#[must_use]
pub fn wanted(message: &Message, wants: Wants) -> Option<Message> {
    let tool = |block: &Block| matches!(block, Block::ToolUse(_) | Block::ToolResult(_));
    let keep = |block: &Block| if tool(block) { wants.tools } else { wants.text };
    if message.blocks.iter().all(keep) {
        return (!message.blocks.is_empty() || wants.text).then(|| message.clone());
    }
    let blocks: Vec<Block> = message.blocks.iter().filter(|block| keep(block)).cloned().collect();
    (!blocks.is_empty()).then(|| Message { blocks, ..message.clone() })
}
