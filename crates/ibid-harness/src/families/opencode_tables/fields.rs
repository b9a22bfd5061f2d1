//! The fields of a JSON object, read one by one: a field that is missing or of another type says
//! nothing about its neighbours.

use std::borrow::Cow;
use std::fmt;

use ibid_model::{Json, Text, replace_lone_surrogates};
use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

/// An object whose values were not looked at yet. What is taken from it shares the memory of the
/// text that it was read from.
#[derive(Clone, Debug)]
pub(crate) struct Fields<'a> {
    whole: &'a Text,
    fields: Vec<(Cow<'a, str>, &'a RawValue)>,
}

impl<'a> Fields<'a> {
    /// The fields of the object that the text is; none when it is anything else.
    pub(crate) fn of(whole: &'a Text) -> Option<Fields<'a>> {
        Fields::within(whole, whole)
    }

    fn within(whole: &'a Text, part: &'a str) -> Option<Fields<'a>> {
        let Members(fields) = serde_json::from_str(part).ok()?;
        Some(Fields { whole, fields })
    }

    /// The value of a field, as written. Of a name that stands twice, the last counts.
    pub(crate) fn raw(&self, name: &str) -> Option<&'a str> {
        self.fields.iter().rev().find(|(field, _)| field == name).map(|(_, value)| value.get())
    }

    /// A field that is there and not `null`.
    pub(crate) fn json(&self, name: &str) -> Option<Json> {
        let raw = self.raw(name).filter(|raw| *raw != "null")?;
        Json::from_text(Text::part_of(self.whole, raw)).ok()
    }

    /// A string. Half of a surrogate pair in it reads as U+FFFD.
    pub(crate) fn text(&self, name: &str) -> Option<Text> {
        string(self.whole, self.raw(name)?)
    }

    /// An integer, also one that is written as `1.0` or `1e3`.
    pub(crate) fn integer(&self, name: &str) -> Option<i64> {
        let raw = self.raw(name)?;
        raw.parse().ok().or_else(|| {
            let number: f64 = raw.parse().ok()?;
            // Beyond 2^53 a float does not say which integer is meant.
            (number.fract() == 0.0 && number.abs() < 9e15).then_some(number as i64)
        })
    }

    /// A count: an integer that is not negative.
    pub(crate) fn count(&self, name: &str) -> Option<u64> {
        u64::try_from(self.integer(name)?).ok()
    }

    /// A number.
    pub(crate) fn number(&self, name: &str) -> Option<f64> {
        self.raw(name)?.parse().ok().filter(|number: &f64| number.is_finite())
    }

    /// Whether the field is `true`.
    pub(crate) fn flag(&self, name: &str) -> bool {
        self.raw(name) == Some("true")
    }

    /// An object.
    pub(crate) fn object(&self, name: &str) -> Option<Fields<'a>> {
        Fields::within(self.whole, self.raw(name)?)
    }

    /// The objects of an array; what else is in it is left out.
    pub(crate) fn objects(&self, name: &str) -> Vec<Fields<'a>> {
        self.elements(name).into_iter().filter_map(|raw| Fields::within(self.whole, raw)).collect()
    }

    /// The elements of an array, as written; none when the field is no array.
    pub(crate) fn elements(&self, name: &str) -> Vec<&'a str> {
        let elements = self.raw(name).and_then(|raw| serde_json::from_str::<Elements<'a>>(raw).ok());
        elements.map(|Elements(list)| list.into_iter().map(RawValue::get).collect()).unwrap_or_default()
    }

    /// The names and values, in order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &'a str)> {
        self.fields.iter().map(|(name, value)| (name.as_ref(), value.get()))
    }

    /// Whether the field is there at all.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.raw(name).is_some()
    }
}

/// The string that `raw` spells, sharing the memory of `whole` when nothing in it is escaped.
fn string(whole: &Text, raw: &str) -> Option<Text> {
    let inner = raw.strip_prefix('"')?.strip_suffix('"')?;
    if !inner.contains('\\') {
        return Some(Text::part_of(whole, inner));
    }
    let (clean, _) = replace_lone_surrogates(raw);
    serde_json::from_str::<String>(&clean).ok().map(Text::from)
}

struct Members<'a>(Vec<(Cow<'a, str>, &'a RawValue)>);

/// A name of a field, borrowed where nothing in it is escaped.
#[derive(serde::Deserialize)]
struct Name<'a>(#[serde(borrow)] Cow<'a, str>);

impl<'de: 'a, 'a> Deserialize<'de> for Members<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Object;
        impl<'de> Visitor<'de> for Object {
            type Value = Members<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Members<'de>, M::Error> {
                let mut members = Vec::new();
                while let Some(Name(name)) = map.next_key()? {
                    members.push((name, map.next_value()?));
                }
                Ok(Members(members))
            }
        }
        deserializer.deserialize_map(Object)
    }
}

struct Elements<'a>(Vec<&'a RawValue>);

impl<'de: 'a, 'a> Deserialize<'de> for Elements<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Array;
        impl<'de> Visitor<'de> for Array {
            type Value = Elements<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an array")
            }
            fn visit_seq<S: SeqAccess<'de>>(self, mut seq: S) -> Result<Elements<'de>, S::Error> {
                let mut elements = Vec::new();
                while let Some(element) = seq.next_element()? {
                    elements.push(element);
                }
                Ok(Elements(elements))
            }
        }
        deserializer.deserialize_seq(Array)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_field_of_the_wrong_type_does_not_hide_the_others() {
        let text = Text::from(r#"{"a":1,"text":"x","n":"no","list":[{"k":1},2],"a":2.0}"#);
        let fields = Fields::of(&text).unwrap();
        assert_eq!((fields.text("a"), fields.integer("a")), (None, Some(2)));
        assert_eq!(fields.text("text").unwrap(), "x");
        assert_eq!(fields.integer("n"), None);
        assert_eq!(fields.objects("list").len(), 1);
    }

    // https://github.com/anthropics/claude-code/issues/68325 (fault 20)
    #[test]
    fn half_a_surrogate_pair_reads_as_the_replacement_character() {
        let text = Text::from(r#"{"a":"x\ud83d y\n"}"#);
        assert_eq!(Fields::of(&text).unwrap().text("a").unwrap(), "x\u{fffd} y\n");
    }

    #[test]
    fn what_is_no_object_has_no_fields() {
        assert!(Fields::of(&Text::from("[1]")).is_none());
        assert!(Fields::of(&Text::from("{\"a\":")).is_none());
    }
}
