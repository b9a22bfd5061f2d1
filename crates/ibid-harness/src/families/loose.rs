//! JSON objects whose fields may have any type: what is asked for and has another one reads as
//! absent, so that one odd value never hides the rest of a record.

use std::borrow::Cow;
use std::fmt;

use ibid_model::{Json, Text};
use serde::de::{DeserializeOwned, Deserializer, MapAccess, Visitor};
use serde::{Deserialize, de};
use serde_json::value::RawValue;

/// One object, its values as they were written. Of a key that stands twice the last value counts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Loose {
    whole: Text,
    fields: Vec<(Text, Text)>,
}

impl Loose {
    /// The object that a record is, sharing its memory.
    ///
    /// # Errors
    /// When the text is no object, or has the escape of half a surrogate pair: the carrier then
    /// repairs it, reports that, and asks again.
    pub(crate) fn read(text: &Text) -> Result<Loose, serde_json::Error> {
        if let (Cow::Owned(_), _) = ibid_model::replace_lone_surrogates(text) {
            return Err(de::Error::custom("the escape of half a surrogate pair"));
        }
        let Fields(fields) = serde_json::from_str(text)?;
        let shared = |(name, value): (Cow<'_, str>, &RawValue)| {
            (Text::from_cow(text, name), Text::part_of(text, value.get()))
        };
        Ok(Loose { whole: text.clone(), fields: fields.into_iter().map(shared).collect() })
    }

    /// The object that a JSON value is, if it is one.
    pub(crate) fn of(value: &Text) -> Option<Loose> {
        Loose::read(value).ok()
    }

    /// The object as it was written.
    pub(crate) fn whole(&self) -> Option<Json> {
        Json::from_text(self.whole.clone()).ok()
    }

    /// The length of the object as it was written, in bytes.
    pub(crate) fn len(&self) -> usize {
        self.whole.as_str().len()
    }

    /// The value of a field as it was written, `null` being none.
    pub(crate) fn get(&self, name: &str) -> Option<&Text> {
        let (_, value) = self.fields.iter().rev().find(|(known, _)| *known == name)?;
        (value.as_str() != "null").then_some(value)
    }

    /// The same as a JSON value.
    pub(crate) fn json(&self, name: &str) -> Option<Json> {
        Json::from_text(self.get(name)?.clone()).ok()
    }

    /// A value of a type.
    pub(crate) fn read_as<T: DeserializeOwned>(&self, name: &str) -> Option<T> {
        serde_json::from_str(self.get(name)?).ok()
    }

    /// A string.
    pub(crate) fn text(&self, name: &str) -> Option<Text> {
        string(self.get(name)?)
    }

    /// A string with something in it.
    pub(crate) fn some_text(&self, name: &str) -> Option<Text> {
        self.text(name).filter(|text| !text.is_blank())
    }

    /// A whole number that is not negative.
    pub(crate) fn number(&self, name: &str) -> Option<u64> {
        self.read_as(name)
    }

    /// An object.
    pub(crate) fn object(&self, name: &str) -> Option<Loose> {
        Loose::of(self.get(name)?)
    }

    /// The elements of an array; none when there is no array.
    pub(crate) fn list(&self, name: &str) -> Vec<Text> {
        self.get(name).map(elements).unwrap_or_default()
    }

    /// The fields in the order written.
    pub(crate) fn fields(&self) -> impl Iterator<Item = (&Text, &Text)> {
        self.fields.iter().map(|(name, value)| (name, value))
    }
}

/// The string that a JSON value is, sharing its memory.
pub(crate) fn string(value: &Text) -> Option<Text> {
    let raw: &RawValue = serde_json::from_str(value).ok()?;
    Text::of_json_string(value, raw).ok()
}

/// The elements of the array that a JSON value is; none when it is none.
pub(crate) fn elements(value: &Text) -> Vec<Text> {
    let elements: Vec<&RawValue> = serde_json::from_str(value).unwrap_or_default();
    elements.into_iter().map(|element| Text::part_of(value, element.get())).collect()
}

#[derive(Deserialize)]
struct Name<'a>(#[serde(borrow)] Cow<'a, str>);

struct Fields<'a>(Vec<(Cow<'a, str>, &'a RawValue)>);

impl<'de: 'a, 'a> Deserialize<'de> for Fields<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Object;
        impl<'de> Visitor<'de> for Object {
            type Value = Fields<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Fields<'de>, M::Error> {
                let mut fields = Vec::new();
                while let Some(Name(name)) = map.next_key()? {
                    fields.push((name, map.next_value()?));
                }
                Ok(Fields(fields))
            }
        }
        deserializer.deserialize_map(Object)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn loose(text: &str) -> Loose {
        Loose::read(&Text::from(text.to_owned())).unwrap()
    }

    #[test]
    fn a_value_of_another_type_reads_as_absent_and_the_rest_is_read() {
        let record = loose(r#"{"id":5,"text":"a\nb","n":-1,"inner":{"x":null,"y":[1,"z"]}}"#);
        assert_eq!(record.text("id"), None);
        assert_eq!(&*record.text("text").unwrap(), "a\nb");
        assert_eq!(record.number("n"), None);
        let inner = record.object("inner").unwrap();
        assert_eq!(inner.get("x"), None);
        assert_eq!(inner.list("y").len(), 2);
    }

    #[test]
    fn of_a_key_that_stands_twice_the_last_value_counts() {
        assert_eq!(loose(r#"{"a":1,"a":2}"#).number("a"), Some(2));
    }

    #[test]
    fn half_a_surrogate_pair_anywhere_inside_is_refused_so_that_it_is_reported() {
        let text = Text::from(r#"{"a":{"b":["\ud800"]}}"#.to_owned());
        assert!(Loose::read(&text).is_err());
    }

    #[test]
    fn what_is_no_object_is_none() {
        assert_eq!(Loose::of(&Text::from("\"x\"")), None);
        assert!(elements(&Text::from("null")).is_empty());
    }
}
