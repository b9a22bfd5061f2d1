//! Streams, put together again as a program does it: they say what the answer without a stream says.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, reason = "tests")]

mod client;
mod program;

use ibid_testkit::provider::wire::Api;
use ibid_testkit::provider::{Options, Provider};
use program::{Program, claude, codex, opencode};
use serde_json::{Value, json};

use client::post;

fn append(to: &mut Value, more: &Value) {
    let joined = to.as_str().unwrap_or_default().to_owned() + more.as_str().unwrap();
    *to = json!(joined);
}

fn merge(to: &mut Value, more: &Value) {
    for (key, value) in more.as_object().unwrap() {
        to[key] = value.clone();
    }
}

/// Anthropic: blocks by index, texts by their deltas, a tool's input as JSON at the end of its block.
fn messages(events: &[Value]) -> Value {
    let mut message = Value::Null;
    let mut input = String::new();
    for event in events {
        let index = event["index"].as_u64().unwrap_or_default() as usize;
        match event["type"].as_str().unwrap() {
            "message_start" => message = event["message"].clone(),
            "content_block_start" => {
                assert_eq!(message["content"].as_array().unwrap().len(), index);
                message["content"].as_array_mut().unwrap().push(event["content_block"].clone());
            }
            "content_block_delta" => {
                let (block, delta) = (&mut message["content"][index], &event["delta"]);
                match delta["type"].as_str().unwrap() {
                    "text_delta" => append(&mut block["text"], &delta["text"]),
                    "thinking_delta" => append(&mut block["thinking"], &delta["thinking"]),
                    "signature_delta" => append(&mut block["signature"], &delta["signature"]),
                    "input_json_delta" => input.push_str(delta["partial_json"].as_str().unwrap()),
                    other => panic!("{other}"),
                }
            }
            "content_block_stop" if !input.is_empty() => {
                message["content"][index]["input"] = serde_json::from_str(&input).unwrap();
                input.clear();
            }
            "content_block_stop" | "message_stop" | "ping" => {}
            "message_delta" => {
                merge(&mut message, &event["delta"]);
                merge(&mut message["usage"], &event["usage"]);
            }
            other => panic!("{other}"),
        }
    }
    assert_eq!(events.last().unwrap()["type"], "message_stop");
    message
}

/// Responses: items by index, and their texts by their deltas. What the last event repeats is not used.
fn responses(events: &[Value]) -> Value {
    let mut output: Vec<Value> = Vec::new();
    for (number, event) in events.iter().enumerate() {
        assert_eq!(event["sequence_number"], number);
        let index = event["output_index"].as_u64().unwrap_or_default() as usize;
        let place = |key: &str| event[key].as_u64().unwrap() as usize;
        match event["type"].as_str().unwrap() {
            "response.output_item.added" => output.push(event["item"].clone()),
            "response.content_part.added" => {
                output[index]["content"].as_array_mut().unwrap().push(event["part"].clone());
            }
            "response.output_text.delta" => {
                append(&mut output[index]["content"][place("content_index")]["text"], &event["delta"]);
            }
            "response.reasoning_summary_part.added" => {
                output[index]["summary"].as_array_mut().unwrap().push(event["part"].clone());
            }
            "response.reasoning_summary_text.delta" => {
                append(&mut output[index]["summary"][place("summary_index")]["text"], &event["delta"]);
            }
            "response.function_call_arguments.delta" => {
                append(&mut output[index]["arguments"], &event["delta"])
            }
            "response.custom_tool_call_input.delta" => append(&mut output[index]["input"], &event["delta"]),
            "response.output_item.done" => {
                if output[index].get("status").is_some() {
                    output[index]["status"] = json!("completed");
                }
                assert_eq!(output[index], event["item"], "what the deltas say is what the item says");
            }
            _ => {}
        }
    }
    assert_eq!(events.last().unwrap()["type"], "response.completed");
    let mut whole = events.last().unwrap()["response"].clone();
    whole["output"] = json!(output);
    whole
}

/// Chat Completions: one message by its deltas, calls by their index.
fn chat(events: &[Value]) -> Value {
    assert_eq!(events.last().unwrap(), "[DONE]");
    let mut message = json!({ "content": null });
    let (mut end, mut usage) = (Value::Null, Value::Null);
    let chunks = &events[..events.len() - 1];
    for chunk in chunks {
        usage = chunk["usage"].clone();
        let Some(choice) = chunk["choices"].get(0) else { continue };
        end = choice["finish_reason"].clone();
        let delta = &choice["delta"];
        for key in ["content", "reasoning_content"] {
            if delta[key].as_str().is_some_and(|text| !text.is_empty()) {
                append(&mut message[key], &delta[key]);
            }
        }
        if let Some(role) = delta.get("role") {
            message["role"] = role.clone();
        }
        for part in delta["tool_calls"].as_array().into_iter().flatten() {
            let index = part["index"].as_u64().unwrap() as usize;
            if message.get("tool_calls").is_none() {
                message["tool_calls"] = json!([]);
            }
            let calls = message["tool_calls"].as_array_mut().unwrap();
            match calls.get_mut(index) {
                Some(call) => append(&mut call["function"]["arguments"], &part["function"]["arguments"]),
                None => {
                    let mut call = part.clone();
                    call.as_object_mut().unwrap().remove("index");
                    calls.push(call);
                }
            }
        }
    }
    let mut whole = chunks[0].clone();
    whole["object"] = json!("chat.completion");
    whole["choices"] = json!([{ "index": 0, "message": message, "logprobs": null, "finish_reason": end }]);
    whole["usage"] = usage;
    whole
}

fn assemble(api: Api, events: &[Value]) -> Value {
    match api {
        Api::Messages => messages(events),
        Api::Responses => responses(events),
        Api::Chat => chat(events),
    }
}

/// Plays a script to its end, and asks at every step both ways.
fn compare_at_every_step(mut program: Program) {
    let provider = Provider::start(Options { strict: true, ..Options::default() }).unwrap();
    program.prompt("do-all");
    for _ in 0..30 {
        let mut streaming = program.body.clone();
        streaming["stream"] = json!(true);
        let events = post(&provider, program.path(), &streaming).events();
        let whole = post(&provider, program.path(), &program.body).json();
        assert_eq!(assemble(program.api, &events), whole);
        let kept = provider.requests();
        let [streamed, plain] = &kept[kept.len() - 2..] else { panic!() };
        let (streamed, plain) = (streamed.answer.as_ref().unwrap(), plain.answer.as_ref().unwrap());
        assert_eq!((streamed.streamed, plain.streamed), (true, false));
        assert_eq!(streamed.body, plain.body);
        let turn = program.ask(&provider);
        if turn.calls.is_empty() {
            return;
        }
        program.answer(&turn.calls, "ok");
    }
    panic!("the script does not end");
}

#[test]
fn a_stream_of_messages_says_what_the_whole_answer_says() {
    compare_at_every_step(claude());
}

#[test]
fn a_stream_of_responses_says_what_the_whole_answer_says() {
    compare_at_every_step(codex());
}

#[test]
fn a_stream_of_chat_completions_says_what_the_whole_answer_says() {
    compare_at_every_step(opencode());
}

#[test]
fn long_texts_come_in_several_pieces_that_cut_no_character() {
    let provider = Provider::start(Options::default()).unwrap();
    let prompt = "\u{1f9ea}\u{5d0}e\u{301}".repeat(15);
    let body = json!({ "stream": true, "messages": [{ "role": "user", "content": prompt }] });
    let events = post(&provider, "/v1/messages", &body).events();
    let deltas: Vec<_> = events.iter().filter(|event| event["delta"]["type"] == "text_delta").collect();
    assert!(deltas.len() > 3);
    assert!(messages(&events)["content"][0]["text"].as_str().unwrap().contains(&prompt));
}
