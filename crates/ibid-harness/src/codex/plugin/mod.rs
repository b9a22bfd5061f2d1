//! The plugin for Codex's desktop app, whose hooks the command line runs too: a marketplace in
//! Ibid's data directory, which Codex's own plugin manager copies from.

mod config;
mod gateway;
mod identity;
mod manager;
mod templates;

use std::path::PathBuf;

use super::Codex;
use crate::core::plugin::{Approval, HookCommand, HookManifest, TreeFile, UnfilledSlot};
use crate::core::{Store as _, Surroundings};

pub use identity::Identity;
pub use manager::Manager;
pub use templates::tree;

/// The plugin's name.
const NAME: &str = "ibid";

/// The marketplace's.
const MARKETPLACE: &str = "ibid";

/// The plugin as Codex names it.
const SPEC: &str = "ibid@ibid";

/// How many hooks it has.
const HOOKS: usize = super::hooks::LIFECYCLE_EVENTS.len();

/// The plugin of the profile `codex-app`.
pub static PLUGIN: HookManifest = HookManifest {
    spec: SPEC,
    tree: own_tree,
    config: |machine| codex_home(machine).join("config.toml"),
    differences: config::differences,
    gateway: Some(&gateway::GRAMMAR),
    registrar: &Manager,
    approvals: &[
        Approval {
            what: "switch on the plugin Ibid in the app's list of installed plugins",
            when: "once, when it is off there",
        },
        Approval {
            what: "run /hooks in Codex and trust the five hooks of the plugin ibid; the app and the command share that trust",
            when: "after each installation that changed the plugin: until then Codex runs none of them, and says nothing",
        },
    ],
};

fn own_tree(command: &HookCommand) -> Result<Vec<TreeFile>, UnfilledSlot> {
    let identity = Identity::new(NAME, env!("CARGO_PKG_VERSION"))
        .display_name("Ibid")
        .description("Reports session, prompt, stop and subagent boundaries to Ibid on this machine.")
        .short_description("Session boundaries for Ibid")
        .long_description(
            "Tells Ibid on this machine when a session, a prompt or a subagent begins and ends. \
             Identities only: no prompt, no answer and no tool input leaves the hook.",
        )
        .developer_name("Ibid");
    tree(&identity, MARKETPLACE, "Ibid", command)
}

/// Codex's own directory on a machine.
fn codex_home(machine: &Surroundings) -> PathBuf {
    Codex::roots(machine).into_iter().next().map_or_else(|| machine.home().join(".codex"), |root| root.path)
}
