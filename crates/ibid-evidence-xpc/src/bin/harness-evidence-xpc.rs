//! `harness-evidence-xpc`: the service that runs an evidence host for each connection.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(ibid_evidence_xpc::run_service())
}
