//! The loop: read a request, answer it, read the next.

use std::io::{self, BufRead, ErrorKind, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};

use super::envelope::{Request, is_blank};
use super::excerpt::excerpt;
use super::line::{LineEnd, read_line};
use super::{REQUEST_LIMIT, reply};
use crate::answer::{Description, Shutdown};
use crate::{Evidence, PROTOCOL, Refusal, RefusalCode};

/// The methods beside `host.describe` and `shutdown`.
pub const CAPABILITIES: [&str; 2] = ["sessions.discover", "artifacts.observe"];

/// What is kept of the buffer for requests when the next one is awaited, in bytes.
const KEPT: usize = 64 * 1024;

/// Why the driver ended in peace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// It was asked to.
    Shutdown,
    /// There are no more requests.
    InputOver,
    /// Nobody reads the answers any more.
    ReaderGone,
}

/// Why the driver cannot go on: what comes next on the stream can no longer be trusted. Nothing is
/// answered. The text is one short line of printable ASCII.
#[derive(Debug, thiserror::Error)]
pub enum Fault {
    /// A line is no request.
    #[error("malformed request frame: {0}")]
    Malformed(String),
    /// A request of another version of the envelope.
    #[error("request frame version {0} is not supported; this host speaks version 1")]
    Version(u64),
    /// A line that did not end in time.
    #[error("request frame exceeded its size limit of {REQUEST_LIMIT} bytes")]
    TooLong,
    /// The requests cannot be read.
    #[error("the requests cannot be read: {}", excerpt(&.0.to_string(), 200))]
    Input(io::Error),
    /// The answers cannot be written, for another reason than that their reader went away.
    #[error("the answers cannot be written: {}", excerpt(&.0.to_string(), 200))]
    Output(io::Error),
}

/// Answers requests until there are no more, or `shutdown` has been answered.
///
/// A panic inside of `evidence` becomes the call error `internal`; what it said goes nowhere.
///
/// # Errors
/// A [`Fault`], after which the streams are of no more use.
pub fn serve(
    evidence: &dyn Evidence,
    mut input: impl BufRead,
    mut output: impl Write,
) -> Result<Ended, Fault> {
    let mut line = Vec::new();
    loop {
        match read_line(&mut input, REQUEST_LIMIT, &mut line).map_err(Fault::Input)? {
            LineEnd::LineFeed | LineEnd::Stream => {}
            LineEnd::Nothing => return Ok(Ended::InputOver),
            LineEnd::Limit => return Err(Fault::TooLong),
        }
        if is_blank(&line) {
            continue;
        }
        let request = Request::parse(&line)?;
        let mut frame = answer(evidence, &request);
        frame.push(b'\n');
        match output.write_all(&frame).and_then(|()| output.flush()) {
            Ok(()) => {}
            Err(error) if is_reader_gone(&error) => return Ok(Ended::ReaderGone),
            Err(error) => return Err(Fault::Output(error)),
        }
        if request.method == "shutdown" {
            return Ok(Ended::Shutdown);
        }
        line.clear();
        line.shrink_to(KEPT);
    }
}

fn is_reader_gone(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::BrokenPipe | ErrorKind::ConnectionReset | ErrorKind::ConnectionAborted)
}

/// The frame that answers a request, without its line feed.
fn answer(evidence: &dyn Evidence, request: &Request<'_>) -> Vec<u8> {
    // What a panic leaves behind is the host's own state, and that is behind its own locks.
    let answered = catch_unwind(AssertUnwindSafe(|| ask(evidence, request)));
    let refusal = match answered {
        Ok(Ok(frame)) => return frame,
        Ok(Err(refusal)) => refusal,
        Err(_) => Refusal {
            code: RefusalCode::Internal,
            message: "the host failed while it answered; this is a defect of the host, which goes on"
                .to_owned(),
        },
    };
    reply::refused(request.id, &refusal)
}

fn ask(evidence: &dyn Evidence, request: &Request<'_>) -> Result<Vec<u8>, Refusal> {
    let id = request.id;
    match request.method.as_ref() {
        "host.describe" => {
            let description = Description {
                protocol: PROTOCOL.to_owned(),
                pid: std::process::id(),
                platforms: evidence.platforms().into_iter().map(str::to_owned).collect(),
                capabilities: CAPABILITIES.map(str::to_owned).to_vec(),
            };
            reply::answered(id, &description)
        }
        "sessions.discover" => reply::answered(id, &evidence.discover(&request.params()?)?),
        "artifacts.observe" => reply::answered(id, &evidence.observe(&request.params()?)?),
        "shutdown" => reply::answered(id, &Shutdown::default()),
        unknown => Err(Refusal {
            code: RefusalCode::UnknownMethod,
            message: format!("unknown method {}", excerpt(unknown, 64)),
        }),
    }
}
