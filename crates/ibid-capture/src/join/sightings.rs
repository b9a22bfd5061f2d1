//! The observations of one session, each once and in order.

use std::cmp::Reverse;

use ibid_model::{Boundary, Observation, Text};

use super::{AtRest, Lifecycle, Sighting};

/// The same observation again within this time, in milliseconds, is the same event: a hook that is
/// installed twice runs twice.
const SAME_EVENT_MS: i64 = 2_000;

/// So many observations are looked back for the same event.
const LOOKED_BACK: usize = 256;

/// The observations of a session.
pub(super) struct Sightings<'a> {
    /// Each once, by time.
    pub(super) own: Vec<&'a Sighting>,
    /// How many more there were of the same events.
    pub(super) repeated: u64,
}

impl Sightings<'_> {
    pub(super) fn programs(&self) -> Vec<Text> {
        let mut programs: Vec<Text> = self.own.iter().map(|sighting| sighting.program.clone()).collect();
        programs.sort();
        programs.dedup();
        programs
    }
}

/// Those of a session: by its exact id, and for a subagent those that name it.
pub(super) fn of<'a>(rest: &AtRest<'_>, lifecycle: &'a Lifecycle) -> Sightings<'a> {
    let is_own = |sighting: &&Sighting| {
        let observation = &sighting.observation;
        let of_agent = || observation.agent.as_ref().is_some_and(|agent| rest.agent.contains(&agent.id));
        observation.session == *rest.root && (rest.agent.is_empty() || of_agent())
    };
    let mut all: Vec<&Sighting> = lifecycle.sightings.iter().filter(is_own).collect();
    all.sort_by_cached_key(|sighting| {
        let place = sighting.place.as_ref().map(|place| (place.path.clone(), place.start));
        (
            sighting.at,
            rank(&sighting.observation),
            place,
            sighting.program.clone(),
            text(&sighting.observation),
        )
    });
    let mut own: Vec<&Sighting> = Vec::with_capacity(all.len());
    let mut repeated = 0;
    for sighting in all {
        match is_again(&own, sighting) {
            true => repeated += 1,
            false => own.push(sighting),
        }
    }
    Sightings { own, repeated }
}

/// Whether an event was taken already. One with an id of a turn or an agent is known by it; of two
/// without any, something else may not lie between.
fn is_again(own: &[&Sighting], sighting: &Sighting) -> bool {
    let identified = sighting.observation.turn.is_some() || sighting.observation.agent.is_some();
    let looked_at = if identified { LOOKED_BACK } else { 1 };
    let near = own.iter().rev().take(looked_at).take_while(|before| apart(before, sighting) <= SAME_EVENT_MS);
    near.into_iter().any(|before| before.observation == sighting.observation)
}

fn apart(before: &Sighting, after: &Sighting) -> i64 {
    after.at.as_milliseconds().saturating_sub(before.at.as_milliseconds())
}

/// Of observations at one time, what encloses others comes first and ends last.
fn rank(observation: &Observation) -> (bool, Reverse<u8>, u8) {
    let (ends, depth) = match observation.boundary {
        Boundary::SessionStart { .. } => (false, 3),
        Boundary::Prompt { .. } => (false, 2),
        Boundary::SubagentStart => (false, 1),
        Boundary::Compacted => (false, 0),
        Boundary::SubagentStop => (true, 1),
        Boundary::Stop => (true, 2),
        Boundary::SessionEnd { .. } => (true, 3),
        // Boundaries that are not known yet enclose nothing.
        _ => (false, 0),
    };
    (ends, Reverse(if ends { 0 } else { depth }), if ends { depth } else { 0 })
}

/// What tells observations at one time apart when nothing else does.
fn text(observation: &Observation) -> String {
    serde_json::to_string(observation).unwrap_or_default()
}
