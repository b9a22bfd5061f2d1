//! What the lanes say of the session as a whole.

use ibid_model::{Boundary, CarrierRole, Message, Relation, Text, Timestamp};

use super::sightings::Sightings;
use super::{AtRest, Evidence, Fact, FactName, SAME_MOMENT_MS, Said, Sighting, Verdict};

pub(super) fn of(rest: &AtRest<'_>, seen: &Sightings<'_>) -> Vec<Fact> {
    vec![
        id(rest, seen),
        cwd(rest, seen),
        models(rest, seen),
        start(rest, seen),
        end(rest, seen),
        transcript(rest, seen),
        parent(rest, seen),
    ]
}

/// Whether two paths name one place.
pub(super) fn same_path(rest: &AtRest<'_>, one: &Text, other: &Text) -> Verdict {
    let real = |path| rest.resolved.get(path).unwrap_or(path);
    match one == other {
        true => Verdict::Agree,
        false if real(one) == real(other) => Verdict::SamePlace,
        false => Verdict::Disagree,
    }
}

/// Whether all that was announced is stored too.
fn compared(at_rest: &[Said], lifecycle: &[Said], same: impl Fn(&Text, &Text) -> Verdict) -> Verdict {
    Verdict::of(!at_rest.is_empty(), !lifecycle.is_empty(), || {
        let best = |said: &Said| {
            let verdicts: Vec<Verdict> =
                at_rest.iter().map(|stored| same(&stored.value, &said.value)).collect();
            [Verdict::Agree, Verdict::SamePlace].into_iter().find(|verdict| verdicts.contains(verdict))
        };
        let all: Option<Vec<Verdict>> = lifecycle.iter().map(best).collect();
        match all {
            None => Verdict::Disagree,
            Some(all) if all.contains(&Verdict::SamePlace) => Verdict::SamePlace,
            Some(_) => Verdict::Agree,
        }
    })
}

fn exactly(one: &Text, other: &Text) -> Verdict {
    if one == other { Verdict::Agree } else { Verdict::Disagree }
}

fn fact(
    name: FactName,
    at_rest: Vec<Said>,
    lifecycle: Vec<Said>,
    same: impl Fn(&Text, &Text) -> Verdict,
) -> Fact {
    let verdict = compared(&at_rest, &lifecycle, same);
    Fact { name, verdict, at_rest, lifecycle }
}

/// The values that observations give, each with its first place.
fn announced<'a>(seen: &Sightings<'a>, value: impl Fn(&'a Sighting) -> Option<&'a Text>) -> Vec<Said> {
    let mut said: Vec<Said> = Vec::new();
    for (sighting, value) in seen.own.iter().filter_map(|sighting| Some((*sighting, value(sighting)?))) {
        add(&mut said, value, || Some(Evidence::of_sighting(sighting)));
    }
    said
}

/// The values that messages give, each with its first place.
fn stored<'a>(rest: &AtRest<'a>, value: impl Fn(&'a Message) -> Option<&'a Text>) -> Vec<Said> {
    let mut said: Vec<Said> = Vec::new();
    for (message, value) in
        rest.session.messages.iter().filter_map(|message| Some((message, value(message)?)))
    {
        add(&mut said, value, || place(rest, message));
    }
    said
}

fn add(said: &mut Vec<Said>, value: &Text, evidence: impl FnOnce() -> Option<Evidence>) {
    match said.iter_mut().find(|known| known.value == *value) {
        Some(known) => known.times += 1,
        None => said.push(Said { value: value.clone(), evidence: evidence(), times: 1 }),
    }
}

fn place(rest: &AtRest<'_>, message: &Message) -> Option<Evidence> {
    message.sources.first().and_then(|source| Evidence::of_source(rest.session, source))
}

/// What the session as a whole says, unless messages say it with a place of their own.
fn with_whole(rest: &AtRest<'_>, mut said: Vec<Said>, value: Option<&Text>) -> Vec<Said> {
    if let Some(value) = value
        && !said.iter().any(|known| known.value == *value)
    {
        said.insert(0, Said { value: value.clone(), evidence: located(rest, value), times: 1 });
    }
    said
}

/// The record that says a value, as far as the caller found it.
fn located(rest: &AtRest<'_>, value: &Text) -> Option<Evidence> {
    let source = rest.places.get(value);
    source
        .and_then(|source| Evidence::of_source(rest.session, source))
        .or_else(|| Evidence::of_carrier(rest.session))
}

fn id(rest: &AtRest<'_>, seen: &Sightings<'_>) -> Fact {
    let at_rest = with_whole(rest, Vec::new(), Some(rest.root.text()));
    let lifecycle = announced(seen, |sighting| Some(sighting.observation.session.text()));
    fact(FactName::Id, at_rest, lifecycle, exactly)
}

fn cwd(rest: &AtRest<'_>, seen: &Sightings<'_>) -> Fact {
    let at_rest =
        with_whole(rest, stored(rest, |message| message.cwd.as_ref()), rest.session.meta.cwd.as_ref());
    let lifecycle = announced(seen, |sighting| sighting.observation.cwd.as_ref());
    fact(FactName::Cwd, at_rest, lifecycle, |one, other| same_path(rest, one, other))
}

fn models(rest: &AtRest<'_>, seen: &Sightings<'_>) -> Fact {
    let at_rest =
        with_whole(rest, stored(rest, |message| message.model.as_ref()), rest.session.meta.model.as_ref());
    // What a subagent uses is its own.
    let of_this = |sighting: &Sighting| !rest.agent.is_empty() || sighting.observation.agent.is_none();
    let lifecycle =
        announced(seen, |sighting| sighting.observation.model.as_ref().filter(|_| of_this(sighting)));
    fact(FactName::Models, at_rest, lifecycle, exactly)
}

fn time(at: Timestamp, evidence: Option<Evidence>) -> Said {
    Said { value: Text::from(at.to_string()), evidence, times: 1 }
}

/// A time at rest, with the first or last message that has it.
fn stored_time(rest: &AtRest<'_>, at: Option<Timestamp>) -> Vec<Said> {
    let Some(at) = at else { return Vec::new() };
    let message = || rest.session.messages.iter().find(|message| message.at == Some(at));
    let value = Text::from(at.to_string());
    let evidence = match rest.places.contains_key(&value) {
        true => None,
        false => message().and_then(|message| place(rest, message)),
    };
    vec![time(at, evidence.or_else(|| located(rest, &value)))]
}

fn is_start(rest: &AtRest<'_>, sighting: &Sighting) -> bool {
    match sighting.observation.boundary {
        Boundary::SessionStart { .. } => rest.agent.is_empty(),
        Boundary::SubagentStart => !rest.agent.is_empty(),
        _ => false,
    }
}

fn is_end(rest: &AtRest<'_>, sighting: &Sighting) -> bool {
    match sighting.observation.boundary {
        Boundary::SessionEnd { .. } => rest.agent.is_empty(),
        Boundary::SubagentStop => !rest.agent.is_empty(),
        _ => false,
    }
}

/// The announced start encloses what is stored: nothing is written before it. One behind the first
/// prompt is where the session was taken up again.
fn start(rest: &AtRest<'_>, seen: &Sightings<'_>) -> Fact {
    let first = rest.session.meta.started;
    let prompt = rest.session.messages.iter().filter(|m| m.is_prompt() && !m.inherited).find_map(|m| m.at);
    let sighting = seen.own.iter().find(|sighting| is_start(rest, sighting)).filter(|sighting| {
        prompt.or(first).is_none_or(|prompt| milliseconds(sighting.at, prompt) <= SAME_MOMENT_MS)
    });
    let lifecycle = sighting.map(|sighting| time(sighting.at, Some(Evidence::of_sighting(sighting))));
    let at_rest = stored_time(rest, first);
    let verdict = Verdict::of(first.is_some(), sighting.is_some(), || {
        let before = first.zip(sighting).map(|(first, sighting)| milliseconds(sighting.at, first));
        agree_within(before)
    });
    Fact { name: FactName::Started, verdict, at_rest, lifecycle: lifecycle.into_iter().collect() }
}

/// The last record is no end; it agrees with the announced one unless it is later.
fn end(rest: &AtRest<'_>, seen: &Sightings<'_>) -> Fact {
    let last = rest.session.meta.updated;
    // What goes on behind an end shows that it was none.
    let goes_on = |sighting: &&&Sighting| {
        let boundary = &sighting.observation.boundary;
        is_end(rest, sighting) || matches!(boundary, Boundary::SessionStart { .. } | Boundary::Prompt { .. })
    };
    let sighting = seen.own.iter().rev().find(goes_on).filter(|sighting| is_end(rest, sighting));
    let lifecycle = sighting.map(|sighting| time(sighting.at, Some(Evidence::of_sighting(sighting))));
    let at_rest = stored_time(rest, last);
    let verdict = Verdict::of(last.is_some(), sighting.is_some(), || {
        agree_within(last.zip(sighting).map(|(last, sighting)| milliseconds(last, sighting.at)))
    });
    Fact { name: FactName::Ended, verdict, at_rest, lifecycle: lifecycle.into_iter().collect() }
}

/// How much later the first time is.
fn milliseconds(one: Timestamp, other: Timestamp) -> i64 {
    one.as_milliseconds().saturating_sub(other.as_milliseconds())
}

fn agree_within(later: Option<i64>) -> Verdict {
    if later.is_some_and(|later| later <= SAME_MOMENT_MS) { Verdict::Agree } else { Verdict::Disagree }
}

fn transcript(rest: &AtRest<'_>, seen: &Sightings<'_>) -> Fact {
    let transcripts = rest.session.carriers.iter().filter(|carrier| carrier.role == CarrierRole::Transcript);
    let at_rest = transcripts
        .filter(|carrier| !carrier.path.is_empty())
        .map(|carrier| Said {
            value: carrier.path.clone(),
            evidence: Some(Evidence::AtRest {
                path: carrier.path.clone(),
                extent: ibid_model::Extent::Whole,
            }),
            times: 1,
        })
        .collect();
    let lifecycle = announced(seen, |sighting| match rest.agent.is_empty() {
        true => sighting.observation.transcript_path.as_ref(),
        false => sighting.observation.agent.as_ref().and_then(|agent| agent.transcript_path.as_ref()),
    });
    fact(FactName::TranscriptPath, at_rest, lifecycle, |one, other| same_path(rest, one, other))
}

/// Observations name the root alone, which is the parent of a subagent that it started itself.
fn parent(rest: &AtRest<'_>, seen: &Sightings<'_>) -> Fact {
    let spawned = rest.session.lineage.iter().find(|lineage| lineage.relation == Relation::Spawned);
    let parent = spawned.and_then(|lineage| lineage.parent.as_ref()).or_else(|| rest.session.parent());
    let at_rest = with_whole(rest, Vec::new(), parent.map(|parent| parent.text()));
    let by_root = !rest.agent.is_empty() && parent == Some(rest.root);
    let lifecycle = announced(seen, |sighting| Some(sighting.observation.session.text()).filter(|_| by_root));
    fact(FactName::Parent, at_rest, lifecycle, exactly)
}
