//! Anthropic Messages.

use base64::{Engine, engine::general_purpose::STANDARD};
use serde_json::{Value, json};

use super::{Data, Event, Usage, list, model, pieces, text, with};
use crate::provider::script::{Call, Input, Turn};

pub(super) fn whole(turn: &Turn, body: &Value, usage: Usage) -> Value {
    let mut content = Vec::new();
    if let Some(thought) = &turn.thought {
        // A program may ask for the signature alone.
        let omitted = body.pointer("/thinking/display").and_then(Value::as_str) == Some("omitted");
        let shown = if omitted { "" } else { thought.as_str() };
        let signature = STANDARD.encode(format!("sealed {}", turn.mark.id("", 0)));
        content.push(json!({ "type": "thinking", "thinking": shown, "signature": signature }));
    }
    content.extend(turn.text.iter().map(|text| json!({ "type": "text", "text": text })));
    content.extend(turn.calls.iter().enumerate().map(|(i, call)| tool_use(turn, i, call)));
    json!({
        "id": turn.mark.id("msg_", 0),
        "type": "message",
        "role": "assistant",
        "model": model(body),
        "content": content,
        "stop_reason": if turn.calls.is_empty() { "end_turn" } else { "tool_use" },
        "stop_sequence": null,
        "usage": {
            "input_tokens": usage.input,
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": 0,
            "output_tokens": usage.output,
        },
    })
}

fn tool_use(turn: &Turn, index: usize, call: &Call) -> Value {
    let input = match &call.input {
        Input::Json(object) => Value::Object(object.clone()),
        Input::Text(text) => json!({ "input": text }),
    };
    json!({ "type": "tool_use", "id": turn.mark.id("toolu_", index), "name": call.name, "input": input })
}

pub(super) fn events(whole: &Value) -> Vec<Event> {
    let usage = whole.get("usage").cloned().unwrap_or_default();
    let changes = json!({
        "content": [],
        "stop_reason": null,
        "usage": with(&usage, json!({ "output_tokens": 1 })),
    });
    let mut events =
        vec![event("message_start", json!({ "message": with(whole, changes) })), event("ping", json!({}))];
    for (index, block) in list(whole, "content").iter().enumerate() {
        let (start, deltas) = block_deltas(block);
        events.push(event("content_block_start", json!({ "index": index, "content_block": start })));
        for delta in deltas {
            events.push(event("content_block_delta", json!({ "index": index, "delta": delta })));
        }
        events.push(event("content_block_stop", json!({ "index": index })));
    }
    let end = json!({
        "delta": { "stop_reason": whole.get("stop_reason"), "stop_sequence": null },
        "usage": { "output_tokens": usage.get("output_tokens") },
    });
    events.push(event("message_delta", end));
    events.push(event("message_stop", json!({})));
    events
}

/// How a block begins, and what is added to it until it is whole.
fn block_deltas(block: &Value) -> (Value, Vec<Value>) {
    match text(block, "type") {
        "thinking" => {
            let thoughts = pieces(text(block, "thinking"));
            let mut deltas: Vec<_> =
                thoughts.iter().map(|piece| json!({ "type": "thinking_delta", "thinking": piece })).collect();
            deltas.push(json!({ "type": "signature_delta", "signature": block.get("signature") }));
            (with(block, json!({ "thinking": "", "signature": "" })), deltas)
        }
        "text" => {
            let texts = pieces(text(block, "text"));
            let deltas = texts.iter().map(|piece| json!({ "type": "text_delta", "text": piece })).collect();
            (with(block, json!({ "text": "" })), deltas)
        }
        _ => {
            let input = block.get("input").unwrap_or(&Value::Null).to_string();
            let parts = pieces(&input);
            let deltas = parts
                .iter()
                .map(|piece| json!({ "type": "input_json_delta", "partial_json": piece }))
                .collect();
            (with(block, json!({ "input": {} })), deltas)
        }
    }
}

fn event(name: &'static str, members: Value) -> Event {
    Event { name: Some(name), data: Data::Json(with(&json!({ "type": name }), members)) }
}
