//! `ibid host`: the evidence host over the standard streams.

use std::io::{self, IsTerminal};

use ibid_evidence::{Host, wire};

use crate::exit::Exit;
use crate::machine::Machine;
use crate::output;

/// One line that can be tried in a shell.
const EXAMPLE: &str = r#"Example:
  echo '{"version":1,"id":1,"method":"host.describe"}' | ibid host"#;

/// Answer an editor or a studio which sessions belong to a project
///
/// One JSON object per line is a request on stdin, and its answer on stdout: the protocol
/// `evidence-rust-1.0.0+jsonl-v1` (docs/evidence-protocol.md). Nothing is written to any store. Ends when
/// stdin does. `harness-evidence-host` is the same without Ibid's settings and options.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLE)]
pub(crate) struct Arguments {}

/// Faults are one line of stderr, as the protocol has it, and no error of this program.
pub(crate) fn run(machine: &Machine, _: &Arguments) -> Exit {
    // A client is no terminal: whoever is at one would wait for something to happen.
    if io::stdin().is_terminal() {
        output::note(
            "Waiting for requests, one JSON object on each line; Ctrl-D ends. `ibid help host` has an example.",
        );
    }
    match wire::run(&Host::new(machine.surroundings.clone())) {
        0 => Exit::Done,
        _ => Exit::Fault,
    }
}
