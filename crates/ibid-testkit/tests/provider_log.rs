//! The log of requests, written and read back.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]

use ibid_testkit::provider::strict::{Refusal, Rule};
use ibid_testkit::provider::wire::Said;
use ibid_testkit::provider::{Answer, Exchange, log};
use serde_json::json;

fn exchange(number: u64) -> Exchange {
    Exchange {
        number,
        time: "2026-11-30T12:00:00Z".parse().unwrap(),
        method: "POST".into(),
        path: "/v1/messages".into(),
        headers: vec![("content-type".into(), "application/json".into())],
        body: Some(json!({ "messages": [{ "role": "user", "content": "hello" }] })),
        raw: None,
        refused: vec![Refusal { rule: Some(Rule::EmptyText), at: "/messages/0".into(), why: "blank".into() }],
        answer: Some(Answer { status: 400, streamed: false, body: json!({ "type": "error" }) }),
    }
}

#[test]
fn what_was_written_reads_back_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("deep/log.jsonl");
    let broken = Exchange { body: None, raw: Some(b"{\"a\": \"\\ud83d\xff".to_vec()), ..exchange(2) };
    let mut log = log::Log::append_to(&path).unwrap();
    log.write(&exchange(1)).unwrap();
    log.write(&broken).unwrap();
    assert_eq!(log::read(&path).unwrap(), [exchange(1), broken]);
}

#[test]
fn a_second_provider_appends_to_the_log_of_the_first() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log.jsonl");
    for number in [1, 2] {
        log::Log::append_to(&path).unwrap().write(&exchange(number)).unwrap();
    }
    assert_eq!(log::read(&path).unwrap().len(), 2);
}

#[test]
fn the_log_of_the_python_provider_is_read_with_its_findings() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("mock.jsonl");
    let lines = r#"{"seq": 1, "t": 1764518400.25, "method": "HEAD", "path": "/", "headers": {"Host": "h"}}
{"seq": 2, "t": 1764518401.5, "method": "POST", "path": "/v1/chat/completions", "headers": {}, "body": {"messages": [{"role": "user", "content": "hi"}]}}
{"seq": 2, "lint": ["messages.0: odd", "messages.1: odder"]}
"#;
    std::fs::write(&path, lines).unwrap();
    let read = log::read(&path).unwrap();
    assert_eq!(read.len(), 2);
    assert_eq!(read[0].header("host"), Some("h"));
    assert_eq!(read[0].time.to_string(), "2025-11-30T16:00:00.25Z");
    assert_eq!(read[1].said()[0].said, Said::User("hi".into()));
    let whys: Vec<_> = read[1].refused.iter().map(|refusal| (refusal.rule, refusal.why.as_str())).collect();
    assert_eq!(whys, [(None, "messages.0: odd"), (None, "messages.1: odder")]);
}

#[test]
fn a_last_line_that_is_still_being_written_is_left_out() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log.jsonl");
    let whole = serde_json::to_string(&exchange(1)).unwrap();
    std::fs::write(&path, format!("{whole}\n{{\"number\": 2, \"ti")).unwrap();
    assert_eq!(log::read(&path).unwrap(), [exchange(1)]);
}

#[test]
fn a_line_of_another_form_is_an_error_that_names_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log.jsonl");
    std::fs::write(&path, "{\"seq\": 1}\n").unwrap();
    assert!(log::read(&path).unwrap_err().to_string().contains("line 1"));
}

#[test]
fn a_rule_that_this_version_does_not_know_is_read_as_a_finding_without_a_name() {
    let text = r#"{"rule": "of_next_year", "at": "/x", "why": "because"}"#;
    let refusal: Refusal = serde_json::from_str(text).unwrap();
    assert_eq!(refusal, Refusal { rule: None, at: "/x".into(), why: "because".into() });
}
