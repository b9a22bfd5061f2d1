//! One whole file, read while other programs may be writing it.

use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

use ibid_model::{Finding, FindingKind};

use crate::{CarrierError, FileStamp, zstd_file};

/// How much of each end of a file that grew is read a second time, to see that it only grew.
const COMPARED: usize = 4096;

/// The content of a file, and what happened to the file meanwhile.
#[derive(Debug)]
pub struct StoredFile {
    /// The bytes; of a compressed file, what they decompress to.
    pub bytes: Vec<u8>,
    /// The file as it was when it was opened. Its size is that of the stored bytes.
    pub stamp: FileStamp,
    /// Whether the stored bytes are compressed.
    pub compressed: bool,
    /// What was seen while reading: the file shrank, was replaced, or is damaged.
    pub findings: Vec<Finding>,
}

/// Opens a regular file. Pipes and devices are refused before they are opened, since opening
/// them can wait for ever.
///
/// # Errors
/// [`CarrierError::NotFound`], [`CarrierError::NotAFile`], or [`CarrierError::Io`].
pub fn open(path: &Path) -> Result<(File, FileStamp), CarrierError> {
    let io = |error| CarrierError::io(path, error);
    if !fs::metadata(path).map_err(io)?.is_file() {
        return Err(CarrierError::NotAFile { path: path.to_owned() });
    }
    let file = File::open(path).map_err(io)?;
    let metadata = file.metadata().map_err(io)?;
    if !metadata.is_file() {
        return Err(CarrierError::NotAFile { path: path.to_owned() });
    }
    let stamp = FileStamp::of(&metadata);
    Ok((file, stamp))
}

/// Reads a whole file, at most as much as it held when it was opened, so that a file that is
/// being appended to is read up to a moment. Content that begins like zstd is decompressed,
/// whatever the file is called.
///
/// # Errors
/// [`CarrierError::TooLarge`] when the file, or what it decompresses to, is over `limit` bytes;
/// and as [`open`].
pub fn read(path: &Path, limit: u64) -> Result<StoredFile, CarrierError> {
    let (mut file, stamp) = open(path)?;
    if stamp.size > limit {
        return Err(CarrierError::TooLarge { path: path.to_owned(), bytes: stamp.size, limit });
    }
    let stored = read_up_to(&mut file, stamp.size).map_err(|e| CarrierError::io(path, e))?;
    let mut findings = changes_while_reading(path, &file, &stamp, &stored);
    if !zstd_file::is_zstd(&stored) {
        return Ok(StoredFile { bytes: stored, stamp, compressed: false, findings });
    }
    let content = zstd_file::decompress(&stored, limit).map_err(|over| CarrierError::TooLarge {
        path: path.to_owned(),
        bytes: over.bytes,
        limit: over.limit,
    })?;
    findings.extend(content.damage.map(|damage| damage.at_path(path)));
    Ok(StoredFile { bytes: content.bytes, stamp, compressed: true, findings })
}

/// The next `size` bytes, or fewer when the file ends before.
fn read_up_to(file: &mut File, size: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let capacity = usize::try_from(size).map_err(|_| io::ErrorKind::OutOfMemory)?;
    bytes.try_reserve_exact(capacity).map_err(|_| io::ErrorKind::OutOfMemory)?;
    file.by_ref().take(size).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// What the file system says afterwards. A file that only grew is no finding: its harness is at
/// work, and what was read is whole up to the moment of opening.
fn changes_while_reading(path: &Path, file: &File, before: &FileStamp, bytes: &[u8]) -> Vec<Finding> {
    let read = bytes.len() as u64;
    let Ok(after) = FileStamp::of_file(file, path) else {
        return vec![
            Finding::new(FindingKind::Replaced, "the file could not be looked at again").at_path(path),
        ];
    };
    if read < before.size || after.size < before.size {
        let detail = format!("{} bytes when it was opened, {} read", before.size, read.min(after.size));
        return vec![Finding::new(FindingKind::Shrunk, detail).at_path(path)];
    }
    let at_path = FileStamp::at(path).ok().flatten();
    let replaced = if at_path.is_none_or(|now| !now.same_file(before)) {
        Some("another file stands at the path; the one that was opened was read to its end")
    } else if after.size == before.size && after.mtime_ns != before.mtime_ns {
        Some("written in place, without growing")
    } else if after.size > before.size && !same_ends(file, bytes) {
        Some("it grew, and what was there before it grew changed")
    } else {
        None
    };
    replaced.map(|detail| Finding::new(FindingKind::Replaced, detail).at_path(path)).into_iter().collect()
}

/// Whether the file still begins with the first bytes, and still has the last ones in their place.
fn same_ends(mut file: &File, bytes: &[u8]) -> bool {
    let tail_start = bytes.len().saturating_sub(COMPARED);
    let head = bytes.get(..COMPARED).unwrap_or(bytes);
    let tail = bytes.get(tail_start..).unwrap_or_default();
    [(0, head), (tail_start, tail)].into_iter().all(|(start, expected)| {
        let mut found = vec![0; expected.len()];
        file.seek(SeekFrom::Start(start as u64)).and_then(|_| file.read_exact(&mut found)).is_ok()
            && found == expected
    })
}
