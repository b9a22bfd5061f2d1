//! What happened in a session that is not conversation.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Json, MessageId, Source, Text, Timestamp};

/// What kind of event.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum EventKind {
    /// The session got a title.
    Title,
    /// The model changed, or how hard it thinks.
    Model,
    /// A mode of the harness changed.
    Mode,
    /// A permission was asked for, granted or refused.
    Permission,
    /// A hook ran.
    Hook,
    /// Something failed.
    Error,
    /// A turn began or ended.
    Turn,
    /// Turns were undone.
    Rollback,
    /// The harness kept a snapshot of files.
    Snapshot,
    /// Something was queued or taken from a queue.
    Queue,
    /// Something was attached that the model may have seen.
    Attachment,
    /// A label was set.
    Label,
    /// Anything else, in the harness's word.
    Other(Text),
}

/// Something that happened in a session and is not conversation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Event {
    /// What kind.
    pub kind: EventKind,
    /// When.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<Timestamp>,
    /// The message before it in the file; none when it precedes all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<MessageId>,
    /// What it says to people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<Text>,
    /// The harness's record, where it is small.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub json: Option<Json>,
    /// What it was read from.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<Source>,
}
