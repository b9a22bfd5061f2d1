//! Text that is cheap to share.

use std::borrow::{Borrow, Cow};
use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::Deref;
use std::sync::{Arc, LazyLock, OnceLock};

use bytestring::ByteString;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;

use crate::json::{escape_unit, has_surrogate};

/// Unicode text, immutable and shared: a clone costs one counter, and a part of a larger text
/// can be taken without copying it.
///
/// A string that stands with escapes in a JSON document stays there as it is
/// ([`Text::of_json_string`]). It is decoded when it is read: [`Text::as_str`] keeps what was
/// decoded for as long as the text lives, [`Text::to_str`] does not, and takes no memory of a
/// session in which every text is read once. Comparing, hashing, serialising and showing go the
/// second way.
///
/// A text never holds a lone surrogate (UTF-8 cannot): whoever decodes one puts U+FFFD in its
/// place and reports [`FindingKind::LoneSurrogate`](crate::FindingKind::LoneSurrogate).
#[derive(Clone)]
pub struct Text {
    held: Arc<Held>,
    /// Where the text begins in what is held.
    start: u32,
    /// Its length in bytes; [`ALL`] when it is the whole of what is held.
    len: u32,
}

/// The length of a text that is all of what is held, however long.
const ALL: u32 = u32::MAX;

/// What texts share.
enum Held {
    Plain(ByteString),
    Escaped(Escaped),
}

/// A string as it stands in a JSON document, with at least one escape.
struct Escaped {
    /// What stands between the quotes. It is valid JSON, and has no lone surrogate.
    written: Text,
    decoded: OnceLock<Box<str>>,
}

static EMPTY: LazyLock<Arc<Held>> = LazyLock::new(|| Arc::new(Held::Plain(ByteString::new())));

impl Escaped {
    fn decode(&self) -> String {
        let mut rest = self.written.as_str();
        let mut decoded = String::with_capacity(rest.len());
        while let Some(at) = memchr::memchr(b'\\', rest.as_bytes()) {
            let (plain, escape) = rest.split_at_checked(at).unwrap_or_default();
            let (character, after) = first(escape);
            decoded.push_str(plain);
            decoded.extend(character);
            rest = after;
        }
        decoded.push_str(rest);
        decoded
    }
}

/// The first character of what stands in a JSON string, and what follows.
fn first(written: &str) -> (Option<char>, &str) {
    let mut rest = written.chars();
    let Some(character) = rest.next().filter(|character| *character == '\\').and_then(|_| rest.next()) else {
        let mut rest = written.chars();
        return (rest.next(), rest.as_str());
    };
    let unit = |start| escape_unit(written.as_bytes(), start);
    let (character, len) = match character {
        'n' => (Some('\n'), 2),
        't' => (Some('\t'), 2),
        'r' => (Some('\r'), 2),
        'b' => (Some('\u{8}'), 2),
        'f' => (Some('\u{c}'), 2),
        'u' => match (unit(0), unit(6)) {
            (Some(high @ 0xD800..=0xDBFF), Some(low @ 0xDC00..=0xDFFF)) => {
                (char::from_u32(0x1_0000 + ((high - 0xD800) << 10) + (low - 0xDC00)), 12)
            }
            (unit, _) => (unit.and_then(char::from_u32), 6),
        },
        itself => (Some(itself), 2),
    };
    (character, written.get(len..).unwrap_or_default())
}

impl Held {
    #[inline]
    fn as_str(&self) -> &str {
        match self {
            Held::Plain(text) => text,
            Held::Escaped(escaped) => escaped.decoded.get_or_init(|| escaped.decode().into_boxed_str()),
        }
    }
}

impl Text {
    fn holding(held: Held) -> Text {
        Text { held: Arc::new(held), start: 0, len: ALL }
    }

    /// The text as a string slice. See [`Text::to_str`] for a reader that needs it once.
    #[must_use]
    #[inline]
    pub fn as_str(&self) -> &str {
        let held = self.held.as_str();
        if self.len == ALL {
            return held;
        }
        let start = self.start as usize;
        held.get(start..start + self.len as usize).unwrap_or_default()
    }

    /// The text for one reading: what has to be decoded for it is not kept.
    #[must_use]
    #[inline]
    pub fn to_str(&self) -> Cow<'_, str> {
        match self.undecoded() {
            Some(escaped) => Cow::Owned(escaped.decode()),
            None => Cow::Borrowed(self.as_str()),
        }
    }

    /// The string that would have to be decoded to read this text.
    #[inline]
    fn undecoded(&self) -> Option<&Escaped> {
        match &*self.held {
            Held::Escaped(escaped) if self.len == ALL && escaped.decoded.get().is_none() => Some(escaped),
            _ => None,
        }
    }

    /// A text that shares the memory of `whole`. `part` must be a slice of `whole`; a string
    /// from elsewhere is copied instead, so the call is always correct, only not always free.
    #[must_use]
    pub fn part_of(whole: &Text, part: &str) -> Text {
        if part.is_empty() {
            return Text::default();
        }
        let outer = whole.as_str().as_bytes().as_ptr_range();
        let inner = part.as_bytes().as_ptr_range();
        if inner.start < outer.start || inner.end > outer.end {
            return Text::from(part);
        }
        let before = inner.start as usize - outer.start as usize;
        let start = u32::try_from(whole.start as usize + before).ok();
        let len = u32::try_from(part.len()).ok().filter(|len| *len != ALL);
        match (start.zip(len), &*whole.held) {
            (Some((start, len)), _) => Text { held: whole.held.clone(), start, len },
            // Beyond four gigabytes.
            (None, Held::Plain(text)) => Text::holding(Held::Plain(text.slice_ref(part))),
            (None, Held::Escaped(_)) => Text::from(part),
        }
    }

    /// The text of a JSON string that the parser found inside `whole`, sharing its memory. One
    /// with escapes is decoded when it is read.
    ///
    /// # Errors
    /// When the value is no string, or holds a lone surrogate.
    pub fn of_json_string(whole: &Text, written: &RawValue) -> Result<Text, serde_json::Error> {
        let json = written.get();
        let inner = json.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
        let Some(inner) = inner else { return serde_json::from_str::<String>(json).map(Text::from) };
        // Of these the parser has not seen whether they are pairs.
        if has_surrogate(inner) {
            return serde_json::from_str::<String>(json).map(Text::from);
        }
        Ok(Text::written(Text::part_of(whole, inner)))
    }

    /// The text that stands so between the quotes of a JSON string.
    fn written(written: Text) -> Text {
        match memchr::memchr(b'\\', written.as_bytes()) {
            Some(_) => Text::holding(Held::Escaped(Escaped { written, decoded: OnceLock::new() })),
            None => written,
        }
    }

    /// The text from byte `start` on, sharing memory; empty when no character begins there.
    #[must_use]
    pub fn tail(&self, start: usize) -> Text {
        let Some(escaped) = self.undecoded() else {
            return Text::part_of(self, self.get(start..).unwrap_or_default());
        };
        let mut rest = escaped.written.as_str();
        let mut before = start;
        while before > 0 {
            let (character, after) = first(rest);
            let len = character.map_or(usize::MAX, char::len_utf8);
            let Some(left) = before.checked_sub(len) else { return Text::default() };
            (rest, before) = (after, left);
        }
        Text::written(Text::part_of(&escaped.written, rest))
    }

    /// A text from a string that was borrowed from `whole` or had to be decoded on its own.
    #[must_use]
    pub fn from_cow(whole: &Text, part: Cow<'_, str>) -> Text {
        match part {
            Cow::Borrowed(part) => Text::part_of(whole, part),
            Cow::Owned(part) => Text::from(part),
        }
    }

    /// Whether there is nothing at all.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        // Every escape stands for a character.
        self.undecoded().is_none() && self.as_str().is_empty()
    }

    /// Whether there is nothing but white space.
    #[must_use]
    pub fn is_blank(&self) -> bool {
        let Some(escaped) = self.undecoded() else { return self.as_str().trim().is_empty() };
        let mut rest = escaped.written.as_str();
        while let (Some(character), after) = first(rest) {
            if !character.is_whitespace() {
                return false;
            }
            rest = after;
        }
        true
    }

    /// The first `limit` characters (Unicode scalar values), never cutting one in half.
    #[must_use]
    pub fn head(&self, limit: usize) -> &str {
        match self.char_indices().nth(limit) {
            Some((end, _)) => self.get(..end).unwrap_or(self),
            None => self,
        }
    }
}

impl Default for Text {
    fn default() -> Text {
        Text { held: EMPTY.clone(), start: 0, len: ALL }
    }
}

impl Deref for Text {
    type Target = str;
    #[inline]
    fn deref(&self) -> &str {
        self.as_str()
    }
}

impl AsRef<str> for Text {
    fn as_ref(&self) -> &str {
        self.as_str()
    }
}

impl Borrow<str> for Text {
    fn borrow(&self) -> &str {
        self.as_str()
    }
}

impl From<String> for Text {
    fn from(text: String) -> Self {
        Text::from(ByteString::from(text))
    }
}

impl From<&str> for Text {
    fn from(text: &str) -> Self {
        Text::from(ByteString::from(text))
    }
}

impl From<ByteString> for Text {
    fn from(text: ByteString) -> Self {
        if text.is_empty() { Text::default() } else { Text::holding(Held::Plain(text)) }
    }
}

impl From<Cow<'_, str>> for Text {
    fn from(text: Cow<'_, str>) -> Self {
        Text::from(text.into_owned())
    }
}

impl PartialEq for Text {
    fn eq(&self, other: &Text) -> bool {
        if Arc::ptr_eq(&self.held, &other.held) && (self.start, self.len) == (other.start, other.len) {
            return true;
        }
        match (self.undecoded(), other.undecoded()) {
            (Some(one), Some(two)) if *one.written == *two.written => true,
            _ => self.to_str() == other.to_str(),
        }
    }
}

impl Eq for Text {}

impl PartialOrd for Text {
    fn partial_cmp(&self, other: &Text) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Text {
    fn cmp(&self, other: &Text) -> Ordering {
        self.to_str().cmp(&other.to_str())
    }
}

impl Hash for Text {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.to_str().hash(state);
    }
}

impl PartialEq<str> for Text {
    fn eq(&self, other: &str) -> bool {
        self.to_str() == other
    }
}

impl PartialEq<&str> for Text {
    fn eq(&self, other: &&str) -> bool {
        self.to_str() == *other
    }
}

impl fmt::Debug for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&*self.to_str(), f)
    }
}

impl fmt::Display for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.to_str())
    }
}

impl Serialize for Text {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.to_str())
    }
}

impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(Text::from)
    }
}

impl JsonSchema for Text {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> Cow<'static, str> {
        "Text".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn escaped(json: &str) -> Text {
        let whole = Text::from(format!("[{json}]"));
        let [raw]: [&RawValue; 1] = serde_json::from_str(&whole).unwrap();
        Text::of_json_string(&whole, raw).unwrap()
    }

    #[test]
    fn a_part_shares_the_memory_of_the_whole() {
        let whole = Text::from("one two three");
        let part = Text::part_of(&whole, whole.get(4..7).unwrap());
        assert_eq!(part, "two");
        assert_eq!(part.as_str().as_ptr(), whole.get(4..).unwrap().as_ptr());
        let letter = Text::part_of(&part, part.get(1..2).unwrap());
        assert_eq!((letter.as_str(), letter.as_str().as_ptr()), ("w", whole.get(5..).unwrap().as_ptr()));
    }

    #[test]
    fn a_foreign_part_is_copied() {
        let whole = Text::from("one");
        assert_eq!(Text::part_of(&whole, "else"), "else");
    }

    #[test]
    fn a_string_with_escapes_stays_in_its_document_until_it_is_read() {
        let text = escaped(r#""a\n\u00e9\"""#);
        assert!(text.undecoded().is_some());
        assert_eq!(text.to_str(), "a\né\"");
        assert_eq!(text, Text::from("a\né\""));
        assert_eq!(serde_json::to_string(&text).unwrap(), r#""a\né\"""#);
        assert!(text.undecoded().is_some(), "reading it once keeps nothing");
        assert_eq!(text.as_str(), "a\né\"");
        assert!(text.undecoded().is_none());
        let part = Text::part_of(&text, text.get(2..4).unwrap());
        assert_eq!(part, "é");
    }

    #[test]
    fn two_spellings_of_one_string_are_equal() {
        let (one, two) = (escaped(r#""\u00e9\n""#), escaped(r#""é\n""#));
        assert_eq!(one, two);
        assert_eq!(one.cmp(&two), Ordering::Equal);
        let hash = |text: &Text| {
            let mut hasher = std::hash::DefaultHasher::new();
            text.hash(&mut hasher);
            hasher.finish()
        };
        assert_eq!(hash(&one), hash(&Text::from("é\n")));
        assert_eq!(hash(&one), hash(&two));
    }

    #[test]
    fn white_space_is_blank_however_it_is_written() {
        for blank in [r#""""#, r#""  ""#, r#""\n\t ""#, r#"" \u0020\n""#, r#""\u2003""#] {
            assert!(escaped(blank).is_blank(), "{blank}");
        }
        for filled in [r#""a\n""#, r#""\n a""#, r#""\\n""#, r#"" \"""#, r#""\u0061""#] {
            let text = escaped(filled);
            assert!(!text.is_blank() && !text.is_empty(), "{filled}");
        }
    }

    #[test]
    fn escapes_are_decoded_as_the_parser_would() {
        for json in [
            r#""\"\\\/\b\f\n\r\t""#,
            r#""a\u00e9\u0000 日本 \u65e5\ud83e\udd80b""#,
            r#""\\u0041\\\\n""#,
            r#""🦀\n🦀""#,
        ] {
            let expected: String = serde_json::from_str(json).unwrap();
            assert_eq!(escaped(json).as_str(), expected);
        }
    }

    #[test]
    fn a_tail_stays_in_its_document_too() {
        let text = escaped(r#""Exit: 0\n\u00e9\n🦀\nrest""#);
        let (tail, plain) = (text.tail(8), text.tail(16));
        assert!(text.undecoded().is_some() && tail.undecoded().is_some());
        assert_eq!((tail.to_str().as_ref(), plain.as_str()), ("é\n🦀\nrest", "rest"));
        assert_eq!(text.tail(9), "", "the middle of a character");
        assert_eq!(text.tail(99), "");
        assert_eq!(text.as_str().len(), 20);
        assert_eq!(text.tail(8), tail);
    }

    #[test]
    fn half_of_a_surrogate_pair_is_no_text() {
        let read = |json: &str| {
            let whole = Text::from(json);
            let raw: &RawValue = serde_json::from_str(&whole).unwrap();
            Text::of_json_string(&whole, raw).map(|text| text.to_string())
        };
        assert!(read(r#""a\ud800""#).is_err());
        assert!(read("17").is_err());
        assert_eq!(read(r#""\ud83d\ude00""#).unwrap(), "😀");
    }

    #[test]
    fn head_never_cuts_a_character() {
        assert_eq!(Text::from("añb").head(2), "añ");
        assert_eq!(Text::from("añb").head(9), "añb");
    }
}
