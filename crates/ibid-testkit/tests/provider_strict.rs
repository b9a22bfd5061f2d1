//! The rules of the strict mode: for each, a request that is accepted and one that is refused.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, reason = "tests")]

mod cases;
mod client;

use cases::{assistant, blocks, cases, looped, messages, responses, text, tool_result, tool_use, user};
use client::{post, send};
use ibid_testkit::provider::strict::{self, Rule};
use ibid_testkit::provider::wire::Api;
use ibid_testkit::provider::{Options, Provider};
use serde_json::{Value, json};

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
