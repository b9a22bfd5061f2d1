//! What the join is told.

use std::collections::BTreeMap;

use ibid_model::{Finding, Observation, Session, SessionId, Source, Text, Timestamp};

use crate::journal::Place;

/// The lane at rest.
#[derive(Clone, Copy, Debug)]
pub struct AtRest<'a> {
    /// The session.
    pub session: &'a Session,
    /// The sessions of its subagents, and of theirs.
    pub subagents: &'a [Session],
    /// The id that observations name: its own, or that of its root when it is a subagent.
    pub root: &'a SessionId,
    /// Of a subagent: the ids that observations may give it. Empty for a session of its own.
    pub agent: &'a [Text],
    /// What was wrong with the stored session.
    pub findings: &'a [Finding],
    /// Records of the session that say a value which no message has: its id, or a time in RFC 3339.
    pub places: &'a BTreeMap<Text, Source>,
    /// Paths that either lane names, with where they lead once links are followed. A path that is
    /// not here is compared as it is written.
    pub resolved: &'a BTreeMap<Text, Text>,
}

/// Whether the harness announces anything.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Availability {
    /// It has no hooks that Ibid reads.
    NoLane,
    /// It has, and none of Ibid is installed.
    NotInstalled,
    /// The journal could not be read.
    Unreadable,
    /// The journal was read.
    #[default]
    Open,
}

/// The lifecycle lane.
#[derive(Clone, Debug, Default)]
pub struct Lifecycle {
    /// Observations, in any order; those of other sessions are left out.
    pub sightings: Vec<Sighting>,
    /// Whether there could be any.
    pub availability: Availability,
    /// What of the journal could not be read.
    pub findings: Vec<Finding>,
    /// Whether older entries were removed from the journal.
    pub rotated_away: bool,
}

/// An observation, with where and when it was made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sighting {
    /// When the hook ran, by the clock of the machine.
    pub at: Timestamp,
    /// The program that announced it, as the journal names it.
    pub program: Text,
    /// Where the journal keeps it.
    pub place: Option<Place>,
    /// What it says.
    pub observation: Observation,
}
