//! A throw-away home with real sessions of every harness, for `ibid demo`.
//!
//! The sessions are from `fixtures/` and are part of the program, so that the demo needs neither
//! a network nor anything on the machine.

mod announced;
mod files;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use ibid_harness::{AnyHarness, Surroundings};

use crate::machine::harness;

pub(crate) use announced::ANNOUNCED;

/// The sessions of one harness.
struct Sessions {
    /// The harness.
    harness: &'static str,
    /// What lies below its first root.
    files: &'static [(&'static str, Content)],
}

/// What a file of the demo holds.
enum Content {
    /// These bytes.
    Bytes(&'static [u8]),
    /// The database that these statements make.
    Sql(&'static str),
}

/// The session that the demo shows and converts.
pub(crate) const SOURCE: &str = files::SOURCE;

/// The harness that it converts to.
pub(crate) const TARGET: &str = files::TARGET;

/// Lays the sessions out where the programs would keep them.
///
/// # Errors
/// When the home cannot be written.
pub(crate) fn lay_out(home: &Path) -> Result<()> {
    let machine = Surroundings::isolated(home);
    for sessions in files::SESSIONS {
        let root = first_root(harness(sessions.harness)?, &machine)?;
        for (place, content) in sessions.files {
            write(&root.join(place), content)?;
        }
    }
    announced::announce(&machine)
}

fn first_root(harness: &dyn AnyHarness, machine: &Surroundings) -> Result<PathBuf> {
    let roots = harness.roots(machine);
    Ok(roots.into_iter().next().context("the harness has no root")?.path)
}

fn write(path: &Path, content: &Content) -> Result<()> {
    let problem = || format!("{} cannot be written", path.display());
    let directory = path.parent().context("a file has a directory")?;
    fs::create_dir_all(directory).with_context(problem)?;
    match content {
        Content::Bytes(bytes) => fs::write(path, bytes).with_context(problem),
        Content::Sql(statements) => {
            let database = rusqlite::Connection::open(path).with_context(problem)?;
            database.execute_batch(statements).with_context(problem)
        }
    }
}
