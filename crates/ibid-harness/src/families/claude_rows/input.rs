//! The input of a tool call, taken apart without copying.

use std::borrow::Cow;
use std::fmt;

use ibid_model::{Argument, Json, Replacement, Text, TodoItem};
use serde::de::{Deserialize, DeserializeOwned, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::lenient::{Str, Written};

/// More arguments than any tool has; such an input stays raw, so that looking for an argument
/// stays cheap.
const ARGUMENTS: usize = 64;

/// The arguments of a call in the order written; of a name that stands twice, the last.
pub(super) struct Input<'a> {
    whole: &'a Text,
    arguments: Vec<(Cow<'a, str>, &'a RawValue)>,
}

impl<'a> Input<'a> {
    /// The arguments of an input that is an object.
    pub(super) fn of(input: &'a RawValue, whole: &'a Text) -> Option<Input<'a>> {
        let Object(arguments) = serde_json::from_str(input.get()).ok()?;
        (arguments.len() <= ARGUMENTS).then_some(Input { whole, arguments })
    }

    fn position(&self, name: &str) -> Option<usize> {
        self.arguments.iter().position(|(key, _)| key == name)
    }

    fn get(&self, name: &str) -> Option<&'a RawValue> {
        self.arguments.iter().find(|(key, _)| key == name).map(|(_, value)| *value)
    }

    /// Takes an argument as it is written.
    pub(super) fn take(&mut self, name: &str) -> Option<&'a RawValue> {
        let at = self.position(name)?;
        Some(self.arguments.remove(at).1)
    }

    /// Takes a string; an argument of another type stays.
    ///
    /// # Errors
    /// When it is a string that cannot be read (a lone surrogate).
    pub(super) fn text(&mut self, name: &str) -> Result<Option<Text>, serde_json::Error> {
        let Some(raw) = self.get(name) else { return Ok(None) };
        let text = Written::of(raw).text(self.whole)?;
        if text.is_some() {
            self.take(name);
        }
        Ok(text)
    }

    /// Takes a value of a type; one of another type stays.
    pub(super) fn value<T: DeserializeOwned>(&mut self, name: &str) -> Option<T> {
        let raw = self.get(name).filter(|raw| raw.get() != "null")?;
        let value = serde_json::from_str(raw.get()).ok()?;
        self.take(name);
        Some(value)
    }

    /// A value as it is written, which stays.
    pub(super) fn json(&self, name: &str) -> Option<Json> {
        self.get(name).map(|raw| Json::part_of(self.whole, raw))
    }

    /// The value of the one argument there is, if that has this name.
    pub(super) fn only(&self, name: &str) -> Option<Json> {
        (self.arguments.len() == 1).then(|| self.json(name)).flatten()
    }

    /// Takes the replacement that an edit of one place asks for.
    ///
    /// # Errors
    /// As [`Input::text`].
    pub(super) fn replacement(&mut self) -> Result<Option<Replacement>, serde_json::Error> {
        let (Some(old), Some(new)) = (self.text("old_string")?, self.text("new_string")?) else {
            return Ok(None);
        };
        Ok(Some(Replacement { old, new, all: self.value("replace_all").unwrap_or(false) }))
    }

    /// What was not taken.
    pub(super) fn rest(self) -> Vec<Argument> {
        let Input { whole, arguments } = self;
        arguments
            .into_iter()
            .map(|(name, value)| Argument {
                name: Text::from_cow(whole, name),
                value: Json::part_of(whole, value),
            })
            .collect()
    }
}

/// The arguments of an object.
struct Object<'a>(Vec<(Cow<'a, str>, &'a RawValue)>);

impl<'de> Deserialize<'de> for Object<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Objects;
        impl<'de> Visitor<'de> for Objects {
            type Value = Object<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Object<'de>, A::Error> {
                let mut arguments: Vec<(Cow<'de, str>, &'de RawValue)> = Vec::new();
                while let Some(Str(key)) = map.next_key()? {
                    let key = key.unwrap_or_default();
                    let value = map.next_value()?;
                    if arguments.len() <= ARGUMENTS {
                        arguments.retain(|(known, _)| *known != key);
                        arguments.push((key, value));
                    }
                }
                Ok(Object(arguments))
            }
        }
        deserializer.deserialize_map(Objects)
    }
}

/// The replacements of an edit of several places: at least one, and each with nothing but what
/// the type holds.
pub(super) fn replacements(edits: &RawValue) -> Option<Vec<Replacement>> {
    #[derive(serde::Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Item {
        old_string: String,
        new_string: String,
        #[serde(default)]
        replace_all: bool,
    }
    let items: Vec<Item> = serde_json::from_str(edits.get()).ok()?;
    let edits = items.into_iter().map(|item| Replacement {
        old: item.old_string.into(),
        new: item.new_string.into(),
        all: item.replace_all,
    });
    let edits: Vec<Replacement> = edits.collect();
    (!edits.is_empty()).then_some(edits)
}

/// The list of things to do, and whether its items hold nothing but what the type does.
pub(super) fn todos(list: Json) -> Option<(Vec<TodoItem>, bool)> {
    #[derive(serde::Deserialize)]
    struct Item {
        content: String,
        status: String,
        #[serde(flatten)]
        rest: std::collections::BTreeMap<String, serde::de::IgnoredAny>,
    }
    let items: Vec<Item> = list.read().ok()?;
    let plain = items.iter().all(|item| item.rest.is_empty());
    let items = items.into_iter();
    Some((
        items.map(|item| TodoItem { text: item.content.into(), status: item.status.into() }).collect(),
        plain,
    ))
}
