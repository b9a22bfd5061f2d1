//! For every rule, a request that keeps to it and one that breaks it. The two differ in nothing else.

#![allow(clippy::indexing_slicing, reason = "a part of a test")]

use ibid_testkit::provider::strict::Rule;
use ibid_testkit::provider::wire::Api;
use serde_json::{Value, json};

/// A rule, the API, what is accepted, what is refused.
pub(crate) struct Case {
    pub(crate) rule: Rule,
    pub(crate) api: Api,
    pub(crate) accepted: Value,
    pub(crate) refused: Value,
}

fn case(rule: Rule, api: Api, accepted: Value, refused: Value) -> Case {
    Case { rule, api, accepted, refused }
}

fn body(api: Api, list: Value) -> Value {
    match api {
        Api::Responses => json!({ "model": "m", "input": list }),
        Api::Messages | Api::Chat => json!({ "model": "m", "max_tokens": 9, "messages": list }),
    }
}

pub(crate) fn user(text: &str) -> Value {
    json!({ "role": "user", "content": text })
}

pub(crate) fn assistant(content: Value) -> Value {
    json!({ "role": "assistant", "content": content })
}

pub(crate) fn text(text: &str) -> Value {
    json!({ "type": "text", "text": text })
}

pub(crate) fn tool_use(id: &str) -> Value {
    json!({ "type": "tool_use", "id": id, "name": "Bash", "input": {} })
}

pub(crate) fn tool_result(id: &str) -> Value {
    json!({ "type": "tool_result", "tool_use_id": id, "content": "ok" })
}

fn thought(signature: &str) -> Value {
    json!({ "type": "thinking", "thinking": "so", "signature": signature })
}

pub(crate) fn blocks(role: &str, blocks: Value) -> Value {
    json!({ "role": role, "content": blocks })
}

fn function_call(id: &str) -> Value {
    json!({ "type": "function_call", "call_id": id, "name": "shell", "arguments": "{}" })
}

fn function_output(id: &str) -> Value {
    json!({ "type": "function_call_output", "call_id": id, "output": "ok" })
}

fn calls(ids: &[&str]) -> Value {
    let calls: Vec<_> = ids.iter().map(|id| named_call(id, "bash", "{}")).collect();
    json!({ "role": "assistant", "content": null, "tool_calls": calls })
}

fn named_call(id: &str, name: &str, arguments: &str) -> Value {
    json!({ "id": id, "type": "function", "function": { "name": name, "arguments": arguments } })
}

fn tool(id: &str) -> Value {
    json!({ "role": "tool", "tool_call_id": id, "content": "ok" })
}

pub(crate) fn messages(list: Value) -> Value {
    body(Api::Messages, list)
}

pub(crate) fn responses(list: Value) -> Value {
    body(Api::Responses, list)
}

fn chat(list: Value) -> Value {
    body(Api::Chat, list)
}

const PNG: &str = "iVBORw0KGgo=";

fn picture(media_type: &str, data: &str) -> Value {
    json!({ "type": "image", "source": { "type": "base64", "media_type": media_type, "data": data } })
}

fn image_url(media_type: &str, data: &str) -> Value {
    json!({ "type": "image_url", "image_url": { "url": format!("data:{media_type};base64,{data}") } })
}

fn input_image(media_type: &str, data: &str) -> Value {
    json!({ "type": "input_image", "image_url": format!("data:{media_type};base64,{data}") })
}

fn with(mut body: Value, key: &str, value: Value) -> Value {
    body[key] = value;
    body
}

/// A loop of one tool, with these ids on the call and on the result.
pub(crate) fn looped(call: &str, result: &str) -> [Value; 3] {
    [
        messages(json!([
            user("go"),
            assistant(json!([tool_use(call)])),
            blocks("user", json!([tool_result(result)]))
        ])),
        responses(json!([user("go"), function_call(call), function_output(result)])),
        chat(json!([user("go"), calls(&[call]), tool(result)])),
    ]
}

const APIS: [Api; 3] = [Api::Messages, Api::Responses, Api::Chat];

fn for_all(rule: Rule, accepted: [Value; 3], refused: [Value; 3]) -> Vec<Case> {
    let pairs = APIS.into_iter().zip(accepted).zip(refused);
    pairs.map(|((api, accepted), refused)| case(rule, api, accepted, refused)).collect()
}

pub(crate) fn cases() -> Vec<Case> {
    [shapes(), pairings(), texts(), thoughts(), names(), images()].into_iter().flatten().collect()
}

fn shapes() -> Vec<Case> {
    let hello = || APIS.map(|api| body(api, json!([user("go")])));
    let strange = || APIS.map(|api| body(api, json!([user("go"), { "role": "wizard", "content": "go" }])));
    let marked = |count: usize| {
        let block = json!({ "type": "text", "text": "go", "cache_control": { "type": "ephemeral" } });
        messages(json!([blocks("user", Value::Array(vec![block; count]))]))
    };
    let mut cases = for_all(Rule::NoMessages, hello(), APIS.map(|api| body(api, json!([]))));
    cases.extend(for_all(Rule::UnknownRole, hello(), strange()));
    cases.extend([
        case(
            Rule::FirstNotUser,
            Api::Messages,
            messages(json!([user("go"), assistant(json!("gone")), user("and?")])),
            messages(json!([assistant(json!("gone")), user("and?")])),
        ),
        case(
            Rule::RolesAlternate,
            Api::Messages,
            messages(json!([user("go"), assistant(json!("I")), assistant(json!("go")), user("and?")])),
            messages(json!([
                user("go"),
                assistant(json!([tool_use("t")])),
                assistant(json!("go")),
                blocks("user", json!([tool_result("t")])),
            ])),
        ),
        case(
            Rule::PartType,
            Api::Messages,
            messages(json!([
                user("go"),
                assistant(json!([tool_use("t")])),
                blocks("user", json!([tool_result("t")]))
            ])),
            messages(json!([blocks("user", json!([text("go"), tool_use("t")]))])),
        ),
        case(
            Rule::PartType,
            Api::Responses,
            responses(json!([user("go"), assistant(json!([{ "type": "output_text", "text": "gone" }]))])),
            responses(json!([user("go"), assistant(json!([{ "type": "input_text", "text": "gone" }]))])),
        ),
        case(
            Rule::PartType,
            Api::Chat,
            chat(json!([user("go"), assistant(json!([text("gone")]))])),
            chat(json!([user("go"), assistant(json!([{ "type": "output_text", "text": "gone" }]))])),
        ),
        case(
            Rule::ItemId,
            Api::Responses,
            responses(json!([
                user("go"),
                with(function_call("c"), "id", json!("fc_1")),
                function_output("c")
            ])),
            responses(json!([
                user("go"),
                with(function_call("c"), "id", json!("item_1")),
                function_output("c")
            ])),
        ),
        case(Rule::CacheMarks, Api::Messages, marked(4), marked(5)),
    ]);
    cases
}

fn pairings() -> Vec<Case> {
    let pair = || looped("c1", "c1");
    let unanswered = [
        messages(json!([user("go"), assistant(json!([tool_use("c1")])), user("and?")])),
        responses(json!([user("go"), function_call("c1"), user("and?")])),
        chat(json!([user("go"), calls(&["c1"]), user("and?"), tool("c1")])),
    ];
    let uncalled = [
        messages(json!([blocks("user", json!([tool_result("c1"), text("go")]))])),
        responses(json!([user("go"), function_output("c1"), function_call("c1"), function_output("c1")])),
        chat(json!([user("go"), tool("c1")])),
    ];
    let two = [
        messages(json!([
            user("go"),
            assistant(json!([tool_use("c1"), tool_use("c2")])),
            blocks("user", json!([tool_result("c2"), tool_result("c1"), text("and?")])),
        ])),
        responses(json!([
            user("go"),
            function_call("c1"),
            function_call("c2"),
            function_output("c2"),
            function_output("c1")
        ])),
        chat(json!([user("go"), calls(&["c1", "c2"]), tool("c2"), tool("c1")])),
    ];
    let same = [
        messages(json!([
            user("go"),
            assistant(json!([tool_use("c1")])),
            blocks("user", json!([tool_result("c1")])),
            assistant(json!([tool_use("c1")])),
            blocks("user", json!([tool_result("c1")])),
        ])),
        responses(json!([
            user("go"),
            function_call("c1"),
            function_output("c1"),
            function_call("c1"),
            function_output("c1")
        ])),
        chat(json!([user("go"), calls(&["c1"]), tool("c1"), calls(&["c1"]), tool("c1")])),
    ];
    let twice = [
        messages(json!([
            user("go"),
            assistant(json!([tool_use("c1")])),
            blocks("user", json!([tool_result("c1"), tool_result("c1")])),
        ])),
        responses(json!([user("go"), function_call("c1"), function_output("c1"), function_output("c1")])),
        chat(json!([user("go"), calls(&["c1"]), tool("c1"), tool("c1")])),
    ];
    let mut cases = for_all(Rule::CallWithoutResult, two.clone(), unanswered);
    cases.extend(for_all(Rule::ResultWithoutCall, pair(), uncalled));
    cases.extend(for_all(Rule::DuplicateCall, two, same));
    cases.extend(for_all(Rule::DuplicateResult, pair(), twice));
    let order = |content: Value| {
        messages(json!([user("go"), assistant(json!([tool_use("c1")])), blocks("user", content)]))
    };
    cases.push(case(
        Rule::ResultNotFirst,
        Api::Messages,
        order(json!([tool_result("c1"), text("and?")])),
        order(json!([text("and?"), tool_result("c1")])),
    ));
    cases
}

fn texts() -> Vec<Case> {
    let said = |block: Value| messages(json!([user("go"), assistant(json!([block])), user("and?")]));
    let last = |text: &str| messages(json!([user("go"), assistant(json!(text))]));
    let spoken = |content: Value| chat(json!([user("go"), assistant(content), user("and?")]));
    vec![
        case(Rule::EmptyText, Api::Messages, said(text("gone")), said(text(" \n"))),
        case(
            Rule::EmptyContent,
            Api::Messages,
            messages(json!([user("go"), assistant(json!([]))])),
            messages(json!([user("go"), assistant(json!([])), user("and?")])),
        ),
        case(Rule::EmptyContent, Api::Chat, spoken(json!([text("gone")])), spoken(json!([]))),
        case(Rule::EmptyContent, Api::Chat, looped("c", "c")[2].clone(), spoken(Value::Null)),
        case(Rule::FinalWhitespace, Api::Messages, last("it begins:"), last("it begins: ")),
    ]
}

fn thoughts() -> Vec<Case> {
    let said = |content: Value| messages(json!([user("go"), assistant(content), user("and?")]));
    let inside = |first: Value, mode: &str| {
        let content = [first, tool_use("c1")];
        let list = json!([user("go"), assistant(json!(content)), blocks("user", json!([tool_result("c1")]))]);
        with(messages(list), "thinking", json!({ "type": mode }))
    };
    vec![
        case(
            Rule::UnsignedThinking,
            Api::Messages,
            said(json!([thought("c2ln"), text("gone")])),
            said(json!([thought(""), text("gone")])),
        ),
        case(
            Rule::ThinkingNotFirst,
            Api::Messages,
            said(json!([thought("c2ln"), text("gone")])),
            said(json!([text("I go"), thought("c2ln"), text("gone")])),
        ),
        case(
            Rule::ThinkingNotFirst,
            Api::Messages,
            inside(text("I go"), "adaptive"),
            inside(text("I go"), "enabled"),
        ),
        case(
            Rule::ThinkingLast,
            Api::Messages,
            said(json!([thought("c2ln"), text("gone")])),
            said(json!([thought("c2ln")])),
        ),
    ]
}

fn names() -> Vec<Case> {
    let mut cases = Vec::new();
    let long = "c".repeat(64);
    let [_, accepted, _] = looped(&long, &long);
    let [_, refused, _] = looped(&format!("{long}c"), &format!("{long}c"));
    cases.push(case(Rule::CallId, Api::Responses, accepted, refused));
    let [_, _, accepted] = looped(&"c".repeat(40), &"c".repeat(40));
    let [_, _, refused] = looped(&"c".repeat(41), &"c".repeat(41));
    cases.push(case(Rule::CallId, Api::Chat, accepted, refused));
    let [accepted, _, _] = looped("toolu_-1", "toolu_-1");
    let [refused, _, _] = looped("call_1|fc_1", "call_1|fc_1");
    cases.push(case(Rule::CallId, Api::Messages, accepted, refused));

    let called = |name: &str| {
        let [mut one, mut two, mut three] = looped("c1", "c1");
        one["messages"][1]["content"][0]["name"] = json!(name);
        two["input"][1]["name"] = json!(name);
        three["messages"][1]["tool_calls"][0]["function"]["name"] = json!(name);
        [one, two, three]
    };
    cases.extend(for_all(Rule::ToolName, called("mcp__server__read-file"), called("server.read file")));
    let offered = |name: &str| {
        with(messages(json!([user("go")])), "tools", json!([{ "name": name, "input_schema": {} }]))
    };
    cases.push(case(Rule::ToolName, Api::Messages, offered(&"n".repeat(128)), offered(&"n".repeat(129))));

    let input = |value: Value| {
        let [mut one, mut two, mut three] = looped("c1", "c1");
        two["input"][1]["arguments"] = json!(value.to_string());
        three["messages"][1]["tool_calls"][0]["function"]["arguments"] = json!(value.to_string());
        one["messages"][1]["content"][0]["input"] = value;
        [one, two, three]
    };
    cases.extend(for_all(Rule::InputNotObject, input(json!({ "command": "ls" })), input(json!(["ls"]))));
    cases
}

fn images() -> Vec<Case> {
    let seen = |media_type: &str, data: &str| {
        [
            messages(json!([blocks("user", json!([picture(media_type, data)]))])),
            responses(json!([blocks("user", json!([input_image(media_type, data)]))])),
            chat(json!([blocks("user", json!([image_url(media_type, data)]))])),
        ]
    };
    let mut cases = for_all(Rule::ImageType, seen("image/png", PNG), seen("image/bmp", "Qk0="));
    cases.extend(for_all(Rule::ImageType, seen("image/png", PNG), seen("image/jpeg", PNG)));
    cases.extend(for_all(Rule::ImageData, seen("image/png", PNG), seen("image/png", "iVBOR w0K")));
    cases.extend(for_all(Rule::ImageData, seen("image/png", PNG), seen("image/png", "")));
    let result = |data: &str| {
        let result =
            json!({ "type": "tool_result", "tool_use_id": "c", "content": [picture("image/png", data)] });
        messages(json!([user("go"), assistant(json!([tool_use("c")])), blocks("user", json!([result]))]))
    };
    cases.push(case(Rule::ImageData, Api::Messages, result(PNG), result("?")));
    let shown = |role: &str| chat(json!([user("go"), blocks(role, json!([image_url("image/png", PNG)]))]));
    cases.push(case(Rule::ImageRole, Api::Chat, shown("user"), shown("assistant")));
    cases
}
