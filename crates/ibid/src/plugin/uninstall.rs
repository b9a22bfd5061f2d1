//! `ibid plugin uninstall`.

use std::path::Path;

use anyhow::{Result, anyhow};
use ibid_carrier::plan::Plan;
use ibid_harness::CaptureProfile;
use ibid_harness::core::plugin::{
    Delivery, Left, Plugin, Registrar, Removal, RemovalRequest, Unregistered, Withdrawn,
};
use serde::Serialize;

use super::ask::{Consent, confirm};
use super::install::registrar_run;
use super::known::{hook_command, named};
use super::{commands_text, plan_text};
use crate::exit::Exit;
use crate::machine::Machine;
use crate::output;

/// What is asked for.
pub(crate) struct UninstallWish<'a> {
    pub(crate) without_program: bool,
    pub(crate) consent: Consent,
    pub(crate) program: Option<&'a Path>,
}

/// For `--json`.
#[derive(Serialize)]
struct Answer<'a> {
    profile: &'a str,
    needed: bool,
    /// What is taken back before the agent's own program is asked.
    before: Option<&'a Plan>,
    unregistered: Option<&'a Unregistered>,
    plan: &'a Plan,
    uninstalled: bool,
    /// What stays, and why.
    left: &'a [Left],
    /// What to type when the agent's own program could not be asked.
    manual: Vec<String>,
}

/// # Errors
/// When the profile is not known, or something was refused or failed.
pub(crate) fn uninstall(machine: &Machine, name: &str, wish: &UninstallWish<'_>) -> Result<Exit> {
    let (_, profile) = named(name)?;
    if let Plugin::None(why) = profile.plugin {
        if machine.json {
            let plan = Plan::default();
            output::print_json(&Answer {
                profile: profile.id,
                needed: false,
                before: None,
                unregistered: None,
                plan: &plan,
                uninstalled: false,
                left: &[],
                manual: Vec::new(),
            })?;
        } else {
            output::print(&format!("{} has no plugin: {why}. Nothing was changed.\n", profile.name))?;
        }
        return Ok(Exit::Done);
    }
    if !wish.consent.dry_run {
        machine.settle()?;
    }
    let command = hook_command(machine, profile)?;
    let request = RemovalRequest {
        profile: profile.id,
        plugin: &profile.plugin,
        machine: &machine.surroundings,
        command: &command,
        replace: wish.consent.replace,
        follow_links: wish.consent.follow_links,
    };
    let delivery = Delivery::of(&profile.plugin, profile.id, &machine.surroundings, &command, None, None)?;
    let registration = delivery.and_then(|delivery| delivery.registration);
    let first = Removal::redirection(&request)?;
    let rest = Removal::rest(&request)?.ok_or_else(|| anyhow!("there is nothing to remove"))?;
    let engine = machine.engine();
    for removal in first.iter().chain([&rest]) {
        engine.check(&removal.plan, &removal.policy)?;
    }
    if !machine.json {
        let commands =
            registration.as_ref().map(|(_, registrar)| registrar.undo_commands()).unwrap_or_default();
        output::print(&plan_of(profile, first.as_ref(), &commands, &rest))?;
    }
    if wish.consent.dry_run {
        if machine.json {
            output::print_json(&Answer {
                profile: profile.id,
                needed: true,
                before: first.as_ref().map(|first| &first.plan),
                unregistered: None,
                plan: &rest.plan,
                uninstalled: false,
                left: &rest.left,
                manual: Vec::new(),
            })?;
        } else {
            output::note("Nothing was changed: this was a dry run.");
        }
        return Ok(Exit::Done);
    }
    confirm(machine, wish.consent, &format!("Remove the plugin for {}?", profile.name))?;
    if let Some(first) = &first {
        engine.commit(&first.plan, &first.policy)?;
    }
    let unregistered = match &registration {
        Some((tree, registrar)) => Some(unregister(machine, profile, *registrar, tree, wish)?),
        None => None,
    };
    // The agent's own program has rewritten its configuration: what is left to do is seen anew.
    let rest = Removal::rest(&request)?.ok_or_else(|| anyhow!("there is nothing to remove"))?;
    engine.commit(&rest.plan, &rest.policy)?;
    rest.remove_empty_directories();
    let mut left: Vec<Left> = first.iter().flat_map(|first| first.left.clone()).collect();
    for one in &rest.left {
        if !left.contains(one) {
            left.push(one.clone());
        }
    }
    let manual = match (&registration, &unregistered) {
        (Some((_, registrar)), Some(unregistered)) if unregistered.needs_manual_retry() => {
            registrar.undo_commands()
        }
        _ => Vec::new(),
    };
    if machine.json {
        output::print_json(&Answer {
            profile: profile.id,
            needed: true,
            before: first.as_ref().map(|first| &first.plan),
            unregistered: unregistered.as_ref(),
            plan: &rest.plan,
            uninstalled: true,
            left: &left,
            manual,
        })?;
    } else {
        output::print(&done(profile, unregistered.as_ref(), &left, &manual))?;
    }
    Ok(Exit::Done)
}

/// Asks the agent's own program to forget the plugin. As long as it does not, the files that it
/// knows of stay: some releases of it fail in every command when they are gone.
fn unregister(
    machine: &Machine,
    profile: &CaptureProfile,
    registrar: &dyn Registrar,
    tree: &Path,
    wish: &UninstallWish<'_>,
) -> Result<Unregistered> {
    let run = registrar_run(machine, registrar, tree, wish.program);
    let unregistered = output::with_patience("asking the agent's own program", || registrar.unregister(&run));
    if unregistered.needs_manual_retry() && !wish.without_program {
        let why = match &unregistered {
            Unregistered::Asked { plugin: Withdrawn::Failed(said), .. }
            | Unregistered::Asked { source: Withdrawn::Failed(said), .. } => output::clean_line(said),
            _ => "its own program was not found; --program names it".to_owned(),
        };
        return Err(anyhow!(
            "{} still knows the plugin ({why}), so its files stay; run\n{}and uninstall again, or give --without-program",
            profile.name,
            commands_text(&registrar.undo_commands())
        ));
    }
    Ok(unregistered)
}

fn plan_of(profile: &CaptureProfile, first: Option<&Removal>, commands: &[String], rest: &Removal) -> String {
    let mut text = format!("The plugin for {}\n\n", profile.name);
    if let Some(first) = first {
        text.push_str(&format!("First\n{}", plan_text(&first.plan)));
    }
    if !commands.is_empty() {
        text.push_str(&format!("As far as it is registered\n{}", commands_text(commands)));
    }
    text.push_str(&format!("Plan\n{}", plan_text(&rest.plan)));
    text
}

fn done(
    profile: &CaptureProfile,
    unregistered: Option<&Unregistered>,
    left: &[Left],
    manual: &[String],
) -> String {
    let mut text = format!("\nRemoved: the plugin for {}\n", profile.name);
    match unregistered {
        Some(Unregistered::Foreign) => text.push_str(&format!(
            "{} knows a plugin of the same name that is not Ibid's: it stays.\n",
            profile.name
        )),
        Some(Unregistered::Asked { .. }) if manual.is_empty() => {
            text.push_str(&format!("{} has forgotten it.\n", profile.name));
        }
        _ => {}
    }
    if !left.is_empty() {
        text.push_str("What stays:\n");
        for left in left {
            let path = output::clean_line(&left.path.display().to_string());
            text.push_str(&format!("  {path}\n      {}\n", output::clean_line(&left.why)));
        }
    }
    if !manual.is_empty() {
        text.push_str(&format!("Run this by hand:\n{}", commands_text(manual)));
    }
    text
}
