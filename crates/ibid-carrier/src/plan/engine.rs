//! Committing plans.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use ibid_model::Timestamp;

use super::changes::{Change, Context, Watch};
use super::prepare::{Layout, prepare};
use super::{Action, Committed, Plan, PlanError, Point, Policy, Step, When, files};
use crate::journal::{Entry, Journal, Mark};
use crate::sqlite::write::{self, Existing};
use crate::sqlite::{Snapshot, SqliteError};
use crate::trash::{self, Trash, TrashEntry};

/// How long a commit waits for a database that another program is writing.
const BUSY_PATIENCE: Duration = Duration::from_secs(5);

/// How often a database that another program changes meanwhile is looked into for a check.
const LOOKS: usize = 5;

/// Commits plans, and keeps the journal, the trash and the backups in Ibid's data directory.
///
/// At most one commit runs at a time for one data directory: another process waits for it.
#[derive(Clone, Debug)]
pub struct Engine {
    pub(super) data_dir: PathBuf,
    pub(super) journal: Journal,
    cache_dir: PathBuf,
}

pub(super) type ChangeEntry = Entry<Change>;

impl Engine {
    /// An engine that keeps its own files in `data_dir`, which is made (for its owner alone) when
    /// something is first written.
    #[must_use]
    pub fn new(data_dir: impl Into<PathBuf>) -> Engine {
        let data_dir = data_dir.into();
        // The journal is read by other processes, which may run in other directories.
        let data_dir = std::path::absolute(&data_dir).unwrap_or(data_dir);
        Engine { journal: Journal::new(&data_dir), cache_dir: data_dir.join("cache"), data_dir }
    }

    /// The same engine, with copies of databases (which [`check`](Engine::check) reads) in
    /// `cache_dir` rather than in the data directory.
    #[must_use]
    pub fn with_cache(mut self, cache_dir: impl Into<PathBuf>) -> Engine {
        self.cache_dir = cache_dir.into();
        self
    }

    /// The data directory.
    #[must_use]
    pub fn data_dir(&self) -> &Path {
        &self.data_dir
    }

    /// Says whether `plan` could be committed now: conflicts, room, permissions, and whether every
    /// step stays within the roots of the policy. Changes nothing in any store.
    ///
    /// # Errors
    /// What [`commit`](Engine::commit) would refuse.
    pub fn check(&self, plan: &Plan, policy: &Policy) -> Result<(), PlanError> {
        prepare(plan, policy, &self.layout("check"))?;
        let mut emptied = BTreeSet::new();
        for step in &plan.steps {
            match step {
                Step::InsertRows { database, rows, refuse_existing } if !emptied.contains(database) => {
                    let refuse = *refuse_existing && !policy.replace_existing;
                    let existing = if refuse { Existing::Refuse } else { Existing::Keep };
                    self.look_into(database, |connection| {
                        write::plan_insertion(connection, rows, existing).map(drop)
                    })?;
                }
                Step::RestoreRows { database, rows } if !emptied.contains(database) => {
                    self.look_into(database, |connection| {
                        write::plan_insertion(connection, rows, Existing::Refuse).map(drop)
                    })?;
                }
                Step::TrashRows { database, selections } => {
                    emptied.insert(database);
                    let mut found = 0;
                    self.look_into(database, |connection| {
                        found = write::select(connection, selections)?.row_count();
                        Ok(())
                    })?;
                    if found == 0 {
                        return Err(PlanError::changed(database, "the rows to delete are not there"));
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn look_into(
        &self,
        database: &Path,
        mut look: impl FnMut(&rusqlite::Connection) -> Result<(), SqliteError>,
    ) -> Result<(), PlanError> {
        let mut left = LOOKS;
        loop {
            left -= 1;
            let looked = Snapshot::open(database, &self.cache_dir).and_then(|snapshot| {
                let looked = look(snapshot.connection());
                // When it changed meanwhile, what was seen (or refused) means nothing.
                snapshot.verify().and(looked)
            });
            match looked {
                Err(SqliteError::Changed { .. }) if left > 0 => {}
                looked => return looked.map_err(|error| PlanError::database(database, error)),
            }
        }
    }

    /// Does everything that `plan` says, in its order, or nothing of it. What an earlier process
    /// left unfinished is finished or undone first.
    ///
    /// # Errors
    /// Why the plan was refused or failed. The stores are then as they were, unless the error is
    /// [`PlanError::NotUndone`].
    pub fn commit(&self, plan: &Plan, policy: &Policy) -> Result<Committed, PlanError> {
        self.commit_observed(plan, policy, &mut |_| Ok(()))
    }

    /// As [`commit`](Engine::commit), and `observer` is called before and after everything that
    /// can be seen from outside, so that a test can end the process there, change a store, or
    /// return an error, which counts as a failure at that point. Once the journal says that
    /// everything is done, and while a failed plan is taken back, its errors count no more.
    ///
    /// # Errors
    /// As [`commit`](Engine::commit).
    pub fn commit_observed(
        &self,
        plan: &Plan,
        policy: &Policy,
        observer: &mut dyn FnMut(Point) -> io::Result<()>,
    ) -> Result<Committed, PlanError> {
        if plan.is_empty() {
            return Ok(Committed::default());
        }
        let _lock = self.journal.lock()?;
        self.recover_locked(false, &mut |_| Ok(()))?;
        let id = uuid::Uuid::now_v7().simple().to_string();
        let changes = prepare(plan, policy, &self.layout(&id))?;
        let begun = now()?;
        let entry = Entry { version: 1, id, begun, labels: plan.labels.clone(), changes };
        match self.carry_out(&entry, plan, observer) {
            Ok(committed) => {
                // Everything is done. What cannot be cleared up now, the next writer clears up.
                let _ = self.finish(&entry, observer);
                Ok(committed)
            }
            Err(cause) => match self.take_back(&entry, observer) {
                problems if problems.is_empty() => Err(cause),
                problems => Err(PlanError::NotUndone { cause: Box::new(cause), problems }),
            },
        }
    }

    fn layout<'a>(&'a self, id: &'a str) -> Layout<'a> {
        Layout { id, data_dir: &self.data_dir, journal: self.journal.directory_of(id) }
    }

    fn carry_out(&self, entry: &ChangeEntry, plan: &Plan, watch: Watch<'_>) -> Result<Committed, PlanError> {
        let mut context = Context { step: None, patience: BUSY_PATIENCE, watch };
        context.observed(Action::Journal, |_| self.journal.begin(entry))?;
        let changes = || entry.changes.iter().zip(&plan.steps).enumerate();
        for (at, (change, step)) in changes() {
            context.step = Some(at);
            context.observed(Action::Stage, |_| change.stage(step))?;
        }
        for (at, (change, step)) in changes() {
            context.step = Some(at);
            context.observed(Action::Publish, |context| change.publish(step, context))?;
        }
        for (at, change) in entry.changes.iter().enumerate() {
            context.step = Some(at);
            context.observed(Action::Verify, |context| change.verify(context))?;
        }
        context.step = None;
        let committed = Committed {
            written: written(&entry.changes, plan),
            backups: entry.changes.iter().filter_map(|change| change.backup().cloned()).collect(),
            trashed: self.trash_entry(entry)?.into_iter().collect(),
        };
        context.reach(When::Before, Action::Complete)?;
        self.journal.mark(&entry.id, Mark::Committed)?;
        Ok(committed)
    }

    /// What the entry puts into the trash.
    pub(super) fn trash_entry(&self, entry: &ChangeEntry) -> Result<Option<TrashEntry>, PlanError> {
        let items: Vec<_> = entry
            .changes
            .iter()
            .filter_map(|change| change.trashed().transpose())
            .collect::<Result<_, _>>()?;
        if items.is_empty() {
            return Ok(None);
        }
        let (id, labels) = (entry.id.clone(), entry.labels.clone());
        Ok(Some(TrashEntry { id, deleted: entry.begun, labels, items }))
    }

    /// Clears up after everything was done. May be done again and again.
    pub(super) fn finish(&self, entry: &ChangeEntry, watch: Watch<'_>) -> Result<(), PlanError> {
        let mut context = Context { step: None, patience: BUSY_PATIENCE, watch };
        context.reach(When::After, Action::Complete)?;
        if let Some(trashed) = self.trash_entry(entry)? {
            trash::write_manifest(&self.data_dir, &trashed)?;
        }
        for (at, change) in entry.changes.iter().enumerate() {
            context.step = Some(at);
            context.observed(Action::Finish, |_| change.finish())?;
        }
        context.step = None;
        context.observed(Action::Close, |_| self.journal.close(&entry.id))
    }

    /// Takes everything back, from the last change to the first; says what could not be.
    pub(super) fn take_back(&self, entry: &ChangeEntry, watch: Watch<'_>) -> Vec<String> {
        let mut context = Context { step: None, patience: BUSY_PATIENCE, watch };
        if !self.journal.is_begun(&entry.id) {
            // It did not come to anything.
            return self.journal.close(&entry.id).err().map(|error| error.to_string()).into_iter().collect();
        }
        let mut problems = Vec::new();
        let mut for_good = true;
        // From here on it must not be completed any more. When even this cannot be written, the
        // changes are taken back all the same.
        let _ = self.journal.mark(&entry.id, Mark::Undoing);
        for (at, change) in entry.changes.iter().enumerate().rev() {
            context.step = Some(at);
            let _ = context.reach(When::Before, Action::Undo);
            if !self.journal.is_undone(&entry.id, at) {
                let undone = change.undo(&mut context).and_then(|()| self.journal.mark_undone(&entry.id, at));
                if let Err(error) = undone {
                    for_good &= error.is_refusal();
                    problems.push(error.to_string());
                }
            }
            let _ = context.reach(When::After, Action::Undo);
        }
        if problems.is_empty()
            && let Err(error) = self.journal.mark(&entry.id, Mark::Undone)
        {
            for_good = false;
            problems.push(error.to_string());
        }
        if !problems.is_empty() {
            // Where others have gone on, trying again is for a person to decide. A lock or a full
            // disk goes away: the next writer tries again, and so it does without the mark.
            if for_good {
                let _ = self.journal.mark_stuck(&entry.id, &problems);
            }
        } else {
            // The stores are as they were. What is left, the next writer clears up.
            let _ = self.discard(entry, context.watch);
        }
        problems
    }

    /// Clears up after everything was taken back. May be done again and again.
    pub(super) fn discard(&self, entry: &ChangeEntry, watch: Watch<'_>) -> Result<(), PlanError> {
        let mut context = Context { step: None, patience: BUSY_PATIENCE, watch };
        for (at, change) in entry.changes.iter().enumerate().rev() {
            context.step = Some(at);
            context.observed(Action::Finish, |_| change.discard())?;
        }
        files::remove_if_empty(&Trash::new(&self.data_dir).directory_of(&entry.id));
        files::remove_if_empty(&self.data_dir.join("backups").join(&entry.id));
        context.step = None;
        context.observed(Action::Close, |_| self.journal.close(&entry.id))
    }
}

/// The paths of the steps that write, in the plan's own words.
fn written(changes: &[Change], plan: &Plan) -> Vec<PathBuf> {
    let mut seen = BTreeSet::new();
    let writing = changes.iter().zip(&plan.steps).filter(|(change, _)| change.writes());
    let paths = writing.filter_map(|(_, step)| step.path());
    paths.filter(|path| seen.insert(path.to_path_buf())).map(Path::to_path_buf).collect()
}

fn now() -> Result<Timestamp, PlanError> {
    let milliseconds = super::stamp::nanoseconds(std::time::SystemTime::now()).map(|time| time / 1_000_000);
    milliseconds.and_then(Timestamp::from_milliseconds).ok_or_else(|| PlanError::Io {
        action: "read",
        path: PathBuf::from("the clock"),
        source: io::ErrorKind::InvalidData.into(),
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test states what it expects")]
mod tests {
    use rusqlite::Connection;

    use super::*;

    /// Other programs write between any two looks; only one that never rests is in the way.
    #[test]
    fn a_database_that_changes_while_it_is_checked_is_looked_into_again() {
        let home = tempfile::tempdir().unwrap();
        let database = home.path().join("sessions.db");
        let writer = Connection::open(&database).unwrap();
        writer.execute_batch("CREATE TABLE message (id INTEGER PRIMARY KEY)").unwrap();
        let engine = Engine::new(home.path().join("data"));
        let mut looks = 0;
        let mut look_while_written = |writes: i64| {
            looks = 0;
            engine.look_into(&database, |connection| {
                looks += 1;
                if looks <= writes {
                    writer.execute("INSERT INTO message DEFAULT VALUES", [])?;
                }
                connection.query_row("SELECT count(*) FROM message", [], |_| Ok(())).map_err(Into::into)
            })
        };
        look_while_written(2).unwrap();
        let error = look_while_written(i64::MAX).unwrap_err();
        assert!(matches!(error, PlanError::Database { source: SqliteError::Changed { .. }, .. }), "{error}");
        assert_eq!(looks, LOOKS as i64);
    }
}
