//! `ibid`: find, read, convert and carry on the sessions of coding agents.
//!
//! This file is the whole program on one screen: parse, dispatch, and turn errors into exit codes.
//! Each command is one file in `commands/`.

mod commands;
mod config;
mod demo;
mod exit;
mod export;
mod lanes;
mod launch;
mod located;
mod machine;
mod output;
mod plugin;
mod rendering;
mod screen;
mod selection;
mod table;
mod transfer;
mod workspace;

use std::process::ExitCode;

use clap::{CommandFactory, Parser};

use crate::exit::Exit;

/// One truthful record of what coding agents did on this machine.
///
/// Without a command, shows which agents have sessions here and what could not be read.
///
/// A session is named `harness:id`, or by any unambiguous beginning of its id, its exact title, or
/// the path of its file. `#5-12` behind the name picks messages, counted from 1.
#[derive(Debug, Parser)]
#[command(name = "ibid", version, max_term_width = 100, disable_help_subcommand = false)]
pub(crate) struct Arguments {
    #[command(flatten)]
    global: machine::GlobalArguments,

    #[command(subcommand)]
    command: Option<commands::Command>,
}

fn main() -> ExitCode {
    // What an agent runs must not fail, so not even the parser of arguments comes before it.
    if let Some(code) = commands::hook::intercept(std::env::args_os()) {
        return code;
    }
    output::die_quietly_on_broken_pipes();
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => {
            // Help and version are not failures, and clap says which is which.
            let _ = error.print();
            return ExitCode::from(if error.use_stderr() { Exit::Failure.code() } else { Exit::Done.code() });
        }
    };
    let exit = match commands::run(arguments) {
        Ok(exit) => exit,
        Err(error) if output::is_reader_gone(&error) => Exit::Done,
        Err(error) => {
            output::report(&error);
            exit::of_error(&error)
        }
    };
    ExitCode::from(exit.code())
}

/// The command line as clap sees it, for completions, the manual and the generated reference.
pub(crate) fn command_line() -> clap::Command {
    Arguments::command()
}
