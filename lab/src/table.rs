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

/// The cells of some kinds: one row for each source, one column for each thing that is proven.
struct Matrix {
    title: &'static str,
    head: Vec<String>,
    rows: Vec<Vec<String>>,
}

/// The tables, each with the kinds of cells in it.
const TABLES: [(&str, &[Kind]); 4] = [
    (
        "A session of the program: listed, shown and copied; refused where it must be",
        &[Kind::Native, Kind::Refusals],
    ),
    ("Converted, and resumed by its id", &[Kind::Resume]),
    ("Converted, carried on, converted back, and resumed", &[Kind::ThereAndBack]),
    ("Long sessions, converted and resumed", &[Kind::Big]),
];

fn matrices(manifest: &Manifest) -> Vec<Matrix> {
    let all = TABLES.into_iter().map(|(title, kinds)| Matrix::of(title, kinds, manifest));
    all.filter(|matrix| !matrix.rows.is_empty()).collect()
}

/// The tables for the terminal.
#[must_use]
pub fn terminal(manifest: &Manifest) -> String {
    let mut text = String::new();
    for matrix in matrices(manifest) {
        let mut table = Table::new();
        table.load_style(UTF8_FULL_CONDENSED).set_content_arrangement(ContentArrangement::Disabled);
        table.set_header(matrix.head);
        for row in matrix.rows {
            table.add_row(row);
        }
        let _ = writeln!(text, "{}:\n{table}\n", matrix.title);
    }
    text
}

/// The tables for the README.
#[must_use]
pub fn markdown(manifest: &Manifest) -> String {
    let mut text = format!("The lab on {}:\n", manifest.date);
    let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
    for matrix in matrices(manifest) {
        let _ = write!(text, "\n{}:\n\n{}|", matrix.title, line(&matrix.head));
        text.push_str(&" --- |".repeat(matrix.head.len()));
        text.push('\n');
        matrix.rows.iter().for_each(|row| text.push_str(&line(row)));
    }
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
    fn of(title: &'static str, kinds: &[Kind], manifest: &Manifest) -> Matrix {
        let cells: Vec<&Entry> = manifest.cells.iter().filter(|cell| kinds.contains(&cell.kind)).collect();
        let mut sources: Vec<&Named> = Vec::new();
        let mut columns: Vec<Column<'_>> = Vec::new();
        for entry in &cells {
            if !sources.contains(&&entry.source) {
                sources.push(&entry.source);
            }
            let column = Column::of(entry);
            if !columns.contains(&column) {
                columns.push(column);
            }
        }
        columns.sort_by_key(|column| (column.kind, column.target.cloned()));
        let row = |source: &&Named| {
            let cell = |column: &Column<'_>| {
                let here = |entry: &&&Entry| entry.source == **source && Column::of(entry) == *column;
                summary(&cells.iter().filter(here).copied().collect::<Vec<_>>())
            };
            std::iter::once(named(source)).chain(columns.iter().map(cell)).collect()
        };
        let head = std::iter::once("session of".to_owned()).chain(columns.iter().map(Column::title));
        Matrix { title, head: head.collect(), rows: sources.iter().map(row).collect() }
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
            (Kind::ThereAndBack, Some(target)) => format!("{} and back", named(target)),
            (_, Some(target)) => format!("to {}", named(target)),
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
    if !entries.is_empty() && count(Outcome::Forbidden) == entries.len() {
        return "not possible".to_owned();
    }
    match (entries.len(), failed, cannot) {
        (0, ..) => String::new(),
        (1, 0, 0) => "passed".to_owned(),
        (all, 0, 0) => format!("passed ({all})"),
        (1, 0, _) => "cannot run".to_owned(),
        (all, 0, cannot) => format!("cannot run ({cannot} of {all})"),
        (1, ..) => "FAILED".to_owned(),
        (all, failed, _) => format!("FAILED ({failed} of {all})"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn side(harness: &str, version: &str) -> Named {
        Named { harness: harness.to_owned(), version: Some(version.to_owned()) }
    }

    fn entry(kind: Kind, case: &str, target: Option<Named>, outcome: Outcome) -> Entry {
        Entry {
            kind,
            case: case.to_owned(),
            source: side("codex", "1.0"),
            target,
            outcome,
            reason: (outcome != Outcome::Passed).then(|| "a reason".to_owned()),
            notes: Vec::new(),
            seconds: 1.0,
        }
    }

    fn manifest(cells: Vec<Entry>) -> Manifest {
        Manifest { date: "2026-01-31".to_owned(), cells }
    }

    #[test]
    fn no_cell_disappears_however_it_ended() {
        let pi = || Some(side("pi", "2.0"));
        for (outcome, shown) in [
            (Outcome::Passed, "| passed |"),
            (Outcome::Failed, "| FAILED |"),
            (Outcome::Forbidden, "| not possible |"),
            (Outcome::CannotRun, "| cannot run |"),
        ] {
            let text = markdown(&manifest(vec![entry(Kind::Resume, "", pi(), outcome)]));
            assert!(
                text.contains("| codex 1.0 ") && text.contains("to pi 2.0") && text.contains(shown),
                "{text}"
            );
        }
    }

    #[test]
    fn one_failure_among_several_cells_of_a_place_shows() {
        let cells = [("a", Outcome::Passed), ("b", Outcome::Failed), ("c", Outcome::CannotRun)];
        let cells = cells.map(|(case, outcome)| entry(Kind::Refusals, case, None, outcome)).to_vec();
        assert!(markdown(&manifest(cells)).contains("FAILED (1 of 3)"));
    }

    #[test]
    fn the_table_goes_between_the_marks_and_nowhere_else() {
        let text = format!("before\n{}\nold\n{}\nafter\n", MARKS.0, MARKS.1);
        let manifest = manifest(vec![entry(Kind::Native, "", None, Outcome::Passed)]);
        let written = with_table(&text, &manifest).unwrap();
        assert!(
            written.starts_with("before\n") && written.ends_with("\nafter\n") && !written.contains("old")
        );
        assert_eq!(
            with_table(&written, &manifest).as_deref(),
            Some(written.as_str()),
            "writing it again changes nothing"
        );
        assert_eq!(with_table("no marks", &manifest), None);
    }
}
