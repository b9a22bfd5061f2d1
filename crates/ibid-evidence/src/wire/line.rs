//! Lines of bounded length, from a stream that nobody vouches for.

use std::io::{self, BufRead, ErrorKind};

/// How a line ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineEnd {
    /// With a line feed, which is the last byte of the line.
    LineFeed,
    /// With the stream, after at least one byte.
    Stream,
    /// There was no line: the stream is over.
    Nothing,
    /// It did not end within the limit. The rest of it has not been read.
    Limit,
}

/// Reads one line into `line`, which is emptied first. `limit` counts the line feed: of a line
/// without one, fewer bytes than that are read.
///
/// # Errors
/// When the stream cannot be read. An interrupted read is repeated.
pub fn read_line(input: &mut impl BufRead, limit: usize, line: &mut Vec<u8>) -> io::Result<LineEnd> {
    line.clear();
    loop {
        let chunk = match input.fill_buf() {
            Ok(chunk) => chunk,
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        if chunk.is_empty() {
            return Ok(if line.is_empty() { LineEnd::Nothing } else { LineEnd::Stream });
        }
        let room = limit.saturating_sub(line.len());
        let within = chunk.get(..room).unwrap_or(chunk);
        let end = within.iter().position(|byte| *byte == b'\n');
        let taken = end.map_or(within, |end| within.get(..=end).unwrap_or(within));
        line.extend_from_slice(taken);
        let count = taken.len();
        input.consume(count);
        if end.is_some() {
            return Ok(LineEnd::LineFeed);
        }
        if line.len() >= limit {
            return Ok(LineEnd::Limit);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::{BufReader, Cursor, Read};

    use super::*;

    fn lines(text: &[u8], limit: usize, buffer: usize) -> Vec<(Vec<u8>, LineEnd)> {
        let mut input = BufReader::with_capacity(buffer, text);
        let mut all = Vec::new();
        loop {
            let mut line = Vec::new();
            let end = read_line(&mut input, limit, &mut line).unwrap();
            all.push((line, end));
            if matches!(end, LineEnd::Nothing | LineEnd::Limit) {
                return all;
            }
        }
    }

    #[test]
    fn a_line_may_be_as_long_as_the_limit_with_its_line_feed() {
        for buffer in [1, 2, 3, 4, 5, 64] {
            let found = lines(b"abc\nabcd\n", 4, buffer);
            assert_eq!(found, [(b"abc\n".to_vec(), LineEnd::LineFeed), (b"abcd".to_vec(), LineEnd::Limit)]);
        }
    }

    #[test]
    fn a_last_line_without_a_line_feed_is_a_line() {
        let found = lines(b"a\nbc", 4, 64);
        assert_eq!(found.get(1), Some(&(b"bc".to_vec(), LineEnd::Stream)));
        assert_eq!(found.get(2), Some(&(Vec::new(), LineEnd::Nothing)));
    }

    #[test]
    fn nothing_is_read_beyond_the_limit() {
        let mut input = BufReader::with_capacity(1, Cursor::new(b"abcdefgh".to_vec()));
        assert_eq!(read_line(&mut input, 4, &mut Vec::new()).unwrap(), LineEnd::Limit);
        let mut rest = Vec::new();
        input.read_to_end(&mut rest).unwrap();
        assert_eq!(rest, b"efgh");
    }
}
