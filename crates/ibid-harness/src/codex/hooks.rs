//! What Codex announces through hooks, and the little of it that is kept.
//!
//! A hook of Codex is given one JSON object. Of that, [`parse_observation`] lets through who
//! (session, thread of a subagent), where (working directory, transcript), which model and which
//! turn; prompts, answers, tool inputs, permission modes and whatever else stands there, now or in
//! a later version, does not survive the parse. What comes out is a [`LifecycleObservation`],
//! which reads back from its own JSON exactly.
//!
//! Identifiers are opaque. They are compared, and never read, trimmed or normalised; an emoji, a
//! space or a slash in one stays as it is.
//!
//! # What the events say
//!
//! Measured with `codex exec` 0.171.0:
//!
//! - `session_id` is the root session's on every event, of a subagent too.
//! - `transcript_path` is the root's on SessionStart, Stop and the prompts of a person, the
//!   *child's* on SubagentStart and on a prompt inside a subagent, and the *parent's* on
//!   SubagentStop, where `agent_transcript_path` is the child's; the parent may be a subagent
//!   itself. It is kept as supplied, and the
//!   identity of the root is `session_id` alone.
//! - `turn_id` is the turn that the event belongs to: on SubagentStart, SubagentStop and a prompt
//!   inside a subagent the child's own turn, not that of the prompt which spawned it.
//! - a prompt inside a subagent, which the parent wrote and no person did, carries `agent_id` and
//!   `agent_type`.
//! - SubagentStop can arrive after the session ended, when the parent does not wait.
//!
//! # What is not read
//!
//! Codex has more events than [`LIFECYCLE_EVENTS`] (see [`UNREAD_EVENTS`]), and the list grows.
//! They are about tools, or say nothing that the others do not: [`parse_observation`] gives the
//! same error for them as for anything else.

use ibid_model::{Boundary, Observation, ObservedAgent, Origin, SessionId, Text};
use serde::{Deserialize, Serialize};

use crate::core::capture::{Announced, Lifecycle, NotAnEvent};
use crate::core::hook_object::{HookObject, Refused, word};

#[cfg(test)]
mod tests;

/// How the fields that belong to one event are read.
type Reader = fn(&HookObject<'_>) -> Result<LifecycleEvent, Refused>;

/// The events that are read, and how: the one list behind the parser and the plugin's manifest.
const EVENTS: [(&str, Reader); 5] = [
    ("SessionStart", session_start),
    ("SubagentStart", subagent_start),
    ("SubagentStop", subagent_stop),
    ("UserPromptSubmit", user_prompt_submit),
    ("Stop", stop),
];

/// The events that are read, as Codex names them, in the order of the plugin's manifest.
pub const LIFECYCLE_EVENTS: [&str; 5] = [EVENTS[0].0, EVENTS[1].0, EVENTS[2].0, EVENTS[3].0, EVENTS[4].0];

/// Events that Codex 0.171.0 has too, and that are deliberately not read.
pub const UNREAD_EVENTS: [&str; 6] =
    ["PreToolUse", "PostToolUse", "PermissionRequest", "PreCompact", "PostCompact", "SessionEnd"];

/// The keys that are looked at, of whichever event. Each may stand in an input once.
const ALLOWED: &[&str] = &[
    "hook_event_name",
    "session_id",
    "transcript_path",
    "cwd",
    "model",
    "source",
    "turn_id",
    "agent_id",
    "agent_type",
    "agent_transcript_path",
];

/// What Codex announces, for the registry.
pub static LIFECYCLE: Lifecycle = Lifecycle { events: &LIFECYCLE_EVENTS, unread: &UNREAD_EVENTS, read, kept };

/// One event of a Codex session, with the identities that it carried and nothing else.
///
/// Its JSON writes an option that is absent as null, and reads it when it is not there at all.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct LifecycleObservation {
    /// The root session, whichever thread the event is about.
    pub session_id: String,
    /// The transcript, exactly as supplied: see the head of this module for whose it is. Absent is
    /// "not said", not "there is none".
    #[serde(default)]
    pub transcript_path: Option<String>,
    /// The working directory.
    pub cwd: String,
    /// The model.
    #[serde(default)]
    pub model: Option<String>,
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
    /// A prompt was submitted: a turn begins. By a person, unless it names an agent.
    UserPromptSubmit {
        /// The turn.
        turn_id: String,
        /// The thread of the subagent that the prompt is for; none for the root's.
        #[serde(default)]
        agent_id: Option<String>,
        /// That subagent's kind.
        #[serde(default)]
        agent_type: Option<String>,
    },
    /// The model stopped: a turn of the root ends.
    Stop {
        /// The turn.
        turn_id: String,
    },
    /// A subagent began.
    SubagentStart {
        /// The subagent's turn.
        turn_id: String,
        /// The thread of the subagent.
        agent_id: String,
        /// Its kind.
        agent_type: String,
    },
    /// A subagent ended.
    SubagentStop {
        /// The subagent's turn.
        turn_id: String,
        /// The thread of the subagent.
        agent_id: String,
        /// Its kind.
        agent_type: String,
        /// The subagent's transcript.
        #[serde(default)]
        agent_transcript_path: Option<String>,
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
    /// The context was emptied.
    Clear,
    /// The context was replaced by a summary.
    Compact,
    /// A new session continues a copy of another (`codex exec fork`, measured with 0.171.0).
    Fork,
}

/// Why the input of a hook was refused.
///
/// There is one answer, whether it was no JSON, an unknown event or a field that is missing: the
/// text of a decoder quotes what it read, and that may be a prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ParseObservationError {
    /// The input is not one of the events that are read.
    #[error("hook input is not a recognised Codex lifecycle event")]
    Unrecognised,
}

impl From<Refused> for ParseObservationError {
    fn from(_: Refused) -> Self {
        ParseObservationError::Unrecognised
    }
}

/// Reads what Codex gives a hook: exactly one JSON object, of which only allowlisted fields are
/// looked at. What else it holds is passed over, however deeply nested.
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
        event: reader(&input)?,
    })
}

fn session_start(input: &HookObject<'_>) -> Result<LifecycleEvent, Refused> {
    Ok(LifecycleEvent::SessionStart { source: input.word("source")?.ok_or(Refused)? })
}

fn user_prompt_submit(input: &HookObject<'_>) -> Result<LifecycleEvent, Refused> {
    Ok(LifecycleEvent::UserPromptSubmit {
        turn_id: input.required("turn_id")?,
        agent_id: input.optional("agent_id")?,
        agent_type: input.optional("agent_type")?,
    })
}

fn stop(input: &HookObject<'_>) -> Result<LifecycleEvent, Refused> {
    Ok(LifecycleEvent::Stop { turn_id: input.required("turn_id")? })
}

fn subagent_start(input: &HookObject<'_>) -> Result<LifecycleEvent, Refused> {
    Ok(LifecycleEvent::SubagentStart {
        turn_id: input.required("turn_id")?,
        agent_id: input.required("agent_id")?,
        agent_type: input.required("agent_type")?,
    })
}

fn subagent_stop(input: &HookObject<'_>) -> Result<LifecycleEvent, Refused> {
    Ok(LifecycleEvent::SubagentStop {
        turn_id: input.required("turn_id")?,
        agent_id: input.required("agent_id")?,
        agent_type: input.required("agent_type")?,
        agent_transcript_path: input.optional("agent_transcript_path")?,
    })
}

impl LifecycleObservation {
    /// The same in the common form.
    #[must_use]
    pub fn common(&self) -> Observation {
        let text = |text: &String| Text::from(text.as_str());
        let transcript = self.transcript_path.as_ref().map(text);
        let agent = |id: &String, kind: Option<&String>, transcript_path| ObservedAgent {
            id: text(id),
            kind: kind.map(text),
            transcript_path,
        };
        let (event, boundary, turn, agent, transcript_path) = match &self.event {
            LifecycleEvent::SessionStart { source } => {
                ("SessionStart", Boundary::SessionStart { source: word(source) }, None, None, transcript)
            }
            LifecycleEvent::UserPromptSubmit { turn_id, agent_id, agent_type } => {
                let inside = agent_id.is_some() || agent_type.is_some();
                let origin = Some(if inside { Origin::Agent } else { Origin::Person });
                let (own, of_agent) = if inside { (None, transcript) } else { (transcript, None) };
                let agent = agent_id.as_ref().map(|id| agent(id, agent_type.as_ref(), of_agent));
                ("UserPromptSubmit", Boundary::Prompt { origin }, Some(turn_id), agent, own)
            }
            LifecycleEvent::Stop { turn_id } => ("Stop", Boundary::Stop, Some(turn_id), None, transcript),
            LifecycleEvent::SubagentStart { turn_id, agent_id, agent_type } => {
                let agent = agent(agent_id, Some(agent_type), transcript);
                ("SubagentStart", Boundary::SubagentStart, Some(turn_id), Some(agent), None)
            }
            LifecycleEvent::SubagentStop { turn_id, agent_id, agent_type, agent_transcript_path } => {
                // The path of the common fields is the parent's, and the parent may be a subagent.
                let agent = agent(agent_id, Some(agent_type), agent_transcript_path.as_ref().map(text));
                ("SubagentStop", Boundary::SubagentStop, Some(turn_id), Some(agent), None)
            }
        };
        Observation {
            session: SessionId::from(self.session_id.as_str()),
            boundary,
            event: Text::from(event),
            turn: turn.map(text),
            agent,
            transcript_path,
            cwd: Some(text(&self.cwd)),
            model: self.model.as_ref().map(text),
        }
    }
}

fn read(input: &[u8]) -> Result<Announced, NotAnEvent> {
    let refused = NotAnEvent { name: "Codex" };
    let observation = parse_observation(input).map_err(|_| refused)?;
    Announced::of(&observation, observation.common()).map_err(|_| refused)
}

fn kept(native: &str) -> Option<Observation> {
    let observation: LifecycleObservation = serde_json::from_str(native).ok()?;
    Some(observation.common())
}
