//! A few fields of a large object, without reading the rest.

use std::borrow::Cow;

use serde::de::DeserializeOwned;

use super::{is_space, trim};

/// The members of one JSON object, found by skipping over their values: strings from quote to
/// quote, objects and arrays by their depth. On rows of several kilobytes this costs less than a
/// parser does, since most of a row is text that nobody asked for.
///
/// What is skipped is not checked. When all members were handed out and [`Members::is_whole`]
/// says so, the object began and ended where it should, which a line that is torn, cut, or joined
/// with another does not; anything else calls for [`RawLine::read_into`](super::RawLine::read_into),
/// which looks at every byte and reports what is wrong. Keys come as often as they are written;
/// where one comes twice, the last counts. A key spelled with escapes counts as not whole.
///
/// ```
/// use ibid_carrier::jsonl::Members;
///
/// let mut time = None;
/// let mut members = Members::of(br#"{"message":{"text":"a \"}\" b"},"timestamp":"2026-07-01T10:00:00Z"}"#);
/// for member in &mut members {
///     if member.key == b"timestamp" {
///         time = member.value.text();
///     }
/// }
/// assert!(members.is_whole());
/// assert_eq!(time.as_deref(), Some("2026-07-01T10:00:00Z"));
/// ```
#[derive(Clone, Debug)]
pub struct Members<'a> {
    inside: Inside<'a>,
    enter: &'a [&'a str],
    /// The keys of the objects that were entered; the first `depth` count.
    entered: [&'a [u8]; MOST_ENTERED],
    depth: usize,
}

/// How many objects can be entered one inside the other.
const MOST_ENTERED: usize = 4;

/// One member of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Member<'a> {
    /// The key of the entered object that it belongs to; empty for the outermost.
    pub within: &'a [u8],
    /// Its key as it is written, without the quotes.
    pub key: &'a [u8],
    /// Its value.
    pub value: RawSlice<'a>,
}

/// The elements of one JSON array, found as [`Members`] are.
#[derive(Clone, Debug)]
pub struct Elements<'a> {
    inside: Inside<'a>,
}

/// The bytes of one value, as it is written and not checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RawSlice<'a>(&'a [u8]);

impl<'a> Members<'a> {
    /// The members of the object that `bytes` are, apart from white space at the ends. Bytes that
    /// are no object have no members and are not whole.
    #[must_use]
    pub fn of(bytes: &'a [u8]) -> Members<'a> {
        Members::entering(bytes, &[])
    }

    /// The same, but where an object stands under one of the keys of `enter` (whatever object it
    /// is in), its members come instead of it, so that it is gone over only once. At most four
    /// objects are entered one inside the other; a fifth comes as a value.
    #[must_use]
    pub fn entering(bytes: &'a [u8], enter: &'a [&'a str]) -> Members<'a> {
        Members { inside: Inside::of(bytes, b'{'), enter, entered: [b""; MOST_ENTERED], depth: 0 }
    }

    /// Whether all members were handed out, and the object ended where the bytes end.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.inside.state == State::Whole
    }

    /// Goes into the object under `key` that begins here, if it is to be entered.
    fn enter(&mut self, key: &'a [u8]) -> bool {
        let wanted = self.inside.bytes.get(self.inside.at) == Some(&b'{')
            && self.enter.iter().any(|name| name.as_bytes() == key);
        let Some(place) = self.entered.get_mut(self.depth).filter(|_| wanted) else { return false };
        *place = key;
        self.depth += 1;
        self.inside.at += 1;
        self.inside.state = State::First;
        true
    }

    /// Leaves an entered object at its end.
    fn leave(&mut self) -> bool {
        let at_end = self.inside.bytes.get(self.inside.at) == Some(&b'}');
        if self.depth == 0 || !at_end || self.inside.state == State::Broken {
            return false;
        }
        self.depth -= 1;
        self.inside.at += 1;
        self.inside.state = State::Later;
        true
    }
}

impl<'a> Iterator for Members<'a> {
    type Item = Member<'a>;

    fn next(&mut self) -> Option<Member<'a>> {
        loop {
            self.inside.skip_space();
            if self.leave() {
                continue;
            }
            let key = self.inside.step(b'}', |inside| {
                let key = inside.take_key()?;
                inside.skip_space();
                inside.take_byte(b':')?;
                inside.skip_space();
                Some(key)
            })?;
            if self.enter(key) {
                continue;
            }
            let Some(value) = self.inside.take_value() else {
                self.inside.state = State::Broken;
                return None;
            };
            let within =
                self.depth.checked_sub(1).and_then(|top| self.entered.get(top)).copied().unwrap_or_default();
            return Some(Member { within, key, value });
        }
    }
}

impl<'a> Elements<'a> {
    /// Whether all elements were handed out, and the array ended where the bytes end.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.inside.state == State::Whole
    }
}

impl<'a> Iterator for Elements<'a> {
    type Item = RawSlice<'a>;

    fn next(&mut self) -> Option<RawSlice<'a>> {
        self.inside.step(b']', Inside::take_value)
    }
}

impl<'a> RawSlice<'a> {
    /// The bytes.
    #[must_use]
    pub fn bytes(self) -> &'a [u8] {
        self.0
    }

    /// The string, when the value is one that can be decoded: borrowed when it is written without
    /// escapes. None for a string with half a surrogate pair, or bytes that are not UTF-8.
    #[must_use]
    pub fn text(self) -> Option<Cow<'a, str>> {
        let inner = self.0.strip_prefix(b"\"")?.strip_suffix(b"\"")?;
        if memchr::memchr(b'\\', inner).is_none() {
            return std::str::from_utf8(inner).ok().map(Cow::Borrowed);
        }
        serde_json::from_slice(self.0).ok().map(Cow::Owned)
    }

    /// Whether the value is `null`.
    #[must_use]
    pub fn is_null(self) -> bool {
        self.0 == b"null"
    }

    /// The members, when the value is an object.
    #[must_use]
    pub fn members(self) -> Members<'a> {
        Members::of(self.0)
    }

    /// The elements, when the value is an array.
    #[must_use]
    pub fn elements(self) -> Elements<'a> {
        Elements { inside: Inside::of(self.0, b'[') }
    }

    /// Reads the value with a parser.
    ///
    /// # Errors
    /// When it does not fit the type, or is no JSON.
    pub fn read<T: DeserializeOwned>(self) -> Result<T, serde_json::Error> {
        serde_json::from_slice(self.0)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    First,
    Later,
    Whole,
    Broken,
}

/// A place inside an object or array.
#[derive(Clone, Debug)]
struct Inside<'a> {
    bytes: &'a [u8],
    at: usize,
    state: State,
}

impl<'a> Inside<'a> {
    fn of(bytes: &'a [u8], open: u8) -> Inside<'a> {
        let bytes = trim(bytes).1;
        let state = if bytes.first() == Some(&open) { State::First } else { State::Broken };
        Inside { bytes, at: 1, state }
    }

    /// The next item, read by `take`, up to the closing byte.
    fn step<T>(&mut self, close: u8, take: impl FnOnce(&mut Self) -> Option<T>) -> Option<T> {
        if matches!(self.state, State::Whole | State::Broken) {
            return None;
        }
        self.skip_space();
        if self.bytes.get(self.at) == Some(&close) {
            self.state = if self.at + 1 == self.bytes.len() { State::Whole } else { State::Broken };
            return None;
        }
        if self.state == State::Later {
            if self.take_byte(b',').is_none() {
                self.state = State::Broken;
                return None;
            }
            self.skip_space();
        }
        let item = take(self);
        self.state = if item.is_some() { State::Later } else { State::Broken };
        item
    }

    fn skip_space(&mut self) {
        while self.bytes.get(self.at).is_some_and(|byte| is_space(*byte)) {
            self.at += 1;
        }
    }

    fn take_byte(&mut self, byte: u8) -> Option<()> {
        (self.bytes.get(self.at) == Some(&byte)).then(|| self.at += 1)
    }

    fn take_key(&mut self) -> Option<&'a [u8]> {
        self.take_byte(b'"')?;
        let end = closing_quote(self.bytes, self.at)?;
        let key = self.bytes.get(self.at..end)?;
        self.at = end + 1;
        (!key.contains(&b'\\')).then_some(key)
    }

    fn take_value(&mut self) -> Option<RawSlice<'a>> {
        let start = self.at;
        self.at = match self.bytes.get(start)? {
            b'"' => closing_quote(self.bytes, start + 1)? + 1,
            b'{' | b'[' => after_nested(self.bytes, start)?,
            _ => {
                let rest = self.bytes.get(start..)?;
                start
                    + rest.iter().position(|byte| {
                        is_space(*byte) || matches!(byte, b',' | b'}' | b']' | b'"' | b'{' | b'[' | b':')
                    })?
            }
        };
        self.bytes.get(start..self.at).filter(|value| !value.is_empty()).map(RawSlice)
    }
}

/// The quote that ends the string whose content begins at `start`.
fn closing_quote(bytes: &[u8], start: usize) -> Option<usize> {
    let mut from = start;
    loop {
        let quote = next_quote(bytes, from)?;
        let content = bytes.get(start..quote)?;
        if content.last() != Some(&b'\\') {
            return Some(quote);
        }
        // An even run of backslashes escapes itself, and not the quote.
        let slashes = content.iter().rev().take_while(|byte| **byte == b'\\').count();
        if slashes % 2 == 0 {
            return Some(quote);
        }
        from = quote + 1;
    }
}

/// The first quote from `from` on. Keys and most values are short, so the first bytes are looked
/// at eight at a time before a search is set up.
fn next_quote(bytes: &[u8], from: usize) -> Option<usize> {
    let mut rest = bytes.get(from..)?;
    let mut at = from;
    for _ in 0..3 {
        let Some((word, later)) = rest.split_first_chunk::<8>() else { break };
        if let Some(found) = quote_in(u64::from_le_bytes(*word)) {
            return Some(at + found);
        }
        rest = later;
        at += 8;
    }
    memchr::memchr(b'"', rest).map(|found| at + found)
}

/// Which of eight bytes is the first quote.
fn quote_in(word: u64) -> Option<usize> {
    const ONES: u64 = u64::MAX / 0xFF;
    let difference = word ^ (ONES * b'"' as u64);
    let zeros = difference.wrapping_sub(ONES) & !difference & (ONES * 0x80);
    (zeros != 0).then(|| zeros.trailing_zeros() as usize / 8)
}

/// The place behind the object or array that begins at `start`.
fn after_nested(bytes: &[u8], start: usize) -> Option<usize> {
    let (mut at, mut depth) = (start, 0usize);
    loop {
        match bytes.get(at)? {
            b'"' => at = closing_quote(bytes, at + 1)?,
            b'{' | b'[' => depth += 1,
            b'}' | b']' => {
                depth -= 1;
                if depth == 0 {
                    return Some(at + 1);
                }
            }
            _ => {}
        }
        at += 1;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::Value;

    use super::*;

    fn json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            "[a-z\"\\\\\n\u{e9}{}\\[\\],:]{0,40}".prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 40, 6, |inner| {
            prop_oneof![
                proptest::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
                proptest::collection::hash_map("[a-z{}\\[:,]{0,30}", inner, 0..6)
                    .prop_map(|members| Value::Object(members.into_iter().collect())),
            ]
        })
    }

    /// The value as it is put together from its parts.
    fn rebuilt(slice: RawSlice<'_>) -> Value {
        match slice.bytes().first() {
            Some(b'{') => {
                let mut members = slice.members();
                let object = members
                    .by_ref()
                    .map(|member| (String::from_utf8_lossy(member.key).into_owned(), rebuilt(member.value)))
                    .collect();
                assert!(members.is_whole());
                Value::Object(object)
            }
            Some(b'[') => {
                let mut elements = slice.elements();
                let array = elements.by_ref().map(rebuilt).collect();
                assert!(elements.is_whole());
                Value::Array(array)
            }
            Some(b'"') => Value::from(slice.text().unwrap().into_owned()),
            _ => slice.read().unwrap(),
        }
    }

    proptest! {
        #[test]
        fn every_part_of_a_value_is_found_however_it_is_spaced(value in json(), pretty: bool) {
            let text = if pretty { serde_json::to_string_pretty(&value) } else { serde_json::to_string(&value) };
            let wrapped = format!("[{}]", text.unwrap());
            prop_assert_eq!(rebuilt(RawSlice(wrapped.as_bytes())), Value::Array(vec![value]));
        }

        #[test]
        fn no_bytes_make_it_fail(bytes in proptest::collection::vec(any::<u8>(), 0..80)) {
            let mut members = Members::of(&bytes);
            members.by_ref().for_each(drop);
            let braced = [b"{\"a\":", &bytes[..], b"}"].concat();
            Members::of(&braced).map(|member| member.value.text()).for_each(drop);
        }

        #[test]
        fn a_quote_is_found_where_it_is(word: [u8; 8]) {
            let expected = word.iter().position(|byte| *byte == b'"');
            prop_assert_eq!(quote_in(u64::from_le_bytes(word)), expected);
        }
    }

    #[test]
    fn lines_that_are_not_one_object_are_not_whole() {
        for line in [
            "",
            "5",
            "[1]",
            "{",
            "{\"a\":1",
            "{\"a\":\"x",
            "{\"a\":1}{\"b\":2}",
            "{\"a\":1} x",
            "{\"a\" 1}",
            "{\"a\":1 \"b\":2}",
            "{\"a\":1,}",
            "{\"a\":}",
            "{,}",
            "{\"a\":1,\"text\":\"ha{\"b\":2}",
            "{\"\\u0061\":1}",
            "{\"a\":{\"b\":1}",
        ] {
            let mut members = Members::of(line.as_bytes());
            members.by_ref().for_each(drop);
            assert!(!members.is_whole(), "{line}");
        }
    }

    #[test]
    fn entered_objects_give_their_members_in_their_place() {
        let line = br#"{"a":1,"message":{"id":"m","usage":{"out":2},"content":[{"id":"no"}]},"usage":null,"b":{"id":3}}"#;
        let mut members = Members::entering(line, &["message", "usage"]);
        let shown = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let found: Vec<_> = members
            .by_ref()
            .map(|m| format!("{}.{}={}", shown(m.within), shown(m.key), shown(m.value.bytes())))
            .collect();
        assert_eq!(
            found,
            [
                ".a=1",
                "message.id=\"m\"",
                "usage.out=2",
                "message.content=[{\"id\":\"no\"}]",
                ".usage=null",
                ".b={\"id\":3}"
            ]
        );
        assert!(members.is_whole());
    }

    #[test]
    fn a_broken_entered_object_is_not_whole() {
        for line in [
            "{\"m\":{\"a\":1}",
            "{\"m\":{\"a\":1,}}",
            "{\"m\":{]}}",
            "{\"m\":{}\"a\":1}",
            "{\"m\":{\"m\":{\"m\":{\"m\":{\"m\":{}}}}}",
        ] {
            let mut members = Members::entering(line.as_bytes(), &["m"]);
            members.by_ref().for_each(drop);
            assert!(!members.is_whole(), "{line}");
        }
        let mut deep = Members::entering(br#"{"m":{"m":{"m":{"m":{"m":{"m":1}}}}}}"#, &["m"]);
        assert_eq!(deep.by_ref().map(|m| m.value.bytes()).collect::<Vec<_>>(), [br#"{"m":1}"#]);
        assert!(deep.is_whole());
    }

    #[test]
    fn a_string_ends_at_the_first_quote_that_is_not_escaped() {
        let mut members = Members::of(br#"{"a":"x\\","b":"y\\\"z\\\\","c":""}"#);
        let texts: Vec<_> =
            members.by_ref().map(|member| member.value.text().unwrap().into_owned()).collect();
        assert_eq!(texts, ["x\\", "y\\\"z\\\\", ""]);
        assert!(members.is_whole());
    }
}
