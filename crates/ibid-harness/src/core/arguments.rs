//! The input of a tool call, as the harness folders take it apart and put it together.

use std::fmt;

use ibid_model::{Argument, Json, Text, Tool};
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

/// The arguments of a tool call in the order written. Taking one out removes it; what is left
/// becomes [`ibid_model::ToolUse::extra`], so that nothing is dropped.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Arguments(Vec<Argument>);

impl Arguments {
    /// The arguments of an input that is an object without lone surrogates in its keys. Of a key
    /// that stands twice, the last value counts, as for every JSON reader of the harnesses.
    #[must_use]
    pub fn of(input: &Json) -> Option<Arguments> {
        let mut arguments: Arguments = serde_json::from_str(input.as_str()).ok()?;
        let mut seen = std::collections::HashSet::new();
        arguments.0.reverse();
        arguments.0.retain(|argument| seen.insert(argument.name.clone()));
        arguments.0.reverse();
        Some(arguments)
    }

    /// What a call asks for, and its arguments beyond that, where the way back gives the same again;
    /// what would not come back is not mapped. `decode` takes out the arguments that it knows, `encode`
    /// writes them.
    pub fn typed(
        input: &Json,
        decode: impl Fn(&mut Arguments) -> Option<Tool>,
        encode: impl Fn(&Tool) -> Option<Arguments>,
    ) -> Option<(Tool, Vec<Argument>)> {
        let mut arguments = Arguments::of(input)?;
        let tool = decode(&mut arguments)?;
        let extra = arguments.into_rest();
        let mut again = encode(&tool)?;
        again.push_rest(&extra);
        let same = decode(&mut again)?;
        (same == tool && again.into_rest() == extra).then_some((tool, extra))
    }

    fn position(&self, name: &str) -> Option<usize> {
        self.0.iter().position(|argument| argument.name == name)
    }

    /// Takes an argument of a type; none when it is absent or of another type (it then stays).
    pub fn take<T: serde::de::DeserializeOwned>(&mut self, name: &str) -> Option<T> {
        let at = self.position(name)?;
        let value = self.0.get(at)?.value.read().ok()?;
        self.0.remove(at);
        Some(value)
    }

    /// Takes a string.
    pub fn take_text(&mut self, name: &str) -> Option<Text> {
        self.take::<String>(name).map(Text::from)
    }

    /// Takes a value as it was written.
    pub fn take_json(&mut self, name: &str) -> Option<Json> {
        let at = self.position(name)?;
        Some(self.0.remove(at).value)
    }

    /// Whether an argument of this name is there.
    #[must_use]
    pub fn has(&self, name: &str) -> bool {
        self.position(name).is_some()
    }

    /// Adds an argument at the end.
    pub fn push<T: serde::Serialize + ?Sized>(&mut self, name: &str, value: &T) {
        // Only maps with keys that are not strings fail to serialise, and no tool has those.
        let value = Json::of(value).unwrap_or_else(|_| Json::null());
        self.0.push(Argument { name: name.into(), value });
    }

    /// Adds an argument at the end, if there is a value.
    pub fn push_some<T: serde::Serialize>(&mut self, name: &str, value: Option<&T>) {
        if let Some(value) = value {
            self.push(name, value);
        }
    }

    /// Adds what is left of another call's arguments, except names that are there already.
    pub fn push_rest(&mut self, rest: &[Argument]) {
        for argument in rest {
            if !self.has(&argument.name) {
                self.0.push(argument.clone());
            }
        }
    }

    /// What was not taken.
    #[must_use]
    pub fn into_rest(self) -> Vec<Argument> {
        self.0
    }

    /// The arguments as one compact object.
    #[must_use]
    pub fn to_json(&self) -> Json {
        let mut text = String::from("{");
        for (number, argument) in self.0.iter().enumerate() {
            if number > 0 {
                text.push(',');
            }
            text.push_str(Json::string(&argument.name).as_str());
            text.push(':');
            text.push_str(argument.value.compact().as_str());
        }
        text.push('}');
        Json::from_text(text).unwrap_or_else(|_| Json::null())
    }
}

impl<'de> Deserialize<'de> for Arguments {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Object;
        impl<'de> Visitor<'de> for Object {
            type Value = Arguments;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Arguments, M::Error> {
                let mut arguments = Vec::new();
                while let Some(name) = map.next_key::<String>()? {
                    let value: Box<RawValue> = map.next_value()?;
                    let value = Json::from_text(String::from(Box::<str>::from(value)))
                        .map_err(serde::de::Error::custom)?;
                    arguments.push(Argument { name: name.into(), value });
                }
                Ok(Arguments(arguments))
            }
        }
        deserializer.deserialize_map(Object)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_taken_is_left_in_order() {
        let input = Json::from_text(r#"{"z":1,"command":"ls","a":[1.50],"z":2}"#).unwrap();
        let mut arguments = Arguments::of(&input).unwrap();
        assert_eq!(arguments.take_text("command").unwrap(), "ls");
        assert_eq!(arguments.take_text("a"), None);
        assert_eq!(arguments.to_json().as_str(), r#"{"a":[1.50],"z":2}"#);
    }

    #[test]
    fn an_input_that_is_no_object_has_no_arguments() {
        assert_eq!(Arguments::of(&Json::string("x")), None);
    }
}
