//! What the provider reads in a request of each API.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, reason = "tests")]

use ibid_testkit::provider::wire::{self, Api, Arguments, Image, Role, Said, Source};
use serde_json::{Value, json};

fn said(api: Api, body: &Value) -> Vec<Said> {
    wire::read(api, body).into_iter().map(|spoken| spoken.said).collect()
}

fn call(id: &str, name: &str, arguments: Arguments) -> Said {
    Said::Call { id: id.into(), name: name.into(), namespace: None, arguments }
}

fn result(id: &str, text: &str) -> Said {
    Said::Result { id: id.into(), text: text.into(), images: Vec::new(), is_error: false }
}

fn thinking(text: &str, signature: Option<&str>) -> Said {
    Said::Thinking { text: text.into(), signature: signature.map(str::to_owned) }
}

fn png() -> Image {
    Image { media_type: Some("image/png".into()), source: Source::Base64("iVBORw0K".into()) }
}

fn messages_body() -> Value {
    json!({
        "system": [{ "type": "text", "text": "be brief" }],
        "messages": [
            { "role": "user", "content": "list the files" },
            { "role": "assistant", "content": [
                { "type": "thinking", "thinking": "a shell will do", "signature": "c2ln" },
                { "type": "text", "text": "I look." },
                { "type": "tool_use", "id": "toolu_1", "name": "Bash", "input": { "command": "ls" } },
            ]},
            { "role": "user", "content": [
                { "type": "tool_result", "tool_use_id": "toolu_1", "is_error": true, "content": [
                    { "type": "text", "text": "one" }, { "type": "text", "text": "two" },
                    { "type": "image", "source": { "type": "base64", "media_type": "image/png", "data": "iVBORw0K" } },
                ]},
                { "type": "text", "text": "and now?" },
            ]},
            { "role": "assistant", "content": [{ "type": "redacted_thinking", "data": "sealed" }] },
        ]
    })
}

#[test]
fn a_messages_request_is_read_in_order() {
    let bash = call("toolu_1", "Bash", Arguments::Json(json!({ "command": "ls" })));
    let expected = vec![
        Said::System("be brief".into()),
        Said::User("list the files".into()),
        thinking("a shell will do", Some("c2ln")),
        Said::Assistant("I look.".into()),
        bash,
        Said::Result { id: "toolu_1".into(), text: "one\ntwo".into(), images: vec![png()], is_error: true },
        Said::User("and now?".into()),
        thinking("", Some("sealed")),
    ];
    assert_eq!(said(Api::Messages, &messages_body()), expected);
}

#[test]
fn every_piece_is_found_again_where_it_says_it_stands() {
    let body = messages_body();
    let spoken = wire::read(Api::Messages, &body);
    let places: Vec<_> = spoken.iter().map(|piece| (piece.at.as_str(), piece.message)).collect();
    assert_eq!(places[0], ("/system/0", None));
    assert_eq!(places[1], ("/messages/0/content", Some(0)));
    assert_eq!(places[5], ("/messages/2/content/0", Some(2)));
    assert!(spoken.iter().all(|piece| body.pointer(&piece.at).is_some()));
}

#[test]
fn a_responses_request_is_read_in_order() {
    let body = json!({
        "instructions": "be brief",
        "input": [
            { "type": "message", "role": "developer", "content": [{ "type": "input_text", "text": "rules" }] },
            { "role": "user", "content": [
                { "type": "input_text", "text": "look" },
                { "type": "input_image", "image_url": "data:image/png;base64,iVBORw0K" },
            ]},
            { "type": "reasoning", "summary": [{ "type": "summary_text", "text": "first" }],
              "content": [{ "type": "reasoning_text", "text": "second" }], "encrypted_content": "sealed" },
            { "type": "function_call", "call_id": "call_1", "name": "exec_command", "arguments": "{\"cmd\":\"ls\"}" },
            { "type": "custom_tool_call", "call_id": "call_2", "name": "apply_patch", "input": "*** Begin Patch" },
            { "type": "function_call_output", "call_id": "call_1", "output": "one" },
            { "type": "custom_tool_call_output", "call_id": "call_2", "output": [{ "type": "input_text", "text": "ok" }] },
            { "type": "message", "role": "assistant", "content": [{ "type": "output_text", "text": "done" }] },
            { "type": "web_search_call", "id": "ws_1" },
        ]
    });
    let expected = vec![
        Said::System("be brief".into()),
        Said::System("rules".into()),
        Said::User("look".into()),
        Said::Image { role: Role::User, image: png() },
        thinking("first\nsecond", Some("sealed")),
        call("call_1", "exec_command", Arguments::Json(json!({ "cmd": "ls" }))),
        call("call_2", "apply_patch", Arguments::Text("*** Begin Patch".into())),
        result("call_1", "one"),
        result("call_2", "ok"),
        Said::Assistant("done".into()),
        Said::Other("web_search_call".into()),
    ];
    assert_eq!(said(Api::Responses, &body), expected);
}

#[test]
fn the_input_of_responses_may_be_one_text() {
    assert_eq!(said(Api::Responses, &json!({ "input": "hello" })), [Said::User("hello".into())]);
}

#[test]
fn the_task_of_a_codex_subagent_is_a_prompt() {
    let body = json!({ "input": [{ "type": "agent_message", "author": "/root", "content": [
        { "type": "input_text", "text": "Message Type: NEW_TASK" },
        { "type": "encrypted_content", "encrypted_content": "count the files" },
    ]}]});
    let expected = [Said::User("Message Type: NEW_TASK".into()), Said::User("count the files".into())];
    assert_eq!(said(Api::Responses, &body), expected);
}

#[test]
fn the_namespace_of_a_codex_tool_is_kept_apart_from_its_name() {
    let body = json!({ "input": [{ "type": "function_call", "call_id": "call_1", "name": "spawn_agent",
        "namespace": "multi_agent_v1", "arguments": "{}" }]});
    let expected = Said::Call {
        id: "call_1".into(),
        name: "spawn_agent".into(),
        namespace: Some("multi_agent_v1".into()),
        arguments: Arguments::Json(json!({})),
    };
    assert_eq!(said(Api::Responses, &body), [expected]);
}

#[test]
fn a_chat_request_is_read_in_order() {
    let body = json!({ "messages": [
        { "role": "system", "content": "be brief" },
        { "role": "user", "content": [
            { "type": "text", "text": "look" },
            { "type": "image_url", "image_url": { "url": "data:image/png;base64,iVBORw0K" } },
        ]},
        { "role": "assistant", "reasoning_content": "a shell will do", "content": "I look.", "tool_calls": [
            { "id": "call_1", "type": "function", "function": { "name": "bash", "arguments": "{\"command\":\"ls\"}" } },
            { "id": "call_2", "type": "function", "function": { "name": "bash", "arguments": "{broken" } },
        ]},
        { "role": "tool", "tool_call_id": "call_1", "content": "one" },
        { "role": "tool", "tool_call_id": "call_2", "content": [{ "type": "text", "text": "two" }] },
        { "role": "assistant", "content": "done" },
    ]});
    let expected = vec![
        Said::System("be brief".into()),
        Said::User("look".into()),
        Said::Image { role: Role::User, image: png() },
        thinking("a shell will do", None),
        Said::Assistant("I look.".into()),
        call("call_1", "bash", Arguments::Json(json!({ "command": "ls" }))),
        call("call_2", "bash", Arguments::Text("{broken".into())),
        result("call_1", "one"),
        result("call_2", "two"),
        Said::Assistant("done".into()),
    ];
    assert_eq!(said(Api::Chat, &body), expected);
}

#[test]
fn the_api_is_known_by_the_path() {
    assert_eq!(Api::of_path("/v1/messages?beta=true"), Some(Api::Messages));
    assert_eq!(Api::of_path("/v1/responses"), Some(Api::Responses));
    assert_eq!(Api::of_path("/chat/completions"), Some(Api::Chat));
    assert_eq!(Api::of_path("/v1/messages/count_tokens"), None);
}

#[test]
fn no_value_in_any_place_stops_the_reading() {
    let odd =
        [json!(null), json!(7), json!("text"), json!([1, "two", [3]]), json!({ "type": 4 }), json!([{}])];
    for value in &odd {
        for key in ["system", "messages", "input", "instructions"] {
            for body in [
                json!({ key: value }),
                json!({ key: [value] }),
                json!({ key: [{ "role": "user", "content": value }] }),
            ] {
                for api in [Api::Messages, Api::Responses, Api::Chat] {
                    for piece in wire::read(api, &body) {
                        assert!(body.pointer(&piece.at).is_some(), "{} in {body}", piece.at);
                    }
                }
            }
        }
    }
}
