//! The record of a run as tables: one for the terminal, one for the README.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result};
use comfy_table::presets::UTF8_FULL_CONDENSED;
use comfy_table::{ContentArrangement, Table};

use crate::cells::Kind;
use crate::manifest::{Entry, Manifest, Named, Outcome};

/// What stands before and behind the table in the README.
const MARKS: (&str, &str) = ("<!-- lab: begin -->", "<!-- lab: end -->");

/// One row for each program, one column for each thing that is proven of it.
struct Matrix {
    head: Vec<String>,
    rows: Vec<Vec<String>>,
}

/// The table for the terminal.
#[must_use]
pub fn terminal(manifest: &Manifest) -> String {
    let matrix = Matrix::of(manifest);
    let mut table = Table::new();
    table.load_style(UTF8_FULL_CONDENSED).set_content_arrangement(ContentArrangement::Disabled);
    table.set_header(matrix.head);
    for row in matrix.rows {
        table.add_row(row);
    }
    table.to_string()
}

/// The table for the README.
#[must_use]
pub fn markdown(manifest: &Manifest) -> String {
    let matrix = Matrix::of(manifest);
    let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
    let mut text = line(&matrix.head);
    let _ = writeln!(text, "|{}", " --- |".repeat(matrix.head.len()));
    matrix.rows.iter().for_each(|row| text.push_str(&line(row)));
    text
}

/// Writes the table of `lab/manifest.json` into the README.
///
/// # Errors
/// When one of them cannot be read, or the README has no place for it.
pub fn write_readme(lab: &Path) -> Result<()> {
    let path = lab.join("../README.md");
    let readme = fs::read_to_string(&path).context("README.md")?;
    let manifest = Manifest::read(&lab.join("manifest.json"))?;
    let written = with_table(&readme, &manifest).context("README.md has no marks for the table")?;
    fs::write(&path, written).context("README.md")
}

/// A text in which the table stands between the marks; none when it has no marks.
#[must_use]
pub fn with_table(text: &str, manifest: &Manifest) -> Option<String> {
    let (before, rest) = text.split_once(MARKS.0)?;
    let (_, after) = rest.split_once(MARKS.1)?;
    Some(format!("{before}{}\n\n{}\n{}{after}", MARKS.0, markdown(manifest), MARKS.1))
}

impl Matrix {
    fn of(manifest: &Manifest) -> Matrix {
        let mut sources: Vec<&Named> = Vec::new();
        let mut columns: Vec<Column<'_>> = Vec::new();
        for entry in &manifest.cells {
            if !sources.contains(&&entry.source) {
                sources.push(&entry.source);
            }
            let column = Column::of(entry);
            if !columns.contains(&column) {
                columns.push(column);
            }
        }
        let head = std::iter::once("session of".to_owned()).chain(columns.iter().map(Column::title));
        let row = |source: &&Named| {
            let cell = |column: &Column<'_>| {
                let entries: Vec<&Entry> = manifest
                    .cells
                    .iter()
                    .filter(|entry| entry.source == **source && Column::of(entry) == *column)
                    .collect();
                summary(&entries)
            };
            std::iter::once(named(source)).chain(columns.iter().map(cell)).collect()
        };
        Matrix { head: head.collect(), rows: sources.iter().map(row).collect() }
    }
}

/// What stands in one column.
#[derive(PartialEq)]
struct Column<'e> {
    kind: Kind,
    target: Option<&'e Named>,
}

impl<'e> Column<'e> {
    fn of(entry: &'e Entry) -> Column<'e> {
        Column { kind: entry.kind, target: entry.target.as_ref() }
    }

    fn title(&self) -> String {
        match (self.kind, self.target) {
            (Kind::Resume, Some(target)) => format!("to {}", named(target)),
            (Kind::ThereAndBack, Some(target)) => format!("{} and back", named(target)),
            (kind, Some(target)) => format!("{} in {}", kind.name(), named(target)),
            (kind, None) => kind.name().to_owned(),
        }
    }
}

fn named(side: &Named) -> String {
    match &side.version {
        Some(version) => format!("{} {version}", side.harness),
        None => side.harness.clone(),
    }
}

/// How the cells of one place ended. A place without cells is empty.
fn summary(entries: &[&Entry]) -> String {
    let count = |outcome| entries.iter().filter(|entry| entry.outcome == outcome).count();
    let (failed, cannot) = (count(Outcome::Failed), count(Outcome::CannotRun));
    match (entries.len(), failed, cannot) {
        (0, ..) => String::new(),
        (1, 0, 0) => "passed".to_owned(),
        (all, 0, 0) => format!("passed ({all})"),
        (_, 0, _) => "cannot run".to_owned(),
        (1, ..) => "FAILED".to_owned(),
        (all, failed, _) => format!("FAILED ({failed} of {all})"),
    }
}
