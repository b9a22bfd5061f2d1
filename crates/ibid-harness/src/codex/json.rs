//! Reading loosely typed fields without copying.

use std::borrow::Cow;
use std::cell::Cell;
use std::fmt;

use ibid_model::{Text, Timestamp};
use serde::de::{Deserialize, Deserializer, Error, Visitor};
use serde_json::value::RawValue;

/// A string that is borrowed from the record wherever it has no escapes. (`Option<Cow<str>>`
/// would always copy.)
#[derive(Clone, Debug)]
pub(super) struct Str<'a>(pub(super) Cow<'a, str>);

impl Str<'_> {
    pub(super) fn as_str(&self) -> &str {
        &self.0
    }
}

impl<'a> Str<'a> {
    /// The string as a text that shares the memory of `whole` if it can.
    pub(super) fn text(self, whole: &Text) -> Text {
        Text::from_cow(whole, self.0)
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Str<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Any;
        impl<'de> Visitor<'de> for Any {
            type Value = Str<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string")
            }
            fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Str<'de>, E> {
                Ok(Str(Cow::Borrowed(text)))
            }
            fn visit_str<E: Error>(self, text: &str) -> Result<Str<'de>, E> {
                Ok(Str(Cow::Owned(text.to_owned())))
            }
            fn visit_string<E: Error>(self, text: String) -> Result<Str<'de>, E> {
                Ok(Str(Cow::Owned(text)))
            }
        }
        deserializer.deserialize_str(Any)
    }
}

thread_local! {
    /// Whether a value was met that has a key twice, since this was last asked. Readers of single
    /// fields go on without such a field; the reader of the record has to know, so that the text
    /// is repaired and nothing is left out.
    static KEY_TWICE: Cell<bool> = const { Cell::new(false) };
}

/// Whether a value with a key that stands twice was met on this thread since the last call.
pub(super) fn met_key_twice() -> bool {
    KEY_TWICE.replace(false)
}

/// A raw value read into a type; none when it is absent, `null` or of another type.
pub(super) fn read<'a, T: Deserialize<'a>>(raw: Option<&'a RawValue>) -> Option<T> {
    let text = raw?.get();
    if text == "null" {
        return None;
    }
    let read = serde_json::from_str(text);
    if let Err(error) = &read
        && error.to_string().starts_with("duplicate field ")
    {
        KEY_TWICE.set(true);
    }
    read.ok()
}

/// A raw value as text, when it is a string. One with escapes is decoded when somebody reads it.
pub(super) fn string(raw: Option<&RawValue>, whole: &Text) -> Option<Text> {
    Text::of_json_string(whole, raw.filter(|raw| raw.get().starts_with('"'))?).ok()
}

/// A time: RFC 3339, as Codex writes it, or a number of seconds, as programs that write its format
/// do. The unit is not guessed from the size.
pub(super) fn time(raw: Option<&RawValue>) -> Stamp {
    let Some(raw) = raw.map(RawValue::get).filter(|text| *text != "null") else { return Stamp::Absent };
    let time = if raw.starts_with('"') {
        serde_json::from_str::<Str<'_>>(raw).ok().and_then(|text| Timestamp::parse(text.as_str()))
    } else {
        raw.parse::<f64>().ok().and_then(seconds)
    };
    time.map_or(Stamp::Unreadable, Stamp::At)
}

/// The time that is so many seconds after 1970, to the millisecond.
pub(super) fn seconds(value: f64) -> Option<Timestamp> {
    let milliseconds = (value * 1000.0).round();
    // The comparison also refuses NaN, and below it the cast is exact.
    if milliseconds.abs() < 1e15 {
        #[allow(clippy::cast_possible_truncation, reason = "the bound is checked above")]
        return Timestamp::from_milliseconds(milliseconds as i64);
    }
    None
}

/// The time of a record.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Stamp {
    /// None is written.
    #[default]
    Absent,
    /// Something is written that is no time.
    Unreadable,
    /// The time.
    At(Timestamp),
}

impl Stamp {
    pub(super) fn known(self) -> Option<Timestamp> {
        match self {
            Stamp::At(at) => Some(at),
            Stamp::Absent | Stamp::Unreadable => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(json: &str) -> Option<i64> {
        let raw: &RawValue = serde_json::from_str(json).unwrap();
        time(Some(raw)).known().map(Timestamp::as_milliseconds)
    }

    // https://github.com/NousResearch/hermes-agent/issues/42409 (fault 55)
    #[test]
    fn a_number_is_seconds_and_a_time_without_a_zone_is_none() {
        assert_eq!(at("1737200000.5"), Some(1_737_200_000_500));
        assert_eq!(at(r#""2025-01-18T13:33:20.500+02:00""#), Some(1_737_200_000_500));
        assert_eq!(at("1781773226453"), None);
        assert_eq!(at("1e300"), None);
        assert_eq!(at(r#""2025-01-18 11:33:20""#), None);
    }

    #[test]
    fn a_string_without_escapes_is_borrowed() {
        let Str(plain) = serde_json::from_str(r#""abc""#).unwrap();
        assert!(matches!(plain, Cow::Borrowed(_)));
        let Str(escaped) = serde_json::from_str(r#""a\nc""#).unwrap();
        assert_eq!(escaped, "a\nc");
    }
}
