//! The record of a run as tables: one for the terminal, one for the README.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result};
use comfy_table::presets::UTF8_FULL_CONDENSED;
use comfy_table::{ContentArrangement, Table};

use crate::cells::{AS_COWORK, Kind};
use crate::manifest::{Entry, Manifest, Named, Outcome};

/// What stands before and behind a table in a page.
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
        "A session of the program: listed, shown and copied; found by the evidence host; refused where it must be; announced",
        &[Kind::Native, Kind::Evidence, Kind::Refusals, Kind::Lifecycle],
    ),
    ("Converted, and resumed by its id", &[Kind::Resume]),
    ("Converted, carried on, converted back, and resumed", &[Kind::ThereAndBack]),
    ("Long sessions, converted and resumed", &[Kind::Big]),
];

fn matrices(manifest: &Manifest) -> Vec<Matrix> {
    let all = TABLES.into_iter().map(|(title, kinds)| {
        let cells: Vec<&Entry> = manifest.cells.iter().filter(|cell| kinds.contains(&cell.kind)).collect();
        Matrix::of(title, &cells, Column::of)
    });
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

impl Matrix {
    fn markdown(&self) -> String {
        let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
        let mut text = format!("{}|{}\n", line(&self.head), " --- |".repeat(self.head.len()));
        self.rows.iter().for_each(|row| text.push_str(&line(row)));
        text
    }
}

/// The table for the README: the latest versions, and all that is proven of a pair in one place.
#[must_use]
pub fn in_short(manifest: &Manifest) -> String {
    let latest: Vec<&Entry> = manifest.cells.iter().filter(|cell| !cell.older).collect();
    let matrix = Matrix::of("", &latest, |entry| Column { kind: None, ..Column::of(entry) });
    let older = manifest.cells.iter().filter(|cell| cell.older).count();
    let rest = match older {
        0 => String::new(),
        older => format!("; {older} more cells, with older versions, are in [docs/lab.md](docs/lab.md)"),
    };
    format!("{}\nRun on {}{rest}.\n", matrix.markdown(), manifest.date)
}

/// The tables for the page of the lab: everything.
#[must_use]
pub fn in_full(manifest: &Manifest) -> String {
    let mut text = String::new();
    for matrix in matrices(manifest) {
        let _ = writeln!(text, "{}:\n\n{}", matrix.title, matrix.markdown());
    }
    let mut reasons: Vec<&str> = Vec::new();
    for entry in manifest.cells.iter().filter(|cell| cell.outcome == Outcome::Forbidden) {
        reasons.extend(entry.reason.as_deref().filter(|reason| !reasons.contains(reason)));
    }
    for reason in reasons {
        let _ = writeln!(text, "Not possible: {reason}.\n");
    }
    let _ = writeln!(text, "Run on {}.", manifest.date);
    text
}

/// What a page shows of a run.
type Show = fn(&Manifest) -> String;

/// The pages that show the recorded run, below the folder of the project, with what they show.
const PAGES: [(&str, Show); 2] = [("README.md", in_short), ("docs/lab.md", in_full)];

/// The pages as they are to be, beside how they are.
///
/// # Errors
/// When one of them, or the record, cannot be read, or a page has no place for a table.
pub fn pages(lab: &Path) -> Result<Vec<Page>> {
    let manifest = Manifest::read(&lab.join("manifest.json"))?;
    let page = |(name, show): (&str, Show)| {
        let path = lab.join("..").join(name);
        let is = fs::read_to_string(&path).with_context(|| name.to_owned())?;
        let to_be = between_marks(&is, &show(&manifest)).with_context(|| format!("{name} has no marks"))?;
        Ok(Page { path, is, to_be })
    };
    PAGES.into_iter().map(page).collect()
}

/// A page that shows the recorded run.
pub struct Page {
    /// Where it lies.
    pub path: std::path::PathBuf,
    /// How it is.
    pub is: String,
    /// How it is to be.
    pub to_be: String,
}

/// A text in which another stands between the marks; none when it has no marks.
fn between_marks(text: &str, inner: &str) -> Option<String> {
    let (before, rest) = text.split_once(MARKS.0)?;
    let (_, after) = rest.split_once(MARKS.1)?;
    Some(format!("{before}{}\n\n{inner}\n{}{after}", MARKS.0, MARKS.1))
}

impl Matrix {
    fn of<'e>(
        title: &'static str,
        cells: &[&'e Entry],
        column_of: impl Fn(&'e Entry) -> Column<'e>,
    ) -> Matrix {
        let mut sources: Vec<&'e Named> = Vec::new();
        let mut columns: Vec<Column<'e>> = Vec::new();
        for entry in cells {
            if !sources.contains(&&entry.source) {
                sources.push(&entry.source);
            }
            let column = column_of(entry);
            if !columns.contains(&column) {
                columns.push(column);
            }
        }
        columns.sort();
        let row = |source: &&'e Named| {
            let cell = |column: &Column<'e>| {
                let here = |entry: &&&'e Entry| entry.source == **source && column_of(entry) == *column;
                summary(&cells.iter().filter(here).copied().collect::<Vec<_>>())
            };
            std::iter::once(named(source)).chain(columns.iter().map(cell)).collect()
        };
        let head = std::iter::once("session of".to_owned()).chain(columns.iter().map(Column::title));
        Matrix { title, head: head.collect(), rows: sources.iter().map(row).collect() }
    }
}

/// What stands in one column.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Column<'e> {
    /// The program that resumes; nothing for what needs no second program.
    target: Option<&'e Named>,
    /// What it stands for, where the program stands for another.
    stands_for: Option<&'static str>,
    /// What is proven; none where all of a pair stands in one place.
    kind: Option<Kind>,
    /// The same, of cells without a second program.
    alone: Option<Kind>,
}

impl<'e> Column<'e> {
    fn of(entry: &'e Entry) -> Column<'e> {
        let target = entry.target.as_ref();
        let stands_for = (entry.case == AS_COWORK).then_some("cowork");
        let alone = target.is_none().then_some(entry.kind);
        Column { target, stands_for, kind: Some(entry.kind), alone }
    }

    fn title(&self) -> String {
        let Some(target) = self.target else {
            return self.alone.map_or_else(String::new, |kind| kind.name().to_owned());
        };
        let target = match self.stands_for {
            Some(name) => format!("{name} ({})", named(target)),
            None => named(target),
        };
        match self.kind {
            Some(Kind::ThereAndBack) => format!("{target} and back"),
            _ => format!("to {target}"),
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
            older: false,
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
            let text = in_full(&manifest(vec![entry(Kind::Resume, "", pi(), outcome)]));
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
        assert!(in_short(&manifest(cells)).contains("FAILED (1 of 3)"));
    }

    #[test]
    fn the_table_goes_between_the_marks_and_nowhere_else() {
        let text = format!("before\n{}\nold\n{}\nafter\n", MARKS.0, MARKS.1);
        let written = between_marks(&text, "new").unwrap();
        assert!(written.starts_with("before\n") && written.ends_with("\nafter\n"));
        assert!(written.contains("\nnew\n") && !written.contains("old"));
        assert_eq!(
            between_marks(&written, "new").as_deref(),
            Some(written.as_str()),
            "again, it changes nothing"
        );
        assert_eq!(between_marks("no marks", "new"), None);
    }
}
