//! The lines that are written, and the chain of ids that joins them.

use std::collections::HashSet;

use ibid_model::{Json, SessionId, Text};
use serde::Serialize;

use super::content_out::Part;
use crate::core::derived_uuid;

#[derive(Serialize)]
pub(super) struct Header<'a> {
    #[serde(rename = "type")]
    pub(super) kind: &'static str,
    pub(super) version: u8,
    pub(super) id: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) timestamp: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) cwd: Option<&'a str>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Entry<'a, B: Serialize> {
    #[serde(rename = "type")]
    pub(super) kind: &'static str,
    pub(super) id: &'a str,
    pub(super) parent_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) timestamp: Option<String>,
    #[serde(flatten)]
    pub(super) body: B,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ModelLine<'a> {
    pub(super) provider: &'static str,
    pub(super) model_id: &'a str,
}

#[derive(Serialize)]
pub(super) struct NameLine<'a> {
    pub(super) name: &'a str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct CompactionLine<'a> {
    pub(super) summary: &'a str,
    pub(super) first_kept_entry_id: &'a str,
    pub(super) tokens_before: u64,
}

#[derive(Serialize)]
pub(super) struct MessageLine<M: Serialize> {
    pub(super) message: M,
}

#[derive(Serialize)]
pub(super) struct UserLine {
    pub(super) role: &'static str,
    pub(super) content: Vec<Part>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) timestamp: Option<i64>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ResultLine<'a> {
    pub(super) role: &'static str,
    pub(super) tool_call_id: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) tool_name: Option<Text>,
    pub(super) content: Vec<Part>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) details: Option<&'a Json>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) is_error: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) timestamp: Option<i64>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct AssistantLine<'a> {
    pub(super) role: &'static str,
    pub(super) content: Vec<Part>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) api: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) provider: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) model: Option<&'a str>,
    pub(super) usage: UsageLine,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) stop_reason: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) timestamp: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) response_id: Option<&'a str>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct UsageLine {
    pub(super) input: u64,
    pub(super) output: u64,
    pub(super) cache_read: u64,
    pub(super) cache_write: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) cache_write1h: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) reasoning: Option<u64>,
    pub(super) total_tokens: u64,
    pub(super) cost: CostLine,
}

/// The cost by part; what is known is the total alone.
#[derive(Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct CostLine {
    pub(super) input: f64,
    pub(super) output: f64,
    pub(super) cache_read: f64,
    pub(super) cache_write: f64,
    pub(super) total: f64,
}

/// Ids of eight hexadecimal digits, as the program makes them, each the parent of the next. They
/// are derived from the session's id and their number, and never meet.
pub(super) struct Chain {
    session: String,
    number: u64,
    used: HashSet<String>,
    last: Option<String>,
}

impl Chain {
    pub(super) fn new(session: &SessionId) -> Chain {
        Chain { session: session.to_string(), number: 0, used: HashSet::new(), last: None }
    }

    /// The id that comes next, and the one before it.
    pub(super) fn peek(&self) -> (String, Option<String>) {
        let mut attempt = 0_u64;
        loop {
            let name = format!("{}\n{}\n{attempt}", self.session, self.number);
            let uuid = derived_uuid("entry", &name).simple().to_string();
            let id: String = uuid.chars().take(8).collect();
            if !self.used.contains(&id) {
                return (id, self.last.clone());
            }
            attempt += 1;
        }
    }

    /// Takes the next id.
    pub(super) fn next(&mut self) -> (String, Option<String>) {
        let (id, parent) = self.peek();
        self.number += 1;
        self.used.insert(id.clone());
        self.last = Some(id.clone());
        (id, parent)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hundred_thousand_ids_of_one_session_never_meet_and_are_the_same_again() {
        let ids = || {
            let mut chain = Chain::new(&"s".into());
            (0..100_000).map(|_| chain.next().0).collect::<Vec<_>>()
        };
        let first = ids();
        assert_eq!(first.iter().collect::<HashSet<_>>().len(), first.len());
        assert!(first.iter().all(|id| id.len() == 8 && id.bytes().all(|b| b.is_ascii_hexdigit())));
        assert_eq!(ids(), first);
    }
}
