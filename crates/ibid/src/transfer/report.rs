//! Telling the person about a transfer.

use anyhow::Result;
use ibid_carrier::plan::{Plan, PlanError, Step};
use ibid_harness::{AnyHarness, StoreError};
use ibid_model::{Finding, Losses};
use serde::Serialize;

use super::Transfer;
use crate::exit::Failure;
use crate::machine::Machine;
use crate::output;
use crate::table::counted;

/// A transfer, for `--json`.
#[derive(Serialize)]
struct Answer<'a> {
    harness: &'a str,
    id: String,
    path: Option<String>,
    written: bool,
    subagents: Vec<String>,
    plan: &'a Plan,
    losses: &'a Losses,
    findings: &'a [Finding],
    notes: &'a [String],
    backups: Vec<String>,
}

impl Transfer {
    /// Prints what would be done and lost; then, unless it is a dry run, does it and says how to
    /// go on.
    ///
    /// # Errors
    /// When it cannot be written, or does not read back as it was meant.
    pub(crate) fn carry_out(&self, machine: &Machine, dry_run: bool) -> Result<()> {
        self.check(machine).map_err(|error| refusal(error, self.to, true))?;
        if !machine.json {
            output::print(&self.text())?;
            self.print_notes();
        }
        let mut backups = Vec::new();
        if !dry_run {
            let committed = self.commit(machine)?;
            backups = committed.backups.iter().map(|path| path.display().to_string()).collect();
        }
        if machine.json {
            let made = self.made.iter().skip(1).map(|made| made.id.to_string());
            return output::print_json(&Answer {
                harness: self.to.declaration().id.as_str(),
                id: self.id().to_string(),
                path: self.reference().map(|reference| reference.path.display().to_string()),
                written: !dry_run,
                subagents: made.collect(),
                plan: &self.plan,
                losses: &self.losses,
                findings: &self.findings,
                notes: &self.notes,
                backups,
            });
        }
        if dry_run {
            output::note("Nothing was written: this was a dry run.");
        } else {
            output::print(&self.done(&backups))?;
        }
        Ok(())
    }

    /// Prints what the person should know, and what was wrong with the source, to stderr.
    pub(crate) fn print_notes(&self) {
        for note in &self.notes {
            output::note(&format!("Note: {note}"));
        }
        if let Some(text) = output::findings_below("Found in the source:", &self.findings, false) {
            output::note(&text);
        }
    }

    /// The plan and the losses.
    pub(crate) fn text(&self) -> String {
        // Directories that are there already stay as they are.
        let is_work = |step: &&Step| !matches!(step, Step::MakeDirectory { path, .. } if path.is_dir());
        let steps = self.plan.steps.iter().filter(is_work).cloned().collect();
        let steps = Plan { steps, labels: self.plan.labels.clone() }.to_string();
        let steps: String = steps.lines().map(|line| format!("  {line}\n")).collect();
        let along = match self.subagents() {
            0 => String::new(),
            count => format!(" with {}", counted(count as u64, "subagent")),
        };
        format!(
            "{}:{}{along}\n\nPlan\n{steps}\n{}",
            self.to.declaration().id,
            output::clean_line(self.id().as_str()),
            output::losses_text(&self.losses)
        )
    }

    fn done(&self, backups: &[String]) -> String {
        let id = output::clean_line(self.id().as_str());
        let declaration = self.to.declaration();
        let place = self.reference().map(ToString::to_string).unwrap_or_default();
        let mut text = format!("\nWritten and read back: {}\n", output::clean_line(&place));
        for backup in backups {
            text.push_str(&format!("What was there before is kept: {}\n", output::clean_line(backup)));
        }
        if declaration.resume.is_some() && !self.elsewhere {
            text.push_str(&format!("Carry it on: ibid continue {}:{id}\n", declaration.id));
        }
        text
    }
}

/// Whether an error says that a session of the same id is there; then its id, which is empty when
/// the error does not name it.
pub(crate) fn exists_already(error: &anyhow::Error) -> Option<String> {
    error.chain().find_map(|cause| {
        if let Some(StoreError::Exists { id, .. }) = cause.downcast_ref::<StoreError>() {
            return Some(id.clone());
        }
        matches!(cause.downcast_ref::<PlanError>(), Some(PlanError::Exists { .. })).then(String::new)
    })
}

/// An error that the person can get around, with the way to do it.
pub(crate) fn refusal(error: anyhow::Error, to: &dyn AnyHarness, has_cwd: bool) -> anyhow::Error {
    if exists_already(&error).is_none() {
        let no_place = matches!(error.downcast_ref(), Some(StoreError::NoPlace { .. }));
        return match no_place && !has_cwd {
            true => anyhow::anyhow!("{error}; --cwd DIR names a working directory"),
            false => error,
        };
    }
    let declaration = to.declaration();
    // A document lies where the person says; no id of its own makes it another.
    let other = if declaration.capabilities.store {
        "--new-id writes another session beside it (unless a range with an end is taken)"
    } else {
        "another --out DIR writes it beside"
    };
    Failure::refused(format!(
        "{error}; {other}, --replace puts this one in its place and keeps a backup of the one in {}",
        declaration.name
    ))
    .into()
}
