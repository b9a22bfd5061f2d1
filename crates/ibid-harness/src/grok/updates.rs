//! The lines of `updates.jsonl`, a log of what the program showed, in the Agent Client Protocol.
//!
//! Names and fields: files of 2026-07 and 1.0.41. A message is shown in pieces ("chunks"), a call by
//! one record when it is made and more as it goes on.

use ibid_model::{Source, Text, Timestamp};
use serde_json::Error;

use crate::families::loose::Loose;

/// One line.
#[derive(Clone, Debug)]
pub(super) struct Update {
    /// `params.update.sessionUpdate`.
    pub(super) kind: Text,
    /// `params.update`.
    pub(super) body: Loose,
    /// When it was shown: `params._meta.agentTimestampMs`, else the second it was written in. A fork
    /// copies the first and writes the second anew (measured).
    pub(super) at: Option<Timestamp>,
    /// `params._meta.promptId`, or the update's own `prompt_id`.
    pub(super) prompt: Option<Text>,
    /// `params._meta.streamStartMs`: when the answer began that it is a piece of.
    pub(super) stream: Option<u64>,
    /// `params._meta.eventId`: the session that first wrote it, and a number.
    pub(super) event: Option<Text>,
}

impl Update {
    /// A line that is no update reads as none.
    pub(super) fn read(text: &Text) -> Result<Option<Update>, Error> {
        let line = Loose::read(text)?;
        Ok(Update::of(&line))
    }

    fn of(line: &Loose) -> Option<Update> {
        let params = line.object("params")?;
        let body = params.object("update")?;
        let kind = body.text("sessionUpdate")?;
        let meta = params.object("_meta").unwrap_or_default();
        let shown = meta.read_as("agentTimestampMs").filter(|ms| *ms > 0);
        let at = shown.and_then(Timestamp::from_milliseconds).or_else(|| written(line));
        let prompt = body.text("prompt_id").or_else(|| meta.text("promptId"));
        let (stream, event) = (meta.number("streamStartMs"), meta.text("eventId"));
        Some(Update { kind, body, at, prompt, stream, event })
    }

    /// Whether it was copied from another session.
    pub(super) fn is_from_another(&self, session: &str) -> bool {
        let own = |event: &Text| event.strip_prefix(session).is_some_and(|rest| rest.starts_with('-'));
        self.event.as_ref().is_some_and(|event| !own(event))
    }
}

/// `timestamp`: seconds, or milliseconds where the number is too large for those.
fn written(line: &Loose) -> Option<Timestamp> {
    let number: i64 = line.read_as("timestamp").filter(|number| *number > 0)?;
    let milliseconds = if number < 10_000_000_000 { number.checked_mul(1000)? } else { number };
    Timestamp::from_milliseconds(milliseconds)
}

/// Kinds that are no part of the conversation and are known from files (marked) or by the names in
/// the program.
pub(super) fn is_known_event(kind: &str) -> bool {
    matches!(
        kind,
        "plan" // files
            | "hook_execution" // files
            | "retry_state" // files
            | "task_backgrounded" // files
            | "task_completed" // files
            | "session_recap" // files
            | "background_tasks" // files
            | "subagent_spawned" // files
            | "subagent_finished" // files
            | "compaction_checkpoint" // files
            | "auto_compact_completed" // files
            | "available_commands_update"
            | "current_mode_update"
            | "config_option_update"
            | "session_info_update"
            | "usage_update"
            | "auto_compact_started"
            | "auto_compact_failed"
            | "auto_compact_cancelled"
            | "auto_continue_completed"
            | "rewind_marker"
            | "model_changed"
            | "model_auto_switched"
            | "session_summary_generated"
            | "last_turn_summary"
            | "hook_annotation"
            | "subagent_progress"
            | "monitor_event"
            | "scheduled_task_created"
            | "scheduled_task_fired"
            | "scheduled_task_deleted"
            | "session_status"
            | "workflow_updated"
            | "image_dropped"
    )
}

/// Where an update stands.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    /// The number of its carrier.
    pub(super) carrier: u32,
    /// The first byte.
    pub(super) start: u64,
    /// The byte after its last.
    pub(super) end: u64,
}

impl Place {
    pub(super) fn source(self) -> Source {
        Source::bytes(self.carrier, self.start, self.end)
    }
}
