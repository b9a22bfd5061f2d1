//! How sessions relate, and where a history was compacted.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{CallId, MessageId, SessionId, Source, Text, Timestamp};

/// How a session relates to its parent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Relation {
    /// It began as a copy of the parent, up to a point.
    Forked,
    /// It continues the parent, which stays as it was.
    Resumed,
    /// The parent started it as a subagent.
    Spawned,
    /// It begins with a summary of the parent.
    Compacted,
    /// Ibid made it from the parent, in another harness.
    Converted,
}

/// One relation of a session to a parent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Lineage {
    /// How they relate.
    pub relation: Relation,
    /// The parent's id; none when the record names a file only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<SessionId>,
    /// The parent's file as the record names it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent_path: Option<Text>,
    /// The parent's tool call that started a subagent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<CallId>,
    /// A subagent's own name or id within its parent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<Text>,
    /// A subagent's kind.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_kind: Option<Text>,
    /// The last message that was copied from the parent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<MessageId>,
}

impl Lineage {
    /// A relation to a parent that is known by its id.
    #[must_use]
    pub fn to(relation: Relation, parent: impl Into<SessionId>) -> Lineage {
        Lineage {
            relation,
            parent: Some(parent.into()),
            parent_path: None,
            call: None,
            agent: None,
            agent_kind: None,
            at: None,
        }
    }
}

/// A point where the harness replaced the history by a summary. What came before stays in the
/// session: people see it, and the model sees the summary, what was kept, and what follows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Compaction {
    /// The last message of the history that was compacted; none when nothing precedes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<MessageId>,
    /// The message that holds the summary, where it is a message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<MessageId>,
    /// The summary, where it is not a message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<Text>,
    /// The first message of the old history that the model still sees, with all that follow it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_kept: Option<MessageId>,
    /// What started it (`auto`, `manual`), in the harness's word.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trigger: Option<Text>,
    /// The size of the context before, in tokens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens_before: Option<u64>,
    /// When.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<Timestamp>,
    /// What it was read from.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<Source>,
}
