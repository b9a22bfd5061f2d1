//! A program makes a session; Ibid lists it, shows it and copies it.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result, bail, ensure};
use ibid_testkit::provider::Exchange;
use ibid_testkit::provider::wire::Said;
use serde_json::Value;

use super::{Cell, Kind, Notes, Side, as_sent};
use crate::lab::Lab;
use crate::pins::Age;
use crate::programs::{Driver, Program};
use crate::sandbox::{OUT, WORKSPACE};
use crate::source::{Source, bytes_of, find, ibid, ibid_json};

/// The cell of one program.
pub(super) fn cell(driver: &'static dyn Driver, age: Age) -> Cell {
    let source = Side::Program(driver, age);
    Cell::new(Kind::Native, "", source, None, move |lab, folder| prove(lab, folder, driver, age))
}

fn prove(lab: &Lab, folder: &Path, driver: &'static dyn Driver, age: Age) -> Result<Notes> {
    let program = lab.program(driver.id(), age)?;
    let source = lab.source(program)?;
    let sandbox = lab.copy(&source.folder, folder)?;
    let name = format!("{}:{}", driver.id(), source.id);
    let before = snapshot(&sandbox.home())?;
    let list = ibid_json(&sandbox, &["list", "--all", "--harness", driver.id()])?;
    let last = last_turn(&source, driver)?;
    listed(&list, program, &source, &last)?;
    let shown = ibid(&sandbox, &["show", &name, "--no-pager"])?;
    let mut rest = shown.as_str();
    for prompt in &source.prompts {
        let found = rest
            .find(prompt)
            .with_context(|| format!("`ibid show` does not show `{prompt}` in its place"))?;
        rest = rest.get(found + prompt.len()..).unwrap_or_default();
    }
    counted(&sandbox.home(), driver, &source, &last)?;
    if driver.is_only_read() {
        kept(&sandbox.home(), driver, &source, &last)?;
    } else {
        let copy = format!("{OUT}/copy");
        ibid(&sandbox, &["convert", &name, "--to", driver.id(), "--keep-id", "--out", &copy])?;
        same_bytes(&sandbox.home(), &sandbox.out().join("copy"), driver, &source)?;
    }
    ensure!(snapshot(&sandbox.home())? == before, "reading changed something in the home");
    Ok(Notes::new())
}

/// The last request for a turn of the session itself: it holds everything that was said before.
pub(super) fn last_turn(source: &Source, driver: &dyn Driver) -> Result<Exchange> {
    let prompt = source.prompts.last().context("there were no prompts")?;
    let log = source.log()?;
    let asks = |exchange: &&Exchange| {
        exchange.said().iter().any(|spoken| matches!(&spoken.said, Said::User(text) if text.contains(prompt)))
            && exchange.body.as_ref().is_some_and(|body| body.get("tools").is_some())
            && !driver.is_aside(exchange)
    };
    log.iter().rev().find(asks).cloned().context("the last prompt did not reach the provider")
}

/// Whether the list shows the session as it is.
fn listed(list: &Value, program: &Program, source: &Source, last: &Exchange) -> Result<()> {
    let (driver, version) = (program.driver, program.version.as_str());
    let rows = list.get("sessions").and_then(Value::as_array).context("a list without sessions")?;
    let text = |row: &Value, key: &str| row.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    let row = rows.iter().find(|row| text(row, "id") == source.id);
    let row = row.with_context(|| format!("`ibid list` does not list {}", source.id))?;
    ensure!(text(row, "cwd") == WORKSPACE, "the directory is listed as `{}`", text(row, "cwd"));
    let version = if driver.records_its_version() { version } else { "" };
    ensure!(text(row, "version") == version, "the version is listed as `{}`", text(row, "version"));
    let first = source.prompts.first().copied().unwrap_or_default();
    let called = [text(row, "title"), text(row, "preview")];
    ensure!(
        called.iter().any(|said| said.contains(first)),
        "the session is called `{}`",
        called.join("` or `")
    );
    let model =
        last.body.as_ref().and_then(|body| body.get("model")).and_then(Value::as_str).unwrap_or_default();
    let says = text(row, "model");
    ensure!(!model.is_empty() && says.ends_with(model), "the model is listed as `{says}`, and was `{model}`");
    let time = |key: &str| -> Result<jiff::Timestamp> {
        text(row, key).parse().with_context(|| format!("{key} is `{}`", text(row, key)))
    };
    let (started, updated) = (time("started")?, time("updated")?);
    let (from, to) = source.times;
    ensure!(
        from <= started && started <= updated && updated <= to,
        "it is listed from {started} to {updated}, and ran from {from} to {to}"
    );
    let parents: Vec<String> =
        rows.iter().map(|row| text(row, "parent")).filter(|id| !id.is_empty()).collect();
    let expected = match driver.subagent_tool(program.age) {
        Some(tool) => {
            let starts = |said: &Said| matches!(said, Said::Call { name, .. } if name == tool);
            last.said().iter().filter(|spoken| starts(&spoken.said)).count()
        }
        None => source.log()?.iter().filter_map(|e| driver.subagent(e)).collect::<BTreeSet<_>>().len(),
    };
    ensure!(expected > 0 || !driver.has_subagents(program.age), "no subagent of it ran");
    ensure!(
        parents.len() == expected && parents.iter().all(|id| *id == source.id),
        "{expected} subagents of it ran, and the list has {}: {}",
        parents.len(),
        parents.join(", ")
    );
    Ok(())
}

/// Whether the session holds as many prompts, calls and results as were sent.
fn counted(home: &Path, driver: &dyn Driver, source: &Source, last: &Exchange) -> Result<()> {
    let counts = find(home, driver.id(), &source.id)?.session.counts();
    let said = last.said();
    let of = |wanted: fn(&Said) -> bool| said.iter().filter(|spoken| wanted(&spoken.said)).count() as u64;
    let (calls, results) = (of(|s| matches!(s, Said::Call { .. })), of(|s| matches!(s, Said::Result { .. })));
    let prompts = source.prompts.len() as u64;
    ensure!(
        (counts.prompts, counts.tool_calls, counts.tool_results) == (prompts, calls, results),
        "there were {prompts} prompts, {calls} calls and {results} results, and Ibid counts {}, {} and {}",
        counts.prompts,
        counts.tool_calls,
        counts.tool_results
    );
    Ok(())
}

/// Whether the session is what was said, and its carriers have the bytes of its files, also after they
/// went through the text form. (What other programs said is proven where it is converted, and their
/// sessions can be copied.)
fn kept(home: &Path, driver: &dyn Driver, source: &Source, last: &Exchange) -> Result<()> {
    let harness = ibid_harness::find(driver.id()).context("no such harness")?;
    let found = find(home, driver.id(), &source.id)?;
    as_sent::compare(&found.session, driver, harness, &source.prompts, last)?;
    let carriers = found.native.carriers();
    ensure!(!carriers.is_empty(), "it has no carrier");
    for (carrier, bytes) in carriers.iter().zip(found.bytes()) {
        let path = carrier.info.path.to_string();
        ensure!(fs::read(&path)? == bytes, "{path} is not kept as it is");
    }
    let again = harness.from_text(&found.native.to_text()?)?;
    ensure!(bytes_of(&again) == found.bytes(), "its text form does not keep it as it is");
    Ok(())
}

/// Whether a copy has the bytes of the original, in every carrier.
fn same_bytes(home: &Path, copy: &Path, driver: &dyn Driver, source: &Source) -> Result<()> {
    let original = find(home, driver.id(), &source.id)?;
    let copied = crate::source::find_in(copy, driver.id(), &source.id)?;
    let (original, copied) = (original.bytes(), copied.bytes());
    ensure!(!original.is_empty(), "the original has no carrier");
    ensure!(original.len() == copied.len(), "{} carriers were copied to {}", original.len(), copied.len());
    for (number, (one, other)) in original.iter().zip(&copied).enumerate() {
        if one != other {
            bail!("carrier {number} was copied with {} bytes for {}", other.len(), one.len());
        }
    }
    Ok(())
}

/// The names, sizes and times of all files below a folder, without Ibid's own.
pub(super) fn snapshot(folder: &Path) -> Result<Vec<(String, u64, std::time::SystemTime)>> {
    let mut files = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder)?.flatten() {
            let metadata = entry.metadata()?;
            if metadata.is_dir() {
                if entry.file_name() != "ibid" {
                    folders.push(entry.path());
                }
            } else {
                files.push((entry.path().display().to_string(), metadata.len(), metadata.modified()?));
            }
        }
    }
    files.sort();
    Ok(files)
}
