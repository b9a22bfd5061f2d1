//! The rules, by name.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize};

/// What a request must keep to.
///
/// None of this was tried against the real services. Each rule says what it rests on: *documented* in the
/// API's public reference, or *reported*: the service's error message stands in public reports. A real
/// service refuses more than this, and may refuse less with a newer model. What rests on neither is called an
/// *assumption*.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Rule {
    /// All: there is something to answer: the list of messages is there and not empty (Responses: or a text, or
    /// a conversation that the server keeps). Documented.
    NoMessages,
    /// All: a message has a role that the API knows. Documented. `system` in Anthropic's `messages` is let pass,
    /// since Claude Code 2.1.197 and later send it.
    UnknownRole,
    /// All: a JSON text holds no half of a surrogate pair (`\ud83d` without its other half). Reported: "no low
    /// surrogate in string" (Anthropic), "could not parse the JSON body" (OpenAI).
    LoneSurrogate,
    /// Anthropic: the first message is not the assistant's. Reported: "first message must use the \"user\"
    /// role".
    FirstNotUser,
    /// Anthropic: the assistant does not speak twice in a row when its first message calls tools. Neighbours
    /// of one role are joined otherwise (documented; older services refused all of them: "roles must
    /// alternate", reported).
    RolesAlternate,
    /// All: every call has its result; with Anthropic in the very next message, with Chat before any other
    /// message. Reported: "`tool_use` ids were found without `tool_result` blocks immediately after", "No tool
    /// output found for function call", "must be followed by tool messages".
    CallWithoutResult,
    /// All: every result has its call, in the places that the rule above names. Reported: "unexpected
    /// `tool_use_id` found in `tool_result` blocks", "No tool call found for function call output", "must be a
    /// response to a preceding message with 'tool_calls'".
    ResultWithoutCall,
    /// Anthropic: results come before any other content of their message. Documented.
    ResultNotFirst,
    /// All: no two calls have one id. Reported for Anthropic: "`tool_use` ids must be unique". For the others an
    /// assumption: the result's call could not be told.
    DuplicateCall,
    /// All: a call has one result. Reported for Anthropic: "each tool_use must have a single result"; an
    /// assumption for the others.
    DuplicateResult,
    /// Anthropic: no text block is empty or blank. Reported: "text content blocks must be non-empty", "must
    /// contain non-whitespace text".
    EmptyText,
    /// Anthropic: only a final message of the assistant's may have no content. Reported: "all messages must
    /// have non-empty content". Messages of the system are let pass. Chat: a list of parts or of calls has an entry (reported: "empty array. Expected
    /// an array with minimum length 1"), and an assistant's message has content, calls or a refusal
    /// (reported: "expected a string, got null").
    EmptyContent,
    /// Anthropic: a final message of the assistant's does not end in white space. Reported: "final assistant
    /// content cannot end with trailing whitespace".
    FinalWhitespace,
    /// Anthropic: a thought has its signature. Reported: "thinking.signature: Field required".
    UnsignedThinking,
    /// Anthropic: a message with a thought begins with one (reported: "If an assistant message contains any
    /// thinking blocks, the first block must be thinking"); and where thinking is enabled, not adaptive, a loop of
    /// tools begins with a thought (reported: "Expected `thinking` or `redacted_thinking`, but found
    /// `tool_use`").
    ThinkingNotFirst,
    /// Anthropic: no message of the assistant's ends in a thought. Reported: "The final block in an
    /// assistant message cannot be `thinking`".
    ThinkingLast,
    /// Anthropic: a call's id matches `^[a-zA-Z0-9_-]+$`. Reported: "String should match pattern".
    /// Responses: it has 1 to 64 characters; Chat: 1 to 40. Reported: "string too long. Expected a string with
    /// maximum length 64" and "40"; a few models take 64 in Chat too.
    CallId,
    /// Responses: an item's id begins as its type wants: `msg`, `rs`, `fc`, `ctc`. Reported: "Expected an ID that
    /// begins with 'rs'".
    ItemId,
    /// All: tool names match `^[a-zA-Z0-9_-]+$`, with at most 128 characters, and 64 with Chat, where tools are
    /// offered and where old calls name them. Documented for the tools that are offered; for Responses the
    /// length is an assumption.
    ToolName,
    /// Anthropic: a call's input is an object. Reported: "tool_use.input: Input should be a valid dictionary".
    /// Responses and Chat: the text of the arguments is a JSON object. OpenAI's services are not known to look
    /// at it; servers that turn it into a prompt are, and it is what the model must have written.
    InputNotObject,
    /// All: an image in a request is JPEG, PNG, GIF or WebP (documented), and is what its media type says (reported
    /// for Anthropic: "specified using the image/jpeg media type, but the image appears to be a image/png image").
    ImageType,
    /// All: the base64 of an image is whole and not empty. Reported: "invalid base64 data".
    ImageData,
    /// Chat: images stand in user messages only. Reported: "Image URLs are only allowed for messages with role
    /// 'user'". Newer models were reported to take one in a tool's message and not to see it.
    ImageRole,
    /// All: a part of a message has a type that its role may use. Documented; reported for Responses:
    /// "Invalid value: 'input_text'. Supported values are: 'output_text' and 'refusal'".
    PartType,
    /// Anthropic: at most 4 blocks are marked with `cache_control`. Documented.
    CacheMarks,
    /// All: the prompt fits the context that the provider was started with. The count is an estimate.
    OverContext,
}

impl Rule {
    /// Every rule.
    pub const EVERY: [Self; 26] = [
        Self::NoMessages,
        Self::UnknownRole,
        Self::LoneSurrogate,
        Self::FirstNotUser,
        Self::RolesAlternate,
        Self::CallWithoutResult,
        Self::ResultWithoutCall,
        Self::ResultNotFirst,
        Self::DuplicateCall,
        Self::DuplicateResult,
        Self::EmptyText,
        Self::EmptyContent,
        Self::FinalWhitespace,
        Self::UnsignedThinking,
        Self::ThinkingNotFirst,
        Self::ThinkingLast,
        Self::CallId,
        Self::ItemId,
        Self::ToolName,
        Self::InputNotObject,
        Self::ImageType,
        Self::ImageData,
        Self::ImageRole,
        Self::PartType,
        Self::CacheMarks,
        Self::OverContext,
    ];
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
