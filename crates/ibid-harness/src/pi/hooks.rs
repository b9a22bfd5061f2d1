//! What Ibid's extension for pi announces, and how it is read.
//!
//! pi runs no hook commands; it loads extensions. Ours (`extension/ibid.ts`) hears the events of
//! the program and gives the hook command one object with identities. What is read here is that
//! object, against an allowlist of its own: another extension could run the same command with more.
//!
//! # What the events say
//!
//! Measured with `pi -p` 1.6.0, and read in its documentation (`docs/extensions.md`):
//!
//! - `session_start` has a `reason`: `startup` (for a resumed session too, when it was named on
//!   the command line), `new`, `resume`, `fork`, or `reload`.
//! - `input` is a prompt; its `source` tells a person (`interactive`, or `rpc` for a program in a
//!   person's place) from an extension. It comes before the prompt is written; the extension waits
//!   for `context`, milliseconds later, and adds the id of the entry, which is the turn. A prompt
//!   that is given while the model works has none.
//! - `agent_settled` is the end of a turn. 0.73.1 does not have it, and announces no final end.
//! - `session_shutdown` ends a session, or this program's part in it.
//! - pi has no subagents. An extension may start further programs: those are sessions of their own.
//! - `session_file` is the file, also before it is written, and null for a session that is not kept.

use ibid_model::{Boundary, Observation, Origin, SessionId, Text};
use serde::{Deserialize, Serialize};

use crate::core::capture::{Announced, Lifecycle, NotAnEvent};
use crate::core::hook_object::{HookObject, Refused};

#[cfg(test)]
mod tests;

/// The events that are read, as pi names them.
pub const LIFECYCLE_EVENTS: [&str; 5] =
    ["session_start", "input", "agent_settled", "session_compact", "session_shutdown"];

/// Events that pi 1.6.0 has too, which say nothing about a boundary or say it again, and are
/// deliberately not read.
pub const UNREAD_EVENTS: [&str; 11] = [
    "before_agent_start",
    "agent_start",
    "agent_end",
    "agent_before_settle",
    "turn_start",
    "turn_end",
    "message_start",
    "message_end",
    "tool_call",
    "tool_result",
    "session_tree",
];

/// The keys that are looked at. Each may stand in an input once.
const ALLOWED: &[&str] =
    &["event", "session_id", "session_file", "cwd", "model", "provider", "reason", "source", "entry_id"];

/// What pi announces, for the registry.
pub static LIFECYCLE: Lifecycle = Lifecycle { events: &LIFECYCLE_EVENTS, unread: &UNREAD_EVENTS, read, kept };

/// One event of a pi session, with its identities and nothing else. An option that is absent is
/// written as null.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct LifecycleObservation {
    /// Which event.
    pub event: LifecycleEvent,
    /// The session.
    pub session_id: String,
    /// Its file.
    #[serde(default)]
    pub session_file: Option<String>,
    /// The working directory.
    #[serde(default)]
    pub cwd: Option<String>,
    /// The model.
    #[serde(default)]
    pub model: Option<String>,
    /// Its provider.
    #[serde(default)]
    pub provider: Option<String>,
    /// Why a session starts, is compacted or ends.
    #[serde(default)]
    pub reason: Option<Reason>,
    /// Where a prompt came from.
    #[serde(default)]
    pub source: Option<InputSource>,
    /// The entry of the prompt that begins the turn, or whose turn ended.
    #[serde(default)]
    pub entry_id: Option<String>,
}

/// Which event it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum LifecycleEvent {
    /// A session was started, loaded or loaded again.
    SessionStart,
    /// Something was said that the model is to answer.
    Input,
    /// The model stopped, and will not go on by itself.
    AgentSettled,
    /// The history was replaced by a summary.
    SessionCompact,
    /// The session is left.
    SessionShutdown,
}

/// Why a session starts, is compacted or ends, in pi's words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Reason {
    /// The program began with it.
    Startup,
    /// Extensions are loaded again.
    Reload,
    /// For a new session.
    New,
    /// For another session.
    Resume,
    /// For a copy of the session.
    Fork,
    /// The program ends.
    Quit,
    /// A person compacts.
    Manual,
    /// The history became too long.
    Threshold,
    /// The provider refused the history for its length.
    Overflow,
}

/// Where a prompt came from, in pi's words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum InputSource {
    /// A person, at the terminal or as an argument.
    Interactive,
    /// A program, in a person's place.
    Rpc,
    /// An extension.
    Extension,
}

/// Reads what the extension gives the hook: exactly one JSON object.
///
/// # Errors
///
/// [`NotAnEvent`] for everything else: an event that is not among [`LIFECYCLE_EVENTS`], a word of
/// pi that is not known, a field that is missing or of another type, an allowlisted key twice, no
/// JSON, or more than one value.
pub fn parse_observation(input: &[u8]) -> Result<LifecycleObservation, NotAnEvent> {
    parsed(input).map_err(|Refused| NotAnEvent { name: "pi" })
}

fn parsed(input: &[u8]) -> Result<LifecycleObservation, Refused> {
    let input = HookObject::read(input, ALLOWED)?;
    Ok(LifecycleObservation {
        event: input.word("event")?.ok_or(Refused)?,
        session_id: input.required("session_id")?,
        session_file: input.optional("session_file")?,
        cwd: input.optional("cwd")?,
        model: input.optional("model")?,
        provider: input.optional("provider")?,
        reason: optional_word(&input, "reason")?,
        source: optional_word(&input, "source")?,
        entry_id: input.optional("entry_id")?,
    })
}

/// The value of a word that may be absent or null, and must be a known one otherwise.
fn optional_word<T: serde::de::DeserializeOwned>(
    input: &HookObject<'_>,
    key: &str,
) -> Result<Option<T>, Refused> {
    match input.optional(key)? {
        None => Ok(None),
        Some(_) => input.word(key)?.ok_or(Refused).map(Some),
    }
}

impl LifecycleObservation {
    /// The same in the common form.
    #[must_use]
    pub fn common(&self) -> Observation {
        let text = |text: &String| Text::from(text.as_str());
        let why = self.reason.as_ref().and_then(crate::core::hook_object::word);
        let origin = self.source.map(|source| match source {
            InputSource::Interactive | InputSource::Rpc => Origin::Person,
            InputSource::Extension => Origin::Harness,
        });
        let boundary = match self.event {
            LifecycleEvent::SessionStart => Boundary::SessionStart { source: why },
            LifecycleEvent::Input => Boundary::Prompt { origin },
            LifecycleEvent::AgentSettled => Boundary::Stop,
            LifecycleEvent::SessionCompact => Boundary::Compacted,
            LifecycleEvent::SessionShutdown => Boundary::SessionEnd { reason: why },
        };
        Observation {
            session: SessionId::from(self.session_id.as_str()),
            boundary,
            event: crate::core::hook_object::word(&self.event).unwrap_or_default(),
            turn: self.entry_id.as_ref().map(text),
            agent: None,
            transcript_path: self.session_file.as_ref().map(text),
            cwd: self.cwd.as_ref().map(text),
            model: self.model.as_ref().map(text),
        }
    }
}

fn read(input: &[u8]) -> Result<Announced, NotAnEvent> {
    let observation = parse_observation(input)?;
    Announced::of(&observation, observation.common()).map_err(|Refused| NotAnEvent { name: "pi" })
}

fn kept(native: &str) -> Option<Observation> {
    let observation: LifecycleObservation = serde_json::from_str(native).ok()?;
    Some(observation.common())
}
