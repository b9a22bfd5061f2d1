//! `ibid completions`: for the shell.

use anyhow::Result;
use clap_complete::Shell;

use crate::exit::Exit;
use crate::output;

/// Print the completions for a shell
///
/// For example: `ibid completions bash > ~/.local/share/bash-completion/completions/ibid`
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// The shell
    #[arg(value_enum)]
    shell: Shell,
}

/// # Errors
/// When stdout cannot be written.
pub(crate) fn run(arguments: &Arguments) -> Result<Exit> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut crate::command_line(), "ibid", &mut script);
    output::print_bytes(&script)?;
    Ok(Exit::Done)
}
