//! Prints how fast the pass is, in MB/s of one thread: over code-like text and over runs that invite trouble.
//!
//! `cargo run --release -p ibid-redact --example throughput [FILE...]` also measures the files named.

use std::time::Instant;

use ibid_redact::Redactor;

fn main() -> std::io::Result<()> {
    let redactor = Redactor::new();
    let code = include_str!("../src/assignment.rs")
        .repeat(1 + (1 << 20) / include_str!("../src/assignment.rs").len());
    report("1 MiB of code", &code, |text| redactor.redact(text).counts.total());
    let rows = include_str!("../src/scan.rs").lines().collect::<Vec<_>>().join("\\n").replace('"', "\\\"");
    let json = format!("{{\"type\":\"assistant\",\"message\":{{\"text\":\"{rows}\"}}}}\n").repeat(200);
    report("JSONL, as text", &json, |text| redactor.redact(text).counts.total());
    report("JSONL, as JSON", &json, |text| redactor.redact_json(text).counts.total());
    for piece in [
        "a",
        "-",
        "\\",
        "\"",
        "é",
        "=",
        "sk-",
        "SG.",
        "eyJ",
        "token",
        "token=",
        "password='",
        "Cookie:",
        "a://b:",
        "-----BEGIN PRIVATE KEY-----",
        "Authorization:",
        "x_token=y;",
    ] {
        let text = piece.repeat(10_000_000 / piece.len());
        report(&format!("10 MB of {piece}"), &text, |text| redactor.redact(text).counts.total());
    }
    for path in std::env::args().skip(1) {
        let text = String::from_utf8_lossy(&std::fs::read(&path)?).into_owned();
        report(&path, &text, |text| redactor.redact(text).counts.total());
        report(&format!("{path}, as JSON"), &text, |text| redactor.redact_json(text).counts.total());
    }
    Ok(())
}

fn report(what: &str, text: &str, pass: impl Fn(&str) -> u64) {
    let started = Instant::now();
    let replaced = pass(text);
    let seconds = started.elapsed().as_secs_f64();
    let megabytes = text.len() as f64 / 1e6;
    println!("{:8.1} MB/s {:9.2} ms {replaced:7} replaced  {what}", megabytes / seconds, seconds * 1e3);
}
