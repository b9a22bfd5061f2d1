//! The content of messages.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Json, Text, ToolResult, ToolUse};

/// One piece of a message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Block {
    /// Text.
    Text(TextBlock),
    /// What the model thought before it answered.
    Thinking(Thinking),
    /// A call of a tool.
    ToolUse(ToolUse),
    /// What a tool gave back.
    ToolResult(ToolResult),
    /// A picture.
    Image(Image),
    /// A document or artifact.
    Document(Document),
    /// A command of the harness that a person ran (`/clear`).
    Command(Command),
    /// A block of a kind that the model has no type for, as it was written.
    Other(OtherBlock),
}

crate::tagged::deserialize_tagged!(Block, "type", {
    "text" => Text, "thinking" => Thinking, "tool_use" => ToolUse, "tool_result" => ToolResult,
    "image" => Image, "document" => Document, "command" => Command, "other" => Other,
});

impl Block {
    /// A text block.
    #[must_use]
    pub fn text(text: impl Into<Text>) -> Block {
        Block::Text(TextBlock { text: text.into() })
    }
}

/// Text of a message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TextBlock {
    /// The text.
    pub text: Text,
}

/// What a provider's opaque token is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TokenUse {
    /// Proves to the provider that the thinking text is its own.
    Signature,
    /// Holds the thinking itself, encrypted.
    Encrypted,
    /// Holds thinking that the provider withheld.
    Redacted,
}

/// An opaque value that only the provider that made it can read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ProviderToken {
    /// What it is for.
    pub usage: TokenUse,
    /// The provider, in lower case (`anthropic`, `openai`); absent when nothing says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider: Option<Text>,
    /// The value.
    pub value: Text,
}

/// What the model thought.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Thinking {
    /// The text or the summary that the harness shows; may be empty when there are only tokens.
    pub text: Text,
    /// The provider's tokens that go with it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tokens: Vec<ProviderToken>,
}

/// Where the bytes of an image or document are.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Data {
    /// Here, in base64 as it was written.
    Base64(Text),
    /// Here, as text.
    Text(Text),
    /// At an address.
    Url(Text),
    /// In a file of the machine where the session ran.
    Path(Text),
    /// With the provider, under an id.
    ProviderFile(Text),
    /// Nowhere: the harness kept the mention, not the bytes.
    Absent,
}

/// A picture.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Image {
    /// Its media type, such as `image/png`, when the harness says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub media_type: Option<Text>,
    /// Its bytes.
    pub data: Data,
    /// Its file name, when the harness says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<Text>,
}

/// A document or artifact.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Document {
    /// Its media type, when the harness says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub media_type: Option<Text>,
    /// Its bytes.
    pub data: Data,
    /// Its title or file name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<Text>,
}

/// A command of the harness that a person ran.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Command {
    /// Its name with the leading slash.
    pub name: Text,
    /// What follows the name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub args: Option<Text>,
}

/// A block of a kind that the model has no type for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OtherBlock {
    /// The harness's name for it.
    pub kind: Text,
    /// The block as it was written.
    pub json: Json,
}
