//! What `ibid doctor` says of plugins.

use std::fmt::Write as _;

use ibid_harness::core::plugin::State;
use serde::Serialize;

use super::look::{Standing, standings};
use crate::machine::Machine;

/// The plugins of which there is something on this machine.
#[derive(Serialize)]
#[serde(transparent)]
pub(crate) struct Health {
    plugins: Vec<Standing>,
}

impl Health {
    /// Looks at the machine. That this program does not know where it is concerns no plugin that is
    /// there.
    pub(crate) fn of(machine: &Machine) -> Health {
        let mut plugins = standings(machine).unwrap_or_default();
        plugins.retain(|plugin| !matches!(plugin.state, State::NotNeeded | State::Absent));
        Health { plugins }
    }

    /// Whether there is nothing to do. What the user switched off is as the user wants it.
    pub(crate) fn is_clean(&self) -> bool {
        self.plugins.iter().all(|plugin| matches!(plugin.state, State::Installed | State::Disabled))
    }

    /// For people; nothing where no plugin is.
    pub(crate) fn text(&self) -> String {
        let mut text = String::new();
        if self.plugins.is_empty() {
            return text;
        }
        text.push_str("\nPlugins that report sessions:\n");
        for plugin in &self.plugins {
            let more = match plugin.sound {
                true => String::new(),
                false => format!("; see `ibid plugin status {}`", plugin.profile),
            };
            let _ = writeln!(
                text,
                "  {}: {}, last hook seen: {}{more}",
                plugin.name,
                plugin.word(),
                plugin.last_hook_text()
            );
        }
        text
    }
}
