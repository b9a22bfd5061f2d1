//! `harness-evidence-host`: the evidence host over the standard streams. `ibid host` is the same.

use std::process::ExitCode;

use ibid_evidence::{Host, wire};

fn main() -> ExitCode {
    ExitCode::from(wire::run_alone("harness-evidence-host", Host::new))
}
