//! `ibid restore`: sessions back from the trash.

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use ibid_carrier::plan::{Plan, PlanError, Policy};
use ibid_carrier::sqlite::SqliteError;
use ibid_carrier::trash::{Trash, TrashEntry, TrashItem};
use serde::Serialize;

use crate::exit::{Exit, Failure};
use crate::machine::{Machine, harness};
use crate::output;
use crate::table::{Table, when};

/// How many characters of an entry's id a list shows at least.
const ID_CHARS: usize = 12;

/// Bring deleted sessions back from the trash
///
/// Without an id, lists what is there. Everything comes back exactly as it was, with mode and
/// modification time; nothing is overwritten.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// What to bring back: the id of a session or of an entry in the trash, its beginning, or a
    /// title
    id: Option<String>,

    /// List what is in the trash
    #[arg(long, conflicts_with = "dry_run")]
    list: bool,

    /// Print what would be brought back, and change nothing
    #[arg(long)]
    dry_run: bool,
}

#[derive(Serialize)]
struct Listing<'a> {
    trash: &'a [TrashEntry],
    problems: Vec<String>,
    complete: bool,
}

#[derive(Serialize)]
struct Answer<'a> {
    entry: &'a TrashEntry,
    plan: &'a Plan,
    restored: bool,
}

/// # Errors
/// When there is no such entry, or something is in its place.
pub(crate) fn run(machine: &Machine, arguments: &Arguments) -> Result<Exit> {
    if arguments.id.is_some() && !arguments.list && !arguments.dry_run {
        machine.settle()?;
    }
    let trash = Trash::new(machine.surroundings.data_dir());
    let listing = trash.list()?;
    let Some(id) = arguments.id.as_ref().filter(|_| !arguments.list) else {
        return list(machine, &listing.entries, &listing.unreadable);
    };
    let entry = find(id, &listing.entries)?;
    let plan = trash.restore_plan(entry).map_err(in_the_way)?;
    let policy = Policy::within(places(machine, entry));
    let engine = machine.engine();
    engine.check(&plan, &policy).map_err(in_the_way)?;
    if !machine.json {
        let steps: String = plan.to_string().lines().map(|line| format!("  {line}\n")).collect();
        output::print(&format!("{}\n{steps}", name(entry)))?;
    }
    if !arguments.dry_run {
        engine.commit(&plan, &policy).map_err(in_the_way)?;
    }
    if machine.json {
        output::print_json(&Answer { entry, plan: &plan, restored: !arguments.dry_run })?;
    } else if arguments.dry_run {
        output::note("Nothing was changed: this was a dry run.");
    } else {
        output::print(&format!("Restored: {}\n", name(entry)))?;
    }
    Ok(Exit::Done)
}

/// What is there is never replaced by a restoration, so the way out is another than for a write.
fn in_the_way(error: PlanError) -> anyhow::Error {
    let there = match &error {
        PlanError::Exists { path } => path.display().to_string(),
        PlanError::Database { path, source: SqliteError::RowExists { table, key } } => {
            format!("the row {key} of {table:?} in {}", path.display())
        }
        _ => return error.into(),
    };
    Failure::refused(format!(
        "{there} is there already; nothing was restored; move what is there away, or delete that session, and \
         restore again"
    ))
    .into()
}

fn list(machine: &Machine, entries: &[TrashEntry], unreadable: &[PlanError]) -> Result<Exit> {
    let problems: Vec<String> = unreadable.iter().map(ToString::to_string).collect();
    if machine.json {
        let complete = problems.is_empty();
        output::print_json(&Listing { trash: entries, problems, complete })?;
    } else {
        if entries.is_empty() {
            output::note("The trash is empty.");
        } else {
            output::print(&table(entries))?;
        }
        for problem in problems {
            output::note(&problem);
        }
    }
    Ok(if entries.is_empty() { Exit::NothingFound } else { Exit::Done })
}

fn table(entries: &[TrashEntry]) -> String {
    let mut table = Table::new(&["entry", "deleted", "session", "title"]).rigid(0).rigid(2);
    for entry in entries {
        table.row(vec![
            entry.id.chars().take(ID_CHARS).collect(),
            when(Some(entry.deleted)),
            name(entry),
            label(entry, "title").unwrap_or_default(),
        ]);
    }
    table.to_string()
}

fn label(entry: &TrashEntry, label: &str) -> Option<String> {
    entry.labels.get(label).map(|text| output::clean_line(text))
}

/// `harness:id`, or what the entry is made of when its labels do not say.
fn name(entry: &TrashEntry) -> String {
    match (label(entry, "harness"), label(entry, "session")) {
        (Some(harness), Some(session)) => format!("{harness}:{session}"),
        _ => entry
            .items
            .first()
            .map_or_else(|| entry.id.clone(), |item| output::clean_line(&place(item).display().to_string())),
    }
}

/// The entry that a person means: never one of several.
fn find<'a>(text: &str, entries: &'a [TrashEntry]) -> Result<&'a TrashEntry> {
    let labelled = |entry: &TrashEntry, label: &str| entry.labels.get(label).cloned().unwrap_or_default();
    let session = |entry: &TrashEntry| labelled(entry, "session");
    let named = |entry: &TrashEntry| format!("{}:{}", labelled(entry, "harness"), session(entry));
    let exact = |entry: &TrashEntry| entry.id == text || session(entry) == text || named(entry) == text;
    let titled = |entry: &TrashEntry| labelled(entry, "title").trim() == text.trim();
    let begins = |entry: &TrashEntry| {
        [entry.id.clone(), session(entry), named(entry)].iter().any(|name| name.starts_with(text))
    };
    let rules: [&dyn Fn(&TrashEntry) -> bool; 3] = [&exact, &titled, &begins];
    for rule in rules.into_iter().filter(|_| !text.trim().is_empty()) {
        let found: Vec<&TrashEntry> = entries.iter().filter(|entry| rule(entry)).collect();
        match found.as_slice() {
            [] => {}
            [one] => return Ok(one),
            several => {
                let lines: Vec<String> = several
                    .iter()
                    .map(|entry| format!("\n  {}  {}  {}", entry.id, when(Some(entry.deleted)), name(entry)))
                    .collect();
                bail!(
                    "`{}` names {} entries of the trash; say which by the entry's id:{}",
                    output::clean_line(text),
                    several.len(),
                    lines.concat()
                );
            }
        }
    }
    let message = format!("nothing in the trash is called {text}; `ibid restore --list` shows what is there");
    Err(Failure::nothing_found(message).into())
}

fn place(item: &TrashItem) -> &Path {
    match item {
        TrashItem::File(file) | TrashItem::Directory(file) => &file.path,
        TrashItem::Rows(rows) => &rows.database,
    }
}

/// The directories that the entry may be brought back to: the roots of its harness, and for what
/// lay elsewhere the directory that it lay in.
fn places(machine: &Machine, entry: &TrashEntry) -> Vec<PathBuf> {
    let harness = entry.labels.get("harness").and_then(|name| harness(name).ok());
    let roots: Vec<PathBuf> = harness
        .map(|harness| harness.roots(&machine.surroundings).into_iter().map(|root| root.path).collect())
        .unwrap_or_default();
    let mut places = Vec::new();
    for item in &entry.items {
        let path = place(item);
        let within = roots.iter().find(|root| path.starts_with(root)).cloned();
        let within = within.or_else(|| match item {
            TrashItem::Rows(_) => Some(path.to_owned()),
            _ => path.parent().map(Path::to_owned),
        });
        places.extend(within.filter(|within| !places.contains(within)));
    }
    places
}
