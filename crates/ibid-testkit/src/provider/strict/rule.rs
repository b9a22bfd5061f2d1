//! The rules, by name.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize};

/// What a request must keep to.
///
/// None of this was tried against the real services. Each rule says what it rests on: *documented* in the
/// API's public reference, or *reported*: the service's error message stands in public reports. A real
/// service refuses more than this, and may refuse less with a newer model. A rule that neither a document nor a
/// report supports is not here, and one that only Ibid wants says so.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Rule {
    /// All: there is something to answer: the list of messages is there and not empty (Responses: or a text).
    /// Documented.
    NoMessages,
    /// All: a message has a role that the API knows. Documented.
    UnknownRole,
    /// All: JSON text holds no half of a surrogate pair (`\ud83d` without its other half). Reported: "no low
    /// surrogate in string" (Anthropic), "could not parse the JSON body" (OpenAI).
    LoneSurrogate,
    /// Anthropic: the first message is the user's. Documented for older versions of the API.
    FirstNotUser,
    /// Anthropic: user and assistant take turns. The public service joins neighbours of one role (documented),
    /// older ones refused them (reported: "roles must alternate"). Applied only between two messages of the
    /// assistant's, where joining would put blocks behind a tool call.
    RolesAlternate,
    /// All: every call has its result. Reported: "`tool_use` ids were found without `tool_result` blocks
    /// immediately after", "No tool output found for function call", "must be followed by tool messages".
    CallWithoutResult,
    /// All: every result has its call. Reported: "unexpected `tool_use_id` found in `tool_result` blocks", "No
    /// tool call found for function call output", "must be a response to a preceding message with
    /// 'tool_calls'".
    ResultWithoutCall,
    /// Anthropic: results come before any other content of their message. Documented.
    ResultNotFirst,
    /// All: no two calls have one id. Reported: "`tool_use` ids must be unique". For Responses and Chat an
    /// assumption: with one id for two calls the result's call is not known.
    DuplicateCall,
    /// All: a call has one result. Reported for Anthropic: "each tool_use must have a single result".
    DuplicateResult,
    /// Anthropic: no text block is empty or blank. Reported: "text content blocks must be non-empty", "must
    /// contain non-whitespace text".
    EmptyText,
    /// Anthropic: only a final message of the assistant's may have no content. Reported: "all messages must
    /// have non-empty content". Chat: content that is a list has a part (reported: "empty array. Expected an array
    /// with minimum length 1"), and an assistant's message has content or calls (reported: "expected a string,
    /// got null").
    EmptyContent,
    /// Anthropic: a final message of the assistant's does not end in white space. Reported: "final assistant
    /// content cannot end with trailing whitespace".
    FinalWhitespace,
    /// Anthropic: a thought has its signature. Reported: "thinking.signature: Field required".
    UnsignedThinking,
    /// Anthropic, with thinking enabled: inside a tool loop, the assistant's message starts with a thought.
    /// Reported: "Expected `thinking` or `redacted_thinking`, but found `tool_use`".
    ThinkingNotFirst,
    /// Anthropic: no message of the assistant's ends in a thought. Reported: "The final block in an
    /// assistant message cannot be `thinking`".
    ThinkingLast,
    /// Anthropic: call ids match `^[a-zA-Z0-9_-]+$`. Reported: "String should match pattern".
    /// Responses: a `call_id` has 1 to 64 characters; Chat: an id has 1 to 40. Reported: "string too long.
    /// Expected a string with maximum length 64" (and 40).
    CallId,
    /// Responses: an item's id begins as its type wants (`msg`, `rs`, `fc`, `ctc`). Reported: "Expected an ID
    /// that begins with 'rs'".
    ItemId,
    /// All: tool names match `^[a-zA-Z0-9_-]+$`, of at most 128 characters with Anthropic and Responses and of
    /// 64 with Chat. Documented; also where an old call names a tool.
    ToolName,
    /// Anthropic: a call's input is an object. Reported: "tool_use.input: Input should be a valid dictionary".
    /// Responses and Chat: the text of the arguments is a JSON object. Documented only as "may not be valid
    /// JSON" of what the model says; some servers refuse it, and Ibid never writes it.
    InputNotObject,
    /// All: an image is JPEG, PNG, GIF or WebP. Documented.
    ImageType,
    /// All: the base64 of an image is whole and not empty. Reported: "invalid base64 data".
    ImageData,
    /// Chat: images stand in user messages only. Reported: "Image URLs are only allowed for messages with role
    /// 'user'".
    ImageRole,
    /// Anthropic, Responses: a content part has a type that its role may use. Reported for Responses: "Invalid
    /// value: 'input_text'. Supported values are: 'output_text' and 'refusal'".
    PartType,
    /// Anthropic: at most 4 blocks are marked with `cache_control`. Documented.
    CacheMarks,
    /// All: the prompt fits the context that the provider was started with. The count is an estimate.
    OverContext,
}

impl fmt::Display for Rule {
    /// The name, as the log has it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(f)
    }
}

/// Reads a rule's name; one that this version does not know is none.
pub(super) fn known<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Rule>, D::Error> {
    let name = Option::<serde_json::Value>::deserialize(from)?;
    Ok(name.and_then(|name| Rule::deserialize(name).ok()))
}
