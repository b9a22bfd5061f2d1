//! Writing, and reading back.

use std::io;

use anyhow::{Result, anyhow};
use ibid_carrier::plan::{Action, Committed, Point, When};
use ibid_harness::Reference;
use ibid_model::{Essences, Selection, SessionId};

use super::{Made, Transfer};
use crate::machine::Machine;
use crate::output;

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
        let commit = || machine.engine().commit_observed(&self.plan, &self.policy, &mut read_back);
        let committed = output::with_patience("writing and reading back", commit);
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
        let mut meant = made.says.iter();
        let mut essences = Essences::default();
        let mut read = 0;
        for message in common.session.view(&Selection::default()).messages {
            for essence in essences.of(message) {
                read += 1;
                if meant.next() != Some(&essence) {
                    return Err(anyhow!(
                        "{name} reads part {read} of the conversation otherwise than was meant"
                    ));
                }
            }
        }
        if read < made.says.len() {
            return Err(anyhow!(
                "{name} reads {read} parts of the conversation where {} were meant",
                made.says.len()
            ));
        }
        machine.describe(self.to, &made.reference)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transfer::{Material, Wishes, prepare};
    use ibid_model::{Block, Essence, Message, Origin, Role, Session, SessionDocument, Timestamp};
    use std::fs;

    fn material() -> Material {
        let mut session = Session::new("simple", "s");
        session.meta.cwd = Some("/home/dev/demo".into());
        let mut message = Message::new("m", Role::User, Origin::Person);
        message.at = Timestamp::parse("2026-07-01T10:00:00Z");
        message.blocks.push(Block::text("Hello"));
        session.messages.push(message);
        Material::of_document(SessionDocument::new(session), "a document".to_owned())
    }

    // https://github.com/Dicklesworthstone/cross_agent_session_resumer/issues/9 (fault 28)
    #[test]
    fn what_does_not_read_back_as_it_was_meant_is_undone() {
        for harness in ibid_harness::all().iter().filter(|harness| harness.declaration().resume.is_some()) {
            let home = tempfile::tempdir().unwrap();
            let machine = Machine::of_home(home.path());
            let mut transfer = match prepare(&machine, &material(), &Wishes::of(*harness)) {
                Ok(transfer) => transfer,
                // A harness whose store has to be made by the program itself has no place yet.
                Err(_) => continue,
            };
            transfer.made[0].says.push(Essence::Text(Role::Assistant, "never written".into()));
            let path = transfer.reference().unwrap().path.clone();
            let error = transfer.commit(&machine).unwrap_err();
            assert!(format!("{error:#}").contains("were meant"), "{error:#}");
            assert!(!path.exists(), "{} is left", path.display());
            assert!(machine.engine().pending().unwrap().is_empty());
            transfer.made[0].says.pop();
            transfer.commit(&machine).unwrap();
            assert!(fs::metadata(&path).is_ok());
        }
    }
}
