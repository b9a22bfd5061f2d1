//! `ibid path`: the files and rows that a session lives in.

use std::fmt::Write as _;

use anyhow::Result;
use ibid_model::CarrierInfo;
use serde::Serialize;

use crate::exit::Exit;
use crate::machine::Machine;
use crate::output;

/// Print what a session lives in, one file or database per line
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// The session: `harness:id`, the beginning of an id, a title, or a file
    session: String,
}

#[derive(Serialize)]
struct Answer<'a> {
    harness: &'a str,
    id: &'a str,
    carriers: &'a [CarrierInfo],
}

/// # Errors
/// When there is no such session, or several.
pub(crate) fn run(machine: &Machine, arguments: &Arguments) -> Result<Exit> {
    let found = machine.find(&arguments.session)?;
    let session = &found.session;
    if machine.json {
        output::print_json(&Answer {
            harness: session.reference.harness.as_str(),
            id: session.id.as_str(),
            carriers: &session.carriers,
        })?;
        return Ok(Exit::Done);
    }
    let mut text = String::new();
    for carrier in &session.carriers {
        // A path is data here: scripts read it. Only a line break inside of it would lie.
        let path = output::clean(&carrier.path).replace('\n', "\u{fffd}");
        match &carrier.key {
            Some(key) => writeln!(text, "{path}\t{}", output::clean_line(key))?,
            None => writeln!(text, "{path}")?,
        }
    }
    output::print(&text)?;
    Ok(Exit::Done)
}
