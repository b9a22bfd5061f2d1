//! The rules of the strict mode: for each, a request that is accepted and one that is refused.
//!
//! The two requests of a case differ in nothing but what the rule is about.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, reason = "tests")]

mod client;

use client::{post, send};
use ibid_testkit::provider::strict::{self, Rule};
use ibid_testkit::provider::wire::Api;
use ibid_testkit::provider::{Options, Provider};
use serde_json::{Value, json};

/// A rule, the API, what is accepted, what is refused.
struct Case {
    rule: Rule,
    api: Api,
    accepted: Value,
    refused: Value,
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

fn user(text: &str) -> Value {
    json!({ "role": "user", "content": text })
}

fn assistant(content: Value) -> Value {
    json!({ "role": "assistant", "content": content })
}

fn text(text: &str) -> Value {
    json!({ "type": "text", "text": text })
}

fn tool_use(id: &str) -> Value {
    json!({ "type": "tool_use", "id": id, "name": "Bash", "input": {} })
}

fn tool_result(id: &str) -> Value {
    json!({ "type": "tool_result", "tool_use_id": id, "content": "ok" })
}

fn thought(signature: &str) -> Value {
    json!({ "type": "thinking", "thinking": "so", "signature": signature })
}

fn blocks(role: &str, blocks: Value) -> Value {
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

fn messages(list: Value) -> Value {
    body(Api::Messages, list)
}

fn responses(list: Value) -> Value {
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
fn looped(call: &str, result: &str) -> [Value; 3] {
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

fn cases() -> Vec<Case> {
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

fn rules(api: Api, body: &Value) -> Vec<Rule> {
    let refusals = strict::check(api, body.to_string().as_bytes());
    refusals.into_iter().filter_map(|refusal| refusal.rule).collect()
}

#[test]
fn what_keeps_to_a_rule_is_accepted() {
    for case in cases() {
        let broken = rules(case.api, &case.accepted);
        assert!(broken.is_empty(), "{} in {:?}: {broken:?}\n{:#}", case.rule, case.api, case.accepted);
    }
}

#[test]
fn what_breaks_a_rule_is_refused_for_it() {
    for case in cases() {
        let broken = rules(case.api, &case.refused);
        assert!(
            broken.contains(&case.rule),
            "{} in {:?}: {broken:?}\n{:#}",
            case.rule,
            case.api,
            case.refused
        );
    }
}

/// Where one fault breaks two rules, both are right: a call that nobody answers is followed by a wrong speaker.
#[test]
fn what_breaks_one_rule_is_not_refused_for_many() {
    for case in cases() {
        let broken = rules(case.api, &case.refused);
        let others: Vec<_> = broken.iter().filter(|rule| **rule != case.rule).collect();
        let paired = [Rule::CallWithoutResult, Rule::ResultWithoutCall];
        let expected = match case.rule {
            Rule::RolesAlternate | Rule::ResultWithoutCall | Rule::CallWithoutResult => &paired[..],
            Rule::PartType => &[Rule::CallWithoutResult][..],
            _ => &[],
        };
        assert!(
            others.iter().all(|rule| expected.contains(rule)),
            "{}: {others:?}\n{:#}",
            case.rule,
            case.refused
        );
    }
}

#[test]
fn every_rule_has_its_case() {
    // These two are about more than the value of a body, and have tests of their own below.
    let own = [Rule::LoneSurrogate, Rule::OverContext];
    let tried: Vec<_> = cases().iter().map(|case| case.rule).collect();
    for rule in Rule::EVERY {
        assert!(tried.contains(&rule) || own.contains(&rule), "{rule} has no case");
    }
}

#[test]
fn half_a_surrogate_pair_is_refused_and_a_whole_one_is_accepted() {
    for (key, api) in [("messages", Api::Messages), ("input", Api::Responses), ("messages", Api::Chat)] {
        let rules = |text: &str| -> Vec<Rule> {
            let body = format!(r#"{{"{key}":[{{"role":"user","content":"{text}"}}]}}"#);
            strict::check(api, body.as_bytes()).into_iter().filter_map(|refusal| refusal.rule).collect()
        };
        for whole in [r"\ud83d\ude00", r"\\ud83d", "\u{1f600}"] {
            assert_eq!(rules(whole), [], "{whole}");
        }
        for (broken, halves) in
            [(r"\ud83d", 1), (r"\ude00", 1), (r"\ud83d\n\ude00", 2), (r"\ud83d\ud83d\ude00", 1)]
        {
            assert_eq!(rules(broken), vec![Rule::LoneSurrogate; halves], "{broken}");
        }
    }
}

#[test]
fn a_prompt_over_the_context_is_refused_and_one_under_it_is_accepted() {
    let options = Options { strict: true, context_limit: Some(1_000), ..Options::default() };
    let provider = Provider::start(options).unwrap();
    let status = |words: usize| {
        post(&provider, "/v1/messages", &messages(json!([user(&"word ".repeat(words))]))).status
    };
    assert_eq!((status(700), status(900)), (200, 400));
    let refused = provider.requests().pop().unwrap().refused;
    assert_eq!(refused[0].rule, Some(Rule::OverContext));
}

#[test]
fn a_strict_provider_refuses_in_the_form_of_the_api() {
    let provider = Provider::start(Options { strict: true, ..Options::default() }).unwrap();
    let paths = ["/v1/messages", "/v1/responses", "/v1/chat/completions"];
    for (path, broken) in paths.into_iter().zip(looped("c1", "c2")) {
        let reply = post(&provider, path, &broken);
        let error = reply.json();
        assert_eq!((reply.status, &error["error"]["type"]), (400, &json!("invalid_request_error")), "{path}");
        assert!(error["error"]["message"].as_str().unwrap().contains("call_without_result"), "{error}");
        assert_eq!(error["type"] == "error", path == "/v1/messages");
        assert_eq!(provider.requests().pop().unwrap().answer.unwrap().status, 400);
    }
}

#[test]
fn a_provider_that_is_not_strict_notes_what_it_would_refuse() {
    let provider = Provider::start(Options::default()).unwrap();
    let [broken, _, _] = looped("c1", "c2");
    assert_eq!(post(&provider, "/v1/messages", &broken).status, 200);
    let kept = provider.requests().remove(0);
    let found: Vec<_> =
        kept.refused.iter().map(|refusal| (refusal.rule.unwrap(), refusal.at.as_str())).collect();
    let expected = [
        (Rule::ResultWithoutCall, "/messages/2/content/0"),
        (Rule::CallWithoutResult, "/messages/1/content/0"),
    ];
    assert_eq!(found, expected);
}

#[test]
fn a_strict_provider_answers_what_breaks_no_rule() {
    let provider = Provider::start(Options { strict: true, ..Options::default() }).unwrap();
    let paths = ["/v1/messages", "/v1/responses", "/v1/chat/completions"];
    for (path, body) in paths.into_iter().zip(looped("c1", "c1")) {
        assert_eq!(post(&provider, path, &body).status, 200, "{path}");
    }
    assert_eq!(send(&provider, "GET /v1/models", &[], b"").status, 200);
}

#[test]
fn what_programs_send_beside_the_rules_is_let_pass() {
    let lists = [
        // Claude Code 2.1.332: messages of the system between the others, some of them without content.
        messages(
            json!([user("go"), { "role": "system", "content": [], "output_config": {} }, assistant(json!("gone"))]),
        ),
        messages(json!([
            user("go"),
            assistant(json!([tool_use("c")])),
            { "role": "system", "content": "note" },
            blocks("user", json!([tool_result("c"), text("<system-reminder>x</system-reminder>")])),
        ])),
        // A prompt beside a reminder in a message of its own.
        messages(json!([user("go"), user("a reminder")])),
    ];
    for body in lists {
        assert!(rules(Api::Messages, &body).is_empty(), "{body:#}");
    }
    // Codex 0.171.0: messages of one agent to another, tools at the head of the input, calls of text.
    let codex = responses(json!([
        { "type": "additional_tools", "role": "developer", "id": "x", "tools": [] },
        { "type": "agent_message", "id": "amsg_1", "author": "/root", "content": [{ "type": "encrypted_content", "encrypted_content": "x" }] },
        { "type": "custom_tool_call", "id": "ctc_1", "call_id": "c", "name": "exec", "input": "text(1)" },
        { "type": "custom_tool_call_output", "id": "ctco_1", "call_id": "c", "output": "1" },
    ]));
    assert!(rules(Api::Responses, &codex).is_empty());
}
