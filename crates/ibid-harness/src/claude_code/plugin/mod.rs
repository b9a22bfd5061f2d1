//! The plugin for Claude Code: hooks in its settings. It runs them without asking (2.1.332, measured
//! with `-p`).

mod grammar;
mod outline;

use super::place;
use crate::core::plugin::SettingsHooks;

/// The plugin of the profile `claude`.
pub static PLUGIN: SettingsHooks = SettingsHooks {
    file: |machine| place::config_dir(machine).join("settings.json"),
    grammar: &grammar::GRAMMAR,
    approvals: &[],
};
