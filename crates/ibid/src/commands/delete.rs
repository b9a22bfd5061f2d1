//! `ibid delete`: sessions to the trash.

use std::io::{self, BufRead as _, IsTerminal, Write as _};

use anyhow::{Context as _, Result};
use ibid_carrier::plan::{Plan, Policy, Step};
use ibid_harness::{AnyHarness, Deleting, Discovered, Reference};
use serde::Serialize;

use crate::exit::{Exit, Failure};
use crate::machine::{Found, Machine};
use crate::output;
use crate::table::counted;

/// Move sessions to the trash, with their subagents
///
/// `ibid restore` brings them back exactly as they were.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// The sessions: `harness:id`, the beginning of an id, a title, or a file
    #[arg(required = true)]
    sessions: Vec<String>,

    /// Print what would be moved, and move nothing
    #[arg(long)]
    dry_run: bool,

    /// Do not ask
    #[arg(short, long)]
    yes: bool,

    /// Move a session even while a running program has it open
    #[arg(long)]
    while_open: bool,
}

/// One session, for `--json`.
#[derive(Serialize)]
struct Deleted {
    harness: String,
    id: String,
    subagents: Vec<String>,
    plan: Plan,
    deleted: bool,
    /// The entry in the trash.
    trash: Option<String>,
}

#[derive(Serialize)]
struct Answer {
    sessions: Vec<Deleted>,
}

/// A session with its plan.
struct Doomed {
    session: Discovered,
    children: Vec<Discovered>,
    deleting: Deleting,
}

/// # Errors
/// When a session cannot be found, or it was refused.
pub(crate) fn run(machine: &Machine, arguments: &Arguments) -> Result<Exit> {
    if !arguments.dry_run {
        machine.settle()?;
    }
    let mut doomed: Vec<Doomed> = Vec::new();
    for name in &arguments.sessions {
        let found = machine.find(name)?;
        if found.name.span.is_some() {
            return Err(Failure::refused(format!(
                "`{name}` picks messages; only whole sessions can be deleted"
            ))
            .into());
        }
        if doomed.iter().any(|other| other.session.reference == found.session.reference) {
            continue;
        }
        let one = plan(machine, &found)?;
        if !arguments.while_open {
            check_closed(machine, found.harness, &one)?;
        }
        doomed.push(one);
    }
    let engine = machine.engine();
    for one in &doomed {
        engine.check(&one.deleting.plan, &policy(&one.deleting))?;
    }
    if !machine.json {
        output::print(&doomed.iter().map(text).collect::<String>())?;
    }
    if !arguments.dry_run && !arguments.yes {
        confirm(machine, doomed.len())?;
    }
    let mut answer = Answer { sessions: Vec::new() };
    for one in doomed {
        let mut deleted = Deleted {
            harness: one.session.reference.harness.to_string(),
            id: one.session.id.to_string(),
            subagents: one.children.iter().map(|child| child.id.to_string()).collect(),
            deleted: false,
            trash: None,
            plan: one.deleting.plan.clone(),
        };
        if !arguments.dry_run {
            let committed = engine.commit(&one.deleting.plan, &policy(&one.deleting))?;
            deleted.deleted = true;
            deleted.trash = committed.trashed.first().map(|entry| entry.id.clone());
            if !machine.json {
                let (harness, id) = (&deleted.harness, output::clean_line(&deleted.id));
                output::print(&format!("In the trash: {harness}:{id}\nBring it back: ibid restore {id}\n"))?;
            }
        }
        answer.sessions.push(deleted);
    }
    if machine.json {
        output::print_json(&answer)?;
    } else if arguments.dry_run {
        output::note("Nothing was moved: this was a dry run.");
    }
    Ok(Exit::Done)
}

/// # Errors
/// When a running program has the session or one of its subagents open.
fn check_closed(machine: &Machine, harness: &dyn AnyHarness, doomed: &Doomed) -> Result<()> {
    for session in std::iter::once(&doomed.session).chain(&doomed.children) {
        if let Some(open) = harness.open_in(&session.reference, &machine.context()) {
            let id = output::clean_line(session.id.as_str());
            return Err(Failure::refused(format!(
                "{}:{id} is open in {}; end that program first, or give --while-open",
                harness.declaration().id,
                output::clean_line(&open.to_string()),
            ))
            .into());
        }
    }
    Ok(())
}

fn policy(deleting: &Deleting) -> Policy {
    Policy::within(deleting.roots.iter().cloned())
}

/// The plan for a session and all of its subagents, as one: they go and come back together.
fn plan(machine: &Machine, found: &Found) -> Result<Doomed> {
    let (harness, session) = (found.harness, found.session.clone());
    let mut deleting = harness.delete(&session.reference, &machine.context())?;
    let mut children = Vec::new();
    let mut references = Vec::new();
    descend(machine, harness, &session.reference, &mut references);
    for reference in references {
        let child = harness.delete(&reference, &machine.context())?;
        for step in child.plan.steps {
            if !deleting.plan.steps.iter().any(|taken| covers(taken, &step)) {
                deleting.plan.steps.push(step);
            }
        }
        for root in child.roots {
            if !deleting.roots.contains(&root) {
                deleting.roots.push(root);
            }
        }
        children.extend(machine.describe(harness, &reference).ok());
    }
    deleting.plan = deleting
        .plan
        .label("harness", session.reference.harness.as_str())
        .label("session", session.id.as_str())
        .label("title", output::label(&session));
    Ok(Doomed { session, children, deleting })
}

/// The subagents of a session and theirs, each once.
fn descend(machine: &Machine, harness: &dyn AnyHarness, parent: &Reference, found: &mut Vec<Reference>) {
    for child in harness.children(parent, &machine.context()) {
        if child != *parent && !found.contains(&child) {
            found.push(child.clone());
            descend(machine, harness, &child, found);
        }
    }
}

/// Whether a step moves everything that another would.
fn covers(taken: &Step, step: &Step) -> bool {
    match (taken, step) {
        (
            Step::TrashDirectory { path: directory },
            Step::TrashFile { path, .. } | Step::TrashDirectory { path },
        ) => path.starts_with(directory),
        (Step::TrashFile { path, .. }, Step::TrashFile { path: other, .. }) => path == other,
        (
            Step::TrashRows { database, selections },
            Step::TrashRows { database: other, selections: others },
        ) => database == other && others.iter().all(|selection| selections.contains(selection)),
        _ => taken == step,
    }
}

fn text(doomed: &Doomed) -> String {
    let session = &doomed.session;
    let mut text = format!(
        "{}:{}  {}\n",
        session.reference.harness,
        output::clean_line(session.id.as_str()),
        output::label(session)
    );
    for child in &doomed.children {
        let id = output::clean_line(child.id.as_str());
        text.push_str(&format!("  with its subagent {id}  {}\n", output::label(child)));
    }
    for line in doomed.deleting.plan.to_string().lines() {
        text.push_str(&format!("  {line}\n"));
    }
    text
}

/// # Errors
/// When the answer is no, or nobody can be asked.
fn confirm(machine: &Machine, count: usize) -> Result<()> {
    if machine.json || !io::stdin().is_terminal() || !io::stderr().is_terminal() {
        return Err(Failure::refused("nothing was moved: nobody can be asked here; --yes goes ahead").into());
    }
    let sessions = counted(count as u64, "session");
    let _ = write!(io::stderr(), "Move {sessions} to the trash? [y/N] ");
    let mut line = String::new();
    io::stdin().lock().read_line(&mut line).context("the answer cannot be read")?;
    if matches!(line.trim().to_ascii_lowercase().as_str(), "y" | "yes") {
        return Ok(());
    }
    Err(Failure::refused("nothing was moved; --yes goes ahead without asking").into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    #[test]
    fn what_lies_in_a_moved_directory_is_not_moved_again() {
        let directory = Step::TrashDirectory { path: PathBuf::from("/s/a") };
        let file = |path: &str| Step::TrashFile { path: PathBuf::from(path), expected: None };
        assert!(covers(&directory, &file("/s/a/subagents/x.jsonl")));
        assert!(!covers(&directory, &file("/s/ab.jsonl")));
        assert!(covers(&file("/s/x"), &file("/s/x")));
    }
}
