//! Writing JSONL.

use ibid_model::Json;
use memchr::memmem;
use serde::Serialize;

use super::Document;

/// Writes records one after the other, each as one line that ends in `0x0A`.
///
/// U+2028 and U+2029 are escaped, since some readers end a line there. Raw JSON inside a record
/// keeps its spelling; only newlines between its tokens are left out.
#[derive(Clone, Debug, Default)]
pub struct Builder {
    bytes: Vec<u8>,
}

/// A document over this size gets the room of a large one at once.
const LARGE: usize = 4 << 20;

/// The room of a large document. Growing step by step leaves a gap in memory behind each step;
/// room this large is a mapping of its own, which grows in place and takes memory as it is filled.
const ROOM: usize = 64 << 20;

impl Builder {
    /// A builder without lines.
    #[must_use]
    pub fn new() -> Builder {
        Builder::default()
    }

    /// Appends a record.
    ///
    /// # Errors
    /// When the record cannot be JSON (for example a map whose keys are not strings). Nothing is
    /// appended then.
    pub fn push<T: Serialize + ?Sized>(&mut self, record: &T) -> Result<(), serde_json::Error> {
        let start = self.bytes.len();
        let written = serde_json::to_writer(&mut self.bytes, record);
        if written.is_err() {
            self.bytes.truncate(start);
            return written;
        }
        self.finish_line(start);
        Ok(())
    }

    /// Appends a record that is already JSON.
    pub fn push_json(&mut self, record: &Json) {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(record.as_str().as_bytes());
        self.finish_line(start);
    }

    /// How many bytes have been written.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.bytes.len() as u64
    }

    /// Whether nothing has been written.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// The document.
    #[must_use]
    pub fn finish(mut self) -> Document {
        self.bytes.shrink_to_fit();
        Document::from_bytes(self.bytes)
    }

    fn finish_line(&mut self, start: usize) {
        let line = self.bytes.get(start..).unwrap_or_default();
        let separator = memmem::find_iter(line, b"\xE2\x80").any(|at| is_separator(line, at));
        if separator || memchr::memchr2(b'\n', b'\r', line).is_some() {
            let line = one_line(line);
            self.bytes.truncate(start);
            self.bytes.extend_from_slice(&line);
        }
        self.bytes.push(b'\n');
        if self.bytes.len() > LARGE && self.bytes.capacity() < ROOM {
            self.bytes.reserve_exact(ROOM - self.bytes.len());
        }
    }
}

/// Whether U+2028 or U+2029 stands at `at`.
fn is_separator(line: &[u8], at: usize) -> bool {
    matches!(line.get(at..at + 3), Some(b"\xE2\x80\xA8" | b"\xE2\x80\xA9"))
}

/// A copy of JSON text without newlines between tokens and with separators escaped. Newlines
/// cannot stand inside the strings of valid JSON, and separators can stand nowhere else.
fn one_line(line: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(line.len() + 16);
    let mut at = 0;
    while let Some(&byte) = line.get(at) {
        if is_separator(line, at) {
            let escape: &[u8] = if line.get(at + 2) == Some(&0xA8) { b"\\u2028" } else { b"\\u2029" };
            out.extend_from_slice(escape);
            at += 3;
            continue;
        }
        if !matches!(byte, b'\n' | b'\r') {
            out.push(byte);
        }
        at += 1;
    }
    out
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    // https://github.com/siteboon/claudecodeui/issues/1002 (fault 19)
    #[test]
    fn line_separators_are_written_as_escapes() {
        let mut builder = Builder::new();
        builder.push(&json!({"text": "a\u{2028}b\u{2029}c\u{2027}d"})).unwrap();
        let document = builder.finish();
        assert_eq!(document.bytes(), "{\"text\":\"a\\u2028b\\u2029c\u{2027}d\"}\n".as_bytes());
        assert_eq!(document.lines().count(), 1);
    }

    #[test]
    fn raw_json_keeps_its_spelling_and_loses_its_newlines() {
        let mut builder = Builder::new();
        builder.push_json(&Json::from_text("{\n  \"n\": 1.50,\r\n  \"s\": \"a\\nb\"\n}").unwrap());
        assert_eq!(builder.finish().bytes(), b"{  \"n\": 1.50,  \"s\": \"a\\nb\"}\n");
    }

    #[test]
    fn a_record_that_cannot_be_json_leaves_no_half_line() {
        let mut builder = Builder::new();
        builder.push(&json!({"a": 1})).unwrap();
        let keys = std::collections::BTreeMap::from([(vec![1], 1)]);
        assert!(builder.push(&keys).is_err());
        builder.push(&json!({"b": 2})).unwrap();
        assert_eq!(builder.finish().bytes(), b"{\"a\":1}\n{\"b\":2}\n");
    }
}
