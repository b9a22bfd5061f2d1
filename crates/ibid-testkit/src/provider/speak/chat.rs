//! OpenAI Chat Completions.

use serde_json::{Value, json};

use super::{CREATED, Data, Event, Usage, list, model, pieces, text, with};
use crate::provider::script::{Call, Input, Turn};

pub(super) fn whole(turn: &Turn, body: &Value, usage: Usage) -> Value {
    let mut message = json!({ "role": "assistant", "content": turn.text });
    if let Some(thought) = &turn.thought {
        message = with(&message, json!({ "reasoning_content": thought }));
    }
    if !turn.calls.is_empty() {
        let calls: Vec<_> = turn.calls.iter().enumerate().map(|(i, call)| tool_call(turn, i, call)).collect();
        message = with(&message, json!({ "tool_calls": calls }));
    }
    let end = if turn.calls.is_empty() { "stop" } else { "tool_calls" };
    json!({
        "id": turn.mark.id("chatcmpl-", 0),
        "object": "chat.completion",
        "created": CREATED,
        "model": model(body),
        "choices": [{ "index": 0, "message": message, "logprobs": null, "finish_reason": end }],
        "usage": {
            "prompt_tokens": usage.input,
            "completion_tokens": usage.output,
            "total_tokens": usage.input.saturating_add(usage.output),
            "prompt_tokens_details": { "cached_tokens": 0 },
        },
    })
}

fn tool_call(turn: &Turn, index: usize, call: &Call) -> Value {
    let id = turn.mark.id("call_", index);
    match &call.input {
        Input::Json(object) => {
            let function = json!({ "name": call.name, "arguments": json!(object).to_string() });
            json!({ "id": id, "type": "function", "function": function })
        }
        Input::Text(text) => {
            json!({ "id": id, "type": "custom", "custom": { "name": call.name, "input": text } })
        }
    }
}

pub(super) fn events(whole: &Value) -> Vec<Event> {
    let chunk = |choices: Value, usage: &Value| {
        let changes = json!({ "object": "chat.completion.chunk", "choices": choices, "usage": usage });
        Event { name: None, data: Data::Json(with(whole, changes)) }
    };
    let delta = |delta: Value, end: Option<&Value>| {
        let choice = json!([{ "index": 0, "delta": delta, "logprobs": null, "finish_reason": end }]);
        chunk(choice, &Value::Null)
    };
    let message = whole.pointer("/choices/0/message").unwrap_or(&Value::Null);
    let mut events = vec![delta(json!({ "role": "assistant", "content": "" }), None)];
    for key in ["reasoning_content", "content"] {
        let parts = pieces(text(message, key));
        events.extend(parts.iter().map(|piece| delta(json!({ key: piece }), None)));
    }
    for (index, call) in list(message, "tool_calls").iter().enumerate() {
        let (key, said) =
            if call.get("custom").is_some() { ("custom", "input") } else { ("function", "arguments") };
        let own = call.get(key).unwrap_or(&Value::Null);
        let start = with(call, json!({ "index": index, key: with(own, json!({ said: "" })) }));
        events.push(delta(json!({ "tool_calls": [start] }), None));
        for piece in pieces(text(own, said)) {
            let part = json!({ "index": index, key: { said: piece } });
            events.push(delta(json!({ "tool_calls": [part] }), None));
        }
    }
    events.push(delta(json!({}), whole.pointer("/choices/0/finish_reason")));
    events.push(chunk(json!([]), whole.get("usage").unwrap_or(&Value::Null)));
    events.push(Event { name: None, data: Data::Done });
    events
}
