//! `harness-evidence-client`: an evidence host for whoever starts it, which answers from the service.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(ibid_evidence_xpc::run_client())
}
