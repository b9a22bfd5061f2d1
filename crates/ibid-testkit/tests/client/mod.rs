//! The least of an HTTP client: one request a connection.

#![allow(dead_code, clippy::unwrap_used, clippy::indexing_slicing, reason = "a part of several tests")]

use std::io::{Read, Write};
use std::net::TcpStream;

use ibid_testkit::provider::Provider;
use serde_json::Value;

pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) body: Vec<u8>,
}

impl Reply {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap()
    }

    /// The data of every event, in order; `[DONE]` as a string.
    pub(crate) fn events(&self) -> Vec<Value> {
        let text = std::str::from_utf8(&self.body).unwrap();
        let data = text.lines().filter_map(|line| line.strip_prefix("data: "));
        data.map(|data| serde_json::from_str(data).unwrap_or_else(|_| data.into())).collect()
    }
}

/// Sends a request with these header lines and this body.
pub(crate) fn send(provider: &Provider, line: &str, headers: &[&str], body: &[u8]) -> Reply {
    let mut stream = TcpStream::connect(("127.0.0.1", provider.port())).unwrap();
    let mut head = format!("{line} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n");
    for header in headers {
        head.push_str(&format!("{header}\r\n"));
    }
    head.push_str(&format!("content-length: {}\r\n\r\n", body.len()));
    stream.write_all(head.as_bytes()).unwrap();
    // A provider that refuses a body may answer before it was sent whole.
    let _ = stream.write_all(body);
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes).unwrap();
    let end = bytes.windows(4).position(|four| four == b"\r\n\r\n").unwrap();
    let head = String::from_utf8(bytes[..end].to_vec()).unwrap().to_lowercase();
    let body = bytes[end + 4..].to_vec();
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    let chunked = head.contains("transfer-encoding: chunked");
    Reply { status, body: if chunked { dechunked(&body) } else { body } }
}

pub(crate) fn get(provider: &Provider, path: &str) -> Reply {
    send(provider, &format!("GET {path}"), &[], b"")
}

pub(crate) fn post(provider: &Provider, path: &str, body: &Value) -> Reply {
    let body = body.to_string();
    send(provider, &format!("POST {path}"), &["content-type: application/json"], body.as_bytes())
}

fn dechunked(mut rest: &[u8]) -> Vec<u8> {
    let mut body = Vec::new();
    while let Some(end) = rest.windows(2).position(|two| two == b"\r\n") {
        let size = usize::from_str_radix(std::str::from_utf8(&rest[..end]).unwrap(), 16).unwrap();
        if size == 0 {
            break;
        }
        body.extend_from_slice(&rest[end + 2..end + 2 + size]);
        rest = &rest[end + 4 + size..];
    }
    body
}
