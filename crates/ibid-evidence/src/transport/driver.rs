//! A driver in a process of its own: fed without waiting for it, and reaped whatever it does.

use std::io::{self, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use crate::wire::REQUEST_LIMIT;

/// How long a driver may take to end after its input has ended.
pub const REAP_GRACE: Duration = Duration::from_secs(5);

/// How often it is looked after meanwhile.
pub const REAP_POLL: Duration = Duration::from_millis(100);

/// The bytes that may wait for a driver that does not read.
const WAITING: usize = 4 * REQUEST_LIMIT;

/// What a line costs that waits, beside its bytes.
const LINE: usize = 64;

/// A running driver.
#[derive(Debug)]
pub struct Driver {
    pid: u32,
    child: Mutex<Option<Child>>,
    lines: Mutex<Option<Sender<Vec<u8>>>>,
    queue: Arc<Queue>,
}

#[derive(Debug, Default)]
struct Queue {
    waiting: AtomicUsize,
    /// Nothing more is written.
    over: AtomicBool,
}

impl Driver {
    /// Starts a driver. Its standard error is this process's own.
    ///
    /// # Errors
    /// When it cannot be started.
    pub fn spawn(mut command: Command) -> io::Result<(Driver, ChildStdout)> {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let (Some(stdin), Some(stdout)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(io::Error::other("the driver has no pipes"));
        };
        let queue = Arc::new(Queue::default());
        let (sender, receiver) = channel();
        let writing = Arc::clone(&queue);
        let (pid, child) = (child.id(), Mutex::new(Some(child)));
        let driver = Driver { pid, child, lines: Mutex::new(Some(sender)), queue };
        // Whoever sends must not wait for a driver that is at work: it could not be told to stop.
        thread::Builder::new()
            .name("to-driver".to_owned())
            .spawn(move || write_lines(&receiver, stdin, &writing))?;
        Ok((driver, stdout))
    }

    /// Its process id.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.pid
    }

    /// Passes bytes on to the driver, as soon as it reads them.
    ///
    /// # Errors
    /// When it has ended, or too much is waiting for it already.
    pub fn send(&self, bytes: &[u8]) -> io::Result<()> {
        let cost = bytes.len() + LINE;
        if self.queue.waiting.fetch_add(cost, Ordering::AcqRel) + cost > WAITING {
            return Err(io::Error::other("requests come faster than the driver reads them"));
        }
        let lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        let sent = lines.as_ref().map(|lines| lines.send(bytes.to_vec()));
        match sent {
            Some(Ok(())) => Ok(()),
            _ => Err(io::ErrorKind::BrokenPipe.into()),
        }
    }

    /// Ends the driver: its input ends, it may take `grace` to end by itself, and is killed then.
    /// Returns how it ended; none if it has been reaped before.
    ///
    /// # Errors
    /// When the system does not say what became of the process.
    pub fn reap(&self, grace: Duration) -> io::Result<Option<ExitStatus>> {
        self.queue.over.store(true, Ordering::Release);
        drop(self.lines.lock().unwrap_or_else(PoisonError::into_inner).take());
        let Some(mut child) = self.child.lock().unwrap_or_else(PoisonError::into_inner).take() else {
            return Ok(None);
        };
        let begun = Instant::now();
        loop {
            if let Some(status) = child.try_wait()? {
                return Ok(Some(status));
            }
            if begun.elapsed() >= grace {
                break;
            }
            thread::sleep(REAP_POLL.min(grace));
        }
        // It may have ended just now; waiting tells.
        let _ = child.kill();
        child.wait().map(Some)
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        // Nothing is left that could wait for it, and nobody may be left behind.
        let _ = self.reap(Duration::ZERO);
    }
}

/// Writes what comes until nothing more comes, and closes the driver's input.
fn write_lines(lines: &Receiver<Vec<u8>>, mut stdin: ChildStdin, queue: &Queue) {
    for line in lines {
        if queue.over.load(Ordering::Acquire) || stdin.write_all(&line).and_then(|()| stdin.flush()).is_err()
        {
            // Senders find out by the missing receiver.
            return;
        }
        queue.waiting.fetch_sub(line.len() + LINE, Ordering::AcqRel);
    }
}
