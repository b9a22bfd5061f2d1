//! The members of records, each as it was written.
//!
//! A member of another type than expected reads as absent, so that one odd value never hides the
//! rest of its record; the bytes stay in the carrier. Texts share the memory of the record.

use std::borrow::Cow;
use std::fmt;

use ibid_model::{Json, Text, Timestamp, replace_lone_surrogates};
use serde::de::{Deserialize, Deserializer, Error, MapAccess, Visitor};
use serde_json::value::RawValue;

/// Beyond it a float does not say which whole number is meant (2^53).
const EXACT: f64 = 9_007_199_254_740_992.0;

/// One JSON value inside a record.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Value<'a> {
    whole: &'a Text,
    raw: &'a RawValue,
}

impl<'a> Value<'a> {
    /// The value that a text is.
    ///
    /// # Errors
    /// When the text is not exactly one value, or holds half of a surrogate pair (which the reader
    /// of lines then repairs and reports).
    pub(crate) fn read(whole: &'a Text) -> Result<Value<'a>, serde_json::Error> {
        if let (Cow::Owned(_), _) = replace_lone_surrogates(whole) {
            return Err(serde_json::Error::custom("half of a surrogate pair"));
        }
        Ok(Value { whole, raw: serde_json::from_str(whole)? })
    }

    /// The string; none for anything else.
    pub(crate) fn text(self) -> Option<Text> {
        self.raw.get().starts_with('"').then(|| Text::of_json_string(self.whole, self.raw).ok()).flatten()
    }

    /// The members; none at all when it is no object.
    pub(crate) fn fields(self) -> Fields<'a> {
        let members: Members<'a> = match self.raw.get().starts_with('{') {
            true => serde_json::from_str(self.raw.get()).unwrap_or_default(),
            false => Members::default(),
        };
        Fields { whole: self.whole, members: members.0 }
    }

    /// The elements; none when it is no list.
    pub(crate) fn elements(self) -> Vec<Value<'a>> {
        let elements: Vec<&'a RawValue> = match self.is_list() {
            true => serde_json::from_str(self.raw.get()).unwrap_or_default(),
            false => Vec::new(),
        };
        elements.into_iter().map(|raw| Value { whole: self.whole, raw }).collect()
    }

    /// A whole number; a float with a whole value is one too, as JavaScript writes no difference.
    pub(crate) fn integer(self) -> Option<i64> {
        let text = self.raw.get();
        if let Ok(number) = text.parse::<i64>() {
            return Some(number);
        }
        let value: f64 = text.parse().ok()?;
        (value.fract() == 0.0 && value.abs() <= EXACT).then_some(value as i64)
    }

    /// A whole number that is not negative.
    pub(crate) fn count(self) -> Option<u64> {
        self.integer().and_then(|number| u64::try_from(number).ok())
    }

    /// `true` or `false`.
    pub(crate) fn flag(self) -> Option<bool> {
        match self.raw.get() {
            "true" => Some(true),
            "false" => Some(false),
            _ => None,
        }
    }

    /// Milliseconds since 1970 as a positive number, or text with a zone.
    pub(crate) fn time(self) -> Option<Timestamp> {
        match self.text() {
            Some(text) => Timestamp::parse(&text),
            None => {
                let written: f64 = self.raw.get().parse().ok()?;
                let sound = written > 0.0 && written <= EXACT;
                sound.then_some(written as i64).and_then(Timestamp::from_milliseconds)
            }
        }
    }

    /// The value as it was written.
    pub(crate) fn json(self) -> Json {
        Json::part_of(self.whole, self.raw)
    }

    pub(crate) fn is_list(self) -> bool {
        self.raw.get().starts_with('[')
    }

    fn is_null(self) -> bool {
        self.raw.get() == "null"
    }
}

/// The members of one object. Of a name that stands twice the last value counts.
#[derive(Clone, Debug)]
pub(crate) struct Fields<'a> {
    whole: &'a Text,
    members: Vec<(Cow<'a, str>, &'a RawValue)>,
}

impl<'a> Fields<'a> {
    /// The member of this name; none when it is absent or `null`.
    pub(crate) fn get(&self, name: &str) -> Option<Value<'a>> {
        let (_, raw) = self.members.iter().rev().find(|(known, _)| known == name)?;
        Some(Value { whole: self.whole, raw }).filter(|value| !value.is_null())
    }

    /// The string of this name.
    pub(crate) fn text(&self, name: &str) -> Option<Text> {
        self.get(name)?.text()
    }

    /// The string of this name, if it is more than white space.
    pub(crate) fn filled(&self, name: &str) -> Option<Text> {
        self.text(name).filter(|text| !text.is_blank())
    }

    /// The whole number of this name, if it is not negative.
    pub(crate) fn count(&self, name: &str) -> Option<u64> {
        self.get(name)?.count()
    }

    /// The members of the object of this name; none at all when there is no such object.
    pub(crate) fn fields(&self, name: &str) -> Fields<'a> {
        let none = Fields { whole: self.whole, members: Vec::new() };
        self.get(name).map_or(none, Value::fields)
    }

    /// The elements of the list of this name.
    pub(crate) fn elements(&self, name: &str) -> Vec<Value<'a>> {
        self.get(name).map(Value::elements).unwrap_or_default()
    }
}

#[derive(Default)]
struct Members<'a>(Vec<(Cow<'a, str>, &'a RawValue)>);

impl<'de> Deserialize<'de> for Members<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Objects;
        impl<'de> Visitor<'de> for Objects {
            type Value = Members<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::with_capacity(8);
                while let Some(Name(name)) = map.next_key()? {
                    members.push((name, map.next_value()?));
                }
                Ok(Members(members))
            }
        }
        deserializer.deserialize_map(Objects)
    }
}

/// A name that is borrowed wherever it has no escapes.
#[derive(serde::Deserialize)]
struct Name<'a>(#[serde(borrow)] Cow<'a, str>);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_member_of_another_type_is_absent_and_the_others_are_there() {
        let whole = Text::from(r#"{"a":5,"b":"x\ny","c":[1,{"d":null}],"e":2.0,"e":3}"#);
        let fields = Value::read(&whole).unwrap().fields();
        assert_eq!(fields.text("a"), None);
        assert_eq!(fields.text("b").unwrap(), "x\ny");
        assert_eq!(fields.count("e"), Some(3), "the last of equal names counts");
        assert_eq!(fields.elements("c").len(), 2);
        assert!(fields.elements("c").last().unwrap().fields().get("d").is_none());
        assert!(fields.fields("a").get("x").is_none());
    }

    #[test]
    fn a_number_of_milliseconds_and_a_text_with_a_zone_are_times() {
        for (written, sound) in [
            ("1788256800000", true),
            ("1788256800000.5", true),
            ("\"2026-09-01T10:00:00Z\"", true),
            ("\"2026-09-01T10:00:00\"", false),
            ("0", false),
            ("-1", false),
            ("1e300", false),
            ("true", false),
        ] {
            let whole = Text::from(written);
            assert_eq!(Value::read(&whole).unwrap().time().is_some(), sound, "{written}");
        }
    }

    #[test]
    fn half_of_a_surrogate_pair_is_refused_for_the_reader_of_lines_to_repair() {
        assert!(Value::read(&Text::from(r#"{"a":"\ud800"}"#)).is_err());
        assert!(Value::read(&Text::from(r#"{"a":"\ud83d\ude00"}"#)).is_ok());
    }
}
