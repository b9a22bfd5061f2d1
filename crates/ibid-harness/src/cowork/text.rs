//! The text form of a session: one JSON document with the record, the rows of the conversation
//! and the entries of the audit log.
//!
//! A line of either log that is not exactly one JSON object stands in its list as a string with
//! the line's text, so that it is not lost; no row and no entry is a string.

use ibid_carrier::jsonl::Document;
use ibid_model::{Json, SessionId};
use serde::Deserialize;

use super::body::{Body, SessionBody};
use super::place;
use super::record::Record;
use super::{Cowork, DECLARATION};
use crate::core::{CodecError, TextCodec, Transcript};

impl TextCodec for Cowork {
    fn from_text(text: &[u8]) -> Result<Transcript<Self>, CodecError> {
        read(text)
    }

    fn to_text(transcript: &Transcript<Self>) -> Result<Vec<u8>, CodecError> {
        match &transcript.body {
            Body::Session(body) => write(body),
            Body::Subagent(body) => Ok(body.transcript.bytes().to_vec()),
        }
    }
}

#[derive(Deserialize)]
struct Bundle {
    header: Json,
    #[serde(default)]
    transcript: Vec<Json>,
    #[serde(default)]
    audit: Vec<Json>,
}

/// Reads a bundle.
///
/// # Errors
/// When it is none, or its header is no object.
pub(super) fn read(text: &[u8]) -> Result<Transcript<Cowork>, CodecError> {
    let foreign = |reason: String| CodecError::Foreign { harness: DECLARATION.name, reason };
    let text = text.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(text);
    let bundle: Bundle = serde_json::from_slice(text)
        .map_err(|error| foreign(format!("it is no object with a `header` ({error})")))?;
    let header = bundle.header.compact().as_str().as_bytes().to_vec();
    let record = Record::read(&header).map_err(|reason| foreign(format!("of the header, {reason}")))?;
    let id = SessionId::from(record.id().cloned().unwrap_or_default());
    let audit = (!bundle.audit.is_empty()).then(|| lines(&bundle.audit));
    let body = SessionBody {
        record: Document::from_bytes(header),
        transcript: Some(lines(&bundle.transcript)),
        audit,
        beside: Vec::new(),
        companions: Vec::new(),
        agent: place::is_agent(id.as_str()),
        converted: false,
        findings: Vec::new(),
    };
    Ok(Transcript { id, body: Body::Session(Box::new(body)) })
}

fn lines(values: &[Json]) -> Document {
    let mut text = String::new();
    for value in values {
        match value.as_string() {
            Some(line) => text.push_str(&line),
            None => text.push_str(value.compact().as_str()),
        }
        text.push('\n');
    }
    Document::from_bytes(text)
}

fn write(body: &SessionBody) -> Result<Vec<u8>, CodecError> {
    let mut text = String::from(r#"{"header":"#);
    let header = String::from_utf8_lossy(body.record.bytes());
    text.push_str(header.trim_start_matches('\u{feff}').trim());
    for (name, log) in [("transcript", &body.transcript), ("audit", &body.audit)] {
        let values = log.as_ref().map(values).unwrap_or_default();
        if !values.is_empty() {
            text.push_str(&format!(r#","{name}":[{}]"#, values.join(",")));
        }
    }
    text.push('}');
    let mut pretty = Json::from_text(text)?.pretty().into_bytes();
    pretty.push(b'\n');
    Ok(pretty)
}

fn values(log: &Document) -> Vec<String> {
    let value = |bytes: &[u8]| {
        let line = String::from_utf8_lossy(bytes).into_owned();
        match Json::from_text(line.clone()) {
            Ok(json) if json.is_object() => line,
            _ => Json::string(&line).as_str().to_owned(),
        }
    };
    log.lines().filter(|line| !line.bytes.trim_ascii().is_empty()).map(|line| value(line.bytes)).collect()
}
