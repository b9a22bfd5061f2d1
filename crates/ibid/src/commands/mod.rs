//! The commands, one file each.

mod capture;
mod completions;
mod r#continue;
mod convert;
mod delete;
mod demo;
mod doctor;
mod explain;
mod export;
pub(crate) mod hook;
mod host;
mod import;
mod list;
mod man;
mod overview;
mod path;
mod plugin;
mod reference;
mod restore;
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
    Explain(explain::Arguments),
    Convert(convert::Arguments),
    Continue(r#continue::Arguments),
    Path(path::Arguments),
    Export(export::Arguments),
    Import(import::Arguments),
    Delete(delete::Arguments),
    Restore(restore::Arguments),
    Doctor(doctor::Arguments),
    Plugin(plugin::Arguments),
    Host(host::Arguments),
    Capture(capture::Arguments),
    Hook(hook::Arguments),
    Demo(demo::Arguments),
    Completions(completions::Arguments),
    Man(man::Arguments),
}

/// Runs a command, or the overview when there is none.
///
/// # Errors
/// Whatever the command could not do.
pub(crate) fn run(arguments: Arguments) -> Result<Exit> {
    let machine = || Machine::new(&arguments.global);
    match &arguments.command {
        None => overview::run(&machine()?),
        Some(Command::List(arguments)) => list::run(&machine()?, arguments),
        Some(Command::Show(arguments)) => show::run(&machine()?, arguments),
        Some(Command::Explain(arguments)) => explain::run(&machine()?, arguments),
        Some(Command::Convert(arguments)) => convert::run(&machine()?, arguments),
        Some(Command::Continue(arguments)) => r#continue::run(&machine()?, arguments),
        Some(Command::Path(arguments)) => path::run(&machine()?, arguments),
        Some(Command::Export(arguments)) => export::run(&machine()?, arguments),
        Some(Command::Import(arguments)) => import::run(&machine()?, arguments),
        Some(Command::Delete(arguments)) => delete::run(&machine()?, arguments),
        Some(Command::Restore(arguments)) => restore::run(&machine()?, arguments),
        Some(Command::Doctor(arguments)) => doctor::run(&machine()?, arguments),
        Some(Command::Plugin(arguments)) => plugin::run(&machine()?, arguments),
        Some(Command::Host(arguments)) => Ok(host::run(&machine()?, arguments)),
        Some(Command::Capture(arguments)) => capture::run(&machine()?, arguments),
        // A hook never comes this far: `main` looks for one before it parses anything.
        Some(Command::Hook(_)) => Ok(Exit::Done),
        Some(Command::Demo(arguments)) => demo::run(arguments),
        Some(Command::Completions(arguments)) => completions::run(arguments),
        Some(Command::Man(arguments)) => man::run(arguments),
    }
}
