//! Going over the lines of a file of any size, in a buffer of fixed size.

use std::fmt;
use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use ibid_model::{Finding, FindingKind};

use super::records::oversize;
use super::recovery::{BrokenLine, ValueText, read_line};
use super::{BYTE_ORDER_MARK, Item, Limits, Records, trim};
use crate::findings::report;
use crate::{CarrierError, FileStamp, file, zstd_file};

/// The size of the buffer while no line is longer: it stays in the second-level cache.
const BUFFER: usize = 256 << 10;

/// How much of a line over the limit is shown.
pub(super) const HEAD: usize = 64 << 10;

/// One line, as long as the scanner is not moved on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RawLine<'a> {
    /// Its number, counted from 1; none when scanning did not begin at the beginning.
    pub number: Option<u64>,
    /// Where it begins, in bytes from the beginning of the (decompressed) file.
    pub start: u64,
    /// Where it ends: without the `0x0A`, and without a carriage return before that.
    pub end: u64,
    /// The bytes `start..end`; of an oversize line only its head, 64 KiB at most.
    pub bytes: &'a [u8],
    /// Whether a `0x0A` ended it.
    pub terminated: bool,
    /// Whether the line is longer than the limit, so that `bytes` is only its head.
    pub oversize: bool,
}

impl RawLine<'_> {
    /// Reads every JSON value of the line with `read` and adds the records and findings to
    /// `records`, exactly as [`Document::read_records`](super::Document::read_records) does for
    /// each of its lines, carriage returns apart; only a text that had to be repaired is copied.
    pub fn read_into<T>(
        &self,
        records: &mut Records<T>,
        mut read: impl FnMut(&str) -> Result<T, serde_json::Error>,
    ) {
        if self.oversize {
            let mut finding = oversize(self.start, self.end);
            finding.line = self.number;
            report(&mut records.findings, finding);
            return;
        }
        let (lead, value) = trim(self.bytes);
        if value.first() == Some(&b'{')
            && let Ok(text) = std::str::from_utf8(value)
            && let Ok(value) = read(text)
        {
            let start = self.start + lead as u64;
            let end = start + text.len() as u64;
            records.items.push(Item { line: self.number.unwrap_or(0), start, end, value });
            return;
        }
        let line = BrokenLine {
            number: self.number,
            start: self.start,
            bytes: self.bytes,
            terminated: self.terminated,
        };
        read_line(&line, &mut records.items, &mut records.findings, &mut |text| match text {
            ValueText::InPlace(text) => read(text),
            ValueText::Repaired(text) => read(&text),
        });
    }
}

/// Goes over the lines of anything that can be read. Memory stays at the size of the buffer, or
/// of twice the longest line if that is more, and never much over [`Limits::line_bytes`].
#[derive(Debug)]
pub struct Scanner<R> {
    input: R,
    path: PathBuf,
    buffer: Vec<u8>,
    /// How much of the buffer holds input.
    filled: usize,
    /// Where the next line begins in the buffer, and how far it was searched for its end.
    next: usize,
    searched: usize,
    /// Where the next line begins in the input, its number, and where the last whole line ended.
    offset: u64,
    number: Option<u64>,
    committed: u64,
    line_bytes: u64,
    /// How much input there should be at least, and may be at most.
    expected: u64,
    most: u64,
    compressed: bool,
    stamp: Option<FileStamp>,
    ended: bool,
    findings: Vec<Finding>,
}

/// What was found in the buffer, as positions.
struct Found {
    end: usize,
    after: usize,
    terminated: bool,
}

impl<R: Read> Scanner<R> {
    /// Scans what `input` gives from here on, which stands `offset` bytes behind the beginning.
    #[must_use]
    pub fn new(input: R, offset: u64, limits: &Limits) -> Scanner<R> {
        Scanner::with_buffer(input, offset, limits, BUFFER)
    }

    /// The same with a buffer of `size` bytes to begin with (16 at least).
    #[must_use]
    pub fn with_buffer(input: R, offset: u64, limits: &Limits, size: usize) -> Scanner<R> {
        Scanner {
            input,
            path: PathBuf::new(),
            buffer: vec![0; size.max(16)],
            filled: 0,
            next: 0,
            searched: 0,
            offset,
            number: (offset == 0).then_some(0),
            committed: offset,
            line_bytes: limits.line_bytes,
            expected: 0,
            most: u64::MAX,
            compressed: false,
            stamp: None,
            ended: false,
            findings: Vec::new(),
        }
    }

    /// Moves on to the next line; none at the end. What follows the last `0x0A` is a line too,
    /// unless it is empty.
    ///
    /// # Errors
    /// [`CarrierError::Io`] when reading fails. The scanner is at its end then.
    #[allow(clippy::should_implement_trait, reason = "the line lends the buffer, which Iterator cannot say")]
    pub fn next(&mut self) -> Result<Option<RawLine<'_>>, CarrierError> {
        if self.offset == 0 && self.number == Some(0) {
            self.skip_mark()?;
        }
        let found = loop {
            if let Some(found) = self.find_newline() {
                break found;
            }
            if self.ended {
                if self.next == self.filled {
                    return Ok(None);
                }
                break Found { end: self.filled, after: self.filled, terminated: false };
            }
            if (self.filled - self.next) as u64 > self.line_bytes {
                return self.oversize_line().map(Some);
            }
            self.make_room();
            self.fill()?;
        };
        if (found.end - self.next) as u64 > self.line_bytes {
            return Ok(Some(self.oversize_in_buffer(&found)));
        }
        let line = self.next..found.end;
        let start = self.offset;
        self.pass(&found);
        let mut bytes = self.buffer.get(line).unwrap_or_default();
        if found.terminated {
            bytes = bytes.strip_suffix(b"\r").unwrap_or(bytes);
        }
        let end = start + bytes.len() as u64;
        let terminated = found.terminated;
        Ok(Some(RawLine { number: self.number, start, end, bytes, terminated, oversize: false }))
    }

    /// Where the last line that a `0x0A` ended was over: the place to go on from later. It does
    /// not move for a last line that is still being written.
    #[must_use]
    pub fn committed(&self) -> u64 {
        self.committed
    }

    /// What the file system said of the file when it was opened; none for other input.
    #[must_use]
    pub fn stamp(&self) -> Option<FileStamp> {
        self.stamp
    }

    /// What was seen so far that is no matter of a line: a byte order mark, that the file shrank
    /// while it was read, that its compression is damaged.
    #[must_use]
    pub fn findings(&self) -> &[Finding] {
        &self.findings
    }

    /// How large the buffer is now, in bytes.
    #[must_use]
    pub fn buffer_bytes(&self) -> usize {
        self.buffer.len()
    }

    fn find_newline(&mut self) -> Option<Found> {
        let unsearched = self.buffer.get(self.searched..self.filled).unwrap_or_default();
        match memchr::memchr(b'\n', unsearched) {
            Some(at) => {
                let end = self.searched + at;
                Some(Found { end, after: end + 1, terminated: true })
            }
            None => {
                self.searched = self.filled;
                None
            }
        }
    }

    /// Leaves a line behind.
    fn pass(&mut self, found: &Found) {
        self.offset += (found.after - self.next) as u64;
        self.next = found.after;
        self.searched = found.after;
        self.number = self.number.map(|number| number + 1);
        if found.terminated {
            self.committed = self.offset;
        }
    }

    /// Makes room behind what is buffered: what was passed goes first, and when a line fills the
    /// buffer, the buffer doubles.
    fn make_room(&mut self) {
        self.drop_passed();
        if self.filled == self.buffer.len() {
            // One byte over the limit shows that a line is over it.
            let most = usize::try_from(self.line_bytes).unwrap_or(usize::MAX).saturating_add(1);
            let doubled = self.buffer.len().saturating_mul(2);
            self.buffer.resize(doubled.min(most.max(self.buffer.len() + 1)), 0);
        }
    }

    /// Moves what was not passed yet to the beginning of the buffer.
    fn drop_passed(&mut self) {
        if self.next > 0 {
            self.buffer.copy_within(self.next..self.filled, 0);
            self.filled -= self.next;
            self.searched -= self.next;
            self.next = 0;
        }
    }

    /// Reads once into the free part of the buffer.
    fn fill(&mut self) -> Result<(), CarrierError> {
        let free = self.buffer.get_mut(self.filled..).unwrap_or_default();
        let read = loop {
            match self.input.read(free) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                outcome => break outcome,
            }
        };
        match read {
            Ok(0) => self.end(),
            Ok(read) => self.filled += read.min(free.len()),
            // What the decompressor says has no code of the operating system; what could be
            // decompressed before that is read to its end.
            Err(error) if self.compressed && error.raw_os_error().is_none() => {
                self.ended = true;
                self.findings.push(zstd_file::damage(&error, self.seen()).at_path(&self.path));
            }
            Err(error) => {
                self.stop();
                return Err(CarrierError::io(&self.path, error));
            }
        }
        if self.seen() > self.most {
            let (bytes, limit) = (self.seen(), self.most);
            self.stop();
            return Err(CarrierError::TooLarge { path: self.path.clone(), bytes, limit });
        }
        Ok(())
    }

    /// Where the buffered input ends.
    fn seen(&self) -> u64 {
        self.offset + (self.filled - self.next) as u64
    }

    /// Gives nothing more.
    fn stop(&mut self) {
        self.ended = true;
        (self.next, self.searched) = (self.filled, self.filled);
    }

    fn end(&mut self) {
        self.ended = true;
        let seen = self.seen();
        if seen < self.expected {
            let detail = format!("{} bytes when it was opened, {seen} read", self.expected);
            self.findings.push(Finding::new(FindingKind::Shrunk, detail).at_path(&self.path));
        }
    }

    fn skip_mark(&mut self) -> Result<(), CarrierError> {
        while !self.ended && self.filled < BYTE_ORDER_MARK.len() {
            self.fill()?;
        }
        let mark = BYTE_ORDER_MARK.len();
        if self.buffer.get(..self.filled).is_some_and(|bytes| bytes.starts_with(BYTE_ORDER_MARK))
            && self.next == 0
        {
            (self.next, self.searched, self.offset) = (mark, mark, mark as u64);
            self.committed = self.offset;
            let finding = Finding::new(FindingKind::ByteOrderMark, "three bytes before the first line");
            self.findings.push(finding.at_bytes(0, self.offset).at_path(&self.path));
        }
        Ok(())
    }

    /// A line over the limit whose end is already buffered.
    fn oversize_in_buffer(&mut self, found: &Found) -> RawLine<'_> {
        let head = self.next..self.next + self.head();
        let carriage = found.terminated && self.buffer.get(found.end - 1) == Some(&b'\r');
        let start = self.offset;
        let end = start + (found.end - self.next) as u64 - u64::from(carriage);
        self.pass(found);
        let bytes = self.buffer.get(head).unwrap_or_default();
        RawLine { number: self.number, start, end, bytes, terminated: found.terminated, oversize: true }
    }

    /// A line over the limit whose end is not yet buffered: keeps its head and reads over the
    /// rest.
    fn oversize_line(&mut self) -> Result<RawLine<'_>, CarrierError> {
        self.drop_passed();
        let (start, head) = (self.offset, self.head());
        let mut last = self.buffer.get(self.filled - 1).copied();
        // The buffer is used again and again behind the head. `next` goes there too, and
        // `offset` with it, so that the two always mean the same place of the input.
        self.offset += self.filled as u64;
        if self.buffer.len() < head + BUFFER {
            self.buffer.resize(head + BUFFER, 0);
        }
        let terminated = loop {
            (self.next, self.filled) = (head, head);
            self.fill()?;
            let fresh = self.buffer.get(head..self.filled).unwrap_or_default();
            let newline = memchr::memchr(b'\n', fresh);
            let content = fresh.get(..newline.unwrap_or(fresh.len())).unwrap_or_default();
            last = content.last().copied().or(last);
            self.next += content.len();
            self.offset += content.len() as u64;
            if newline.is_some() || self.ended {
                break newline.is_some();
            }
        };
        let end = self.offset - u64::from(terminated && last == Some(b'\r'));
        let found = Found { end: self.next, after: self.next + usize::from(terminated), terminated };
        self.pass(&found);
        let bytes = self.buffer.get(..head).unwrap_or_default();
        Ok(RawLine { number: self.number, start, end, bytes, terminated, oversize: true })
    }

    /// How much of a line over the limit is shown.
    fn head(&self) -> usize {
        usize::try_from(self.line_bytes).unwrap_or(HEAD).min(HEAD)
    }
}

/// Scans a file from byte `offset` on, up to where it ended when it was opened. Content that
/// begins like zstd is decompressed, and `offset` counts decompressed bytes; a decompressed
/// content may be as large as [`zstd_file::allowance`] of [`Limits::file_bytes`], plain files
/// may have any size.
///
/// # Errors
/// [`CarrierError::PastEnd`] when the file is shorter than `offset` (it was truncated: read it
/// from the beginning), and as [`file::open`].
pub fn open_scanner(path: &Path, offset: u64, limits: &Limits) -> Result<Scanner<FileInput>, CarrierError> {
    open_scanner_with_buffer(path, offset, limits, BUFFER)
}

/// The same with a buffer of at most `size` bytes to begin with. A small one suits callers that
/// want only the first lines: no more than that is read ahead.
///
/// # Errors
/// As [`open_scanner`].
pub fn open_scanner_with_buffer(
    path: &Path,
    offset: u64,
    limits: &Limits,
    size: usize,
) -> Result<Scanner<FileInput>, CarrierError> {
    let io = |error| CarrierError::io(path, error);
    let past_end = |bytes| CarrierError::PastEnd { path: path.to_owned(), offset, bytes };
    let (mut file, stamp) = file::open(path)?;
    let mut magic = Vec::with_capacity(4);
    file.by_ref().take(4).read_to_end(&mut magic).map_err(io)?;
    let compressed = zstd_file::is_zstd(&magic);
    if !compressed && offset > stamp.size {
        return Err(past_end(stamp.size));
    }
    file.seek(SeekFrom::Start(if compressed { 0 } else { offset })).map_err(io)?;
    let (input, expected, most) = if compressed {
        let most = zstd_file::allowance(stamp.size, limits.file_bytes);
        let decoder = zstd::stream::read::Decoder::new(file.take(stamp.size)).map_err(io)?;
        let mut decoder = decoder.take(most.saturating_add(1));
        let skipped = io::copy(&mut decoder.by_ref().take(offset), &mut io::sink()).map_err(io)?;
        if skipped < offset {
            return Err(past_end(skipped));
        }
        (FileInput(Input::Compressed(Box::new(decoder))), 0, most)
    } else {
        (FileInput(Input::Plain(file.take(stamp.size - offset))), stamp.size, u64::MAX)
    };
    // One byte more than the content, so that its end is seen without growing.
    let content = if compressed { u64::MAX } else { (stamp.size - offset).saturating_add(1) };
    let size = usize::try_from(content).unwrap_or(size).min(size);
    let mut scanner = Scanner::with_buffer(input, offset, limits, size);
    (scanner.path, scanner.stamp) = (path.to_owned(), Some(stamp));
    (scanner.compressed, scanner.expected, scanner.most) = (compressed, expected, most);
    Ok(scanner)
}

/// What the scanner of a file reads: its bytes, decompressed if need be.
pub struct FileInput(Input);

enum Input {
    Plain(io::Take<File>),
    Compressed(Box<io::Take<Decoder>>),
}

type Decoder = zstd::stream::read::Decoder<'static, BufReader<io::Take<File>>>;

impl Read for FileInput {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match &mut self.0 {
            Input::Plain(file) => file.read(buffer),
            Input::Compressed(decoder) => decoder.read(buffer),
        }
    }
}

impl fmt::Debug for FileInput {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.0 {
            Input::Plain(_) => "FileInput::Plain",
            Input::Compressed(_) => "FileInput::Compressed",
        })
    }
}
