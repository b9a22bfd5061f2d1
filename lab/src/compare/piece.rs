//! What is said, in the one form in which both sides are compared.

use std::collections::BTreeMap;
use std::fmt::Write;

use ibid_model::{Argument, Command, Data, Document, Image, Json, MessageId, Role, Tool};
use serde_json::{Map, Value};

/// One piece of a conversation.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Piece {
    /// Text of one side.
    Text { role: Role, text: String },
    /// A command of the harness that a person ran.
    Command(Command),
    /// A tool call.
    Call(Call),
    /// What a tool gave back.
    Answer(Answer),
    /// A picture beside the texts of one side.
    Picture { role: Role, picture: Picture },
    /// A document beside the texts.
    Document(Document),
    /// What the model thought.
    Thought(Thought),
    /// Anything else, by its kind.
    Other { kind: String, data: String },
}

/// A tool call.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Call {
    /// The id as it stands on its side.
    pub(super) id: String,
    /// The name as it stands on its side.
    pub(super) name: String,
    /// What it asks for, in the common form.
    pub(super) tool: Tool,
    /// The arguments beyond that.
    pub(super) extra: Vec<Argument>,
    /// The input as sent; none for a call of the source.
    pub(super) sent: Option<Value>,
}

/// What a tool gave back.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Answer {
    /// The number of the call that it answers, in the order of the calls of its side.
    pub(super) call: Option<usize>,
    /// The texts, in order.
    pub(super) texts: Vec<String>,
    /// The parts that are neither text nor picture, in order.
    pub(super) others: Vec<Part>,
    /// All but the pictures as text, in order, where there are such parts.
    pub(super) flat: Vec<String>,
    /// The pictures, in order.
    pub(super) pictures: Vec<Picture>,
    /// Whether it failed, where the side says so.
    pub(super) failed: Option<bool>,
}

/// A part of a result that is neither text nor picture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Part {
    /// Its type, as the APIs name it.
    pub(super) kind: String,
    /// What it says as text; none where that is nothing.
    pub(super) text: Option<String>,
    /// The document that it is, or its data where it was sent.
    pub(super) document: Option<Document>,
}

/// What the model thought.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Thought {
    pub(super) text: String,
    /// Which model, where the side says so.
    pub(super) model: Option<String>,
    /// The providers whose tokens go with it, where the side says so.
    pub(super) sealed_by: Vec<String>,
}

/// A picture, by where its bytes are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Picture {
    /// The media type, where it is said.
    pub(super) media_type: Option<String>,
    /// The base64, the address, or the file's id; none when the bytes are not there.
    pub(super) data: Option<String>,
}

impl Answer {
    /// Adds a part that is neither text nor picture.
    pub(super) fn put_other(&mut self, other: Part) {
        self.flat.extend(other.text.clone());
        self.others.push(other);
    }
}

impl Picture {
    /// A picture of a session.
    pub(super) fn of(image: &Image) -> Picture {
        let data = match &image.data {
            Data::Base64(data) | Data::Url(data) | Data::ProviderFile(data) => Some(data.to_string()),
            Data::Text(_) | Data::Path(_) | Data::Absent => None,
        };
        Picture { media_type: image.media_type.as_deref().map(str::to_owned), data }
    }

    /// Whether the two show the same.
    pub(super) fn is(&self, other: &Picture) -> bool {
        let types = [&self.media_type, &other.media_type];
        self.data.is_some() && self.data == other.data && (types.contains(&&None) || types[0] == types[1])
    }
}

/// Where a piece stands in the source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The message.
    pub message: MessageId,
    /// Its number in the branch, from 1; one more than there are for the new prompt.
    pub number: usize,
}

impl Call {
    /// What it asks for, by the names of the common form, spelling of JSON apart.
    pub(super) fn arguments(&self) -> BTreeMap<String, Value> {
        let mut arguments = BTreeMap::new();
        match &self.tool {
            Tool::Raw(raw) => put_input(&mut arguments, &raw.input),
            Tool::Mcp(mcp) => put_input(&mut arguments, &mcp.input),
            typed => {
                let Ok(Value::Object(fields)) = serde_json::to_value(typed) else { return arguments };
                arguments.extend(fields.into_iter().filter(|(name, _)| name != "kind"));
            }
        }
        for argument in &self.extra {
            arguments.entry(argument.name.to_string()).or_insert_with(|| value(&argument.value));
        }
        arguments
    }

    /// Which tool it is, apart from its arguments.
    pub(super) fn which(&self) -> String {
        match &self.tool {
            Tool::Raw(raw) => format!("raw {}", raw.name),
            Tool::Mcp(mcp) => format!("mcp {} {}", mcp.server, mcp.tool),
            typed => typed.kind().to_owned(),
        }
    }

    /// The key under which an equal call is found.
    pub(super) fn key(&self) -> String {
        let arguments: Map<String, Value> = self.arguments().into_iter().collect();
        format!("{} {}", self.which(), canonical(&Value::Object(arguments)))
    }

    /// How a person names it.
    pub(super) fn title(&self) -> &str {
        &self.name
    }
}

fn put_input(arguments: &mut BTreeMap<String, Value>, input: &Json) {
    match value(input) {
        Value::Object(fields) => arguments.extend(fields),
        // A name that no argument has.
        other => drop(arguments.insert(String::new(), other)),
    }
}

/// A value as the wire can carry it: without lone surrogates.
pub(super) fn value(json: &Json) -> Value {
    let read = json.read();
    read.or_else(|_| json.without_lone_surrogates().0.read()).unwrap_or(Value::Null)
}

/// A value as text with sorted keys, so that equal values have equal texts. Numbers are what most of
/// the programs, which are written in JavaScript, take them for: doubles, so that `1` is `1.0`.
pub(super) fn canonical(value: &Value) -> String {
    let mut text = String::new();
    put(&mut text, value);
    text
}

fn put(text: &mut String, value: &Value) {
    match value {
        Value::Array(items) => {
            text.push('[');
            for item in items {
                put(text, item);
                text.push(',');
            }
            text.push(']');
        }
        Value::Object(fields) => {
            let sorted: BTreeMap<&String, &Value> = fields.iter().collect();
            text.push('{');
            for (name, value) in sorted {
                text.push_str(&Value::String(name.clone()).to_string());
                text.push(':');
                put(text, value);
                text.push(',');
            }
            text.push('}');
        }
        // Zero has no sign here. Writing to a string never fails.
        Value::Number(number) => drop(write!(text, "{:?}", number.as_f64().unwrap_or_default() + 0.0)),
        other => text.push_str(&other.to_string()),
    }
}

impl Piece {
    /// What it is, short and in words, for a person.
    pub(super) fn title(&self) -> String {
        match self {
            Piece::Text { role, text } => format!("{} text {}", side(*role), short(text)),
            Piece::Command(command) => format!("the command {}", short(&command.name)),
            Piece::Call(call) => format!("the call of {} {}", call.title(), short(&canonical(&call.shown()))),
            Piece::Answer(answer) => {
                let pictures = match answer.pictures.len() {
                    0 => String::new(),
                    count => format!(" with {count} pictures"),
                };
                let call = answer.call.map_or("no call".to_owned(), |call| format!("call {}", call + 1));
                format!("the result of {call} {}{pictures}", short(&answer.texts.join("\n")))
            }
            Piece::Picture { role, .. } => format!("{} picture", side(*role)),
            Piece::Document(document) => {
                format!("the document {}", short(document.name.as_deref().unwrap_or("without a name")))
            }
            Piece::Thought(thought) => format!("the thought {}", short(&thought.text)),
            Piece::Other { kind, .. } => format!("a block of kind {}", short(kind)),
        }
    }
}

impl Call {
    fn shown(&self) -> Value {
        Value::Object(self.arguments().into_iter().collect())
    }
}

fn side(role: Role) -> &'static str {
    match role {
        Role::User => "the person's",
        Role::Assistant => "the model's",
        Role::System => "the system's",
    }
}

/// The beginning of a text on one line, in quotes, without characters that a terminal acts on.
pub(super) fn short(text: &str) -> String {
    const CHARS: usize = 72;
    let mut line: String = text.chars().take(CHARS).flat_map(char::escape_debug).collect();
    if text.chars().nth(CHARS).is_some() {
        line.push('…');
    }
    format!("\"{line}\"")
}
