//! One session as its lanes tell it.
//!
//! The lane at rest is the session as its harness stored it, with the place of each record. The
//! lifecycle lane is what the harness announced while it ran, with the place of each observation in
//! the journal. [`explain`] lays the two side by side: for each fact what either lane says, whether
//! they agree, and where they do not, both values and none chosen. It is pure: what it is told is
//! all it knows, and nothing is guessed. What cannot be told apart is named as candidates.
//!
//! - Turns are matched by the harness's own id of the turn where both lanes have it, else by time
//!   where only one match is possible.
//! - Subagents are matched by their ids, and tied to the turn that started them.
//! - The order in which observations are handed in does not matter, and one that is there twice
//!   counts once. Observations of other sessions never enter.

mod agents;
mod candidates;
mod evidence;
mod explained;
mod facts;
mod input;
mod sightings;
mod spans;
mod turns;

use ibid_model::{Finding, FindingKind};

pub use evidence::{Evidence, Lane};
pub use explained::{
    Bound, Explained, Fact, FactName, LaneReport, LaneState, Matched, Named, Said, Spawned, State, Subagent,
    Subject, Tie, Turn, TurnOf, Verdict, schema,
};
pub use input::{AtRest, Availability, Lifecycle, Sighting};

/// The version of [`Explained`] in JSON.
pub const VERSION: u32 = 1;

/// Two times of one moment, taken by two programs of one machine, are not further apart than this,
/// in milliseconds.
const SAME_MOMENT_MS: i64 = 10_000;

/// Joins the lanes of one session.
#[must_use]
pub fn explain(rest: &AtRest<'_>, lifecycle: &Lifecycle) -> Explained {
    let seen = sightings::of(rest, lifecycle);
    let turns = turns::of(rest, &seen);
    let subagents = agents::of(rest, &seen, &turns);
    let facts = facts::of(rest, &seen);
    let mut findings = rest.findings.to_vec();
    findings.extend(lifecycle.findings.iter().cloned());
    findings.extend(disagreements(&facts, &subagents));
    let lanes = vec![at_rest(rest), of_journal(lifecycle, &seen, &turns)];
    let complete = lifecycle.findings.is_empty()
        && !lifecycle.rotated_away
        && lifecycle.availability == Availability::Open
        && rest.findings.iter().all(|finding| finding.severity() < ibid_model::Severity::Error);
    Explained {
        ibid: VERSION,
        session: Named { harness: rest.session.harness.clone(), id: rest.session.id.clone() },
        facts,
        turns: turns.turns,
        subagents,
        lanes,
        findings,
        complete,
    }
}

fn at_rest(rest: &AtRest<'_>) -> LaneReport {
    let mut report = LaneReport::new(Lane::AtRest, LaneState::Present);
    report.records = Some(rest.session.messages.len() as u64);
    report.first = rest.session.meta.started;
    report.last = rest.session.meta.updated;
    report.carriers = rest.session.carriers.iter().map(|carrier| carrier.path.clone()).collect();
    report
}

fn of_journal(lifecycle: &Lifecycle, seen: &sightings::Sightings<'_>, turns: &turns::Turns) -> LaneReport {
    let state = match (lifecycle.availability, seen.own.is_empty()) {
        (_, false) => LaneState::Present,
        (Availability::NoLane, true) => LaneState::NoLane,
        (Availability::NotInstalled, true) => LaneState::NotInstalled,
        (Availability::Unreadable, true) => LaneState::Unreadable,
        (Availability::Open, true) => LaneState::Silent,
    };
    let mut report = LaneReport::new(Lane::Lifecycle, state);
    report.records = Some(seen.own.len() as u64);
    report.repeated = seen.repeated;
    report.first = seen.own.first().map(|sighting| sighting.at);
    report.last = seen.own.last().map(|sighting| sighting.at);
    report.programs = seen.programs();
    report.prompts_of_the_harness = turns.of_the_harness;
    report.extra_stops = turns.extra_stops;
    report.unread = lifecycle.findings.iter().map(|finding| finding.count).sum();
    report.rotated_away = lifecycle.rotated_away;
    report
}

fn disagreements(facts: &[Fact], subagents: &[Subagent]) -> Vec<Finding> {
    let of_facts = facts.iter().filter(|fact| fact.verdict == Verdict::Disagree).map(|fact| {
        format!("the lanes do not agree on the {}; both values are shown, and none is chosen", fact.name)
    });
    let of_agents = subagents.iter().flat_map(|agent| {
        let kind = agent.kind.verdict == Verdict::Disagree;
        let turn = agent.turn.verdict == Verdict::Disagree;
        let of = |what: &str| format!("the lanes do not agree on the {what} of a subagent");
        [kind.then(|| of("kind")), turn.then(|| of("turn"))].into_iter().flatten()
    });
    let details: Vec<String> = of_facts.chain(of_agents).collect();
    details.into_iter().map(|detail| Finding::new(FindingKind::LanesDisagree, detail)).collect()
}
