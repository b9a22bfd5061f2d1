//! What answers the questions on a real machine.

use std::fmt;

use ibid_harness::{AnyHarness, Surroundings};

use crate::answer::{Discovery, Observations};
use crate::ask::{DiscoverParams, ObserveParams};
use crate::discover::{Budgets, Platform, Workspaces};
use crate::workspace::Workspace;
use crate::{Evidence, Refusal, artifacts, discover};

/// The sessions of a machine, as evidence of what agents did to a project. It remembers what it
/// read as long as it lives, each thing for as long as its files do not change.
pub struct Host {
    machine: Surroundings,
    pub(crate) platforms: Vec<Platform>,
    pub(crate) workspaces: Workspaces,
    pub(crate) budgets: Budgets,
}

impl fmt::Debug for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Host").field("platforms", &self.platforms()).finish_non_exhaustive()
    }
}

impl Host {
    /// A host for every harness that the protocol has a name for.
    #[must_use]
    pub fn new(machine: Surroundings) -> Host {
        Host::of(machine, ibid_harness::all())
    }

    /// A host for these harnesses alone, as far as the protocol has names for them.
    #[must_use]
    pub fn of(machine: Surroundings, harnesses: &[&'static dyn AnyHarness]) -> Host {
        let mut platforms: Vec<Platform> = harnesses.iter().copied().filter_map(Platform::of).collect();
        platforms.sort_by_key(|platform| platform.rank);
        Host { machine, platforms, workspaces: Workspaces::default(), budgets: Budgets::default() }
    }

    /// The same host with other limits of time and size. For tests, and for callers that wait
    /// longer than the protocol's clients do.
    #[must_use]
    pub fn within(mut self, budgets: Budgets) -> Host {
        self.budgets = budgets;
        self
    }

    pub(crate) fn machine(&self) -> &Surroundings {
        &self.machine
    }
}

impl Evidence for Host {
    fn platforms(&self) -> Vec<&'static str> {
        self.platforms.iter().map(|platform| platform.name).collect()
    }

    fn discover(&self, params: &DiscoverParams) -> Result<Discovery, Refusal> {
        let workspace = Workspace::of(&params.workspace, self.machine.home())?;
        Ok(discover::discover(self, workspace, params))
    }

    fn observe(&self, params: &ObserveParams) -> Result<Observations, Refusal> {
        let workspace = Workspace::of(&params.workspace, self.machine.home())?;
        Ok(Observations { observations: artifacts::observe(&workspace, &params.sessions) })
    }
}
