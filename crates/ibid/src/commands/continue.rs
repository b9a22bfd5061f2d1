//! `ibid continue`: carry a session on, in its own agent or another.

use std::cmp::Reverse;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use ibid_carrier::plan::Plan;
use ibid_harness::{AnyHarness, Class, Discovered, Reference, RootOrigin, SessionName};
use ibid_model::{Finding, Losses, SessionId, Text};
use serde::Serialize;

use crate::exit::{Exit, Failure};
use crate::launch::{Launch, is_on_path, template};
use crate::machine::{Found, HarnessName, Machine, by_id, harness, ids_of};
use crate::output;
use crate::selection::SelectionArguments;
use crate::transfer::{IdWish, Material, Transfer, Wishes, exists_already, prepare};
use crate::workspace::{Workspace, working_directory};

/// Carry a session on, in its own agent or in another
///
/// Without a session: the latest one of the current directory. In its own harness a session is
/// resumed in place. For another, or when only a part of it goes on, it is converted first, with a
/// report of what is lost, or, if that was done before, the session made then is carried on. When
/// the session's directory is gone, it goes on in the current one: as a copy, where its agent finds
/// sessions by their directory.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// The session: `harness:id`, the beginning of an id, a title, or a file; `#5-12` behind it
    /// carries on with these messages only, in a session of their own
    session: Option<String>,

    /// The harness to carry it on in
    #[arg(long, value_name = "HARNESS", value_parser = HarnessName { offered: |to| to.resume.is_some() && to.capabilities.write })]
    to: Option<String>,

    /// Convert if needed, and print the command instead of running it
    #[arg(long)]
    no_launch: bool,

    /// Print the command, and what would be written and lost before it runs; change nothing
    #[arg(long)]
    dry_run: bool,

    /// Carry it on in this directory
    #[arg(long, value_name = "DIR")]
    cwd: Option<PathBuf>,

    #[command(flatten)]
    selection: SelectionArguments,

    /// More arguments for the agent's program
    #[arg(last = true, value_name = "ARGUMENTS")]
    extra: Vec<String>,
}

#[derive(Serialize)]
struct Answer<'a> {
    harness: &'a str,
    id: &'a str,
    path: String,
    command: Vec<&'a str>,
    cwd: Option<String>,
    converted: bool,
    plan: Option<&'a Plan>,
    losses: &'a Losses,
    findings: &'a [Finding],
}

/// The session that is carried on.
struct Target {
    id: SessionId,
    reference: Reference,
    transfer: Option<Box<Transfer>>,
}

/// # Errors
/// When the session cannot be found or converted, or the program cannot be started.
pub(crate) fn run(machine: &Machine, arguments: &Arguments) -> Result<Exit> {
    let launches = !arguments.no_launch && !arguments.dry_run;
    if machine.json && launches {
        bail!("--json prints and an agent takes the terminal; add --no-launch or --dry-run");
    }
    let wanted = arguments.to.as_deref().map(harness).transpose()?;
    if !arguments.dry_run {
        machine.settle()?;
    }
    let found = match &arguments.session {
        Some(name) => machine.find(name)?,
        None => latest(machine, wanted)?,
    };
    let to = wanted.unwrap_or(found.harness);
    let Some(command) = template(machine, to) else {
        let name = to.declaration().name;
        bail!("{name} has no program that carries a session on; give --to one of {}", able(machine));
    };
    // Looked up before anything is written: a conversion for a program that is not there is of no use.
    if let Some(program) = command.first().filter(|program| launches && !is_on_path(program)) {
        bail!(
            "{program} cannot be started: there is no such program on PATH, and nothing was written; install it, \
             set its command in config.toml, or print the command with --no-launch"
        );
    }
    let (cwd, moved) = directory(arguments, &found)?;
    let stays = arguments.selection.is_default() && stays(machine, &found, to, &cwd);
    if !stays && !to.declaration().capabilities.write {
        bail!(unwritten(machine, &found, to, &cwd));
    }
    if let Some(moved) = moved {
        output::note(&moved);
    }
    let target = if stays {
        Target { id: found.session.id.clone(), reference: found.session.reference.clone(), transfer: None }
    } else {
        brought_over(machine, &found, to, &cwd, arguments)?
    };
    let written = target.transfer.is_some() && !arguments.dry_run;
    // https://github.com/EtanHey/cmuxlayer/issues/482 (fault 48)
    if written || target.transfer.is_none() {
        let there = machine.describe(to, &target.reference)?;
        if there.id != target.id {
            bail!("{} holds the session {} instead of {}", target.reference, there.id, target.id);
        }
    }
    let launch = Launch::of(machine, to, &target.id, &target.reference, Some(cwd), &arguments.extra)?;
    if launches {
        return launch.start();
    }
    if machine.json {
        let nothing = (Losses::none(), Vec::new());
        let (losses, findings) = match &target.transfer {
            Some(transfer) => (&transfer.losses, &transfer.findings),
            None => (&nothing.0, &nothing.1),
        };
        output::print_json(&Answer {
            harness: to.declaration().id.as_str(),
            id: target.id.as_str(),
            path: target.reference.path.display().to_string(),
            command: launch.words(),
            cwd: launch.cwd.as_ref().map(|cwd| cwd.display().to_string()),
            converted: written,
            plan: target.transfer.as_ref().map(|transfer| &transfer.plan),
            losses,
            findings,
        })?;
    } else {
        output::print(&format!("{}\n", output::clean(&launch.command_line()?)))?;
    }
    if arguments.dry_run {
        output::note("Nothing was written: this was a dry run.");
    }
    Ok(Exit::Done)
}

/// The latest session of the current directory.
///
/// # Errors
/// When there is none, or several are equally late: none is chosen for the person.
fn latest(machine: &Machine, wanted: Option<&'static dyn AnyHarness>) -> Result<Found> {
    let here = std::env::current_dir().context("the current directory is gone")?;
    let workspace = Workspace::new(&here);
    let discoveries = machine.discover(ibid_harness::all());
    let mut sessions: Vec<&Discovered> = discoveries
        .iter()
        .flat_map(|discovery| &discovery.sessions)
        .filter(|session| matches!(session.class, Class::Session | Class::Partial))
        .filter(|session| workspace.is_of(session))
        .collect();
    sessions.sort_by_key(|session| Reverse(session.meta.updated));
    let Some(first) = sessions.first().copied() else {
        let message = format!("no session belongs to {}; `ibid list` shows those there are", here.display());
        return Err(Failure::nothing_found(message).into());
    };
    let mut equal: Vec<&Discovered> =
        sessions.into_iter().filter(|session| session.meta.updated == first.meta.updated).collect();
    let preferred = |session: &&Discovered| {
        wanted.is_some_and(|wanted| wanted.declaration().id == session.reference.harness)
    };
    if equal.len() > 1 && equal.iter().filter(|session| preferred(session)).count() == 1 {
        equal.retain(preferred);
    }
    let [session] = equal.as_slice() else {
        bail!(output::candidates("the latest session here", &equal));
    };
    output::note(&format!(
        "The latest session here: {}:{} {}",
        session.reference.harness,
        output::clean_line(session.id.as_str()),
        output::label(session)
    ));
    let name = SessionName::parse(session.id.as_str())?;
    let name = SessionName { span: None, ..name };
    Ok(Found { harness: by_id(session)?, session: (*session).clone(), name })
}

/// The harnesses that any session can be carried on in.
fn able(machine: &Machine) -> String {
    ids_of(|harness| harness.declaration().capabilities.write && template(machine, harness).is_some())
}

/// Why a session cannot go on in a harness that Ibid only reads, and what can be done.
fn unwritten(machine: &Machine, found: &Found, to: &dyn AnyHarness, cwd: &Path) -> String {
    let (declaration, session) = (to.declaration(), &found.session);
    let why = match &session.meta.cwd {
        _ if declaration.id != session.reference.harness => String::new(),
        Some(own) if !Workspace::new(cwd).is_of(session) => {
            let own = output::clean_line(own);
            format!(", and {} goes on with this one in {own} alone", declaration.name)
        }
        _ => format!(", and {} goes on with this one only as it is, where it lies", declaration.name),
    };
    format!(
        "Ibid reads sessions of {} and does not write them{why}; nothing was written; give --to one of {}",
        declaration.name,
        able(machine)
    )
}

/// Where it goes on, and what a person is told when that is another directory than it was.
fn directory(arguments: &Arguments, found: &Found) -> Result<(PathBuf, Option<String>)> {
    if let Some(cwd) = &arguments.cwd {
        let cwd = working_directory(cwd)?;
        if !cwd.is_dir() {
            bail!("{} is no directory", cwd.display());
        }
        return Ok((cwd, None));
    }
    let recorded = found.session.meta.cwd.as_ref();
    if let Some(cwd) = recorded.map(|cwd| Path::new(cwd.as_str()))
        && cwd.is_dir()
    {
        return Ok((cwd.to_owned(), None));
    }
    let here = std::env::current_dir().context("the current directory is gone")?;
    let was = match recorded {
        Some(cwd) => format!("Its directory {} is gone", output::clean_line(cwd)),
        None => "Its directory is not known".to_owned(),
    };
    let moved = format!("{was}; it goes on in {}.", here.display());
    Ok((here, Some(moved)))
}

/// Whether the program finds the session as it is.
fn stays(machine: &Machine, found: &Found, to: &dyn AnyHarness, cwd: &Path) -> bool {
    let declaration = to.declaration();
    let session = &found.session;
    let moved = declaration.resume.is_some_and(|recipe| recipe.in_cwd) && !Workspace::new(cwd).is_of(session);
    let named_root = to
        .roots(&machine.surroundings)
        .iter()
        .filter(|root| root.path == session.reference.root)
        .all(|root| root.origin == RootOrigin::Named);
    declaration.id == session.reference.harness
        && session.class != Class::Sidecar
        && found.name.span.is_none()
        && !moved
        && !named_root
}

/// Converts the session, or finds what an earlier conversion of it for this directory made. A dry
/// run writes nothing.
fn brought_over(
    machine: &Machine,
    found: &Found,
    to: &'static dyn AnyHarness,
    cwd: &Path,
    arguments: &Arguments,
) -> Result<Target> {
    let material = Material::load(machine, found)?;
    let mut wishes = Wishes::of(to);
    wishes.selection = arguments.selection.of(&material.parent.session, found.name.span)?;
    let recorded = Workspace::new(cwd).is_of(&found.session);
    wishes.cwd = (!recorded).then(|| Text::from(cwd.to_string_lossy().into_owned()));
    let transfer = match attempt(machine, &material, &wishes)? {
        Attempt::Ready(transfer) => transfer,
        Attempt::Made(there) if Workspace::new(cwd).is_of(&there) => {
            let declaration = to.declaration();
            output::note(&format!(
                "It was converted before; what {} has of it goes on: {}:{}",
                declaration.name,
                declaration.id,
                output::clean_line(there.id.as_str())
            ));
            return Ok(Target { id: there.id, reference: there.reference, transfer: None });
        }
        Attempt::Made(_) => {
            wishes.id = IdWish::New;
            let transfer = prepare(machine, &material, &wishes)?;
            transfer.check(machine)?;
            Box::new(transfer)
        }
    };
    output::note(&transfer.text());
    transfer.print_notes();
    let id = transfer.id();
    if !arguments.dry_run {
        transfer.commit(machine)?;
        output::note(&format!(
            "Written and read back: {}:{}",
            to.declaration().id,
            output::clean_line(id.as_str())
        ));
    }
    let reference = transfer.reference().cloned().context("the conversion made no session")?;
    Ok(Target { id, reference, transfer: Some(transfer) })
}

/// What a conversion under the derived id meets.
enum Attempt {
    /// It can be written.
    Ready(Box<Transfer>),
    /// It was made before.
    Made(Box<Discovered>),
}

fn attempt(machine: &Machine, material: &Material, wishes: &Wishes) -> Result<Attempt> {
    let to = wishes.to;
    match prepare(machine, material, wishes) {
        Ok(transfer) => match (transfer.check(machine), transfer.reference()) {
            (Ok(()), _) => Ok(Attempt::Ready(Box::new(transfer))),
            (Err(error), Some(reference)) if exists_already(&error).is_some() => {
                Ok(Attempt::Made(Box::new(machine.describe(to, reference)?)))
            }
            (Err(error), _) => Err(error),
        },
        Err(error) => match exists_already(&error) {
            Some(id) => {
                let found = machine.find(&format!("{}:{id}", to.declaration().id))?;
                Ok(Attempt::Made(Box::new(found.session)))
            }
            None => Err(error),
        },
    }
}
