//! Images, as the three APIs carry them.

use serde_json::Value;

use super::{kind, maybe, string};

/// An image in a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Image {
    /// Its media type, such as `image/png`, where the request states it.
    pub media_type: Option<String>,
    /// Where its bytes are.
    pub source: Source,
}

/// Where an image's bytes are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// In the request, as base64. The text is as it was sent and may be broken.
    Base64(String),
    /// At an address.
    Url(String),
    /// In a file that was uploaded before; its id.
    File(String),
    /// In a form that is none of these.
    Unknown,
}

impl Image {
    /// The image that a part of a message or of a result is, if it is one.
    pub(super) fn read(part: &Value) -> Option<Self> {
        match kind(part) {
            "image" => Some(Self::of_block(part.get("source").unwrap_or(&Value::Null))),
            "image_url" => Some(match part.get("image_url") {
                Some(Value::String(url)) => Self::of_url(url),
                Some(object) => Self::of_url(string(object, "url")),
                None => Self::unknown(),
            }),
            "input_image" => Some(match (maybe(part, "image_url"), maybe(part, "file_id")) {
                (Some(url), _) => Self::of_url(&url),
                (None, Some(id)) => Self { media_type: None, source: Source::File(id) },
                (None, None) => Self::unknown(),
            }),
            _ => None,
        }
    }

    fn unknown() -> Self {
        Self { media_type: None, source: Source::Unknown }
    }

    /// Anthropic's `source`.
    fn of_block(source: &Value) -> Self {
        let place = match kind(source) {
            "base64" => Source::Base64(string(source, "data").to_owned()),
            "url" => Source::Url(string(source, "url").to_owned()),
            "file" => Source::File(string(source, "file_id").to_owned()),
            _ => Source::Unknown,
        };
        Self { media_type: maybe(source, "media_type"), source: place }
    }

    /// OpenAI's address, which may hold the bytes itself: `data:image/png;base64,...`.
    fn of_url(url: &str) -> Self {
        let data = url.strip_prefix("data:").and_then(|rest| rest.split_once(','));
        match data {
            Some((head, data)) => Self {
                media_type: head.split(';').next().filter(|name| !name.is_empty()).map(str::to_owned),
                source: Source::Base64(data.to_owned()),
            },
            None => Self { media_type: None, source: Source::Url(url.to_owned()) },
        }
    }
}
