//! Files that a program loads by itself.

use std::path::PathBuf;

use super::Approval;
use crate::core::Surroundings;

/// A plugin that is nothing but files in a folder which the program loads whole. Two copies of one
/// plugin would run twice there, so each file has one name, and the names it had earlier go first.
#[derive(Debug)]
pub struct BundledExtension {
    /// The folder of extensions on a machine.
    pub folder: fn(&Surroundings) -> PathBuf,
    /// The files, in the order in which they are put there.
    pub files: &'static [BundledFile],
    /// Names of files in that folder that earlier releases of Ibid gave to the same plugin.
    pub superseded: &'static [&'static str],
    /// What the user has to approve.
    pub approvals: &'static [Approval],
}

/// One file of a bundled extension.
#[derive(Clone, Copy, Debug)]
pub struct BundledFile {
    /// Its name in the folder: one component.
    pub name: &'static str,
    /// Its text. The slots [`HOOK_WORDS`](super::HOOK_WORDS) and [`HOOK_LINE`](super::HOOK_LINE),
    /// quotes included, stand for the command of the hook.
    pub template: &'static str,
}
