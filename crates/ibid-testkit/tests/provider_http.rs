//! The provider as a server: what it answers, what it keeps, and what it withstands.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]

mod client;

use std::io::Write;

use client::{get, post, send};
use ibid_testkit::provider::strict::Rule;
use ibid_testkit::provider::{Options, Provider, log};
use serde_json::{Value, json};

const TURNS: [&str; 3] = ["/v1/messages", "/v1/responses", "/v1/chat/completions"];

fn started() -> Provider {
    Provider::start(Options::default()).unwrap()
}

fn hello(path: &str) -> Value {
    match path {
        "/v1/responses" => json!({ "model": "m", "input": "hello" }),
        _ => json!({ "model": "m", "max_tokens": 9, "messages": [{ "role": "user", "content": "hello" }] }),
    }
}

#[test]
fn each_api_is_answered_in_its_own_form() {
    let provider = started();
    let answer = |path| post(&provider, path, &hello(path)).json();
    assert_eq!(answer("/v1/messages").pointer("/content/0/text").unwrap(), "MOCK-TEXT t1s0: <<hello>>");
    assert_eq!(
        answer("/v1/responses").pointer("/output/0/content/0/text").unwrap(),
        "MOCK-TEXT t1s0: <<hello>>"
    );
    let chat = answer("/v1/chat/completions");
    assert_eq!(chat.pointer("/choices/0/message/content").unwrap(), "MOCK-TEXT t1s0: <<hello>>");
}

#[test]
fn the_same_request_is_always_answered_the_same() {
    for path in TURNS {
        let (one, other) = (started(), started());
        assert_eq!(post(&one, path, &hello(path)).body, post(&other, path, &hello(path)).body);
    }
}

#[test]
fn every_request_is_kept_with_its_answer_in_memory_and_in_the_log() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log.jsonl");
    let provider = Provider::start(Options { log: Some(path.clone()), ..Options::default() }).unwrap();
    post(&provider, "/v1/messages?beta=true", &hello("/v1/messages"));
    get(&provider, "/nowhere");
    let kept = provider.requests();
    assert_eq!(kept, log::read(&path).unwrap());
    assert_eq!(kept[0].path, "/v1/messages?beta=true");
    assert_eq!(kept[0].body, Some(hello("/v1/messages")));
    assert_eq!(kept[0].header("content-type"), Some("application/json"));
    assert_eq!(kept[0].answer.as_ref().unwrap().body["role"], "assistant");
    assert_eq!(kept[1].answer.as_ref().unwrap().status, 404);
}

#[test]
fn a_key_is_never_kept() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log.jsonl");
    let provider = Provider::start(Options { log: Some(path.clone()), ..Options::default() }).unwrap();
    let headers = ["Authorization: Bearer secret-1", "X-Api-Key: secret-2", "Cookie: secret-3"];
    send(&provider, "GET /v1/models", &headers, b"");
    assert_eq!(provider.requests()[0].header("authorization"), Some("(left out)"));
    assert!(!std::fs::read_to_string(&path).unwrap().contains("secret"));
}

#[test]
fn models_are_listed_in_the_form_of_the_asking_api() {
    let provider = started();
    let openai = get(&provider, "/v1/models").json();
    assert_eq!((&openai["object"], &openai["data"][0]["id"]), (&json!("list"), &json!("mock-model")));
    let anthropic = send(&provider, "GET /v1/models", &["anthropic-version: 2023-06-01"], b"").json();
    assert_eq!(anthropic["data"][0]["type"], "model");
    assert_eq!(get(&provider, "/v1/models/gpt-5").json()["id"], "gpt-5");
    assert_eq!(get(&provider, "/v1/models/unheard-of").status, 404);
}

#[test]
fn tokens_are_counted_by_what_the_request_holds() {
    let provider = started();
    let count = |words: usize| {
        let text = "word ".repeat(words);
        let body = json!({ "messages": [{ "role": "user", "content": text }] });
        post(&provider, "/v1/messages/count_tokens", &body).json()["input_tokens"].as_u64().unwrap()
    };
    assert_eq!(count(400) - count(0), 500);
    let turn = post(&provider, "/v1/messages", &hello("/v1/messages")).json();
    assert_eq!(turn["usage"]["input_tokens"], 6);
}

#[test]
fn a_websocket_is_declined_so_that_the_program_falls_back() {
    let provider = started();
    let headers = ["connection: upgrade", "upgrade: websocket"];
    assert_eq!(send(&provider, "GET /v1/responses", &headers, b"").status, 426);
}

#[test]
fn the_root_answers_to_head() {
    assert_eq!(send(&started(), "HEAD /", &[], b"").status, 200);
}

#[test]
fn an_unknown_place_is_an_error_in_the_form_of_the_asking_api() {
    let provider = started();
    let openai = get(&provider, "/v1/nowhere");
    assert_eq!((openai.status, &openai.json()["error"]["type"]), (404, &json!("invalid_request_error")));
    let anthropic = send(&provider, "GET /v1/nowhere", &["anthropic-version: 2023-06-01"], b"");
    assert_eq!((anthropic.status, &anthropic.json()["error"]["type"]), (404, &json!("not_found_error")));
    assert_eq!(get(&provider, "/v1/messages").status, 405);
}

#[test]
fn packed_bodies_are_unpacked() {
    let provider = started();
    let body = hello("/v1/messages").to_string();
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(body.as_bytes()).unwrap();
    let packed = [("gzip", gzip.finish().unwrap()), ("zstd", zstd::encode_all(body.as_bytes(), 1).unwrap())];
    for (name, bytes) in packed {
        let header = format!("content-encoding: {name}");
        assert_eq!(send(&provider, "POST /v1/messages", &[&header], &bytes).status, 200, "{name}");
        assert_eq!(provider.requests().last().unwrap().body, Some(hello("/v1/messages")), "{name}");
    }
    assert_eq!(send(&provider, "POST /v1/messages", &["content-encoding: br"], b"x").status, 415);
    assert_eq!(send(&provider, "POST /v1/messages", &["content-encoding: gzip"], b"no gzip").status, 400);
    assert_eq!(send(&provider, "POST /v1/messages", &["content-encoding: zstd"], b"no zstd").status, 400);
}

#[test]
fn a_body_over_the_limit_is_refused_packed_or_not() {
    let provider = Provider::start(Options { body_limit: 1000, ..Options::default() }).unwrap();
    let long = vec![b' '; 5000];
    let packed = zstd::encode_all(long.as_slice(), 1).unwrap();
    assert!(packed.len() < 1000);
    assert_eq!(send(&provider, "POST /v1/messages", &[], &long).status, 413);
    assert_eq!(send(&provider, "POST /v1/messages", &["content-encoding: zstd"], &packed).status, 413);
    assert_eq!(provider.requests().len(), 2);
}

#[test]
fn hostile_bodies_get_an_error_and_the_next_request_an_answer() {
    let provider = started();
    let deep = "[".repeat(100_000);
    let bodies: [&[u8]; 9] = [
        b"",
        b"{",
        b"null",
        b"[]",
        b"\xff\xfe",
        b"\"\\ud800\"",
        deep.as_bytes(),
        b"{\"messages\": 1e999}",
        b"12",
    ];
    for path in TURNS {
        for body in bodies {
            let reply = send(&provider, &format!("POST {path}"), &[], body);
            assert_eq!(reply.status, 400, "{path} {}", String::from_utf8_lossy(&body[..body.len().min(40)]));
            assert!(reply.json()["error"]["message"].is_string());
        }
        assert_eq!(post(&provider, path, &hello(path)).status, 200);
    }
}

#[test]
fn bodies_of_odd_shape_are_answered() {
    let provider = started();
    let odd = [
        json!(null),
        json!(1),
        json!("x"),
        json!([null, 1, "x", [], {}]),
        json!({ "role": 1, "content": [{}] }),
    ];
    for path in TURNS {
        for value in &odd {
            for key in ["messages", "input", "tools", "system", "tool_choice", "thinking", "include", "model"]
            {
                for list in [value.clone(), json!([value])] {
                    let mut body = hello(path);
                    body[key] = list;
                    let reply = post(&provider, path, &body);
                    assert_eq!(reply.status, 200, "{path} {body}");
                }
            }
        }
    }
}

#[test]
fn half_a_surrogate_pair_is_noted_and_the_bytes_are_kept() {
    let provider = started();
    let body = br#"{"messages":[{"role":"user","content":"cut \ud83d here, whole \ud83d\ude00, \\ud83d no escape"}]}"#;
    assert_eq!(send(&provider, "POST /v1/messages", &[], body).status, 200);
    let kept = provider.requests().remove(0);
    let rules: Vec<_> = kept.refused.iter().filter_map(|refusal| refusal.rule).collect();
    assert_eq!(rules, [Rule::LoneSurrogate]);
    assert_eq!(kept.raw.as_deref(), Some(body.as_slice()));
    let text = kept.body.unwrap()["messages"][0]["content"].as_str().unwrap().to_owned();
    assert_eq!(text, "cut \u{fffd} here, whole \u{1f600}, \\ud83d no escape");
}

#[test]
fn a_port_that_is_taken_is_an_error() {
    let provider = started();
    assert!(Provider::start(Options { port: provider.port(), ..Options::default() }).is_err());
}

#[test]
fn a_dropped_provider_answers_no_more_and_frees_its_port() {
    let provider = started();
    let port = provider.port();
    let idle = std::net::TcpStream::connect(("127.0.0.1", port)).unwrap();
    drop(provider);
    assert!(std::net::TcpStream::connect(("127.0.0.1", port)).is_err());
    drop(idle);
}
