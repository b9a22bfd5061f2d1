//! Ibid's plugin for OpenCode: one file.

use std::path::PathBuf;

use crate::core::Surroundings;
use crate::core::plugin::{BundledExtension, BundledFile};

/// The text of the plugin, with one slot for the words of the hook command.
const TEMPLATE: &str = include_str!("plugin/ibid.js");

/// What is installed.
pub(super) static PLUGIN: BundledExtension = BundledExtension {
    folder,
    files: &[BundledFile { name: "ibid.js", template: TEMPLATE }],
    superseded: &[],
    approvals: &[],
};

/// OpenCode 1.18.33 loads `plugin` and `plugins` alike, from the user's configuration, from
/// `OPENCODE_CONFIG_DIR` beside it, and from projects (measured). The user's own is the one that
/// always counts.
fn folder(machine: &Surroundings) -> PathBuf {
    let config = machine.directory("XDG_CONFIG_HOME").unwrap_or_else(|| machine.home().join(".config"));
    config.join("opencode").join("plugin")
}
