//! `ibid plugin status` and `ibid plugin verify`.

use std::fmt::Write as _;

use anyhow::Result;
use ibid_capture::journal::Journal;
use ibid_harness::core::plugin::{Approval, Evidence, Plugin, State, Status, Weight};
use ibid_harness::{CaptureProfile, profiles};
use ibid_model::Timestamp;
use serde::Serialize;

use super::approvals_text;
use super::known::{hook_command, named};
use crate::exit::Exit;
use crate::machine::Machine;
use crate::output;
use crate::table::{Table, when};

/// How the plugin of one profile stands.
#[derive(Serialize)]
pub(crate) struct Standing {
    pub(crate) profile: &'static str,
    pub(crate) name: &'static str,
    pub(crate) state: State,
    /// Whether everything is as this Ibid would install it, and nothing waits for the user.
    pub(crate) sound: bool,
    /// Why no plugin is needed, when none is.
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<&'static str>,
    evidence: Vec<Evidence>,
    approvals: &'static [Approval],
    installed_at: Option<Timestamp>,
    /// The version of Ibid that installed it.
    installed_by: Option<String>,
    /// When a hook of this program was last seen, as the journal has it.
    last_hook: Option<Timestamp>,
}

#[derive(Serialize)]
struct List<'a> {
    plugins: &'a [Standing],
}

#[derive(Serialize)]
struct Verified<'a> {
    #[serde(flatten)]
    standing: &'a Standing,
    verified: bool,
}

/// How the plugins of all programs stand.
///
/// # Errors
/// When this program does not know where it is.
pub(crate) fn standings(machine: &Machine) -> Result<Vec<Standing>> {
    let seen = last_hooks(machine);
    profiles().map(|(_, profile)| standing(machine, profile, &seen)).collect()
}

/// The last hook of each program.
fn last_hooks(machine: &Machine) -> Vec<(String, Timestamp)> {
    let programs = Journal::new(machine.surroundings.data_dir()).state().programs;
    programs.into_iter().filter_map(|state| Some((state.program?, state.last?))).collect()
}

fn standing(
    machine: &Machine,
    profile: &'static CaptureProfile,
    seen: &[(String, Timestamp)],
) -> Result<Standing> {
    let command = hook_command(machine, profile)?;
    let status = Status::look(&profile.plugin, profile.id, &machine.surroundings, &command)?;
    Ok(Standing {
        profile: profile.id,
        name: profile.name,
        state: status.state,
        sound: status.is_sound(),
        why: match profile.plugin {
            Plugin::None(why) => Some(why),
            _ => None,
        },
        evidence: status.evidence,
        approvals: status.delivery.map_or(&[], |delivery| delivery.approvals),
        installed_at: status.receipt.as_ref().map(|receipt| receipt.installed_at),
        installed_by: status.receipt.map(|receipt| receipt.ibid),
        last_hook: seen.iter().find(|(program, _)| program == profile.id).map(|(_, last)| *last),
    })
}

impl Standing {
    /// The state for people.
    pub(crate) fn word(&self) -> &'static str {
        match self.state {
            State::NotNeeded => "needs none",
            State::Absent => "not installed",
            State::Installed => "installed",
            State::Partly => "partly installed",
            State::Drifted => "changed since",
            State::OldCopy => "an older one",
            State::Disabled => "switched off",
            _ => "unknown",
        }
    }

    pub(super) fn last_hook_text(&self) -> String {
        self.last_hook.map_or_else(|| "none yet".to_owned(), |at| when(Some(at)))
    }

    fn text(&self) -> String {
        let mut text = format!("{} ({}): {}\n", self.profile, self.name, self.word());
        if let Some(why) = self.why {
            let _ = writeln!(text, "  {why}");
            return text;
        }
        for evidence in &self.evidence {
            let mark = match evidence.weight {
                Weight::Fine => "ok     ",
                Weight::Missing => "missing",
                Weight::Changed => "changed",
                Weight::Old => "old    ",
                Weight::Off => "off    ",
                Weight::Unapproved => "yours  ",
                _ => "unknown",
            };
            let path = output::clean_line(&evidence.path.display().to_string());
            let _ = writeln!(text, "  {mark}  {path}\n           {}", output::clean_line(&evidence.said));
        }
        let _ = writeln!(text, "  last hook seen: {}", self.last_hook_text());
        if self.state != State::Absent && !self.approvals.is_empty() {
            let _ = write!(
                text,
                "  to approve in the agent, as far as you have not:\n{}",
                approvals_text(self.approvals)
            );
        }
        text
    }
}

/// # Errors
/// When the profile is not known.
pub(crate) fn status(machine: &Machine, name: Option<&str>) -> Result<Exit> {
    let all = match name {
        None => standings(machine)?,
        Some(name) => vec![standing(machine, named(name)?.1, &last_hooks(machine))?],
    };
    if machine.json {
        output::print_json(&List { plugins: &all })?;
    } else if let (Some(_), [one]) = (name, all.as_slice()) {
        output::print(&one.text())?;
    } else {
        let mut table = Table::new(&["program", "plugin", "last hook seen", ""]);
        for one in &all {
            let row = [one.profile, one.word(), &one.last_hook_text(), one.why.unwrap_or(one.name)];
            table.row(row.map(str::to_owned).to_vec());
        }
        output::print(&table.to_string())?;
    }
    Ok(Exit::Done)
}

/// # Errors
/// When the profile is not known.
pub(crate) fn verify(machine: &Machine, name: &str) -> Result<Exit> {
    let standing = standing(machine, named(name)?.1, &last_hooks(machine))?;
    let needed = standing.state != State::NotNeeded;
    let verified = standing.sound && (!needed || standing.last_hook.is_some());
    if machine.json {
        output::print_json(&Verified { standing: &standing, verified })?;
    } else {
        output::print(&standing.text())?;
        if needed && standing.sound && standing.last_hook.is_none() {
            output::note("No hook has been seen yet: run the agent once, then verify again.");
        }
        output::print(if verified {
            "Everything is as installed.\n"
        } else {
            "Not everything is as installed.\n"
        })?;
    }
    Ok(if verified { Exit::Done } else { Exit::NothingFound })
}
