//! What Ibid's plugin for OpenCode announces, and how it is read.
//!
//! OpenCode runs no hook commands; it loads plugins. Ours (`plugin/ibid.js`) hears every event of
//! the program and gives the hook command one object with identities. What is read here is that
//! object, against an allowlist of its own: another plugin could run the same command with more.
//!
//! # What the events say
//!
//! Measured with `opencode run` 1.18.33:
//!
//! - a subagent is a session of its own whose `parentID` names the session that spawned it;
//!   `session.created` is its start and `session.idle` the end of each of its turns.
//! - `session.created` is announced for new sessions only. A session that is resumed is first seen
//!   by its prompt, and its parent is then asked for; when there was no answer, `parent_id` and
//!   `root_id` are both null, and nobody says whether it is a subagent.
//! - `chat.message` is a prompt, of a person or for a subagent; its id is the turn. `session.idle`
//!   names no turn: the plugin adds the one that the last answer named.
//! - nothing announces that a session ends.

use ibid_model::{Boundary, Observation, ObservedAgent, Origin, SessionId, Text};
use serde::{Deserialize, Serialize};

use crate::core::capture::{Announced, Lifecycle, NotAnEvent};
use crate::core::hook_object::{HookObject, Refused};

#[cfg(test)]
mod tests;

/// The events that are read, as OpenCode names them.
pub const LIFECYCLE_EVENTS: [&str; 4] =
    ["session.created", "chat.message", "session.idle", "session.compacted"];

/// Events that OpenCode 1.18.33 has too, which say nothing about a boundary or say it again, and
/// are deliberately not read.
pub const UNREAD_EVENTS: [&str; 8] = [
    "session.updated",
    "session.status",
    "session.diff",
    "session.error",
    "session.deleted",
    "message.updated",
    "message.part.updated",
    "message.part.delta",
];

/// The keys that are looked at. Each may stand in an input once.
const ALLOWED: &[&str] = &[
    "event",
    "session_id",
    "parent_id",
    "root_id",
    "agent",
    "cwd",
    "message_id",
    "origin",
    "model",
    "provider",
];

/// What OpenCode announces, for the registry.
pub static LIFECYCLE: Lifecycle = Lifecycle { events: &LIFECYCLE_EVENTS, unread: &UNREAD_EVENTS, read, kept };

/// One event of an OpenCode session, with its identities and nothing else. An option that is
/// absent is written as null.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct LifecycleObservation {
    /// Which event.
    pub event: LifecycleEvent,
    /// The session that it is about: a subagent's own, not its root's.
    pub session_id: String,
    /// The session that spawned it; none for a root, and none where that is not known.
    #[serde(default)]
    pub parent_id: Option<String>,
    /// The session at the top, which for a root is itself; none where it is not known.
    #[serde(default)]
    pub root_id: Option<String>,
    /// The kind of agent that works in the session.
    #[serde(default)]
    pub agent: Option<String>,
    /// The working directory.
    #[serde(default)]
    pub cwd: Option<String>,
    /// The prompt that begins the turn, or whose turn ended.
    #[serde(default)]
    pub message_id: Option<String>,
    /// Who said a prompt.
    #[serde(default)]
    pub origin: Option<PromptOrigin>,
    /// The model.
    #[serde(default)]
    pub model: Option<String>,
    /// Its provider.
    #[serde(default)]
    pub provider: Option<String>,
}

/// Which event it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub enum LifecycleEvent {
    /// A session was made.
    #[serde(rename = "session.created")]
    Created,
    /// A message to the model came in.
    #[serde(rename = "chat.message")]
    Prompt,
    /// The session has nothing more to do.
    #[serde(rename = "session.idle")]
    Idle,
    /// The history was replaced by a summary.
    #[serde(rename = "session.compacted")]
    Compacted,
}

/// Who said a prompt, as far as OpenCode marks it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum PromptOrigin {
    /// At least a part of it was given to OpenCode.
    Person,
    /// OpenCode made every part of it.
    Harness,
}

/// Reads what the plugin gives the hook: exactly one JSON object.
///
/// # Errors
///
/// [`NotAnEvent`] for everything else: an event that is not among [`LIFECYCLE_EVENTS`], a field
/// that is missing or of another type, an allowlisted key twice, a subagent with a root but without
/// a parent or the other way round, no JSON, or more than one value.
pub fn parse_observation(input: &[u8]) -> Result<LifecycleObservation, NotAnEvent> {
    parsed(input).map_err(|Refused| NotAnEvent { name: "OpenCode" })
}

fn parsed(input: &[u8]) -> Result<LifecycleObservation, Refused> {
    let input = HookObject::read(input, ALLOWED)?;
    let origin = match input.optional("origin")? {
        None => None,
        Some(_) => Some(input.word("origin")?.ok_or(Refused)?),
    };
    let observation = LifecycleObservation {
        event: input.word("event")?.ok_or(Refused)?,
        session_id: input.required("session_id")?,
        parent_id: input.optional("parent_id")?,
        root_id: input.optional("root_id")?,
        agent: input.optional("agent")?,
        cwd: input.optional("cwd")?,
        message_id: input.optional("message_id")?,
        origin,
        model: input.optional("model")?,
        provider: input.optional("provider")?,
    };
    if observation.is_consistent() { Ok(observation) } else { Err(Refused) }
}

impl LifecycleObservation {
    /// A session without a parent is its own root, and one with a parent is not.
    fn is_consistent(&self) -> bool {
        match (&self.parent_id, &self.root_id) {
            (_, None) => true,
            (None, Some(root)) => *root == self.session_id,
            (Some(parent), Some(root)) => *root != self.session_id && *parent != self.session_id,
        }
    }

    /// The same in the common form. A subagent whose root is not known is observed under its own
    /// id: that is the session which the event names, and no other is made up for it.
    #[must_use]
    pub fn common(&self) -> Observation {
        let text = |text: &String| Text::from(text.as_str());
        let is_subagent = self.parent_id.is_some();
        let agent = is_subagent.then(|| ObservedAgent {
            id: text(&self.session_id),
            kind: self.agent.as_ref().map(text),
            transcript_path: None,
        });
        let origin = match self.origin {
            _ if is_subagent => Some(Origin::Agent),
            Some(PromptOrigin::Harness) => Some(Origin::Harness),
            // Whether a session whose root is not known is a person's is not known either.
            Some(PromptOrigin::Person) => self.root_id.as_ref().map(|_| Origin::Person),
            None => None,
        };
        let (event, boundary) = match self.event {
            LifecycleEvent::Created if is_subagent => ("session.created", Boundary::SubagentStart),
            LifecycleEvent::Created => ("session.created", Boundary::SessionStart { source: None }),
            LifecycleEvent::Prompt => ("chat.message", Boundary::Prompt { origin }),
            LifecycleEvent::Idle if is_subagent => ("session.idle", Boundary::SubagentStop),
            LifecycleEvent::Idle => ("session.idle", Boundary::Stop),
            LifecycleEvent::Compacted => ("session.compacted", Boundary::Compacted),
        };
        Observation {
            session: SessionId::from(self.root_id.as_ref().unwrap_or(&self.session_id).as_str()),
            boundary,
            event: Text::from(event),
            turn: self.message_id.as_ref().map(text),
            agent,
            transcript_path: None,
            cwd: self.cwd.as_ref().map(text),
            model: self.model.as_ref().map(text),
        }
    }
}

fn read(input: &[u8]) -> Result<Announced, NotAnEvent> {
    let observation = parse_observation(input)?;
    Announced::of(&observation, observation.common()).map_err(|Refused| NotAnEvent { name: "OpenCode" })
}

fn kept(native: &str) -> Option<Observation> {
    let observation: LifecycleObservation = serde_json::from_str(native).ok()?;
    Some(observation.common())
}
