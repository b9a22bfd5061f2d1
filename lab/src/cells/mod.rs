//! What is proven, cell by cell.

mod as_cowork;
mod as_sent;
mod big;
mod evidence;
mod lifecycle;
mod material;
mod native;
mod refusals;
mod resume;
mod there_and_back;

use std::fmt;
use std::path::Path;

use anyhow::Result;
use serde::{Deserialize, Serialize};

use crate::lab::Lab;
use crate::pins::Age;
use crate::programs::{DRIVERS, Driver, ONLY_READ};

/// A picture of nine red dots, as a PNG in base64.
pub const PICTURE: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAMAAAADCAIAAADZSiLoAAAAEElEQVR42mM4IScHQQxYWACPNAklAENGzwAAAABJRU5ErkJggg==";

/// The program of whose session documents are made.
pub const DOCUMENTS_OF: (&str, Age) = ("claude-code", Age::Latest);

/// What a cell looks at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// The program makes a session; Ibid lists, shows and copies it.
    Native,
    /// The evidence host finds it, and what it did.
    Evidence,
    /// One program's session is resumed by another.
    Resume,
    /// It is carried on there, and goes back.
    ThereAndBack,
    /// Long sessions.
    Big,
    /// What Ibid must refuse, and what it must not.
    Refusals,
    /// The program announces a session to Ibid's plugin, which is then taken back.
    Lifecycle,
}

impl Kind {
    /// Its name, as in the manifest.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Kind::Native => "native",
            Kind::Evidence => "evidence",
            Kind::Resume => "resume",
            Kind::ThereAndBack => "there-and-back",
            Kind::Big => "big",
            Kind::Refusals => "refusals",
            Kind::Lifecycle => "lifecycle",
        }
    }
}

/// One side of a cell: a program in one of its versions, or a source that is no program.
#[derive(Clone, Copy)]
pub enum Side {
    /// A program.
    Program(&'static dyn Driver, Age),
    /// Sessions that lie there, by the id of their harness.
    Material(&'static str),
}

impl Side {
    /// The id of its harness.
    #[must_use]
    pub fn harness(self) -> &'static str {
        match self {
            Side::Program(driver, _) => driver.id(),
            Side::Material(harness) => harness,
        }
    }
}

/// The case of cells in which Claude Code stands for Cowork, which runs it.
pub const AS_COWORK: &str = "as Cowork's session";

/// What a cell found out beside that it passed: what the program itself leaves out, for one.
pub type Notes = Vec<String>;

/// What proves a cell, in a folder of its own.
type Proof = Box<dyn Fn(&Lab, &Path) -> Result<Notes> + Send + Sync>;

/// One thing to prove.
pub struct Cell {
    /// What it looks at.
    pub kind: Kind,
    /// What exactly, where a kind has several cells for the same programs; else empty.
    pub case: &'static str,
    /// Where the session is from.
    pub source: Side,
    /// The program that resumes it, when there is another.
    pub target: Option<Side>,
    proof: Proof,
}

impl Cell {
    fn new(
        kind: Kind,
        case: &'static str,
        source: Side,
        target: Option<Side>,
        proof: impl Fn(&Lab, &Path) -> Result<Notes> + Send + Sync + 'static,
    ) -> Cell {
        Cell { kind, case, source, target, proof: Box::new(proof) }
    }

    /// Proves it, or says why it is not so.
    ///
    /// # Errors
    /// What is wrong; [`CannotRun`] when it could not be tried, [`Forbidden`] when a version forbids it.
    pub fn prove(&self, lab: &Lab, folder: &Path) -> Result<Notes> {
        for side in [Some(self.source), self.target].into_iter().flatten() {
            if let Side::Program(driver, age) = side {
                lab.program(driver.id(), age)?;
            }
        }
        // Every kind but those of reading lets the program resume what Ibid wrote.
        let back = self.kind == Kind::ThereAndBack;
        let written = [self.target, Some(self.source).filter(|_| back || self.kind == Kind::Refusals)];
        for side in written.into_iter().flatten() {
            if let Side::Program(driver, age) = side
                && let Some(reason) = driver.cannot_be_written(age)
            {
                return Err(Forbidden(format!(
                    "{} {}: {reason}",
                    driver.id(),
                    lab.version(driver.id(), age)
                ))
                .into());
            }
        }
        (self.proof)(lab, folder)
    }
}

/// The difference between versions that forbids what a cell is to prove.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{0}")]
pub struct Forbidden(pub String);

/// Why a cell could not be tried at all.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{0}")]
pub struct CannotRun(pub String);

/// All cells, in the order in which they are printed.
#[must_use]
pub fn all(older: bool) -> Vec<Cell> {
    let ages: &[Age] = if older { &[Age::Latest, Age::Older] } else { &[Age::Latest] };
    let mut cells = Vec::new();
    for age in ages {
        cells.extend(DRIVERS.map(|driver| native::cell(driver, *age)));
    }
    cells.extend(ONLY_READ.map(|driver| native::cell(driver, Age::Latest)));
    for age in ages {
        cells.extend(evidence::cells(*age));
    }
    for age in ages {
        cells.extend(resume::cells(*age));
    }
    cells.extend(resume::from_only_read());
    cells.extend(resume::from_material());
    cells.extend(as_cowork::cells());
    for age in ages {
        cells.extend(there_and_back::cells(*age));
    }
    for age in ages {
        cells.extend(big::cells(*age));
    }
    for age in ages {
        cells.extend(refusals::cells(*age));
    }
    cells.extend(lifecycle::cells());
    cells
}

/// A program in one of its versions.
type Version = (&'static dyn Driver, Age);

/// Every ordered pair of different programs. For the older ones: each with the latest of the
/// other, both ways.
fn ordered_pairs(age: Age) -> Vec<(Version, Version)> {
    let mut pairs = Vec::new();
    for source in DRIVERS {
        for target in DRIVERS.into_iter().filter(|target| target.id() != source.id()) {
            match age {
                Age::Latest => pairs.push(((source, Age::Latest), (target, Age::Latest))),
                Age::Older => pairs.extend([
                    ((source, Age::Older), (target, Age::Latest)),
                    ((source, Age::Latest), (target, Age::Older)),
                ]),
            }
        }
    }
    pairs
}

impl fmt::Debug for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {}", self.kind.name(), self.case, self.source.harness())?;
        match self.target {
            Some(target) => write!(f, " to {}", target.harness()),
            None => Ok(()),
        }
    }
}
