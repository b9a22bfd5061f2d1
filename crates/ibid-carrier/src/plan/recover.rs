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
    /// Why what it left cannot be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

impl Unfinished {
    /// The finding that a reader reports.
    #[must_use]
    pub fn finding(&self) -> Finding {
        let detail = match &self.problem {
            Some(problem) => format!("a write that did not finish cannot be understood: {problem}"),
            None => format!("a write to {} places did not finish", self.paths.len()),
        };
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
                    pending.push(Unfinished { id, begun, labels, paths, running, problem: None });
                }
                Err(error) => {
                    let problem = Some(error.to_string());
                    let (labels, paths) = (BTreeMap::new(), Vec::new());
                    pending.push(Unfinished { id, begun: None, labels, paths, running, problem });
                }
            }
        }
        Ok(pending)
    }

    /// Finishes or undoes what was left unfinished. A commit that had published everything is
    /// finished, any other is undone. [`commit`](Engine::commit) does this first.
    ///
    /// # Errors
    /// [`PlanError::Locked`] when another process is writing, or when the journal cannot be
    /// listed. What goes wrong with one commit is its [`Outcome::Stuck`].
    pub fn recover(&self) -> Result<Vec<Recovered>, PlanError> {
        self.recover_observed(&mut |_| Ok(()))
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
        self.recover_locked(observer)
    }

    pub(super) fn recover_locked(&self, watch: Watch<'_>) -> Result<Vec<Recovered>, PlanError> {
        let mut recovered = Vec::new();
        // The last first: a later commit may have gone on from what an earlier one left.
        for id in self.journal.ids()?.into_iter().rev() {
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
