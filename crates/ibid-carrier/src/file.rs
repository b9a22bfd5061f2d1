//! One whole file, read while other programs may be writing it.

use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

use ibid_model::{Finding, FindingKind};
use rayon::prelude::*;

use crate::{CarrierError, FileStamp, zstd_file};

/// How much of each end of a file that grew is read a second time, to see that it only grew.
const COMPARED: usize = 4096;

/// Files over this size are read in pieces, on several threads.
const IN_PIECES: usize = 16 << 20;

/// The size of a piece.
const PIECE: usize = 4 << 20;

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

/// Reads one of Ibid's own files: a regular one of at most `limit` bytes. A pipe or a device in its
/// place would be waited for, or never end.
///
/// # Errors
/// What the operating system says; [`io::ErrorKind::InvalidInput`] for anything but a regular file,
/// and [`io::ErrorKind::FileTooLarge`] for one over the limit.
pub fn read_own(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    if !fs::metadata(path)?.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"));
    }
    let mut bytes = Vec::new();
    File::open(path)?.take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
    match u64::try_from(bytes.len()) {
        Ok(size) if size <= limit => Ok(bytes),
        _ => Err(io::ErrorKind::FileTooLarge.into()),
    }
}

/// Reads a whole file, at most as much as it held when it was opened, so that a file that is
/// being appended to is read up to a moment. Content that begins like zstd is decompressed,
/// whatever the file is called.
///
/// # Errors
/// [`CarrierError::TooLarge`] when the file, or what it decompresses to, is over `limit` bytes;
/// and as [`open`].
pub fn read(path: &Path, limit: u64) -> Result<StoredFile, CarrierError> {
    let (file, stamp) = open(path)?;
    if stamp.size > limit {
        return Err(CarrierError::TooLarge { path: path.to_owned(), bytes: stamp.size, limit });
    }
    let stored = read_up_to(&file, stamp.size).map_err(|e| CarrierError::io(path, e))?;
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

/// The first `size` bytes, or fewer when the file ends before. Most of the time of reading a large
/// file goes into making its memory, so that is done on several threads.
fn read_up_to(file: &File, size: u64) -> io::Result<Vec<u8>> {
    let size = usize::try_from(size).map_err(|_| io::ErrorKind::OutOfMemory)?;
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(size).map_err(|_| io::ErrorKind::OutOfMemory)?;
    if size < IN_PIECES {
        let mut file = file;
        file.seek(SeekFrom::Start(0))?;
        file.take(size as u64).read_to_end(&mut bytes)?;
        return Ok(bytes);
    }
    bytes = vec![0; size];
    let read: Vec<usize> = bytes
        .par_chunks_mut(PIECE)
        .enumerate()
        .map(|(at, piece)| read_at(file, piece, (at * PIECE) as u64))
        .collect::<io::Result<_>>()?;
    // A piece that is short is where the file ends now, whatever was read behind it before.
    let whole = read.iter().take_while(|read| **read == PIECE).count();
    bytes.truncate(whole * PIECE + read.get(whole).copied().unwrap_or(0));
    Ok(bytes)
}

/// Fills `piece` from byte `start` of the file on, as far as the file goes, without moving the
/// position that other threads use.
fn read_at(file: &File, mut piece: &mut [u8], mut start: u64) -> io::Result<usize> {
    #[cfg(unix)]
    use std::os::unix::fs::FileExt;
    #[cfg(windows)]
    use std::os::windows::fs::FileExt;
    let size = piece.len();
    while !piece.is_empty() {
        #[cfg(unix)]
        let read = file.read_at(piece, start);
        #[cfg(windows)]
        let read = file.seek_read(piece, start);
        match read {
            Ok(0) => break,
            Ok(read) => {
                start += read as u64;
                piece = piece.get_mut(read..).unwrap_or_default();
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(size - piece.len())
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

#[cfg(test)]
mod tests {
    use std::fs::OpenOptions;
    use std::io::Write;
    use std::path::PathBuf;
    use std::time::{Duration, SystemTime};

    use super::*;

    /// A file whose last write lies in the past, so that a later one has another time.
    fn file_of(content: &[u8]) -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.jsonl");
        fs::write(&path, content).unwrap();
        let past = SystemTime::now() - Duration::from_secs(5);
        OpenOptions::new().append(true).open(&path).unwrap().set_modified(past).unwrap();
        (folder, path)
    }

    /// What is found when `change` happens between reading the file and looking again.
    fn found_after(content: &[u8], change: impl FnOnce(&Path)) -> Vec<FindingKind> {
        let (_folder, path) = file_of(content);
        let (file, stamp) = open(&path).unwrap();
        let bytes = read_up_to(&file, stamp.size).unwrap();
        change(&path);
        changes_while_reading(&path, &file, &stamp, &bytes).iter().map(|finding| finding.kind).collect()
    }

    #[test]
    fn a_file_that_grows_while_it_is_read_is_whole_up_to_the_moment() {
        let grow = |path: &Path| {
            OpenOptions::new().append(true).open(path).unwrap().write_all(b"{}\n").unwrap();
        };
        assert_eq!(found_after(b"{}\n", grow), []);
    }

    // https://github.com/thedotmack/claude-mem/pull/4019 (fault 18)
    #[test]
    fn a_file_that_shrinks_while_it_is_read_is_a_finding() {
        let found = found_after(b"{\"a\":1}\n{}\n", |path| fs::write(path, b"{}\n").unwrap());
        assert_eq!(found, [FindingKind::Shrunk]);
    }

    // https://github.com/rajudandigam/agent-inspect/issues/298 (fault 18)
    #[test]
    fn a_file_rewritten_while_it_is_read_is_a_finding() {
        let same_size = found_after(b"{\"a\":1}\n", |path| fs::write(path, b"{\"a\":2}\n").unwrap());
        assert_eq!(same_size, [FindingKind::Replaced]);
        let larger = found_after(b"{\"a\":1}\n", |path| fs::write(path, b"{\"b\":2}\n{}\n").unwrap());
        assert_eq!(larger, [FindingKind::Replaced]);
    }

    #[test]
    fn a_file_replaced_or_deleted_while_it_is_read_is_a_finding() {
        let replace = |path: &Path| {
            let other = path.with_extension("new");
            fs::write(&other, b"{}\n").unwrap();
            fs::rename(other, path).unwrap();
        };
        assert_eq!(found_after(b"{}\n", replace), [FindingKind::Replaced]);
        assert_eq!(found_after(b"{}\n", |path| fs::remove_file(path).unwrap()), [FindingKind::Replaced]);
    }

    #[test]
    fn a_large_file_is_read_in_its_order() {
        let content: Vec<u8> = (0..5_000_000u32).flat_map(u32::to_le_bytes).collect();
        let (_folder, path) = file_of(&content);
        assert!(content.len() > IN_PIECES);
        assert!(read(&path, u64::MAX).unwrap().bytes == content);
    }

    #[test]
    fn a_large_file_that_is_shorter_than_it_was_is_read_to_its_end() {
        let (_folder, path) = file_of(&vec![b'x'; IN_PIECES + 5]);
        let bytes = read_up_to(&File::open(&path).unwrap(), (IN_PIECES + 2 * PIECE) as u64).unwrap();
        assert_eq!(bytes.len(), IN_PIECES + 5);
    }
}
