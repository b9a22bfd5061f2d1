//! The commands, one file each.

mod list;
mod overview;

use anyhow::Result;

use crate::Arguments;
use crate::exit::Exit;
use crate::machine::Machine;

/// What `ibid` is asked to do. The order is the order of the help.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    List(list::Arguments),
}

/// Runs a command, or the overview when there is none.
///
/// # Errors
/// Whatever the command could not do.
pub(crate) fn run(arguments: Arguments) -> Result<Exit> {
    let machine = Machine::new(&arguments.global)?;
    match arguments.command {
        None => overview::run(&machine),
        Some(Command::List(arguments)) => list::run(&machine, &arguments),
    }
}
