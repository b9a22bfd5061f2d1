//! The person's turns, by both lanes.

use std::collections::{HashMap, HashSet};

use ibid_model::{Boundary, Message, MessageId, Origin, Role, StopReason, Text};

use super::candidates::{self, Prompt};
use super::sightings::Sightings;
use super::spans::Span;
use super::{AtRest, Bound, Evidence, Lane, Matched, Sighting, State, Turn};

/// The turns, and what tells to which of them something belongs.
#[derive(Default)]
pub(super) struct Turns {
    pub(super) turns: Vec<Turn>,
    /// Announced prompts that are no person's.
    pub(super) of_the_harness: u64,
    /// Announced stops beyond the one of each turn.
    pub(super) extra_stops: u64,
    /// The numbers of turns by the messages that belong to them.
    pub(super) by_message: HashMap<MessageId, u64>,
    /// The numbers of turns by their ids.
    pub(super) by_id: HashMap<Text, u64>,
    /// From when to when turns went on, as the stored session has it.
    pub(super) stored: Vec<Span>,
    /// The same, as it was announced.
    pub(super) announced: Vec<Span>,
}

/// A turn of the stored session.
struct Stored<'a> {
    id: Option<&'a Text>,
    prompt: &'a Message,
    messages: Vec<&'a Message>,
    /// When the next turn began, a person's or not.
    until: Option<i64>,
}

/// A turn that was announced.
#[derive(Default)]
struct Announced<'a> {
    id: Option<&'a Text>,
    prompts: Vec<&'a Sighting>,
    stops: Vec<&'a Sighting>,
    /// When something else began.
    until: Option<i64>,
}

impl Announced<'_> {
    fn began(&self) -> Option<i64> {
        self.prompts.first().map(|prompt| prompt.at.as_milliseconds())
    }
}

/// A turn of either lane or both.
struct Joined {
    stored: Option<usize>,
    announced: Option<usize>,
    by: Matched,
    candidates: Vec<Evidence>,
}

pub(super) fn of(rest: &AtRest<'_>, seen: &Sightings<'_>) -> Turns {
    let (stored, not_persons) = stored_turns(rest);
    let mut turns = Turns::default();
    let announced = turns.take(seen, &not_persons);
    let joined = join(rest, &stored, &announced, seen);
    for (number, joined) in (1_u64..).zip(joined) {
        let (at_rest, said) =
            (joined.stored.and_then(|at| stored.get(at)), joined.announced.and_then(|at| announced.get(at)));
        turns.add(number, rest, at_rest, said, joined.by, joined.candidates);
    }
    turns
}

/// The person's turns at rest, and the ids of turns that are not the person's.
fn stored_turns<'a>(rest: &AtRest<'a>) -> (Vec<Stored<'a>>, HashSet<&'a Text>) {
    let mut turns: Vec<Stored<'a>> = Vec::new();
    let mut others = HashSet::new();
    let mut open = false;
    for message in rest.session.messages.iter().filter(|message| !message.inherited && !message.sidechain) {
        let at = message.at.map(|at| at.as_milliseconds());
        let current = turns.last_mut().filter(|_| open);
        let same = current.as_ref().is_some_and(|turn| turn.id.is_some() && turn.id == message.turn.as_ref());
        if message.is_prompt() {
            if let Some(turn) = current {
                if same {
                    turn.messages.push(message);
                    continue;
                }
                turn.until = at;
            }
            open = true;
            turns.push(Stored {
                id: message.turn.as_ref(),
                prompt: message,
                messages: vec![message],
                until: None,
            });
        } else if let (Role::User, Origin::Harness | Origin::Agent, Some(id)) =
            (message.role, message.origin, &message.turn)
        {
            // What the harness puts beside a prompt belongs to the turn of the prompt.
            if !same {
                others.insert(id);
                if let Some(turn) = current {
                    turn.until = at;
                    open = false;
                }
            }
        } else if let Some(turn) = current {
            turn.messages.push(message);
        }
    }
    let persons: HashSet<&Text> = turns.iter().filter_map(|turn| turn.id).collect();
    others.retain(|id| !persons.contains(id));
    (turns, others)
}

impl Turns {
    /// The person's turns as they were announced.
    fn take<'a>(&mut self, seen: &Sightings<'a>, not_persons: &HashSet<&Text>) -> Vec<Announced<'a>> {
        let of_root = || seen.own.iter().copied().filter(|sighting| sighting.observation.agent.is_none());
        let is_put_there = |boundary: &Boundary| matches!(boundary, Boundary::Prompt { origin: Some(origin) } if *origin != Origin::Person);
        let mut others: HashSet<&Text> = not_persons.iter().copied().collect();
        others.extend(
            of_root()
                .filter(|sighting| is_put_there(&sighting.observation.boundary))
                .filter_map(|sighting| sighting.observation.turn.as_ref()),
        );
        let mut turns: Vec<Announced<'a>> = Vec::new();
        let mut by_id: HashMap<&Text, usize> = HashMap::new();
        let mut current: Option<usize> = None;
        for sighting in of_root() {
            let observation = &sighting.observation;
            let at = sighting.at.as_milliseconds();
            let id = observation.turn.as_ref();
            let put_there = is_put_there(&observation.boundary) || id.is_some_and(|id| others.contains(id));
            match &observation.boundary {
                Boundary::Prompt { .. } | Boundary::SessionEnd { .. } | Boundary::SessionStart { .. } => {
                    let known = id.and_then(|id| by_id.get(id).copied());
                    let is_prompt = matches!(observation.boundary, Boundary::Prompt { .. });
                    if let Some(before) = current.and_then(|at| turns.get_mut(at))
                        && !(is_prompt && known.is_some() && known == current)
                    {
                        before.until.get_or_insert(at);
                    }
                    if !is_prompt {
                        continue;
                    }
                    if put_there {
                        self.of_the_harness += 1;
                        current = None;
                        continue;
                    }
                    let place = known.unwrap_or(turns.len());
                    match turns.get_mut(place) {
                        Some(turn) => turn.prompts.push(sighting),
                        None => turns.push(Announced { id, prompts: vec![sighting], ..Announced::default() }),
                    }
                    if let Some(id) = id {
                        by_id.insert(id, place);
                    }
                    current = Some(place);
                }
                Boundary::Stop if put_there => {}
                Boundary::Stop => {
                    let place = match id {
                        Some(id) => Some(by_id.get(id).copied().unwrap_or(turns.len())),
                        None => current,
                    };
                    let Some(place) = place else {
                        self.extra_stops += 1;
                        continue;
                    };
                    if turns.get(place).is_none() {
                        turns.push(Announced { id, ..Announced::default() });
                    }
                    if let Some(id) = id {
                        by_id.insert(id, place);
                    }
                    if let Some(turn) = turns.get_mut(place) {
                        self.extra_stops += u64::from(!turn.stops.is_empty());
                        turn.stops.push(sighting);
                    }
                }
                _ => {}
            }
        }
        turns
    }

    fn add(
        &mut self,
        number: u64,
        rest: &AtRest<'_>,
        stored: Option<&Stored<'_>>,
        announced: Option<&Announced<'_>>,
        by: Matched,
        candidates: Vec<Evidence>,
    ) {
        let id = stored.and_then(|turn| turn.id).or(announced.and_then(|turn| turn.id)).cloned();
        for id in [stored.and_then(|turn| turn.id), announced.and_then(|turn| turn.id)].into_iter().flatten()
        {
            self.by_id.entry(id.clone()).or_insert(number);
        }
        let place = |message: &Message| {
            message.sources.first().and_then(|source| Evidence::of_source(rest.session, source))
        };
        let at_rest = stored.and_then(|turn| place(turn.prompt));
        let mut begin = None;
        let mut end = None;
        let mut state = State::Unknown;
        if let Some(turn) = stored {
            for message in &turn.messages {
                self.by_message.insert(message.id.clone(), number);
            }
            if let Some(at) = turn.prompt.at {
                begin = Some(Bound { at, lane: Lane::AtRest, evidence: at_rest.clone() });
                self.stored.push(Span { turn: number, from: at.as_milliseconds(), to: turn.until });
            }
            let last = turn.messages.iter().rev().find(|message| message.role == Role::Assistant);
            let is_last = last.is_some_and(|last| turn.messages.last().is_some_and(|m| m.id == last.id));
            match last.filter(|_| is_last).and_then(|last| Some((last, last.stop.as_ref()?))) {
                Some((_, StopReason::Aborted)) => state = State::Unfinished,
                Some((_, StopReason::ToolUse)) | None => {}
                Some((last, _)) => {
                    state = State::Ended;
                    end = last.at.map(|at| Bound { at, lane: Lane::AtRest, evidence: place(last) });
                }
            }
        }
        let mut lifecycle = Vec::new();
        if let Some(turn) = announced {
            let prompt = turn.prompts.first();
            let stop = turn.stops.last();
            if begin.is_none() {
                begin = prompt.map(|prompt| bound(prompt));
            }
            if let Some(from) = turn.began() {
                let stopped = stop.map(|stop| stop.at.as_milliseconds());
                self.announced.push(Span { turn: number, from, to: stopped.or(turn.until) });
            }
            if end.is_none() && state != State::Unfinished {
                end = stop.map(|stop| bound(stop));
            }
            state = match (state, stop) {
                (State::Unknown, Some(_)) => State::Ended,
                (State::Unknown, None) => State::Unfinished,
                (state, _) => state,
            };
            lifecycle =
                turn.prompts.iter().chain(&turn.stops).map(|found| Evidence::of_sighting(found)).collect();
        }
        let lanes = [stored.map(|_| Lane::AtRest), announced.map(|_| Lane::Lifecycle)];
        self.turns.push(Turn {
            number,
            id,
            by,
            lanes: lanes.into_iter().flatten().collect(),
            message: stored.map(|turn| turn.prompt.id.clone()),
            begin,
            end,
            state,
            at_rest,
            lifecycle,
            candidates,
        });
    }
}

fn bound(sighting: &Sighting) -> Bound {
    Bound { at: sighting.at, lane: Lane::Lifecycle, evidence: Some(Evidence::of_sighting(sighting)) }
}

/// Finds what is the same turn in both lanes, and puts all of them in order.
fn join(
    rest: &AtRest<'_>,
    stored: &[Stored<'_>],
    announced: &[Announced<'_>],
    seen: &Sightings<'_>,
) -> Vec<Joined> {
    let ids: HashMap<&Text, usize> =
        announced.iter().enumerate().filter_map(|(at, turn)| Some((turn.id?, at))).collect();
    let mut taken: HashSet<usize> = HashSet::new();
    let mut matched: Vec<Option<(usize, Matched)>> = Vec::with_capacity(stored.len());
    for turn in stored {
        let found = turn.id.and_then(|id| ids.get(id).copied()).filter(|found| taken.insert(*found));
        matched.push(found.map(|found| (found, Matched::TurnId)));
    }
    let left: Vec<usize> =
        (0..stored.len()).filter(|at| matched.get(*at).is_some_and(Option::is_none)).collect();
    let free: Vec<usize> = (0..announced.len()).filter(|at| !taken.contains(at)).collect();
    let stored_left: Vec<Prompt> = left.iter().filter_map(|at| stored.get(*at)).map(prompt_of).collect();
    let announced_left: Vec<Prompt> = free
        .iter()
        .filter_map(|at| announced.get(*at))
        .map(|turn| Prompt { at: turn.began(), has_id: turn.id.is_some() })
        .collect();
    let possible = candidates::of(&stored_left, &announced_left, &moments(rest, seen));
    for (from, to) in candidates::only(&possible) {
        if let (Some(at), Some(found)) = (left.get(from), free.get(to))
            && let Some(place) = matched.get_mut(*at)
        {
            *place = Some((*found, Matched::Time));
            taken.insert(*found);
        }
    }
    let mut may_be: HashMap<usize, Vec<Evidence>> = HashMap::new();
    let mut joined = Vec::new();
    for (at, turn) in stored.iter().enumerate() {
        let found = matched.get(at).copied().flatten();
        let mut candidates = Vec::new();
        if found.is_none()
            && let Some(options) = left.binary_search(&at).ok().and_then(|at| possible.get(at))
        {
            let options =
                options.iter().filter_map(|option| free.get(*option)).filter(|o| !taken.contains(o));
            for option in options {
                let sighting = announced.get(*option).and_then(|turn| turn.prompts.first());
                candidates.extend(sighting.map(|sighting| Evidence::of_sighting(sighting)));
                let source = turn.prompt.sources.first();
                let own = source.and_then(|source| Evidence::of_source(rest.session, source));
                may_be.entry(*option).or_default().extend(own);
            }
        }
        joined.push(Joined {
            stored: Some(at),
            announced: found.map(|(announced, _)| announced),
            by: found.map_or(Matched::None, |(_, by)| by),
            candidates,
        });
    }
    insert_announced(&mut joined, stored, announced, &taken, may_be);
    joined
}

/// Puts what was only announced where its time is.
fn insert_announced(
    joined: &mut Vec<Joined>,
    stored: &[Stored<'_>],
    announced: &[Announced<'_>],
    taken: &HashSet<usize>,
    mut may_be: HashMap<usize, Vec<Evidence>>,
) {
    let time_of = |turn: &Joined| {
        let at_rest = turn.stored.and_then(|at| stored.get(at)).and_then(|turn| turn.prompt.at);
        let said = turn.announced.and_then(|at| announced.get(at));
        at_rest.map(|at| at.as_milliseconds()).or_else(|| said.and_then(first_time))
    };
    for (at, turn) in announced.iter().enumerate().filter(|(at, _)| !taken.contains(at)) {
        let began = first_time(turn);
        let later = joined.iter().position(|other| match (time_of(other), began) {
            (Some(other), Some(began)) => other > began,
            _ => false,
        });
        let candidates = may_be.remove(&at).unwrap_or_default();
        let new = Joined { stored: None, announced: Some(at), by: Matched::None, candidates };
        joined.insert(later.unwrap_or(joined.len()), new);
    }
}

fn first_time(turn: &Announced<'_>) -> Option<i64> {
    turn.began().or_else(|| turn.stops.first().map(|stop| stop.at.as_milliseconds()))
}

fn prompt_of(turn: &Stored<'_>) -> Prompt {
    Prompt { at: turn.prompt.at.map(|at| at.as_milliseconds()), has_id: turn.id.is_some() }
}

/// The moments that keep prompts apart: prompts and answers at rest, and announced prompts and
/// stops.
fn moments(rest: &AtRest<'_>, seen: &Sightings<'_>) -> Vec<i64> {
    let at_rest = rest
        .session
        .messages
        .iter()
        .filter(|message| message.role == Role::Assistant || message.is_prompt())
        .filter_map(|message| message.at)
        .map(|at| at.as_milliseconds());
    let announced = seen
        .own
        .iter()
        .filter(|sighting| sighting.observation.agent.is_none())
        .filter(|sighting| matches!(sighting.observation.boundary, Boundary::Prompt { .. } | Boundary::Stop))
        .map(|sighting| sighting.at.as_milliseconds());
    let mut moments: Vec<i64> = at_rest.chain(announced).collect();
    moments.sort_unstable();
    moments.dedup();
    moments
}
