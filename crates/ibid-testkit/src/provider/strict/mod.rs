//! What the real providers refuse: rules, and a request that breaks them.

mod rule;

use serde::{Deserialize, Serialize};

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

impl Refusal {
    /// A finding of a log that names no rules.
    pub(super) fn unnamed(why: String) -> Self {
        Self { rule: None, at: String::new(), why }
    }
}
