//! One value of a row, exactly as SQLite stores it.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rusqlite::types::{ToSql, ToSqlOutput, ValueRef};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// One value of a row. Two values are equal only when SQLite would store the same bytes: reals
/// are compared bit for bit, and `1` is not `1.0`.
///
/// In JSON: `null`, an integer and text are themselves; the others are objects with one key,
/// `{"real": "1.5"}`, `{"blob": BASE64}` and `{"malformed_text": BASE64}`.
#[derive(Clone, Debug)]
pub enum SqlValue {
    /// NULL.
    Null,
    /// An integer.
    Integer(i64),
    /// A floating-point number.
    Real(f64),
    /// Text that is UTF-8.
    Text(String),
    /// Text whose bytes are not UTF-8, kept as they are.
    MalformedText(Vec<u8>),
    /// Bytes.
    Blob(Vec<u8>),
}

impl SqlValue {
    /// The value as SQLite hands it out.
    #[must_use]
    pub fn from_sql(value: ValueRef<'_>) -> SqlValue {
        match value {
            ValueRef::Null => SqlValue::Null,
            ValueRef::Integer(value) => SqlValue::Integer(value),
            ValueRef::Real(value) => SqlValue::Real(value),
            ValueRef::Text(bytes) => SqlValue::text_from_bytes(bytes),
            ValueRef::Blob(bytes) => SqlValue::Blob(bytes.to_vec()),
        }
    }

    fn text_from_bytes(bytes: &[u8]) -> SqlValue {
        match std::str::from_utf8(bytes) {
            Ok(text) => SqlValue::Text(text.to_owned()),
            Err(_) => SqlValue::MalformedText(bytes.to_vec()),
        }
    }

    /// The text, when the value is text that is UTF-8.
    #[must_use]
    pub fn as_str(&self) -> Option<&str> {
        match self {
            SqlValue::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The integer, when the value is one.
    #[must_use]
    pub fn as_integer(&self) -> Option<i64> {
        match self {
            SqlValue::Integer(value) => Some(*value),
            _ => None,
        }
    }

    /// How many bytes of content the value holds (eight for a number).
    #[must_use]
    pub fn bytes(&self) -> u64 {
        match self {
            SqlValue::Null => 0,
            SqlValue::Integer(_) | SqlValue::Real(_) => 8,
            SqlValue::Text(text) => text.len() as u64,
            SqlValue::MalformedText(bytes) | SqlValue::Blob(bytes) => bytes.len() as u64,
        }
    }

    /// A short form for messages: text and integers as they are (cut at 80 characters), of the
    /// rest only the kind.
    pub(crate) fn label(&self) -> String {
        match self {
            SqlValue::Null => "NULL".to_owned(),
            SqlValue::Integer(value) => value.to_string(),
            SqlValue::Real(value) => value.to_string(),
            SqlValue::Text(text) => {
                let head: String = text.chars().take(80).collect();
                format!("{head:?}")
            }
            SqlValue::MalformedText(_) => "text that is not UTF-8".to_owned(),
            SqlValue::Blob(_) => "a blob".to_owned(),
        }
    }
}

impl PartialEq for SqlValue {
    fn eq(&self, other: &SqlValue) -> bool {
        match (self, other) {
            (SqlValue::Null, SqlValue::Null) => true,
            (SqlValue::Integer(a), SqlValue::Integer(b)) => a == b,
            (SqlValue::Real(a), SqlValue::Real(b)) => a.to_bits() == b.to_bits(),
            (SqlValue::Text(a), SqlValue::Text(b)) => a == b,
            (SqlValue::MalformedText(a), SqlValue::MalformedText(b)) => a == b,
            (SqlValue::Blob(a), SqlValue::Blob(b)) => a == b,
            _ => false,
        }
    }
}

impl Eq for SqlValue {}

impl From<&str> for SqlValue {
    fn from(text: &str) -> Self {
        SqlValue::Text(text.to_owned())
    }
}

impl From<String> for SqlValue {
    fn from(text: String) -> Self {
        SqlValue::Text(text)
    }
}

impl From<i64> for SqlValue {
    fn from(value: i64) -> Self {
        SqlValue::Integer(value)
    }
}

impl<T: Into<SqlValue>> From<Option<T>> for SqlValue {
    fn from(value: Option<T>) -> Self {
        value.map_or(SqlValue::Null, Into::into)
    }
}

impl ToSql for SqlValue {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match self {
            SqlValue::Null => ValueRef::Null,
            SqlValue::Integer(value) => ValueRef::Integer(*value),
            SqlValue::Real(value) => ValueRef::Real(*value),
            SqlValue::Text(text) => ValueRef::Text(text.as_bytes()),
            SqlValue::MalformedText(bytes) => ValueRef::Text(bytes),
            SqlValue::Blob(bytes) => ValueRef::Blob(bytes),
        }))
    }
}

/// The JSON of a value. Reals are strings because JSON has no infinities, and because not every
/// reader keeps the last bit of a number.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Written {
    Integer(i64),
    Text(String),
    Tagged(Tagged),
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Tagged {
    Real(String),
    Blob(String),
    MalformedText(String),
}

/// A NaN is written with its bits; every other real with the shortest decimal that reads back
/// to the same bits.
fn real_to_text(value: f64) -> String {
    if value.is_nan() { format!("nan:{:016x}", value.to_bits()) } else { format!("{value:?}") }
}

fn real_from_text(text: &str) -> Option<f64> {
    match text.strip_prefix("nan:") {
        Some(bits) => u64::from_str_radix(bits, 16).ok().map(f64::from_bits),
        None => text.parse().ok(),
    }
}

impl Serialize for SqlValue {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let written = match self {
            SqlValue::Null => return serializer.serialize_unit(),
            SqlValue::Integer(value) => Written::Integer(*value),
            SqlValue::Text(text) => return serializer.serialize_str(text),
            SqlValue::Real(value) => Written::Tagged(Tagged::Real(real_to_text(*value))),
            SqlValue::Blob(bytes) => Written::Tagged(Tagged::Blob(STANDARD.encode(bytes))),
            SqlValue::MalformedText(bytes) => Written::Tagged(Tagged::MalformedText(STANDARD.encode(bytes))),
        };
        written.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for SqlValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        use serde::de::Error;
        let decode = |text: String| STANDARD.decode(text).map_err(D::Error::custom);
        Ok(match Option::<Written>::deserialize(deserializer)? {
            None => SqlValue::Null,
            Some(Written::Integer(value)) => SqlValue::Integer(value),
            Some(Written::Text(text)) => SqlValue::Text(text),
            Some(Written::Tagged(Tagged::Real(text))) => real_from_text(&text)
                .map(SqlValue::Real)
                .ok_or_else(|| D::Error::custom(format!("{text:?} is no real number")))?,
            Some(Written::Tagged(Tagged::Blob(text))) => SqlValue::Blob(decode(text)?),
            Some(Written::Tagged(Tagged::MalformedText(text))) => SqlValue::text_from_bytes(&decode(text)?),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_survives_json_bit_for_bit() {
        let values = vec![
            SqlValue::Null,
            SqlValue::Integer(i64::MIN),
            SqlValue::Integer(9_007_199_254_740_993),
            SqlValue::Real(0.1 + 0.2),
            SqlValue::Real(-0.0),
            SqlValue::Real(f64::NEG_INFINITY),
            SqlValue::Real(f64::from_bits(0x7ff8_0000_0000_0001)),
            SqlValue::Real(5e-324),
            SqlValue::from("text with \u{0} and \u{2028}"),
            SqlValue::MalformedText(vec![b'a', 0xff]),
            SqlValue::Blob(vec![0, 1, 255]),
        ];
        let json = serde_json::to_string(&values).unwrap();
        let back: Vec<SqlValue> = serde_json::from_str(&json).unwrap();
        assert_eq!(back, values, "{json}");
    }

    #[test]
    fn the_json_form_is_stable() {
        let values =
            [SqlValue::Integer(1), SqlValue::Real(1.0), SqlValue::from("1"), SqlValue::Blob(vec![1])];
        assert_eq!(serde_json::to_string(&values).unwrap(), r#"[1,{"real":"1.0"},"1",{"blob":"AQ=="}]"#);
    }

    #[test]
    fn an_integer_is_not_the_real_of_the_same_size() {
        assert_ne!(SqlValue::Integer(1), SqlValue::Real(1.0));
        assert_ne!(SqlValue::Real(0.0), SqlValue::Real(-0.0));
    }
}
