//! `ibid plugin`: what an agent needs so that it announces its boundaries.

use std::path::PathBuf;

use anyhow::Result;

use crate::exit::Exit;
use crate::machine::Machine;
use crate::plugin::{self, Auth, Consent, InstallWish, UninstallWish};

/// Install what an agent needs so that it reports its sessions, look at it, and take it back
///
/// Which programs there are: `ibid plugin status` lists them. What is written where, what has to be
/// approved in the agent, and how to undo it by hand: docs/plugins.md.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Subcommand,
}

#[derive(Debug, clap::Subcommand)]
enum Subcommand {
    Install(Install),
    Status(Status),
    Verify(Verify),
    Uninstall(Uninstall),
}

/// Install it, or bring it up to date
///
/// Prints the plan first. Nothing is approved for you: what you have to approve in the agent is
/// said at the end. When the agent's own program is missing or refuses, the files are installed and
/// the commands to run by hand are printed.
#[derive(Debug, clap::Args)]
struct Install {
    /// The program: claude, codex-app, opencode, pi
    profile: String,

    /// Send the agent's requests through what listens here, such as http://127.0.0.1:4141 (only for
    /// a program that its configuration redirects)
    #[arg(long, value_name = "URL")]
    gateway: Option<String>,

    /// How the agent then proves who it is to its provider
    #[arg(long, visible_alias = "codex-auth", value_enum, default_value = "chatgpt", requires = "gateway")]
    auth: Auth,

    /// Point the agent at the gateway even though nothing listens there now
    #[arg(long, requires = "gateway")]
    not_listening: bool,

    /// The port of this machine on which hooks look for a process that listens; one that is free
    /// unless told
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..))]
    port: Option<u16>,

    #[command(flatten)]
    consent: Consenting,

    #[command(flatten)]
    program: Program,
}

/// Say how it stands, and what shows it
#[derive(Debug, clap::Args)]
struct Status {
    /// The program; all of them unless told
    profile: Option<String>,
}

/// Ends with 0 only when everything is as installed and a hook has been seen
///
/// Else with 1 and what differs. Trust that only the agent knows of is reported as unknown.
#[derive(Debug, clap::Args)]
struct Verify {
    /// The program
    profile: String,
}

/// Take it back: the agent's configuration becomes what it was
///
/// What the agent or you wrote meanwhile stays and is listed. What is removed goes to the trash.
#[derive(Debug, clap::Args)]
struct Uninstall {
    /// The program
    profile: String,

    /// Remove the files even though the agent's own program cannot be asked to forget the plugin
    #[arg(long)]
    without_program: bool,

    #[command(flatten)]
    consent: Consenting,

    #[command(flatten)]
    program: Program,
}

#[derive(Debug, clap::Args)]
struct Consenting {
    /// Print the plan, and change nothing
    #[arg(long)]
    dry_run: bool,

    /// Do not ask
    #[arg(short, long)]
    yes: bool,

    /// Replace (or remove) files that are not as Ibid left them; they are kept as a backup or in the
    /// trash
    #[arg(long)]
    replace: bool,

    /// Write through links that end below your home
    #[arg(long)]
    follow_link: bool,
}

impl Consenting {
    fn consent(&self) -> Consent {
        Consent {
            dry_run: self.dry_run,
            yes: self.yes,
            replace: self.replace,
            follow_links: self.follow_link,
        }
    }
}

#[derive(Debug, clap::Args)]
struct Program {
    /// The agent's own program, when it is not on PATH
    #[arg(long, value_name = "PROGRAM")]
    program: Option<PathBuf>,
}

/// # Errors
/// When the program is not known, or something was refused or failed.
pub(crate) fn run(machine: &Machine, arguments: &Arguments) -> Result<Exit> {
    match &arguments.command {
        Subcommand::Install(install) => plugin::install(
            machine,
            &install.profile,
            &InstallWish {
                gateway: install.gateway.as_deref(),
                auth: install.auth,
                not_listening: install.not_listening,
                port: install.port,
                consent: install.consent.consent(),
                program: install.program.program.as_deref(),
            },
        ),
        Subcommand::Status(status) => plugin::status(machine, status.profile.as_deref()),
        Subcommand::Verify(verify) => plugin::verify(machine, &verify.profile),
        Subcommand::Uninstall(uninstall) => plugin::uninstall(
            machine,
            &uninstall.profile,
            &UninstallWish {
                without_program: uninstall.without_program,
                consent: uninstall.consent.consent(),
                program: uninstall.program.program.as_deref(),
            },
        ),
    }
}
