//! What a hook tells the process that listens, and how: one request of HTTP, within a bound.
//!
//! A report says less than the journal: which session, where, and which subagent. It is made from an
//! observation, so that nothing that a person or a model wrote can be in it.

use std::io::{self, ErrorKind, Read as _, Write as _};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use crate::handoff::Handoff;
use crate::journal::ReportFailure;

/// The header that carries the secret.
pub const SECRET_HEADER: &str = "x-tapes-lifecycle-secret";

/// The path that reports of a program go to.
#[must_use]
pub fn path(profile: &str) -> String {
    format!("/_tapes/{profile}/lifecycle")
}

/// What is reported. A receiver refuses a key that it does not know.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Report {
    /// The root session, exactly as announced.
    pub session_id: String,
    /// The working directory, exactly as announced; absent where the program names none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// The subagent that the event is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<String>,
}

/// What became of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delivery {
    /// It was taken.
    Taken,
    /// Nobody listens: the ordinary case.
    NobodyListens,
    /// It was not taken, or nobody knows.
    Failed {
        /// Why.
        failure: ReportFailure,
        /// The status of the answer, where there was one.
        status: Option<u16>,
    },
}

/// Sends a report, and waits for the beginning of the answer: all of it within this time.
#[must_use]
pub fn send(handoff: &Handoff, report: &Report, within: Duration) -> Delivery {
    let failed = |failure| Delivery::Failed { failure, status: None };
    match exchange(handoff, report, within) {
        Ok(Some(status)) if (200..300).contains(&status) => Delivery::Taken,
        Ok(Some(status)) => Delivery::Failed { failure: ReportFailure::Answered, status: Some(status) },
        Ok(None) => failed(ReportFailure::Broken),
        Err(error) => match error.kind() {
            ErrorKind::ConnectionRefused => Delivery::NobodyListens,
            ErrorKind::TimedOut | ErrorKind::WouldBlock => failed(ReportFailure::TimedOut),
            _ => failed(ReportFailure::Broken),
        },
    }
}

fn exchange(handoff: &Handoff, report: &Report, within: Duration) -> io::Result<Option<u16>> {
    let deadline = Instant::now() + within;
    let left = || match deadline.saturating_duration_since(Instant::now()) {
        Duration::ZERO => Err(io::Error::from(ErrorKind::TimedOut)),
        left => Ok(left),
    };
    let body = serde_json::to_vec(report)?;
    let mut request = format!(
        "POST {} HTTP/1.1\r\nhost: {}\r\n{SECRET_HEADER}: {}\r\ncontent-type: application/json\r\n\
         content-length: {}\r\nconnection: close\r\n\r\n",
        path(handoff.profile()),
        handoff.address(),
        handoff.secret().reveal(),
        body.len()
    )
    .into_bytes();
    request.extend_from_slice(&body);
    let mut stream = TcpStream::connect_timeout(&handoff.address(), left()?)?;
    let mut unsent = request.as_slice();
    while !unsent.is_empty() {
        stream.set_write_timeout(Some(left()?))?;
        match stream.write(unsent) {
            Ok(0) => return Err(ErrorKind::WriteZero.into()),
            Ok(sent) => unsent = unsent.get(sent..).unwrap_or_default(),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    let mut answer = [0; STATUS_LINE];
    let mut filled = 0;
    while let Some(room) = answer.get_mut(filled..).filter(|room| !room.is_empty()) {
        stream.set_read_timeout(Some(left()?))?;
        match stream.read(room) {
            Ok(0) => return Ok(None),
            Ok(read) => filled += read,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(status(&answer))
}

/// The length of `HTTP/1.1 204`.
const STATUS_LINE: usize = 12;

fn status(answer: &[u8; STATUS_LINE]) -> Option<u16> {
    let code = answer.strip_prefix(b"HTTP/1.1 ").or_else(|| answer.strip_prefix(b"HTTP/1.0 "))?;
    let code = std::str::from_utf8(code).ok()?;
    code.bytes().all(|byte| byte.is_ascii_digit()).then(|| code.parse().ok())?
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;
    use std::thread;

    use super::*;

    fn report() -> Report {
        Report {
            session_id: "s \u{1f9ea}/\"\n".to_owned(),
            cwd: Some("/w".to_owned()),
            agent_id: Some("a".to_owned()),
        }
    }

    /// Sends to a listener that answers with these bytes, and gives what it was sent.
    fn sent_to(answer: &'static [u8], keep_open: bool) -> (Delivery, String) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let handoff = Handoff::new("codex-app", listener.local_addr().unwrap()).unwrap();
        let secret = handoff.secret().reveal().to_owned();
        let server = thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut request = Vec::new();
            let mut byte = [0];
            while !request.ends_with(b"}") && stream.read(&mut byte).unwrap() == 1 {
                request.push(byte[0]);
            }
            stream.write_all(answer).unwrap();
            if keep_open {
                thread::sleep(Duration::from_millis(400));
            }
            String::from_utf8(request).unwrap()
        });
        let begun = Instant::now();
        let delivery = send(&handoff, &report(), Duration::from_millis(200));
        assert!(begun.elapsed() < Duration::from_millis(350), "{:?}", begun.elapsed());
        (delivery, server.join().unwrap().replace(&secret, "SECRET"))
    }

    #[test]
    fn a_report_is_one_request_with_the_secret_and_the_projection() {
        let (delivery, request) = sent_to(b"HTTP/1.1 204 No Content\r\n\r\n", false);
        assert_eq!(delivery, Delivery::Taken);
        let (head, body) = request.split_once("\r\n\r\n").unwrap();
        assert!(head.starts_with("POST /_tapes/codex-app/lifecycle HTTP/1.1\r\n"));
        assert!(head.contains("\r\nx-tapes-lifecycle-secret: SECRET\r\n"));
        assert!(head.contains(&format!("\r\ncontent-length: {}\r\n", body.len())));
        let said: serde_json::Value = serde_json::from_str(body).unwrap();
        let expected = serde_json::json!({"session_id": "s \u{1f9ea}/\"\n", "cwd": "/w", "agent_id": "a"});
        assert_eq!(said, expected);
    }

    #[test]
    fn what_is_not_taken_is_said_to_be_so() {
        let failed = |failure, status| Delivery::Failed { failure, status };
        let cases: [(&[u8], bool, Delivery); 6] = [
            (b"HTTP/1.1 401 Unauthorized\r\n\r\n", false, failed(ReportFailure::Answered, Some(401))),
            (b"HTTP/1.1 500 Oh\r\n\r\n", false, failed(ReportFailure::Answered, Some(500))),
            (b"", false, failed(ReportFailure::Broken, None)),
            (b"SSH-2.0-OpenSSH_9.6\r\n", false, failed(ReportFailure::Broken, None)),
            (b"HTTP/1.1 +20", false, failed(ReportFailure::Broken, None)),
            (b"HTTP/1.1", true, failed(ReportFailure::TimedOut, None)),
        ];
        for (answer, keep_open, expected) in cases {
            assert_eq!(sent_to(answer, keep_open).0, expected, "{}", String::from_utf8_lossy(answer));
        }
    }

    #[test]
    fn where_nobody_listens_there_is_nothing_to_say() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let handoff = Handoff::new("pi", listener.local_addr().unwrap()).unwrap();
        drop(listener);
        assert_eq!(send(&handoff, &report(), Duration::from_secs(2)), Delivery::NobodyListens);
    }
}
