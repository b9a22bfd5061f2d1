//! The lines of `wire.jsonl`, the log of one agent (wire protocol 1.4 and 1.5).

use ibid_model::{Source, Text, Timestamp};
use serde_json::Error;

use crate::families::loose::Loose;

/// One line.
#[derive(Clone, Debug)]
pub(super) struct Line {
    /// `type`.
    pub(super) kind: Text,
    /// The line.
    pub(super) body: Loose,
    /// `time`, else `timestamp`, else `created_at`.
    pub(super) at: Option<Timestamp>,
}

impl Line {
    pub(super) fn read(text: &Text) -> Result<Line, Error> {
        let body = Loose::read(text)?;
        let at = ["time", "timestamp", "created_at"].into_iter().find_map(|name| time(&body, name));
        Ok(Line { kind: body.text("type").unwrap_or_default(), body, at })
    }

    /// Whether it says again what another line says: since 1.5 every message and turn stands twice.
    pub(super) fn is_mirror(&self) -> bool {
        self.kind.starts_with("agent.") && self.body.text("kind").is_some_and(|kind| kind == "event")
    }

    /// Whether it is of a type that the program writes.
    pub(super) fn is_known(&self) -> bool {
        self.is_mirror() || matter_of(&self.kind) != Matter::Unknown
    }
}

/// A time in milliseconds or as text.
pub(super) fn time(body: &Loose, name: &str) -> Option<Timestamp> {
    let milliseconds = body.read_as::<f64>(name).filter(|ms| *ms > 0.0 && *ms < 9e15);
    match milliseconds {
        Some(ms) => Timestamp::from_milliseconds(ms as i64),
        None => Timestamp::parse(&body.text(name)?),
    }
}

/// What a type of line is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Matter {
    /// The conversation, and what is reckoned from it.
    Conversation,
    /// Something that happened beside it.
    Permission,
    Mode,
    Turn,
    Snapshot,
    Other,
    /// The program's own bookkeeping, which says nothing of the conversation.
    Bookkeeping,
    Unknown,
}

pub(super) fn matter_of(kind: &str) -> Matter {
    match kind {
        "metadata"
        | "config.update"
        | "profile.bind"
        | "turn.prompt"
        | "turn.steer"
        | "context.append_message"
        | "context.append_loop_event"
        | "context.undo"
        | "context.apply_compaction"
        | "full_compaction.begin"
        | "llm.request"
        | "usage.record" => Matter::Conversation,
        "permission.record_approval_result" => Matter::Permission,
        "permission.set_mode" | "plan_mode.enter" | "plan_mode.exit" => Matter::Mode,
        "turn.cancel" | "turn.ended" => Matter::Turn,
        "file_history.tracked" | "file_history.checkpoint" => Matter::Snapshot,
        "subagent.spawned" | "subagent.started" | "subagent.completed" | "full_compaction.complete" => {
            Matter::Other
        }
        "runtime.set_binding"
        | "tools.set_active_tools"
        | "llm.tools_snapshot"
        | "token_counting.measured"
        | "token_counting.turn_recorded"
        | "plugin.session_start"
        | "prompt.completed" => Matter::Bookkeeping,
        _ => Matter::Unknown,
    }
}

/// Where a line stands.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    pub(super) carrier: u32,
    pub(super) line: u64,
    pub(super) start: u64,
    pub(super) end: u64,
}

impl Place {
    pub(super) fn source(self) -> Source {
        Source::bytes(self.carrier, self.start, self.end)
    }
}
