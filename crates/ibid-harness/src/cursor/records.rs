//! One line of a transcript, typed as far as reading needs.
//!
//! A message is `{role, message: {content: string | [block]}}`; a turn ends with `{type:
//! "turn_ended", status, error?}`. Lines carry no ids, and mostly no times. Seen in public files of
//! 2026; some of them have results, models and blocks of other spellings, which are read too.

use ibid_model::{
    Block, CallId, Data, Image, Json, OtherBlock, Outcome, ResultPart, Text, TextBlock, Thinking, Timestamp,
};

use crate::families::values::{Fields, Value};

/// What stands for something that Cursor kept out of its transcripts.
const REDACTED: &str = "[REDACTED]";

/// One line.
#[derive(Clone, Debug)]
pub(super) struct Row {
    /// When it was recorded, where it says.
    pub(super) at: Option<Timestamp>,
    /// What it is.
    pub(super) body: Body,
}

/// What a line is.
#[derive(Clone, Debug)]
pub(super) enum Body {
    /// A message.
    Said(Said),
    /// `turn_ended`.
    TurnEnded { status: Option<Text>, error: Option<Text>, json: Json },
    /// A line of a type that is not known.
    Unknown { kind: Text, json: Json },
}

/// A message.
#[derive(Clone, Debug)]
pub(super) struct Said {
    /// `user`, `assistant`, `system` or `tool`.
    pub(super) role: Text,
    /// The model, where the line names one.
    pub(super) model: Option<Text>,
    /// Its blocks; none when it has no content.
    pub(super) pieces: Option<Vec<Piece>>,
}

/// A block of a message.
#[derive(Clone, Debug)]
pub(super) enum Piece {
    /// Text.
    Text(Text),
    /// A call.
    Call(Call),
    /// A result.
    Result(Answer),
    /// Anything that the model has a block for, and anything else as it was written.
    Block(Block),
}

/// A call of a tool.
#[derive(Clone, Debug)]
pub(super) struct Call {
    /// Its id; mostly absent.
    pub(super) id: Option<CallId>,
    /// The tool.
    pub(super) name: Text,
    /// The input.
    pub(super) input: Json,
}

/// A result.
#[derive(Clone, Debug)]
pub(super) struct Answer {
    /// The id of the call, where it is said.
    pub(super) call: Option<CallId>,
    /// The tool, where it is said.
    pub(super) name: Option<Text>,
    /// What the model saw.
    pub(super) content: Vec<ResultPart>,
    /// How the call ended.
    pub(super) outcome: Outcome,
}

impl Row {
    /// Reads a line.
    ///
    /// # Errors
    /// When the text is not one JSON object that needs no repair.
    pub(super) fn read(whole: &Text) -> Result<Row, serde_json::Error> {
        let value = Value::of(whole)?;
        let Some(fields) = value.fields() else {
            return Err(serde::de::Error::custom("not an object"));
        };
        let at = fields.first(&["timestamp", "createdAt"]).and_then(Value::time);
        let kind = fields.text("type");
        let body = match (kind.as_deref(), fields.filled("role")) {
            (Some("turn_ended"), _) => Body::TurnEnded {
                status: fields.filled("status"),
                error: fields.first(&["error", "message"]).and_then(error_text),
                json: value.json(),
            },
            (None, Some(role)) => {
                let message = fields.fields("message");
                let inside = |name: &str| message.as_ref().and_then(|message| message.get(name));
                let content = inside("content").or_else(|| fields.get("content"));
                let model = inside("model").and_then(Value::text).or_else(|| fields.text("model"));
                let model = model.filter(|model| !model.is_blank());
                let of_model = role == "assistant";
                Body::Said(Said { role, model, pieces: content.map(|content| pieces(content, of_model)) })
            }
            (kind, role) => {
                let kind = kind.map(Text::from).or(role).unwrap_or_default();
                Body::Unknown { kind, json: value.json() }
            }
        };
        Ok(Row { at, body })
    }
}

/// An error is a text, or an object with one.
fn error_text(value: Value<'_>) -> Option<Text> {
    let message = || value.fields()?.text("message");
    value.text().or_else(message).filter(|text| !text.is_blank())
}

fn pieces(content: Value<'_>, of_model: bool) -> Vec<Piece> {
    if let Some(text) = content.text() {
        return text_pieces(text, of_model);
    }
    match content.items() {
        Some(items) => items.into_iter().flat_map(|item| piece(item, of_model)).collect(),
        None => vec![other("content".into(), content)],
    }
}

fn other(kind: Text, value: Value<'_>) -> Piece {
    Piece::Block(Block::Other(OtherBlock { kind, json: value.json() }))
}

fn piece(value: Value<'_>, of_model: bool) -> Vec<Piece> {
    if let Some(text) = value.text() {
        return text_pieces(text, of_model);
    }
    let Some(fields) = value.fields() else { return vec![other("content".into(), value)] };
    let kind = fields.text("type").unwrap_or_default();
    let read = match kind.as_str() {
        "text" => fields.text("text").map(|text| text_pieces(text, of_model)),
        "thinking" | "reasoning" => fields
            .first(&["thinking", "text"])
            .and_then(Value::text)
            .map(|text| vec![Piece::Block(Block::Thinking(Thinking { text, tokens: Vec::new() }))]),
        "tool_use" | "tool_call" | "tool-call" => call(&fields).map(|call| vec![Piece::Call(call)]),
        "tool_result" | "tool-result" => Some(vec![Piece::Result(answer(&fields))]),
        "image" => image(&fields).map(|image| vec![Piece::Block(Block::Image(image))]),
        _ => None,
    };
    read.unwrap_or_else(|| vec![other(kind, value)])
}

/// A text of the model may end with a mark for thoughts that the transcript does not keep. It is no
/// word of the model.
fn text_pieces(text: Text, of_model: bool) -> Vec<Piece> {
    let kept = text.trim_end().strip_suffix(REDACTED).filter(|_| of_model);
    let Some(kept) = kept else { return vec![Piece::Text(text)] };
    let kept = Text::part_of(&text, kept.trim_end());
    let withheld = Piece::Block(Block::Thinking(Thinking::default()));
    match kept.is_blank() {
        true => vec![withheld],
        false => vec![Piece::Text(kept), withheld],
    }
}

fn call(fields: &Fields<'_>) -> Option<Call> {
    let id = fields.first(&["id", "toolCallId", "tool_use_id"]).and_then(Value::text);
    Some(Call {
        id: id.filter(|id| !id.is_blank()).map(CallId::from),
        name: fields.first(&["name", "toolName"]).and_then(Value::text)?,
        input: fields.first(&["input", "args", "arguments"]).map_or_else(Json::null, Value::json),
    })
}

fn answer(fields: &Fields<'_>) -> Answer {
    let call = fields.first(&["tool_use_id", "toolCallId", "id"]).and_then(Value::text);
    let content = fields.first(&["content", "result", "output"]);
    let is_error = fields.first(&["is_error", "isError"]).and_then(Value::flag);
    Answer {
        call: call.filter(|id| !id.is_blank()).map(CallId::from),
        name: fields.first(&["name", "toolName"]).and_then(Value::text),
        content: content.map(result_parts).unwrap_or_default(),
        outcome: match is_error {
            Some(true) => Outcome::Error,
            Some(false) => Outcome::Ok,
            None => Outcome::Unknown,
        },
    }
}

fn result_parts(content: Value<'_>) -> Vec<ResultPart> {
    if let Some(text) = content.text() {
        return vec![ResultPart::Text(TextBlock { text })];
    }
    let part = |value: Value<'_>| {
        let other = |kind: Text| ResultPart::Other(OtherBlock { kind, json: value.json() });
        let Some(fields) = value.fields() else {
            let text = value.text().map(|text| ResultPart::Text(TextBlock { text }));
            return text.unwrap_or_else(|| other("content".into()));
        };
        let kind = fields.text("type").unwrap_or_default();
        let read = match kind.as_str() {
            "text" => fields.text("text").map(|text| ResultPart::Text(TextBlock { text })),
            "image" => image(&fields).map(ResultPart::Image),
            _ => None,
        };
        read.unwrap_or_else(|| other(kind))
    };
    match content.items() {
        Some(items) => items.into_iter().map(part).collect(),
        None => vec![ResultPart::Other(OtherBlock { kind: "content".into(), json: content.json() })],
    }
}

/// `{source: {type: "base64", media_type, data}}`, or a file's path or an address.
fn image(fields: &Fields<'_>) -> Option<Image> {
    let source = fields.fields("source");
    let inside =
        |name: &str| source.as_ref().and_then(|source| source.text(name)).or_else(|| fields.text(name));
    let data = match (inside("data"), inside("url"), inside("path")) {
        (Some(data), _, _) => Data::Base64(data),
        (_, Some(url), _) => Data::Url(url),
        (_, _, Some(path)) => Data::Path(path),
        _ => return None,
    };
    Some(Image { media_type: inside("media_type").or_else(|| inside("mimeType")), data, name: None })
}
