//! What stands inside messages: calls, results, thoughts, attachments.

use ibid_model::{
    Block, CallId, Data, Document, Image, Json, OtherBlock, Outcome, ProviderToken, ResultPart, StopReason,
    Text, TextBlock, Thinking, TokenUse, Tool, ToolResult, ToolUse,
};
use serde_json::value::RawValue;

use super::records::{Answer, Done, Request};
use super::tools;
use crate::families::fields::raw_fields;

raw_fields!(AttachmentFields { r#type, path, file_path, display_name, text, data, mime_type });

/// A call; none when it has no id or no name.
pub(super) fn call(request: &Request) -> Option<ToolUse> {
    let (id, name) = (request.call.as_ref()?, request.name.as_ref()?);
    let input = input(request);
    let (tool, extra) = match (&request.server, &request.server_tool) {
        (Some(server), Some(tool)) => (tools::of_server(server, tool, &input), Vec::new()),
        _ => tools::decode(name, &input),
    };
    Some(ToolUse { id: CallId::from(id.clone()), name: name.clone(), tool, extra })
}

/// What a call is given. Some versions write the object as a string that holds it.
fn input(request: &Request) -> Json {
    let Some(written) = &request.arguments else {
        return Json::from_text("{}").unwrap_or_else(|_| Json::null());
    };
    let inner = written.as_string().and_then(|text| Json::from_text(text).ok());
    inner.filter(Json::is_object).unwrap_or_else(|| written.clone())
}

/// Adds what only the beginning of a call says: the MCP server that has the tool.
pub(super) fn begun(call: &mut ToolUse, request: &Request) {
    if let (Some(server), Some(tool)) = (&request.server, &request.server_tool)
        && let Tool::Raw(raw) = &call.tool
    {
        call.tool = tools::of_server(server, tool, &raw.input.clone());
    }
}

/// What a call gave back.
pub(super) fn result(call: &Text, done: &Done) -> ToolResult {
    // A failure has a message in place of what the model saw.
    let text = done.content.as_ref().or(done.error.as_ref());
    let mut content: Vec<ResultPart> =
        text.iter().map(|text| ResultPart::Text(TextBlock { text: (*text).clone() })).collect();
    content.extend(done.binaries.iter().map(|binary| match attachment(binary) {
        Block::Image(image) => ResultPart::Image(image),
        Block::Document(document) => ResultPart::Document(document),
        _ => ResultPart::Other(OtherBlock { kind: "binary".into(), json: binary.clone() }),
    }));
    let outcome = match (done.success, done.exit_code) {
        (Some(false), _) => Outcome::Error,
        (_, Some(code)) if code != 0 => Outcome::Error,
        (Some(true), _) => Outcome::Ok,
        (None, Some(_)) => Outcome::Ok,
        (None, None) => Outcome::Unknown,
    };
    ToolResult { call: CallId::from(call.clone()), content, outcome, structured: structured(&done.beside) }
}

fn structured(parts: &[(&'static str, Json)]) -> Option<Json> {
    let parts: Vec<String> = parts
        .iter()
        .filter(|(_, json)| json.as_str() != "null")
        .map(|(name, json)| format!("\"{name}\":{}", json.as_str()))
        .collect();
    if parts.is_empty() {
        return None;
    }
    Json::from_text(format!("{{{}}}", parts.join(","))).ok()
}

/// The thoughts before an answer: those that stand in events of their own, and the answer's.
pub(super) fn thoughts(before: Vec<Text>, answer: &Answer) -> Vec<Block> {
    let plain = |text: Text| Block::Thinking(Thinking { text, tokens: Vec::new() });
    let mut blocks: Vec<Block> = before.into_iter().map(plain).collect();
    if !answer.signed.is_empty() {
        blocks.extend(answer.signed.iter().map(|(text, signature)| {
            let tokens = signature.iter().map(|value| token(TokenUse::Signature, "anthropic", value));
            Block::Thinking(Thinking { text: text.clone(), tokens: tokens.collect() })
        }));
        return blocks;
    }
    let opaque = answer.opaque.iter().map(|value| token(TokenUse::Encrypted, "anthropic", value));
    let encrypted = answer.encrypted.iter().map(|value| token(TokenUse::Encrypted, "openai", value));
    let thinking = Thinking {
        text: answer.reasoning.clone().unwrap_or_default(),
        tokens: opaque.chain(encrypted).collect(),
    };
    if thinking != Thinking::default() {
        blocks.push(Block::Thinking(thinking));
    }
    blocks
}

fn token(usage: TokenUse, provider: &'static str, value: &Text) -> ProviderToken {
    ProviderToken { usage, provider: Some(provider.into()), value: value.clone() }
}

/// Something that goes with a prompt, or that a tool gave back in bytes.
pub(super) fn attachment(json: &Json) -> Block {
    let other = |kind: Text| Block::Other(OtherBlock { kind, json: json.clone() });
    if let Some(path) = json.as_string() {
        return document(None, Data::Path(path.into()), None);
    }
    let Ok(fields) = serde_json::from_str::<AttachmentFields<'_>>(json.as_str()) else {
        return other("attachment".into());
    };
    let text = |raw: Option<&RawValue>| -> Option<Text> {
        serde_json::from_str::<String>(raw?.get()).ok().map(Text::from)
    };
    let kind = text(fields.r#type).unwrap_or_default();
    let (name, media_type) = (text(fields.display_name), text(fields.mime_type));
    let path = || text(fields.path).or_else(|| text(fields.file_path));
    let data = match text(fields.data) {
        Some(data) => Some(Data::Base64(data)),
        None => match (text(fields.text), path()) {
            (Some(text), _) => Some(Data::Text(text)),
            (None, path) => path.map(Data::Path),
        },
    };
    match (data, &media_type) {
        (Some(data), Some(media)) if media.starts_with("image/") => {
            Block::Image(Image { media_type, data, name })
        }
        (Some(data), _) => document(media_type, data, name),
        (None, _) => other(if kind.is_empty() { "attachment".into() } else { kind }),
    }
}

fn document(media_type: Option<Text>, data: Data, name: Option<Text>) -> Block {
    Block::Document(Document { media_type, data, name })
}

/// Why the model stopped, in the words of the OpenAI interface, which the program uses for every
/// provider.
pub(super) fn stop_reason(written: &Text) -> StopReason {
    match written.as_str() {
        "stop" => StopReason::EndTurn,
        "tool_calls" | "function_call" => StopReason::ToolUse,
        "length" => StopReason::MaxTokens,
        "content_filter" => StopReason::Refusal,
        _ => StopReason::Other(written.clone()),
    }
}
