//! What was read of a platform's sessions, for as long as their files do not change.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::sync::Arc;

use ibid_carrier::fingerprint::Fingerprint;
use ibid_harness::{Class, Discovered, Reference};
use ibid_model::{FindingKind, Relation, Severity, Timestamp};

use crate::summary::Built;

/// The most bytes of summaries that are remembered of one platform.
const SUMMARIES: usize = 48 << 20;

/// How many projects a session's answers are remembered for.
const PROJECTS: usize = 4;

/// The longest id of a session, in bytes.
pub(crate) const LONGEST_ID: usize = 4 << 10;

/// What a list needs of a session. It shares no memory with the files that it was read from.
#[derive(Clone, Debug)]
pub(crate) struct Described {
    pub(crate) id: String,
    pub(crate) class: Class,
    pub(crate) cwd: Option<String>,
    pub(crate) parents: Vec<Parent>,
    /// The first and the last time: of its records, else of its description, else of its files.
    pub(crate) times: [Option<Timestamp>; 2],
    /// The files that it lives in, beside the one that names it.
    pub(crate) carriers: Vec<PathBuf>,
    /// Whether nothing of it could be made out.
    pub(crate) damaged: bool,
}

/// A session that another one came from.
#[derive(Clone, Debug)]
pub(crate) struct Parent {
    pub(crate) relation: Relation,
    pub(crate) id: Option<String>,
    pub(crate) path: Option<PathBuf>,
}

impl Described {
    pub(crate) fn of(found: &Discovered) -> Described {
        let own = &found.reference.path;
        let carriers = found.carriers.iter().map(|carrier| PathBuf::from(carrier.path.as_str()));
        let parents = found.lineage.iter().map(|lineage| Parent {
            relation: lineage.relation,
            id: lineage.parent.as_ref().map(ToString::to_string),
            path: lineage.parent_path.as_ref().map(|path| PathBuf::from(path.as_str())),
        });
        let (started, updated) = (found.meta.started, found.meta.updated);
        let times = match (started, updated) {
            (None, None) => [written(own); 2],
            (first, last) => [first.or(last), last.or(first)],
        };
        // An id that no harness writes must not fill an answer.
        let unnamed = found.id.is_empty() || found.id.as_str().len() > LONGEST_ID;
        let class = if unnamed { Class::Other } else { found.class };
        let meta = &found.meta;
        let tells_nothing =
            meta.cwd.is_none() && meta.preview.is_none() && (started, updated) == (None, None);
        let shapeless = matches!(class, Class::Foreign | Class::Other) || tells_nothing;
        // What a crash of the machine left behind of a file is nothing but NUL bytes.
        let broken = |kind: FindingKind| kind.severity() == Severity::Error || kind == FindingKind::NulRun;
        Described {
            id: if unnamed { String::new() } else { found.id.to_string() },
            class,
            cwd: found.meta.cwd.as_ref().map(ToString::to_string),
            parents: parents.collect(),
            times,
            carriers: carriers.filter(|path| path != own).collect(),
            damaged: unnamed || (shapeless && found.findings.iter().any(|finding| broken(finding.kind))),
        }
    }
}

/// When a file was last written.
fn written(path: &std::path::Path) -> Option<Timestamp> {
    let modified = std::fs::metadata(path).and_then(|metadata| metadata.modified()).ok()?;
    let since = modified.duration_since(std::time::UNIX_EPOCH).ok()?;
    Timestamp::from_milliseconds(i64::try_from(since.as_millis()).ok()?)
}

/// What is remembered of one session.
#[derive(Debug)]
struct Entry {
    fingerprint: Fingerprint,
    described: Arc<Described>,
    /// Whether its files lead into a project that it did not begin in, by the project's number.
    enters: Vec<(u64, bool)>,
}

/// What a summary was made for and from.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Made {
    pub(crate) project: u64,
    pub(crate) reference: Reference,
    /// The fingerprints of the session and of what is told with it.
    pub(crate) fingerprints: Vec<Fingerprint>,
    /// Whether what was copied from a parent is left out.
    pub(crate) own_alone: bool,
}

/// What is remembered of the sessions of a platform.
#[derive(Debug, Default)]
pub(crate) struct Memory {
    entries: HashMap<Reference, Entry>,
    summaries: HashMap<Made, (Arc<Built>, u64)>,
    bytes: usize,
    /// Counts the questions, so that what was not asked for lately is forgotten first.
    clock: u64,
}

impl Memory {
    /// The description of a session, when its files are as they were.
    pub(crate) fn described(&self, reference: &Reference, now: &Fingerprint) -> Option<Arc<Described>> {
        let entry = self.entries.get(reference)?;
        (entry.fingerprint == *now).then(|| Arc::clone(&entry.described))
    }

    /// Whether a session leads into the project, when that is known of its files as they are.
    pub(crate) fn enters(&self, reference: &Reference, now: &Fingerprint, project: u64) -> Option<bool> {
        let entry = self.entries.get(reference).filter(|entry| entry.fingerprint == *now)?;
        entry.enters.iter().find(|(known, _)| *known == project).map(|(_, enters)| *enters)
    }

    pub(crate) fn learn(
        &mut self,
        reference: &Reference,
        now: &Fingerprint,
        described: &Arc<Described>,
        enters: Option<(u64, bool)>,
    ) {
        let fresh =
            || Entry { fingerprint: now.clone(), described: Arc::clone(described), enters: Vec::new() };
        let entry = self.entries.entry(reference.clone()).or_insert_with(fresh);
        if entry.fingerprint != *now {
            *entry = fresh();
        }
        if let Some((project, enters)) = enters {
            entry.enters.retain(|(known, _)| *known != project);
            entry.enters.push((project, enters));
            if entry.enters.len() > PROJECTS {
                entry.enters.remove(0);
            }
        }
    }

    /// Forgets the sessions that are no longer listed.
    pub(crate) fn keep_only(&mut self, listed: &HashSet<&Reference>) {
        if self.entries.len() > listed.len() {
            self.entries.retain(|reference, _| listed.contains(reference));
        }
        let mut freed = 0;
        self.summaries.retain(|made, (built, _)| {
            let keep = listed.contains(&made.reference);
            freed += if keep { 0 } else { built.bytes };
            keep
        });
        self.bytes = self.bytes.saturating_sub(freed);
        self.clock += 1;
    }

    pub(crate) fn summary(&mut self, made: &Made) -> Option<Arc<Built>> {
        let clock = self.clock;
        let (built, used) = self.summaries.get_mut(made)?;
        *used = clock;
        Some(Arc::clone(built))
    }

    pub(crate) fn keep_summary(&mut self, made: Made, built: Arc<Built>) {
        self.bytes += built.bytes;
        if let Some((old, _)) = self.summaries.insert(made, (built, self.clock)) {
            self.bytes = self.bytes.saturating_sub(old.bytes);
        }
        while self.bytes > SUMMARIES {
            let oldest =
                self.summaries.iter().min_by_key(|(_, (_, used))| *used).map(|(made, _)| made.clone());
            let Some((old, _)) = oldest.and_then(|made| self.summaries.remove(&made)) else { break };
            self.bytes = self.bytes.saturating_sub(old.bytes);
        }
    }
}
