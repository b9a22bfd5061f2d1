//! `ibid capture`: listening to hooks.

use std::collections::BTreeMap;
use std::io;
use std::net::{SocketAddr, TcpListener};

use anyhow::{Context as _, Result, bail};
use ibid_capture::handoff::{Handoff, HandoffError};
use ibid_capture::receiver::{Receiver, Sight};

use crate::exit::{Exit, Failure};
use crate::machine::Machine;
use crate::output;
use crate::table::counted;

/// Listen to what the hooks of installed plugins report, and show each session once
///
/// Listens on the loopback address that the installers wrote down, for all programs at once, until
/// Ctrl-C; then says how much came. Hooks keep what they see in the journal whether this runs or not.
/// Only reports are received: the traffic of models is not captured by this version.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Listen on this address alone, one that a plugin was installed for
    #[arg(long, value_name = "ADDR")]
    listen: Option<SocketAddr>,
}

/// # Errors
/// When no plugin is installed, none reports to the address that was asked for, or the address is taken.
pub(crate) fn run(machine: &Machine, arguments: &Arguments) -> Result<Exit> {
    let handoffs = chosen(installed(machine)?, arguments.listen)?;
    let mut programs: BTreeMap<SocketAddr, Vec<&str>> = BTreeMap::new();
    for handoff in &handoffs {
        programs.entry(handoff.address()).or_default().push(handoff.profile());
    }
    let mut listeners = Vec::new();
    for (address, programs) in &programs {
        listeners.push(listen(*address, programs)?);
    }
    for (address, programs) in &programs {
        output::note(&format!("Listening on {address} for {}; Ctrl-C ends.", programs.join(", ")));
    }
    let json = machine.json;
    let receiver = Receiver::new(handoffs, move |sight| show(sight, json));
    let summary = receiver.run_until_interrupted(listeners)?;
    if json {
        output::print_json(&summary)?;
    } else {
        output::print(&format!(
            "{} of {}, {} refused\n",
            counted(summary.reports, "report"),
            counted(summary.sessions, "session"),
            summary.refusals
        ))?;
    }
    Ok(Exit::Done)
}

/// The handoffs of all programs whose plugin is installed. One that cannot be believed is said, and the
/// others are listened to.
fn installed(machine: &Machine) -> Result<Vec<Handoff>> {
    let data = machine.surroundings.data_dir();
    let ids = || ibid_harness::profiles().filter(|(_, p)| p.lifecycle.is_some()).map(|(_, p)| p.id);
    let (mut handoffs, mut refused): (Vec<Handoff>, Vec<HandoffError>) = (Vec::new(), Vec::new());
    for id in ids() {
        match Handoff::read(&Handoff::path(data, id), id) {
            Ok(handoff) => handoffs.extend(handoff),
            Err(error) => refused.push(error),
        }
    }
    match refused.into_iter().next() {
        Some(error) if handoffs.is_empty() => return Err(error.into()),
        Some(error) => output::note(&format!("Not listening to {}: {error}.", error.profile)),
        None => {}
    }
    if handoffs.is_empty() {
        return Err(Failure::nothing_found(
            "no plugin is installed, so no hook reports to this; `ibid plugin install` installs one",
        )
        .into());
    }
    Ok(handoffs)
}

/// Those that report to the address that was asked for.
fn chosen(handoffs: Vec<Handoff>, listen: Option<SocketAddr>) -> Result<Vec<Handoff>> {
    let Some(asked) = listen else { return Ok(handoffs) };
    let elsewhere: Vec<String> =
        handoffs.iter().map(|handoff| format!("{} to {}", handoff.profile(), handoff.address())).collect();
    let chosen: Vec<Handoff> = handoffs.into_iter().filter(|handoff| handoff.address() == asked).collect();
    if chosen.is_empty() {
        bail!("no hook reports to {asked}: {}; leave --listen out", elsewhere.join(", "));
    }
    Ok(chosen)
}

fn listen(address: SocketAddr, programs: &[&str]) -> Result<TcpListener> {
    TcpListener::bind(address).map_err(|error| match error.kind() {
        io::ErrorKind::AddrInUse => anyhow::anyhow!(
            "another program listens on {address}, to which the hooks of {} report; end it (another `ibid \
             capture`?), or run `ibid plugin install` again for another port",
            programs.join(", ")
        ),
        _ => error.into(),
    }).with_context(|| format!("could not listen on {address}"))
}

fn show(sight: Sight<'_>, json: bool) {
    let cwd = sight.cwd.map(output::clean_line).unwrap_or_default();
    let line = format!("{}  {}  {cwd}", sight.program, output::clean_line(sight.session));
    if json {
        output::note(line.trim_end());
    } else {
        // Whoever reads the lines may go away; the reports are taken all the same.
        let _ = output::print(&format!("{}\n", line.trim_end()));
    }
}
