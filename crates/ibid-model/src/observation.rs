//! What a harness announced: one boundary of a session, with its identities and nothing else.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Origin, SessionId, Text};

/// Which boundary was reached.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "boundary", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Boundary {
    /// A session began, or was taken up again.
    SessionStart {
        /// Why (`startup`, `resume`), in the harness's word.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        source: Option<Text>,
    },
    /// Something was said that the model is to answer: a turn begins.
    Prompt {
        /// Who said it, where the harness tells; only [`Origin::Person`] makes it a person's turn.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        origin: Option<Origin>,
    },
    /// The model stopped answering: a turn ends.
    Stop,
    /// A subagent began.
    SubagentStart,
    /// A subagent ended.
    SubagentStop,
    /// The history was replaced by a summary.
    Compacted,
    /// The session ended, or the program did.
    SessionEnd {
        /// Why, in the harness's word.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<Text>,
    },
}

/// The subagent that an observation is about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ObservedAgent {
    /// Its own id, exactly as announced.
    pub id: Text,
    /// Its kind, in the harness's word.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<Text>,
    /// Its transcript, exactly as announced.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transcript_path: Option<Text>,
}

/// One observation of the lifecycle lane, whichever harness made it. Identifiers are exact: they
/// are compared, and never read, trimmed or normalised. What a person or a model said is not in it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Observation {
    /// The session: for a subagent too, that of its root.
    pub session: SessionId,
    /// Which boundary.
    #[serde(flatten)]
    pub boundary: Boundary,
    /// The harness's own name of the event.
    pub event: Text,
    /// The harness's id of the turn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn: Option<Text>,
    /// The subagent it is about, or inside which it happened.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<ObservedAgent>,
    /// The transcript of the session itself, exactly as announced; none where the harness names
    /// none or names a subagent's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transcript_path: Option<Text>,
    /// The working directory, exactly as announced.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<Text>,
    /// The model, exactly as announced.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<Text>,
}
