//! `ibid plugin install`.

use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use ibid_capture::handoff::Handoff;
use ibid_carrier::plan::Plan;
use ibid_harness::CaptureProfile;
use ibid_harness::core::plugin::{
    Approval, Gateway, GatewayAuth, Goal, Installation, Plugin, PluginOutcome, Registered, Registrar,
    RegistrarRun, Request, SourceOutcome,
};
use ibid_model::Timestamp;
use serde::Serialize;

use super::ask::{Consent, confirm};
use super::known::{doubt, hook_command, named};
use super::{approvals_text, commands_text, plan_text};
use crate::exit::{Exit, Failure};
use crate::machine::Machine;
use crate::output;

/// How long one command of an agent's own program may take.
pub(super) const PROGRAM_LIMIT: Duration = Duration::from_secs(60);

/// How long a gateway is waited for.
const GATEWAY_PATIENCE: Duration = Duration::from_secs(2);

/// How an agent proves who it is through a gateway.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
pub(crate) enum Auth {
    /// With the login of a subscription
    #[value(name = "chatgpt", alias = "subscription")]
    Subscription,
    /// With an API key of the environment
    ApiKey,
}

/// What is asked for.
pub(crate) struct InstallWish<'a> {
    pub(crate) gateway: Option<&'a str>,
    pub(crate) auth: Auth,
    pub(crate) not_listening: bool,
    pub(crate) port: Option<u16>,
    pub(crate) consent: Consent,
    pub(crate) program: Option<&'a Path>,
}

/// For `--json`.
#[derive(Serialize)]
struct Answer<'a> {
    profile: &'a str,
    /// Whether the profile needs a plugin at all.
    needed: bool,
    /// Why it does not.
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<&'a str>,
    plan: Option<&'a Plan>,
    /// What the agent's own program is asked: install, refresh or verify.
    goal: Option<Goal>,
    installed: bool,
    registered: Option<Registered>,
    /// What to type when the agent's own program could not be asked.
    manual: Vec<String>,
    approvals: &'a [Approval],
    notes: &'a [String],
    backups: Vec<String>,
}

/// # Errors
/// When the profile is not known, or something was refused or failed; nothing is written then.
pub(crate) fn install(machine: &Machine, name: &str, wish: &InstallWish<'_>) -> Result<Exit> {
    let (_, profile) = named(name)?;
    if let Plugin::None(why) = profile.plugin {
        return needs_none(machine, profile, why);
    }
    if !wish.consent.dry_run {
        machine.settle()?;
    }
    let command = hook_command(machine, profile)?;
    let gateway = gateway(profile, wish)?;
    let handoff = handoff(machine, profile, gateway.as_ref(), wish.port)?;
    let installation = Installation::plan(&Request {
        profile: profile.id,
        plugin: &profile.plugin,
        machine: &machine.surroundings,
        command: &command,
        gateway: gateway.as_ref(),
        handoff: Some(handoff.to_json().as_bytes()),
        at: now(),
        replace: wish.consent.replace,
        follow_links: wish.consent.follow_links,
    })?
    .context("there is nothing to install")?;
    let engine = machine.engine();
    engine.check(&installation.plan, &installation.policy)?;
    let registration = installation.delivery.registration.as_ref();
    let disabled = registration.is_some_and(|(_, registrar)| registrar.is_disabled(&machine.surroundings));
    let commands = match registration {
        Some((tree, registrar)) if !disabled => registrar.commands(tree),
        _ => Vec::new(),
    };
    let mut notes: Vec<String> = doubt(&command).into_iter().collect();
    if disabled {
        notes.push(format!("you switched the plugin off in {}: it stays off", profile.name));
    }
    if !machine.json {
        output::print(&plan_of(profile, &installation.plan, &commands))?;
        notes.iter().for_each(|note| output::note(&format!("Note: {note}")));
    }
    let approvals = installation.delivery.approvals;
    let mut answer = Answer {
        profile: profile.id,
        needed: true,
        why: None,
        plan: Some(&installation.plan),
        goal: registration.map(|_| installation.goal),
        installed: false,
        registered: None,
        manual: Vec::new(),
        approvals,
        notes: &notes,
        backups: Vec::new(),
    };
    if wish.consent.dry_run {
        if machine.json {
            output::print_json(&answer)?;
        } else {
            output::note("Nothing was written: this was a dry run.");
        }
        return Ok(Exit::Done);
    }
    confirm(machine, wish.consent, &format!("Install the plugin for {}?", profile.name))?;
    let committed = engine.commit(&installation.plan, &installation.policy)?;
    answer.installed = true;
    answer.backups = committed.backups.iter().map(|path| path.display().to_string()).collect();
    if let Some((tree, registrar)) = registration {
        let run = registrar_run(machine, *registrar, tree, wish.program);
        let registered = output::with_patience("asking the agent's own program", || {
            registrar.register(&run, installation.goal)
        });
        if registered.confirmed_delivery() {
            let (plan, policy) = installation.confirmation()?;
            // The plugin is installed. Without this the next installation asks again, which does no harm.
            if let Err(error) = engine.commit(&plan, &policy) {
                output::note(&format!("Note: that it was taken could not be written down: {error}"));
            }
        }
        if registered.needs_manual_retry() {
            answer.manual = registrar.commands(tree);
        }
        answer.registered = Some(registered);
    }
    if machine.json {
        output::print_json(&answer)?;
    } else {
        output::print(&done(profile, &answer))?;
    }
    Ok(Exit::Done)
}

/// The time to the second: what is written of it always has the same length, and so has the plan.
fn now() -> Timestamp {
    let now = jiff::Timestamp::now();
    Timestamp::from(now.round(jiff::Unit::Second).unwrap_or(now))
}

fn needs_none(machine: &Machine, profile: &CaptureProfile, why: &str) -> Result<Exit> {
    if machine.json {
        output::print_json(&Answer {
            profile: profile.id,
            needed: false,
            why: Some(why),
            plan: None,
            goal: None,
            installed: false,
            registered: None,
            manual: Vec::new(),
            approvals: &[],
            notes: &[],
            backups: Vec::new(),
        })?;
    } else {
        output::print(&format!("{} needs no plugin: {why}. Nothing was written.\n", profile.name))?;
    }
    Ok(Exit::Done)
}

/// The agent's own program, ready to be run.
pub(super) fn registrar_run<'a>(
    machine: &'a Machine,
    registrar: &dyn Registrar,
    tree: &'a Path,
    program: Option<&Path>,
) -> RegistrarRun<'a> {
    RegistrarRun {
        program: program.map_or_else(|| registrar.program().into(), Path::to_owned),
        machine: &machine.surroundings,
        isolated: machine.isolated,
        tree,
        limit: PROGRAM_LIMIT,
    }
}

/// The gateway that was asked for, which must be there.
fn gateway(profile: &CaptureProfile, wish: &InstallWish<'_>) -> Result<Option<Gateway>> {
    let Some(url) = wish.gateway else { return Ok(None) };
    let takes = matches!(profile.plugin, Plugin::HookManifest(manifest) if manifest.gateway.is_some());
    if !takes {
        bail!("{} takes no gateway from its configuration; leave --gateway out", profile.name);
    }
    let address = gateway_address(url)?;
    if !wish.not_listening && TcpStream::connect_timeout(&address, GATEWAY_PATIENCE).is_err() {
        return Err(Failure::refused(format!(
            "nothing listens on {address}: {} would have no way to its provider; start the gateway first, or give --not-listening",
            profile.name
        ))
        .into());
    }
    let auth = match wish.auth {
        Auth::Subscription => GatewayAuth::Subscription,
        Auth::ApiKey => GatewayAuth::ApiKey,
    };
    Ok(Some(Gateway { url: format!("http://{address}"), auth }))
}

/// The address of an origin on this machine.
fn gateway_address(url: &str) -> Result<SocketAddr> {
    let wrong = || {
        format!(
            "`{}` is not an address of this machine with a port, such as http://127.0.0.1:4141",
            output::clean_line(url)
        )
    };
    let rest = url.trim().strip_prefix("http://").with_context(wrong)?;
    let rest = rest.trim_end_matches('/').replacen("localhost:", "127.0.0.1:", 1);
    let address: SocketAddr = rest.parse().ok().with_context(wrong)?;
    if !address.ip().is_loopback() || address.port() == 0 {
        bail!(wrong());
    }
    Ok(address)
}

/// A handoff with a secret of its own: to the gateway, to the port that was asked for, to the one
/// that was handed over before, or to one that is free now.
fn handoff(
    machine: &Machine,
    profile: &CaptureProfile,
    gateway: Option<&Gateway>,
    port: Option<u16>,
) -> Result<Handoff> {
    let here = |port: u16| SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    let before = || {
        let path = Handoff::path(machine.surroundings.data_dir(), profile.id);
        Handoff::read(&path, profile.id).ok().flatten().map(|handoff| handoff.address())
    };
    let address = match (gateway, port) {
        (_, Some(port)) => here(port),
        (Some(gateway), None) => gateway_address(&gateway.url)?,
        (None, None) => match before() {
            Some(address) => address,
            None => TcpListener::bind(here(0))
                .and_then(|listener| listener.local_addr())
                .context("no port of this machine is free; --port names one")?,
        },
    };
    Handoff::new(profile.id, address).context("the port cannot be used; --port names another")
}

fn plan_of(profile: &CaptureProfile, plan: &Plan, commands: &[String]) -> String {
    let mut text = format!("The plugin for {}\n\nPlan\n{}", profile.name, plan_text(plan));
    if !commands.is_empty() {
        text.push_str(&format!("Then\n{}", commands_text(commands)));
    }
    text
}

fn done(profile: &CaptureProfile, answer: &Answer<'_>) -> String {
    let mut text = format!("\nInstalled: the plugin for {}\n", profile.name);
    for backup in &answer.backups {
        text.push_str(&format!("What was there before is kept: {}\n", output::clean_line(backup)));
    }
    if let Some(registered) = &answer.registered {
        text.push_str(&format!("{}\n", registered_text(profile, registered)));
    }
    if !answer.manual.is_empty() {
        text.push_str(&format!("Run this by hand:\n{}", commands_text(&answer.manual)));
    }
    if answer.approvals.is_empty() {
        text.push_str("Nothing has to be approved: it works when the agent starts the next time.\n");
    } else {
        text.push_str(&format!("Yours to do, Ibid never does it:\n{}", approvals_text(answer.approvals)));
    }
    text.push_str(&format!("See whether it works: ibid plugin verify {}\n", profile.id));
    text.push_str(&format!("Take it back: ibid plugin uninstall {}\n", profile.id));
    text
}

fn registered_text(profile: &CaptureProfile, registered: &Registered) -> String {
    let name = profile.name;
    let said = |said: &str| output::clean_line(said);
    match registered {
        Registered::SkippedDisabled => format!("{name} was not asked: you switched the plugin off there."),
        Registered::CliAbsent => {
            format!("{name}'s own program was not found, so {name} does not know the plugin yet.")
        }
        Registered::Asked { source: SourceOutcome::Failed(text), .. } => {
            format!("{name} did not take the plugin's marketplace: {}", said(text))
        }
        Registered::Asked { source, plugin } => {
            let before = match source {
                SourceOutcome::Replaced => "in place of another marketplace of the same name, ",
                _ => "",
            };
            match plugin {
                PluginOutcome::Installed => format!("{before}{name} has taken the plugin."),
                PluginOutcome::Refreshed => format!("{before}{name} has taken the new copy of the plugin."),
                PluginOutcome::AlreadyInstalled => format!("{before}{name} has this copy of the plugin."),
                PluginOutcome::Failed(text) => {
                    format!("{before}{name} did not take the plugin: {}", said(text))
                }
                PluginOutcome::RemovedNotReinstalled(text) => format!(
                    "{before}{name} REMOVED its old copy of the plugin and did not take the new one: {}",
                    said(text)
                ),
                PluginOutcome::Skipped => format!("{before}{name} was not asked to take the plugin."),
            }
        }
        _ => format!("{name} was asked."),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gateway_is_an_origin_of_this_machine() {
        assert_eq!(gateway_address("http://127.0.0.1:4141/").unwrap().to_string(), "127.0.0.1:4141");
        assert_eq!(gateway_address("http://localhost:80").unwrap().to_string(), "127.0.0.1:80");
        assert_eq!(gateway_address("http://[::1]:9").unwrap().to_string(), "[::1]:9");
        for wrong in [
            "127.0.0.1:4141",
            "https://127.0.0.1:1",
            "http://127.0.0.1",
            "http://127.0.0.1:0",
            "http://10.0.0.1:80",
            "http://127.0.0.1:80/path",
            "http://127.0.0.1.attacker.invalid:80",
            "http://127.0.0.1:80@attacker.invalid:80",
        ] {
            assert!(gateway_address(wrong).is_err(), "{wrong}");
        }
    }
}
