//! What the real providers refuse: the rules, and the places where a request breaks them.
//!
//! [`Rule`] lists the rules, each with what it rests on.

mod body;
mod calls;
mod case;
mod content;
mod images;
mod pairs;
mod roles;
mod rule;
mod thinking;

use std::fmt;

use serde::{Deserialize, Serialize};

use super::body::Parsed;
use super::wire::Api;
use case::Case;

pub use rule::Rule;

/// One rule that a request breaks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refusal {
    /// The rule; `None` in a log whose writer did not name rules as this one does.
    #[serde(default, deserialize_with = "rule::known")]
    pub rule: Option<Rule>,
    /// JSON Pointer of what breaks it; empty where that is the body as a whole.
    #[serde(default)]
    pub at: String,
    /// What is wrong, as a sentence.
    pub why: String,
}

/// Everything in a request's body that breaks a rule of the API.
///
/// The body is as it was sent (unpacked): half a surrogate pair can be told only there. A body that is no JSON object
/// breaks no rule; the provider cannot answer it at all.
pub fn check(api: Api, body: &[u8]) -> Vec<Refusal> {
    check_parsed(api, &super::body::parse(body), None)
}

/// The same for a body that was read before, with a limit for its tokens.
pub(super) fn check_parsed(api: Api, parsed: &Parsed, context_limit: Option<u64>) -> Vec<Refusal> {
    let mut refusals = body::surrogates(parsed);
    if let Some(body) = parsed.value.as_ref().filter(|value| value.is_object()) {
        let case = Case::new(api, body);
        refusals.extend(roles::check(&case));
        refusals.extend(content::check(&case));
        refusals.extend(calls::check(&case));
        refusals.extend(pairs::check(&case));
        refusals.extend(thinking::check(&case));
        refusals.extend(images::check(&case));
        refusals.extend(body::cache_marks(&case));
        refusals.extend(body::context(&case, context_limit));
    }
    refusals
}

impl fmt::Display for Refusal {
    /// The place with dots, as both services name it in their messages, what is wrong, and the rule.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = self.at.trim_start_matches('/').replace('/', ".");
        if !place.is_empty() {
            write!(f, "{place}: ")?;
        }
        f.write_str(&self.why)?;
        self.rule.map_or(Ok(()), |rule| write!(f, " ({rule})"))
    }
}

impl Refusal {
    fn new(rule: Rule, at: impl Into<String>, why: impl Into<String>) -> Self {
        Self { rule: Some(rule), at: at.into(), why: why.into() }
    }

    /// A finding of a log that names no rules.
    pub(super) fn unnamed(why: String) -> Self {
        Self { rule: None, at: String::new(), why }
    }
}
