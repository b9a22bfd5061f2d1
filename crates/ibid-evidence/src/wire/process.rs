//! The driver as a process: the standard streams, one line about a failure, and the exit code.

use std::io::{self, BufReader, Write};
use std::sync::atomic::{AtomicUsize, Ordering};

use ibid_harness::Surroundings;

use super::driver::serve;
use super::excerpt::excerpt;
use crate::{Evidence, PROTOCOL};

/// How many panics are reported. A client that does not read the errors must not stop the host
/// when their pipe is full.
const PANICS: usize = 16;

/// The program that is the host and nothing else: it takes no arguments but `--version` and
/// `--help`. `host` makes what answers, from the machine as it is. Returns the exit code: that of
/// [`run`], 1 where no home is known, 2 for arguments that it does not take.
#[must_use]
pub fn run_alone<E: Evidence>(name: &str, host: impl FnOnce(Surroundings) -> E) -> u8 {
    let mut arguments = std::env::args_os().skip(1);
    let (first, more) = (arguments.next(), arguments.next().is_some());
    match first.as_deref().map(|first| first.to_str()) {
        None => {}
        Some(Some("--version")) if !more => return tell(&format!("{name} {}", env!("CARGO_PKG_VERSION"))),
        Some(Some("--help")) if !more => {
            return tell(&format!(
                "Usage: {name}\n\nAnswers requests of the protocol {PROTOCOL}, one JSON object per line, on its \
                 standard output.\nReads the sessions of this user's home (HOME), and writes nothing."
            ));
        }
        Some(_) => {
            complain(&format!("{name} takes no arguments but --version and --help"));
            return 2;
        }
    }
    let Some(machine) = Surroundings::of_this_machine() else {
        complain("no home directory is known; set HOME");
        return 1;
    };
    run(&host(machine))
}

/// Prints for a person.
fn tell(text: &str) -> u8 {
    // Where nobody reads it, there is nobody to tell.
    let _ = writeln!(io::stdout(), "{text}");
    0
}

/// Serves the standard streams of this process, and returns its exit code: 0 when there are no
/// more requests, after `shutdown`, and when nobody reads the answers any more; 1 after a fault,
/// which is one line of the standard error.
#[must_use]
pub fn run(evidence: &dyn Evidence) -> u8 {
    report_panics_on_one_line();
    // Frames are long, and the buffer of the standard input is short.
    let input = BufReader::with_capacity(64 * 1024, io::stdin().lock());
    match serve(evidence, input, io::stdout().lock()) {
        Ok(_) => 0,
        Err(fault) => {
            complain(&fault.to_string());
            1
        }
    }
}

/// Writes one line to the standard error, behind `[evidence-host]`. It is cut at 400 characters,
/// and nothing in it breaks the line.
pub fn complain(text: &str) {
    // Where nobody reads it, there is nobody to tell.
    let _ = writeln!(io::stderr(), "[evidence-host] {}", excerpt(text, 400));
}

/// From now on a panic is one short line of the standard error, which says where in the program it
/// was and not what it said: that may quote a session. Only the first few are reported.
pub fn report_panics_on_one_line() {
    static REPORTED: AtomicUsize = AtomicUsize::new(0);
    std::panic::set_hook(Box::new(|panic| {
        if REPORTED.fetch_add(1, Ordering::Relaxed) < PANICS {
            let place = panic.location().map(|place| format!("{}:{}", place.file(), place.line()));
            complain(&format!("internal failure at {}", place.as_deref().unwrap_or("an unknown place")));
        }
    }));
}
