//! Asking before anything is written.

use std::io::{self, BufRead as _, IsTerminal, Write as _};

use anyhow::{Context as _, Result};

use crate::exit::Failure;
use crate::machine::Machine;

/// What the user allows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Consent {
    /// Print the plan only.
    pub(crate) dry_run: bool,
    /// Do not ask.
    pub(crate) yes: bool,
    /// Replace files that are not as Ibid left them.
    pub(crate) replace: bool,
    /// Write through links below the home.
    pub(crate) follow_links: bool,
}

/// Asks a question.
///
/// # Errors
/// When the answer is no, or nobody can be asked.
pub(super) fn confirm(machine: &Machine, consent: Consent, question: &str) -> Result<()> {
    if consent.yes {
        return Ok(());
    }
    if machine.json || !io::stdin().is_terminal() || !io::stderr().is_terminal() {
        return Err(
            Failure::refused("nothing was changed: nobody can be asked here; --yes goes ahead").into()
        );
    }
    let _ = write!(io::stderr(), "{question} [y/N] ");
    let mut line = String::new();
    io::stdin().lock().read_line(&mut line).context("the answer cannot be read")?;
    if matches!(line.trim().to_ascii_lowercase().as_str(), "y" | "yes") {
        return Ok(());
    }
    Err(Failure::refused("nothing was changed; --yes goes ahead without asking").into())
}
