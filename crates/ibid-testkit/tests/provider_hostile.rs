//! Requests that no program sends: nothing in them may stop the reading, the rules or the answer.

use ibid_testkit::provider::wire::{self, Api};
use ibid_testkit::provider::{log, strict};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

const APIS: [Api; 3] = [Api::Messages, Api::Responses, Api::Chat];

/// The words that a request is made of, so that generated values come far.
const WORDS: [&str; 44] = [
    "messages",
    "input",
    "system",
    "instructions",
    "tools",
    "tool_choice",
    "thinking",
    "role",
    "content",
    "type",
    "text",
    "user",
    "assistant",
    "tool",
    "developer",
    "tool_use",
    "tool_result",
    "tool_use_id",
    "id",
    "call_id",
    "name",
    "input_text",
    "output_text",
    "output",
    "function_call",
    "function_call_output",
    "custom_tool_call",
    "arguments",
    "tool_calls",
    "tool_call_id",
    "function",
    "reasoning",
    "summary",
    "encrypted_content",
    "image",
    "source",
    "base64",
    "data",
    "media_type",
    "image_url",
    "url",
    "signature",
    "agent_message",
    "namespace",
];

fn word() -> impl Strategy<Value = String> {
    prop_oneof![4 => prop::sample::select(&WORDS[..]).prop_map(str::to_owned), 1 => any::<String>()]
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        word().prop_map(Value::from),
    ];
    leaf.prop_recursive(6, 80, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::vec((word(), inner), 0..6)
                .prop_map(|members| Value::Object(members.into_iter().collect::<Map<_, _>>())),
        ]
    })
}

proptest! {
    #[test]
    fn every_piece_and_every_refusal_of_any_request_names_a_place_in_it(list in value(), other in value()) {
        let body = json!({ "messages": list, "input": list, "system": other, "tools": other, "thinking": { "type": "enabled" } });
        for api in APIS {
            for piece in wire::read(api, &body) {
                prop_assert!(body.pointer(&piece.at).is_some(), "{}", piece.at);
            }
            for refusal in strict::check(api, body.to_string().as_bytes()) {
                prop_assert!(body.pointer(&refusal.at).is_some(), "{}", refusal);
            }
        }
    }

    #[test]
    fn any_bytes_are_checked(bytes in prop::collection::vec(any::<u8>(), 0..200), escapes in "(\\\\u[dD][89a-fA-F][0-9a-f]{2}|\\\\|[a-z\"{}])*") {
        for api in APIS {
            strict::check(api, &bytes);
            strict::check(api, format!("{{\"messages\":\"{escapes}\"}}").as_bytes());
        }
    }

    #[test]
    fn any_line_of_a_log_is_read_or_named_as_an_error(line in "[ -~]{0,60}") {
        let file = tempfile::NamedTempFile::new()?;
        std::fs::write(file.path(), format!("{line}\n"))?;
        let read = log::read(file.path());
        let named = read.as_ref().is_err_and(|error| error.to_string().contains("line 1"));
        prop_assert_eq!(named, !line.trim().is_empty());
    }
}
