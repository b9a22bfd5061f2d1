//! The content of messages: blocks, results, usage, stop reasons.

use ibid_model::{
    Block, Data, Image, Json, OtherBlock, Outcome, ProviderToken, ResultPart, StopReason, Text, TextBlock,
    Thinking, TokenUse, ToolResult, ToolUse, Usage,
};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::records::{Said, Taker, is_duplicate};
use super::tools;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct BlockFields<'a> {
    #[serde(rename = "type", borrow, default)]
    kind: Option<&'a RawValue>,
    #[serde(borrow, default)]
    text: Option<&'a RawValue>,
    #[serde(borrow, default)]
    thinking: Option<&'a RawValue>,
    #[serde(borrow, default)]
    thinking_signature: Option<&'a RawValue>,
    #[serde(borrow, default)]
    redacted: Option<&'a RawValue>,
    #[serde(borrow, default)]
    id: Option<&'a RawValue>,
    #[serde(borrow, default)]
    name: Option<&'a RawValue>,
    #[serde(borrow, default)]
    arguments: Option<&'a RawValue>,
    #[serde(borrow, default)]
    data: Option<&'a RawValue>,
    #[serde(borrow, default)]
    mime_type: Option<&'a RawValue>,
}

/// The blocks of a message: of a string one text block, of an array one for each element. What is
/// neither, and an element that has no type here, is kept as it is.
pub(super) fn blocks(said: &Said) -> Vec<Block> {
    let Some(whole) = &said.content else { return Vec::new() };
    let take = Taker { whole };
    if let Ok(elements) = serde_json::from_str::<Vec<&RawValue>>(whole) {
        return elements.into_iter().map(|raw| block(&take, raw, said)).collect();
    }
    match serde_json::from_str::<&RawValue>(whole) {
        Ok(raw) => match take.text(Some(raw)) {
            Some(text) => vec![Block::text(text)],
            None => vec![other("content".into(), &take, raw)],
        },
        Err(_) => Vec::new(),
    }
}

fn other(kind: Text, take: &Taker<'_>, raw: &RawValue) -> Block {
    Block::Other(OtherBlock { kind, json: Json::part_of(take.whole, raw) })
}

fn block<'a>(take: &Taker<'a>, raw: &'a RawValue, said: &Said) -> Block {
    let fields = match serde_json::from_str::<BlockFields<'a>>(raw.get()) {
        Ok(fields) => fields,
        Err(error) if is_duplicate(&error) => {
            return last_of_each_key(raw, said).unwrap_or_else(|| other("content".into(), take, raw));
        }
        Err(_) => return other("content".into(), take, raw),
    };
    let kind = take.text(fields.kind).unwrap_or_default();
    let read = match kind.as_str() {
        "text" => take.text(fields.text).map(Block::text),
        "thinking" => Some(Block::Thinking(thinking(take, &fields, said))),
        "image" => image(take, &fields).map(Block::Image),
        "toolCall" => call(take, &fields).map(Block::ToolUse),
        _ => None,
    };
    read.unwrap_or_else(|| other(kind, take, raw))
}

/// The block that is left when of a key that stands twice the last value counts.
fn last_of_each_key(raw: &RawValue, said: &Said) -> Option<Block> {
    let value: serde_json::Value = serde_json::from_str(raw.get()).ok()?;
    let whole = Text::from(value.to_string());
    let raw: &RawValue = serde_json::from_str(&whole).ok()?;
    Some(block(&Taker { whole: &whole }, raw, said))
}

fn thinking<'a>(take: &Taker<'a>, fields: &BlockFields<'a>, said: &Said) -> Thinking {
    let redacted = take.value(fields.redacted).unwrap_or(false);
    let value = take.text(fields.thinking_signature).filter(|value| !value.is_empty());
    // Of chat completions the signature is the name of the field that the thinking came in
    // (`reasoning_content`), which proves nothing to anybody.
    let value = value.filter(|_| said.api.as_deref() != Some("openai-completions"));
    let token = value.map(|value| {
        let usage = match redacted {
            true => TokenUse::Redacted,
            false if value.contains("encrypted_content") => TokenUse::Encrypted,
            false => TokenUse::Signature,
        };
        let provider = said.provider.as_ref().map(|provider| Text::from(provider.to_lowercase()));
        ProviderToken { usage, provider, value }
    });
    Thinking { text: take.text(fields.thinking).unwrap_or_default(), tokens: token.into_iter().collect() }
}

fn image<'a>(take: &Taker<'a>, fields: &BlockFields<'a>) -> Option<Image> {
    let data = take.text(fields.data)?;
    let bare = match data.strip_prefix("data:").and_then(|url| url.split_once(";base64,")) {
        Some((_, bare)) => Text::part_of(&data, bare),
        None => data,
    };
    Some(Image { media_type: take.text(fields.mime_type), data: Data::Base64(bare), name: None })
}

fn call<'a>(take: &Taker<'a>, fields: &BlockFields<'a>) -> Option<ToolUse> {
    let id = take.text(fields.id)?;
    let name = take.text(fields.name)?;
    let input = take.json(fields.arguments).unwrap_or_else(Json::null);
    let (tool, extra) = tools::decode(&name, &input);
    Some(ToolUse { id: id.into(), name, tool, extra })
}

/// The result that a `toolResult` message holds.
pub(super) fn result(said: &Said) -> Option<ToolResult> {
    let call = said.tool_call_id.clone()?;
    let content = blocks(said)
        .into_iter()
        .map(|block| match block {
            Block::Text(text) => ResultPart::Text(text),
            Block::Image(image) => ResultPart::Image(image),
            Block::Other(other) => ResultPart::Other(other),
            // A result holds text and images; of what else has a type here, the text is what the
            // model saw.
            Block::Thinking(thinking) => ResultPart::Text(TextBlock { text: thinking.text }),
            block => {
                let json = Json::of(&block).unwrap_or_else(|_| Json::null());
                ResultPart::Other(OtherBlock { kind: "toolCall".into(), json })
            }
        })
        .collect();
    let outcome = match said.is_error {
        Some(true) => Outcome::Error,
        Some(false) => Outcome::Ok,
        None => Outcome::Unknown,
    };
    Some(ToolResult { call: call.into(), content, outcome, structured: said.details.clone() })
}

/// The text of a system message: its content, then its sections in the order written.
pub(super) fn system_blocks(said: &Said) -> Vec<Block> {
    let mut blocks = blocks(said);
    blocks.retain(|block| !matches!(block, Block::Text(text) if text.text.is_empty()));
    if let Some(whole) = &said.sections
        && let Ok(sections) = serde_json::from_str::<serde_json::Map<String, serde_json::Value>>(whole)
    {
        let texts = sections.values().filter_map(serde_json::Value::as_str);
        blocks.extend(texts.filter(|text| !text.is_empty()).map(Block::text));
    }
    blocks
}

/// A command that a person ran with `!`, in the words in which the model gets to see it.
pub(super) fn ran(said: &Said) -> Text {
    let command = said.command.as_deref().unwrap_or_default();
    let mut text = format!("Ran `{command}`\n");
    match said.output.as_deref().filter(|output| !output.is_empty()) {
        Some(output) => text.push_str(&format!("```\n{output}\n```")),
        None => text.push_str("(no output)"),
    }
    match said.exit_code {
        _ if said.cancelled => text.push_str("\n\n(command cancelled)"),
        Some(code) if code != 0 => text.push_str(&format!("\n\nCommand exited with code {code}")),
        _ => {}
    }
    Text::from(text)
}

/// The stop reason of pi's word.
pub(super) fn stop_reason(word: &Text) -> StopReason {
    match word.as_str() {
        "stop" => StopReason::EndTurn,
        "toolUse" => StopReason::ToolUse,
        "length" => StopReason::MaxTokens,
        "error" => StopReason::Error,
        "aborted" => StopReason::Aborted,
        _ => StopReason::Other(word.clone()),
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct UsageFields<'a> {
    #[serde(borrow, default)]
    input: Option<&'a RawValue>,
    #[serde(borrow, default)]
    output: Option<&'a RawValue>,
    #[serde(borrow, default)]
    cache_read: Option<&'a RawValue>,
    #[serde(borrow, default)]
    cache_write: Option<&'a RawValue>,
    #[serde(borrow, default)]
    cache_write1h: Option<&'a RawValue>,
    #[serde(borrow, default)]
    reasoning: Option<&'a RawValue>,
    #[serde(borrow, default)]
    cost: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct CostFields {
    #[serde(default)]
    total: Option<f64>,
}

/// Token counts; none when the value is no object. pi's parts do not overlap: `input` holds no
/// cached tokens, and `reasoning` is a part of `output`.
pub(super) fn usage(whole: &Text) -> Option<Usage> {
    let fields: UsageFields<'_> = serde_json::from_str(whole).ok()?;
    let take = Taker { whole };
    let cache_write = take.count(fields.cache_write);
    let cache_write_1h = take.count(fields.cache_write1h);
    let cost: Option<CostFields> = take.value(fields.cost);
    Some(Usage {
        input: take.count(fields.input),
        output: take.count(fields.output),
        cache_read: take.count(fields.cache_read),
        cache_write,
        cache_write_5m: match (cache_write, cache_write_1h) {
            (Some(all), Some(hour)) => all.checked_sub(hour),
            _ => None,
        },
        cache_write_1h,
        reasoning: take.count(fields.reasoning),
        cost_usd: cost.and_then(|cost| cost.total).filter(|cost| cost.is_finite()),
    })
}
