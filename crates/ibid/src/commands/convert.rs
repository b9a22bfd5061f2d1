//! `ibid convert`: a session as one of another harness.

use std::path::PathBuf;

use anyhow::{Result, bail};
use ibid_model::Text;

use crate::exit::Exit;
use crate::machine::{HarnessName, Machine, harness, ids_of};
use crate::output;
use crate::selection::SelectionArguments;
use crate::transfer::{IdWish, Material, Wishes, prepare, refusal};
use crate::workspace::working_directory;

/// Write a session as one of another harness
///
/// Prints what is written and everything that is changed or left behind, then writes it, reads it
/// back and compares; a difference undoes it all. Subagents go along where both harnesses have
/// them. To the same harness, `--out` with `--keep-id` makes an exact copy.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// The session: `harness:id`, the beginning of an id, a title, or a file; `#5-12` behind it
    /// picks messages
    session: String,

    #[command(flatten)]
    target: TargetArguments,

    #[command(flatten)]
    selection: SelectionArguments,
}

/// Where and how to write.
#[derive(Debug, clap::Args)]
pub(crate) struct TargetArguments {
    /// The harness to write for
    #[arg(long, value_name = "HARNESS", value_parser = HarnessName { offered: |to| to.capabilities.write })]
    to: String,

    /// Write under this directory instead of the harness's own
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,

    /// Print what would be written and lost, and write nothing
    #[arg(long)]
    dry_run: bool,

    /// Give the new session the id of the source
    #[arg(long, conflicts_with = "new_id")]
    keep_id: bool,

    /// Give the new session an id that no conversion has given yet
    #[arg(long)]
    new_id: bool,

    /// Make this the working directory of the new session
    #[arg(long, value_name = "DIR")]
    cwd: Option<PathBuf>,

    /// The account to write for, where the harness has several
    #[arg(long)]
    account: Option<String>,

    /// Leave subagents behind
    #[arg(long)]
    no_subagents: bool,

    /// Replace a session of the same id; a backup is kept
    #[arg(long)]
    replace: bool,

    /// Replace it even while a running program has it open
    #[arg(long, requires = "replace")]
    while_open: bool,
}

impl TargetArguments {
    /// Whether nothing is to be written.
    pub(crate) fn is_dry_run(&self) -> bool {
        self.dry_run
    }

    /// What to make.
    ///
    /// # Errors
    /// When there is no such harness, or Ibid does not write it.
    pub(crate) fn wishes(&self) -> Result<Wishes> {
        let to = harness(&self.to)?;
        let declaration = to.declaration();
        if !declaration.capabilities.write {
            bail!(
                "Ibid reads sessions of {} and does not write them; give --to one of {}",
                declaration.name,
                ids_of(|harness| harness.declaration().capabilities.write)
            );
        }
        let mut wishes = Wishes::of(to);
        wishes.out = self.out.as_deref().map(std::path::absolute).transpose()?;
        wishes.id = match (self.keep_id, self.new_id) {
            (true, _) => IdWish::Keep,
            (_, true) => IdWish::New,
            _ => IdWish::Derived,
        };
        let cwd = self.cwd.as_deref().map(working_directory).transpose()?;
        wishes.cwd = cwd.map(|cwd| Text::from(cwd.to_string_lossy().into_owned()));
        wishes.account.clone_from(&self.account);
        wishes.subagents = !self.no_subagents;
        wishes.replace = self.replace;
        wishes.while_open = self.while_open;
        Ok(wishes)
    }
}

/// # Errors
/// When the session cannot be found, read, converted or written.
pub(crate) fn run(machine: &Machine, arguments: &Arguments) -> Result<Exit> {
    let mut wishes = arguments.target.wishes()?;
    if !arguments.target.is_dry_run() {
        machine.settle()?;
    }
    let found = machine.find(&arguments.session)?;
    let material = Material::load(machine, &found)?;
    wishes.selection = arguments.selection.of(&material.parent.session, found.name.span)?;
    let has_cwd = wishes.cwd.is_some() || material.parent.session.meta.cwd.is_some();
    let transfer = output::with_patience("converting", || prepare(machine, &material, &wishes))
        .map_err(|error| refusal(error, wishes.to, has_cwd))?;
    // What was made is read back while it is written: the source need not be in memory beside it.
    drop(material);
    transfer.carry_out(machine, arguments.target.is_dry_run())?;
    Ok(Exit::Done)
}
