//! Appending: the lock, the segments, and what happens when the lock cannot be had.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use super::directory::{Directory, LOCK, LOST, Names, segment_name, side_names};
use super::entry::{Line, SegmentHead};
use super::{Entry, Journal, JournalError, LINE_BYTES, Place};

/// How long a writer sleeps between two looks at the lock.
const PAUSE: Duration = Duration::from_millis(1);

/// How many side files one writer moves into a segment: whoever comes then must not wait long.
const MOVED_AT_ONCE: usize = 32;

/// Drafts of side files that are older were left by a writer that died.
const DRAFT_AGE: Duration = Duration::from_secs(24 * 60 * 60);

/// The right to write to segments, for as long as it lives.
struct Lock(#[allow(dead_code, reason = "closing the file ends the lock")] File);

impl Journal {
    /// Appends an entry, and says where it lies. When that has returned, the entry is kept,
    /// whatever happens to the process.
    ///
    /// # Errors
    /// [`JournalError`]; the entry is not kept then, and counted as lost where even that can be written.
    pub fn append(&self, entry: &Entry) -> Result<Place, JournalError> {
        let kept = self.keep(entry);
        if kept.is_err() {
            // The first reason is the one to tell.
            let _ = self.count_as_lost();
        }
        kept
    }

    fn keep(&self, entry: &Entry) -> Result<Place, JournalError> {
        let directory = &self.directory;
        let mut line = serde_json::to_vec(entry)
            .map_err(|error| JournalError::io("write an entry to", directory.path(), error.into()))?;
        if memchr::memchr(b'\n', &line).is_some() {
            return Err(JournalError::SeveralLines);
        }
        line.push(b'\n');
        if line.len() > LINE_BYTES {
            return Err(JournalError::TooLarge { bytes: line.len() });
        }
        directory.prepare()?;
        let appended = match self.lock() {
            Ok(Some(lock)) => {
                let appended = self.append_to_segment(&line);
                drop(lock);
                appended.map(Some)
            }
            Ok(None) => Ok(None),
            Err(error) => Err(error),
        };
        match appended {
            Ok(Some(place)) => Ok(place),
            Ok(None) => self.write_aside(&line),
            Err(error) => self.write_aside(&line).map_err(|_| error),
        }
    }

    /// Takes the lock; none when another process holds it for longer than a writer waits.
    fn lock(&self) -> Result<Option<Lock>, JournalError> {
        let file = self
            .directory
            .open(LOCK, OpenOptions::new().read(true).write(true).create(true).truncate(false))?;
        let begun = Instant::now();
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(Some(Lock(file))),
                Err(TryLockError::WouldBlock) if begun.elapsed() < self.bounds.patience => {
                    thread::sleep(PAUSE);
                }
                Err(TryLockError::WouldBlock) => return Ok(None),
                Err(TryLockError::Error(error)) => {
                    return Err(JournalError::io("lock", &self.directory.join(LOCK), error));
                }
            }
        }
    }

    /// Appends under the lock, and moves what was written aside before.
    fn append_to_segment(&self, line: &[u8]) -> Result<Place, JournalError> {
        let names = self.directory.names()?;
        let mut segment = Segment::last(&self.directory, &names)?;
        for name in names.sides.iter().take(MOVED_AT_ONCE) {
            // One that cannot be moved is read where it lies.
            if let Ok(Some(aside)) = side_line(&self.directory, name)
                && self.move_line(&mut segment, &aside)?
            {
                self.directory.remove(name)?;
            }
        }
        self.put(&mut segment, line)
    }

    /// Moves a line into the segment; false when it is none that can be. A writer that was killed
    /// between this and removing the side file left the line at the very end of the segment: nobody
    /// wrote since, because this is done before anything else.
    fn move_line(&self, segment: &mut Segment, line: &[u8]) -> Result<bool, JournalError> {
        let Some(record) = line.strip_suffix(b"\n").filter(|record| Line::read(record).is_ok()) else {
            return Ok(false);
        };
        if segment.torn && segment.ends_with(record)? {
            segment.end_line()?;
        } else if !segment.ends_with(line)? {
            self.put(segment, line)?;
        }
        Ok(true)
    }

    fn put(&self, segment: &mut Segment, line: &[u8]) -> Result<Place, JournalError> {
        let is_full = segment.size.saturating_add(line.len() as u64) > self.bounds.segment_bytes;
        if is_full && segment.size > 0 {
            *segment = self.next_segment(segment)?;
        }
        segment.put(line)
    }

    /// Opens the segment behind this one, and removes what is over the bounds.
    fn next_segment(&self, full: &mut Segment) -> Result<Segment, JournalError> {
        let exhausted = || io::Error::other("its number is the last one");
        let number = full.number.checked_add(1);
        let number = number.ok_or_else(|| JournalError::io("close", &full.place(0, 0).path, exhausted()))?;
        let next = Segment::open(&self.directory, number, full.lines_to_its_end())?;
        let names = self.directory.names()?;
        let over = names.segments.len().saturating_sub(self.bounds.segments.max(1));
        for number in names.segments.iter().take(over) {
            self.directory.remove(&segment_name(*number))?;
        }
        for draft in &names.drafts {
            if is_older(&self.directory.join(draft), DRAFT_AGE) {
                self.directory.remove(draft)?;
            }
        }
        Ok(next)
    }

    /// Writes a line to a file of its own, under a name that no reader takes until it is whole.
    fn write_aside(&self, line: &[u8]) -> Result<Place, JournalError> {
        let files = self.directory.names()?.sides.len();
        if files >= self.bounds.side_files {
            return Err(JournalError::Full { path: self.directory.path().to_owned(), files });
        }
        // A draft that lay for a day may have been taken for one that a dead process left.
        for _ in 0..2 {
            let now = jiff::Timestamp::now().as_nanosecond().max(0);
            let (draft, side) = side_names(&format!("{now:020}-{}", uuid::Uuid::new_v4().simple()));
            let (draft_path, path) = (self.directory.join(&draft), self.directory.join(&side));
            let mut file = self.directory.open(&draft, OpenOptions::new().write(true).create_new(true))?;
            let written = file
                .write_all(line)
                .map_err(|error| JournalError::io("write", &draft_path, error))
                .and_then(|()| match fs::rename(&draft_path, &path) {
                    Ok(()) => Ok(true),
                    Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
                    Err(error) => Err(JournalError::io("write", &path, error)),
                });
            match written {
                Ok(true) => return Ok(Place { path, start: 0, end: line.len() as u64 - 1 }),
                Ok(false) => {}
                Err(error) => {
                    let _ = self.directory.remove(&draft);
                    return Err(error);
                }
            }
        }
        let gone = io::Error::from(io::ErrorKind::NotFound);
        Err(JournalError::io("write a side file in", self.directory.path(), gone))
    }

    /// One byte more in a file of its own: appending one needs no lock, and is never torn.
    fn count_as_lost(&self) -> Result<(), JournalError> {
        self.directory.prepare()?;
        let mut file = self.directory.open(LOST, OpenOptions::new().append(true).create(true))?;
        file.write_all(b".").map_err(|error| JournalError::io("write", &self.directory.join(LOST), error))
    }
}

/// The segment that is written to, under the lock.
struct Segment {
    directory: Directory,
    file: File,
    number: u64,
    size: u64,
    /// Whether its last line is not ended.
    torn: bool,
}

impl Segment {
    /// The last one there is, or the first.
    fn last(directory: &Directory, names: &Names) -> Result<Segment, JournalError> {
        let number = names.segments.last().copied();
        let lines_before = || match names.segments.iter().rev().nth(1) {
            Some(before) => Segment::open_there(directory, *before).ok()?.lines_to_its_end(),
            None if number.is_none_or(|number| number == 1) => Some(0),
            None => None,
        };
        let segment = Segment::open_there(directory, number.unwrap_or(1))?;
        // One that is empty was made by a writer that died before it wrote its first line.
        if segment.size == 0 { segment.with_head(lines_before()) } else { Ok(segment) }
    }

    /// Opens one, and gives a new one its first line.
    fn open(directory: &Directory, number: u64, lines_before: Option<u64>) -> Result<Segment, JournalError> {
        let segment = Segment::open_there(directory, number)?;
        if segment.size == 0 { segment.with_head(lines_before) } else { Ok(segment) }
    }

    fn open_there(directory: &Directory, number: u64) -> Result<Segment, JournalError> {
        let name = segment_name(number);
        let file = directory.open(&name, OpenOptions::new().read(true).append(true).create(true))?;
        let io = |error| JournalError::io("look at", &directory.join(&name), error);
        let size = file.metadata().map_err(io)?.len();
        let mut segment = Segment { directory: directory.clone(), file, number, size, torn: false };
        segment.torn = size > 0 && !segment.ends_with(b"\n")?;
        Ok(segment)
    }

    fn with_head(mut self, lines_before: Option<u64>) -> Result<Segment, JournalError> {
        #[derive(serde::Serialize)]
        struct Written {
            kind: &'static str,
            #[serde(flatten)]
            head: SegmentHead,
        }
        let head = SegmentHead { number: self.number, lines_before };
        let line = serde_json::to_vec(&Written { kind: "segment", head });
        let mut line = line.map_err(|error| self.failed("write", error.into()))?;
        line.push(b'\n');
        self.put(&line)?;
        Ok(self)
    }

    fn place(&self, start: u64, end: u64) -> Place {
        Place { path: self.directory.join(&segment_name(self.number)), start, end }
    }

    fn failed(&self, doing: &'static str, error: io::Error) -> JournalError {
        JournalError::io(doing, &self.place(0, 0).path, error)
    }

    /// Writes one line, in one call, behind the end of a torn one.
    fn put(&mut self, line: &[u8]) -> Result<Place, JournalError> {
        let ended;
        let bytes = if self.torn {
            ended = [b"\n", line].concat();
            &ended
        } else {
            line
        };
        if let Err(error) = self.file.write_all(bytes) {
            // A full disk takes a part. Nobody else can have written since; where this fails too, the
            // next writer ends the line.
            let _ = self.file.set_len(self.size);
            return Err(self.failed("write", error));
        }
        self.size = self.size.saturating_add(bytes.len() as u64);
        self.torn = false;
        let end = self.size.saturating_sub(1);
        Ok(self.place(end.saturating_sub(line.len() as u64 - 1), end))
    }

    /// Ends a last line that lacks its newline alone.
    fn end_line(&mut self) -> Result<(), JournalError> {
        self.file.write_all(b"\n").map_err(|error| self.failed("write", error))?;
        self.size = self.size.saturating_add(1);
        self.torn = false;
        Ok(())
    }

    fn ends_with(&mut self, bytes: &[u8]) -> Result<bool, JournalError> {
        let Some(start) = self.size.checked_sub(bytes.len() as u64) else { return Ok(false) };
        let mut found = vec![0; bytes.len()];
        let read = self.file.seek(SeekFrom::Start(start)).and_then(|_| self.file.read_exact(&mut found));
        read.map_err(|error| self.failed("read", error))?;
        Ok(found == bytes)
    }

    /// How many lines were written up to its end, its own first line and those of the segments
    /// before it not counted; none when it does not say how many those had.
    fn lines_to_its_end(&mut self) -> Option<u64> {
        let mut bytes = Vec::new();
        self.file.seek(SeekFrom::Start(0)).ok()?;
        (&self.file).take(self.size).read_to_end(&mut bytes).ok()?;
        let mut lines = bytes.split(|byte| *byte == b'\n');
        let Ok(Line::Segment(head)) = Line::read(lines.next()?) else { return None };
        let own = memchr::memchr_iter(b'\n', &bytes).count() as u64 + u64::from(self.torn);
        head.lines_before?.checked_add(own.saturating_sub(1))
    }
}

/// The content of a side file; none when it is too long to be one.
fn side_line(directory: &Directory, name: &str) -> Result<Option<Vec<u8>>, JournalError> {
    let Some(file) = directory.open_to_read(name)? else { return Ok(None) };
    let mut line = Vec::new();
    let read = file.take(LINE_BYTES as u64 + 1).read_to_end(&mut line);
    read.map_err(|error| JournalError::io("read", &directory.join(name), error))?;
    Ok((line.len() <= LINE_BYTES).then_some(line))
}

fn is_older(path: &Path, age: Duration) -> bool {
    let modified = fs::symlink_metadata(path).and_then(|about| about.modified());
    modified.is_ok_and(|time| SystemTime::now().duration_since(time).is_ok_and(|passed| passed > age))
}
