//! What a program's own plugin manager is asked to do, and what came of it.

use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Serialize;

use super::Evidence;
use crate::core::Surroundings;

/// What is known of an earlier delivery, which decides how far "already installed" is believed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Goal {
    /// Nothing is known to have been delivered: what is there is somebody else's word.
    Install,
    /// Other bytes were delivered before: the program's own copy is an old one.
    Refresh,
    /// These very bytes were delivered and confirmed before.
    Verify,
}

/// How a manager is run.
#[derive(Clone, Debug)]
pub struct RegistrarRun<'a> {
    /// The program: a path, or a name to be looked up on the search path.
    pub program: PathBuf,
    /// Whose home, and which variables, the program sees.
    pub machine: &'a Surroundings,
    /// Whether the home was named: variables of the environment that name other places are then
    /// taken from the program.
    pub isolated: bool,
    /// The folder that the manager installs from.
    pub tree: &'a Path,
    /// How long one command may take.
    pub limit: Duration,
}

/// A program's plugin manager.
pub trait Registrar: fmt::Debug + Sync {
    /// The program, as it is looked up when nobody names another.
    fn program(&self) -> &'static str;

    /// Whether the user has switched the plugin off. Only what says so explicitly counts; a
    /// configuration that cannot be read says nothing.
    fn is_disabled(&self, machine: &Surroundings) -> bool;

    /// Makes the program take the plugin. Runs nothing when the user has switched it off.
    fn register(&self, run: &RegistrarRun<'_>, goal: Goal) -> Registered;

    /// Makes the program forget the plugin. What somebody else registered under the same name is
    /// left alone.
    fn unregister(&self, run: &RegistrarRun<'_>) -> Unregistered;

    /// What the program's own files say of the plugin: whether it is registered, switched on, and
    /// whether the program's copy is the one in `tree`.
    fn look(&self, machine: &Surroundings, tree: &Path) -> Vec<Evidence>;

    /// Folders of the program that its own commands leave behind, empty, when the plugin goes; the
    /// innermost first.
    fn leftovers(&self, machine: &Surroundings) -> Vec<PathBuf>;

    /// What a person types to do what [`register`](Registrar::register) does.
    fn commands(&self, tree: &Path) -> Vec<String>;

    /// What a person types to do what [`unregister`](Registrar::unregister) does.
    fn undo_commands(&self) -> Vec<String>;
}

/// What came of registering.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "outcome", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Registered {
    /// The user has switched the plugin off: nothing was run, since adding switches it on, and
    /// could replace what is somebody else's.
    SkippedDisabled,
    /// The program is not there.
    CliAbsent,
    /// The program was asked.
    Asked {
        /// What came of naming the folder.
        source: SourceOutcome,
        /// What came of installing from it.
        plugin: PluginOutcome,
    },
}

/// What came of naming the folder (the marketplace) to the program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "outcome", content = "said", rename_all = "kebab-case")]
pub enum SourceOutcome {
    /// It is known now.
    Added,
    /// Another folder was known under its name, and is not any more.
    Replaced,
    /// It was known.
    AlreadyAdded,
    /// It failed, with what the program said.
    Failed(String),
}

/// What came of installing the plugin.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "outcome", content = "said", rename_all = "kebab-case")]
pub enum PluginOutcome {
    /// It is installed now.
    Installed,
    /// The program's copy was replaced.
    Refreshed,
    /// The program has these very bytes.
    AlreadyInstalled,
    /// It failed, and the program has what it had.
    Failed(String),
    /// The old copy was removed and the new one not taken: the one outcome that is worse than
    /// before.
    RemovedNotReinstalled(String),
    /// It was not tried, since the folder could not be named.
    Skipped,
}

impl Registered {
    /// Whether the program is known to have taken these very bytes just now.
    #[must_use]
    pub fn confirmed_delivery(&self) -> bool {
        matches!(self, Registered::Asked { plugin: PluginOutcome::Installed | PluginOutcome::Refreshed, .. })
    }

    /// Whether a person has to run the commands.
    #[must_use]
    pub fn needs_manual_retry(&self) -> bool {
        match self {
            Registered::SkippedDisabled => false,
            Registered::CliAbsent => true,
            Registered::Asked { plugin, .. } => matches!(
                plugin,
                PluginOutcome::Failed(_) | PluginOutcome::RemovedNotReinstalled(_) | PluginOutcome::Skipped
            ),
        }
    }
}

/// What came of making the program forget the plugin.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "outcome", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Unregistered {
    /// It is not registered: nothing was run.
    NotRegistered,
    /// Somebody else's plugin is registered under the same name: nothing was run.
    Foreign,
    /// The program is not there.
    CliAbsent,
    /// The program was asked.
    Asked {
        /// What came of removing the plugin.
        plugin: Withdrawn,
        /// What came of removing the folder.
        source: Withdrawn,
    },
}

impl Unregistered {
    /// Whether a person has to run the commands.
    #[must_use]
    pub fn needs_manual_retry(&self) -> bool {
        match self {
            Unregistered::CliAbsent => true,
            Unregistered::Asked { plugin, source } => {
                [plugin, source].iter().any(|withdrawn| matches!(withdrawn, Withdrawn::Failed(_)))
            }
            Unregistered::NotRegistered | Unregistered::Foreign => false,
        }
    }
}

/// What came of removing one thing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "outcome", content = "said", rename_all = "kebab-case")]
pub enum Withdrawn {
    /// It is gone.
    Removed,
    /// It was not there.
    NotThere,
    /// It failed, with what the program said.
    Failed(String),
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(plugin: PluginOutcome) -> Registered {
        Registered::Asked { source: SourceOutcome::Added, plugin }
    }

    #[test]
    fn only_what_was_taken_just_now_is_a_confirmed_delivery() {
        assert!(asked(PluginOutcome::Installed).confirmed_delivery());
        assert!(asked(PluginOutcome::Refreshed).confirmed_delivery());
        for other in
            [PluginOutcome::AlreadyInstalled, PluginOutcome::Skipped, PluginOutcome::Failed(String::new())]
        {
            assert!(!asked(other).confirmed_delivery());
        }
        assert!(!Registered::SkippedDisabled.confirmed_delivery());
        assert!(!Registered::CliAbsent.confirmed_delivery());
    }

    #[test]
    fn what_did_not_work_asks_a_person() {
        for failed in [
            PluginOutcome::Failed("no".to_owned()),
            PluginOutcome::RemovedNotReinstalled("no".to_owned()),
            PluginOutcome::Skipped,
        ] {
            assert!(asked(failed).needs_manual_retry());
        }
        assert!(Registered::CliAbsent.needs_manual_retry());
        assert!(!asked(PluginOutcome::AlreadyInstalled).needs_manual_retry());
        assert!(!Registered::SkippedDisabled.needs_manual_retry());
    }
}
