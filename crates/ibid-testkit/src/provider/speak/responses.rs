//! OpenAI Responses.

use base64::{Engine, engine::general_purpose::STANDARD};
use serde_json::{Value, json};

use super::{CREATED, Data, Event, Usage, list, model, pieces, text, with};
use crate::provider::script::{Call, Input, Turn};

pub(super) fn whole(turn: &Turn, body: &Value, usage: Usage) -> Value {
    let mut output = Vec::new();
    if let Some(thought) = &turn.thought {
        output.push(reasoning(turn, thought, body));
    }
    if let Some(text) = &turn.text {
        output.push(json!({
            "type": "message",
            "id": turn.mark.id("msg_", 0),
            "role": "assistant",
            "status": "completed",
            "content": [{ "type": "output_text", "text": text, "annotations": [] }],
        }));
    }
    output.extend(turn.calls.iter().enumerate().map(|(i, call)| tool_call(turn, i, call)));
    json!({
        "id": turn.mark.id("resp_", 0),
        "object": "response",
        "created_at": CREATED,
        "status": "completed",
        "error": null,
        "incomplete_details": null,
        "model": model(body),
        "output": output,
        "parallel_tool_calls": body.get("parallel_tool_calls").and_then(Value::as_bool).unwrap_or(true),
        "usage": {
            "input_tokens": usage.input,
            "input_tokens_details": { "cached_tokens": 0 },
            "output_tokens": usage.output,
            "output_tokens_details": { "reasoning_tokens": 0 },
            "total_tokens": usage.input.saturating_add(usage.output),
        },
    })
}

fn reasoning(turn: &Turn, thought: &str, body: &Value) -> Value {
    let mut item = json!({
        "type": "reasoning",
        "id": turn.mark.id("rs_", 0),
        "summary": [{ "type": "summary_text", "text": thought }],
    });
    // The sealed form is given only to a program that asks for it.
    let sealed = list(body, "include").iter().any(|name| name == "reasoning.encrypted_content");
    if sealed {
        let seal = STANDARD.encode(format!("sealed {}", turn.mark.id("", 0)));
        item = with(&item, json!({ "encrypted_content": seal }));
    }
    item
}

fn tool_call(turn: &Turn, index: usize, call: &Call) -> Value {
    let (kind, prefix, key, said) = match &call.input {
        Input::Json(object) => ("function_call", "fc_", "arguments", json!(object).to_string()),
        Input::Text(text) => ("custom_tool_call", "ctc_", "input", text.clone()),
    };
    let mut item = json!({
        "type": kind,
        "id": turn.mark.id(prefix, index),
        "call_id": turn.mark.id("call_", index),
        "name": call.name,
        "status": "completed",
    });
    item = with(&item, json!({ key: said }));
    if let Some(namespace) = &call.namespace {
        item = with(&item, json!({ "namespace": namespace }));
    }
    item
}

/// The events of one stream, numbered.
#[derive(Default)]
struct Stream(Vec<Event>);

impl Stream {
    fn push(&mut self, name: &'static str, members: Value) {
        let head = json!({ "type": name, "sequence_number": self.0.len() });
        self.0.push(Event { name: Some(name), data: Data::Json(with(&head, members)) });
    }
}

pub(super) fn events(whole: &Value) -> Vec<Event> {
    let mut stream = Stream::default();
    let open = with(whole, json!({ "status": "in_progress", "output": [], "usage": null }));
    stream.push("response.created", json!({ "response": open }));
    stream.push("response.in_progress", json!({ "response": open }));
    for (index, item) in list(whole, "output").iter().enumerate() {
        let place = json!({ "item_id": item.get("id"), "output_index": index });
        let added = |item: Value| json!({ "output_index": index, "item": item });
        match text(item, "type") {
            "message" => {
                let start = with(item, json!({ "content": [], "status": "in_progress" }));
                stream.push("response.output_item.added", added(start));
                for (part_index, part) in list(item, "content").iter().enumerate() {
                    message_part(&mut stream, &with(&place, json!({ "content_index": part_index })), part);
                }
            }
            "reasoning" => {
                stream.push("response.output_item.added", added(with(item, json!({ "summary": [] }))));
                for (part_index, part) in list(item, "summary").iter().enumerate() {
                    summary_part(&mut stream, &with(&place, json!({ "summary_index": part_index })), part);
                }
            }
            "function_call" => {
                let start = with(item, json!({ "arguments": "", "status": "in_progress" }));
                stream.push("response.output_item.added", added(start));
                let arguments = text(item, "arguments");
                for piece in pieces(arguments) {
                    let delta = with(&place, json!({ "delta": piece }));
                    stream.push("response.function_call_arguments.delta", delta);
                }
                let done = with(&place, json!({ "arguments": arguments }));
                stream.push("response.function_call_arguments.done", done);
            }
            _ => {
                let start = with(item, json!({ "input": "", "status": "in_progress" }));
                stream.push("response.output_item.added", added(start));
                let input = text(item, "input");
                for piece in pieces(input) {
                    let delta = with(&place, json!({ "delta": piece }));
                    stream.push("response.custom_tool_call_input.delta", delta);
                }
                stream.push("response.custom_tool_call_input.done", with(&place, json!({ "input": input })));
            }
        }
        stream.push("response.output_item.done", added(item.clone()));
    }
    stream.push("response.completed", json!({ "response": whole }));
    stream.0
}

fn message_part(stream: &mut Stream, place: &Value, part: &Value) {
    let empty = with(part, json!({ "text": "" }));
    stream.push("response.content_part.added", with(place, json!({ "part": empty })));
    for piece in pieces(text(part, "text")) {
        stream.push("response.output_text.delta", with(place, json!({ "delta": piece })));
    }
    stream.push("response.output_text.done", with(place, json!({ "text": part.get("text") })));
    stream.push("response.content_part.done", with(place, json!({ "part": part })));
}

fn summary_part(stream: &mut Stream, place: &Value, part: &Value) {
    let empty = with(part, json!({ "text": "" }));
    stream.push("response.reasoning_summary_part.added", with(place, json!({ "part": empty })));
    for piece in pieces(text(part, "text")) {
        stream.push("response.reasoning_summary_text.delta", with(place, json!({ "delta": piece })));
    }
    let done = with(place, json!({ "text": part.get("text") }));
    stream.push("response.reasoning_summary_text.done", done);
    stream.push("response.reasoning_summary_part.done", with(place, json!({ "part": part })));
}
