//! `ibid man`: the manual pages.

use std::fs;
use std::path::PathBuf;

use anyhow::{Context as _, Result};

use super::reference;
use crate::exit::{Exit, Failure};
use crate::output;

/// Print a manual page, or write all of them
///
/// For example: `ibid man convert | man -l -`, or `ibid man --out ~/.local/share/man/man1`
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// The command; without one, the page of `ibid` itself
    command: Option<String>,

    /// Print all commands on one page of Markdown
    #[arg(long, conflicts_with_all = ["command", "out"])]
    markdown: bool,

    /// Write the pages of all commands to this directory
    #[arg(long, value_name = "DIR", conflicts_with = "command")]
    out: Option<PathBuf>,
}

/// # Errors
/// When there is no such command, or a page cannot be written.
pub(crate) fn run(arguments: &Arguments) -> Result<Exit> {
    let mut root = crate::command_line();
    root.build();
    if arguments.markdown {
        output::print(&reference::page(&root)?)?;
        return Ok(Exit::Done);
    }
    if let Some(directory) = &arguments.out {
        fs::create_dir_all(directory).with_context(|| format!("{} cannot be made", directory.display()))?;
        let visible = root.get_subcommands().filter(|command| !command.is_hide_set());
        for (name, command) in visible.map(|c| (format!("ibid-{}", c.get_name()), c.clone())) {
            write(directory.join(format!("{name}.1")), command, &name)?;
        }
        write(directory.join("ibid.1"), root.clone(), "ibid")?;
        return Ok(Exit::Done);
    }
    let (command, name) = match &arguments.command {
        None => (root.clone(), "ibid".to_owned()),
        Some(name) => {
            let found = root.get_subcommands().find(|command| command.get_name() == name);
            let found = found.ok_or_else(|| Failure::nothing_found(format!("there is no command {name}")))?;
            (found.clone(), format!("ibid-{name}"))
        }
    };
    output::print_bytes(&page(command, &name)?)?;
    Ok(Exit::Done)
}

fn page(command: clap::Command, name: &str) -> Result<Vec<u8>> {
    let mut page = Vec::new();
    let source = format!("ibid {}", env!("CARGO_PKG_VERSION"));
    let usage = command.clone().render_usage().to_string();
    let man = clap_mangen::Man::new(command).title(name.to_uppercase()).source(source);
    man.render(&mut page)?;
    let mut made = Vec::new();
    man.render_synopsis_section(&mut made)?;
    let (page, made) = (String::from_utf8(page)?, String::from_utf8(made)?);
    // The preamble of the parts stands in front of each.
    let made = made.find(".SH SYNOPSIS").and_then(|at| made.get(at..)).unwrap_or_default();
    Ok(page.replacen(made, &synopsis(&usage), 1).into_bytes())
}

/// The usage as the help has it: with the values of options, which clap_mangen leaves out.
fn synopsis(usage: &str) -> String {
    let lines = usage.trim().trim_start_matches("Usage:").lines().map(str::trim);
    let lines: Vec<String> = lines
        .map(|line| line.replace('\\', "\\e").replace('-', "\\-"))
        .map(|line| format!("{line}\n"))
        .collect();
    format!(".SH SYNOPSIS\n{}", lines.join(".br\n"))
}

fn write(path: PathBuf, command: clap::Command, name: &str) -> Result<()> {
    fs::write(&path, page(command, name)?).with_context(|| format!("{} cannot be written", path.display()))
}
