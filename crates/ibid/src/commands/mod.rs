//! The commands, one file each.

mod continue_;
mod convert;
mod list;
mod overview;
mod path;
mod show;

use anyhow::Result;

use crate::Arguments;
use crate::exit::Exit;
use crate::machine::Machine;

/// What `ibid` is asked to do. The order is the order of the help.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    List(list::Arguments),
    Show(show::Arguments),
    Path(path::Arguments),
    Convert(convert::Arguments),
    Continue(continue_::Arguments),
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
        Some(Command::Show(arguments)) => show::run(&machine, &arguments),
        Some(Command::Path(arguments)) => path::run(&machine, &arguments),
        Some(Command::Convert(arguments)) => convert::run(&machine, &arguments),
        Some(Command::Continue(arguments)) => continue_::run(&machine, &arguments),
    }
}
