//! The service's side of one connection: lines from the peer go to a driver, lines from the driver
//! to the peer.

use std::io::{self, BufReader};
use std::process::{ChildStdout, Command};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use super::driver::{Driver, REAP_GRACE};
use super::proof::TransportProof;
use crate::wire::{LineEnd, REQUEST_LIMIT, RESPONSE_LIMIT, read_line};

/// Who is at the other end of a connection.
pub trait Peer: Send {
    /// Takes one line, with its line feed.
    ///
    /// # Errors
    /// When the peer is gone.
    fn deliver(&self, line: &[u8]) -> io::Result<()>;

    /// Learns that nothing more comes, and why. The connection is of no more use then.
    fn fail(&self, reason: &str);
}

/// One connection: one driver, which harms nobody else when it hangs.
#[derive(Debug)]
pub struct Session {
    driver: Arc<Driver>,
    stdout: Mutex<Option<ChildStdout>>,
    /// Why the driver was ended, if it did not end by itself.
    reason: Mutex<Option<String>>,
}

impl Session {
    /// Starts the driver of a connection. Nothing is forwarded yet.
    ///
    /// # Errors
    /// When it cannot be started; the connection is to be refused then.
    pub fn spawn(driver: Command) -> io::Result<Arc<Session>> {
        let (driver, stdout) = Driver::spawn(driver)?;
        Ok(Arc::new(Session {
            driver: Arc::new(driver),
            stdout: Mutex::new(Some(stdout)),
            reason: Mutex::new(None),
        }))
    }

    /// The process id of the driver.
    #[must_use]
    pub fn driver_pid(&self) -> u32 {
        self.driver.pid()
    }

    /// Delivers the proof, and from then on whatever the driver says. Does so once.
    ///
    /// # Errors
    /// When the system has no thread for it.
    pub fn start(self: &Arc<Session>, proof: &TransportProof, peer: impl Peer + 'static) -> io::Result<()> {
        let Some(stdout) = self.stdout.lock().unwrap_or_else(PoisonError::into_inner).take() else {
            return Ok(());
        };
        let (session, proof) = (Arc::clone(self), proof.line());
        thread::Builder::new().name("from-driver".to_owned()).spawn(move || {
            let ended = peer.deliver(&proof).map_or_else(|_| GONE.to_owned(), |()| pump(stdout, &peer));
            let reason = session.reason.lock().unwrap_or_else(PoisonError::into_inner).take();
            peer.fail(&reason.unwrap_or(ended));
            // What the system says of the process helps nobody any more.
            let _ = session.driver.reap(REAP_GRACE);
        })?;
        Ok(())
    }

    /// Takes one line from the peer. One that is too long, or that the driver does not take, ends
    /// the connection.
    pub fn receive(&self, line: &[u8]) {
        let refused = if line.len() > REQUEST_LIMIT {
            Some("a request exceeded its size limit".to_owned())
        } else {
            self.driver.send(line).err().map(|error| format!("the driver takes no more requests: {error}"))
        };
        if let Some(reason) = refused {
            self.reason.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(reason);
            self.close();
        }
    }

    /// Reaps the driver, without waiting for it.
    pub fn close(&self) {
        let driver = Arc::clone(&self.driver);
        // Without a thread, dropping the session is what ends the driver.
        let _ = thread::Builder::new().name("reaper".to_owned()).spawn(move || {
            let _ = driver.reap(REAP_GRACE);
        });
    }
}

const GONE: &str = "the peer is gone";

/// Delivers lines until there are no more, and says why.
fn pump(stdout: ChildStdout, peer: &impl Peer) -> String {
    let mut answers = BufReader::with_capacity(64 * 1024, stdout);
    let mut line = Vec::new();
    loop {
        match read_line(&mut answers, RESPONSE_LIMIT + 1, &mut line) {
            Ok(LineEnd::LineFeed) if peer.deliver(&line).is_ok() => {}
            Ok(LineEnd::LineFeed) => return GONE.to_owned(),
            Ok(LineEnd::Nothing) => return "the driver ended".to_owned(),
            Ok(LineEnd::Stream) => return "the driver ended inside of an answer".to_owned(),
            Ok(LineEnd::Limit) => return "an answer exceeded its size limit".to_owned(),
            Err(error) => return format!("the driver cannot be read: {error}"),
        }
        line.clear();
        line.shrink_to(64 * 1024);
    }
}
