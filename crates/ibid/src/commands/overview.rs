//! `ibid` alone: what is on this machine.

use std::fmt::Write as _;

use anyhow::Result;
use ibid_carrier::plan::Unfinished;
use ibid_harness::{Class, Discovery};
use ibid_model::{Finding, Timestamp};
use serde::Serialize;

use crate::exit::Exit;
use crate::machine::{Machine, Unread, is_listed};
use crate::output;
use crate::table::{Table, size, when};

/// How many findings the overview shows.
const FINDINGS_SHOWN: usize = 20;

/// One harness, for `--json`.
#[derive(Serialize)]
struct HarnessRow {
    harness: String,
    name: &'static str,
    roots: Vec<String>,
    present: bool,
    sessions: usize,
    subagents: usize,
    bytes: u64,
    updated: Option<Timestamp>,
}

#[derive(Serialize)]
struct Overview<'a> {
    harnesses: &'a [HarnessRow],
    findings: Vec<&'a Finding>,
    complete: bool,
}

/// # Errors
/// When stdout cannot be written.
pub(crate) fn run(machine: &Machine) -> Result<Exit> {
    let discoveries = machine.discover(ibid_harness::all());
    let rows = rows(&discoveries);
    // A write that did not finish is for the next command that writes; here it is only named.
    let unfinished: Vec<Finding> = machine.engine().pending()?.iter().map(Unfinished::finding).collect();
    let unread = Unread::of(&discoveries);
    let findings: Vec<&Finding> = unread.places.iter().copied().chain(&unfinished).collect();
    let found = rows.iter().any(|row| row.sessions + row.subagents > 0);
    if machine.json {
        let complete = unfinished.is_empty() && unread.is_empty();
        let findings = findings.into_iter().chain(&unread.parts).collect();
        output::print_json(&Overview { harnesses: &rows, findings, complete })?;
    } else {
        output::print(&text(&rows, &findings))?;
        if let Some(sentence) = unread.sentence().filter(|_| !unread.parts.is_empty()) {
            output::note(&format!("\n{sentence}"));
        }
    }
    Ok(if found { Exit::Done } else { Exit::NothingFound })
}

fn rows(discoveries: &[Discovery]) -> Vec<HarnessRow> {
    let mut rows = Vec::new();
    for harness in ibid_harness::all() {
        let declaration = harness.declaration();
        if !declaration.capabilities.store {
            continue;
        }
        let own: Vec<&Discovery> = discoveries.iter().filter(|d| d.harness == declaration.id).collect();
        let sessions = || own.iter().flat_map(|d| &d.sessions).filter(|s| is_listed(s));
        let subagents = sessions().filter(|s| s.class == Class::Sidecar).count();
        rows.push(HarnessRow {
            harness: declaration.id.to_string(),
            name: declaration.name,
            roots: own.iter().map(|d| d.root.path.display().to_string()).collect(),
            present: own.iter().any(|d| d.present),
            sessions: sessions().count() - subagents,
            subagents,
            bytes: sessions().map(|s| s.bytes).sum(),
            updated: sessions().filter_map(|s| s.meta.updated).max(),
        });
    }
    rows
}

fn text(rows: &[HarnessRow], findings: &[&Finding]) -> String {
    let mut text = String::new();
    let (present, absent): (Vec<&HarnessRow>, Vec<&HarnessRow>) =
        rows.iter().partition(|row| row.present || row.sessions > 0);
    if present.is_empty() {
        text.push_str(
            "No agent has a store in this home. `ibid demo` shows what Ibid does on sessions of its own.\n",
        );
    } else {
        let mut table = Table::new(&["agent", "sessions", "subagents", "size", "last activity"])
            .right(1)
            .right(2)
            .right(3);
        for row in &present {
            table.row(vec![
                row.name.to_owned(),
                row.sessions.to_string(),
                row.subagents.to_string(),
                size(row.bytes),
                when(row.updated),
            ]);
        }
        text.push_str(&table.to_string());
        if !absent.is_empty() {
            let names: Vec<&str> = absent.iter().map(|row| row.name).collect();
            let _ = writeln!(text, "\nNot found in this home: {}.", names.join(", "));
        }
    }
    if !findings.is_empty() {
        let _ = writeln!(text, "\nNot all is well:");
        text.push_str(&output::findings_text(findings.iter().copied().take(FINDINGS_SHOWN)));
        if findings.len() > FINDINGS_SHOWN {
            let _ = writeln!(
                text,
                "  and {} more; `ibid doctor` lists them all",
                findings.len() - FINDINGS_SHOWN
            );
        }
    }
    text
}
