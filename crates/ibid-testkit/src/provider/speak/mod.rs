//! A turn of the model, written in the form of an API: as one value, and as a stream of events.
//!
//! The stream is made from the value, so that both always say the same.

mod chat;
mod messages;
mod responses;

use serde_json::{Value, json};

use super::script::Turn;
use super::wire::Api;

/// A point in time for answers that must state one. The same request gets the same answer on any day.
const CREATED: u64 = 1_764_547_200;

/// How many characters of a text go into one event of a stream.
const PIECE: usize = 16;

/// One event of a stream.
#[derive(Debug, Clone)]
pub(super) struct Event {
    name: Option<&'static str>,
    data: Data,
}

#[derive(Debug, Clone)]
enum Data {
    Json(Value),
    /// Chat Completions ends a stream with a word that is no JSON.
    Done,
}

impl Event {
    /// The event as it goes over the wire (`text/event-stream`).
    pub(super) fn frame(&self) -> String {
        let data = match &self.data {
            Data::Json(value) => value.to_string(),
            Data::Done => "[DONE]".to_owned(),
        };
        match self.name {
            Some(name) => format!("event: {name}\ndata: {data}\n\n"),
            None => format!("data: {data}\n\n"),
        }
    }
}

/// How much was read and said, in tokens; an estimate.
#[derive(Debug, Clone, Copy)]
pub(super) struct Usage {
    pub(super) input: u64,
    pub(super) output: u64,
}

/// The whole answer as one value.
pub(super) fn whole(api: Api, turn: &Turn, body: &Value, usage: Usage) -> Value {
    match api {
        Api::Messages => messages::whole(turn, body, usage),
        Api::Responses => responses::whole(turn, body, usage),
        Api::Chat => chat::whole(turn, body, usage),
    }
}

/// The same answer as a stream of events.
pub(super) fn events(api: Api, whole: &Value) -> Vec<Event> {
    match api {
        Api::Messages => messages::events(whole),
        Api::Responses => responses::events(whole),
        Api::Chat => chat::events(whole),
    }
}

/// The model that the request names, by which answers are signed.
fn model(body: &Value) -> Value {
    body.get("model").filter(|model| model.is_string()).cloned().unwrap_or_else(|| json!("mock-model"))
}

/// A text in pieces that a stream sends one after another.
fn pieces(text: &str) -> Vec<String> {
    let characters: Vec<char> = text.chars().collect();
    characters.chunks(PIECE).map(|piece| piece.iter().collect()).collect()
}

fn list<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    value.get(key).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}

/// A copy of an object with some members replaced.
fn with(value: &Value, changes: Value) -> Value {
    let mut copy = value.clone();
    if let (Some(copy), Value::Object(changes)) = (copy.as_object_mut(), changes) {
        copy.extend(changes);
    }
    copy
}
