//! The lines of a file from the last to the first.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use super::scanner::{HEAD, RawLine};
use super::{BYTE_ORDER_MARK, Limits};
use crate::{CarrierError, file, zstd_file};

/// How much is read at a time: the last lines of most sessions fit in.
const BLOCK: usize = 64 << 10;

/// A line that is longer than this many blocks is measured before any more of it is kept.
const BLOCKS_KEPT: usize = 16;

/// Goes over the lines of a file backwards, so that what its last records say is known without
/// reading the rest. Lines have no numbers.
///
/// Memory stays at about the size of the longest line, and small for lines over the line limit.
#[derive(Debug)]
pub struct LinesFromEnd<R> {
    input: R,
    path: PathBuf,
    /// The bytes of the input from `base` on, up to where the lines that were handed out begin.
    buffer: Vec<u8>,
    base: u64,
    block: usize,
    line_bytes: u64,
    spare: Vec<u8>,
}

/// Opens a file to go over its lines backwards; none when its content is compressed, which has to
/// be read from the beginning.
///
/// # Errors
/// As [`file::open`].
pub fn open_from_end(path: &Path, limits: &Limits) -> Result<Option<LinesFromEnd<File>>, CarrierError> {
    let (mut file, stamp) = file::open(path)?;
    let mut magic = Vec::with_capacity(4);
    file.by_ref().take(4).read_to_end(&mut magic).map_err(|error| CarrierError::io(path, error))?;
    if zstd_file::is_zstd(&magic) {
        return Ok(None);
    }
    let mut lines = LinesFromEnd::with_block(file, stamp.size, limits, BLOCK);
    lines.path = path.to_owned();
    Ok(Some(lines))
}

impl<R: Read + Seek> LinesFromEnd<R> {
    /// Goes over the first `size` bytes of `input`, reading about `block` bytes at a time.
    #[must_use]
    pub fn with_block(input: R, size: u64, limits: &Limits, block: usize) -> LinesFromEnd<R> {
        LinesFromEnd {
            input,
            path: PathBuf::new(),
            buffer: Vec::new(),
            base: size,
            block: block.max(1),
            line_bytes: limits.line_bytes,
            spare: Vec::new(),
        }
    }

    /// The line before the last one that was handed out; none at the beginning of the input.
    ///
    /// # Errors
    /// [`CarrierError::Io`] when reading fails, also because the file became shorter.
    #[allow(clippy::should_implement_trait, reason = "the line lends the buffer, which Iterator cannot say")]
    pub fn next(&mut self) -> Result<Option<RawLine<'_>>, CarrierError> {
        if self.buffer.is_empty() && !self.read_before()? {
            return Ok(None);
        }
        // The search looks at what stands before the newline of this line.
        let terminated = self.buffer.last() == Some(&b'\n');
        let mut unsearched = self.buffer.len() - usize::from(terminated);
        let start = loop {
            if let Some(newline) = memchr::memrchr(b'\n', self.buffer.get(..unsearched).unwrap_or_default()) {
                break newline + 1;
            }
            if self.buffer.len() > self.block.saturating_mul(BLOCKS_KEPT) {
                return self.long_line(terminated).map(Some);
            }
            let before = self.buffer.len();
            if !self.read_before()? {
                break if self.buffer.starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK.len() } else { 0 };
            }
            unsearched = self.buffer.len() - before;
        };
        if start == self.buffer.len() {
            // Nothing but a byte order mark is left.
            self.buffer.clear();
            return Ok(None);
        }
        let at = self.base + start as u64;
        self.spare.clear();
        self.spare.extend_from_slice(self.buffer.get(start..).unwrap_or_default());
        self.buffer.truncate(start);
        if self.base == 0 && self.buffer == BYTE_ORDER_MARK {
            self.buffer.clear();
        }
        let mut bytes = self.spare.as_slice();
        if terminated {
            bytes = bytes.strip_suffix(b"\n").unwrap_or(bytes);
        }
        let oversize = bytes.len() as u64 > self.line_bytes;
        if terminated {
            bytes = bytes.strip_suffix(b"\r").unwrap_or(bytes);
        }
        let end = at + bytes.len() as u64;
        if oversize {
            bytes = bytes.get(..self.head()).unwrap_or(bytes);
        }
        Ok(Some(RawLine { number: None, start: at, end, bytes, terminated, oversize }))
    }

    /// How much memory the buffers take now, in bytes.
    #[must_use]
    pub fn buffer_bytes(&self) -> usize {
        self.buffer.capacity() + self.spare.capacity()
    }

    /// Puts what stands before the buffer in front of it; false when nothing does.
    fn read_before(&mut self) -> Result<bool, CarrierError> {
        // Twice as much each time that a line needs more.
        let size = self.base.min(self.block.max(self.buffer.len()) as u64);
        if size == 0 {
            return Ok(false);
        }
        let start = self.base - size;
        let mut block = std::mem::take(&mut self.spare);
        self.read_at(start, size, &mut block)?;
        block.extend_from_slice(&self.buffer);
        self.spare = std::mem::replace(&mut self.buffer, block);
        self.base = start;
        Ok(true)
    }

    fn read_at(&mut self, start: u64, size: u64, into: &mut Vec<u8>) -> Result<(), CarrierError> {
        into.clear();
        // Not more than that: these are the largest buffers there are.
        into.reserve_exact(usize::try_from(size).unwrap_or(0));
        let read = self
            .input
            .seek(SeekFrom::Start(start))
            .and_then(|_| self.input.by_ref().take(size).read_to_end(into));
        let outcome = match read {
            Ok(read) if (read as u64) < size => Err(io::ErrorKind::UnexpectedEof.into()),
            outcome => outcome,
        };
        outcome.map(drop).map_err(|error| CarrierError::io(&self.path, error))
    }

    /// The line that the buffer ends with, which is long: looks for its beginning a block at a
    /// time, and reads it only when it is not over the limit.
    fn long_line(&mut self, terminated: bool) -> Result<RawLine<'_>, CarrierError> {
        let stored = self.base + self.buffer.len() as u64 - u64::from(terminated);
        let content = self.buffer.strip_suffix(b"\n").unwrap_or(&self.buffer);
        let carriage = terminated && content.ends_with(b"\r");
        let end = stored - u64::from(carriage);
        let line_start = loop {
            self.buffer.clear();
            if !self.read_before()? {
                break 0;
            }
            if let Some(newline) = memchr::memrchr(b'\n', &self.buffer) {
                break self.base + newline as u64 + 1;
            }
        };
        self.buffer.truncate(usize::try_from(line_start - self.base).unwrap_or(0));
        let mut bytes = std::mem::take(&mut self.spare);
        // A byte order mark at the very beginning is not part of the line.
        let mut start = line_start;
        if line_start == 0 {
            let mark = BYTE_ORDER_MARK.len() as u64;
            self.read_at(0, end.min(mark), &mut bytes)?;
            if bytes == BYTE_ORDER_MARK {
                start = mark;
            }
        }
        let oversize = stored - start > self.line_bytes;
        let kept = if oversize { (end - start).min(self.head() as u64) } else { end - start };
        self.read_at(start, kept, &mut bytes)?;
        self.spare = bytes;
        Ok(RawLine { number: None, start, end, bytes: &self.spare, terminated, oversize })
    }

    /// How much of a line over the limit is shown.
    fn head(&self) -> usize {
        usize::try_from(self.line_bytes).unwrap_or(HEAD).min(HEAD)
    }
}
