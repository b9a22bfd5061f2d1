//! The log: JSONL, one exchange a line, appended.
//!
//! Two forms are read. The provider's own is [`Exchange`] as JSON. The other is that of a small
//! scripted provider in Python, which has `seq`, `t` (seconds), `method`, `path`, `headers` (an object) and
//! `body`, and names what it would refuse on a line of its own, `{"seq": 3, "lint": ["..."]}`.

use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, Write};
use std::path::Path;

use jiff::Timestamp;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::exchange::Exchange;
use super::strict::Refusal;

/// Reads a log whole.
///
/// # Errors
///
/// The file cannot be read, or a line is in neither form (`InvalidData`, with the line's number). A last line
/// without its line end is one that is still being written, and is left out when it does not parse.
pub fn read(path: &Path) -> io::Result<Vec<Exchange>> {
    let mut exchanges = Vec::new();
    let mut lines = BufReader::new(File::open(path)?);
    let mut line = Vec::new();
    for number in 1_u64.. {
        line.clear();
        if lines.read_until(b'\n', &mut line)? == 0 {
            break;
        }
        if line.trim_ascii().is_empty() {
            continue;
        }
        match serde_json::from_slice(&line) {
            Ok(Line::Own(exchange)) => exchanges.push(exchange),
            Ok(Line::Script(script)) => exchanges.push(script.exchange()),
            Ok(Line::Lint { seq, lint }) => note(&mut exchanges, seq, lint),
            Err(_) if !line.ends_with(b"\n") => break,
            Err(error) => {
                let why = format!("{}: line {number}: {error}", path.display());
                return Err(io::Error::new(io::ErrorKind::InvalidData, why));
            }
        }
    }
    Ok(exchanges)
}

/// Findings belong to the newest exchange of that number: a log may hold several runs.
fn note(exchanges: &mut [Exchange], seq: u64, lint: Vec<String>) {
    if let Some(exchange) = exchanges.iter_mut().rev().find(|exchange| exchange.number == seq) {
        exchange.refused.extend(lint.into_iter().map(Refusal::unnamed));
    }
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Line {
    Own(Exchange),
    Lint { seq: u64, lint: Vec<String> },
    Script(Script),
}

/// A line of the Python provider's.
#[derive(Deserialize)]
struct Script {
    seq: u64,
    t: f64,
    method: String,
    path: String,
    headers: Map<String, Value>,
    body: Option<Value>,
    raw: Option<String>,
}

impl Script {
    fn exchange(self) -> Exchange {
        let text = |value: Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        Exchange {
            number: self.seq,
            // A float's microseconds are all that the log holds. A time out of range is not worth a run.
            #[allow(clippy::cast_possible_truncation, reason = "saturates")]
            time: Timestamp::from_microsecond((self.t * 1e6) as i64).unwrap_or(Timestamp::UNIX_EPOCH),
            method: self.method,
            path: self.path,
            headers: self
                .headers
                .into_iter()
                .map(|(name, value)| (name.to_lowercase(), text(value)))
                .collect(),
            body: self.body,
            raw: self.raw.map(String::into_bytes),
            refused: Vec::new(),
            answer: None,
        }
    }
}

/// A log being written.
#[derive(Debug)]
pub struct Log(File);

impl Log {
    /// Opens a log, and makes it and its folder where they are not there.
    ///
    /// # Errors
    ///
    /// The folder or the file cannot be made or opened.
    pub fn append_to(path: &Path) -> io::Result<Self> {
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder)?;
        }
        OpenOptions::new().create(true).append(true).open(path).map(Self)
    }

    /// Writes one line with one call, so that lines of several writers do not mix.
    ///
    /// # Errors
    ///
    /// The line cannot be written.
    pub fn write(&mut self, exchange: &Exchange) -> io::Result<()> {
        let mut line = serde_json::to_vec(exchange)?;
        line.push(b'\n');
        self.0.write_all(&line)
    }
}
