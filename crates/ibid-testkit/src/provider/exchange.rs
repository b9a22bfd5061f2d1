//! One request and what it was answered, as it stands in the log.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::strict::Refusal;
use super::wire::{self, Api, Spoken};

/// One request that reached the provider, with its answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Exchange {
    /// Its number, from 1, in the order of arrival at one provider.
    pub number: u64,
    /// When it arrived.
    pub time: Timestamp,
    /// `GET`, `POST`, ...
    pub method: String,
    /// Path and query, as sent.
    pub path: String,
    /// Its headers in order, names in lower case. Values that prove who somebody is (keys, cookies) are
    /// replaced by `(left out)`.
    pub headers: Vec<(String, String)>,
    /// The body, when it is JSON. Lone surrogates, which this form cannot hold, stand as U+FFFD; `raw` has
    /// the bytes then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<Value>,
    /// The body's bytes, decompressed, where `body` does not say all of it.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "base64_text")]
    pub raw: Option<Vec<u8>>,
    /// The rules that the request breaks, whether or not the provider was told to be strict.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub refused: Vec<Refusal>,
    /// What was answered; `None` in a log that does not say it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<Answer>,
}

/// What a request was answered.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Answer {
    /// The HTTP status.
    pub status: u16,
    /// Whether the answer was a stream of events.
    #[serde(default)]
    pub streamed: bool,
    /// The answer as one value, also where it was streamed: the message, or the error.
    #[serde(default)]
    pub body: Value,
}

impl Exchange {
    /// The value of a header; its name in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// The API whose model was asked to speak; `None` for any other request, such as token counting.
    pub fn api(&self) -> Option<Api> {
        Api::of_path(&self.path).filter(|_| self.method == "POST")
    }

    /// What the request says, in order. Empty when it is no request for a model's turn.
    pub fn said(&self) -> Vec<Spoken> {
        match (self.api(), &self.body) {
            (Some(api), Some(body)) => wire::read(api, body),
            _ => Vec::new(),
        }
    }
}

/// Bytes in a JSON text.
mod base64_text {
    use base64::{Engine, engine::general_purpose::STANDARD};
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    pub(super) fn serialize<S: Serializer>(bytes: &Option<Vec<u8>>, to: S) -> Result<S::Ok, S::Error> {
        match bytes {
            Some(bytes) => to.serialize_str(&STANDARD.encode(bytes)),
            None => to.serialize_none(),
        }
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Vec<u8>>, D::Error> {
        let text = Option::<String>::deserialize(from)?;
        text.map(|text| STANDARD.decode(text).map_err(D::Error::custom)).transpose()
    }
}
