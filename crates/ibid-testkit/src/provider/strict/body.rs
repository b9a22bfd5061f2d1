//! Rules about the body as a whole.

use serde_json::Value;

use super::{Refusal, Rule};
use crate::provider::body::Parsed;
use crate::provider::count;
use crate::provider::wire::Api;

/// Half of a surrogate pair in a text.
pub(super) fn surrogates(parsed: &Parsed) -> Vec<Refusal> {
    let why = |at: &usize| format!("byte {at} begins half of a surrogate pair");
    parsed.surrogates.iter().map(|at| Refusal::new(Rule::LoneSurrogate, "", why(at))).collect()
}

/// More than the context holds.
pub(super) fn context(api: Api, body: &Value, limit: Option<u64>) -> Option<Refusal> {
    let limit = limit?;
    let tokens = count::request(api, body);
    let why = format!("the prompt has about {tokens} tokens, and {limit} are allowed");
    (tokens > limit).then(|| Refusal::new(Rule::OverContext, "", why))
}
