//! The command line as a page of Markdown: `ibid man --markdown`, and `docs/cli.md`.

use std::fmt::Write as _;

use anyhow::Result;
use clap::{Arg, Command};

/// The whole command line on one page.
///
/// # Errors
/// Never in practice: text is written into memory.
pub(super) fn page(root: &Command) -> Result<String> {
    let mut page = String::from("# The command line\n\n");
    page.push_str(
        "This page is made from the program (`IBID_BLESS=1 cargo test -p ibid published` renews it).\n",
    );
    section(&mut page, root, "ibid", true)?;
    for command in root.get_subcommands().filter(|c| !c.is_hide_set() && c.get_name() != "help") {
        section(&mut page, command, &format!("ibid {}", command.get_name()), false)?;
    }
    page.push_str(
        "\n## Exit codes\n\n| code | meaning |\n| --- | --- |\n| 0 | what was asked was done |\n| 1 | nothing of the \
         kind was found; `ibid doctor`: there is something to look at; `ibid host`: a fault of the \
         protocol |\n| 2 | the arguments were wrong, or something failed |\n| 3 | refused for safety; the message names the option that allows it |\n",
    );
    Ok(page)
}

fn section(page: &mut String, command: &Command, name: &str, root: bool) -> Result<()> {
    writeln!(page, "\n## `{name}`\n")?;
    let about = command.get_long_about().or(command.get_about()).map(ToString::to_string);
    writeln!(page, "{}\n", about.unwrap_or_default().trim())?;
    let usage = command.clone().render_usage().to_string();
    let usage: Vec<&str> = usage.trim().trim_start_matches("Usage: ").lines().map(str::trim).collect();
    writeln!(page, "    {}", usage.join("\n    "))?;
    if root {
        writeln!(page, "\n| command | |\n| --- | --- |")?;
        for command in command.get_subcommands().filter(|c| !c.is_hide_set()) {
            let about = command.get_about().map(ToString::to_string).unwrap_or_default();
            writeln!(page, "| `{}` | {} |", command.get_name(), cell(&about))?;
        }
    }
    let shown: Vec<&Arg> = command
        .get_arguments()
        .filter(|argument| !argument.is_hide_set() && (root || !argument.is_global_set()))
        .filter(|argument| !matches!(argument.get_id().as_str(), "help" | "version"))
        .collect();
    if !shown.is_empty() {
        writeln!(
            page,
            "\n| {} | |\n| --- | --- |",
            if root { "option of every command" } else { "argument" }
        )?;
    }
    for argument in shown {
        let help = argument.get_long_help().or(argument.get_help()).map(ToString::to_string);
        let mut help = cell(&help.unwrap_or_default());
        let values = argument.get_possible_values();
        if !values.is_empty() && argument.get_action().takes_values() {
            let names: Vec<String> = values.iter().map(|value| format!("`{}`", value.get_name())).collect();
            help.push_str(&format!(" ({})", names.join(", ")));
        }
        if let Some(variable) = argument.get_env() {
            help.push_str(&format!(" (environment: `{}`)", variable.to_string_lossy()));
        }
        writeln!(page, "| `{}` | {help} |", cell(&spelling(argument)))?;
    }
    Ok(())
}

/// An argument as it is written.
fn spelling(argument: &Arg) -> String {
    let names = argument.get_value_names().unwrap_or_default();
    let value: Vec<String> = names.iter().map(|name| format!("<{name}>")).collect();
    let value = if argument.get_action().takes_values() { value.join(" ") } else { String::new() };
    let mut parts = Vec::new();
    parts.extend(argument.get_short().map(|short| format!("-{short}")));
    parts.extend(argument.get_long().map(|long| format!("--{long}")));
    match (parts.is_empty(), value.is_empty()) {
        (true, _) => value,
        (false, true) => parts.join(", "),
        (false, false) => format!("{} {value}", parts.join(", ")),
    }
}

fn cell(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").replace('|', "\\|")
}
