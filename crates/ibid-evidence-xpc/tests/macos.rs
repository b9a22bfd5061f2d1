//! The client inside of a staged app, the service that launchd starts for it, and its host. The
//! variable `HARNESS_EVIDENCE_CLIENT` names the client; without it there is no service to reach.

#![cfg(target_os = "macos")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on must fail")]
#![allow(clippy::indexing_slicing, reason = "JSON in tests is looked at by keys that must be there")]

use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};

use serde_json::Value;

#[test]
fn a_client_reaches_a_host_through_the_service() {
    let Some(client) = std::env::var_os("HARNESS_EVIDENCE_CLIENT") else {
        eprintln!("skipped: HARNESS_EVIDENCE_CLIENT names no staged client");
        return;
    };
    let mut client = Command::new(client).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut requests = client.stdin.take().unwrap();
    let mut answers = BufReader::new(client.stdout.take().unwrap()).lines();
    let mut answer = || serde_json::from_str::<Value>(&answers.next().unwrap().unwrap()).unwrap();

    let event = answer()["event"].clone();
    assert_eq!((event["type"].as_str(), event["transport"].as_str()), (Some("transport"), Some("nsxpc")));
    assert_eq!(event["bridgePid"], client.id());
    assert_ne!(event["servicePid"], client.id());

    writeln!(requests, r#"{{"version":1,"id":1,"method":"host.describe"}}"#).unwrap();
    let described = answer();
    assert_eq!(described["result"]["protocol"], "evidence-rust-1.0.0+jsonl-v1");
    assert_ne!(described["result"]["pid"], event["servicePid"]);
    assert_ne!(described["result"]["pid"], event["bridgePid"]);

    drop(requests);
    assert_eq!(client.wait().unwrap().code(), Some(0));
}

#[test]
fn a_client_outside_of_an_app_finds_no_service_and_says_so() {
    let mut client = Command::new(assert_cmd::cargo::cargo_bin!("harness-evidence-client"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let requests = client.stdin.take().unwrap();
    let output = client.wait_with_output().unwrap();
    drop(requests);
    assert_eq!(output.status.code(), Some(1));
    assert!(output.stdout.is_empty());
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.starts_with("[evidence-host] ") && said.lines().count() == 1, "{said}");
}
