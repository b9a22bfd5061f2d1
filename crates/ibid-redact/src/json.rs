//! JSON texts: strings are read as what they say, and only those that hold a secret are written anew.

use crate::assignment;
use crate::key_name::{self, Telling};
use crate::scan::{Scanner, Span};

/// JSON inside the strings of JSON is taken apart to this depth; deeper levels are read as text.
const DEEPEST: usize = 4;
/// No real JSON nests deeper; the walk keeps some bytes for each open bracket.
const MOST_OPEN: usize = 10_000;

/// Where one nesting level of the walk stands.
#[derive(Clone, Copy, Default)]
struct Level {
    is_object: bool,
    /// What the name before the value tells; an array hands it to its strings.
    telling: Option<Telling>,
    /// Whether that name was `name` or `key`, whose string names what `value` holds.
    names_value: bool,
    /// What such a string told.
    named: Option<Telling>,
    /// Whether the value of `value` is next.
    is_value: bool,
}

/// The secrets of a JSON text (or of several, one after another), or `None` where it is no JSON.
pub(crate) fn spans(scanner: &Scanner, text: &str, depth: usize) -> Option<Vec<Span>> {
    let bytes = text.as_bytes();
    let mut spans = Vec::new();
    let mut levels: Vec<Level> = Vec::new();
    let mut i = 0;
    while let Some(b) = bytes.get(i) {
        match b {
            b'{' | b'[' if levels.len() >= MOST_OPEN => return None,
            b'{' => {
                levels.push(Level { is_object: true, ..Level::default() });
                i += 1;
            }
            b'[' => {
                let telling = levels.last().and_then(|level| level.telling);
                levels.push(Level { telling, ..Level::default() });
                i += 1;
            }
            b'}' | b']' => {
                let level = levels.pop()?;
                if level.is_object != (*b == b'}') {
                    return None;
                }
                i += 1;
            }
            b'"' => {
                let (start, end) = (i + 1, string_end(bytes, i + 1)?);
                i = end + 1;
                let content = text.get(start..end)?;
                let next = bytes.get(i..).unwrap_or(&[]).iter().find(|b| !b.is_ascii_whitespace());
                if next == Some(&b':') && levels.last().is_some_and(|level| level.is_object) {
                    if let Some(level) = levels.last_mut() {
                        enter_name(level, content);
                    }
                } else {
                    string(scanner, content, start, levels.last_mut(), depth, &mut spans);
                }
            }
            b',' => {
                if let Some(level) = levels.last_mut().filter(|level| level.is_object) {
                    level.telling = None;
                    level.names_value = false;
                    level.is_value = false;
                }
                i += 1;
            }
            b':' | b'-' | b'+' | b'.' => i += 1,
            b if b.is_ascii_whitespace() || b.is_ascii_alphanumeric() => i += 1,
            _ => return None,
        }
    }
    levels.is_empty().then_some(spans)
}

fn enter_name(level: &mut Level, raw: &str) {
    let decoded;
    let name = if raw.contains('\\') {
        decoded = Unescaped::of(raw).text;
        decoded.as_str()
    } else {
        raw
    };
    level.telling = key_name::telling(name);
    level.names_value = matches!(name, "name" | "key" | "header" | "Name" | "Key");
    level.is_value = matches!(name, "value" | "Value");
}

/// The end of the string whose content begins at `from`: the place of its closing quote.
fn string_end(bytes: &[u8], from: usize) -> Option<usize> {
    let mut i = from;
    loop {
        match bytes.get(i)? {
            b'"' => return Some(i),
            b'\\' => i += 2,
            _ => i += 1,
        }
    }
}

/// Looks at one string value, whose escaped content begins at `offset` of the text.
fn string(
    scanner: &Scanner,
    raw: &str,
    offset: usize,
    level: Option<&mut Level>,
    depth: usize,
    spans: &mut Vec<Span>,
) {
    let unescaped = raw.contains('\\').then(|| Unescaped::of(raw));
    let text = unescaped.as_ref().map_or(raw, |unescaped| unescaped.text.as_str());
    let telling = level.as_deref().and_then(|level| if level.is_value { level.named } else { level.telling });
    if let Some(level) = level.filter(|level| level.names_value) {
        level.named = key_name::telling(text);
    }
    let mut found = match telling.and_then(|telling| assignment::secret_in_string(telling, text)) {
        Some((start, end, kind)) => vec![Span { start, end, kind }],
        None => nested(scanner, text, depth).unwrap_or_else(|| scanner.spans(text)),
    };
    // After the credential of a header there may be more.
    if telling == Some(Telling::Authorization)
        && let [Span { end, .. }] = found[..]
        && let Some(rest) = text.get(end..)
    {
        found.extend(scanner.spans(rest).into_iter().map(|span| Span {
            start: end + span.start,
            end: end + span.end,
            kind: span.kind,
        }));
    }
    for span in found {
        let (start, end) = match &unescaped {
            Some(unescaped) => (unescaped.raw_offset(span.start), unescaped.raw_offset(span.end)),
            None => (span.start, span.end),
        };
        spans.push(Span { start: offset + start, end: offset + end, kind: span.kind });
    }
}

/// The secrets of a string that is itself a JSON text.
fn nested(scanner: &Scanner, text: &str, depth: usize) -> Option<Vec<Span>> {
    let trimmed = text.trim_ascii();
    let framed = (trimmed.starts_with('{') && trimmed.ends_with('}'))
        || (trimmed.starts_with('[') && trimmed.ends_with(']'));
    if depth >= DEEPEST || !framed || !trimmed.contains('"') {
        return None;
    }
    spans(scanner, text, depth + 1)
}

/// A string's content without its escapes, and the way back to the escaped bytes.
struct Unescaped {
    text: String,
    /// After each escape: where the decoded and where the raw text stand.
    after_escape: Vec<(usize, usize)>,
}

impl Unescaped {
    /// Decodes what can be decoded; a lone surrogate reads as U+FFFD, an unknown escape as the byte that follows.
    fn of(raw: &str) -> Self {
        let mut text = String::with_capacity(raw.len());
        let mut after_escape = Vec::new();
        let mut rest = raw;
        while let Some((plain, escape)) = rest.split_once('\\') {
            text.push_str(plain);
            let mut characters = escape.chars();
            rest = match characters.next() {
                Some('u') => {
                    let (character, length) = unicode(escape);
                    text.push(character);
                    escape.get(length..).unwrap_or("")
                }
                Some(character) => {
                    text.push(match character {
                        'n' => '\n',
                        'r' => '\r',
                        't' => '\t',
                        'b' => '\u{8}',
                        'f' => '\u{c}',
                        other => other,
                    });
                    characters.as_str()
                }
                None => "",
            };
            after_escape.push((text.len(), raw.len() - rest.len()));
        }
        text.push_str(rest);
        Self { text, after_escape }
    }

    /// The place in the raw text of a character boundary of the decoded text.
    fn raw_offset(&self, decoded: usize) -> usize {
        let escapes_before = self.after_escape.partition_point(|(after, _)| *after <= decoded);
        let (text, raw) =
            escapes_before.checked_sub(1).and_then(|i| self.after_escape.get(i)).copied().unwrap_or((0, 0));
        raw + (decoded - text)
    }
}

/// The character of an escape that begins with its `u`, and the escape's length from there.
fn unicode(escape: &str) -> (char, usize) {
    let unit =
        |from: usize| escape.get(from..from + 4).and_then(|digits| u32::from_str_radix(digits, 16).ok());
    let Some(first) = unit(1) else { return (char::REPLACEMENT_CHARACTER, 1) };
    if (0xd800..0xdc00).contains(&first)
        && escape.get(5..7) == Some("\\u")
        && let Some(second) = unit(7).filter(|second| (0xdc00..0xe000).contains(second))
    {
        let scalar = 0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00);
        return (char::from_u32(scalar).unwrap_or(char::REPLACEMENT_CHARACTER), 11);
    }
    (char::from_u32(first).unwrap_or(char::REPLACEMENT_CHARACTER), 5)
}
