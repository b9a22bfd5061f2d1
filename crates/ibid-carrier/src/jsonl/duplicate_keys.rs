//! Objects with the same key twice.

use std::collections::HashMap;
use std::fmt;

use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

/// Objects below this depth are left as they are; no reader here goes deeper either.
const DEPTH: usize = 128;

/// Whether a reader failed because an object has a field twice.
pub(super) fn is_duplicate(error: &serde_json::Error) -> bool {
    error.is_data() && error.to_string().starts_with("duplicate field ")
}

/// The same value with only the last of equal keys in each object, and how many were left out;
/// none when there are no equal keys, or the text is no JSON.
pub(super) fn keep_last(json: &str) -> Option<(String, u64)> {
    let mut out = String::with_capacity(json.len());
    let mut left_out = 0;
    write(json, DEPTH, &mut out, &mut left_out).ok()?;
    (left_out > 0).then_some((out, left_out))
}

fn write(json: &str, depth: usize, out: &mut String, left_out: &mut u64) -> Result<(), serde_json::Error> {
    let json = json.trim_start_matches([' ', '\t', '\r', '\n']);
    match (json.as_bytes().first(), depth) {
        (Some(b'{'), 1..) => {
            let Members(members) = serde_json::from_str(json)?;
            let last: HashMap<&str, usize> =
                members.iter().enumerate().map(|(at, (key, _))| (key.as_str(), at)).collect();
            out.push('{');
            let mut first = true;
            for (at, (key, value)) in members.iter().enumerate() {
                if last.get(key.as_str()) != Some(&at) {
                    *left_out += 1;
                    continue;
                }
                if !std::mem::take(&mut first) {
                    out.push(',');
                }
                out.push_str(&serde_json::to_string(key)?);
                out.push(':');
                write(value.get(), depth - 1, out, left_out)?;
            }
            out.push('}');
        }
        (Some(b'['), 1..) => {
            let elements: Vec<&RawValue> = serde_json::from_str(json)?;
            out.push('[');
            for (at, element) in elements.iter().enumerate() {
                if at > 0 {
                    out.push(',');
                }
                write(element.get(), depth - 1, out, left_out)?;
            }
            out.push(']');
        }
        _ => out.push_str(json),
    }
    Ok(())
}

/// The members of an object in order, equal keys included.
struct Members<'a>(Vec<(String, &'a RawValue)>);

impl<'de: 'a, 'a> Deserialize<'de> for Members<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Collect;
        impl<'de> Visitor<'de> for Collect {
            type Value = Vec<(String, &'de RawValue)>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(members)
            }
        }
        deserializer.deserialize_map(Collect).map(Members)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_of_equal_keys_remains_at_every_depth() {
        let (text, count) = keep_last(r#"{"a":1,"b":[{"c":1.50,"c":2.50}],"a":{"d":1}}"#).unwrap();
        assert_eq!(text, r#"{"b":[{"c":2.50}],"a":{"d":1}}"#);
        assert_eq!(count, 2);
    }

    #[test]
    fn a_key_is_the_same_however_it_is_spelled() {
        assert_eq!(keep_last(r#"{"a":1,"\u0061":2}"#).unwrap().0, r#"{"a":2}"#);
    }

    #[test]
    fn nothing_is_written_back_when_all_keys_differ() {
        assert_eq!(keep_last(r#"{"a":{"b":1},"b":{"b":1}}"#), None);
    }
}
