//! Messages.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Block, MessageId, Source, Text, Timestamp};

/// Who a message stands for towards the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// The person's side; tool results are here too.
    User,
    /// The model.
    Assistant,
    /// Instructions to the model.
    System,
}

/// Who really wrote a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Origin {
    /// A person (or a program in a person's place) typed it.
    Person,
    /// The model.
    Model,
    /// Tools: the message holds nothing but their results.
    Tools,
    /// The harness put it there: context, reminders, notifications, output of its own commands.
    Harness,
    /// The harness put it there in place of a history that it compacted.
    Summary,
    /// Another agent: the task a subagent was given, or its report.
    Agent,
}

/// Why the model stopped.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum StopReason {
    /// It was done.
    EndTurn,
    /// It called tools.
    ToolUse,
    /// It reached the limit of output tokens.
    MaxTokens,
    /// It wrote a stop sequence.
    StopSequence,
    /// Someone stopped it.
    Aborted,
    /// The provider or the harness failed.
    Error,
    /// The provider refused.
    Refusal,
    /// Another reason, in the harness's own word.
    Other(Text),
}

/// One message of a session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Message {
    /// Unique within the session.
    pub id: MessageId,
    /// The message it continues; none at the beginning of a tree.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<MessageId>,
    /// Who it stands for towards the model.
    pub role: Role,
    /// Who really wrote it.
    pub origin: Origin,
    /// When it was recorded; none when the harness does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<Timestamp>,
    /// The model that wrote it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<Text>,
    /// The harness's id of the turn it belongs to, where the harness has such ids. A turn is what
    /// one prompt sets off, up to the next.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn: Option<Text>,
    /// The provider's id of the API message it is part of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub api_id: Option<Text>,
    /// Why the model stopped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop: Option<StopReason>,
    /// The working directory when it was recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<Text>,
    /// Whether it belongs to a conversation beside the main one within the same file.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub sidechain: bool,
    /// Whether it was copied from the session this one was forked from: it counts there.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub inherited: bool,
    /// The content, in order.
    pub blocks: Vec<Block>,
    /// What it was read from.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<Source>,
}

impl Message {
    /// A message with no content and nothing known about it but who wrote it.
    #[must_use]
    pub fn new(id: impl Into<MessageId>, role: Role, origin: Origin) -> Message {
        Message {
            id: id.into(),
            parent: None,
            role,
            origin,
            at: None,
            model: None,
            turn: None,
            api_id: None,
            stop: None,
            cwd: None,
            sidechain: false,
            inherited: false,
            blocks: Vec::new(),
            sources: Vec::new(),
        }
    }

    /// Whether it has text with more than white space.
    #[must_use]
    pub fn has_text(&self) -> bool {
        self.blocks.iter().any(|block| matches!(block, Block::Text(text) if !text.text.is_blank()))
    }

    /// Whether a person said something in it: text, a picture, a document or a command.
    #[must_use]
    pub fn is_prompt(&self) -> bool {
        self.role == Role::User
            && self.origin == Origin::Person
            && self.blocks.iter().any(|block| match block {
                Block::Text(text) => !text.text.is_blank(),
                Block::Image(_) | Block::Document(_) | Block::Command(_) => true,
                _ => false,
            })
    }

    /// The text blocks, in order.
    pub fn texts(&self) -> impl Iterator<Item = &Text> {
        self.blocks.iter().filter_map(|block| match block {
            Block::Text(text) => Some(&text.text),
            _ => None,
        })
    }
}
