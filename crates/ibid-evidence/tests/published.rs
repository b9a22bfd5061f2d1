//! What is published about the protocol is what the types say.

#![allow(clippy::unwrap_used, reason = "a test states what it expects")]

use std::path::PathBuf;

use ibid_evidence::wire::{request_schema, response_schema};

fn published(path: &str, made: &str) {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..").join(path);
    if std::env::var_os("IBID_BLESS").is_some() {
        std::fs::write(&path, made).unwrap();
    }
    let published = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(published == made, "{} is stale; run this test with IBID_BLESS=1", path.display());
}

#[test]
fn the_published_schema_of_requests_is_the_one_of_the_types() {
    published("docs/schema/evidence-request-1.json", &request_schema().unwrap());
}

#[test]
fn the_published_schema_of_responses_is_the_one_of_the_types() {
    published("docs/schema/evidence-response-1.json", &response_schema().unwrap());
}
