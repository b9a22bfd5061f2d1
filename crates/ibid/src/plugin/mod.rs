//! Plugins of agents, as the command line shows them.

mod ask;
mod health;
mod install;
mod known;
mod look;
mod uninstall;

pub(crate) use ask::Consent;
pub(crate) use health::Health;
pub(crate) use install::{Auth, InstallWish, install};
pub(crate) use look::{status, verify};
pub(crate) use uninstall::{UninstallWish, uninstall};

use ibid_carrier::plan::Plan;
use ibid_harness::core::plugin::Approval;

use crate::output;

/// Steps as lines, indented.
fn plan_text(plan: &Plan) -> String {
    plan.to_string().lines().map(|line| format!("  {line}\n")).collect()
}

/// What the user has to do, as lines.
fn approvals_text(approvals: &[Approval]) -> String {
    let mut text = String::new();
    for approval in approvals {
        text.push_str(&format!("  - {}\n    ({})\n", approval.what, approval.when));
    }
    text
}

/// Commands for a person, as lines.
fn commands_text(commands: &[String]) -> String {
    commands.iter().map(|command| format!("  {}\n", output::clean_line(command))).collect()
}
