//! After a crash: what is unfinished, and finishing or undoing it.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::PathBuf;
use std::time::Duration;

use ibid_model::{Finding, FindingKind, Timestamp};
use serde::Serialize;

use super::changes::{Change, Context, Watch};
use super::engine::ChangeEntry;
use super::{Engine, PlanError, Point};
use crate::journal::Mark;
use crate::trash;

/// A commit that has not ended: its process is still at work, or is gone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Unfinished {
    /// Its id.
    pub id: String,
    /// When it began; `None` when what it left cannot be read.
    pub begun: Option<Timestamp>,
    /// What its plan was about, in the words of the caller that made it.
    pub labels: BTreeMap<String, String>,
    /// The files, directories and databases that it was to change.
    #[serde(with = "super::path_text::list")]
    pub paths: Vec<PathBuf>,
    /// Whether some process is writing now; it may be this commit's.
    pub running: bool,
    /// Why it could not be finished or undone, when that was tried; or why what it left cannot be
    /// read.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<String>,
}

impl Unfinished {
    /// The finding that a reader reports.
    #[must_use]
    pub fn finding(&self) -> Finding {
        let mut detail = format!("a write to {} places did not finish", self.paths.len());
        if !self.problems.is_empty() {
            detail = format!("{detail}: {}", self.problems.join("; "));
        }
        let finding = Finding::new(FindingKind::UnfinishedWrite, detail);
        match self.paths.first() {
            Some(path) => finding.at_path(path),
            None => finding,
        }
    }
}

/// What became of an unfinished commit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Recovered {
    /// Its id.
    pub id: String,
    /// What its plan was about.
    pub labels: BTreeMap<String, String>,
    /// How it ended.
    pub outcome: Outcome,
}

/// How an unfinished commit ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// Everything had been published: the stores are as after the plan.
    Completed,
    /// The stores are as before the plan.
    Undone,
    /// Other programs have gone on from what was half done, or something could not be read. What
    /// could be taken back was; the journal keeps the rest.
    Stuck(Vec<String>),
}

impl Engine {
    /// The commits that have not ended, for readers: nothing is changed, no store is looked at.
    ///
    /// # Errors
    /// When the journal is there and cannot be listed.
    pub fn pending(&self) -> Result<Vec<Unfinished>, PlanError> {
        let mut pending = Vec::new();
        for id in self.journal.ids()? {
            let running = self.journal.is_locked();
            match self.journal.read::<Change>(&id) {
                Ok(None) => {}
                Ok(Some(entry)) => {
                    let paths: BTreeSet<_> =
                        entry.changes.iter().filter_map(Change::path).map(PathBuf::from).collect();
                    let (begun, labels) = (Some(entry.begun), entry.labels);
                    let paths = paths.into_iter().collect();
                    let problems = self.journal.stuck(&id).unwrap_or_default();
                    pending.push(Unfinished { id, begun, labels, paths, running, problems });
                }
                Err(error) => {
                    let problems = vec![error.to_string()];
                    let (labels, paths) = (BTreeMap::new(), Vec::new());
                    pending.push(Unfinished { id, begun: None, labels, paths, running, problems });
                }
            }
        }
        Ok(pending)
    }

    /// Finishes or undoes what was left unfinished. A commit that had published everything is
    /// finished, any other is undone. [`commit`](Engine::commit) does this first, except for what
    /// got [`Outcome::Stuck`] before: that is tried again only here, and can be given up with
    /// [`dismiss`](Engine::dismiss).
    ///
    /// # Errors
    /// [`PlanError::Locked`] when another process is writing, or when the journal cannot be
    /// listed. What goes wrong with one commit is its [`Outcome::Stuck`].
    pub fn recover(&self) -> Result<Vec<Recovered>, PlanError> {
        self.recover_observed(&mut |_| Ok(()))
    }

    /// As [`recover`](Engine::recover), without what got [`Outcome::Stuck`] before: what a writer
    /// does before it looks at the stores and makes its plan, so that it does not take what was
    /// half done for what is there. [`commit`](Engine::commit) does the same once more.
    ///
    /// # Errors
    /// As [`recover`](Engine::recover).
    pub fn settle(&self) -> Result<Vec<Recovered>, PlanError> {
        if self.journal.ids()?.is_empty() {
            return Ok(Vec::new());
        }
        let _lock = self.journal.lock()?;
        self.recover_locked(false, &mut |_| Ok(()))
    }

    /// As [`recover`](Engine::recover), with an observer as in
    /// [`commit_observed`](Engine::commit_observed).
    ///
    /// # Errors
    /// As [`recover`](Engine::recover).
    pub fn recover_observed(
        &self,
        observer: &mut dyn FnMut(Point) -> io::Result<()>,
    ) -> Result<Vec<Recovered>, PlanError> {
        if self.journal.ids()?.is_empty() {
            return Ok(Vec::new());
        }
        let _lock = self.journal.lock()?;
        self.recover_locked(true, observer)
    }

    pub(super) fn recover_locked(
        &self,
        retry_stuck: bool,
        watch: Watch<'_>,
    ) -> Result<Vec<Recovered>, PlanError> {
        let mut recovered = Vec::new();
        // The last first: a later commit may have gone on from what an earlier one left.
        for id in self.journal.ids()?.into_iter().rev() {
            if !retry_stuck && self.journal.stuck(&id).is_some() {
                continue;
            }
            match self.journal.read(&id) {
                Ok(None) => self.journal.close(&id)?,
                Ok(Some(entry)) => {
                    let outcome = self.recover_entry(&entry, watch);
                    recovered.push(Recovered { id, labels: entry.labels, outcome });
                }
                Err(error) => {
                    let outcome = Outcome::Stuck(vec![error.to_string()]);
                    recovered.push(Recovered { id, labels: BTreeMap::new(), outcome });
                }
            }
        }
        Ok(recovered)
    }

    /// Gives up an unfinished commit: the stores stay as they are now, what had gone to the trash is
    /// listed there, backups stay, and only what was staged is removed.
    ///
    /// # Errors
    /// [`PlanError::Missing`] when there is no such commit; or what could not be removed, and then
    /// the commit stays listed.
    pub fn dismiss(&self, id: &str) -> Result<(), PlanError> {
        let _lock = self.journal.lock()?;
        let missing = || PlanError::Missing { path: self.journal.directory_of("") };
        if !self.journal.ids()?.iter().any(|known| known == id) {
            return Err(missing());
        }
        let entry: ChangeEntry = self.journal.read(id)?.ok_or_else(missing)?;
        if let Some(mut trashed) = self.trash_entry(&entry)? {
            trashed.items.retain(|item| item.stored().exists());
            if !trashed.items.is_empty() {
                trash::write_manifest(&self.data_dir, &trashed)?;
            }
        }
        entry.changes.iter().try_for_each(Change::dismiss)?;
        self.journal.close(id)
    }

    fn recover_entry(&self, entry: &ChangeEntry, watch: Watch<'_>) -> Outcome {
        let marked = |mark| self.journal.is_marked(&entry.id, mark);
        let stuck = |error: PlanError| Outcome::Stuck(vec![error.to_string()]);
        if marked(Mark::Undone) {
            return self.discard(entry, watch).map_or_else(stuck, |()| Outcome::Undone);
        }
        if !marked(Mark::Committed) {
            if marked(Mark::Undoing) || !self.all_published(entry, watch) {
                return match self.take_back(entry, watch) {
                    problems if problems.is_empty() => Outcome::Undone,
                    problems => Outcome::Stuck(problems),
                };
            }
            if let Err(error) = self.journal.mark(&entry.id, Mark::Committed) {
                return stuck(error);
            }
        }
        self.finish(entry, watch).map_or_else(stuck, |()| Outcome::Completed)
    }

    /// What cannot be told apart counts as not published: undoing then says what is wrong.
    fn all_published(&self, entry: &ChangeEntry, watch: Watch<'_>) -> bool {
        let context = Context { step: None, patience: Duration::from_secs(5), watch };
        entry.changes.iter().all(|change| change.is_published(&context).unwrap_or(false))
    }
}
