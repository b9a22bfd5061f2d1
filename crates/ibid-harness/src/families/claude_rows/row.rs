//! One row as it is written, without anything decided about it.
//!
//! Borrowed from the text of the line; keys that Ibid has no use for are skipped, and stay in
//! the carrier. Seen with the rows of Claude Code 1.0.60 to 2.1.332.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use super::lenient::{
    Count, Fields, Flag, Link, Str, Written, elements, other_types_are_absent, read_fields, skip,
};

/// A row. Names are those of the JSON keys, in the words of the model.
#[derive(Debug, Default)]
pub(super) struct Row<'a> {
    pub(super) kind: Str<'a>,
    pub(super) subtype: Str<'a>,
    pub(super) uuid: Str<'a>,
    pub(super) parent: Link<'a>,
    pub(super) logical_parent: Str<'a>,
    pub(super) timestamp: Str<'a>,
    pub(super) session: Str<'a>,
    pub(super) cwd: Str<'a>,
    pub(super) git_branch: Str<'a>,
    pub(super) version: Str<'a>,
    pub(super) agent: Str<'a>,
    /// The prompt that set off what the row belongs to (since 2.1.197 or before; on user rows).
    pub(super) prompt: Str<'a>,
    pub(super) request: Str<'a>,
    /// The session that made the call, on rows that a fork copied.
    pub(super) request_session: Str<'a>,
    pub(super) sidechain: Flag,
    pub(super) meta: Flag,
    pub(super) compact_summary: Flag,
    pub(super) transcript_only: Flag,
    pub(super) api_error: Flag,
    pub(super) origin: Named<'a>,
    pub(super) message: RowMessage<'a>,
    pub(super) tool_use_result: Option<&'a RawValue>,
    pub(super) compact: Compact<'a>,
    pub(super) attachment: Named<'a>,
    pub(super) content: Str<'a>,
    pub(super) leaf: Str<'a>,
    pub(super) summary: Str<'a>,
    pub(super) custom_title: Str<'a>,
    pub(super) agent_name: Str<'a>,
    pub(super) ai_title: Str<'a>,
    pub(super) operation: Str<'a>,
    pub(super) mode: Str<'a>,
    pub(super) permission_mode: Str<'a>,
}

impl<'de> Fields<'de> for Row<'de> {
    fn field<A: MapAccess<'de>>(&mut self, key: &str, map: &mut A) -> Result<(), A::Error> {
        match key {
            "type" => self.kind = map.next_value()?,
            "subtype" => self.subtype = map.next_value()?,
            "uuid" => self.uuid = map.next_value()?,
            "parentUuid" => self.parent = map.next_value()?,
            "logicalParentUuid" => self.logical_parent = map.next_value()?,
            "timestamp" => self.timestamp = map.next_value()?,
            "sessionId" => self.session = map.next_value()?,
            "cwd" => self.cwd = map.next_value()?,
            "gitBranch" => self.git_branch = map.next_value()?,
            "version" => self.version = map.next_value()?,
            "agentId" => self.agent = map.next_value()?,
            "promptId" => self.prompt = map.next_value()?,
            "requestId" => self.request = map.next_value()?,
            "requestSessionId" => self.request_session = map.next_value()?,
            "isSidechain" => self.sidechain = map.next_value()?,
            "isMeta" => self.meta = map.next_value()?,
            "isCompactSummary" => self.compact_summary = map.next_value()?,
            "isVisibleInTranscriptOnly" => self.transcript_only = map.next_value()?,
            "isApiErrorMessage" => self.api_error = map.next_value()?,
            "origin" => self.origin = map.next_value()?,
            // Rows of other kinds quote whole messages; those are none of this conversation.
            "message" if self.kind.as_str().is_none_or(|kind| kind == "user" || kind == "assistant") => {
                self.message = map.next_value()?;
            }
            "toolUseResult" => self.tool_use_result = Some(map.next_value()?),
            "compactMetadata" => self.compact = map.next_value()?,
            "attachment" => self.attachment = map.next_value()?,
            "content" => self.content = map.next_value()?,
            "leafUuid" => self.leaf = map.next_value()?,
            "summary" => self.summary = map.next_value()?,
            "customTitle" => self.custom_title = map.next_value()?,
            "agentName" => self.agent_name = map.next_value()?,
            "aiTitle" => self.ai_title = map.next_value()?,
            "operation" => self.operation = map.next_value()?,
            "mode" => self.mode = map.next_value()?,
            "permissionMode" => self.permission_mode = map.next_value()?,
            _ => skip(map)?,
        }
        Ok(())
    }
}

/// An object of which only what names its kind matters.
#[derive(Debug, Default)]
pub(super) struct Named<'a> {
    /// `type` or `kind`.
    pub(super) kind: Str<'a>,
    /// A prompt that an attachment quotes.
    pub(super) prompt: Str<'a>,
}

impl<'de> Fields<'de> for Named<'de> {
    fn field<A: MapAccess<'de>>(&mut self, key: &str, map: &mut A) -> Result<(), A::Error> {
        match key {
            "type" | "kind" => self.kind = map.next_value()?,
            "prompt" => self.prompt = map.next_value()?,
            _ => skip(map)?,
        }
        Ok(())
    }
}

/// `compactMetadata` of a compaction boundary.
#[derive(Debug, Default)]
pub(super) struct Compact<'a> {
    pub(super) trigger: Str<'a>,
    pub(super) tokens_before: Count,
    pub(super) preserved: Preserved<'a>,
    pub(super) preserved_messages: Preserved<'a>,
}

impl<'de> Fields<'de> for Compact<'de> {
    fn field<A: MapAccess<'de>>(&mut self, key: &str, map: &mut A) -> Result<(), A::Error> {
        match key {
            "trigger" => self.trigger = map.next_value()?,
            "preTokens" => self.tokens_before = map.next_value()?,
            "preservedSegment" => self.preserved = map.next_value()?,
            "preservedMessages" => self.preserved_messages = map.next_value()?,
            _ => skip(map)?,
        }
        Ok(())
    }
}

/// `preservedSegment` or `preservedMessages`: the part of the old history that the model still
/// sees, which reaches to its end.
#[derive(Debug, Default)]
pub(super) struct Preserved<'a> {
    pub(super) head: Str<'a>,
}

impl<'de> Fields<'de> for Preserved<'de> {
    fn field<A: MapAccess<'de>>(&mut self, key: &str, map: &mut A) -> Result<(), A::Error> {
        match key {
            "headUuid" => self.head = map.next_value()?,
            "uuids" => self.head = map.next_value::<First<'de>>()?.0,
            _ => skip(map)?,
        }
        Ok(())
    }
}

/// The first string of a list.
#[derive(Debug, Default)]
struct First<'a>(Str<'a>);

impl<'de> Deserialize<'de> for First<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Lists;
        impl<'de> Visitor<'de> for Lists {
            type Value = First<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list")
            }
            fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<First<'de>, A::Error> {
                Ok(First(elements(list)?.into_iter().next().unwrap_or_default()))
            }
            other_types_are_absent!(scalar, string, object);
        }
        deserializer.deserialize_any(Lists)
    }
}

/// `message` of a user or assistant row.
#[derive(Debug, Default)]
pub(super) struct RowMessage<'a> {
    /// Whether it is an object at all.
    pub(super) object: bool,
    pub(super) id: Str<'a>,
    pub(super) model: Str<'a>,
    pub(super) stop_reason: Str<'a>,
    pub(super) usage: Option<RowUsage>,
    pub(super) content: RowContent<'a>,
}

impl<'de> Fields<'de> for RowMessage<'de> {
    fn field<A: MapAccess<'de>>(&mut self, key: &str, map: &mut A) -> Result<(), A::Error> {
        match key {
            "id" => self.id = map.next_value()?,
            "model" => self.model = map.next_value()?,
            "stop_reason" => self.stop_reason = map.next_value()?,
            "usage" => self.usage = Some(map.next_value()?),
            "content" => self.content = map.next_value()?,
            _ => skip(map)?,
        }
        Ok(())
    }
    fn is_object(&mut self) {
        self.object = true;
    }
}

/// `message.usage`.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RowUsage {
    pub(super) input: Count,
    pub(super) output: Count,
    pub(super) cache_read: Count,
    pub(super) cache_write: Count,
    pub(super) lifetimes: Lifetimes,
    pub(super) details: OutputDetails,
}

impl<'de> Fields<'de> for RowUsage {
    fn field<A: MapAccess<'de>>(&mut self, key: &str, map: &mut A) -> Result<(), A::Error> {
        match key {
            "input_tokens" => self.input = map.next_value()?,
            "output_tokens" => self.output = map.next_value()?,
            "cache_read_input_tokens" => self.cache_read = map.next_value()?,
            "cache_creation_input_tokens" => self.cache_write = map.next_value()?,
            "cache_creation" => self.lifetimes = map.next_value()?,
            "output_tokens_details" => self.details = map.next_value()?,
            _ => skip(map)?,
        }
        Ok(())
    }
}

/// `usage.cache_creation`: tokens written to the cache, by lifetime.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Lifetimes {
    pub(super) five_minutes: Count,
    pub(super) one_hour: Count,
}

impl<'de> Fields<'de> for Lifetimes {
    fn field<A: MapAccess<'de>>(&mut self, key: &str, map: &mut A) -> Result<(), A::Error> {
        match key {
            "ephemeral_5m_input_tokens" => self.five_minutes = map.next_value()?,
            "ephemeral_1h_input_tokens" => self.one_hour = map.next_value()?,
            _ => skip(map)?,
        }
        Ok(())
    }
}

/// `usage.output_tokens_details`.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct OutputDetails {
    pub(super) thinking: Count,
}

impl<'de> Fields<'de> for OutputDetails {
    fn field<A: MapAccess<'de>>(&mut self, key: &str, map: &mut A) -> Result<(), A::Error> {
        match key {
            "thinking_tokens" => self.thinking = map.next_value()?,
            _ => skip(map)?,
        }
        Ok(())
    }
}

/// Content of a message or a tool result.
#[derive(Debug, Default)]
pub(super) enum RowContent<'a> {
    /// Absent, or neither a string nor a list.
    #[default]
    Absent,
    /// One string.
    Text(Written<'a>),
    /// Blocks.
    Blocks(Vec<RowBlock<'a>>),
}

impl<'de> Deserialize<'de> for RowContent<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = <&RawValue>::deserialize(deserializer)?;
        match raw.get().as_bytes() {
            [b'"', b'"'] => Ok(RowContent::Blocks(Vec::new())),
            [b'"', ..] => Ok(RowContent::Text(Written::of(raw))),
            [b'[', ..] => serde_json::from_str(raw.get()).map(RowContent::Blocks).map_err(D::Error::custom),
            _ => Ok(RowContent::Absent),
        }
    }
}

/// One block of content, of whatever kind.
#[derive(Debug, Default)]
pub(super) struct RowBlock<'a> {
    /// Whether it is an object at all.
    pub(super) object: bool,
    pub(super) kind: Str<'a>,
    pub(super) text: Written<'a>,
    pub(super) thinking: Written<'a>,
    pub(super) signature: Str<'a>,
    /// `data` of redacted thinking.
    pub(super) data: Str<'a>,
    pub(super) id: Str<'a>,
    pub(super) name: Str<'a>,
    pub(super) input: Option<&'a RawValue>,
    pub(super) tool_use_id: Str<'a>,
    pub(super) is_error: Flag,
    pub(super) content: RowContent<'a>,
    pub(super) source: RowSource<'a>,
    pub(super) title: Str<'a>,
}

impl<'de> Fields<'de> for RowBlock<'de> {
    fn field<A: MapAccess<'de>>(&mut self, key: &str, map: &mut A) -> Result<(), A::Error> {
        match key {
            "type" => self.kind = map.next_value()?,
            "text" => self.text = map.next_value()?,
            "thinking" => self.thinking = map.next_value()?,
            "signature" => self.signature = map.next_value()?,
            "data" => self.data = map.next_value()?,
            "id" => self.id = map.next_value()?,
            "name" => self.name = map.next_value()?,
            "input" => self.input = Some(map.next_value()?),
            "tool_use_id" => self.tool_use_id = map.next_value()?,
            "is_error" => self.is_error = map.next_value()?,
            "content" => self.content = map.next_value()?,
            "source" => self.source = map.next_value()?,
            "title" => self.title = map.next_value()?,
            _ => skip(map)?,
        }
        Ok(())
    }
    fn is_object(&mut self) {
        self.object = true;
    }
}

/// `source` of an image or document.
#[derive(Debug, Default)]
pub(super) struct RowSource<'a> {
    pub(super) kind: Str<'a>,
    pub(super) media_type: Str<'a>,
    pub(super) data: Str<'a>,
    pub(super) url: Str<'a>,
    pub(super) file_id: Str<'a>,
}

impl<'de> Fields<'de> for RowSource<'de> {
    fn field<A: MapAccess<'de>>(&mut self, key: &str, map: &mut A) -> Result<(), A::Error> {
        match key {
            "type" => self.kind = map.next_value()?,
            "media_type" => self.media_type = map.next_value()?,
            "data" => self.data = map.next_value()?,
            "url" => self.url = map.next_value()?,
            "file_id" => self.file_id = map.next_value()?,
            _ => skip(map)?,
        }
        Ok(())
    }
}

macro_rules! read_by_fields {
    ($($name:ty),+ $(,)?) => { $(
        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                read_fields(deserializer)
            }
        }
    )+ };
}

read_by_fields!(Row<'de>, Named<'de>, Compact<'de>, Preserved<'de>, RowMessage<'de>, RowBlock<'de>);
read_by_fields!(RowSource<'de>, RowUsage, Lifetimes, OutputDetails);
