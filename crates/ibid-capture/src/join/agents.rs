//! Subagents, by both lanes.

use std::collections::HashMap;

use ibid_model::{
    Block, Boundary, CarrierRole, Lineage, Message, Relation, Session, SessionId, StopReason, Text,
};

use super::facts::same_path;
use super::sightings::Sightings;
use super::spans;
use super::turns::Turns;
use super::{
    AtRest, Bound, Evidence, Lane, Sighting, Spawned, State, Subagent, Subject, Tie, TurnOf, Verdict,
};

/// Subagents of subagents are followed this far.
const DEPTH: usize = 16;

/// A subagent as it is stored.
struct Stored<'a> {
    session: &'a Session,
    lineage: &'a Lineage,
}

/// A subagent as it was announced.
#[derive(Default)]
struct Announced<'a> {
    sightings: Vec<&'a Sighting>,
}

impl<'a> Announced<'a> {
    fn first(&self, is: fn(&Boundary) -> bool) -> Option<&'a Sighting> {
        self.sightings.iter().copied().find(|sighting| is(&sighting.observation.boundary))
    }

    fn last(&self, is: fn(&Boundary) -> bool) -> Option<&'a Sighting> {
        self.sightings.iter().rev().copied().find(|sighting| is(&sighting.observation.boundary))
    }

    fn texts(&self, value: impl Fn(&'a Sighting) -> Option<&'a Text>) -> Vec<Text> {
        let mut texts: Vec<Text> = Vec::new();
        for text in self.sightings.iter().filter_map(|sighting| value(sighting)) {
            if !texts.contains(text) {
                texts.push(text.clone());
            }
        }
        texts
    }
}

pub(super) fn of(rest: &AtRest<'_>, seen: &Sightings<'_>, turns: &Turns) -> Vec<Subagent> {
    let stored: Vec<Stored<'_>> = rest
        .subagents
        .iter()
        .filter_map(|session| {
            let lineage = session.lineage.iter().find(|lineage| lineage.relation == Relation::Spawned)?;
            Some(Stored { session, lineage })
        })
        .collect();
    let announced = announced(rest, seen);
    let mut agents = Vec::new();
    let mut known = vec![false; stored.len()];
    for (id, said) in &announced {
        let (found, candidates) = which(&stored, id);
        if let Some(known) = found.and_then(|at| known.get_mut(at)) {
            *known = true;
        }
        let own = found.and_then(|at| stored.get(at));
        let mut agent = subagent(rest, seen, turns, &stored, own, Some(said), (*id).clone());
        agent.candidates = candidates;
        agents.push(agent);
    }
    for (own, _) in stored.iter().zip(known).filter(|(_, known)| !*known) {
        let id = own.session.id.text().clone();
        agents.push(subagent(rest, seen, turns, &stored, Some(own), None, id));
    }
    agents.sort_by_cached_key(|agent| {
        let began = agent.begin.as_ref().map(|begin| begin.at);
        (began.is_none(), began, agent.id.clone())
    });
    agents
}

/// The announced subagents by their ids, in the order in which they were first seen.
fn announced<'a>(rest: &AtRest<'_>, seen: &Sightings<'a>) -> Vec<(&'a Text, Announced<'a>)> {
    let mut agents: Vec<(&Text, Announced<'_>)> = Vec::new();
    let mut places: HashMap<&Text, usize> = HashMap::new();
    for sighting in &seen.own {
        let Some(agent) = &sighting.observation.agent else { continue };
        if rest.agent.contains(&agent.id) {
            continue;
        }
        let place = *places.entry(&agent.id).or_insert(agents.len());
        if agents.get(place).is_none() {
            agents.push((&agent.id, Announced::default()));
        }
        if let Some((_, announced)) = agents.get_mut(place) {
            announced.sightings.push(sighting);
        }
    }
    agents
}

/// The stored subagent of an announced id: by the id of its session, else by its name within its
/// parent where one alone has it. Several are candidates.
fn which(stored: &[Stored<'_>], id: &Text) -> (Option<usize>, Vec<SessionId>) {
    if let Some(at) = stored.iter().position(|own| own.session.id.text() == id) {
        return (Some(at), Vec::new());
    }
    let named: Vec<usize> = stored
        .iter()
        .enumerate()
        .filter(|(_, own)| own.lineage.agent.as_ref() == Some(id))
        .map(|(at, _)| at)
        .collect();
    match named.as_slice() {
        [one] => (Some(*one), Vec::new()),
        several => {
            let ids = several.iter().filter_map(|at| stored.get(*at)).map(|own| own.session.id.clone());
            (None, ids.collect())
        }
    }
}

fn subagent(
    rest: &AtRest<'_>,
    seen: &Sightings<'_>,
    turns: &Turns,
    all: &[Stored<'_>],
    own: Option<&Stored<'_>>,
    said: Option<&Announced<'_>>,
    id: Text,
) -> Subagent {
    let start = said.and_then(|said| said.first(|boundary| matches!(boundary, Boundary::SubagentStart)));
    let stop = said.and_then(|said| said.last(|boundary| matches!(boundary, Boundary::SubagentStop)));
    let call = own.and_then(|own| call_of(rest, all, own));
    let at_rest = own.and_then(|own| stored_turn(rest, turns, all, own, 0));
    let lifecycle = said.and_then(|said| announced_turn(turns, said, start));
    let last = own.and_then(|own| own.session.messages.last());
    let stored_end = last.filter(|last| last.stop.as_ref().is_some_and(is_over));
    let place = |message: &Message| {
        let session = own?.session;
        message.sources.first().and_then(|source| Evidence::of_source(session, source))
    };
    let begun = own.and_then(|own| own.session.meta.started).map(|at| Bound {
        at,
        lane: Lane::AtRest,
        evidence: own.and_then(|own| own.session.messages.first()).and_then(place),
    });
    let ended =
        stored_end.and_then(|last| Some(Bound { at: last.at?, lane: Lane::AtRest, evidence: place(last) }));
    let aborted = last.is_some_and(|last| last.stop == Some(StopReason::Aborted));
    let state = match (stop.is_some() || stored_end.is_some(), said.is_some() || aborted) {
        (true, _) => State::Ended,
        (false, true) => State::Unfinished,
        (false, false) => State::Unknown,
    };
    let parent = own.and_then(|own| own.lineage.parent.clone());
    Subagent {
        id,
        session: own.map(|own| own.session.id.clone()),
        within: parent.filter(|parent| *parent != rest.session.id),
        lanes: [own.map(|_| Lane::AtRest), said.map(|_| Lane::Lifecycle)].into_iter().flatten().collect(),
        kind: kind(own, said),
        transcript_path: transcript(rest, own, said),
        turn: TurnOf {
            verdict: Verdict::of(at_rest.is_some(), lifecycle.is_some(), || {
                match at_rest.map(|of| of.turn) == lifecycle.map(|of| of.turn) {
                    true => Verdict::Agree,
                    false => Verdict::Disagree,
                }
            }),
            at_rest,
            lifecycle,
        },
        begin: begun.or_else(|| start.map(bound)),
        end: stop.map(bound).or(ended),
        state,
        late: stop.is_some_and(|stop| is_late(seen, stop)),
        at_rest: call
            .map(|(evidence, _)| evidence)
            .or_else(|| own.and_then(|own| Evidence::of_carrier(own.session))),
        lifecycle: said
            .map(|said| said.sightings.iter().map(|s| Evidence::of_sighting(s)).collect())
            .unwrap_or_default(),
        candidates: Vec::new(),
    }
}

fn bound(sighting: &Sighting) -> Bound {
    Bound { at: sighting.at, lane: Lane::Lifecycle, evidence: Some(Evidence::of_sighting(sighting)) }
}

fn is_over(stop: &StopReason) -> bool {
    !matches!(stop, StopReason::ToolUse | StopReason::Aborted)
}

/// Whether the session ended before, and did not begin again.
fn is_late(seen: &Sightings<'_>, stop: &Sighting) -> bool {
    let before = seen.own.iter().filter(|sighting| sighting.at <= stop.at);
    let last = before.rev().find(|sighting| {
        let boundary = &sighting.observation.boundary;
        matches!(boundary, Boundary::SessionEnd { .. } | Boundary::SessionStart { .. })
    });
    last.is_some_and(|last| {
        matches!(last.observation.boundary, Boundary::SessionEnd { .. }) && last.at < stop.at
    })
}

fn kind(own: Option<&Stored<'_>>, said: Option<&Announced<'_>>) -> Subject {
    let at_rest = own.and_then(|own| own.lineage.agent_kind.clone());
    let of = |sighting: &Sighting| -> Option<Text> { sighting.observation.agent.as_ref()?.kind.clone() };
    let mut lifecycle: Vec<Text> = Vec::new();
    for kind in said.into_iter().flat_map(|said| &said.sightings).filter_map(|sighting| of(sighting)) {
        if !lifecycle.contains(&kind) {
            lifecycle.push(kind);
        }
    }
    let verdict = Verdict::of(at_rest.is_some(), !lifecycle.is_empty(), || {
        match lifecycle.iter().all(|kind| at_rest.as_ref() == Some(kind)) {
            true => Verdict::Agree,
            false => Verdict::Disagree,
        }
    });
    Subject { verdict, at_rest, lifecycle }
}

fn transcript(rest: &AtRest<'_>, own: Option<&Stored<'_>>, said: Option<&Announced<'_>>) -> Subject {
    let carriers = own.map(|own| own.session.carriers.as_slice()).unwrap_or_default();
    let at_rest = carriers
        .iter()
        .find(|carrier| carrier.role == CarrierRole::Transcript && !carrier.path.is_empty())
        .map(|carrier| carrier.path.clone());
    let lifecycle = said.map(|said| said.texts(|s| s.observation.agent.as_ref()?.transcript_path.as_ref()));
    let lifecycle = lifecycle.unwrap_or_default();
    let verdict = Verdict::of(at_rest.is_some(), !lifecycle.is_empty(), || {
        let verdicts: Vec<Verdict> =
            lifecycle.iter().filter_map(|path| Some(same_path(rest, at_rest.as_ref()?, path))).collect();
        [Verdict::Disagree, Verdict::SamePlace]
            .into_iter()
            .find(|v| verdicts.contains(v))
            .unwrap_or(Verdict::Agree)
    });
    Subject { verdict, at_rest, lifecycle }
}

/// The session that started a subagent: the one explained, or another subagent.
fn parent_of<'a>(rest: &AtRest<'a>, all: &[Stored<'a>], own: &Stored<'a>) -> Option<&'a Session> {
    let parent = own.lineage.parent.as_ref()?;
    match *parent == rest.session.id {
        true => Some(rest.session),
        false => all.iter().find(|other| other.session.id == *parent).map(|other| other.session),
    }
}

/// The call that started a subagent, and the message that it is in.
fn call_of<'a>(rest: &AtRest<'a>, all: &[Stored<'a>], own: &Stored<'a>) -> Option<(Evidence, &'a Message)> {
    let call = own.lineage.call.as_ref()?;
    let parent = parent_of(rest, all, own)?;
    let is_it = |block: &Block| matches!(block, Block::ToolUse(made) if made.id == *call);
    let message = parent.messages.iter().find(|message| message.blocks.iter().any(is_it))?;
    let evidence = message.sources.first().and_then(|source| Evidence::of_source(parent, source))?;
    Some((evidence, message))
}

/// The turn that started a stored subagent: by its call, by the id of the turn that its records
/// name, by that of the subagent that started it, or by its time.
fn stored_turn(
    rest: &AtRest<'_>,
    turns: &Turns,
    all: &[Stored<'_>],
    own: &Stored<'_>,
    depth: usize,
) -> Option<Spawned> {
    let parent = own.lineage.parent.as_ref()?;
    if *parent != rest.session.id {
        let parent = all.iter().find(|other| other.session.id == *parent).filter(|_| depth < DEPTH)?;
        let of_parent = stored_turn(rest, turns, all, parent, depth + 1)?;
        return Some(Spawned { turn: of_parent.turn, by: Tie::Parent });
    }
    let by_call = call_of(rest, all, own).and_then(|(_, message)| turns.by_message.get(&message.id));
    if let Some(turn) = by_call {
        return Some(Spawned { turn: *turn, by: Tie::Call });
    }
    let named =
        own.session.messages.iter().filter(|message| !message.inherited).find_map(|m| m.turn.as_ref());
    if let Some(turn) = named.and_then(|turn| turns.by_id.get(turn)) {
        return Some(Spawned { turn: *turn, by: Tie::TurnId });
    }
    let at = own.session.meta.started?.as_milliseconds();
    spans::only_at(&turns.stored, at).map(|turn| Spawned { turn, by: Tie::Time })
}

/// The turn that started an announced subagent: by the id that its start names, where that is one
/// of the session's (some harnesses name a turn of the subagent's own), else by its time.
fn announced_turn(turns: &Turns, said: &Announced<'_>, start: Option<&Sighting>) -> Option<Spawned> {
    let ids = said.sightings.iter().filter_map(|sighting| sighting.observation.turn.as_ref());
    let mut named: Vec<u64> = ids.filter_map(|id| turns.by_id.get(id).copied()).collect();
    named.sort_unstable();
    named.dedup();
    match (named.as_slice(), start) {
        ([turn], _) => Some(Spawned { turn: *turn, by: Tie::TurnId }),
        ([], Some(start)) => spans::only_at(&turns.announced, start.at.as_milliseconds())
            .map(|turn| Spawned { turn, by: Tie::Time }),
        _ => None,
    }
}
