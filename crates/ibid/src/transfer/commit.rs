//! Writing, and reading back.

use std::io;

use anyhow::{Result, anyhow};
use ibid_carrier::plan::{Action, Committed, Point, When};
use ibid_harness::Reference;
use ibid_model::{Selection, SessionId, essence};

use super::{Made, Transfer};
use crate::machine::Machine;

impl Transfer {
    /// The id of the session that is made.
    pub(crate) fn id(&self) -> SessionId {
        self.made.first().map(|made| made.id.clone()).unwrap_or_default()
    }

    /// What names it at rest.
    pub(crate) fn reference(&self) -> Option<&Reference> {
        self.made.first().map(|made| &made.reference)
    }

    /// How many subagents go along.
    pub(crate) fn subagents(&self) -> usize {
        self.made.len().saturating_sub(1)
    }

    /// Says whether the plan could be carried out now. Changes nothing.
    ///
    /// # Errors
    /// What the commit would refuse.
    pub(crate) fn check(&self, machine: &Machine) -> Result<()> {
        Ok(machine.engine().check(&self.plan, &self.policy)?)
    }

    /// Writes everything, or nothing. Before it counts as done, every session is loaded from where
    /// it was written and compared with what was meant; a difference undoes it all.
    ///
    /// # Errors
    /// When it cannot be written, or does not read back as it was meant.
    // https://github.com/Dicklesworthstone/cross_agent_session_resumer/issues/9 (fault 28)
    pub(crate) fn commit(&self, machine: &Machine) -> Result<Committed> {
        let mut problem = None;
        let mut read_back = |point: Point| {
            if (point.when, point.action) != (When::Before, Action::Complete) {
                return Ok(());
            }
            for made in &self.made {
                if let Err(error) = self.verify(machine, made) {
                    problem = Some(error);
                    return Err(io::Error::other("what was written does not read back as it was meant"));
                }
            }
            Ok(())
        };
        let committed = machine.engine().commit_observed(&self.plan, &self.policy, &mut read_back);
        match (committed, problem) {
            (Ok(committed), _) => Ok(committed),
            (Err(error), None) => Err(error.into()),
            (Err(undone), Some(problem)) => Err(problem.context(format!("{undone}"))),
        }
    }

    fn verify(&self, machine: &Machine, made: &Made) -> Result<()> {
        let context = machine.context();
        let common = self.to.load(&made.reference, &context)?.to_common()?;
        let name = self.to.declaration().name;
        if common.session.id != made.id {
            return Err(anyhow!("{name} reads the id {} instead of {}", common.session.id, made.id));
        }
        let says = essence(common.session.view(&Selection::default()).messages);
        if says != made.says {
            let (read, meant) = (says.len(), made.says.len());
            return Err(anyhow!(
                "{name} reads {read} parts of the conversation where {meant} were meant, or other ones"
            ));
        }
        machine.describe(self.to, &made.reference)?;
        Ok(())
    }
}
