//! `ibid show`: one session, readable.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use anyhow::{Result, bail};
use ibid_capture::join::{self, Explained, Fact, Lane, LaneReport, Turn};
use ibid_harness::{AnyTranscript, Common, Content, Discovered};
use ibid_model::{CarrierRole, Extent, Finding, Selection, Session};
use serde::Serialize;

use crate::exit::Exit;
use crate::lanes::Lanes;
use crate::machine::{Found, Machine};
use crate::output;
use crate::rendering::{self, Header, Options, Renderer};
use crate::screen::Screen;
use crate::selection::{SelectionArguments, cut};

/// Show a session
///
/// Thinking is folded, and long inputs and results are cut with a note of how much; `--full` shows
/// everything. On a terminal the output goes through a pager (IBID_PAGER, PAGER, or less).
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// The session: `harness:id`, the beginning of an id, a title, or a file; `#5-12` behind it
    /// picks messages
    session: String,

    #[command(flatten)]
    selection: SelectionArguments,

    /// Show thinking, inputs and results in full
    #[arg(long)]
    full: bool,

    /// Print the harness's own lines exactly, byte for byte
    #[arg(long, conflicts_with_all = ["full", "json", "branches"])]
    raw: bool,

    /// List the branches of the session instead of showing one
    #[arg(long, conflicts_with_all = ["full", "branch"])]
    branches: bool,

    /// Do not use a pager
    #[arg(long)]
    no_pager: bool,
}

#[derive(Serialize)]
struct Answer<'a> {
    session: &'a Session,
    findings: &'a [Finding],
    subagents: Vec<Subagent<'a>>,
    /// What the agent announced of the session while it ran; absent when nothing is known of that.
    #[serde(skip_serializing_if = "Option::is_none")]
    lifecycle: Option<Announced<'a>>,
}

/// The parts of `ibid explain` that observations add something to.
#[derive(Serialize)]
struct Announced<'a> {
    lane: Option<&'a LaneReport>,
    facts: &'a [Fact],
    turns: &'a [Turn],
    subagents: &'a [join::Subagent],
}

impl<'a> Announced<'a> {
    fn of(explained: &'a Explained) -> Announced<'a> {
        let lane = explained.lanes.iter().find(|lane| lane.lane == Lane::Lifecycle);
        let Explained { facts, turns, subagents, .. } = explained;
        Announced { lane, facts, turns, subagents }
    }
}

#[derive(Serialize)]
struct Subagent<'a> {
    harness: &'a str,
    id: &'a str,
    title: Option<&'a str>,
    preview: Option<&'a str>,
}

#[derive(Serialize)]
struct BranchRow<'a> {
    leaf: &'a str,
    fork: Option<&'a str>,
    own: usize,
    live: bool,
}

#[derive(Serialize)]
struct Branches<'a> {
    harness: &'a str,
    id: &'a str,
    branches: Vec<BranchRow<'a>>,
}

/// # Errors
/// When there is no such session, or it cannot be read.
pub(crate) fn run(machine: &Machine, arguments: &Arguments) -> Result<Exit> {
    let found = machine.find(&arguments.session)?;
    let transcript = machine.load(&found)?;
    let Common { session, mut findings } = transcript.to_common()?;
    if arguments.branches {
        return branches(machine, &session);
    }
    let selection = arguments.selection.of(&session, found.name.span)?;
    let whole = arguments.selection.is_default() && found.name.span.is_none();
    if arguments.raw {
        return raw(&transcript, &session, (!whole).then_some(&selection));
    }
    let children = machine.children(&found);
    let lanes = Lanes::at_a_glance(machine, &found, &session, &children);
    let explained = lanes.map(|lanes| lanes.explain(&session, &[], &BTreeMap::new()));
    findings.extend(explained.iter().flat_map(|explained| explained.findings.iter().cloned()));
    if machine.json {
        let cut = (!whole).then(|| cut(&session, &selection));
        let subagents = children.iter().map(subagent).collect();
        let session = cut.as_ref().unwrap_or(&session);
        let lifecycle = explained.as_ref().map(Announced::of);
        output::print_json(&Answer { session, findings: &findings, subagents, lifecycle })?;
        return Ok(Exit::Done);
    }
    let exit = readable(arguments, &found, &session, &selection, (&children, explained.as_ref()))?;
    if let Some(text) = output::findings_below("What was found while reading:", &findings, arguments.full) {
        output::note(&format!("\n{text}"));
    }
    Ok(exit)
}

fn readable(
    arguments: &Arguments,
    found: &Found,
    session: &Session,
    selection: &Selection,
    (children, explained): (&[Discovered], Option<&Explained>),
) -> Result<Exit> {
    let options = Options { full: arguments.full, width: Screen::width() };
    let mut screen = Screen::open(!arguments.no_pager);
    let header = Header { harness: found.harness.declaration(), session, children, explained, selection };
    if screen.write(&header.text())? {
        let renderer = Renderer::new(session, selection, options, agents(children));
        renderer.run(|text| screen.write(text))?;
    }
    screen.close()
}

/// The names of subagents by the calls that started them.
fn agents(children: &[Discovered]) -> HashMap<String, String> {
    let named = |child: &Discovered| {
        let call = child.lineage.iter().find_map(|lineage| lineage.call.clone())?;
        let name = format!("{}:{}", child.reference.harness, output::clean_line(child.id.as_str()));
        Some((call.to_string(), name))
    };
    children.iter().filter_map(named).collect()
}

fn subagent(child: &Discovered) -> Subagent<'_> {
    Subagent {
        harness: child.reference.harness.as_str(),
        id: child.id.as_str(),
        title: child.meta.title.as_ref().map(|title| title.text.as_str()),
        preview: child.meta.preview.as_deref(),
    }
}

fn branches(machine: &Machine, session: &Session) -> Result<Exit> {
    let branches = session.branches();
    if machine.json {
        let rows = branches.iter().map(|branch| BranchRow {
            leaf: branch.leaf.as_str(),
            fork: branch.fork.as_ref().map(|fork| fork.as_str()),
            own: branch.own,
            live: branch.live,
        });
        let (harness, id) = (session.harness.as_str(), session.id.as_str());
        output::print_json(&Branches { harness, id, branches: rows.collect() })?;
    } else {
        output::print(&rendering::branches(session))?;
    }
    Ok(if branches.is_empty() { Exit::NothingFound } else { Exit::Done })
}

/// Prints the native lines of the whole session, or of the messages that are selected.
fn raw(transcript: &AnyTranscript, session: &Session, selection: Option<&Selection>) -> Result<Exit> {
    match selection {
        None => raw_whole(transcript)?,
        Some(selection) => raw_selected(transcript, session, selection)?,
    }
    Ok(Exit::Done)
}

fn raw_whole(transcript: &AnyTranscript) -> Result<()> {
    let carriers = transcript.carriers();
    let spoken = |role| matches!(role, CarrierRole::Transcript | CarrierRole::Rows);
    let any_spoken = carriers.iter().any(|carrier| spoken(carrier.info.role));
    for carrier in carriers.iter().filter(|carrier| !any_spoken || spoken(carrier.info.role)) {
        match carrier.content {
            Content::Bytes(bytes) => output::print_bytes(bytes)?,
            Content::Rows(rows) => {
                for table in &rows.tables {
                    for row in &table.rows {
                        print_row(&table.table, &table.columns, row)?;
                    }
                }
            }
        }
    }
    Ok(())
}

fn raw_selected(transcript: &AnyTranscript, session: &Session, selection: &Selection) -> Result<()> {
    let carriers = transcript.carriers();
    let view = session.view(selection);
    let sources = view.messages.iter().flat_map(|message| &message.sources);
    // Several messages may come from one line, and the lines are printed as they lie.
    let mut places: BTreeSet<(u32, u64, u64)> = BTreeSet::new();
    let mut rows: Vec<(u32, &str, &str)> = Vec::new();
    for source in sources {
        match &source.extent {
            Extent::Bytes { start, end } => {
                places.insert((source.carrier, *start, *end));
            }
            Extent::Row(row) => {
                let row = (source.carrier, row.table.as_str(), row.key.as_str());
                if !rows.contains(&row) {
                    rows.push(row);
                }
            }
            Extent::Whole => {
                places.insert((source.carrier, 0, u64::MAX));
            }
        }
    }
    for (carrier, start, end) in places {
        let content = carriers.get(carrier as usize).map(|carrier| carrier.content);
        let Some(Content::Bytes(bytes)) = content else {
            bail!("carrier {carrier} of this session has no bytes; print all of it without a selection");
        };
        let end = usize::try_from(end).unwrap_or(usize::MAX).min(bytes.len());
        let start = usize::try_from(start).unwrap_or(usize::MAX);
        let line = bytes.get(start..end).unwrap_or_default();
        output::print_bytes(line)?;
        if !line.ends_with(b"\n") {
            output::print_bytes(b"\n")?;
        }
    }
    for (carrier, table, key) in rows {
        let content = carriers.get(carrier as usize).map(|carrier| carrier.content);
        let Some(Content::Rows(set)) = content else {
            bail!(
                "the messages of this session have no lines of their own; print all of it without a selection"
            );
        };
        for held in set.tables.iter().filter(|held| held.table == table) {
            for row in held.rows.iter().filter(|row| held.key_label(row) == key) {
                print_row(table, &held.columns, row)?;
            }
        }
    }
    Ok(())
}

/// Prints a row as one line of JSON: the table, then each column with its value as it is stored.
fn print_row<V: Serialize>(table: &str, columns: &[String], values: &[V]) -> Result<()> {
    #[derive(Serialize)]
    struct Row<'a, V> {
        table: &'a str,
        columns: &'a [String],
        values: &'a [V],
    }
    let mut line = serde_json::to_string(&Row { table, columns, values })?;
    line.push('\n');
    output::print_bytes(line.as_bytes())
}
