//! The record of a run: one entry for each cell.

use std::path::Path;

use anyhow::{Context as _, Result};
use serde::{Deserialize, Serialize};

use crate::cells::{CannotRun, Cell, Forbidden, Kind, Side};
use crate::lab::Lab;
use crate::pins::Age;

/// How a cell ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// It is proven.
    Passed,
    /// It is not so.
    Failed,
    /// A difference between versions forbids it.
    Forbidden,
    /// It could not be tried.
    CannotRun,
}

/// One side of a cell.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Named {
    /// The id of its harness.
    pub harness: String,
    /// The version; none for a source that is no program.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
}

/// One cell with its outcome.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// What it looked at.
    pub kind: Kind,
    /// What exactly, where a kind has several cells for the same programs.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub case: String,
    /// Where the session is from.
    pub source: Named,
    /// The program that resumes it, when there is another.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<Named>,
    /// Whether one of its programs is an older version.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub older: bool,
    /// How it ended.
    pub outcome: Outcome,
    /// Why it did not pass.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// What else was seen.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// How long it took, in seconds.
    pub seconds: f64,
}

/// A whole run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// The day.
    pub date: String,
    /// The cells, in the order of the matrix.
    pub cells: Vec<Entry>,
}

impl Entry {
    /// The entry of a cell that ended like this.
    #[must_use]
    pub fn of(lab: &Lab, cell: &Cell, result: Result<Vec<String>>, seconds: f64) -> Entry {
        let named = |side: Side| Named {
            harness: side.harness().to_owned(),
            version: match side {
                Side::Program(driver, age) => Some(lab.version(driver.id(), age)),
                Side::Material(_) => None,
            },
        };
        let (outcome, reason, notes) = match result {
            Ok(notes) => (Outcome::Passed, None, notes),
            Err(error) => {
                let outcome = if error.chain().any(|cause| cause.is::<CannotRun>()) {
                    Outcome::CannotRun
                } else if error.chain().any(|cause| cause.is::<Forbidden>()) {
                    Outcome::Forbidden
                } else {
                    Outcome::Failed
                };
                (outcome, Some(format!("{error:#}")), Vec::new())
            }
        };
        Entry {
            kind: cell.kind,
            case: cell.case.to_owned(),
            source: named(cell.source),
            target: cell.target.map(named),
            older: [Some(cell.source), cell.target]
                .into_iter()
                .flatten()
                .any(|side| matches!(side, Side::Program(_, Age::Older))),
            outcome,
            reason,
            notes,
            seconds: (seconds * 10.0).round() / 10.0,
        }
    }

    /// What the cell is, on one line.
    #[must_use]
    pub fn name(&self) -> String {
        let named = |side: &Named| match &side.version {
            Some(version) => format!("{} {version}", side.harness),
            None => side.harness.clone(),
        };
        let mut name = self.kind.name().to_owned();
        if !self.case.is_empty() {
            name.push_str(&format!(" ({})", self.case));
        }
        name.push_str(&format!(": {}", named(&self.source)));
        if let Some(target) = &self.target {
            name.push_str(&format!(" to {}", named(target)));
        }
        name
    }
}

impl Manifest {
    /// Reads one.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn read(path: &Path) -> Result<Manifest> {
        let text = std::fs::read(path).with_context(|| path.display().to_string())?;
        serde_json::from_slice(&text).with_context(|| path.display().to_string())
    }

    /// Writes it.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write(&self, path: &Path) -> Result<()> {
        let mut text = serde_json::to_string_pretty(self)?;
        text.push('\n');
        std::fs::write(path, text).with_context(|| path.display().to_string())
    }

    /// How many cells ended like this.
    #[must_use]
    pub fn count(&self, outcome: Outcome) -> usize {
        self.cells.iter().filter(|cell| cell.outcome == outcome).count()
    }
}
