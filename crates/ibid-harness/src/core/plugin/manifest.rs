//! A plugin that the program's own manager installs from a folder.

use std::path::PathBuf;

use super::{Approval, Grammar, HookCommand, PatchError, Registrar, UnfilledSlot};
use crate::core::Surroundings;

/// A plugin as files in Ibid's own data directory, which the program's plugin manager copies.
#[derive(Debug)]
pub struct HookManifest {
    /// Name and marketplace, as the manager takes them (`ibid@ibid`).
    pub spec: &'static str,
    /// The files, relative to the folder that the manager is given. Their bytes decide the version
    /// they state, so that the program's copy of other bytes is an old one.
    pub tree: fn(&HookCommand) -> Result<Vec<TreeFile>, UnfilledSlot>,
    /// The program's configuration on a machine, whether or not it is there: its manager writes to
    /// it, and a gateway is patched into it.
    pub config: fn(&Surroundings) -> PathBuf,
    /// What two configurations say differently, as [`Grammar::differences`].
    pub differences: fn(&str, &str) -> Result<Vec<String>, PatchError>,
    /// How a gateway is patched into the configuration and taken out; none when it cannot be.
    pub gateway: Option<&'static Grammar>,
    /// The manager.
    pub registrar: &'static dyn Registrar,
    /// What the user has to approve.
    pub approvals: &'static [Approval],
}

/// One file of the tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TreeFile {
    /// Its place below the root of the tree, with `/`.
    pub place: String,
    /// What it holds.
    pub content: String,
}
