//! Rules about the body as a whole.

use serde_json::Value;

use super::case::{Case, list};
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
pub(super) fn context(case: &Case<'_>, limit: Option<u64>) -> Option<Refusal> {
    let limit = limit?;
    let tokens = count::request(case.api, case.body);
    let why = format!("the prompt has about {tokens} tokens, and {limit} are allowed");
    (tokens > limit).then(|| Refusal::new(Rule::OverContext, "", why))
}

/// Anthropic: marks for the cache, on the system prompt, on tools, on blocks, and on blocks of results.
pub(super) fn cache_marks(case: &Case<'_>) -> Option<Refusal> {
    const MOST: usize = 4;
    if case.api != Api::Messages {
        return None;
    }
    let blocks = case.messages().flat_map(|message| message.blocks());
    let nested =
        case.messages().flat_map(|message| message.blocks()).flat_map(|block| list(block, "content"));
    let others = list(case.body, "system").iter().chain(list(case.body, "tools"));
    let all = others.chain(blocks).chain(nested).chain([case.body]);
    let marks = all.filter(|block| block.get("cache_control").is_some_and(Value::is_object)).count();
    let why = format!("{marks} blocks are marked with cache_control, and {MOST} are allowed");
    (marks > MOST).then(|| Refusal::new(Rule::CacheMarks, "", why))
}
