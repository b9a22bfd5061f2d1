//! The content of messages: blocks, results, tokens.
//!
//! Source: npm `@deepseek-ai/dsh-llm` 0.1.1-rc.2 (`types`).

use ibid_model::{
    Block, Data, Image, Json, OtherBlock, Outcome, ResultPart, StopReason, Text, Thinking, ToolResult,
    ToolUse, Usage,
};

use super::tools;
use crate::families::files::fields::{Fields, Value};

/// The blocks of a message. A string is one text; what has no type here is kept as it is.
pub(super) fn blocks(content: Option<Value<'_>>) -> Vec<Block> {
    let Some(content) = content else { return Vec::new() };
    if let Some(text) = content.text() {
        return vec![Block::text(text)];
    }
    if !content.is_list() {
        return vec![other("content".into(), content)];
    }
    content.elements().into_iter().map(block).collect()
}

fn other(kind: Text, value: Value<'_>) -> Block {
    Block::Other(OtherBlock { kind, json: value.json() })
}

fn block(value: Value<'_>) -> Block {
    let fields = value.fields();
    let kind = fields.text("type").unwrap_or_default();
    let read = match kind.as_str() {
        "text" => fields.text("text").map(Block::text),
        "reasoning" => fields.text("text").map(|text| Block::Thinking(Thinking { text, tokens: Vec::new() })),
        "image" => Some(Block::Image(image(&fields))),
        "tool-call" => {
            let called = fields.text("id").zip(fields.text("name"));
            called.map(|(id, name)| Block::ToolUse(call(id, name, fields.text("arguments"))))
        }
        _ => None,
    };
    read.unwrap_or_else(|| other(kind, value))
}

/// The bytes of a picture lie elsewhere, with the program's attachments.
fn image(fields: &Fields<'_>) -> Image {
    let attachment = fields.fields("attachment");
    Image {
        media_type: attachment.filled("mediaType").or_else(|| attachment.filled("mimeType")),
        data: Data::Absent,
        name: attachment.filled("name").or_else(|| attachment.filled("filename")),
    }
}

/// A call. Its arguments are JSON text as the model wrote it, of which white space between tokens says
/// nothing; what is no JSON stays a string.
pub(super) fn call(id: Text, name: Text, arguments: Option<Text>) -> ToolUse {
    let arguments = arguments.unwrap_or_default();
    let read = Json::from_text(arguments.clone()).map(|json| json.compact());
    let input = read.unwrap_or_else(|_| Json::string(&arguments));
    let (tool, extra) = tools::decode(&name, &input);
    ToolUse { id: id.into(), name, tool, extra }
}

/// The call that a `tool/result` event answers, as its message names it.
pub(super) fn answered(message: &Fields<'_>) -> Option<Text> {
    let named = message.elements("content").first().and_then(|block| block.fields().filled("toolCallId"));
    named.or_else(|| message.fields("source").filled("callId"))
}

/// What a `tool/result` event says of how a call ended.
pub(super) fn result(call: Text, data: &Fields<'_>) -> ToolResult {
    let message = data.fields("message");
    let block = message.elements("content").first().map(|block| block.fields());
    let failed = block.as_ref().and_then(|block| block.get("isError")).and_then(Value::flag);
    let outcome = match (data.get("error"), &block) {
        // The program writes these for a call that it lost sight of when it was stopped.
        (Some(error), _)
            if matches!(
                error.fields().text("code").as_deref(),
                Some("TOOL_NOT_STARTED" | "TOOL_OUTCOME_UNKNOWN")
            ) =>
        {
            Outcome::Interrupted
        }
        (Some(_), _) => Outcome::Error,
        (None, Some(_)) if failed == Some(true) => Outcome::Error,
        (None, Some(_)) => Outcome::Ok,
        (None, None) => Outcome::Unknown,
    };
    let content = blocks(block.as_ref().and_then(|block| block.get("content"))).into_iter().map(part);
    ToolResult {
        call: call.into(),
        content: content.collect(),
        outcome,
        structured: data.get("meta").map(Value::json),
    }
}

fn part(block: Block) -> ResultPart {
    match block {
        Block::Text(text) => ResultPart::Text(text),
        Block::Image(image) => ResultPart::Image(image),
        Block::Document(document) => ResultPart::Document(document),
        Block::Other(other) => ResultPart::Other(other),
        // No tool gives these back; should one do so, the whole is kept.
        block => {
            let json = Json::of(&block).unwrap_or_else(|_| Json::null());
            ResultPart::Other(OtherBlock { kind: "content".into(), json })
        }
    }
}

/// The tokens of one call: `inputTokens` has neither cache reads nor writes in it. None when no
/// count is there.
pub(super) fn usage(fields: &Fields<'_>) -> Option<Usage> {
    let usage = Usage {
        input: fields.count("inputTokens"),
        output: fields.count("outputTokens"),
        cache_read: fields.count("cacheReadTokens"),
        cache_write: fields.count("cacheWriteTokens"),
        reasoning: fields.count("reasoningTokens"),
        ..Usage::default()
    };
    (!usage.is_unknown()).then_some(usage)
}

/// Why a model stopped.
pub(super) fn stop(kind: &Text) -> StopReason {
    match kind.as_str() {
        "stop" | "completed" => StopReason::EndTurn,
        "tool-calls" => StopReason::ToolUse,
        "max-tokens" => StopReason::MaxTokens,
        "aborted" | "interrupted" => StopReason::Aborted,
        "error" => StopReason::Error,
        _ => StopReason::Other(kind.clone()),
    }
}
