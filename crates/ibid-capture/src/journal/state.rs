//! What the journal says of the hooks themselves: `ibid doctor` shows it.

use std::collections::BTreeMap;
use std::path::PathBuf;

use ibid_model::{Finding, Timestamp};
use serde::Serialize;

use super::{Entry, Journal, Refusal, ReportFailure};

/// The journal as a whole.
#[derive(Clone, Debug, Serialize)]
pub struct State {
    /// Its directory.
    pub path: PathBuf,
    /// Whether it is there.
    pub present: bool,
    /// How many segments it has.
    pub segments: usize,
    /// Files of single entries that wait to be moved into a segment.
    pub side_files: usize,
    /// How large all of them are, in bytes.
    pub bytes: u64,
    /// What rotation removed.
    pub removed: Removed,
    /// How many entries could not be kept.
    pub lost: u64,
    /// How many records were torn, or are being written.
    pub torn: u64,
    /// What the journal has of each program, by its id; refusals for none that is known come first.
    pub programs: Vec<ProgramState>,
    /// What could not be read.
    pub findings: Vec<Finding>,
}

/// What rotation removed since the journal was begun.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Removed {
    /// How many segments.
    pub segments: u64,
    /// How many lines they had, if the first segment that is there says so.
    pub lines: Option<u64>,
}

/// What the journal has of one program.
#[derive(Clone, Debug, Default, Serialize)]
pub struct ProgramState {
    /// The program; none for hooks that were called without one, or for one that is not known.
    pub program: Option<String>,
    /// How many observations.
    pub observations: u64,
    /// When the last one was made.
    pub last: Option<Timestamp>,
    /// Why its hooks refused input.
    pub refusals: Vec<RefusalCount>,
    /// Why observations were not taken by the process that listens.
    pub unreported: Vec<FailureCount>,
}

/// How often input was refused for one reason.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RefusalCount {
    /// The reason.
    pub reason: Refusal,
    /// How often.
    pub count: u64,
    /// The first time that is in the journal.
    pub first: Timestamp,
    /// The last time.
    pub last: Timestamp,
}

/// How often reports failed for one reason.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FailureCount {
    /// The reason.
    pub failure: ReportFailure,
    /// The status of the answers, where there were any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// How often.
    pub count: u64,
    /// The last time.
    pub last: Timestamp,
}

/// A count with the first and last time.
#[derive(Clone, Copy)]
struct Span {
    count: u64,
    first: Timestamp,
    last: Timestamp,
}

impl Span {
    fn widen(known: Option<Span>, at: Timestamp) -> Span {
        match known {
            Some(span) => Span { count: span.count + 1, first: span.first.min(at), last: span.last.max(at) },
            None => Span { count: 1, first: at, last: at },
        }
    }
}

#[derive(Default)]
struct Counts {
    observations: Option<Span>,
    refusals: BTreeMap<Refusal, Span>,
    failures: BTreeMap<(ReportFailure, Option<u16>), Span>,
}

impl Journal {
    /// Reads the whole journal and counts. Memory is that of one line, and of a count for each program.
    #[must_use]
    pub fn state(&self) -> State {
        let mut programs: BTreeMap<Option<String>, Counts> = BTreeMap::new();
        let seen = self.walk(&|_| true, &mut |kept| {
            let counts = programs.entry(kept.entry.program().map(str::to_owned)).or_default();
            match kept.entry {
                Entry::Observed(observed) => {
                    counts.observations = Some(Span::widen(counts.observations, observed.at));
                }
                Entry::Refused(refused) => {
                    let span = Span::widen(counts.refusals.get(&refused.reason).copied(), refused.at);
                    counts.refusals.insert(refused.reason, span);
                }
                Entry::Unreported(unreported) => {
                    let key = (unreported.failure, unreported.status);
                    let span = Span::widen(counts.failures.get(&key).copied(), unreported.at);
                    counts.failures.insert(key, span);
                }
            }
        });
        State {
            path: self.path().to_owned(),
            present: seen.present,
            segments: seen.segments,
            side_files: seen.side_files,
            bytes: seen.bytes,
            removed: seen.removed,
            lost: seen.lost,
            torn: seen.torn,
            programs: programs.into_iter().map(|(program, counts)| counts.state(program)).collect(),
            findings: seen.findings,
        }
    }
}

impl Counts {
    fn state(self, program: Option<String>) -> ProgramState {
        let refusals = self.refusals.into_iter().map(|(reason, span)| RefusalCount {
            reason,
            count: span.count,
            first: span.first,
            last: span.last,
        });
        let unreported = self.failures.into_iter().map(|((failure, status), span)| FailureCount {
            failure,
            status,
            count: span.count,
            last: span.last,
        });
        ProgramState {
            program,
            observations: self.observations.map_or(0, |span| span.count),
            last: self.observations.map(|span| span.last),
            refusals: refusals.collect(),
            unreported: unreported.collect(),
        }
    }
}
