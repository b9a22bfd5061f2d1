//! What an agent gives a hook on its standard input: read within a size and a time.

use std::io::{ErrorKind, Read};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use crate::journal::Refusal;

/// The most that is read of one input, in bytes.
pub const BYTES: usize = 1 << 20;

/// How long nothing must come behind a whole object before it is taken: an agent may keep the pipe
/// open.
const QUIET: Duration = Duration::from_millis(50);

const CHUNK: usize = 64 << 10;

/// What came.
#[derive(Debug, PartialEq, Eq)]
pub struct Input {
    /// The bytes, or why they are not taken.
    pub content: Result<Vec<u8>, Refusal>,
    /// How many bytes were read.
    pub bytes: u64,
}

/// Reads to the end of the input, or to the end of the one object that comes when the input stays
/// open, or until the deadline. A thread waits for the input, since nothing else can be told to stop
/// waiting everywhere; it ends with the process.
#[must_use]
pub fn read(input: impl Read + Send + 'static, deadline: Instant) -> Input {
    let mut input = input.take(BYTES as u64 + 1);
    let (sender, chunks) = mpsc::sync_channel(1);
    let reader = move || {
        let mut buffer = vec![0; CHUNK];
        loop {
            let chunk = match input.read(&mut buffer) {
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                read => read.map(|read| buffer.get(..read).unwrap_or_default().to_vec()).map_err(|_| ()),
            };
            let last = chunk.as_ref().map_or(true, Vec::is_empty);
            if sender.send(chunk).is_err() || last {
                return;
            }
        }
    };
    if thread::Builder::new().spawn(reader).is_err() {
        return Input { content: Err(Refusal::Failed), bytes: 0 };
    }
    let mut bytes = Vec::new();
    let mut object = Object::default();
    let content = loop {
        let left = deadline.saturating_duration_since(Instant::now());
        let patience = if object.is_over() { left.min(QUIET) } else { left };
        match chunks.recv_timeout(patience) {
            Ok(Ok(chunk)) if chunk.is_empty() => break Ok(()),
            Ok(Ok(chunk)) => {
                object.see(&chunk);
                bytes.extend_from_slice(&chunk);
                if bytes.len() > BYTES {
                    break Err(Refusal::TooLarge);
                }
            }
            Ok(Err(())) => break Err(Refusal::Unreadable),
            Err(_) if object.is_over() => break Ok(()),
            Err(RecvTimeoutError::Timeout) => break Err(Refusal::TooSlow),
            Err(RecvTimeoutError::Disconnected) => break Err(Refusal::Failed),
        }
    };
    Input { bytes: bytes.len() as u64, content: content.map(|()| bytes) }
}

/// How far the first value of the input has come. What it is, is for a parser to say: this knows
/// brackets and strings only.
#[derive(Default)]
struct Object {
    depth: usize,
    in_string: bool,
    escaped: bool,
    over: bool,
}

impl Object {
    /// Whether the value has ended, or is none that a parser would take.
    fn is_over(&self) -> bool {
        self.over
    }

    fn see(&mut self, chunk: &[u8]) {
        for byte in chunk {
            if self.over {
                return;
            }
            match byte {
                _ if self.escaped => self.escaped = false,
                b'\\' if self.in_string => self.escaped = true,
                b'"' if self.depth > 0 => self.in_string = !self.in_string,
                _ if self.in_string => {}
                b'{' | b'[' => self.depth += 1,
                b'}' | b']' => {
                    self.depth = self.depth.saturating_sub(1);
                    self.over = self.depth == 0;
                }
                b' ' | b'\t' | b'\r' | b'\n' => {}
                _ => self.over = self.depth == 0,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::*;

    /// An input that gives its chunks one by one, and then stays open or ends.
    struct Chunks(std::vec::IntoIter<(u64, &'static str)>, bool);

    impl Read for Chunks {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let Some((pause, chunk)) = self.0.next() else {
                if self.1 {
                    thread::sleep(Duration::from_secs(30));
                }
                return Ok(0);
            };
            thread::sleep(Duration::from_millis(pause));
            buffer[..chunk.len()].copy_from_slice(chunk.as_bytes());
            Ok(chunk.len())
        }
    }

    fn read_within(milliseconds: u64, chunks: &[(u64, &'static str)], open: bool) -> Result<String, Refusal> {
        let deadline = Instant::now() + Duration::from_millis(milliseconds);
        let input = read(Chunks(Vec::from(chunks).into_iter(), open), deadline);
        input.content.map(|bytes| String::from_utf8(bytes).unwrap())
    }

    #[test]
    fn an_input_that_ends_is_taken_as_it_is() {
        assert_eq!(read_within(5000, &[(0, "{\"a\""), (20, ":1}")], false).unwrap(), "{\"a\":1}");
        assert_eq!(read_within(5000, &[(0, "nonsense")], false).unwrap(), "nonsense");
        assert_eq!(read_within(5000, &[], false).unwrap(), "");
    }

    #[test]
    fn a_whole_object_is_taken_while_the_pipe_stays_open() {
        let tricky = " {\"a}\":[\"\\\"}\", {\"b\": \"\\\\\"}]}\n";
        let begun = Instant::now();
        assert_eq!(read_within(5000, &[(0, tricky)], true).unwrap(), tricky);
        assert!(begun.elapsed() < Duration::from_secs(2));
    }

    #[test]
    fn what_comes_right_behind_a_whole_object_is_part_of_the_input() {
        assert_eq!(read_within(5000, &[(0, "{}"), (10, " {}")], true).unwrap(), "{} {}");
    }

    #[test]
    fn half_an_object_is_waited_for_until_the_deadline() {
        assert_eq!(read_within(150, &[(0, "{\"a\":\"}\"")], true), Err(Refusal::TooSlow));
        assert_eq!(read_within(150, &[], true), Err(Refusal::TooSlow));
    }

    #[test]
    fn a_mebibyte_is_read_and_no_byte_more() {
        let of = |bytes: usize| {
            read(io::repeat(b' ').take(bytes as u64), Instant::now() + Duration::from_secs(20))
        };
        assert_eq!(of(BYTES).content.map(|bytes| bytes.len()), Ok(BYTES));
        assert_eq!(of(BYTES + 1), Input { content: Err(Refusal::TooLarge), bytes: BYTES as u64 + 1 });
        assert_eq!(of(100 * BYTES).bytes, BYTES as u64 + 1);
    }

    #[test]
    fn an_input_that_fails_is_unreadable() {
        struct Fails;
        impl Read for Fails {
            fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
                Err(io::Error::other("s3cret"))
            }
        }
        let input = read(Fails, Instant::now() + Duration::from_secs(5));
        assert_eq!(input.content, Err(Refusal::Unreadable));
    }
}
