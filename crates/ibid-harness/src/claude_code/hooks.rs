//! What Claude Code announces through the hooks of its settings, and the little of it that is kept.
//!
//! A hook is given one JSON object. Of that, [`parse_observation`] lets through who (session,
//! subagent), where (working directory, transcript), which model and which prompt; the prompt
//! itself, answers, summaries, titles and whatever else stands there does not survive the parse.
//! Identifiers are opaque: they are compared, and never read, trimmed or normalised.
//!
//! # What the events say
//!
//! Measured with `claude -p` 2.1.332 and 2.1.197:
//!
//! - `session_id` and `transcript_path` are the root session's on every event, of a subagent too;
//!   `agent_transcript_path` is the subagent's.
//! - `prompt_id` is the same from one UserPromptSubmit to the next. Stop and SubagentStart carry
//!   it, so that each can be put to the prompt that it came from. A local command (`/compact`,
//!   `/clear`) has an id without a UserPromptSubmit.
//! - Subagents run in the background. When one is done, the program submits a prompt of its own,
//!   `<task-notification>…`, with a `prompt_id` of its own, and the Stop that answers it carries
//!   that id: this is how the extra Stop is told apart from the person's. The Stop of the
//!   person's turn comes first, while the subagent still runs.
//! - A compaction announces PreCompact, one or more SubagentStop with an empty `agent_type` and no
//!   SubagentStart, SessionStart with the source `compact`, and PostCompact.
//! - `/clear` ends the session (`clear`) and starts one with another id; `--fork-session` starts
//!   one with another id and the source `fork`.
//! - a turn whose request failed (no connection, or an answer of 400) ends without Stop and without
//!   StopFailure.
//!
//! Read in the program 2.1.332 and not seen: UserPromptSubmit may carry a `source` that says who
//! wrote the prompt, SessionStart an `agent_type` without `agent_id` (a main thread started with
//! `--agent`).

use ibid_model::{Boundary, Observation, ObservedAgent, Origin, SessionId, Text};
use serde::{Deserialize, Serialize};

use crate::core::capture::{Announced, Lifecycle, NotAnEvent};
use crate::core::hook_object::{HookObject, Refused, word};

#[cfg(test)]
mod tests;

/// How the fields that belong to one event are read.
type Reader = fn(&HookObject<'_>) -> Result<LifecycleEvent, Refused>;

/// The events that are read, and how: the one list behind the parser and the settings.
const EVENTS: [(&str, Reader); 7] = [
    ("SessionStart", session_start),
    ("UserPromptSubmit", user_prompt_submit),
    ("SubagentStart", subagent_start),
    ("SubagentStop", subagent_stop),
    ("Stop", stop),
    ("PostCompact", post_compact),
    ("SessionEnd", session_end),
];

/// The events that are read, as Claude Code names them, in the order in which they are registered.
pub const LIFECYCLE_EVENTS: [&str; 7] =
    [EVENTS[0].0, EVENTS[1].0, EVENTS[2].0, EVENTS[3].0, EVENTS[4].0, EVENTS[5].0, EVENTS[6].0];

/// Events that Claude Code 2.1.332 knows too, and that are deliberately not read: they are about
/// tools, tasks, files and the screen, announce what may still fail (PreCompact, where
/// PostCompact says that it happened), or were never seen to come (StopFailure).
pub const UNREAD_EVENTS: [&str; 27] = [
    "PreToolUse",
    "PostToolUse",
    "PostToolUseFailure",
    "PostToolBatch",
    "Notification",
    "UserPromptExpansion",
    "StopFailure",
    "PreCompact",
    "PreModelSwitch",
    "PostModelSwitch",
    "PermissionRequest",
    "PermissionDenied",
    "Setup",
    "TeammateIdle",
    "TaskCreated",
    "TaskCompleted",
    "Elicitation",
    "ElicitationResult",
    "ConfigChange",
    "WorktreeCreate",
    "WorktreeRemove",
    "InstructionsLoaded",
    "CwdChanged",
    "FileChanged",
    "DirectoryAdded",
    "MessageDisplay",
    "PreSkillShellCommand",
];

/// The keys that are looked at, of whichever event. Each may stand in an input once. Of `prompt`
/// only the beginning is compared, see [`PromptOrigin`].
const ALLOWED: &[&str] = &[
    "hook_event_name",
    "session_id",
    "transcript_path",
    "cwd",
    "model",
    "source",
    "prompt_id",
    "agent_id",
    "agent_type",
    "agent_transcript_path",
    "reason",
    "prompt",
];

/// How the prompts begin that the program submits when a background task is done.
const TASK_NOTIFICATION: &str = "<task-notification>";

/// What Claude Code announces, for the registry.
pub static LIFECYCLE: Lifecycle = Lifecycle { events: &LIFECYCLE_EVENTS, unread: &UNREAD_EVENTS, read, kept };

/// One event of a Claude Code session, with the identities that it carried and nothing else.
///
/// Its JSON writes an option that is absent as null, and reads it when it is not there at all.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct LifecycleObservation {
    /// The root session, also for a subagent.
    pub session_id: String,
    /// The transcript of the root session, exactly as supplied.
    #[serde(default)]
    pub transcript_path: Option<String>,
    /// The working directory.
    pub cwd: String,
    /// The model; only the start of a session names it, and not every one does.
    #[serde(default)]
    pub model: Option<String>,
    /// The prompt that the event came from. Absent before the first prompt of a process, and
    /// not in every version.
    #[serde(default)]
    pub prompt_id: Option<String>,
    /// Which event, with what only that event carries.
    pub event: LifecycleEvent,
}

/// Which event it was.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
#[non_exhaustive]
pub enum LifecycleEvent {
    /// A session began or was taken up.
    SessionStart {
        /// How.
        source: SessionStartSource,
    },
    /// A prompt was submitted: a turn begins.
    UserPromptSubmit {
        /// Who wrote it; none where the program says it in a word that is not known.
        #[serde(default)]
        origin: Option<PromptOrigin>,
        /// The subagent that the prompt is for; none for the main thread.
        #[serde(default)]
        agent_id: Option<String>,
        /// Its kind. Without an id: the kind of the main thread.
        #[serde(default)]
        agent_type: Option<String>,
    },
    /// The model stopped: a turn ends.
    Stop {
        /// The subagent it happened in; none for the main thread.
        #[serde(default)]
        agent_id: Option<String>,
        /// Its kind. Without an id: the kind of the main thread.
        #[serde(default)]
        agent_type: Option<String>,
    },
    /// A subagent began.
    SubagentStart {
        /// The subagent.
        agent_id: String,
        /// Its kind.
        agent_type: String,
    },
    /// A subagent ended.
    SubagentStop {
        /// The subagent.
        agent_id: String,
        /// Its kind; empty for the one that writes the summary of a compaction.
        agent_type: String,
        /// Its transcript.
        #[serde(default)]
        agent_transcript_path: Option<String>,
    },
    /// The history was replaced by a summary.
    PostCompact,
    /// The session ended, or the program did.
    SessionEnd {
        /// Why; none where the program says it in a word that is not known.
        #[serde(default)]
        reason: Option<SessionEndReason>,
    },
}

/// How a session came to start.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum SessionStartSource {
    /// A new session.
    Startup,
    /// An earlier session was taken up, under its own id.
    Resume,
    /// The session before it was left by `/clear`; this one has another id.
    Clear,
    /// The context was replaced by a summary, under the same id.
    Compact,
    /// A new session continues a copy of another.
    Fork,
}

/// Who wrote a prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum PromptOrigin {
    /// A person, or a program in a person's place (`-p`, the SDK).
    Person,
    /// The program itself: a notification that a background task is done, a scheduled task.
    Harness,
    /// Another agent: the prompt is for a subagent.
    Agent,
}

/// Why a session ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum SessionEndReason {
    /// It was left by `/clear`.
    Clear,
    /// Another session was taken up in its place.
    Resume,
    /// The person logged out.
    Logout,
    /// The person left the program at its prompt.
    PromptInputExit,
    /// Bypassing permissions was disabled (read in the program 2.1.197).
    BypassPermissionsDisabled,
    /// Anything else; the end of `claude -p` among it.
    Other,
}

/// Why the input of a hook was refused.
///
/// There is one answer, whether it was no JSON, an unknown event or a field that is missing: the
/// text of a decoder quotes what it read, and that may be a prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ParseObservationError {
    /// The input is not one of the events that are read.
    #[error("hook input is not a recognised Claude Code lifecycle event")]
    Unrecognised,
}

impl From<Refused> for ParseObservationError {
    fn from(_: Refused) -> Self {
        ParseObservationError::Unrecognised
    }
}

/// Reads what Claude Code gives a hook: exactly one JSON object, of which only allowlisted fields
/// are looked at. What else it holds is passed over, however deeply nested.
///
/// # Errors
///
/// [`ParseObservationError::Unrecognised`] for everything that is not one of
/// [`LIFECYCLE_EVENTS`] in full: another event (also a known one, see [`UNREAD_EVENTS`]), another
/// source of a start, a field that is missing, of another type or holds a lone surrogate, an
/// allowlisted key twice, no JSON, or more than one value.
pub fn parse_observation(input: &[u8]) -> Result<LifecycleObservation, ParseObservationError> {
    let input = HookObject::read(input, ALLOWED)?;
    let name = input.required("hook_event_name")?;
    let (_, reader) = EVENTS.iter().find(|(known, _)| *known == name).ok_or(Refused)?;
    Ok(LifecycleObservation {
        session_id: input.required("session_id")?,
        transcript_path: input.optional("transcript_path")?,
        cwd: input.required("cwd")?,
        model: input.optional("model")?,
        prompt_id: input.optional("prompt_id")?,
        event: reader(&input)?,
    })
}

fn session_start(input: &HookObject<'_>) -> Result<LifecycleEvent, Refused> {
    Ok(LifecycleEvent::SessionStart { source: input.word("source")?.ok_or(Refused)? })
}

fn user_prompt_submit(input: &HookObject<'_>) -> Result<LifecycleEvent, Refused> {
    let agent_id = input.optional("agent_id")?;
    let origin = if agent_id.is_some() { Some(PromptOrigin::Agent) } else { origin(input)? };
    Ok(LifecycleEvent::UserPromptSubmit { origin, agent_id, agent_type: input.optional("agent_type")? })
}

/// Who wrote the prompt of the main thread. What the program says is believed before the text,
/// except that a program in a person's place (`sdk`) is not told apart from the notifications
/// that are submitted in its session.
fn origin(input: &HookObject<'_>) -> Result<Option<PromptOrigin>, Refused> {
    let by_text = || match input.begins_with("prompt", TASK_NOTIFICATION) {
        true => PromptOrigin::Harness,
        false => PromptOrigin::Person,
    };
    Ok(match input.optional("source")?.as_deref() {
        None | Some("sdk") => Some(by_text()),
        Some("user") => Some(PromptOrigin::Person),
        Some("system" | "loop_wakeup" | "schedule_wakeup" | "poll_event") => Some(PromptOrigin::Harness),
        Some(_) => None,
    })
}

fn stop(input: &HookObject<'_>) -> Result<LifecycleEvent, Refused> {
    Ok(LifecycleEvent::Stop {
        agent_id: input.optional("agent_id")?,
        agent_type: input.optional("agent_type")?,
    })
}

fn subagent_start(input: &HookObject<'_>) -> Result<LifecycleEvent, Refused> {
    Ok(LifecycleEvent::SubagentStart {
        agent_id: input.required("agent_id")?,
        agent_type: input.required("agent_type")?,
    })
}

fn subagent_stop(input: &HookObject<'_>) -> Result<LifecycleEvent, Refused> {
    Ok(LifecycleEvent::SubagentStop {
        agent_id: input.required("agent_id")?,
        agent_type: input.required("agent_type")?,
        agent_transcript_path: input.optional("agent_transcript_path")?,
    })
}

fn post_compact(_: &HookObject<'_>) -> Result<LifecycleEvent, Refused> {
    Ok(LifecycleEvent::PostCompact)
}

fn session_end(input: &HookObject<'_>) -> Result<LifecycleEvent, Refused> {
    Ok(LifecycleEvent::SessionEnd { reason: input.word("reason")? })
}

impl LifecycleObservation {
    /// The same in the common form.
    #[must_use]
    pub fn common(&self) -> Observation {
        let text = |text: &String| Text::from(text.as_str());
        let agent = |id: Option<&String>, kind: Option<&String>, transcript: Option<&String>| {
            id.map(|id| ObservedAgent {
                id: text(id),
                kind: kind.map(text),
                transcript_path: transcript.map(text),
            })
        };
        let (event, boundary, agent) = match &self.event {
            LifecycleEvent::SessionStart { source } => {
                ("SessionStart", Boundary::SessionStart { source: word(source) }, None)
            }
            LifecycleEvent::UserPromptSubmit { origin, agent_id, agent_type } => {
                let origin = origin.map(|origin| match origin {
                    PromptOrigin::Person => Origin::Person,
                    PromptOrigin::Harness => Origin::Harness,
                    PromptOrigin::Agent => Origin::Agent,
                });
                let agent = agent(agent_id.as_ref(), agent_type.as_ref(), None);
                ("UserPromptSubmit", Boundary::Prompt { origin }, agent)
            }
            LifecycleEvent::Stop { agent_id, agent_type } => {
                ("Stop", Boundary::Stop, agent(agent_id.as_ref(), agent_type.as_ref(), None))
            }
            LifecycleEvent::SubagentStart { agent_id, agent_type } => {
                ("SubagentStart", Boundary::SubagentStart, agent(Some(agent_id), Some(agent_type), None))
            }
            LifecycleEvent::SubagentStop { agent_id, agent_type, agent_transcript_path } => {
                let agent = agent(Some(agent_id), Some(agent_type), agent_transcript_path.as_ref());
                ("SubagentStop", Boundary::SubagentStop, agent)
            }
            LifecycleEvent::PostCompact => ("PostCompact", Boundary::Compacted, None),
            LifecycleEvent::SessionEnd { reason } => {
                let reason = reason.as_ref().and_then(word);
                ("SessionEnd", Boundary::SessionEnd { reason }, None)
            }
        };
        Observation {
            session: SessionId::from(self.session_id.as_str()),
            boundary,
            event: Text::from(event),
            turn: self.prompt_id.as_ref().map(text),
            agent,
            transcript_path: self.transcript_path.as_ref().map(text),
            cwd: Some(text(&self.cwd)),
            model: self.model.as_ref().map(text),
        }
    }
}

fn read(input: &[u8]) -> Result<Announced, NotAnEvent> {
    let refused = NotAnEvent { name: "Claude Code" };
    let observation = parse_observation(input).map_err(|_| refused)?;
    Announced::of(&observation, observation.common()).map_err(|_| refused)
}

fn kept(native: &str) -> Option<Observation> {
    let observation: LifecycleObservation = serde_json::from_str(native).ok()?;
    Some(observation.common())
}
