//! What a hook is given on its input, and how little of it is read.
//!
//! The input is one JSON object in which identities stand beside prompts, answers and the inputs
//! of tools. A [`HookObject`] keeps the members whose keys are on an allowlist and nothing else;
//! everything else is passed over without being read into memory of its own.
//!
//! # What is refused
//!
//! - whatever is not exactly one JSON object: an array, two values, anything but white space behind it;
//! - input that is not UTF-8, which JSON is;
//! - an allowlisted key that is repeated, however it is spelled (`\u0073` is an `s`): of two
//!   identities neither can be believed. Other keys may repeat, because they are not read;
//! - an identity that is not a string, or that holds a lone surrogate: a string here cannot keep
//!   one, and an identity that was changed is another identity.
//!
//! What is passed over must be JSON too, but may hold lone surrogates (a prompt that was cut has
//! them) and be nested as deeply as the input is long: it is walked without recursion.

use std::fmt;

use ibid_model::Text;
use serde::Serialize;
use serde::de::value::StringDeserializer;
use serde::de::{
    DeserializeOwned, DeserializeSeed, Deserializer, IgnoredAny, IntoDeserializer, MapAccess, Visitor,
};
use serde_json::value::RawValue;

/// The input of a hook is not what was expected. Why is not said: the reasons that a decoder gives
/// quote what it read, and that may be a prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refused;

/// The allowlisted members of the one JSON object that a hook was given.
#[derive(Debug)]
pub struct HookObject<'input> {
    members: Vec<(&'static str, &'input RawValue)>,
}

impl<'input> HookObject<'input> {
    /// Reads exactly one JSON object, and keeps of it the members that `allowed` names.
    ///
    /// # Errors
    ///
    /// [`Refused`] for everything that the head of this module lists.
    pub fn read(input: &'input [u8], allowed: &'static [&'static str]) -> Result<Self, Refused> {
        let input = std::str::from_utf8(input).map_err(|_| Refused)?;
        let mut input = serde_json::Deserializer::from_str(input);
        let members = Members { allowed }.deserialize(&mut input).map_err(|_| Refused)?;
        input.end().map_err(|_| Refused)?;
        Ok(HookObject { members })
    }

    /// The string under `key`, exactly.
    ///
    /// # Errors
    ///
    /// [`Refused`] when there is none, or something else.
    pub fn required(&self, key: &str) -> Result<String, Refused> {
        self.optional(key)?.ok_or(Refused)
    }

    /// The string under `key`, exactly; none when the key is absent or its value is null.
    ///
    /// # Errors
    ///
    /// [`Refused`] when it is neither a string nor null.
    pub fn optional(&self, key: &str) -> Result<Option<String>, Refused> {
        match self.raw(key) {
            None => Ok(None),
            Some(value) => serde_json::from_str(value.get()).map_err(|_| Refused),
        }
    }

    /// The value that the word under `key` stands for; none when the word is not known.
    ///
    /// # Errors
    ///
    /// [`Refused`] when there is no string.
    pub fn word<T: DeserializeOwned>(&self, key: &str) -> Result<Option<T>, Refused> {
        let word: StringDeserializer<serde_json::Error> = self.required(key)?.into_deserializer();
        Ok(T::deserialize(word).ok())
    }

    /// Whether a string stands under `key` that begins with `prefix`. For a text that is looked at
    /// and not kept, which is why it may hold lone surrogates.
    #[must_use]
    pub fn begins_with(&self, key: &str, prefix: &str) -> bool {
        let begins = |value: &RawValue| {
            let mut value = serde_json::Deserializer::from_str(value.get());
            value.deserialize_bytes(Beginning(prefix.as_bytes())).unwrap_or(false)
        };
        self.raw(key).is_some_and(begins)
    }

    fn raw(&self, key: &str) -> Option<&'input RawValue> {
        self.members.iter().find(|(name, _)| *name == key).map(|(_, value)| *value)
    }
}

/// The word of a harness for one of its values, as its hooks spell it.
#[must_use]
pub fn word(value: &impl Serialize) -> Option<Text> {
    serde_json::to_value(value).ok()?.as_str().map(Text::from)
}

/// Reads the members of an object.
struct Members {
    allowed: &'static [&'static str],
}

impl<'de> DeserializeSeed<'de> for Members {
    type Value = Vec<(&'static str, &'de RawValue)>;

    fn deserialize<D: Deserializer<'de>>(self, input: D) -> Result<Self::Value, D::Error> {
        input.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Members {
    type Value = Vec<(&'static str, &'de RawValue)>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut members: Self::Value = Vec::new();
        while let Some(key) = map.next_key_seed(Key { allowed: self.allowed })? {
            match key {
                None => _ = map.next_value::<IgnoredAny>()?,
                Some(key) if members.iter().any(|(known, _)| *known == key) => {
                    return Err(serde::de::Error::custom("a repeated key"));
                }
                Some(key) => members.push((key, map.next_value()?)),
            }
        }
        Ok(members)
    }
}

/// Reads a key: the allowlisted one that it is, or none. As bytes, because a key that is passed
/// over may hold lone surrogates too.
struct Key {
    allowed: &'static [&'static str],
}

impl<'de> DeserializeSeed<'de> for Key {
    type Value = Option<&'static str>;

    fn deserialize<D: Deserializer<'de>>(self, input: D) -> Result<Self::Value, D::Error> {
        input.deserialize_bytes(self)
    }
}

impl Visitor<'_> for Key {
    type Value = Option<&'static str>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_bytes<E>(self, key: &[u8]) -> Result<Self::Value, E> {
        Ok(self.allowed.iter().find(|allowed| allowed.as_bytes() == key).copied())
    }
}

/// Whether a string begins with these bytes.
struct Beginning<'prefix>(&'prefix [u8]);

impl Visitor<'_> for Beginning<'_> {
    type Value = bool;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string")
    }

    fn visit_bytes<E>(self, text: &[u8]) -> Result<bool, E> {
        Ok(text.starts_with(self.0))
    }
}

/// The payloads of one run below `fixtures/hooks`, by file name and in order.
#[cfg(test)]
pub(crate) fn payloads(run: &str) -> Vec<(String, Vec<u8>)> {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/hooks").join(run);
    let mut files: Vec<_> =
        std::fs::read_dir(folder).expect("the fixtures").flatten().map(|file| file.path()).collect();
    files.sort();
    let name = |path: &std::path::Path| path.file_stem().expect("a name").to_string_lossy().into_owned();
    files.iter().map(|path| (name(path), std::fs::read(path).expect("a payload"))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALLOWED: &[&str] = &["id", "path", "text"];

    fn object(input: &str) -> Result<HookObject<'_>, Refused> {
        HookObject::read(input.as_bytes(), ALLOWED)
    }

    #[test]
    fn only_members_on_the_allowlist_are_kept() {
        let object = object(r#"{"id":"a","secret":"s","path":null}"#).expect("an object");
        assert_eq!(object.required("id"), Ok("a".into()));
        assert_eq!(object.optional("secret"), Ok(None));
        assert!(!format!("{object:?}").contains("secret"));
    }

    #[test]
    fn null_and_absent_are_both_nothing_and_not_enough_for_what_is_required() {
        let object = object(r#"{"path":null}"#).expect("an object");
        assert_eq!((object.optional("path"), object.optional("id")), (Ok(None), Ok(None)));
        assert_eq!((object.required("path"), object.required("id")), (Err(Refused), Err(Refused)));
    }

    #[test]
    fn the_beginning_of_a_text_is_compared_as_it_reads_and_not_as_it_is_spelled() {
        let begins = |text: &str| object(text).expect("an object").begins_with("text", "<task>");
        assert!(begins(r#"{"text":"<task> and \ud800 more"}"#));
        assert!(begins(r#"{"text":"\u003ctask>"}"#));
        assert!(!begins(r#"{"text":" <task>"}"#));
        assert!(!begins(r#"{"text":["<task>"]}"#));
        assert!(!begins(r#"{"id":"<task>"}"#));
    }

    #[test]
    fn a_word_that_is_not_known_is_told_apart_from_none_at_all() {
        #[derive(Debug, PartialEq, serde::Deserialize)]
        #[serde(rename_all = "snake_case")]
        enum Colour {
            DarkRed,
        }
        let word = |text: &str| object(text).expect("an object").word::<Colour>("id");
        assert_eq!(word(r#"{"id":"dark_red"}"#), Ok(Some(Colour::DarkRed)));
        assert_eq!(word(r#"{"id":"green"}"#), Ok(None));
        assert_eq!(word("{}"), Err(Refused));
        assert_eq!(word(r#"{"id":{"dark_red":null}}"#), Err(Refused));
    }
}
