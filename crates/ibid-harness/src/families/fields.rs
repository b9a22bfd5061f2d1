//! Typed values out of raw JSON ones. A value of another type than expected reads as absent, so that
//! one odd value never hides the rest of its record; the bytes stay in the document.

use std::borrow::Cow;

use ibid_model::{Json, Text, Timestamp, replace_lone_surrogates};
use memchr::memmem;
use serde::Deserialize;
use serde_json::value::RawValue;

/// When a record was made, as far as it says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Recorded {
    /// It does not say.
    Unsaid,
    /// It says something that is no time with a zone.
    Unreadable,
    /// At this time.
    At(Timestamp),
}

impl Recorded {
    pub(crate) fn time(self) -> Option<Timestamp> {
        match self {
            Recorded::At(at) => Some(at),
            _ => None,
        }
    }
}

/// Takes typed values out of raw ones, sharing the memory of the whole.
pub(crate) struct Taker<'a> {
    pub(crate) whole: &'a Text,
}

impl<'a> Taker<'a> {
    pub(crate) fn text(&self, raw: Option<&'a RawValue>) -> Option<Text> {
        #[derive(Deserialize)]
        struct Borrowed<'b>(#[serde(borrow)] Cow<'b, str>);
        let text: Borrowed<'a> = serde_json::from_str(raw?.get()).ok()?;
        Some(Text::from_cow(self.whole, text.0))
    }

    pub(crate) fn json(&self, raw: Option<&'a RawValue>) -> Option<Json> {
        raw.map(|raw| Json::part_of(self.whole, raw))
    }

    /// The JSON text of a value.
    pub(crate) fn raw(&self, raw: Option<&'a RawValue>) -> Option<Text> {
        raw.map(|raw| Text::part_of(self.whole, raw.get()))
    }

    pub(crate) fn value<T: Deserialize<'a>>(&self, raw: Option<&'a RawValue>) -> Option<T> {
        serde_json::from_str(raw?.get()).ok()
    }

    /// A count; a float with a whole value is one too, as JavaScript writes no difference.
    pub(crate) fn count(&self, raw: Option<&'a RawValue>) -> Option<u64> {
        let text = raw?.get();
        if let Ok(count) = text.parse::<u64>() {
            return Some(count);
        }
        let value: f64 = text.parse().ok()?;
        // 2^53: beyond it a float does not say which whole number is meant.
        (value >= 0.0 && value.fract() == 0.0 && value <= 9_007_199_254_740_992.0).then_some(value as u64)
    }

    /// When a record was made: ISO text or milliseconds of the record, else of what it holds.
    pub(crate) fn recorded(&self, entry: Option<&'a RawValue>, message: Option<&'a RawValue>) -> Recorded {
        let read = |raw: Option<&'a RawValue>| match raw {
            None => Recorded::Unsaid,
            Some(raw) => {
                let milliseconds = || {
                    let value: f64 = raw.get().parse().ok()?;
                    let whole = value.is_finite() && value.abs() < 1e15;
                    whole.then_some(value as i64).and_then(Timestamp::from_milliseconds)
                };
                let text = self.text(Some(raw)).and_then(|text| Timestamp::parse(&text));
                text.or_else(milliseconds).map_or(Recorded::Unreadable, Recorded::At)
            }
        };
        match read(entry) {
            Recorded::At(at) => Recorded::At(at),
            said => match read(message) {
                Recorded::Unsaid => said,
                other => other,
            },
        }
    }
}

/// Whether a reader failed because an object has a field twice.
pub(crate) fn is_duplicate(error: &serde_json::Error) -> bool {
    error.is_data() && error.to_string().starts_with("duplicate field ")
}

/// Whether the escape of a surrogate could stand in the text.
fn may_hold_surrogate(text: &[u8]) -> bool {
    memmem::find(text, b"\\ud").is_some() || memmem::find(text, b"\\uD").is_some()
}

/// Refuses a text with half of a surrogate pair, which its carrier can repair: it would go unseen
/// inside values that are only taken apart later, with the text around it lost.
///
/// # Errors
/// When there is one.
pub(crate) fn whole_surrogates(text: &Text) -> Result<(), serde_json::Error> {
    if may_hold_surrogate(text.as_bytes()) && replace_lone_surrogates(text).1 > 0 {
        return Err(serde::de::Error::custom("half of a surrogate pair"));
    }
    Ok(())
}

/// A struct of raw values by their names in camel case, each of which may be absent.
macro_rules! raw_fields {
    ($(#[$doc:meta])* $name:ident { $($field:ident),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(serde::Deserialize, Default)]
        #[serde(rename_all = "camelCase")]
        struct $name<'a> {
            $(#[serde(borrow, default)] $field: Option<&'a serde_json::value::RawValue>,)+
        }
    };
}

pub(crate) use raw_fields;
