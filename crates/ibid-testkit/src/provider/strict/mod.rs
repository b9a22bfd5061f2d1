//! What the real providers refuse: rules, and a request that breaks them.

mod body;
mod rule;

use std::fmt;

use serde::{Deserialize, Serialize};

use super::body::Parsed;
use super::wire::Api;

pub use rule::Rule;

/// One rule that a request breaks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refusal {
    /// The rule; `None` in a log whose writer did not name rules as this one does.
    #[serde(default, deserialize_with = "rule::known")]
    pub rule: Option<Rule>,
    /// JSON Pointer of what breaks it.
    #[serde(default)]
    pub at: String,
    /// What is wrong, as a sentence.
    pub why: String,
}

/// Every rule that a request breaks, in the order of the rules' places.
pub(super) fn check(api: Api, parsed: &Parsed, context_limit: Option<u64>) -> Vec<Refusal> {
    let mut refusals = body::surrogates(parsed);
    if let Some(body) = parsed.value.as_ref().filter(|value| value.is_object()) {
        refusals.extend(body::context(api, body, context_limit));
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
