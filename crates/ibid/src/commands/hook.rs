//! `ibid hook`: what an agent runs at the boundaries of a session.
//!
//! An agent is blocked for as long as this runs, some agents take another exit code than 0 for a veto,
//! and some put what a hook prints into the conversation. So it is handled before anything else of this
//! program: no settings, no stores, nothing printed to stdout, and 0 whatever happens.

use std::ffi::{OsStr, OsString};
use std::io::Write as _;
use std::panic::{self, AssertUnwindSafe};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use ibid_capture::handoff::Handoff;
use ibid_capture::hook_input;
use ibid_capture::journal::{Entry, Journal, Observed, Refusal, Refused, ReportFailure, Unreported};
use ibid_capture::report::{self, Delivery, Report};
use ibid_harness::{Announced, CaptureProfile, Lifecycle, Surroundings, profile};
use ibid_model::{Observation, Timestamp};
use serde_json::value::RawValue;

/// How long a hook may take in all.
const WITHIN: Duration = Duration::from_secs(2);

/// How long a report may take however late it begins.
const LEAST_FOR_A_REPORT: Duration = Duration::from_millis(250);

/// Keep what an agent announces about a session; agents run this, people do not
///
/// Reads one event from stdin and keeps its identities in Ibid's journal: which session, turn and
/// subagent, and where. Prompts, answers and tool inputs are not kept, and sent nowhere. Tells `ibid capture`
/// when that is running. Always ends with 0 and prints nothing to stdout, since agents read both; `ibid
/// doctor` shows what was refused, and why.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// The program that announces: codex-app, claude, opencode, pi
    profile: Option<String>,

    /// Ibid's data directory, where the journal is; found by the environment when it is not given
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
}

/// Runs the hook when that is what the command line asks for, whatever else is wrong with it.
pub(crate) fn intercept(arguments: impl IntoIterator<Item = OsString>) -> Option<ExitCode> {
    let call = Call::of(arguments)?;
    // What a panic says may quote the input.
    panic::set_hook(Box::new(|_| {}));
    let _ = panic::catch_unwind(AssertUnwindSafe(|| run(&call)));
    Some(ExitCode::SUCCESS)
}

/// What a command line asks of the hook.
#[derive(Debug, Default, PartialEq, Eq)]
struct Call {
    profile: Option<String>,
    data: Option<PathBuf>,
    home: Option<PathBuf>,
    /// Whether something of it is not understood.
    odd: bool,
    help: bool,
}

impl Call {
    /// None when the command is another one, or none.
    fn of(arguments: impl IntoIterator<Item = OsString>) -> Option<Call> {
        let mut call = Call::default();
        let mut words = arguments.into_iter().skip(1);
        loop {
            let word = words.next()?;
            if word == "hook" {
                break;
            }
            // Words before the command that are no options are another command.
            if !word.as_encoded_bytes().starts_with(b"-") {
                return None;
            }
            call.take_option(&word, &mut words);
        }
        while let Some(word) = words.next() {
            if word.as_encoded_bytes().starts_with(b"-") {
                call.take_option(&word, &mut words);
            } else if call.profile.is_none() {
                call.profile = Some(word.to_string_lossy().into_owned());
            } else {
                call.odd = true;
            }
        }
        Some(call)
    }

    fn take_option(&mut self, word: &OsStr, words: &mut impl Iterator<Item = OsString>) {
        let (name, value) = split(word);
        match name.as_str() {
            "--json" if value.is_none() => {}
            "-h" | "--help" => self.help = true,
            "--home" | "--data" | "--root" => {
                let value = value.or_else(|| words.next()).filter(|value| !value.is_empty());
                match (name.as_str(), value) {
                    (_, None) => self.odd = true,
                    ("--home", Some(home)) => self.home = Some(home.into()),
                    ("--data", Some(data)) => self.data = Some(data.into()),
                    // A hook looks at no store.
                    (_, Some(_)) => {}
                }
            }
            _ => self.odd = true,
        }
    }

    fn data_dir(&self) -> Option<PathBuf> {
        if let Some(data) = &self.data {
            return std::path::absolute(data).ok();
        }
        let home = self.home.clone();
        let home =
            home.or_else(|| std::env::var_os("IBID_HOME").filter(|home| !home.is_empty()).map(PathBuf::from));
        let surroundings = match home {
            Some(home) => Surroundings::isolated(std::path::absolute(home).ok()?),
            None => Surroundings::of_this_machine()?,
        };
        Some(surroundings.data_dir().to_owned())
    }

    /// The profile and what it announces.
    fn announcer(&self) -> Option<(&'static CaptureProfile, &'static Lifecycle)> {
        let (_, profile) = profile(self.profile.as_deref()?)?;
        Some((profile, profile.lifecycle?))
    }
}

/// An option and the value behind its `=`.
fn split(word: &OsStr) -> (String, Option<OsString>) {
    // A value that is not Unicode cannot be cut off without `unsafe`; Ibid writes the two words apart.
    match word.to_str().and_then(|word| word.split_once('=')) {
        Some((name, value)) if name.starts_with("--") => (name.to_owned(), Some(value.into())),
        _ => (word.to_string_lossy().into_owned(), None),
    }
}

fn run(call: &Call) {
    if call.help {
        let _ = write!(std::io::stderr(), "{}", help());
        return;
    }
    let deadline = Instant::now() + WITHIN;
    // Whatever is wrong, the agent's pipe is emptied first: an agent may take a broken one for a failure.
    let input = hook_input::read(std::io::stdin(), deadline);
    let at = Timestamp::from(jiff::Timestamp::now());
    let announcer = call.announcer();
    let outcome = match (call.odd, announcer, input.content) {
        (true, _, _) => Err(Refusal::Arguments),
        (_, None, _) => Err(Refusal::UnknownProgram),
        (_, _, Err(refusal)) => Err(refusal),
        (_, Some((profile, lifecycle)), Ok(bytes)) => observe(lifecycle, &bytes).map(|seen| (profile, seen)),
    };
    let Some(data) = call.data_dir() else {
        return complain("no home directory is known, and no --data was given");
    };
    let journal = Journal::new(&data);
    match outcome {
        Ok((profile, Seen { native, observation })) => {
            let observed = Observed {
                at,
                program: profile.id.to_owned(),
                session: observation.session.as_str().to_owned(),
                observation: native,
            };
            keep(&journal, &Entry::Observed(observed));
            tell(&journal, &data, profile.id, &observation, deadline);
        }
        Err(reason) => {
            let program = announcer.map(|(profile, _)| profile.id.to_owned());
            keep(&journal, &Entry::Refused(Refused { at, program, reason, bytes: input.bytes }));
        }
    }
}

/// What a profile's parser let through.
struct Seen {
    native: Box<RawValue>,
    observation: Observation,
}

/// Reads an input. A parser that fails otherwise than by refusing is a defect of Ibid, and shown as one.
fn observe(lifecycle: &Lifecycle, bytes: &[u8]) -> Result<Seen, Refusal> {
    let read = panic::catch_unwind(|| (lifecycle.read)(bytes)).map_err(|_| Refusal::Failed)?;
    let Announced { native, observation } = read.map_err(|_| Refusal::NotAnEvent)?;
    let native = RawValue::from_string(native).map_err(|_| Refusal::Failed)?;
    Ok(Seen { native, observation })
}

fn keep(journal: &Journal, entry: &Entry) {
    if let Err(error) = journal.append(entry) {
        let cause = std::error::Error::source(&error).map(|cause| format!(": {cause}"));
        complain(&format!("{error}{}", cause.unwrap_or_default()));
    }
}

/// Reports to the process that listens, where the installer named one; what fails is in the journal.
fn tell(journal: &Journal, data: &Path, program: &str, observation: &Observation, deadline: Instant) {
    let (failure, status) = match Handoff::read(&Handoff::path(data, program), program) {
        Ok(None) => return,
        Ok(Some(handoff)) => {
            let said = Report {
                session_id: observation.session.as_str().to_owned(),
                cwd: observation.cwd.as_ref().map(|cwd| cwd.as_str().to_owned()),
                agent_id: observation.agent.as_ref().map(|agent| agent.id.as_str().to_owned()),
            };
            let left = deadline.saturating_duration_since(Instant::now());
            match report::send(&handoff, &said, left.max(LEAST_FOR_A_REPORT)) {
                Delivery::Taken | Delivery::NobodyListens => return,
                Delivery::Failed { failure, status } => (failure, status),
            }
        }
        Err(error) => {
            complain(&error.to_string());
            (ReportFailure::Handoff, None)
        }
    };
    let at = Timestamp::from(jiff::Timestamp::now());
    keep(journal, &Entry::Unreported(Unreported { at, program: program.to_owned(), failure, status }));
}

/// One line for whoever looks at the agent's log. It holds nothing of the input.
fn complain(what: &str) {
    let _ = writeln!(std::io::stderr(), "ibid hook: {}", crate::output::clean_line(what));
}

fn help() -> String {
    let mut root = crate::command_line();
    root.build();
    root.find_subcommand_mut("hook").map(|hook| hook.render_long_help().to_string()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(line: &str) -> Option<Call> {
        Call::of(line.split(' ').map(OsString::from))
    }

    #[test]
    fn a_hook_is_found_behind_the_options_of_every_command() {
        for line in [
            "ibid hook pi --data /d",
            "ibid --home /h hook pi --data=/d",
            "ibid --home=/h --json hook --data /d pi",
            "ibid --root codex=/x hook pi --data /d --home /h",
        ] {
            let call = call(line).unwrap();
            assert_eq!((call.profile.as_deref(), call.data.as_deref()), (Some("pi"), Some(Path::new("/d"))));
            assert!(!call.odd, "{line}");
        }
    }

    #[test]
    fn other_commands_are_none_of_its_business() {
        for line in ["ibid", "ibid list hook", "ibid --home hook list", "ibid help hook", "ibid --json"] {
            assert_eq!(call(line), None, "{line}");
        }
    }

    #[test]
    fn what_it_does_not_understand_is_no_reason_to_be_another_command() {
        for line in [
            "ibid hook pi more",
            "ibid hook --what pi",
            "ibid --what hook pi",
            "ibid hook pi --data",
            "ibid hook pi --json=yes",
            "ibid hook -x",
        ] {
            assert!(call(line).unwrap().odd, "{line}");
        }
        assert_eq!(call("ibid hook").unwrap(), Call::default());
    }
}
