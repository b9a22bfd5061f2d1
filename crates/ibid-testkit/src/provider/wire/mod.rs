//! A request of any of the three APIs, read into one list of what was said in it.
//!
//! [`read`] is lenient: it takes from a request what it understands, in the order in which a model would
//! see it, and names everything else [`Said::Other`], so that nothing vanishes. Whether a real provider
//! would accept the request is the business of [`strict`](super::strict).
//!
//! Shapes: Anthropic Messages (version 2023-06-01), OpenAI Responses and OpenAI Chat Completions as their
//! public references describe them, and as Claude Code 1.0.60 to 2.1.332, Codex 0.47.0 to 0.171.0,
//! OpenCode 1.0.152 to 1.18.33 and pi 0.73.1 to 1.6.0 were seen to send them.

mod chat;
mod messages;
mod picture;
mod responses;

use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use picture::{Image, Source};

/// One of the three APIs that the provider speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Api {
    /// Anthropic Messages, `/v1/messages`.
    Messages,
    /// OpenAI Responses, `/v1/responses`.
    Responses,
    /// OpenAI Chat Completions, `/v1/chat/completions`.
    Chat,
}

impl Api {
    /// The API that a request's path asks for. The query is ignored, and so is what stands before the last
    /// part, since programs differ in whether their base address ends in `/v1`. Token counting is not
    /// a turn and has no API here.
    pub fn of_path(path: &str) -> Option<Self> {
        let path = path.split('?').next().unwrap_or_default().trim_end_matches('/');
        if path.ends_with("/messages") {
            Some(Self::Messages)
        } else if path.ends_with("/responses") {
            Some(Self::Responses)
        } else if path.ends_with("/chat/completions") {
            Some(Self::Chat)
        } else {
            None
        }
    }
}

/// One thing that a request says, and where it stands.
#[derive(Debug, Clone, PartialEq)]
pub struct Spoken {
    /// JSON Pointer (RFC 6901) into the body: `body.pointer(&spoken.at)` is the value it was read from.
    pub at: String,
    /// Index in `messages` (or in `input`); `None` for what stands outside that list, such as `system`.
    pub message: Option<usize>,
    /// What it says.
    pub said: Said,
}

/// What one piece of a request says.
#[derive(Debug, Clone, PartialEq)]
pub enum Said {
    /// Text of the program's: a system prompt, or a message of the roles `system` and `developer`.
    System(String),
    /// Text in a user's message. The program may have put it there itself.
    User(String),
    /// Text that the model said earlier.
    Assistant(String),
    /// What the model thought earlier.
    Thinking {
        /// The thought (Responses: the summaries, then the content, joined by line ends). Empty when only
        /// the sealed form was sent.
        text: String,
        /// What seals it: Anthropic's `signature`, the `data` of a redacted thought, the
        /// `encrypted_content` of Responses. Chat Completions has none.
        signature: Option<String>,
    },
    /// A tool call of the model's.
    Call {
        /// The id that its result names; empty when the request gives none.
        id: String,
        /// The tool's name, without its namespace.
        name: String,
        /// The namespace that Codex groups tools in, where one is given.
        namespace: Option<String>,
        /// What the tool was called with.
        arguments: Arguments,
    },
    /// A tool's result.
    Result {
        /// The id of the call that it answers; empty when the request gives none.
        id: String,
        /// Its texts, joined by line ends.
        text: String,
        /// Its images, in order.
        images: Vec<Image>,
        /// Whether the request marks it as an error. Only Anthropic Messages can.
        is_error: bool,
    },
    /// An image beside the texts of a message.
    Image {
        /// Whose message it is in.
        role: Role,
        /// The image.
        image: Image,
    },
    /// Anything else, by the `type` that it carries (`document`, `web_search_call`, `additional_tools`, ...).
    Other(String),
}

/// Whose message a piece is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// `system` or `developer`.
    System,
    /// `user`, and any role that is unknown.
    User,
    /// `assistant`.
    Assistant,
}

impl Role {
    fn of(message: &Value) -> Self {
        match string(message, "role") {
            "system" | "developer" => Self::System,
            "assistant" => Self::Assistant,
            _ => Self::User,
        }
    }

    fn says(self, text: &str) -> Said {
        match self {
            Self::System => Said::System(text.to_owned()),
            Self::User => Said::User(text.to_owned()),
            Self::Assistant => Said::Assistant(text.to_owned()),
        }
    }
}

/// What a tool was called with.
#[derive(Debug, Clone, PartialEq)]
pub enum Arguments {
    /// A JSON value; where the API carries JSON as text (both of OpenAI's), the value in that text.
    Json(Value),
    /// Text that is not JSON: the input of a custom tool, or arguments that do not parse.
    Text(String),
}

impl Arguments {
    /// The arguments of an API that carries JSON as text.
    fn of_text(text: &str) -> Self {
        match serde_json::from_str(text) {
            Ok(value) => Self::Json(value),
            Err(_) => Self::Text(text.to_owned()),
        }
    }
}

/// Reads a request's body: everything that it says to the model, in order, the system prompt first. Tool
/// declarations and settings are not part of it.
///
/// ```
/// use ibid_testkit::provider::wire::{self, Api, Said};
///
/// let body = serde_json::json!({ "messages": [
///     { "role": "user", "content": "hello" },
///     { "role": "assistant", "content": [{ "type": "text", "text": "hi" }] },
/// ]});
/// let spoken = wire::read(Api::Messages, &body);
/// assert_eq!(spoken[1].said, Said::Assistant("hi".into()));
/// assert_eq!(spoken[1].at, "/messages/1/content/0");
/// ```
pub fn read(api: Api, body: &Value) -> Vec<Spoken> {
    let mut page = Page { spoken: Vec::new(), message: None };
    match api {
        Api::Messages => messages::read(body, &mut page),
        Api::Responses => responses::read(body, &mut page),
        Api::Chat => chat::read(body, &mut page),
    }
    page.spoken
}

/// The list being filled.
struct Page {
    spoken: Vec<Spoken>,
    message: Option<usize>,
}

impl Page {
    fn put(&mut self, at: impl Into<String>, said: Said) {
        self.spoken.push(Spoken { at: at.into(), message: self.message, said });
    }

    /// What a message of any API holds as text: one string, or a list of parts that `part` reads. Other
    /// values than these are named by their kind; null is nothing.
    fn content(&mut self, at: &str, content: &Value, role: Role, part: impl Fn(&mut Self, &str, &Value)) {
        match content {
            Value::Null => {}
            Value::String(text) => self.put(at, role.says(text)),
            Value::Array(parts) => {
                for (i, value) in parts.iter().enumerate() {
                    part(self, &format!("{at}/{i}"), value);
                }
            }
            _ => self.put(at, Said::Other(kind(content).to_owned())),
        }
    }

    /// A part of a message, as both of OpenAI's APIs write it.
    fn part(&mut self, at: &str, part: &Value, role: Role) {
        let said = match (text_of(part), Image::read(part)) {
            (Some(text), _) => role.says(text),
            (None, Some(image)) => Said::Image { role, image },
            (None, None) if kind(part) == "refusal" => role.says(string(part, "refusal")),
            (None, None) => Said::Other(kind(part).to_owned()),
        };
        self.put(at, said);
    }
}

/// A member that is a string; empty when it is not there, or is something else.
fn string<'a>(value: &'a Value, key: &str) -> &'a str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}

/// A member that is a string, if it is there.
fn maybe(value: &Value, key: &str) -> Option<String> {
    value.get(key).and_then(Value::as_str).map(str::to_owned)
}

/// The `type` of a piece, or what sort of JSON it is when it has none.
fn kind(value: &Value) -> &str {
    match value {
        Value::Object(_) => value.get("type").and_then(Value::as_str).unwrap_or("object"),
        Value::Array(_) => "array",
        Value::String(_) => "string",
        Value::Number(_) => "number",
        Value::Bool(_) => "boolean",
        Value::Null => "null",
    }
}

/// What a tool's result says: texts joined by line ends, images apart. Both forms of a result, one string and
/// a list of parts, occur in all three APIs. A part that is neither text nor image stays as its JSON text.
fn result(value: &Value) -> (String, Vec<Image>) {
    let (mut texts, mut images) = (Vec::new(), Vec::new());
    match value {
        Value::Null => {}
        Value::String(text) => texts.push(text.clone()),
        Value::Array(parts) => {
            for part in parts {
                if let Some(text) = text_of(part) {
                    texts.push(text.to_owned());
                } else if let Some(image) = Image::read(part) {
                    images.push(image);
                } else {
                    texts.push(part.to_string());
                }
            }
        }
        other => texts.push(other.to_string()),
    }
    (texts.join("\n"), images)
}

/// The text of a part that is text under any of its names.
fn text_of(part: &Value) -> Option<&str> {
    match kind(part) {
        "text" | "input_text" | "output_text" => part.get("text").and_then(Value::as_str),
        "string" => part.as_str(),
        _ => None,
    }
}
