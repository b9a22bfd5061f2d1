//! What model calls cost, in tokens.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{MessageId, Source, Text, Timestamp};

/// Token counts. The parts do not overlap: all input is `input + cache_read + cache_write`, and
/// all output is `output`. What a harness does not say is absent, which is not the same as 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Usage {
    /// Input tokens that neither came from a cache nor went into one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<u64>,
    /// Output tokens, reasoning included.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<u64>,
    /// Input tokens read from a cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_read: Option<u64>,
    /// Input tokens written to a cache, of any lifetime.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_write: Option<u64>,
    /// Of `cache_write`: with a lifetime of five minutes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_write_5m: Option<u64>,
    /// Of `cache_write`: with a lifetime of one hour.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_write_1h: Option<u64>,
    /// Of `output`: reasoning.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<u64>,
    /// The cost in US dollars as the harness itself reckoned it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_usd: Option<f64>,
}

impl Usage {
    /// Whether nothing at all is known.
    #[must_use]
    pub fn is_unknown(&self) -> bool {
        *self == Usage::default()
    }

    /// The sum. A count that only one side knows is taken from that side.
    #[must_use]
    pub fn plus(&self, other: &Usage) -> Usage {
        fn sum(a: Option<u64>, b: Option<u64>) -> Option<u64> {
            match (a, b) {
                (Some(a), Some(b)) => Some(a.saturating_add(b)),
                (a, b) => a.or(b),
            }
        }
        Usage {
            input: sum(self.input, other.input),
            output: sum(self.output, other.output),
            cache_read: sum(self.cache_read, other.cache_read),
            cache_write: sum(self.cache_write, other.cache_write),
            cache_write_5m: sum(self.cache_write_5m, other.cache_write_5m),
            cache_write_1h: sum(self.cache_write_1h, other.cache_write_1h),
            reasoning: sum(self.reasoning, other.reasoning),
            cost_usd: match (self.cost_usd, other.cost_usd) {
                (Some(a), Some(b)) => Some(a + b),
                (a, b) => a.or(b),
            },
        }
    }
}

/// One call of the model's API, counted once however many records mention it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ModelCall {
    /// The provider's id of the message the call produced; none when the harness does not keep
    /// it, and then every record counts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub api_id: Option<Text>,
    /// The provider's id of the request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<Text>,
    /// The message it produced, or the last of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<MessageId>,
    /// The model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<Text>,
    /// When its usage was recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<Timestamp>,
    /// Its tokens, from the last record that mentions the call (earlier ones are partial).
    pub usage: Usage,
    /// Whether the call was made by the session this one was forked from: it counts there.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub inherited: bool,
    /// The records that mention it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<Source>,
}
