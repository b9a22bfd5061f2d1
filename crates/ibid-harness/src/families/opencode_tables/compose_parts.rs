//! Blocks as parts.

use ibid_model::{
    Block, Data, Document, Json, LossKind, Losses, Message, Outcome, ResultPart, Text, ToolResult, ToolUse,
    Usage,
};

use super::fields::Fields;
use super::parts::{self, address};
use super::tools;
use crate::core::Arguments;
use crate::families::pictures::{is_taken, media_type_of};

/// An object of numbers.
pub(super) fn object<const N: usize>(fields: [(&str, i64); N]) -> Json {
    let mut object = Arguments::default();
    for (name, value) in fields {
        object.push(name, &value);
    }
    object.to_json()
}

/// The arguments as one object, each value spelled as it was.
pub(super) fn spelled(arguments: &Arguments) -> Json {
    let fields: Vec<String> = arguments
        .clone()
        .into_rest()
        .iter()
        .map(|argument| format!("{}:{}", Json::string(&argument.name).as_str(), argument.value.as_str()))
        .collect();
    Json::from_text(format!("{{{}}}", fields.join(","))).unwrap_or_else(|_| arguments.to_json())
}

/// What stands for a model whose name is not known.
pub(super) const UNKNOWN: &str = "unknown";

/// The name of a model.
pub(super) fn model_name(model: Option<&Text>) -> &str {
    model.map_or(UNKNOWN, Text::as_str)
}

/// The provider that is usually meant with a model of this name. The program calls a model by both,
/// and no other harness keeps the provider in every message.
pub(super) fn provider(model: Option<&Text>) -> &'static str {
    const FAMILIES: [(&str, &[&str]); 5] = [
        ("anthropic", &["claude"]),
        ("openai", &["gpt-", "o1", "o3", "o4", "codex", "chatgpt"]),
        ("google", &["gemini"]),
        ("xai", &["grok"]),
        ("deepseek", &["deepseek"]),
    ];
    let name = model_name(model);
    let family = FAMILIES.iter().find(|(_, names)| names.iter().any(|begin| name.starts_with(begin)));
    family.map_or(UNKNOWN, |(provider, _)| provider)
}

/// The model that a prompt was sent to.
pub(super) fn model(model: Option<&Text>) -> Json {
    let mut object = Arguments::default();
    object.push("providerID", provider(model));
    object.push("modelID", model_name(model));
    object.to_json()
}

/// The tokens of a call; all zero, as the program writes them, when they are not known.
pub(super) fn tokens(usage: Option<&Usage>) -> Json {
    let usage = usage.copied().unwrap_or_default();
    let reasoning = usage.reasoning.unwrap_or(0);
    let mut cache = Arguments::default();
    cache.push("read", &usage.cache_read.unwrap_or(0));
    cache.push("write", &usage.cache_write.unwrap_or(0));
    let mut tokens = Arguments::default();
    tokens.push("input", &usage.input.unwrap_or(0));
    tokens.push("output", &usage.output.unwrap_or(0).saturating_sub(reasoning));
    tokens.push("reasoning", &reasoning);
    tokens.push("cache", &cache.to_json());
    tokens.to_json()
}

/// Reports what the tokens of the program cannot say.
pub(super) fn report_usage(usage: &Usage, message: &Message, losses: &mut Losses) {
    if usage.cache_write_1h.is_some() || usage.cache_write_5m.is_some() {
        losses.add(LossKind::Usage, Some("cache lifetimes"), Some(&message.id));
    }
    if [usage.input, usage.output, usage.cache_read, usage.cache_write].contains(&None) {
        losses.add(LossKind::Usage, Some("unknown counts are written as 0"), Some(&message.id));
    }
}

/// A block of a user message.
pub(super) fn said(block: &Block, put_in: bool, message: &Message, losses: &mut Losses) -> Option<Arguments> {
    let mut part = Arguments::default();
    match block {
        Block::Text(text) => {
            part.push("type", "text");
            part.push("text", &text.text);
        }
        Block::Image(_) | Block::Document(_) => part = file(block, message, losses)?,
        // Thinking, commands and unknown blocks were taken care of before.
        _ => return None,
    }
    if put_in {
        part.push("synthetic", &true);
    }
    Some(part)
}

/// A block of an assistant message that is no call.
pub(super) fn written(block: &Block, message: &Message, losses: &mut Losses) -> Option<Arguments> {
    if matches!(block, Block::Image(_)) {
        losses.add(LossKind::Image, Some("kept, and not sent to the model"), Some(&message.id));
    }
    said(block, false, message, losses)
}

/// The types of files that the program keeps and does not send (measured and read in 1.18.33).
const UNSENT: &[&str] = &["text/plain", "application/x-directory"];

/// Whether the program can send a document of this type (1.18.33; others end each turn with an error).
fn is_sent(kind: Option<&str>) -> bool {
    let families = ["text/", "image/", "audio/", "video/"];
    kind.is_some_and(|kind| {
        kind == "application/pdf" || families.iter().any(|family| kind.starts_with(family))
    })
}

/// A picture or document as a `file` part.
fn file(block: &Block, message: &Message, losses: &mut Losses) -> Option<Arguments> {
    let (media_type, data, name, loss) = match block {
        Block::Image(image) => (&image.media_type, &image.data, &image.name, LossKind::Image),
        Block::Document(document) => {
            (&document.media_type, &document.data, &document.name, LossKind::Document)
        }
        _ => return None,
    };
    let seen = match (loss, data) {
        (LossKind::Image, Data::Base64(bytes)) => media_type_of(bytes),
        _ => None,
    };
    let usual = if loss == LossKind::Image { "image/png" } else { "application/octet-stream" };
    // By its type the program, and the reader, tell a picture from any other file.
    let fits = |kind: &&str| kind.starts_with("image/") == (loss == LossKind::Image) && !kind.contains(',');
    let own = media_type.as_deref().filter(fits);
    if own != media_type.as_deref() {
        losses.add(loss, Some("media type"), Some(&message.id));
    }
    let kind = own.or(seen);
    let unsent = loss == LossKind::Document && kind.is_some_and(|kind| UNSENT.contains(&kind));
    let inline = matches!(data, Data::Base64(_));
    // The program ends every turn with an error when it cannot load what it has to send.
    let elsewhere = match data {
        Data::Path(_) => true,
        Data::Url(url) => !url.starts_with("data:"),
        _ => false,
    };
    let url = address(data, kind).filter(|_| unsent || !elsewhere);
    let Some(url) = url else {
        losses.add(loss, Some("its bytes are not in the session"), Some(&message.id));
        return None;
    };
    let sent = match loss {
        LossKind::Image => kind.is_none_or(is_taken),
        _ => is_sent(kind),
    };
    if inline && !unsent && !sent {
        losses.add(loss, Some("of a type that cannot be sent"), Some(&message.id));
        return None;
    }
    if unsent {
        losses.add(loss, Some("kept, and not sent to the model"), Some(&message.id));
    }
    let mut part = Arguments::default();
    part.push("type", "file");
    part.push("mime", kind.unwrap_or(usual));
    part.push_some("filename", name.as_ref());
    part.push("url", &url);
    Some(part)
}

/// A call with its result.
pub(super) fn call(
    call: &ToolUse,
    result: Option<&ToolResult>,
    own: bool,
    message: &Message,
    (start, end): (i64, i64),
    losses: &mut Losses,
) -> Arguments {
    let encoded = tools::encode(&call.name, &call.tool, &call.extra);
    if encoded.raw {
        losses.add(LossKind::ToolKeptRaw, Some(&call.name), Some(&message.id));
    }
    if encoded.renamed {
        losses.add(LossKind::ToolRenamed, Some(&call.name), Some(&message.id));
    }
    if encoded.wrapped {
        losses.add(LossKind::InputWrapped, Some(&call.name), Some(&message.id));
    }
    let mut state = Arguments::default();
    match result {
        Some(result) => answered(&mut state, &encoded.input, result, own, message, (start, end), losses),
        // The repairs complete every call; the program takes one without an end for interrupted.
        None => {
            state.push("status", "running");
            state.push("input", &encoded.input);
            state.push("time", &object([("start", start)]));
        }
    }
    let mut part = Arguments::default();
    part.push("type", "tool");
    part.push("tool", &encoded.name);
    part.push("callID", &call.id);
    part.push("state", &spelled(&state));
    part
}

fn answered(
    state: &mut Arguments,
    input: &Json,
    result: &ToolResult,
    own: bool,
    message: &Message,
    (start, end): (i64, i64),
    losses: &mut Losses,
) {
    let text = flat_text(result, message, losses);
    let structured = result.structured.as_ref().filter(|json| own && json.is_object());
    if result.structured.is_some() && structured.is_none() {
        losses.add(LossKind::StructuredResult, None, Some(&message.id));
    }
    let said_by_metadata = structured.is_some_and(|json| completed_as(json) == result.outcome);
    let completed = match result.outcome {
        Outcome::Ok | Outcome::Unknown => true,
        _ => said_by_metadata,
    };
    // Metadata that says another end than the result would be believed.
    let told = |structured: Option<&Json>| match (completed, result.outcome) {
        (true, _) => structured.map_or(Outcome::Ok, completed_as),
        (false, Outcome::Interrupted) => Outcome::Interrupted,
        (false, _) => failed_as(structured, &text),
    };
    let meant = if result.outcome == Outcome::Unknown { Outcome::Ok } else { result.outcome };
    let contradicted = structured.is_some_and(|json| told(Some(json)) != meant);
    let structured = structured.filter(|_| !contradicted);
    if contradicted {
        losses.add(LossKind::StructuredResult, None, Some(&message.id));
    }
    if result.outcome == Outcome::Unknown {
        losses.add(LossKind::ResultStatus, Some("unknown"), Some(&message.id));
    } else if told(structured) != meant {
        losses.add(LossKind::ResultStatus, Some("reads as interrupted"), Some(&message.id));
    }
    state.push("status", if completed { "completed" } else { "error" });
    state.push("input", input);
    if completed {
        state.push("output", &text);
        state.push("title", "");
    } else {
        state.push("error", &text);
    }
    let mut metadata = structured.and_then(Arguments::of).unwrap_or_default();
    if result.outcome == Outcome::Interrupted && !completed {
        // Without this the program takes it for a failure of the tool.
        metadata.take_json("interrupted");
        metadata.take_json("output");
        metadata.push("interrupted", &true);
        metadata.push("output", &text);
    }
    state.push("metadata", &metadata.to_json());
    state.push("time", &object([("start", start), ("end", end)]));
    let attachments = attachments(result, message, losses);
    if !attachments.is_empty() {
        if !completed {
            losses.add(LossKind::Image, Some("kept with a failed call, and not sent"), Some(&message.id));
        }
        state.push("attachments", &attachments);
    }
}

/// How a failed call reads, by the mark in its metadata or by its text.
fn failed_as(metadata: Option<&Json>, text: &str) -> Outcome {
    let whole = Text::from(metadata.map(Json::as_str).unwrap_or_default());
    let marked = Fields::of(&whole).is_some_and(|fields| fields.flag("interrupted"));
    if marked || text == parts::ABORTED { Outcome::Interrupted } else { Outcome::Error }
}

/// How a completed call ended, by the exit status in its metadata.
fn completed_as(metadata: &Json) -> Outcome {
    let text = Text::from(metadata.as_str());
    match Fields::of(&text).as_ref().and_then(|fields| fields.raw("exit")) {
        None | Some("0") => Outcome::Ok,
        Some("null") => Outcome::Interrupted,
        Some(_) => Outcome::Error,
    }
}

/// The one text that a result has here.
fn flat_text(result: &ToolResult, message: &Message, losses: &mut Losses) -> Text {
    let texts = result.content.iter().filter(|part| matches!(part, ResultPart::Text(_))).count();
    let mut text = result.text();
    for part in &result.content {
        let more = match part {
            ResultPart::Other(other) => other.json.as_str(),
            // The program would send the whole result as JSON (measured with 1.18.33).
            ResultPart::Document(Document { data: Data::Text(content), .. }) => {
                losses.add(LossKind::Document, None, Some(&message.id));
                content.as_str()
            }
            _ => continue,
        };
        text = Text::from(if text.is_empty() { more.to_owned() } else { format!("{text}\n{more}") });
    }
    if texts > 1 || result.content.iter().any(|part| matches!(part, ResultPart::Other(_))) {
        losses.add(LossKind::ResultFlattened, None, Some(&message.id));
    }
    text
}

fn attachments(result: &ToolResult, message: &Message, losses: &mut Losses) -> Vec<Json> {
    let mut attachments = Vec::new();
    for part in &result.content {
        let block = match part {
            ResultPart::Image(image) => Block::Image(image.clone()),
            ResultPart::Document(Document { data: Data::Text(_), .. }) => continue,
            ResultPart::Document(document) if document.media_type.as_deref() == Some("application/pdf") => {
                Block::Document(document.clone())
            }
            ResultPart::Document(_) => {
                losses.add(LossKind::Document, Some("of a type that cannot be sent"), Some(&message.id));
                continue;
            }
            _ => continue,
        };
        attachments.extend(file(&block, message, losses).map(|file| file.to_json()));
    }
    attachments
}
