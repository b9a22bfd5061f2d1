//! A whole JSONL file in memory.

use std::fmt;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use bytestring::ByteString;
use ibid_model::{Finding, FindingKind, Text};

use super::{BYTE_ORDER_MARK, Limits};
use crate::{CarrierError, FileStamp, file};

/// The exact bytes of a JSONL file. A clone shares them.
#[derive(Clone)]
pub struct Document {
    bytes: Bytes,
    text: Arc<OnceLock<Option<Text>>>,
    findings: Arc<[Finding]>,
    origin: Option<Arc<Origin>>,
    line_bytes: u64,
}

/// Where a document was read from.
struct Origin {
    path: Box<Path>,
    stamp: FileStamp,
    compressed: bool,
}

impl Document {
    /// A document from its bytes, with the usual [`Limits`].
    #[must_use]
    pub fn from_bytes(bytes: impl Into<Bytes>) -> Document {
        Document::new(bytes.into(), Vec::new(), None, &Limits::default())
    }

    /// Reads a file as it is at this moment: at most the bytes that it held when it was opened.
    /// Content that begins like zstd is decompressed. That the file shrank or was replaced while
    /// it was read is a finding ([`Document::findings`]).
    ///
    /// # Errors
    /// [`CarrierError::NotFound`], [`CarrierError::NotAFile`], [`CarrierError::TooLarge`] when
    /// the content is over `limits.file_bytes`, and [`CarrierError::Io`].
    pub fn read(path: &Path, limits: &Limits) -> Result<Document, CarrierError> {
        let stored = file::read(path, limits.file_bytes)?;
        let origin = Origin { path: path.into(), stamp: stored.stamp, compressed: stored.compressed };
        Ok(Document::new(stored.bytes.into(), stored.findings, Some(origin), limits))
    }

    fn new(bytes: Bytes, mut findings: Vec<Finding>, origin: Option<Origin>, limits: &Limits) -> Document {
        if bytes.starts_with(BYTE_ORDER_MARK) {
            let finding = Finding::new(FindingKind::ByteOrderMark, "three bytes before the first line")
                .at_bytes(0, BYTE_ORDER_MARK.len() as u64);
            findings.push(match &origin {
                Some(origin) => finding.at_path(&origin.path),
                None => finding,
            });
        }
        Document {
            bytes,
            text: Arc::default(),
            findings: findings.into(),
            origin: origin.map(Arc::new),
            line_bytes: limits.line_bytes,
        }
    }

    /// The bytes, decompressed, every one of them.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The bytes as a buffer that can be shared without copying.
    #[must_use]
    pub fn shared_bytes(&self) -> Bytes {
        self.bytes.clone()
    }

    /// The whole as text that shares the memory of the document; none when a byte of it is not
    /// UTF-8. The first call checks every byte, the later ones are free.
    #[must_use]
    pub fn text(&self) -> Option<&Text> {
        self.text.get_or_init(|| ByteString::try_from(self.bytes.clone()).ok().map(Text::from)).as_ref()
    }

    /// What was seen while reading: a byte order mark, that the file shrank or was replaced, that
    /// its compression is damaged. What is wrong with lines is in [`Records`](super::Records).
    #[must_use]
    pub fn findings(&self) -> &[Finding] {
        &self.findings
    }

    /// The file that the document was read from.
    #[must_use]
    pub fn path(&self) -> Option<&Path> {
        self.origin.as_ref().map(|origin| &*origin.path)
    }

    /// What the file system said of that file when it was opened.
    #[must_use]
    pub fn stamp(&self) -> Option<FileStamp> {
        self.origin.as_ref().map(|origin| origin.stamp)
    }

    /// Whether the file was compressed.
    #[must_use]
    pub fn was_compressed(&self) -> bool {
        self.origin.as_ref().is_some_and(|origin| origin.compressed)
    }

    /// The lines in order. What follows the last `0x0A` is a line too, unless it is empty.
    #[must_use]
    pub fn lines(&self) -> Lines<'_> {
        let mark = if self.bytes.starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK.len() } else { 0 };
        Lines::new(self.bytes.get(mark..).unwrap_or_default(), mark as u64)
    }

    /// The longest line that is read, in bytes.
    pub(super) fn line_limit(&self) -> u64 {
        self.line_bytes
    }

    /// The text of bytes `start..end`, sharing memory; none when they are not UTF-8, or lie
    /// outside the document.
    #[must_use]
    pub fn text_of(&self, start: u64, end: u64) -> Option<Text> {
        let (start, end) = (usize::try_from(start).ok()?, usize::try_from(end).ok()?);
        if start > end || end > self.bytes.len() {
            return None;
        }
        ByteString::try_from(self.bytes.slice(start..end)).ok().map(Text::from)
    }

    /// The text of a part of the bytes, sharing memory.
    pub(super) fn shared_text(&self, part: &str) -> Text {
        match ByteString::try_from(self.bytes.slice_ref(part.as_bytes())) {
            Ok(shared) => Text::from(shared),
            Err(_) => Text::from(part),
        }
    }
}

impl fmt::Debug for Document {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Document").field("path", &self.path()).field("bytes", &self.bytes.len()).finish()
    }
}

/// One line of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Line<'a> {
    /// Its number, counted from 1.
    pub number: u64,
    /// Where it begins, in bytes from the beginning of the document.
    pub start: u64,
    /// Where it ends: without the `0x0A`, and without a carriage return before that.
    pub end: u64,
    /// Where the next line begins: the bytes `end..after` are what ended this one.
    pub after: u64,
    /// The bytes `start..end`.
    pub bytes: &'a [u8],
    /// Whether a `0x0A` ended it. Only the last line may lack it.
    pub terminated: bool,
}

/// The lines of a document. See [`Document::lines`].
#[derive(Clone, Debug)]
pub struct Lines<'a> {
    rest: &'a [u8],
    start: u64,
    number: u64,
}

impl<'a> Lines<'a> {
    /// The lines of `bytes`, the first of which is at `start` and has the number 1.
    pub(super) fn new(bytes: &'a [u8], start: u64) -> Lines<'a> {
        Lines { rest: bytes, start, number: 0 }
    }

    /// How many lines have been handed out.
    pub(super) fn count_so_far(&self) -> u64 {
        self.number
    }
}

impl<'a> Iterator for Lines<'a> {
    type Item = Line<'a>;

    fn next(&mut self) -> Option<Line<'a>> {
        if self.rest.is_empty() {
            return None;
        }
        let (bytes, rest, terminated) = match memchr::memchr(b'\n', self.rest) {
            Some(at) => {
                let bytes = self.rest.get(..at).unwrap_or_default();
                (
                    bytes.strip_suffix(b"\r").unwrap_or(bytes),
                    self.rest.get(at + 1..).unwrap_or_default(),
                    true,
                )
            }
            None => (self.rest, <&[u8]>::default(), false),
        };
        let start = self.start;
        self.number += 1;
        self.start += (self.rest.len() - rest.len()) as u64;
        self.rest = rest;
        let end = start + bytes.len() as u64;
        Some(Line { number: self.number, start, end, after: self.start, bytes, terminated })
    }
}
