//! `ibid list`: the sessions on this machine.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
use std::num::NonZeroUsize;
use std::path::PathBuf;

use anyhow::{Context as _, Result, bail};
use ibid_harness::{AnyHarness, Class, Discovered, Discovery, HarnessId, Reference};
use ibid_model::{CarrierInfo, Finding, SessionId, Timestamp};
use jiff::civil::Date;
use jiff::tz::TimeZone;
use serde::Serialize;
use unicode_width::UnicodeWidthStr as _;

use crate::exit::Exit;
use crate::machine::{HarnessName, Machine, Unread, harness, is_listed};
use crate::output;
use crate::screen::Screen;
use crate::table::{Table, beginning, counted, ending, size, when};
use crate::workspace::Workspace;

/// List sessions, newest first
///
/// Subagents are folded under their parents; `--all` lists them in their own right.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Only sessions of these harnesses
    #[arg(long, value_name = "HARNESS", value_parser = HarnessName { offered: |of| of.capabilities.store })]
    harness: Vec<String>,

    /// Only sessions of the current directory or one below it
    #[arg(long, conflicts_with = "cwd")]
    here: bool,

    /// Only sessions of this directory or one below it
    #[arg(long, value_name = "DIR")]
    cwd: Option<PathBuf>,

    /// Only sessions with activity at or after this time: RFC 3339, or a date in this machine's zone
    #[arg(long, value_name = "TIME")]
    since: Option<String>,

    /// Only sessions with activity before this time: RFC 3339, or a date (that day included)
    #[arg(long, value_name = "TIME")]
    until: Option<String>,

    /// At most this many
    #[arg(short = 'n', long = "number", value_name = "N")]
    number: Option<NonZeroUsize>,

    /// Subagents too, each as a session of its own
    #[arg(long)]
    all: bool,

    /// One JSON object on each line instead of one for all
    #[arg(long, conflicts_with = "json")]
    jsonl: bool,
}

/// The columns of the list.
const HEADINGS: [&str; 5] = ["session", "last activity", "size", "directory", "title or first prompt"];

/// How many columns of a directory a list shows that is not for a terminal; `--json` has all of it.
const DIRECTORY_COLUMNS: usize = 48;

/// How many columns of a title a list shows at most.
const TITLE_COLUMNS: usize = 80;

/// How many characters of an id a list shows at least, behind a [`word`].
const ID_CHARS: usize = 8;

/// How many characters of what tells a subagent from its siblings a list shows at least.
const PART_CHARS: usize = 4;

/// One session, for `--json`.
#[derive(Serialize)]
struct SessionRow<'a> {
    harness: &'a str,
    id: &'a str,
    title: Option<&'a str>,
    preview: Option<&'a str>,
    cwd: Option<&'a str>,
    model: Option<&'a str>,
    started: Option<Timestamp>,
    updated: Option<Timestamp>,
    parent: Option<&'a str>,
    git_branch: Option<&'a str>,
    version: Option<&'a str>,
    archived: bool,
    class: Class,
    bytes: u64,
    subagents: usize,
    carriers: &'a [CarrierInfo],
    findings: &'a [Finding],
}

#[derive(Serialize)]
struct Answer<'a> {
    sessions: Vec<SessionRow<'a>>,
    findings: Vec<&'a Finding>,
    complete: bool,
}

/// A session to show, with the number of its subagents.
type Shown<'a> = (&'a Discovered, usize);

/// # Errors
/// When an argument is wrong, or stdout cannot be written.
pub(crate) fn run(machine: &Machine, arguments: &Arguments) -> Result<Exit> {
    let harnesses: Vec<&'static dyn AnyHarness> = match arguments.harness.as_slice() {
        [] => ibid_harness::all().to_vec(),
        names => names.iter().map(|name| harness(name)).collect::<Result<_>>()?,
    };
    let cwd = match (&arguments.cwd, arguments.here) {
        (Some(cwd), _) => Some(std::path::absolute(cwd)?),
        (None, true) => Some(std::env::current_dir().context("the current directory is gone")?),
        (None, false) => None,
    };
    let workspace = cwd.as_deref().map(Workspace::new);
    let since = arguments.since.as_deref().map(|text| time(text, false)).transpose()?;
    let until = arguments.until.as_deref().map(|text| time(text, true)).transpose()?;
    let discoveries = machine.discover(&harnesses);
    let unread = Unread::of(&discoveries);
    let mut sessions = shown(machine, &discoveries, arguments.all);
    sessions.retain(|(session, _)| {
        workspace.as_ref().is_none_or(|workspace| workspace.holds(session))
            && since.is_none_or(|since| session.meta.updated.is_some_and(|at| at >= since))
            && until.is_none_or(|until| session.meta.updated.is_some_and(|at| at < until))
    });
    sessions.truncate(arguments.number.map_or(usize::MAX, NonZeroUsize::get));
    if arguments.jsonl {
        let mut lines = String::new();
        for session in &sessions {
            lines.push_str(&output::json_for_terminals(&serde_json::to_string(&row(session))?));
            lines.push('\n');
        }
        output::print(&lines)?;
        // The lines have no place for it.
        if let Some(sentence) = unread.sentence() {
            output::note(&sentence);
        }
    } else if machine.json {
        let findings = unread.places.iter().copied().chain(&unread.parts).collect();
        let complete = unread.is_empty();
        output::print_json(&Answer { sessions: sessions.iter().map(row).collect(), findings, complete })?;
    } else {
        output::print(&text(&sessions))?;
        if sessions.is_empty() {
            output::note(nothing(discoveries.iter().any(|discovery| !discovery.sessions.is_empty())));
        }
        if let Some(sentence) = unread.sentence() {
            output::note(&format!("{}{sentence}", if sessions.is_empty() { "" } else { "\n" }));
        }
    }
    Ok(if sessions.is_empty() { Exit::NothingFound } else { Exit::Done })
}

/// What a person is told when there is no session to show.
fn nothing(others: bool) -> &'static str {
    match others {
        true => "No session matches; `ibid list` without options shows those of every directory and time.",
        false => "No session was found; `ibid doctor` shows where Ibid has looked for them.",
    }
}

/// The sessions to show, newest first. A subagent whose parent is there is folded under it.
fn shown<'a>(machine: &Machine, discoveries: &'a [Discovery], all: bool) -> Vec<Shown<'a>> {
    let sessions = || discoveries.iter().flat_map(|d| &d.sessions).filter(|session| is_listed(session));
    let ids: HashSet<Key<'_>> = sessions().map(|session| key(session, &session.id)).collect();
    let started = started(machine, sessions);
    let mut subagents: HashMap<Key<'_>, usize> = HashMap::new();
    let mut shown: Vec<&Discovered> = Vec::new();
    for session in sessions() {
        let parent = parent(session).map(|parent| key(session, parent));
        let parent = parent.or_else(|| started.get(&session.reference).copied());
        match parent {
            Some(parent) if session.class == Class::Sidecar && ids.contains(&parent) => {
                *subagents.entry(parent).or_default() += 1;
                if all {
                    shown.push(session);
                }
            }
            _ => shown.push(session),
        }
    }
    shown.sort_by_key(|session| (Reverse(session.meta.updated), &session.reference));
    let count = |session: &Discovered| subagents.get(&key(session, &session.id)).copied().unwrap_or(0);
    shown.into_iter().map(|session| (session, count(session))).collect()
}

/// What a session is told apart by.
type Key<'a> = (HarnessId, &'a SessionId);

fn key<'a>(session: &Discovered, id: &'a SessionId) -> Key<'a> {
    (session.reference.harness, id)
}

/// The parent that a session names.
fn parent(session: &Discovered) -> Option<&SessionId> {
    session.lineage.iter().find_map(|lineage| lineage.parent.as_ref())
}

/// The parents of subagents that do not name them (Grok's), as the parents' own files tell. Sessions
/// of a harness are asked only where it has such subagents.
fn started<'a, S: Iterator<Item = &'a Discovered>>(
    machine: &Machine,
    sessions: impl Fn() -> S,
) -> HashMap<Reference, Key<'a>> {
    let nameless = sessions().filter(|session| session.class == Class::Sidecar && parent(session).is_none());
    let asked: HashSet<HarnessId> = nameless.map(|session| session.reference.harness).collect();
    let mut started = HashMap::new();
    for session in sessions().filter(|session| asked.contains(&session.reference.harness)) {
        let Some(harness) = ibid_harness::find(session.reference.harness.as_str()) else { continue };
        let children = harness.children(&session.reference, &machine.context());
        started.extend(children.into_iter().map(|child| (child, key(session, &session.id))));
    }
    started
}

fn row<'a>((session, subagents): &Shown<'a>) -> SessionRow<'a> {
    let meta = &session.meta;
    SessionRow {
        harness: session.reference.harness.as_str(),
        id: session.id.as_str(),
        title: meta.title.as_ref().map(|title| title.text.as_str()),
        preview: meta.preview.as_deref(),
        cwd: meta.cwd.as_deref(),
        model: meta.model.as_deref(),
        started: meta.started,
        updated: meta.updated,
        parent: parent(session).map(SessionId::as_str),
        git_branch: meta.git_branch.as_deref(),
        version: meta.version.as_deref(),
        archived: meta.archived,
        class: session.class,
        bytes: session.bytes,
        subagents: *subagents,
        carriers: &session.carriers,
        findings: &session.findings,
    }
}

/// One line for each session. On a terminal, directories and titles are cut to what fits, so that
/// the names of sessions stay in one piece.
fn text(sessions: &[Shown<'_>]) -> String {
    if sessions.is_empty() {
        return String::new();
    }
    let rows: Vec<[String; 5]> =
        sessions.iter().zip(names(sessions)).map(|(shown, name)| cells(shown, name)).collect();
    let (directory, title) = room(&rows, Screen::width());
    let [session, activity, bytes, cwd, label] = HEADINGS;
    let label = if label.width() > title { "title" } else { label };
    let mut table = Table::new(&[session, activity, bytes, cwd, label]).right(2).rigid(0).rigid(1).rigid(2);
    for [name, updated, bytes, cwd, label] in rows {
        table.row(vec![name, updated, bytes, ending(&cwd, directory), beginning(&label, title)]);
    }
    table.to_string()
}

fn cells((session, subagents): &Shown<'_>, name: String) -> [String; 5] {
    let mut title = String::new();
    if *subagents > 0 {
        title.push_str(&format!("(+{}) ", counted(*subagents as u64, "subagent")));
    }
    if session.meta.archived {
        title.push_str("(archived) ");
    }
    title.push_str(&output::label(session));
    [
        name,
        when(session.meta.updated),
        size(session.bytes),
        session.meta.cwd.as_ref().map_or_else(|| "unknown".to_owned(), |cwd| output::clean_line(cwd)),
        title,
    ]
}

/// The columns that directories and titles may take on a terminal of a width. A directory has at
/// least the room of its heading, which cannot be cut.
fn room(rows: &[[String; 5]], width: Option<usize>) -> (usize, usize) {
    let Some(width) = width else { return (DIRECTORY_COLUMNS, TITLE_COLUMNS) };
    let widest = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.width());
        cells.chain(HEADINGS.get(column).map(|heading| heading.width())).max().unwrap_or(0)
    };
    // Two columns of space stand behind each.
    let fixed: usize = (0..3).map(|column| widest(column) + 2).sum();
    let left = width.saturating_sub(fixed + 4).max(20);
    let wanted = (left * 2 / 5).max(left.saturating_sub(widest(4)));
    let directory = widest(3).min(wanted.max(HEADINGS.get(3).map_or(0, |heading| heading.width())));
    (directory, left.saturating_sub(directory).min(TITLE_COLUMNS))
}

/// The name of each session, as short as tells it from every other one that is shown. The id of a
/// subagent may be that of its parent and one more behind a slash: both are shortened.
fn names(sessions: &[Shown<'_>]) -> Vec<String> {
    let ids: Vec<(&str, Option<&str>)> = sessions.iter().map(|(session, _)| parts(session)).collect();
    let wholes = Sorted::of(ids.iter().map(|(whole, _)| *whole));
    let name = |((session, _), (whole, part)): (&Shown<'_>, &(&str, Option<&str>))| {
        let short =
            |text: &str, length: usize| -> String { output::clean_line(text).chars().take(length).collect() };
        let head = short(whole, wholes.length(whole).max(word(whole) + ID_CHARS));
        let Some(part) = part else { return format!("{}:{head}", session.reference.harness) };
        let siblings = ids.iter().filter(|(other, _)| other == whole).filter_map(|(_, part)| *part);
        let tail = short(part, Sorted::of(siblings).length(part).max(PART_CHARS));
        let cut = if head.len() < whole.len() { "…" } else { "" };
        format!("{}:{head}{cut}/{tail}", session.reference.harness)
    };
    sessions.iter().zip(&ids).map(name).collect()
}

/// The characters of the word that every id of some harnesses begins with (`session_`, `ses_`), which
/// tells none from another.
fn word(id: &str) -> usize {
    match id.split_once('_') {
        Some((word, rest)) if !rest.is_empty() && word.chars().all(|c| c.is_ascii_lowercase()) => {
            word.len() + 1
        }
        _ => 0,
    }
}

/// An id, before and behind its slash.
fn parts(session: &Discovered) -> (&str, Option<&str>) {
    match session.id.as_str().split_once('/') {
        Some((whole, part)) => (whole, Some(part)),
        None => (session.id.as_str(), None),
    }
}

/// Texts in their order, each once.
struct Sorted<'a>(Vec<&'a str>);

impl<'a> Sorted<'a> {
    fn of(texts: impl Iterator<Item = &'a str>) -> Sorted<'a> {
        let mut sorted: Vec<&str> = texts.collect();
        sorted.sort_unstable();
        sorted.dedup();
        Sorted(sorted)
    }

    /// How many characters of a text tell it from every other one.
    fn length(&self, text: &str) -> usize {
        let common = |a: &str, b: Option<&&str>| {
            b.map_or(0, |b| a.chars().zip(b.chars()).take_while(|(a, b)| a == b).count())
        };
        let at = self.0.binary_search(&text).unwrap_or(0);
        let before = at.checked_sub(1).and_then(|at| self.0.get(at));
        common(text, before).max(common(text, self.0.get(at + 1))) + 1
    }
}

/// A time from the command line. A date means its beginning, or its end where that day counts in.
fn time(text: &str, end_of_day: bool) -> Result<Timestamp> {
    if let Some(at) = Timestamp::parse(text) {
        return Ok(at);
    }
    let Ok(date) = text.parse::<Date>() else {
        bail!("`{text}` is no time; write 2026-07-01 or 2026-07-01T10:00:00+02:00");
    };
    let date = if end_of_day { date.tomorrow().context("the date is out of range")? } else { date };
    let zoned = date.to_zoned_datetime(TimeZone::system()).context("the date is out of range")?;
    Ok(zoned.timestamp().into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_word_that_every_id_begins_with_does_not_count() {
        assert_eq!(word("session_4f1c2d3e-aaaa"), "session_".len());
        assert_eq!(word("ses_dd3550"), "ses_".len());
        assert_eq!(word("01a22cab-7920-70_x"), 0);
        assert_eq!(word("session_"), 0);
        assert_eq!(word("plain"), 0);
    }

    #[test]
    fn what_is_cut_fits_on_the_terminal() {
        let row = [
            "codex:01a22cab-7920-70",
            "2026-11-30 13:36",
            "18.7 kB",
            "/home/dev/My Project",
            "Please refuse it",
        ];
        let rows = [row.map(str::to_owned)];
        let (directory, title) = room(&rows, Some(80));
        let fixed: usize = row.iter().take(3).map(|cell| cell.width() + 2).sum();
        assert_eq!(fixed + directory + 2 + title + 2, 80);
        assert!(directory >= "directory".width());
        assert_eq!(room(&rows, None), (DIRECTORY_COLUMNS, TITLE_COLUMNS));
    }
}
