//! Whether a file that was read before was only appended to since.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::FileStamp;

/// Up to here, every byte of what was read goes into the fingerprint; of more, samples do.
const WHOLE: u64 = 1 << 20;

/// Of a longer prefix: its first and last bytes.
const ENDS: u64 = 64 << 10;

/// And this many samples between them, at equal distances.
const SAMPLES: u64 = 14;

/// Each of this many bytes.
const SAMPLE: u64 = 4 << 10;

/// How far a file was read, and enough about what was read to tell later whether it is still
/// there. It can be stored.
///
/// The place is always behind a `0x0A` (or the beginning): a line that is still being written is
/// read again when it is whole. Of a compressed file a checkpoint says only whether the stored
/// bytes changed; reading cannot go on in the middle of one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Checkpoint {
    offset: u64,
    stamp: FileStamp,
    prefix: String,
}

/// What happened to a file since a [`Checkpoint`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// Nothing.
    Unchanged,
    /// It has more bytes than before, or a last line that was not whole, and what was read is
    /// still there: go on at [`Checkpoint::offset`].
    Appended,
    /// It is shorter than what was read: read it from the beginning.
    Truncated,
    /// What was read is no longer there, or cannot be shown to be: read it from the beginning.
    Rewritten,
}

impl Checkpoint {
    /// A checkpoint at the last `0x0A` before byte `upto` of the file. Moves the position of the
    /// file.
    ///
    /// # Errors
    /// When the file cannot be read, or is shorter than `upto`.
    pub fn new(file: &File, upto: u64) -> io::Result<Checkpoint> {
        let stamp = FileStamp::of(&file.metadata()?);
        let offset = after_last_newline(file, upto)?;
        let prefix = prefix_digest(file, offset)?;
        Ok(Checkpoint { offset, stamp, prefix })
    }

    /// Where reading goes on: behind the last line that was whole.
    #[must_use]
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// What the file system said of the file at the checkpoint.
    #[must_use]
    pub fn stamp(&self) -> FileStamp {
        self.stamp
    }

    /// What happened to the file since. Moves the position of the file.
    ///
    /// A file of the same size that was written, and a file that was replaced by another, count
    /// as rewritten unless all of what was read is compared (up to 1 MiB is). What cannot be seen
    /// is a file over 1 MiB that grew *and* was changed in its middle, between the samples.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn verify(&self, file: &File) -> io::Result<Change> {
        let now = FileStamp::of(&file.metadata()?);
        if now == self.stamp {
            return Ok(Change::Unchanged);
        }
        if now.size < self.offset {
            return Ok(Change::Truncated);
        }
        let grew = now.size > self.stamp.size && now.same_file(&self.stamp);
        if self.offset > WHOLE && !grew {
            return Ok(Change::Rewritten);
        }
        match prefix_digest(file, self.offset) {
            Ok(prefix) if prefix != self.prefix => Ok(Change::Rewritten),
            // With the prefix compared whole, an equal size and no rest mean equal content.
            Ok(_) if now.size == self.offset && now.size == self.stamp.size => Ok(Change::Unchanged),
            Ok(_) => Ok(Change::Appended),
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(Change::Truncated),
            Err(error) => Err(error),
        }
    }
}

/// The place behind the last `0x0A` before `upto`.
fn after_last_newline(mut file: &File, upto: u64) -> io::Result<u64> {
    let mut end = upto;
    let mut window = vec![0; 64 << 10];
    while end > 0 {
        let size = end.min(window.len() as u64);
        let part = window.get_mut(..usize::try_from(size).unwrap_or(0)).unwrap_or_default();
        file.seek(SeekFrom::Start(end - size))?;
        file.read_exact(part)?;
        if let Some(at) = memchr::memrchr(b'\n', part) {
            return Ok(end - size + at as u64 + 1);
        }
        end -= size;
    }
    Ok(0)
}

/// SHA-256 over the prefix of `length` bytes, or over samples of it, in hexadecimal.
fn prefix_digest(mut file: &File, length: u64) -> io::Result<String> {
    let mut digest = Sha256::new();
    let mut part = Vec::new();
    for (start, size) in sampled(length) {
        part.clear();
        file.seek(SeekFrom::Start(start))?;
        if file.take(size).read_to_end(&mut part)? as u64 != size {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        digest.update(&part);
    }
    digest.update(length.to_le_bytes());
    Ok(crate::fingerprint::hexadecimal(&digest.finalize()))
}

/// Which parts of a prefix are compared: start and size of each.
fn sampled(length: u64) -> Vec<(u64, u64)> {
    if length <= WHOLE {
        return vec![(0, length)];
    }
    let stride = (length - 2 * ENDS) / SAMPLES;
    let middle = (0..SAMPLES).map(|sample| (ENDS + sample * stride + stride / 2, SAMPLE));
    [(0, ENDS)].into_iter().chain(middle).chain([(length - ENDS, ENDS)]).collect()
}

#[cfg(test)]
mod tests {
    use std::fs::{self, OpenOptions};
    use std::io::Write;
    use std::path::PathBuf;

    use super::*;

    fn file_of(content: &[u8]) -> (tempfile::TempDir, PathBuf, Checkpoint) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.jsonl");
        fs::write(&path, content).unwrap();
        let checkpoint = Checkpoint::new(&File::open(&path).unwrap(), content.len() as u64).unwrap();
        // A later write must not fall into the same tick of the clock.
        let past = std::time::SystemTime::now() - std::time::Duration::from_secs(5);
        File::options().append(true).open(&path).unwrap().set_modified(past).unwrap();
        let stamp = FileStamp::at(&path).unwrap().unwrap();
        (folder, path, Checkpoint { stamp, ..checkpoint })
    }

    fn change(path: &PathBuf, checkpoint: &Checkpoint) -> Change {
        checkpoint.verify(&File::open(path).unwrap()).unwrap()
    }

    // https://github.com/thedotmack/claude-mem/pull/4192 (fault 17)
    #[test]
    fn a_half_written_last_line_is_read_again_when_it_is_whole() {
        let (_folder, path, checkpoint) = file_of("{\"a\":1}\n{\"b\":\"\u{e9}".as_bytes());
        assert_eq!(checkpoint.offset(), 8);
        assert_eq!(change(&path, &checkpoint), Change::Unchanged);
        OpenOptions::new().append(true).open(&path).unwrap().write_all(b"y\"}\n").unwrap();
        assert_eq!(change(&path, &checkpoint), Change::Appended);
    }

    // https://github.com/thedotmack/claude-mem/pull/4019 (fault 18)
    #[test]
    fn a_file_truncated_below_what_was_read_is_seen() {
        let (_folder, path, checkpoint) = file_of(b"{\"a\":1}\n{\"b\":2}\n");
        fs::write(&path, b"{\"a\":1}\n").unwrap();
        assert_eq!(change(&path, &checkpoint), Change::Truncated);
    }

    // https://github.com/thedotmack/claude-mem/pull/4019 (fault 18)
    #[test]
    fn a_file_rewritten_to_the_same_size_is_seen() {
        let (_folder, path, checkpoint) = file_of(b"{\"a\":1}\n{\"b\":2}\n");
        fs::write(&path, b"{\"a\":1}\n{\"b\":3}\n").unwrap();
        assert_eq!(change(&path, &checkpoint), Change::Rewritten);
    }

    // https://github.com/rajudandigam/agent-inspect/issues/298 (fault 18)
    #[test]
    fn a_file_rewritten_to_a_larger_size_is_seen() {
        let (_folder, path, checkpoint) = file_of(b"{\"a\":1}\n{\"b\":2}\n");
        fs::write(&path, b"{\"a\":9}\n{\"b\":2}\n{\"c\":3}\n").unwrap();
        assert_eq!(change(&path, &checkpoint), Change::Rewritten);
    }

    // https://github.com/rajudandigam/agent-inspect/issues/298 (fault 18)
    #[test]
    fn a_file_replaced_by_another_with_more_of_the_same_is_read_on() {
        let (folder, path, checkpoint) = file_of(b"{\"a\":1}\n");
        let other = folder.path().join("other");
        fs::write(&other, b"{\"a\":1}\n{\"b\":2}\n").unwrap();
        fs::rename(&other, &path).unwrap();
        assert_eq!(change(&path, &checkpoint), Change::Appended);
    }

    #[test]
    fn a_small_file_that_was_only_touched_is_unchanged() {
        let (_folder, path, checkpoint) = file_of(b"{\"a\":1}\n");
        File::options().append(true).open(&path).unwrap().set_modified(std::time::SystemTime::now()).unwrap();
        assert_eq!(change(&path, &checkpoint), Change::Unchanged);
    }

    #[test]
    fn a_large_file_of_the_same_size_is_rewritten_when_it_was_written_anywhere() {
        let mut content = b"{\"a\":1}\n".repeat(400_000);
        let (_folder, path, checkpoint) = file_of(&content);
        content[1_234_567] = b'x';
        fs::write(&path, &content).unwrap();
        assert_eq!(change(&path, &checkpoint), Change::Rewritten);
    }

    #[test]
    fn a_large_file_that_grew_is_read_on() {
        let content = b"{\"a\":1}\n".repeat(400_000);
        let (_folder, path, checkpoint) = file_of(&content);
        OpenOptions::new().append(true).open(&path).unwrap().write_all(b"{}\n").unwrap();
        assert_eq!(change(&path, &checkpoint), Change::Appended);
        assert_eq!(checkpoint.offset(), content.len() as u64);
    }
}
