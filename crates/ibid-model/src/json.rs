//! JSON that keeps its spelling.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;

use crate::Text;

/// One JSON value, kept as it was written: number spelling, key order and duplicate keys survive.
///
/// The text is always one valid JSON value (RFC 8259). It may hold escaped lone surrogates, which
/// JSON allows and Rust strings cannot: reading such a value with [`Json::read`] fails, and
/// [`Json::without_lone_surrogates`] gives a readable copy.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Json(Text);

impl Json {
    /// A value from its text.
    ///
    /// # Errors
    /// When the text is not exactly one JSON value.
    pub fn from_text(text: impl Into<Text>) -> Result<Json, serde_json::Error> {
        let text = text.into();
        let value: &RawValue = serde_json::from_str(&text)?;
        let value = Text::part_of(&text, value.get());
        Ok(Json(value))
    }

    /// A value found inside `whole` by the JSON parser, sharing its memory.
    #[must_use]
    pub fn part_of(whole: &Text, part: &RawValue) -> Json {
        Json(Text::part_of(whole, part.get()))
    }

    /// A value made from anything that serialises.
    ///
    /// # Errors
    /// When the value cannot be JSON, for example a map whose keys are not strings.
    pub fn of<T: Serialize + ?Sized>(value: &T) -> Result<Json, serde_json::Error> {
        serde_json::to_string(value).map(|text| Json(Text::from(text)))
    }

    /// The value `null`.
    #[must_use]
    pub fn null() -> Json {
        Json(Text::from("null"))
    }

    /// A JSON string.
    #[must_use]
    pub fn string(text: &str) -> Json {
        Json(Text::from(serde_json::Value::from(text).to_string()))
    }

    /// The text as it was written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Reads the value into a type.
    ///
    /// # Errors
    /// When the value does not fit the type, or holds a lone surrogate.
    pub fn read<T: DeserializeOwned>(&self) -> Result<T, serde_json::Error> {
        serde_json::from_str(&self.0)
    }

    /// Reads the value into a type that borrows from it.
    ///
    /// # Errors
    /// As [`Json::read`].
    pub fn read_borrowed<'a, T: Deserialize<'a>>(&'a self) -> Result<T, serde_json::Error> {
        serde_json::from_str(&self.0)
    }

    /// Whether the value is an object.
    #[must_use]
    pub fn is_object(&self) -> bool {
        self.0.trim_start().starts_with('{')
    }

    /// The string, when the value is one.
    #[must_use]
    pub fn as_string(&self) -> Option<String> {
        self.read().ok()
    }

    /// The value without white space between tokens; spelling and order stay as they are. Two
    /// values with equal compact text are the same value.
    #[must_use]
    pub fn compact(&self) -> Json {
        let mut out = String::with_capacity(self.0.len());
        let (mut in_string, mut escaped) = (false, false);
        for c in self.0.chars() {
            if in_string {
                out.push(c);
                if escaped {
                    escaped = false;
                } else if c == '\\' {
                    escaped = true;
                } else if c == '"' {
                    in_string = false;
                }
            } else if !matches!(c, ' ' | '\t' | '\n' | '\r') {
                in_string = c == '"';
                out.push(c);
            }
        }
        Json(Text::from(out))
    }

    /// The value on indented lines, for people; spelling and order stay as they are.
    #[must_use]
    pub fn pretty(&self) -> String {
        let compact = self.compact();
        let mut out = String::with_capacity(compact.as_str().len() * 2);
        let (mut depth, mut in_string, mut escaped) = (0_usize, false, false);
        let mut chars = compact.as_str().chars().peekable();
        let line = |out: &mut String, depth: usize| {
            out.push('\n');
            out.extend(std::iter::repeat_n("  ", depth));
        };
        while let Some(c) = chars.next() {
            if in_string {
                out.push(c);
                match c {
                    _ if escaped => escaped = false,
                    '\\' => escaped = true,
                    '"' => in_string = false,
                    _ => {}
                }
                continue;
            }
            match c {
                '{' | '[' if matches!(chars.peek(), Some('}' | ']')) => out.push(c),
                '{' | '[' => {
                    out.push(c);
                    depth += 1;
                    line(&mut out, depth);
                }
                '}' | ']' => {
                    if !out.ends_with(['{', '[']) {
                        depth = depth.saturating_sub(1);
                        line(&mut out, depth);
                    }
                    out.push(c);
                }
                ',' => {
                    out.push(c);
                    line(&mut out, depth);
                }
                ':' => out.push_str(": "),
                _ => {
                    in_string = c == '"';
                    out.push(c);
                }
            }
        }
        out
    }

    /// A copy in which every escaped lone surrogate is `\ufffd`, and how many there were.
    #[must_use]
    pub fn without_lone_surrogates(&self) -> (Json, usize) {
        let (text, count) = replace_lone_surrogates(&self.0);
        match text {
            Cow::Borrowed(_) => (self.clone(), 0),
            Cow::Owned(text) => (Json(Text::from(text)), count),
        }
    }
}

/// Replaces every escaped lone UTF-16 surrogate (`\ud800` to `\udfff` without its partner) in
/// JSON text by `\ufffd`; lengths stay equal, so byte positions stay true. Also says how many.
#[must_use]
pub fn replace_lone_surrogates(json: &str) -> (Cow<'_, str>, usize) {
    let bytes = json.as_bytes();
    // Hardly any text has an escape of this half of the plane, so that is asked first.
    if !has_surrogate(json) {
        return (Cow::Borrowed(json), 0);
    }
    let mut lone = Vec::new();
    let mut at = 0;
    while let Some(found) = bytes.get(at..).and_then(|rest| memchr::memchr(b'\\', rest)) {
        let start = at + found;
        match escape_unit(bytes, start) {
            Some(0xD800..=0xDBFF) => match escape_unit(bytes, start + 6) {
                Some(0xDC00..=0xDFFF) => at = start + 12,
                _ => {
                    lone.push(start);
                    at = start + 6;
                }
            },
            Some(0xDC00..=0xDFFF) => {
                lone.push(start);
                at = start + 6;
            }
            Some(_) => at = start + 6,
            None => at = start + 2,
        }
    }
    if lone.is_empty() {
        return (Cow::Borrowed(json), 0);
    }
    let mut out = String::with_capacity(json.len());
    let mut from = 0;
    for start in &lone {
        out.push_str(json.get(from..*start).unwrap_or_default());
        out.push_str("\\ufffd");
        from = start + 6;
    }
    out.push_str(json.get(from..).unwrap_or_default());
    (Cow::Owned(out), lone.len())
}

/// Whether JSON text may have the escape of a surrogate.
pub(crate) fn has_surrogate(json: &str) -> bool {
    let bytes = json.as_bytes();
    memchr::memmem::find(bytes, b"\\ud").is_some() || memchr::memmem::find(bytes, b"\\uD").is_some()
}

/// The UTF-16 unit of a `\uXXXX` escape that begins at `start`, if one does.
pub(crate) fn escape_unit(bytes: &[u8], start: usize) -> Option<u32> {
    let escape = bytes.get(start..start.checked_add(6)?)?;
    let digits = escape.strip_prefix(b"\\u")?;
    let digits = std::str::from_utf8(digits).ok()?;
    if !digits.bytes().all(|b| b.is_ascii_hexdigit()) {
        return None;
    }
    u32::from_str_radix(digits, 16).ok()
}

impl fmt::Debug for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Display for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Serialize for Json {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let raw: &RawValue = serde_json::from_str(&self.0).map_err(serde::ser::Error::custom)?;
        raw.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = Box::<RawValue>::deserialize(deserializer)?;
        Ok(Json(Text::from(Box::<str>::from(raw).into_string())))
    }
}

impl JsonSchema for Json {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> Cow<'static, str> {
        "Json".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_keeps_big_numbers_order_and_duplicate_keys() {
        let written = r#"{"z":1,"a":12345678901234567890123,"z":2}"#;
        let json = Json::from_text(written).unwrap();
        assert_eq!(serde_json::to_string(&json).unwrap(), written);
        let back: Json = serde_json::from_str(written).unwrap();
        assert_eq!(back, json);
    }

    #[test]
    fn compact_leaves_strings_alone() {
        let json = Json::from_text("{ \"a b\" : [ 1 , \"x \\\" y\" ] }").unwrap();
        assert_eq!(json.compact().as_str(), r#"{"a b":[1,"x \" y"]}"#);
    }

    #[test]
    fn pretty_is_what_serde_json_would_write_but_for_spelling() {
        let written = r#"{"a":[1,{"b":{}},[]],"c":"x \" { y","d":1.50}"#;
        let value: serde_json::Value = serde_json::from_str(written).unwrap();
        let expected = serde_json::to_string_pretty(&value).unwrap().replace("1.5", "1.50");
        assert_eq!(Json::from_text(written).unwrap().pretty(), expected);
    }

    #[test]
    fn lone_surrogates_are_replaced_and_pairs_are_kept() {
        let json = Json::from_text(r#"["\ud99c abc","\ud83d\ude00","\\ud800","x\udc00"]"#).unwrap();
        let (clean, count) = json.without_lone_surrogates();
        assert_eq!(count, 2);
        assert_eq!(clean.as_str(), r#"["\ufffd abc","\ud83d\ude00","\\ud800","x\ufffd"]"#);
        assert!(clean.read::<Vec<String>>().is_ok());
    }
}
