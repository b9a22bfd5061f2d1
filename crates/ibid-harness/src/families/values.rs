//! Taking JSON apart one value at a time, for records whose fields may be absent or of another type
//! than they should be.
//!
//! Nothing is copied that can stay in its document, and a field that is odd never hides the rest of
//! its record: it reads as absent, and the document keeps it.

use std::borrow::Cow;
use std::fmt;

use ibid_carrier::jsonl::Document;
use ibid_model::{Finding, FindingKind, Json, Text, Timestamp, replace_lone_surrogates};
use serde::de::{Deserialize, Deserializer, Error, MapAccess, Visitor};
use serde_json::value::RawValue;

/// Seconds since 1970 are fewer than this, milliseconds are more (after April 1970).
const SECONDS: f64 = 1e10;

/// One value inside a document.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Value<'a> {
    whole: &'a Text,
    raw: &'a RawValue,
}

/// The fields of an object in the order written; of a name that comes again the last one counts.
#[derive(Clone, Debug)]
pub(crate) struct Fields<'a> {
    whole: &'a Text,
    list: Vec<(Cow<'a, str>, &'a RawValue)>,
}

impl<'a> Value<'a> {
    /// The value that a whole text is.
    ///
    /// # Errors
    /// When the text is not one JSON value, or holds half of a surrogate pair, which its carrier
    /// can repair.
    pub(crate) fn of(whole: &'a Text) -> Result<Value<'a>, serde_json::Error> {
        if replace_lone_surrogates(whole).1 > 0 {
            return Err(serde_json::Error::custom("half of a surrogate pair"));
        }
        Ok(Value { whole, raw: serde_json::from_str(whole)? })
    }

    /// The value as it was written.
    pub(crate) fn json(self) -> Json {
        Json::part_of(self.whole, self.raw)
    }

    /// Where it stands in the whole, in bytes.
    pub(crate) fn place(self) -> (u64, u64) {
        let begin = self.whole.as_str().as_ptr() as usize;
        let start = (self.raw.get().as_ptr() as usize).saturating_sub(begin);
        (start as u64, (start + self.raw.get().len()) as u64)
    }

    /// A string.
    pub(crate) fn text(self) -> Option<Text> {
        self.raw.get().starts_with('"').then(|| Text::of_json_string(self.whole, self.raw).ok()).flatten()
    }

    /// An object.
    pub(crate) fn fields(self) -> Option<Fields<'a>> {
        let Pairs(list) = serde_json::from_str(self.raw.get()).ok()?;
        Some(Fields { whole: self.whole, list })
    }

    /// The elements of an array.
    pub(crate) fn items(self) -> Option<Vec<Value<'a>>> {
        let items: Vec<&'a RawValue> = serde_json::from_str(self.raw.get()).ok()?;
        Some(items.into_iter().map(|raw| Value { whole: self.whole, raw }).collect())
    }

    /// `true` or `false`.
    pub(crate) fn flag(self) -> Option<bool> {
        self.raw.get().parse().ok()
    }

    /// A number.
    pub(crate) fn number(self) -> Option<f64> {
        self.raw.get().parse().ok().filter(|number: &f64| number.is_finite())
    }

    /// A count; one written with a fraction of zero is one too, as JavaScript makes no difference.
    pub(crate) fn count(self) -> Option<u64> {
        if let Ok(count) = self.raw.get().parse() {
            return Some(count);
        }
        // 2^53: beyond it a float does not say which whole number is meant.
        let number = self.number()?;
        (number >= 0.0 && number.fract() == 0.0 && number <= 9_007_199_254_740_992.0).then_some(number as u64)
    }

    /// A time: RFC 3339 with a zone, or seconds or milliseconds since 1970.
    pub(crate) fn time(self) -> Option<Timestamp> {
        if let Some(text) = self.text() {
            return Timestamp::parse(&text);
        }
        let number = self.number().filter(|number| *number > 0.0 && *number < 1e15)?;
        let milliseconds = if number < SECONDS { number * 1000.0 } else { number };
        Timestamp::from_milliseconds(milliseconds as i64)
    }
}

impl<'a> Fields<'a> {
    /// The value of a field; `null` is none.
    pub(crate) fn get(&self, name: &str) -> Option<Value<'a>> {
        let (_, raw) = self.list.iter().rev().find(|(known, _)| known == name)?;
        (raw.get() != "null").then_some(Value { whole: self.whole, raw })
    }

    /// The value of the first of several fields that is there.
    pub(crate) fn first(&self, names: &[&str]) -> Option<Value<'a>> {
        names.iter().find_map(|name| self.get(name))
    }

    /// A string.
    pub(crate) fn text(&self, name: &str) -> Option<Text> {
        self.get(name)?.text()
    }

    /// A string with more than white space.
    pub(crate) fn filled(&self, name: &str) -> Option<Text> {
        self.text(name).filter(|text| !text.is_blank())
    }

    /// An object.
    pub(crate) fn fields(&self, name: &str) -> Option<Fields<'a>> {
        self.get(name)?.fields()
    }

    /// The elements of an array; none of them when there is no array.
    pub(crate) fn items(&self, name: &str) -> Vec<Value<'a>> {
        self.get(name).and_then(Value::items).unwrap_or_default()
    }

    /// A count.
    pub(crate) fn count(&self, name: &str) -> Option<u64> {
        self.get(name)?.count()
    }

    /// A time.
    pub(crate) fn time(&self, name: &str) -> Option<Timestamp> {
        self.get(name)?.time()
    }
}

/// The text of a file that is one JSON value, repaired where it can be, and what was wrong with it.
/// Positions in it are those in the file, unless a byte of it is not UTF-8.
pub(crate) fn whole_text(document: &Document) -> (Text, Vec<Finding>) {
    let mut findings = document.findings().to_vec();
    let text = match document.text() {
        Some(text) => text.clone(),
        None => {
            findings.push(Finding::new(FindingKind::InvalidUtf8, "bytes that are not UTF-8"));
            Text::from(String::from_utf8_lossy(document.bytes()).into_owned())
        }
    };
    let (repaired, halves) = replace_lone_surrogates(&text);
    let text = match repaired {
        Cow::Borrowed(_) => text.clone(),
        Cow::Owned(repaired) => {
            let finding = Finding::new(FindingKind::LoneSurrogate, "half of a surrogate pair");
            findings.push(finding.times(halves as u64));
            Text::from(repaired)
        }
    };
    // A byte order mark is as wide as three spaces, which JSON allows.
    let text = match text.strip_prefix('\u{feff}') {
        Some(rest) => Text::from(format!("   {rest}")),
        None => text,
    };
    (text, findings)
}

struct Pairs<'a>(Vec<(Cow<'a, str>, &'a RawValue)>);

impl<'de: 'a, 'a> Deserialize<'de> for Pairs<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Object;
        #[derive(serde::Deserialize)]
        struct Name<'a>(#[serde(borrow)] Cow<'a, str>);
        impl<'de> Visitor<'de> for Object {
            type Value = Pairs<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Self::Value, M::Error> {
                let mut list = Vec::new();
                while let Some((Name(name), raw)) = map.next_entry()? {
                    list.push((name, raw));
                }
                Ok(Pairs(list))
            }
        }
        deserializer.deserialize_map(Object)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read<T>(json: &str, take: impl FnOnce(Value<'_>) -> T) -> T {
        let whole = Text::from(json);
        take(Value::of(&whole).unwrap())
    }

    #[test]
    fn a_field_of_another_type_is_absent_and_hides_nothing() {
        read(r#"{"a":5,"b":"x","c":null,"d":[1,"y"]}"#, |value| {
            let fields = value.fields().unwrap();
            assert_eq!((fields.text("a"), fields.text("b")), (None, Some("x".into())));
            assert!(fields.get("c").is_none());
            assert_eq!(fields.items("d").last().and_then(|item| item.text()), Some("y".into()));
            assert!(fields.items("b").is_empty());
        });
    }

    #[test]
    fn of_a_name_that_comes_again_the_last_value_counts() {
        read(r#"{"a":1,"\u0061":2}"#, |value| assert_eq!(value.fields().unwrap().count("a"), Some(2)));
    }

    #[test]
    fn a_value_knows_where_it_stands() {
        let json = r#"{ "a" : [10, {"b":1}] }"#;
        read(json, |value| {
            let items = value.fields().unwrap().items("a");
            let (start, end) = items.last().unwrap().place();
            assert_eq!(json.get(start as usize..end as usize), Some(r#"{"b":1}"#));
        });
    }

    #[test]
    fn a_time_is_text_with_a_zone_or_seconds_or_milliseconds() {
        let at = |json: &str| read(json, |value| value.time()).map(Timestamp::as_milliseconds);
        assert_eq!(at(r#""2026-09-01T10:00:00Z""#), Some(1_788_256_800_000));
        assert_eq!(at("1788256800"), Some(1_788_256_800_000));
        assert_eq!(at("1788256800000"), Some(1_788_256_800_000));
        assert_eq!(at("1788256800000.5"), Some(1_788_256_800_000));
        for nothing in ["0", "-5", "1e300", r#""2026-09-01 10:00""#, "true", "{}"] {
            assert_eq!(at(nothing), None, "{nothing}");
        }
    }

    #[test]
    fn a_file_is_repaired_without_moving_what_stands_in_it() {
        let (text, findings) =
            whole_text(&Document::from_bytes("\u{feff}[\"\\ud83d\",{}]".as_bytes().to_vec()));
        let items = Value::of(&text).unwrap().items().unwrap();
        assert_eq!(items.first().unwrap().text(), Some("\u{fffd}".into()));
        assert_eq!(items.last().unwrap().place(), (13, 15));
        let kinds: Vec<_> = findings.iter().map(|finding| finding.kind).collect();
        assert_eq!(kinds, [FindingKind::ByteOrderMark, FindingKind::LoneSurrogate]);
        let (text, findings) = whole_text(&Document::from_bytes(b"[\"\xff\"]".to_vec()));
        assert!(Value::of(&text).is_ok());
        assert_eq!(findings.first().unwrap().kind, FindingKind::InvalidUtf8);
    }

    #[test]
    fn a_count_is_whole() {
        let count = |json: &str| read(json, |value| value.count());
        assert_eq!((count("7"), count("7.0"), count("7.5"), count("-7")), (Some(7), Some(7), None, None));
    }
}
