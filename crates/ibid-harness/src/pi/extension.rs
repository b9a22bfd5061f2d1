//! Ibid's extension for pi: one file.

use std::path::PathBuf;

use crate::core::Surroundings;
use crate::core::plugin::{BundledExtension, BundledFile};

/// The text of the extension, with one slot for the words of the hook command.
const TEMPLATE: &str = include_str!("extension/ibid.ts");

/// What is installed.
pub(super) static PLUGIN: BundledExtension = BundledExtension {
    folder,
    files: &[BundledFile { name: "ibid.ts", template: TEMPLATE }],
    superseded: &[],
    approvals: &[],
};

/// Where pi looks for extensions of the user (1.6.0 and 0.73.1).
fn folder(machine: &Surroundings) -> PathBuf {
    super::roots::agent(machine).join("extensions")
}
