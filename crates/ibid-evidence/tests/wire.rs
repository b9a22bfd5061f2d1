//! The driver over two streams, on an [`ibid_evidence::Evidence`] that is scripted.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on must fail")]
#![allow(clippy::indexing_slicing, reason = "JSON in tests is looked at by keys that must be there")]

mod scripted;

use std::io::{self, Read, Write};

use ibid_evidence::wire::{DEPTH_LIMIT, Ended, Fault, REQUEST_LIMIT, RESPONSE_LIMIT, serve};
use scripted::{SECRET, Scripted};
use serde_json::{Value, json};

/// What comes back, and how it ends.
fn exchange(input: &[u8]) -> (Vec<Value>, Result<Ended, Fault>) {
    let mut output = Vec::new();
    let ended = serve(&Scripted, input, &mut output);
    let text = String::from_utf8(output).unwrap();
    assert!(text.is_empty() || text.ends_with('\n'), "every answer is a whole line");
    (text.lines().map(|line| serde_json::from_str(line).unwrap()).collect(), ended)
}

/// The answers to requests after which the driver ends in peace.
fn answers(input: &str) -> Vec<Value> {
    let (answers, ended) = exchange(input.as_bytes());
    assert_eq!(ended.unwrap(), Ended::InputOver);
    answers
}

/// The fault that a line is, before which nothing has been answered.
fn fault(line: impl AsRef<[u8]>) -> String {
    let (answers, ended) = exchange(&[line.as_ref(), b"\n"].concat());
    assert_eq!(answers, Vec::<Value>::new());
    ended.unwrap_err().to_string()
}

fn discover(workspace: &str) -> String {
    format!(r#"{{"version":1,"id":7,"method":"sessions.discover","params":{{"workspace":"{workspace}"}}}}"#)
}

#[test]
fn the_description_names_the_protocol_and_what_can_be_asked() {
    let mut output = Vec::new();
    serve(
        &Scripted,
        &b"{\"version\":1,\"id\":1,\"method\":\"host.describe\",\"params\":{}}\n"[..],
        &mut output,
    )
    .unwrap();
    let pid = std::process::id();
    assert_eq!(
        String::from_utf8(output).unwrap(),
        format!(
            "{{\"version\":1,\"id\":1,\"result\":{{\"protocol\":\"evidence-rust-1.0.0+jsonl-v1\",\"pid\":{pid},\
             \"platforms\":[\"first\",\"second\"],\"capabilities\":[\"sessions.discover\",\"artifacts.observe\"]}}}}\n"
        ),
    );
}

#[test]
fn requests_are_answered_one_after_the_other_in_their_order() {
    let ids = [3_u32, 1, 2, 4_294_967_295];
    let slow_first = ids.map(|id| {
        let workspace = if id == 3 { "slow" } else { "quick" };
        json!({"version": 1, "id": id, "method": "sessions.discover", "params": {"workspace": workspace}})
            .to_string()
    });
    let answered: Vec<u64> =
        answers(&slow_first.join("\n")).iter().map(|answer| answer["id"].as_u64().unwrap()).collect();
    assert_eq!(answered, ids.map(u64::from));
}

#[test]
fn blank_lines_and_carriage_returns_mean_nothing() {
    let request = r#"{"version":1,"id":1,"method":"host.describe"}"#;
    assert_eq!(answers(&format!("\n\r\n \t \n{request}\r\n\n")).len(), 1);
}

#[test]
fn a_last_line_without_its_end_is_answered() {
    assert_eq!(answers(r#"{"version":1,"id":1,"method":"host.describe"}"#).len(), 1);
    assert_eq!(answers("").len(), 0);
}

#[test]
fn params_may_be_absent_or_null_or_have_keys_that_nobody_knows() {
    for params in ["", r#","params":null"#, r#","params":{"unheard":[1]}"#] {
        let found = answers(&format!(r#"{{"version":1,"id":1,"method":"host.describe"{params}}}"#));
        assert!(found[0]["result"].is_object(), "{params}");
    }
    let unknown =
        r#"{"version":1,"id":1,"method":"sessions.discover","params":{"workspace":"w","later":true}}"#;
    assert_eq!(answers(unknown)[0]["result"]["sessions"][0]["sessionId"], "w");
}

#[test]
fn what_is_no_envelope_is_a_fault() {
    for (line, said) in [
        ("nonsense", "not a JSON object"),
        ("[1,1,\"host.describe\",{}]", "not a JSON object"),
        ("{\"version\":1,", "EOF"),
        (r#"{"version":1,"id":1,"method":"host.describe"}{}"#, "trailing"),
        (r#"{"version":1,"id":1,"method":"host.describe","extra":0}"#, "unknown field `extra`"),
        (r#"{"version":1,"id":1,"method":"host.describe","id":1}"#, "duplicate field `id`"),
        (r#"{"version":1,"id":1,"method":"host.describe","\u0069d":1}"#, "duplicate field `id`"),
        (r#"{"version":1,"id":1,"method":"a","params":{},"params":{}}"#, "duplicate field `params`"),
        (r#"{"version":1,"id":0,"method":"host.describe"}"#, "nonzero"),
        (r#"{"version":1,"id":-1,"method":"host.describe"}"#, "nonzero"),
        (r#"{"version":1,"id":1.0,"method":"host.describe"}"#, "nonzero"),
        (r#"{"version":1,"id":4294967296,"method":"host.describe"}"#, "nonzero"),
        (r#"{"version":1,"id":"1","method":"host.describe"}"#, "nonzero"),
        (r#"{"version":1,"method":"host.describe"}"#, "missing field `id`"),
        (r#"{"id":1,"method":"host.describe"}"#, "missing field `version`"),
        (r#"{"version":"1","id":1,"method":"host.describe"}"#, "expected u64"),
        (r#"{"version":1,"id":1}"#, "missing field `method`"),
        (r#"{"version":1,"id":1,"method":7}"#, "expected a string"),
        (r#"{"version":1,"id":1,"method":"host.describe","params":[]}"#, "not an object"),
        (r#"{"version":1,"id":1,"method":"host.describe","params":"{}"}"#, "not an object"),
    ] {
        let fault = fault(line);
        assert!(fault.starts_with("malformed request frame: "), "{fault}");
        assert!(fault.contains(said), "{line}: {fault}");
    }
    assert!(fault(b"{\"version\":1,\"id\":1,\"method\":\"\xff\"}").contains("no UTF-8 from byte 30 on"));
}

#[test]
fn a_version_that_is_not_spoken_is_a_fault() {
    for version in [0_u64, 2, u64::MAX] {
        let line = format!(r#"{{"version":{version},"id":1,"method":"host.describe"}}"#);
        assert_eq!(
            fault(line),
            format!("request frame version {version} is not supported; this host speaks version 1")
        );
    }
}

#[test]
fn a_fault_says_little_of_the_frame_and_that_on_one_line() {
    let key = "\\n\\u001b[31m".repeat(100_000);
    let fault = fault(format!(r#"{{"version":1,"id":1,"method":"m","{key}":0}}"#));
    assert!(fault.len() < 2000, "{}", fault.len());
    assert!(fault.chars().all(|c| c == ' ' || c.is_ascii_graphic()), "{fault}");
}

#[test]
fn what_was_asked_before_a_fault_is_answered() {
    let (answers, ended) = exchange(b"{\"version\":1,\"id\":1,\"method\":\"host.describe\"}\n{}\n");
    assert_eq!(answers.len(), 1);
    assert!(matches!(ended, Err(Fault::Malformed(_))));
}

#[test]
fn a_frame_may_be_nested_to_a_limit_and_no_deeper() {
    let nested = |depth: usize| {
        let params = format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        format!(r#"{{"version":1,"id":1,"method":"host.describe","params":{{"a":{params}}}}}"#)
    };
    assert_eq!(answers(&nested(DEPTH_LIMIT - 2)).len(), 1);
    assert!(fault(nested(DEPTH_LIMIT - 1)).contains("deep"));
    // A million would be fatal to whatever reads it by calling itself.
    assert!(fault(nested(1_000_000)).contains("deep"));
}

/// A request of exactly that many bytes, its line feed included.
fn request_of(bytes: usize) -> Vec<u8> {
    let around = r#"{"version":1,"id":1,"method":"host.describe","params":{"a":""}}"#.len() + 1;
    let padding = "a".repeat(bytes - around);
    let line = format!(
        "{{\"version\":1,\"id\":1,\"method\":\"host.describe\",\"params\":{{\"a\":\"{padding}\"}}}}\n"
    );
    assert_eq!(line.len(), bytes);
    line.into_bytes()
}

// evidence defect 13: the original's client allowed 4 MiB without the line feed, its host with it.
#[test]
fn a_request_may_have_four_mebibytes_with_its_line_feed_and_no_byte_more() {
    let (answers, ended) = exchange(&request_of(REQUEST_LIMIT));
    assert_eq!((answers.len(), ended.unwrap()), (1, Ended::InputOver));
    let (answers, ended) = exchange(&request_of(REQUEST_LIMIT + 1));
    assert_eq!(answers.len(), 0);
    assert_eq!(ended.unwrap_err().to_string(), "request frame exceeded its size limit of 4194304 bytes");
}

/// Gives `a`s for ever, and counts them.
struct Endless<'a>(&'a mut usize);

impl Read for Endless<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        buffer.fill(b'a');
        *self.0 += buffer.len();
        Ok(buffer.len())
    }
}

#[test]
fn a_line_without_end_is_given_up_at_the_limit() {
    let mut read = 0;
    let ended = serve(&Scripted, io::BufReader::with_capacity(4096, Endless(&mut read)), io::sink());
    assert!(matches!(ended, Err(Fault::TooLong)));
    assert!(read <= REQUEST_LIMIT + 4096, "{read}");
}

// evidence defect 11: the original accepted both flags, and passed on neither.
#[test]
fn what_a_question_leaves_out_reaches_whoever_answers_it() {
    for (flags, trace, dialogue) in [
        ("", true, true),
        (r#","includeToolTrace":true,"includeDialogue":null"#, true, true),
        (r#","includeToolTrace":false"#, false, true),
        (r#","includeDialogue":false"#, true, false),
    ] {
        let request = format!(
            r#"{{"version":1,"id":1,"method":"sessions.discover","params":{{"workspace":"w"{flags}}}}}"#
        );
        let session = &answers(&request)[0]["result"]["sessions"][0];
        assert_eq!(session.get("toolActivity").is_some(), trace, "{flags}");
        assert_eq!(session.get("dialogue").is_some(), dialogue, "{flags}");
    }
}

// evidence defect 4: in the original, params that cannot be read ended the process without a reply.
#[test]
fn params_that_cannot_be_read_are_a_call_error_and_the_host_goes_on() {
    for (params, said) in [
        ("{}", "missing field `workspace`"),
        (r#"{"workspace":7}"#, "invalid type"),
        (r#"{"workspace":"w","maxSessions":-1}"#, "expected u32"),
        (r#"{"workspace":"w","includeDialogue":"yes"}"#, "expected a boolean"),
        (r#"{"workspace":"w","fromMs":1.5}"#, "expected i64"),
        (r#"{"workspace":"w","workspace":"v"}"#, "duplicate field `workspace`"),
    ] {
        let call =
            |params| format!(r#"{{"version":1,"id":9,"method":"sessions.discover","params":{params}}}"#);
        let found = answers(&[call(params), discover("w")].join("\n"));
        assert_eq!(found[0]["error"]["code"], "invalid-params", "{params}");
        let message = found[0]["error"]["message"].as_str().unwrap();
        assert!(message.starts_with("the params of sessions.discover cannot be read: "), "{message}");
        assert!(message.contains(said) && !message.contains("column"), "{message}");
        assert!(found[0].get("result").is_none());
        assert!(found[1]["result"].is_object());
    }
    let absent = r#"{"version":1,"id":9,"method":"artifacts.observe"}"#;
    assert_eq!(answers(absent)[0]["error"]["code"], "invalid-params");
    assert_eq!(answers(&discover("refuse"))[0]["error"]["message"], "the workspace is blank");
}

// evidence defect 4: in the original, an answer that was too long ended the process without a reply.
#[test]
fn an_answer_that_would_be_too_long_is_a_call_error_and_the_host_goes_on() {
    let found = answers(&[discover("huge"), discover("small")].join("\n"));
    assert_eq!(found[0]["error"]["code"], "response-limit");
    assert!(found[0]["error"]["message"].as_str().unwrap().contains(&RESPONSE_LIMIT.to_string()));
    assert_eq!(found[1]["result"]["sessions"][0]["sessionId"], "small");
}

// evidence defect 4: in the original, a panic in an adapter ended the process.
#[test]
fn a_panic_is_a_call_error_that_says_nothing_of_it_and_the_host_goes_on() {
    let observe = r#"{"version":1,"id":8,"method":"artifacts.observe","params":{"workspace":"panic"}}"#;
    let found = answers(&[discover("panic").as_str(), observe, discover("w").as_str()].join("\n"));
    for failed in &found[..2] {
        assert_eq!(failed["error"]["code"], "internal");
        assert!(!failed.to_string().contains(SECRET.lines().next().unwrap()), "{failed}");
    }
    assert!(found[2]["result"].is_object());
}

#[test]
fn a_method_that_nobody_knows_is_a_call_error() {
    let found = answers(r#"{"version":1,"id":3,"method":"nope","params":{}}"#);
    assert_eq!(
        found[0],
        json!({"version": 1, "id": 3, "error": {"code": "unknown-method", "message": "unknown method nope"}})
    );
}

// The original looked for `"method":"shutdown"` in the line.
#[test]
fn shutdown_ends_the_host_however_it_is_spelled() {
    for spelling in [r#""method":"shutdown""#, r#""method" : "shutdown""#, r#""method":"\u0073hutdown""#] {
        let input = format!("{{\"version\":1,\"id\":2,{spelling}}}\n{{}}\n");
        let (answers, ended) = exchange(input.as_bytes());
        assert_eq!(ended.unwrap(), Ended::Shutdown, "{spelling}");
        assert_eq!(answers, [json!({"version": 1, "id": 2, "result": {"status": "shutting-down"}})]);
    }
    let named = r#"{"version":1,"id":2,"method":"host.describe","params":{"method":"shutdown"}}"#;
    assert_eq!(answers(&[named, named].join("\n")).len(), 2);
}

/// Fails every write.
struct Closed(io::ErrorKind);

impl Write for Closed {
    fn write(&mut self, _: &[u8]) -> io::Result<usize> {
        Err(self.0.into())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_reader_that_went_away_ends_the_host_in_peace() {
    let input = discover("w");
    let ended = serve(&Scripted, input.as_bytes(), Closed(io::ErrorKind::BrokenPipe));
    assert_eq!(ended.unwrap(), Ended::ReaderGone);
    let ended = serve(&Scripted, input.as_bytes(), Closed(io::ErrorKind::StorageFull));
    assert!(matches!(ended, Err(Fault::Output(_))));
}

// evidence defect 2: the original left `filePaths` out where it is empty, and asked for it on input.
#[test]
fn a_summary_with_a_call_that_names_no_file_is_taken_back() {
    let call =
        json!({"id": "c", "family": "execute", "actionLabel": "sh", "toolName": "sh", "status": "completed"});
    let summary = json!({"sessionId": "s", "platform": "first", "toolActivity": {"calls": [call]}});
    let params = json!({"workspace": "w", "sessions": [summary]});
    let request = json!({"version": 1, "id": 1, "method": "artifacts.observe", "params": params});
    assert_eq!(answers(&request.to_string())[0]["result"]["observations"][0]["sessionId"], "first:s");
}
