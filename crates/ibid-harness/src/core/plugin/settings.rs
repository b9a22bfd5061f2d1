//! Hooks in a settings file.

use std::path::PathBuf;

use super::{Approval, Grammar};
use crate::core::Surroundings;

/// A plugin that is nothing but entries in the program's settings.
#[derive(Debug)]
pub struct SettingsHooks {
    /// The settings file on a machine, whether or not it is there.
    pub file: fn(&Surroundings) -> PathBuf,
    /// How the entries are put in and taken out.
    pub grammar: &'static Grammar,
    /// What the user has to approve.
    pub approvals: &'static [Approval],
}
