//! Answers, bounded while they are written.

use std::io::{self, Write};
use std::num::NonZeroU32;

use serde::Serialize;

use super::{ENVELOPE_VERSION, RESPONSE_LIMIT};
use crate::{Refusal, RefusalCode};

/// The characters of a call error's message.
const MESSAGE: usize = 1000;

#[derive(Serialize)]
struct Answered<'a, T> {
    version: u64,
    id: NonZeroU32,
    result: &'a T,
}

#[derive(Serialize)]
struct Refused<'a> {
    version: u64,
    id: NonZeroU32,
    error: CallError<'a>,
}

#[derive(Serialize)]
struct CallError<'a> {
    code: &'a str,
    message: &'a str,
}

/// A frame in the making, which takes no byte beyond the limit.
struct Sink {
    frame: Vec<u8>,
    full: bool,
}

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if bytes.len() > RESPONSE_LIMIT.saturating_sub(self.frame.len()) {
            self.full = true;
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        self.frame.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The frame of an answer, without its line feed.
pub(super) fn answered<T: Serialize>(id: NonZeroU32, result: &T) -> Result<Vec<u8>, Refusal> {
    let mut sink = Sink { frame: Vec::new(), full: false };
    match serde_json::to_writer(&mut sink, &Answered { version: ENVELOPE_VERSION, id, result }) {
        Ok(()) => Ok(sink.frame),
        Err(_) if sink.full => Err(Refusal {
            code: RefusalCode::ResponseLimit,
            message: format!(
                "the answer would be longer than {RESPONSE_LIMIT} bytes; ask for fewer sessions (maxSessions) \
                 or for less of them (includeToolTrace, includeDialogue)"
            ),
        }),
        Err(_) => Err(Refusal {
            code: RefusalCode::Internal,
            message: "the answer cannot be written as JSON".to_owned(),
        }),
    }
}

/// The frame of a call error, without its line feed.
pub(super) fn refused(id: NonZeroU32, refusal: &Refusal) -> Vec<u8> {
    let message: String = refusal.message.chars().take(MESSAGE).collect();
    let error = CallError { code: refusal.code.as_str(), message: &message };
    serde_json::to_vec(&Refused { version: ENVELOPE_VERSION, id, error }).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What stands around a result that is a string.
    const AROUND: usize = r#"{"version":1,"id":1,"result":""}"#.len();

    #[test]
    fn an_answer_may_be_as_long_as_the_limit_and_no_byte_longer() {
        let just = "a".repeat(RESPONSE_LIMIT - AROUND);
        assert_eq!(answered(NonZeroU32::MIN, &just).unwrap().len(), RESPONSE_LIMIT);
        let over = "a".repeat(RESPONSE_LIMIT - AROUND + 1);
        assert_eq!(answered(NonZeroU32::MIN, &over).unwrap_err().code, RefusalCode::ResponseLimit);
    }
}
