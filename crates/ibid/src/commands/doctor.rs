//! `ibid doctor`: what is where, what is wrong, and what to do about it.

mod lifecycle;

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use anyhow::Result;
use ibid_capture::journal::{Journal, State};
use ibid_carrier::plan::{Plan, Policy, Recovered, Step, Unfinished};
use ibid_carrier::trash::Trash;
use ibid_harness::{AnyHarness, Discovery, Proven, RootOrigin};
use ibid_model::{Finding, Severity};
use serde::Serialize;

use crate::exit::Exit;
use crate::launch::{is_on_path, template};
use crate::machine::{Machine, is_listed};
use crate::output;
use crate::plugin::Health;
use crate::table::{Table, size};

/// How deep roots are searched for leftovers.
const DEPTH: usize = 12;

/// How the names of files begin that a write had not yet published.
const STAGED: &str = ".ibid-stage-";

/// Look for what is wrong: with the stores, with writes that did not finish, with this machine
///
/// Ends with 0 when all is well and with 1 when there is something to look at. `--fix` finishes or
/// undoes unfinished writes and moves leftovers of them to the trash; it changes nothing else.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Finish or undo what is unfinished, and clear up what it left
    #[arg(long)]
    fix: bool,
}

#[derive(Serialize)]
struct RootRow {
    harness: String,
    name: &'static str,
    path: String,
    origin: String,
    state: &'static str,
    sessions: usize,
    bytes: u64,
}

#[derive(Serialize)]
struct Missing {
    harness: String,
    program: String,
}

/// A program that is newer here than any that was tried.
#[derive(Serialize)]
struct Newer {
    harness: &'static str,
    /// The newest version that wrote a session here.
    version: String,
    proven: &'static Proven,
    /// What the proven version was proven to do.
    to: &'static str,
}

#[derive(Serialize)]
struct Directories {
    config: String,
    data: String,
    cache: String,
    cache_bytes: u64,
}

/// Everything that was looked at.
#[derive(Serialize)]
struct Report {
    roots: Vec<RootRow>,
    findings: Vec<Finding>,
    unfinished: Vec<Unfinished>,
    recovered: Vec<Recovered>,
    leftovers: Vec<String>,
    missing: Vec<Missing>,
    newer: Vec<Newer>,
    plugins: Health,
    trash_entries: usize,
    trash_problems: Vec<String>,
    directories: Directories,
    lifecycle: State,
    complete: bool,
}

/// # Errors
/// When Ibid's own data cannot be looked at, or `--fix` fails.
pub(crate) fn run(machine: &Machine, arguments: &Arguments) -> Result<Exit> {
    let engine = machine.engine();
    let recovered = if arguments.fix { engine.recover()? } else { Vec::new() };
    let discoveries = machine.discover(ibid_harness::all());
    let unfinished = engine.pending()?;
    let mut leftovers = leftovers(&discoveries);
    if arguments.fix && unfinished.is_empty() && !leftovers.is_empty() {
        clear_up(machine, &discoveries, &leftovers)?;
        leftovers.clear();
    }
    let mut findings: Vec<Finding> = discoveries.iter().flat_map(|d| d.findings.clone()).collect();
    for session in discoveries.iter().flat_map(|d| &d.sessions) {
        let path = &session.reference.path;
        findings.extend(session.findings.iter().cloned().map(|finding| match finding.path {
            Some(_) => finding,
            None => finding.at_path(path),
        }));
    }
    findings.extend(unfinished.iter().map(Unfinished::finding));
    let trash = Trash::new(machine.surroundings.data_dir()).list()?;
    let report = Report {
        complete: findings.iter().all(|finding| finding.severity() < Severity::Error),
        roots: roots(&discoveries),
        findings,
        unfinished,
        recovered,
        leftovers: leftovers.iter().map(|path| path.display().to_string()).collect(),
        missing: missing(machine, &discoveries),
        newer: newer(&discoveries),
        plugins: Health::of(machine),
        trash_entries: trash.entries.len(),
        trash_problems: trash.unreadable.iter().map(ToString::to_string).collect(),
        directories: directories(machine),
        lifecycle: Journal::new(machine.surroundings.data_dir()).state(),
    };
    if machine.json {
        output::print_json(&report)?;
    } else {
        output::print(&text(&report, arguments.fix))?;
    }
    Ok(if report.is_clean() { Exit::Done } else { Exit::NothingFound })
}

impl Report {
    /// Notes are worth knowing and nothing to act on.
    fn is_clean(&self) -> bool {
        self.findings.iter().all(|finding| finding.severity() == Severity::Note)
            && self.leftovers.is_empty()
            && self.missing.is_empty()
            && self.trash_problems.is_empty()
            && self.plugins.is_clean()
            && lifecycle::is_clean(&self.lifecycle)
    }
}

fn roots(discoveries: &[Discovery]) -> Vec<RootRow> {
    let row = |discovery: &Discovery| {
        let name = ibid_harness::find(discovery.harness.as_str()).map_or("", |h| h.declaration().name);
        let sessions = || discovery.sessions.iter().filter(|session| is_listed(session));
        let unreadable = discovery.findings.iter().any(|f| f.severity() == Severity::Error);
        RootRow {
            harness: discovery.harness.to_string(),
            name,
            path: discovery.root.path.display().to_string(),
            origin: match discovery.root.origin {
                RootOrigin::Default => "default".to_owned(),
                RootOrigin::Variable(variable) => variable.to_owned(),
                RootOrigin::Named => "named by you".to_owned(),
            },
            state: match (discovery.present, unreadable) {
                (false, _) => "absent",
                (true, true) => "partly unreadable",
                (true, false) => "fine",
            },
            sessions: sessions().count(),
            bytes: sessions().map(|session| session.bytes).sum(),
        }
    };
    discoveries.iter().map(row).collect()
}

/// Programs of harnesses that have sessions here and that cannot be started.
fn missing(machine: &Machine, discoveries: &[Discovery]) -> Vec<Missing> {
    let used: BTreeSet<_> =
        discoveries.iter().filter(|d| !d.sessions.is_empty()).map(|d| d.harness).collect();
    let mut missing = Vec::new();
    for harness in ibid_harness::all() {
        let id = harness.declaration().id;
        let command = template(machine, *harness).filter(|_| used.contains(&id));
        if let Some(program) = command.and_then(|command| command.into_iter().next())
            && !is_on_path(&program)
        {
            missing.push(Missing { harness: id.to_string(), program });
        }
    }
    missing
}

/// Programs whose newest session here was written by a newer version than any that the lab ran. The
/// programs themselves are not asked: that would start them.
fn newer(discoveries: &[Discovery]) -> Vec<Newer> {
    let of_harness = |harness: &&'static dyn AnyHarness| {
        let declaration = harness.declaration();
        let resumes = ibid_harness::proven(declaration.id).map(|proven| (proven, "resume what Ibid writes"));
        let is_read = || Some((ibid_harness::proven_to_be_read(declaration.id)?, "be read in full"));
        let (proven, to) = resumes.or_else(is_read)?;
        let sessions = discoveries.iter().filter(|d| d.harness == declaration.id).flat_map(|d| &d.sessions);
        let newest =
            sessions.filter(|session| session.meta.version.is_some()).max_by_key(|s| s.meta.updated)?;
        let version = newest.meta.version.as_ref()?.to_string();
        let newer = proven.is_older_than(&version)?;
        newer.then_some(Newer { harness: declaration.name, version, proven, to })
    };
    ibid_harness::all().iter().filter_map(of_harness).collect()
}

/// Files under the roots that a write staged and never published.
fn leftovers(discoveries: &[Discovery]) -> Vec<PathBuf> {
    let mut found = BTreeSet::new();
    for discovery in discoveries.iter().filter(|discovery| discovery.present) {
        let root = &discovery.root.path;
        let start = if root.is_dir() { root.as_path() } else { root.parent().unwrap_or(root) };
        search(start, if root.is_dir() { DEPTH } else { 0 }, &mut found);
    }
    found.into_iter().collect()
}

fn search(directory: &Path, depth: usize, found: &mut BTreeSet<PathBuf>) {
    // What cannot be listed is among the findings already.
    let Ok(entries) = std::fs::read_dir(directory) else { return };
    for entry in entries.flatten() {
        let Ok(kind) = entry.file_type() else { continue };
        if kind.is_dir() && depth > 0 {
            search(&entry.path(), depth - 1, found);
        } else if kind.is_file() && entry.file_name().to_string_lossy().starts_with(STAGED) {
            found.insert(entry.path());
        }
    }
}

/// Moves leftovers to the trash, from where they can be brought back: one may hold what a write
/// replaced.
fn clear_up(machine: &Machine, discoveries: &[Discovery], leftovers: &[PathBuf]) -> Result<()> {
    let steps = leftovers.iter().map(|path| Step::TrashFile { path: path.clone(), expected: None });
    let plan = Plan::new(steps.collect()).label("title", "leftovers of writes that did not finish");
    let roots = discoveries.iter().map(|discovery| discovery.root.path.clone());
    let parents = leftovers.iter().filter_map(|path| path.parent()).map(Path::to_owned);
    machine.engine().commit(&plan, &Policy::within(roots.chain(parents)))?;
    Ok(())
}

fn directories(machine: &Machine) -> Directories {
    let surroundings = &machine.surroundings;
    Directories {
        config: surroundings.config_dir().display().to_string(),
        data: surroundings.data_dir().display().to_string(),
        cache: surroundings.cache_dir().display().to_string(),
        cache_bytes: bytes_below(surroundings.cache_dir(), DEPTH),
    }
}

fn bytes_below(directory: &Path, depth: usize) -> u64 {
    let Ok(entries) = std::fs::read_dir(directory) else { return 0 };
    let of_entry = |entry: std::fs::DirEntry| match entry.metadata() {
        Ok(metadata) if metadata.is_dir() && depth > 0 => bytes_below(&entry.path(), depth - 1),
        Ok(metadata) if metadata.is_file() => metadata.len(),
        _ => 0,
    };
    entries.flatten().map(of_entry).fold(0, u64::saturating_add)
}

fn text(report: &Report, fixed: bool) -> String {
    let mut table = Table::new(&["agent", "state", "sessions and subagents", "size", "from", "store"])
        .right(2)
        .right(3)
        .rigid(0);
    for root in &report.roots {
        table.row(vec![
            root.name.to_owned(),
            root.state.to_owned(),
            root.sessions.to_string(),
            size(root.bytes),
            root.origin.clone(),
            output::clean_line(&root.path),
        ]);
    }
    let mut text = table.to_string();
    let directories = &report.directories;
    let _ = writeln!(text, "\nIbid keeps its own files here:");
    let _ = writeln!(text, "  settings  {}", output::clean_line(&directories.config));
    let _ = writeln!(
        text,
        "  data      {} ({} in the trash)",
        output::clean_line(&directories.data),
        report.trash_entries
    );
    let _ = writeln!(
        text,
        "  cache     {} ({})",
        output::clean_line(&directories.cache),
        size(directories.cache_bytes)
    );
    for recovered in &report.recovered {
        let _ = writeln!(text, "\nThe unfinished write {}: {}", recovered.id, outcome(recovered));
    }
    if !report.findings.is_empty() {
        let _ = writeln!(text, "\nFindings:");
        text.push_str(&output::findings_text(&report.findings));
    }
    if !report.leftovers.is_empty() {
        let _ = writeln!(text, "\nLeftovers of writes that did not finish (--fix moves them to the trash):");
        for path in &report.leftovers {
            let _ = writeln!(text, "  {}", output::clean_line(path));
        }
    }
    for problem in &report.trash_problems {
        let _ = writeln!(text, "\nIn the trash: {}", output::clean_line(problem));
    }
    if !report.missing.is_empty() {
        let _ = writeln!(
            text,
            "\nPrograms that are not on PATH, so their sessions cannot be carried on in them:"
        );
        for missing in &report.missing {
            let _ = writeln!(text, "  {} (for {})", output::clean_line(&missing.program), missing.harness);
        }
    }
    for Newer { harness, version, proven, to } in &report.newer {
        let _ = writeln!(
            text,
            "\n{harness} {} is newer than the version that was last proven to {to} ({}, on {}).",
            output::clean_line(version),
            proven.version,
            proven.on
        );
    }
    text.push_str(&report.plugins.text());
    text.push_str(&lifecycle::text(&report.lifecycle));
    if report.is_clean() {
        let _ = writeln!(text, "\nAll is well{}.", if fixed { "" } else { "; nothing needs doing" });
    }
    text
}

fn outcome(recovered: &Recovered) -> String {
    use ibid_carrier::plan::Outcome;
    match &recovered.outcome {
        Outcome::Completed => "it was completed".to_owned(),
        Outcome::Undone => "it was undone".to_owned(),
        Outcome::Stuck(problems) => {
            format!("it could not be cleared up: {}", output::clean_line(&problems.join("; ")))
        }
    }
}
