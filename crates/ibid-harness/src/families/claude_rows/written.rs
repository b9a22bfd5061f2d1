//! Rows as they are written: the keys and their order as the program has them (2.1.332).

use ibid_model::{Json, StopReason, Text, Usage};
use serde::Serialize;

/// What every row of the tree has, at its end.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Common<'a> {
    pub(super) uuid: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) timestamp: Option<String>,
    #[serde(rename = "userType")]
    pub(super) user_type: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) cwd: Option<&'a str>,
    #[serde(rename = "sessionId")]
    pub(super) session: &'a str,
    pub(super) version: &'a str,
    #[serde(rename = "gitBranch", skip_serializing_if = "Option::is_none")]
    pub(super) git_branch: Option<&'a str>,
}

/// What every row of the tree has, at its beginning.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Links<'a> {
    #[serde(rename = "parentUuid")]
    pub(super) parent: Option<&'a str>,
    #[serde(rename = "logicalParentUuid", skip_serializing_if = "Option::is_none")]
    pub(super) logical_parent: Option<&'a str>,
    #[serde(rename = "isSidechain")]
    pub(super) sidechain: bool,
    #[serde(rename = "agentId", skip_serializing_if = "Option::is_none")]
    pub(super) agent: Option<&'a str>,
}

/// A user row.
#[derive(Debug, Serialize)]
pub(super) struct UserRow<'a> {
    #[serde(flatten)]
    pub(super) links: Links<'a>,
    #[serde(rename = "type")]
    pub(super) kind: &'static str,
    pub(super) message: UserMessage<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) origin: Option<RowOrigin>,
    #[serde(rename = "isVisibleInTranscriptOnly", skip_serializing_if = "std::ops::Not::not")]
    pub(super) transcript_only: bool,
    #[serde(rename = "isCompactSummary", skip_serializing_if = "std::ops::Not::not")]
    pub(super) compact_summary: bool,
    #[serde(rename = "toolUseResult", skip_serializing_if = "Option::is_none")]
    pub(super) structured: Option<&'a Json>,
    #[serde(flatten)]
    pub(super) common: Common<'a>,
}

/// Who a user row is from.
#[derive(Debug, Serialize)]
pub(super) struct RowOrigin {
    pub(super) kind: &'static str,
}

/// The message of a user row.
#[derive(Debug, Serialize)]
pub(super) struct UserMessage<'a> {
    pub(super) role: &'static str,
    pub(super) content: Content<'a>,
}

/// An assistant row.
#[derive(Debug, Serialize)]
pub(super) struct AssistantRow<'a> {
    #[serde(flatten)]
    pub(super) links: Links<'a>,
    pub(super) message: AssistantMessage<'a>,
    #[serde(rename = "requestId", skip_serializing_if = "Option::is_none")]
    pub(super) request: Option<&'a str>,
    #[serde(rename = "type")]
    pub(super) kind: &'static str,
    #[serde(flatten)]
    pub(super) common: Common<'a>,
}

/// The message of an assistant row.
#[derive(Debug, Serialize)]
pub(super) struct AssistantMessage<'a> {
    pub(super) id: &'a str,
    #[serde(rename = "type")]
    pub(super) kind: &'static str,
    pub(super) role: &'static str,
    pub(super) model: &'a str,
    pub(super) content: [Block<'a>; 1],
    pub(super) stop_reason: Option<&'a str>,
    pub(super) stop_sequence: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) usage: Option<Tokens>,
}

/// A system row that marks a compaction.
#[derive(Debug, Serialize)]
pub(super) struct BoundaryRow<'a> {
    #[serde(flatten)]
    pub(super) links: Links<'a>,
    #[serde(rename = "type")]
    pub(super) kind: &'static str,
    pub(super) subtype: &'static str,
    pub(super) content: &'static str,
    #[serde(rename = "isMeta")]
    pub(super) meta: bool,
    pub(super) level: &'static str,
    #[serde(rename = "compactMetadata")]
    pub(super) compact: CompactMetadata<'a>,
    #[serde(flatten)]
    pub(super) common: Common<'a>,
}

/// What a compaction boundary says about the compaction.
#[derive(Debug, Serialize)]
pub(super) struct CompactMetadata<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) trigger: Option<&'a str>,
    #[serde(rename = "preTokens", skip_serializing_if = "Option::is_none")]
    pub(super) tokens_before: Option<u64>,
    #[serde(rename = "preservedSegment", skip_serializing_if = "Option::is_none")]
    pub(super) preserved: Option<PreservedSegment<'a>>,
}

/// The rows of the old history that the model still sees.
#[derive(Debug, Serialize)]
pub(super) struct PreservedSegment<'a> {
    #[serde(rename = "headUuid")]
    pub(super) head: &'a str,
    #[serde(rename = "anchorUuid")]
    pub(super) anchor: &'a str,
    #[serde(rename = "tailUuid")]
    pub(super) tail: &'a str,
}

/// A title row of one of three kinds.
#[derive(Debug, Serialize)]
#[serde(tag = "type")]
pub(super) enum TitleRow<'a> {
    #[serde(rename = "custom-title")]
    Custom {
        #[serde(rename = "customTitle")]
        title: &'a str,
        #[serde(rename = "sessionId")]
        session: &'a str,
    },
    #[serde(rename = "ai-title")]
    Generated {
        #[serde(rename = "aiTitle")]
        title: &'a str,
        #[serde(rename = "sessionId")]
        session: &'a str,
    },
}

/// Content of a message or a tool result.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(super) enum Content<'a> {
    Text(&'a str),
    Owned(String),
    Blocks(Vec<Block<'a>>),
}

/// One block.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(super) enum Block<'a> {
    Typed(TypedBlock<'a>),
    Raw(&'a Json),
}

/// One block of a kind that the model has a type for.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum TypedBlock<'a> {
    Text {
        text: &'a str,
    },
    Thinking {
        thinking: &'a str,
        signature: &'a str,
    },
    RedactedThinking {
        data: &'a str,
    },
    ToolUse {
        id: &'a str,
        name: Text,
        input: Json,
    },
    ToolResult {
        tool_use_id: &'a str,
        content: Content<'a>,
        #[serde(skip_serializing_if = "Option::is_none")]
        is_error: Option<bool>,
    },
    Image {
        source: Source<'a>,
    },
    Document {
        #[serde(skip_serializing_if = "Option::is_none")]
        title: Option<&'a str>,
        source: Source<'a>,
    },
}

/// Where the bytes of an image or document are.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum Source<'a> {
    Base64 { media_type: &'a str, data: &'a str },
    Text { media_type: &'a str, data: &'a str },
    Url { url: &'a str },
    File { file_id: &'a str },
}

/// Token counts of an API message.
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct Tokens {
    #[serde(skip_serializing_if = "Option::is_none")]
    input_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cache_creation_input_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cache_read_input_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    output_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    output_tokens_details: Option<OutputDetails>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cache_creation: Option<Lifetimes>,
}

#[derive(Clone, Copy, Debug, Serialize)]
struct OutputDetails {
    thinking_tokens: u64,
}

#[derive(Clone, Copy, Debug, Serialize)]
struct Lifetimes {
    #[serde(skip_serializing_if = "Option::is_none")]
    ephemeral_1h_input_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ephemeral_5m_input_tokens: Option<u64>,
}

impl From<&Usage> for Tokens {
    fn from(usage: &Usage) -> Tokens {
        let lifetimes = usage.cache_write_1h.or(usage.cache_write_5m).map(|_| Lifetimes {
            ephemeral_1h_input_tokens: usage.cache_write_1h,
            ephemeral_5m_input_tokens: usage.cache_write_5m,
        });
        Tokens {
            input_tokens: usage.input,
            cache_creation_input_tokens: usage.cache_write,
            cache_read_input_tokens: usage.cache_read,
            output_tokens: usage.output,
            output_tokens_details: usage.reasoning.map(|thinking_tokens| OutputDetails { thinking_tokens }),
            cache_creation: lifetimes,
        }
    }
}

/// The provider's word for a reason to stop, where it has one.
pub(super) fn stop_word(stop: &StopReason) -> Option<&'static str> {
    match stop {
        StopReason::EndTurn => Some("end_turn"),
        StopReason::ToolUse => Some("tool_use"),
        StopReason::MaxTokens => Some("max_tokens"),
        StopReason::StopSequence => Some("stop_sequence"),
        StopReason::Refusal => Some("refusal"),
        _ => None,
    }
}
