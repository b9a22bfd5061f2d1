//! `ibid demo`: the main job on sessions that come with the program.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use clap::Parser as _;
use ibid_model::{Selection, essence};

use crate::demo::{self, ANNOUNCED, SOURCE, TARGET};
use crate::exit::{Exit, Failure};
use crate::machine::Machine;
use crate::output;

/// Walk through what Ibid does, on sessions of its own in a throw-away home
///
/// Nothing of yours is read or written. The home is removed at the end; one whose demo was stopped by
/// a signal stays in the directory for temporary files. Ends with 0 only if every step did what it
/// says, or the reader of the output went away.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Make the home in this directory, which must be empty or new, and keep it
    #[arg(long, value_name = "DIR")]
    keep: Option<PathBuf>,
}

/// # Errors
/// When a step does not do what it says.
pub(crate) fn run(arguments: &Arguments) -> Result<Exit> {
    match &arguments.keep {
        Some(directory) => {
            let home = std::path::absolute(directory)?;
            if std::fs::read_dir(&home).is_ok_and(|mut entries| entries.next().is_some()) {
                let message =
                    format!("{} is not empty; nothing was written; give --keep a new one", home.display());
                return Err(Failure::refused(message).into());
            }
            std::fs::create_dir_all(&home).with_context(|| format!("{} cannot be made", home.display()))?;
            walk(&home)?;
            let home = home.display().to_string();
            let quoted = shlex::try_quote(&home).unwrap_or_else(|_| home.as_str().into());
            output::print(&format!("\nThe home is kept. Look around: ibid --home {quoted} list\n"))?;
        }
        None => {
            let home =
                tempfile::Builder::new().prefix("ibid-demo-").tempdir().context("no throw-away home")?;
            walk(home.path())?;
            home.close().context("the throw-away home could not be removed")?;
            output::print("\nThe throw-away home is gone again. `ibid` shows what is on this machine.\n")?;
        }
    }
    Ok(Exit::Done)
}

fn walk(home: &Path) -> Result<()> {
    output::print(
        "Ibid reads what coding agents keep of their sessions, and carries sessions from one to another.\n",
    )?;
    demo::lay_out(home)?;
    let machine = Machine::of_home(home);
    let step = Steps { home };
    let from = agent(SOURCE)?;
    let to = crate::machine::harness(TARGET)?.declaration().name;

    step.say("This home has sessions of several agents. One command finds them all.")?;
    step.run(&[], Exit::Done)?;

    step.say("Every session has a name: its agent and the beginning of its id.")?;
    step.run(&["list"], Exit::Done)?;

    step.say(&format!("A session of {from}, readable. Results stand under their calls; long ones are cut."))?;
    step.run(&["show", "--no-pager", SOURCE], Exit::Done)?;

    step.say(
        "What an agent announced while it ran stands beside what it stored: what either says, where, and whether they agree.",
    )?;
    step.run(&["explain", "--no-pager", ANNOUNCED], Exit::Done)?;

    step.say(&format!(
        "What would it be in {to}? A dry run prints every write, and everything that would be lost."
    ))?;
    step.run(&["convert", SOURCE, "--to", TARGET, "--dry-run"], Exit::Done)?;

    step.say("Now in earnest. What is written is read back and compared before it counts.")?;
    let known = ids(&machine);
    step.run(&["convert", SOURCE, "--to", TARGET], Exit::Done)?;
    let new: Vec<String> = ids(&machine).into_iter().filter(|id| !known.contains(id)).collect();
    let made = new
        .into_iter()
        .find(|id| machine.find(id).is_ok_and(|found| found.session.class != ibid_harness::Class::Sidecar))
        .context("the conversion made no session")?;

    step.say(&format!("The same conversation, as {to} has it."))?;
    step.run(&["show", "--no-pager", &made], Exit::Done)?;
    let (before, after) = (prompts(&machine, SOURCE)?, prompts(&machine, &made)?);
    if before.first() != after.first() {
        bail!("the two sessions do not begin with the same words");
    }

    step.say("A second conversion would write over it, so it is refused.")?;
    step.run(&["convert", SOURCE, "--to", TARGET], Exit::Refused)?;

    step.say("Deleting moves to a trash.")?;
    step.run(&["delete", &made, "--yes"], Exit::Done)?;
    if machine.find(&made).is_ok() {
        bail!("{made} was deleted and is still there");
    }

    step.say("And from there it comes back as it was.")?;
    step.run(&["restore", &made], Exit::Done)?;
    if prompts(&machine, &made)? != after {
        bail!("{made} came back as something else");
    }
    Ok(())
}

/// The name of a session's harness.
fn agent(session: &str) -> Result<&'static str> {
    let harness = session.split(':').next().unwrap_or_default();
    Ok(crate::machine::harness(harness)?.declaration().name)
}

/// The names of all sessions.
fn ids(machine: &Machine) -> Vec<String> {
    let discoveries = machine.discover(ibid_harness::all());
    let sessions = discoveries.iter().flat_map(|discovery| &discovery.sessions);
    sessions.map(|session| format!("{}:{}", session.reference.harness, session.id)).collect()
}

/// What a person said in a session.
fn prompts(machine: &Machine, name: &str) -> Result<Vec<String>> {
    let common = machine.load(&machine.find(name)?)?.to_common()?;
    let view = common.session.view(&Selection::default());
    let said = view.messages.iter().filter(|message| message.is_prompt());
    if essence(view.messages.iter().copied()).is_empty() {
        bail!("{name} is empty");
    }
    Ok(said.flat_map(|message| message.texts()).map(ToString::to_string).collect())
}

struct Steps<'a> {
    home: &'a Path,
}

impl Steps<'_> {
    fn say(&self, text: &str) -> Result<()> {
        output::print(&format!("\n{}\n{text}\n", "─".repeat(72)))
    }

    /// Runs a command as if it were typed, and looks how it ends.
    fn run(&self, arguments: &[&str], expected: Exit) -> Result<()> {
        let typed = [&["ibid"], arguments].concat().join(" ");
        output::print(&format!("\n$ {typed}\n\n"))?;
        let home = self.home.to_string_lossy();
        let words = [&["ibid", "--home", &home], arguments].concat();
        let exit = match super::run(crate::Arguments::try_parse_from(words)?) {
            Ok(exit) => exit,
            Err(error) if output::is_reader_gone(&error) => return Err(error),
            Err(error) => {
                let exit = crate::exit::of_error(&error);
                if exit == expected {
                    output::report(&error);
                }
                if exit != expected {
                    return Err(error.context(format!("`{typed}` failed")));
                }
                exit
            }
        };
        if exit != expected {
            bail!("`{typed}` ended with {} instead of {}", exit.code(), expected.code());
        }
        Ok(())
    }
}
