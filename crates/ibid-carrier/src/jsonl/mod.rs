//! JSONL, byte for byte.
//!
//! Only `0x0A` ends a line: U+2028, U+0085 and their kind are data. A carriage return before it
//! is not part of the line. A byte order mark is skipped at the very beginning and nowhere else.
//!
//! - [`Document`] holds a whole file and reads its records in parallel, sharing its memory.
//! - [`Scanner`] goes over a file of any size in a fixed buffer.
//! - [`LinesFromEnd`] goes over its lines from the last to the first.
//! - [`Checkpoint`] tells whether a file that was read before was only appended to since.
//! - [`Members`] finds a few fields of a large row without reading the rest.
//! - [`Builder`] writes records.
//!
//! ```
//! use ibid_carrier::jsonl::Document;
//! use serde::Deserialize;
//!
//! #[derive(Deserialize)]
//! struct Row { id: String }
//!
//! let document = Document::from_bytes("{\"id\":\"a\"}\n{\"id\":\"b\"}{\"id\":\"c\"}\n{\"id\":");
//! let records = document.read_records(|text| serde_json::from_str::<Row>(text));
//! let ids: Vec<_> = records.items.iter().map(|item| item.value.id.as_str()).collect();
//! assert_eq!(ids, ["a", "b", "c"]);
//! let kinds: Vec<_> = records.findings.iter().map(|finding| finding.kind.code()).collect();
//! assert_eq!(kinds, ["several-values", "cut-line"]);
//! ```

mod builder;
mod checkpoint;
mod document;
mod duplicate_keys;
mod from_end;
mod records;
mod recovery;
mod scanner;
mod skim;
#[cfg(test)]
mod tests;
mod values;

pub use builder::Builder;
pub use checkpoint::{Change, Checkpoint};
pub use document::{Document, Line, Lines};
pub use from_end::{LinesFromEnd, open_from_end};
pub use records::{Item, Records};
pub use scanner::{FileInput, RawLine, Scanner, open_scanner, open_scanner_with_buffer};
pub use skim::{Elements, Member, Members, RawSlice};

/// How much a reader takes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The longest line that is read, in bytes; a longer one is reported as
    /// [`Oversize`](ibid_model::FindingKind::Oversize). 256 MiB unless said otherwise: images in
    /// sessions make lines of 30 MB, and nothing real comes near this.
    pub line_bytes: u64,
    /// The largest file that is read as a whole, in bytes, decompressed. 16 GiB unless said
    /// otherwise.
    pub file_bytes: u64,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { line_bytes: 256 << 20, file_bytes: 16 << 30 }
    }
}

/// The byte order mark of UTF-8.
const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// Whether a byte is white space between JSON tokens (RFC 8259, section 2).
fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | b'\n')
}

/// The part of `bytes` without white space at either end, and where it begins.
fn trim(bytes: &[u8]) -> (usize, &[u8]) {
    let Some(start) = bytes.iter().position(|b| !is_space(*b)) else { return (0, &[]) };
    let end = bytes.iter().rposition(|b| !is_space(*b)).map_or(start, |last| last + 1);
    (start, bytes.get(start..end).unwrap_or_default())
}
