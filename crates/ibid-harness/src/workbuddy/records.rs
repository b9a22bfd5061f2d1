//! One row, typed as far as reading needs.

use ibid_model::{
    Block, CallId, Data, Image, Json, OtherBlock, Outcome, ResultPart, Text, TextBlock, Timestamp, Usage,
};

use crate::families::values::{Fields, Value};

/// One row.
#[derive(Clone, Debug)]
pub(super) struct Row {
    /// The session.
    pub(super) session: Option<Text>,
    /// The working directory.
    pub(super) cwd: Option<Text>,
    /// When it was recorded.
    pub(super) at: Option<Timestamp>,
    /// The response of the model that it is part of.
    pub(super) response: Option<Text>,
    /// The model.
    pub(super) model: Option<Text>,
    /// The tokens of the response, on every row of it.
    pub(super) usage: Option<Usage>,
    /// What it is.
    pub(super) body: Body,
}

/// What a row is.
#[derive(Clone, Debug)]
pub(super) enum Body {
    /// `session_start`.
    Start,
    /// `message`.
    Message { role: Text, pieces: Vec<Piece> },
    /// `function_call`.
    Call { id: Option<CallId>, name: Text, input: Json },
    /// `function_call_result`.
    Result { call: Option<CallId>, name: Option<Text>, content: Vec<ResultPart>, outcome: Outcome },
    /// `reasoning`.
    Reasoning(Text),
    /// `ai-title`.
    Title(Text),
    /// `file-history-snapshot`.
    Snapshot(Json),
    /// A row of a known type without what it needs.
    Malformed(&'static str),
    /// A row of a type that is not known.
    Unknown { kind: Text, json: Json },
}

/// A piece of a message.
#[derive(Clone, Debug)]
pub(super) enum Piece {
    /// Text.
    Text(Text),
    /// Anything else.
    Block(Block),
}

impl Row {
    /// Reads a row.
    ///
    /// # Errors
    /// When the text is not one JSON object that needs no repair.
    pub(super) fn read(whole: &Text) -> Result<Row, serde_json::Error> {
        let value = Value::of(whole)?;
        let Some(fields) = value.fields() else {
            return Err(serde::de::Error::custom("not an object"));
        };
        let provider = fields.fields("providerData");
        let inside = |name: &str| provider.as_ref().and_then(|provider| provider.filled(name));
        let message = fields.fields("message");
        let usage = provider.as_ref().and_then(|provider| provider.fields("usage"));
        let usage = usage.or_else(|| message.as_ref().and_then(|message| message.fields("usage")));
        let model = inside("model").or_else(|| inside("requestModelId")).or_else(|| inside("modelId"));
        Ok(Row {
            session: fields.filled("sessionId"),
            cwd: fields.filled("cwd"),
            at: fields.time("timestamp"),
            response: inside("messageId"),
            model: model.or_else(|| fields.filled("model")),
            usage: usage.map(|usage| read_usage(&usage)).filter(|usage| !usage.is_unknown()),
            body: body(&fields, value),
        })
    }
}

fn body(fields: &Fields<'_>, value: Value<'_>) -> Body {
    let kind = fields.text("type").unwrap_or_default();
    let call = || fields.filled("callId").map(CallId::from);
    match kind.as_str() {
        "session_start" => Body::Start,
        "message" => match (fields.filled("role"), fields.get("content")) {
            (Some(role), content) => Body::Message { role, pieces: content.map(pieces).unwrap_or_default() },
            (None, _) => Body::Malformed("a message without a role"),
        },
        "function_call" => match fields.text("name") {
            Some(name) => Body::Call { id: call(), name, input: input(fields) },
            None => Body::Malformed("a call that names no tool"),
        },
        "function_call_result" => Body::Result {
            call: call(),
            name: fields.filled("name"),
            content: fields.get("output").map(parts).unwrap_or_default(),
            outcome: match fields.text("status").as_deref() {
                Some("completed" | "success") => Outcome::Ok,
                Some("failed" | "error" | "incomplete") => Outcome::Error,
                Some("cancelled" | "canceled" | "interrupted") => Outcome::Interrupted,
                _ => Outcome::Unknown,
            },
        },
        "reasoning" => {
            let text = fields.first(&["content", "rawContent", "summary"]).map(joined).unwrap_or_default();
            Body::Reasoning(text)
        }
        "ai-title" => match fields.first(&["aiTitle", "title", "content"]).and_then(Value::text) {
            Some(title) => Body::Title(title),
            None => Body::Malformed("a title without a text"),
        },
        "file-history-snapshot" => Body::Snapshot(value.json()),
        _ => Body::Unknown { kind, json: value.json() },
    }
}

/// Arguments are an object, or a string that holds one.
fn input(fields: &Fields<'_>) -> Json {
    let written = fields.get("arguments");
    let inside = written.and_then(Value::text).and_then(|text| Json::from_text(text).ok());
    inside.or_else(|| written.map(Value::json)).unwrap_or_else(Json::null)
}

fn pieces(content: Value<'_>) -> Vec<Piece> {
    if let Some(text) = content.text() {
        return vec![Piece::Text(text)];
    }
    let other =
        |kind: Text, value: Value<'_>| Piece::Block(Block::Other(OtherBlock { kind, json: value.json() }));
    let Some(items) = content.items() else { return vec![other("content".into(), content)] };
    let piece = |value: Value<'_>| {
        let Some(fields) = value.fields() else {
            return value.text().map_or_else(|| other("content".into(), value), Piece::Text);
        };
        let kind = fields.text("type").unwrap_or_default();
        match kind.as_str() {
            "text" | "input_text" | "output_text" => fields.text("text").map(Piece::Text),
            "input_image" | "image" => image(&fields).map(|image| Piece::Block(Block::Image(image))),
            _ => None,
        }
        .unwrap_or_else(|| other(kind, value))
    };
    items.into_iter().map(piece).collect()
}

fn parts(output: Value<'_>) -> Vec<ResultPart> {
    let one = |value: Value<'_>| {
        if let Some(text) = value.text() {
            return ResultPart::Text(TextBlock { text });
        }
        let fields = value.fields();
        let kind = fields.as_ref().and_then(|fields| fields.text("type")).unwrap_or_default();
        let read = fields.and_then(|fields| match kind.as_str() {
            "text" | "input_text" | "output_text" => {
                fields.text("text").map(|text| ResultPart::Text(TextBlock { text }))
            }
            "input_image" | "image" => image(&fields).map(ResultPart::Image),
            _ => None,
        });
        read.unwrap_or_else(|| ResultPart::Other(OtherBlock { kind, json: value.json() }))
    };
    match output.items() {
        Some(items) => items.into_iter().map(one).collect(),
        None => vec![one(output)],
    }
}

/// A picture as an address: `data:` with its bytes, or where it is.
fn image(fields: &Fields<'_>) -> Option<Image> {
    let address = fields.first(&["image_url", "imageUrl", "image", "url"]).and_then(Value::text)?;
    let inside = address.strip_prefix("data:").and_then(|rest| rest.split_once(";base64,"));
    Some(match inside {
        Some((media_type, data)) => Image {
            media_type: Some(Text::part_of(&address, media_type)).filter(|media_type| !media_type.is_empty()),
            data: Data::Base64(Text::part_of(&address, data)),
            name: None,
        },
        None => Image { media_type: None, data: Data::Url(address), name: None },
    })
}

/// The texts of a value that is a text or a list of such and of `{text}`.
fn joined(value: Value<'_>) -> Text {
    if let Some(text) = value.text() {
        return text;
    }
    let items = value.items().unwrap_or_default();
    let text = |item: Value<'_>| item.text().or_else(|| item.fields()?.text("text"));
    let texts: Vec<Text> = items.into_iter().filter_map(text).collect();
    match texts.as_slice() {
        [one] => one.clone(),
        texts => Text::from(texts.iter().map(Text::as_str).collect::<Vec<_>>().join("\n")),
    }
}

/// `inputTokens` holds those from a cache, which `inputTokensDetails` tells.
fn read_usage(usage: &Fields<'_>) -> Usage {
    let detail = |name: &str, part: &str| {
        let value = usage.get(name)?;
        let sum = |items: Vec<Value<'_>>| {
            let counts = items.into_iter().filter_map(|item| item.fields()?.count(part));
            counts.reduce(u64::saturating_add)
        };
        value.items().map_or_else(|| value.fields()?.count(part), sum)
    };
    let cached = detail("inputTokensDetails", "cached_tokens");
    let input = usage.count("inputTokens");
    Usage {
        input: input.map(|input| input.saturating_sub(cached.unwrap_or(0))),
        output: usage.count("outputTokens"),
        cache_read: cached,
        reasoning: detail("outputTokensDetails", "reasoning_tokens"),
        ..Usage::default()
    }
}
