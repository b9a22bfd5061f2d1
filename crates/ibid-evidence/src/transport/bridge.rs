//! The client's side of a connection: a process that looks like the driver to whoever started it.

use std::io::{self, BufRead, Write};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Mutex, PoisonError};

use crate::wire::{LineEnd, REQUEST_LIMIT, read_line};

/// The service at the other end of the connection.
pub trait Service {
    /// Sends one line, with its line feed if it has one.
    ///
    /// # Errors
    /// When the service is gone.
    fn send(&self, line: &[u8]) -> io::Result<()>;
}

/// Why a bridge ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    /// There are no more requests.
    InputOver,
    /// Nobody reads the answers any more.
    ReaderGone,
    /// Something went wrong; in a sentence.
    Failed(String),
}

impl End {
    /// The exit code of the process.
    #[must_use]
    pub fn code(&self) -> u8 {
        match self {
            End::InputOver | End::ReaderGone => 0,
            End::Failed(_) => 1,
        }
    }
}

/// The answers of a connection, on their way out, and the end of it. Whoever notices an end first
/// says so; the process waits for that.
#[derive(Debug)]
pub struct Bridge<W> {
    output: Mutex<W>,
    ends: Sender<End>,
}

impl<W: Write> Bridge<W> {
    /// A bridge, and where its end will be heard of.
    pub fn new(output: W) -> (Bridge<W>, Receiver<End>) {
        let (ends, heard) = channel();
        (Bridge { output: Mutex::new(output), ends }, heard)
    }

    /// Writes one line of the service out, as it is.
    pub fn deliver(&self, line: &[u8]) {
        let mut output = self.output.lock().unwrap_or_else(PoisonError::into_inner);
        if output.write_all(line).and_then(|()| output.flush()).is_err() {
            self.end(End::ReaderGone);
        }
    }

    /// Says that the bridge is at its end.
    pub fn end(&self, end: End) {
        // Only the first is waited for.
        let _ = self.ends.send(end);
    }
}

/// Forwards requests to the service until there are no more, after a blank line that makes it
/// start. Returns why there are no more.
pub fn forward(mut input: impl BufRead, service: &impl Service) -> End {
    let gone = |error: io::Error| End::Failed(format!("the service takes no more requests: {error}"));
    if let Err(error) = service.send(b"\n") {
        return gone(error);
    }
    let mut line = Vec::new();
    loop {
        match read_line(&mut input, REQUEST_LIMIT, &mut line) {
            Ok(LineEnd::LineFeed | LineEnd::Stream) => {}
            Ok(LineEnd::Nothing) => return End::InputOver,
            Ok(LineEnd::Limit) => return End::Failed("a request exceeded its size limit".to_owned()),
            Err(error) => return End::Failed(format!("the requests cannot be read: {error}")),
        }
        if let Err(error) = service.send(&line) {
            return gone(error);
        }
        line.clear();
        line.shrink_to(64 * 1024);
    }
}
