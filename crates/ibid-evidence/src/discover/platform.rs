//! The sessions of one platform that belong to a project.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError};

use ibid_carrier::CarrierError;
use ibid_carrier::fingerprint::Fingerprint;
use ibid_harness::{Class, Context, Control, Cursor, Listed, Reference, StoreError, Wants};
use ibid_model::{FindingKind, Relation, Severity, Timestamp};
use ibid_redact::Redactor;

use super::belongs::{Candidate, Judged, judge};
use super::crew::Outcome;
use super::memory::{Described, Made, Memory};
use super::{Platform, Question};
use crate::summary::{Builder, Built, Known};

/// What was found of one platform.
#[derive(Debug, Default)]
pub(crate) struct Found {
    /// The newest sessions of the project in the time that is asked for.
    pub(crate) sessions: Vec<Arc<Built>>,
    /// All sessions of the project.
    pub(crate) discovered: usize,
    /// Those of them that lie in the time that is asked for.
    pub(crate) in_window: usize,
    /// The sessions that could be read, of any project.
    pub(crate) readable: usize,
    /// The sessions and places that could not be read.
    pub(crate) unreadable: usize,
    /// Whether a place was among them.
    pub(crate) places_unreadable: bool,
    /// What was wrong with the first of them.
    pub(crate) detail: Option<String>,
    /// Whether the platform has a store here.
    pub(crate) present: bool,
    pub(crate) failure: Option<Failure>,
}

/// What kept a platform from being searched whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Failure {
    /// The time was over.
    Timeout,
    /// Threads of an earlier search are still at work.
    StillBusy,
    /// Something panicked.
    Broken,
}

/// The longest detail of what could not be read, in characters.
const DETAIL_CHARS: usize = 1_000;

impl Found {
    /// A search that panicked as a whole.
    pub(crate) fn broken() -> Found {
        Found { failure: Some(Failure::Broken), ..Found::default() }
    }

    fn failed(&mut self, failure: Failure) {
        self.failure.get_or_insert(failure);
    }

    fn cannot_read(&mut self, count: usize, detail: impl FnOnce() -> String) {
        self.unreadable += count;
        if self.detail.is_none() {
            self.detail = Some(detail().chars().take(DETAIL_CHARS).collect());
        }
    }
}

/// A session of the project, with the subagents that are told with it.
struct Group {
    head: Session,
    parts: Vec<Session>,
    belongs: bool,
}

#[derive(Clone)]
struct Session {
    reference: Reference,
    fingerprint: Fingerprint,
    bytes: u64,
    described: Arc<Described>,
    belongs: bool,
}

impl Group {
    fn last(&self) -> Option<Timestamp> {
        let all = std::iter::once(&self.head).chain(&self.parts);
        all.filter_map(|session| session.described.times[0].max(session.described.times[1])).max()
    }

    fn id(&self) -> &str {
        &self.head.described.id
    }
}

impl Platform {
    /// Searches the store.
    pub(crate) fn search(&self, question: &Arc<Question>) -> Found {
        let mut found = Found::default();
        if self.crew.is_stuck() {
            found.failed(Failure::StillBusy);
            return found;
        }
        let mut memory = self.memory.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(listed) = self.list(question, &mut found) else { return found };
        let sessions = self.judge(question, listed, &mut memory, &mut found);
        let mut groups = groups(sessions);
        groups.retain(|group| group.belongs);
        let groups = once(groups);
        found.discovered = groups.len();
        let parents = Parents::of(&groups);
        let mut wanted: Vec<Group> =
            groups.into_iter().filter(|group| question.window.holds(group.last())).collect();
        found.in_window = wanted.len();
        wanted.sort_by(|a, b| (Reverse(a.last()), a.id()).cmp(&(Reverse(b.last()), b.id())));
        wanted.truncate(question.sessions);
        self.summarise(question, wanted, &parents, &mut memory, &mut found);
        found
    }

    /// Lists all roots. None when that came to no end.
    fn list(&self, question: &Arc<Question>, found: &mut Found) -> Option<Vec<Listed>> {
        let (harness, asked) = (self.harness, Arc::clone(question));
        let listings = self.crew.each(vec![()], question.judged_by, move |(), _| {
            let context = Context { machine: &asked.machine, limits: &asked.limits };
            let roots = harness.roots(&asked.machine);
            roots.iter().map(|root| harness.list(root, &context)).collect::<Vec<_>>()
        });
        let listings = match listings.into_iter().next() {
            Some(Outcome::Done(listings)) => listings,
            Some(Outcome::Panicked) => {
                found.failed(Failure::Broken);
                return None;
            }
            Some(Outcome::Late) | None => {
                found.failed(Failure::Timeout);
                return None;
            }
        };
        let mut sessions = Vec::new();
        let mut seen: HashSet<(PathBuf, Option<String>)> = HashSet::new();
        for listing in listings {
            found.present |= listing.present;
            for finding in &listing.findings {
                let unreadable = finding.severity() == Severity::Error;
                if !unreadable && finding.kind != FindingKind::LinkNotFollowed {
                    continue;
                }
                found.places_unreadable |= unreadable;
                found.cannot_read(usize::try_from(finding.count).unwrap_or(1), || finding.to_string());
            }
            for listed in listing.sessions {
                let place = (listed.reference.path.clone(), listed.reference.key.clone());
                if seen.insert(place) {
                    sessions.push(listed);
                }
            }
        }
        Some(sessions)
    }

    /// Finds out which sessions belong to the project. Those that are known are not read again.
    fn judge(
        &self,
        question: &Arc<Question>,
        listed: Vec<Listed>,
        memory: &mut Memory,
        found: &mut Found,
    ) -> Vec<Session> {
        let known: Vec<_> =
            listed.iter().map(|listed| memory.described(&listed.reference, &listed.fingerprint)).collect();
        self.look_up(question, &known);
        let mut sessions = Vec::new();
        let mut open = Vec::new();
        for (listed, described) in listed.iter().zip(known) {
            let Listed { reference, fingerprint, bytes } = listed;
            let enters = memory.enters(reference, fingerprint, question.project);
            let told = described.as_ref().and_then(|described| {
                if matches!(described.class, Class::Foreign | Class::Other) {
                    return Some(false);
                }
                let cwd = described.cwd.as_ref()?;
                match question.workspace.holds_for_all_that_is_known(cwd)? {
                    true => Some(true),
                    false => enters,
                }
            });
            match (described, told) {
                (Some(described), Some(belongs)) => sessions.push(Session {
                    reference: reference.clone(),
                    fingerprint: fingerprint.clone(),
                    bytes: *bytes,
                    described,
                    belongs,
                }),
                (described, _) => open.push(Candidate { listed: listed.clone(), described, enters }),
            }
        }
        let listed: HashSet<&Reference> = listed.iter().map(|listed| &listed.reference).collect();
        memory.keep_only(&listed);
        // Large ones first, so that the last one that is under way is a small one.
        open.sort_by(|a, b| {
            (Reverse(a.listed.bytes), &a.listed.reference)
                .cmp(&(Reverse(b.listed.bytes), &b.listed.reference))
        });
        let (harness, asked) = (self.harness, Arc::clone(question));
        let names: Vec<Listed> = open.iter().map(|candidate| candidate.listed.clone()).collect();
        let outcomes = self.crew.each(open, question.judged_by, move |candidate, cancelled| {
            judge(harness, candidate, &asked, cancelled)
        });
        for (listed, outcome) in names.into_iter().zip(outcomes) {
            let Listed { reference, fingerprint, bytes } = listed;
            match outcome {
                Outcome::Done(Ok(Judged { described, belongs, enters, unreadable })) => {
                    if unreadable {
                        found.cannot_read(1, || "a file beside a session".to_owned());
                    }
                    let enters = enters.map(|enters| (question.project, enters));
                    memory.learn(&reference, &fingerprint, &described, enters);
                    sessions.push(Session { reference, fingerprint, bytes, described, belongs });
                }
                Outcome::Done(Err(error)) => failed(&error, found),
                Outcome::Panicked => {
                    found.failed(Failure::Broken);
                    found.unreadable += 1;
                }
                Outcome::Late => {
                    found.failed(Failure::Timeout);
                    found.unreadable += 1;
                }
            }
        }
        for session in &sessions {
            if session.described.damaged {
                found.cannot_read(1, || format!("{}: damaged", session.reference));
            } else if !matches!(session.described.class, Class::Foreign | Class::Other) {
                found.readable += 1;
            }
        }
        sessions
    }

    /// Finds out where the recorded directories lie. The file system is only asked here, and from
    /// the crew: what it is asked about may be on a disk that does not answer.
    fn look_up(&self, question: &Arc<Question>, known: &[Option<Arc<Described>>]) {
        let recorded: HashSet<&str> =
            known.iter().flatten().filter_map(|described| described.cwd.as_deref()).collect();
        let open =
            recorded.into_iter().filter(|cwd| question.workspace.holds_for_all_that_is_known(cwd).is_none());
        let open: Vec<String> = open.map(ToOwned::to_owned).collect();
        let asked = Arc::clone(question);
        self.crew.each(open, question.judged_by, move |cwd, _| asked.workspace.holds(cwd));
    }

    /// Makes the summaries of these sessions.
    fn summarise(
        &self,
        question: &Arc<Question>,
        wanted: Vec<Group>,
        parents: &Parents,
        memory: &mut Memory,
        found: &mut Found,
    ) {
        let mut open: Vec<(Group, Made)> = Vec::new();
        for group in wanted {
            let parts = group.parts.iter().map(|part| part.fingerprint.clone());
            let made = Made {
                project: question.project,
                reference: group.head.reference.clone(),
                fingerprints: std::iter::once(group.head.fingerprint.clone()).chain(parts).collect(),
                own_alone: parents.have(&group.head),
            };
            match memory.summary(&made) {
                Some(built) => found.sessions.push(built),
                None => open.push((group, made)),
            }
        }
        open.sort_by_key(|(group, made)| (Reverse(group.head.bytes), made.reference.clone()));
        let keys: Vec<Made> = open.iter().map(|(_, made)| made.clone()).collect();
        let (harness, asked, platform) = (self.harness, Arc::clone(question), self.name);
        let outcomes = self.crew.each(open, question.deadline, move |(group, made), cancelled| {
            let control = Control { deadline: Some(asked.deadline), cancel: Some(cancelled) };
            let context = Context { machine: &asked.machine, limits: &asked.limits };
            let head = &group.head.described;
            let mut builder = Builder::new(Known {
                id: &head.id,
                platform,
                workspace: &asked.workspace,
                cwd: head.cwd.as_deref(),
                times: head.times,
                own_alone: made.own_alone,
            });
            let start = Cursor::Start;
            harness.scan(&group.head.reference, &start, Wants::ALL, &control, &mut builder, &context)?;
            for part in &group.parts {
                builder.next_stream(part.described.cwd.as_deref());
                let scanned =
                    harness.scan(&part.reference, &start, Wants::ALL, &control, &mut builder, &context);
                // Without a part that cannot be read, the session is still there.
                if let Err(error @ StoreError::Stopped(_)) = scanned {
                    return Err(error);
                }
            }
            Ok(builder.finish(&Redactor::new()))
        });
        for (made, outcome) in keys.into_iter().zip(outcomes) {
            match outcome {
                Outcome::Done(Ok(built)) if question.window.holds(built.last) => {
                    let built = Arc::new(built);
                    memory.keep_summary(made, Arc::clone(&built));
                    found.sessions.push(built);
                }
                Outcome::Done(Ok(_)) => found.in_window -= 1,
                Outcome::Done(Err(error)) => {
                    if is_gone(&error) {
                        found.discovered -= 1;
                        found.in_window -= 1;
                    }
                    failed(&error, found);
                }
                Outcome::Panicked => {
                    found.failed(Failure::Broken);
                    found.unreadable += 1;
                }
                Outcome::Late => {
                    found.failed(Failure::Timeout);
                    found.unreadable += 1;
                }
            }
        }
    }
}

fn is_gone(error: &StoreError) -> bool {
    matches!(error, StoreError::NotFound { .. } | StoreError::Carrier(CarrierError::NotFound { .. }))
}

/// Counts a session that could not be read. One that is gone since it was listed is none.
fn failed(error: &StoreError, found: &mut Found) {
    match error {
        error if is_gone(error) => {}
        StoreError::Stopped(_) => {
            found.failed(Failure::Timeout);
            found.unreadable += 1;
        }
        error => found.cannot_read(1, || error.to_string()),
    }
}

/// Puts subagents to the sessions that they are parts of: those whose ids say so (`session/agent`).
/// A subagent whose records name it as a thread of its own is a session of its own, and so is one
/// whose session is not there.
fn groups(sessions: Vec<Session>) -> Vec<Group> {
    let is_part = |session: &Session| {
        let whole = session.described.id.split_once('/').map(|(whole, _)| whole.to_owned());
        whole.filter(|_| session.described.class == Class::Sidecar)
    };
    let mut groups: Vec<Group> = Vec::new();
    let mut by_id: HashMap<String, usize> = HashMap::new();
    let mut parts = Vec::new();
    for session in sessions {
        if matches!(session.described.class, Class::Foreign | Class::Other) {
            continue;
        }
        if let Some(whole) = is_part(&session) {
            parts.push((whole, session));
            continue;
        }
        by_id.entry(session.described.id.clone()).or_insert(groups.len());
        groups.push(Group { belongs: session.belongs, head: session, parts: Vec::new() });
    }
    for (whole, session) in parts {
        match by_id.get(&whole).and_then(|at| groups.get_mut(*at)) {
            Some(group) => {
                group.belongs |= session.belongs;
                group.parts.push(session);
            }
            None => groups.push(Group { belongs: session.belongs, head: session, parts: Vec::new() }),
        }
    }
    for group in &mut groups {
        group.parts.sort_by(|a, b| a.reference.cmp(&b.reference));
    }
    groups
}

/// Every session once: of several copies with one id that which was written last, then the
/// largest.
fn once(mut groups: Vec<Group>) -> Vec<Group> {
    groups.sort_by(|a, b| {
        let key = |group: &Group| (Reverse(group.last()), Reverse(group.head.bytes));
        (a.id(), key(a), &a.head.reference).cmp(&(b.id(), key(b), &b.head.reference))
    });
    groups.dedup_by(|later, first| later.id() == first.id());
    groups
}

/// The sessions that others may have been forked from.
struct Parents {
    ids: HashSet<String>,
    paths: HashSet<PathBuf>,
}

impl Parents {
    fn of(groups: &[Group]) -> Parents {
        Parents {
            ids: groups.iter().map(|group| group.id().to_owned()).collect(),
            paths: groups.iter().map(|group| group.head.reference.path.clone()).collect(),
        }
    }

    /// Whether the session that this one was copied from is there: what was copied counts there.
    fn have(&self, session: &Session) -> bool {
        session.described.parents.iter().any(|parent| {
            let copied = matches!(parent.relation, Relation::Forked | Relation::Resumed | Relation::Spawned);
            let own = parent.id.as_deref() == Some(session.described.id.as_str());
            let by_id = parent.id.as_ref().is_some_and(|id| self.ids.contains(id));
            let by_path = parent.path.as_deref().is_some_and(|path| self.holds_path(path, session));
            copied && !own && (by_id || by_path)
        })
    }

    /// Whether a parent is there under the path, or the name, that the record has for it.
    fn holds_path(&self, path: &Path, session: &Session) -> bool {
        let beside = path.file_name().and_then(|name| Some(session.reference.path.parent()?.join(name)));
        self.paths.contains(path) || beside.is_some_and(|beside| self.paths.contains(&beside))
    }
}
