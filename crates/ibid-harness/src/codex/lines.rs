//! The lines of a rollout that is written.

use ibid_carrier::jsonl::{Builder, Document};
use ibid_model::Timestamp;
use serde::Serialize;

/// Writes records in their envelope.
#[derive(Debug, Default)]
pub(super) struct Lines(Builder);

#[derive(Serialize)]
struct Envelope<'a, P> {
    timestamp: &'a str,
    r#type: &'a str,
    payload: &'a P,
}

impl Lines {
    /// Adds a record. Every line has a time: Codex passes over a line without one.
    pub(super) fn push<P: Serialize>(
        &mut self,
        at: Timestamp,
        kind: &str,
        payload: &P,
    ) -> Result<(), serde_json::Error> {
        let timestamp = at.to_iso_milliseconds();
        self.0.push(&Envelope { timestamp: &timestamp, r#type: kind, payload })
    }

    pub(super) fn finish(self) -> Document {
        self.0.finish()
    }
}
