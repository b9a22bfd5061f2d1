//! Running an agent's own program.

use std::io::{self, Read};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use super::RegistrarRun;

/// The most that is kept of what a program prints, in bytes of each stream.
const KEPT: usize = 16 << 10;

/// How many characters of that are shown.
const SHOWN: usize = 200;

/// How often a running program is looked after.
const TICK: Duration = Duration::from_millis(5);

/// How long the last output of a program that has ended is waited for: what it started may keep its
/// pipes open.
const LAST_OUTPUT: Duration = Duration::from_millis(500);

/// How a program ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Ended {
    /// It is not there.
    NotFound,
    /// With status 0.
    Well,
    /// With another status, by a signal, too late, or it could not be started; with what it said,
    /// stderr first, on one line.
    Badly(String),
}

/// Runs the agent's program with these arguments: nothing on stdin, within the time limit, its
/// output kept to a bound.
pub(crate) fn run(run: &RegistrarRun<'_>, arguments: &[&str], unset: &[&str]) -> Ended {
    let mut command = Command::new(&run.program);
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    if run.isolated {
        command.env("HOME", run.machine.home()).env("USERPROFILE", run.machine.home());
        for variable in unset {
            command.env_remove(variable);
        }
    }
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    let mut child = match command.spawn() {
        Ok(child) => child,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ended::NotFound,
        Err(error) => return Ended::Badly(format!("it could not be started: {error}")),
    };
    let (out, err) = (collect(child.stdout.take()), collect(child.stderr.take()));
    let begun = Instant::now();
    let status = loop {
        match child.try_wait() {
            Ok(Some(status)) => break status,
            Ok(None) if begun.elapsed() < run.limit => std::thread::sleep(TICK),
            Ok(None) => {
                end(&mut child);
                return Ended::Badly(format!("it did not end within {} s", run.limit.as_secs_f32()));
            }
            Err(error) => return Ended::Badly(format!("it could not be waited for: {error}")),
        }
    };
    if status.success() {
        return Ended::Well;
    }
    let said = |from: Receiver<Vec<u8>>| {
        one_line(&String::from_utf8_lossy(&from.recv_timeout(LAST_OUTPUT).unwrap_or_default()))
    };
    let texts: Vec<String> = [said(err), said(out)].into_iter().filter(|text| !text.is_empty()).collect();
    Ended::Badly(if texts.is_empty() { format!("exited with {status}") } else { texts.join("; ") })
}

/// What a person is shown of what a program said: one line of at most 200 characters.
pub(crate) fn shown(said: &str) -> String {
    match said.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", said.get(..end).unwrap_or(said)),
        None => said.to_owned(),
    }
}

/// Reads a stream to its end on a thread of its own, and keeps the beginning: a program that prints
/// much must not block on a full pipe.
fn collect(stream: Option<impl Read + Send + 'static>) -> Receiver<Vec<u8>> {
    let (send, receive) = channel();
    std::thread::spawn(move || {
        let mut kept = Vec::new();
        if let Some(mut stream) = stream {
            let _ = stream.by_ref().take(KEPT as u64).read_to_end(&mut kept);
            // Sent before the rest is drained, which may take for ever.
            let full = kept.len() == KEPT;
            let _ = send.send(kept);
            if full {
                let _ = io::copy(&mut stream, &mut io::sink());
            }
        }
    });
    receive
}

/// Ends a program and what it started.
fn end(child: &mut Child) {
    #[cfg(unix)]
    if let Some(group) = i32::try_from(child.id()).ok().and_then(rustix::process::Pid::from_raw) {
        let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
    }
    let _ = child.kill();
    let _ = child.wait();
}

/// Text without control characters and escape sequences' beginnings, on one line.
fn one_line(text: &str) -> String {
    let plain: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    plain.split_whitespace().collect::<Vec<_>>().join(" ")
}
