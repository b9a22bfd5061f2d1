//! The join of the lanes, over made-up sessions and observations.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test states what it expects")]

use std::collections::BTreeMap;

use ibid_capture::join::{
    AtRest, Availability, Explained, Fact, FactName, Lane, LaneState, Lifecycle, Matched, Sighting, State,
    Tie, Verdict, explain,
};
use ibid_capture::journal::Place;
use ibid_model::{
    Block, Boundary, CarrierInfo, CarrierRole, Lineage, Message, Observation, ObservedAgent, Origin, Raw,
    Relation, Role, Session, Source, StopReason, Text, Timestamp, Tool, ToolUse,
};
use proptest::prelude::*;

const ID: &str = "se\u{1f980} /1";

fn at(milliseconds: i64) -> Timestamp {
    Timestamp::from_milliseconds(1_800_000_000_000 + milliseconds).unwrap()
}

fn session(id: &str) -> Session {
    let mut session = Session::new("some-harness", id);
    session.carriers.push(CarrierInfo {
        path: format!("/home/dev/{id}.jsonl").into(),
        role: CarrierRole::Transcript,
        key: None,
        bytes: None,
    });
    session.meta.cwd = Some("/home/dev/my demo".into());
    session
}

/// Adds a message at a time, with the turn that it names.
fn say(session: &mut Session, role: Role, origin: Origin, time: i64, turn: Option<&str>) -> usize {
    let number = session.messages.len();
    let mut message = Message::new(format!("m{number}"), role, origin);
    message.at = Some(at(time));
    message.turn = turn.map(Text::from);
    message.blocks.push(Block::text("words"));
    message.sources.push(Source::bytes(0, number as u64 * 100, number as u64 * 100 + 99));
    session.meta.stamp(at(time));
    session.messages.push(message);
    number
}

fn asks(session: &mut Session, time: i64, turn: Option<&str>) -> usize {
    say(session, Role::User, Origin::Person, time, turn)
}

fn answers(session: &mut Session, time: i64, turn: Option<&str>) -> usize {
    let at = say(session, Role::Assistant, Origin::Model, time, turn);
    session.messages[at].model = Some("model-1".into());
    at
}

fn sighting(time: i64, boundary: Boundary, turn: Option<&str>) -> Sighting {
    let event = match boundary {
        Boundary::SessionStart { .. } => "SessionStart",
        Boundary::Prompt { .. } => "UserPromptSubmit",
        Boundary::Stop => "Stop",
        Boundary::SubagentStart => "SubagentStart",
        Boundary::SubagentStop => "SubagentStop",
        _ => "SessionEnd",
    };
    let start = u64::try_from(time).unwrap();
    Sighting {
        at: at(time),
        program: "program".into(),
        place: Some(Place { path: "/data/lifecycle/1.jsonl".into(), start, end: start + 90 }),
        observation: Observation {
            session: ID.into(),
            boundary,
            event: event.into(),
            turn: turn.map(Text::from),
            agent: None,
            transcript_path: None,
            cwd: Some("/home/dev/my demo".into()),
            model: None,
        },
    }
}

fn prompt(time: i64, turn: Option<&str>) -> Sighting {
    sighting(time, Boundary::Prompt { origin: None }, turn)
}

fn stop(time: i64, turn: Option<&str>) -> Sighting {
    sighting(time, Boundary::Stop, turn)
}

fn start(time: i64) -> Sighting {
    sighting(time, Boundary::SessionStart { source: Some("startup".into()) }, None)
}

fn end(time: i64) -> Sighting {
    sighting(time, Boundary::SessionEnd { reason: None }, None)
}

fn of_agent(mut sighting: Sighting, id: &str) -> Sighting {
    sighting.observation.agent =
        Some(ObservedAgent { id: id.into(), kind: Some("explorer".into()), transcript_path: None });
    sighting
}

fn joined_with(session: &Session, subagents: &[Session], sightings: Vec<Sighting>) -> Explained {
    let resolved = BTreeMap::from([(Text::from("/link"), Text::from("/home/dev/my demo"))]);
    let rest = AtRest {
        session,
        subagents,
        root: &session.id,
        agent: &[],
        findings: &[],
        places: &BTreeMap::new(),
        resolved: &resolved,
    };
    explain(&rest, &Lifecycle { sightings, ..Lifecycle::default() })
}

fn joined(session: &Session, sightings: Vec<Sighting>) -> Explained {
    joined_with(session, &[], sightings)
}

fn fact(explained: &Explained, name: FactName) -> &Fact {
    explained.facts.iter().find(|fact| fact.name == name).unwrap()
}

/// Two turns with ids, and one subagent in the second.
fn two_turns() -> (Session, Session) {
    let mut root = session(ID);
    asks(&mut root, 1_000, Some("turn\u{1f9ed}1"));
    answers(&mut root, 2_000, None);
    asks(&mut root, 60_000, Some("turn\u{1f9ed}2"));
    let call = answers(&mut root, 61_000, None);
    let tool = Tool::Raw(Raw { name: "spawn".into(), input: ibid_model::Json::null() });
    root.messages[call].blocks.push(Block::ToolUse(ToolUse {
        id: "call-1".into(),
        name: "spawn".into(),
        tool,
        extra: Vec::new(),
    }));
    let mut child = session("child");
    let mut lineage = Lineage::to(Relation::Spawned, ID);
    lineage.agent = Some("agent-1".into());
    lineage.agent_kind = Some("explorer".into());
    lineage.call = Some("call-1".into());
    child.lineage.push(lineage);
    say(&mut child, Role::User, Origin::Agent, 61_500, None);
    (root, child)
}

fn two_turns_announced() -> Vec<Sighting> {
    let (first, second) = (Some("turn\u{1f9ed}1"), Some("turn\u{1f9ed}2"));
    vec![
        start(500),
        prompt(990, first),
        stop(2_100, first),
        prompt(59_990, second),
        of_agent(sighting(61_400, Boundary::SubagentStart, second), "agent-1"),
        stop(62_000, second),
        end(62_500),
        of_agent(sighting(63_000, Boundary::SubagentStop, second), "agent-1"),
    ]
}

#[test]
fn turns_are_matched_by_the_id_that_both_lanes_give() {
    let (root, child) = two_turns();
    let explained = joined_with(&root, &[child], two_turns_announced());
    let turns: Vec<_> = explained.turns.iter().map(|turn| (turn.number, turn.by, turn.state)).collect();
    assert_eq!(turns, [(1, Matched::TurnId, State::Ended), (2, Matched::TurnId, State::Ended)]);
    let first = &explained.turns[0];
    assert_eq!(first.lanes, [Lane::AtRest, Lane::Lifecycle]);
    // The stored session has the beginning; its end was announced alone.
    let (begin, end) = (first.begin.as_ref().unwrap(), first.end.as_ref().unwrap());
    assert_eq!((begin.at, begin.lane), (at(1_000), Lane::AtRest));
    assert_eq!((end.at, end.lane), (at(2_100), Lane::Lifecycle));
    assert_eq!(first.lifecycle.len(), 2);
    assert!(explained.findings.is_empty());
    assert!(explained.complete);
}

#[test]
fn an_end_that_the_stored_session_has_is_not_taken_from_an_observation() {
    let (mut root, _) = two_turns();
    root.messages[1].stop = Some(StopReason::EndTurn);
    let explained = joined(&root, two_turns_announced());
    let end = explained.turns[0].end.as_ref().unwrap();
    assert_eq!((end.at, end.lane), (at(2_000), Lane::AtRest));
}

#[test]
fn a_subagent_is_tied_to_the_turn_that_started_it_by_both_lanes() {
    let (root, child) = two_turns();
    let explained = joined_with(&root, &[child], two_turns_announced());
    let [agent] = explained.subagents.as_slice() else { unreachable!("one subagent") };
    assert_eq!((agent.id.as_str(), agent.session.as_ref().unwrap().as_str()), ("agent-1", "child"));
    assert_eq!(agent.turn.verdict, Verdict::Agree);
    assert_eq!(agent.turn.at_rest.map(|of| (of.turn, of.by)), Some((2, Tie::Call)));
    assert_eq!(agent.turn.lifecycle.map(|of| (of.turn, of.by)), Some((2, Tie::TurnId)));
    assert_eq!(agent.kind.verdict, Verdict::Agree);
    // Its end came behind that of the session.
    assert!(agent.late);
    assert_eq!(agent.state, State::Ended);
}

#[test]
fn a_subagent_whose_start_names_a_turn_of_its_own_is_tied_by_time() {
    let (root, child) = two_turns();
    let mut sightings = two_turns_announced();
    sightings[4].observation.turn = Some("its own".into());
    sightings[7].observation.turn = Some("its own".into());
    let agent = joined_with(&root, &[child], sightings).subagents.remove(0);
    assert_eq!(agent.turn.lifecycle.map(|of| (of.turn, of.by)), Some((2, Tie::Time)));
    assert_eq!(agent.turn.verdict, Verdict::Agree);
}

#[test]
fn a_subagent_of_a_subagent_belongs_to_the_turn_of_its_parent() {
    let (root, child) = two_turns();
    let mut nested = session("nested");
    nested.lineage.push(Lineage::to(Relation::Spawned, "child"));
    let explained = joined_with(&root, &[child, nested], two_turns_announced());
    let nested = explained.subagents.iter().find(|agent| agent.id == "nested").unwrap();
    assert_eq!(nested.within.as_ref().unwrap().as_str(), "child");
    assert_eq!(nested.turn.at_rest.map(|of| (of.turn, of.by)), Some((2, Tie::Parent)));
    assert_eq!(nested.lanes, [Lane::AtRest]);
}

#[test]
fn a_subagent_that_only_one_lane_knows_says_so() {
    let (root, _) = two_turns();
    let agent = joined(&root, two_turns_announced()).subagents.remove(0);
    assert_eq!(agent.lanes, [Lane::Lifecycle]);
    assert_eq!((agent.session, agent.kind.verdict), (None, Verdict::OnlyLifecycle));
}

#[test]
fn a_name_that_two_stored_subagents_have_gives_candidates() {
    let (root, child) = two_turns();
    let mut twin = child.clone();
    twin.id = "twin".into();
    let explained = joined_with(&root, &[child, twin], two_turns_announced());
    let announced = explained.subagents.iter().find(|agent| agent.id == "agent-1").unwrap();
    assert_eq!(announced.session, None);
    assert_eq!(announced.candidates, ["child", "twin"]);
}

#[test]
fn lanes_that_disagree_are_both_shown_and_none_is_chosen() {
    let (root, mut child) = two_turns();
    child.lineage[0].agent_kind = Some("reviewer".into());
    let mut sightings = two_turns_announced();
    sightings[0].observation.model = Some("model-2".into());
    let explained = joined_with(&root, &[child], sightings);
    let models = fact(&explained, FactName::Models);
    assert_eq!(models.verdict, Verdict::Disagree);
    assert_eq!(
        (models.at_rest[0].value.as_str(), models.lifecycle[0].value.as_str()),
        ("model-1", "model-2")
    );
    assert_eq!(explained.subagents[0].kind.verdict, Verdict::Disagree);
    assert_eq!(explained.findings.len(), 2);
}

#[test]
fn a_directory_through_a_link_is_the_same_place_in_another_spelling() {
    let (root, _) = two_turns();
    let mut sightings = two_turns_announced();
    sightings[0].observation.cwd = Some("/link".into());
    assert_eq!(fact(&joined(&root, sightings.clone()), FactName::Cwd).verdict, Verdict::SamePlace);
    sightings[0].observation.cwd = Some("/elsewhere".into());
    assert_eq!(fact(&joined(&root, sightings), FactName::Cwd).verdict, Verdict::Disagree);
}

#[test]
fn without_observations_nothing_is_none_but_unknown() {
    let (root, child) = two_turns();
    let rest = AtRest {
        session: &root,
        subagents: std::slice::from_ref(&child),
        root: &root.id,
        agent: &[],
        findings: &[],
        places: &BTreeMap::new(),
        resolved: &BTreeMap::new(),
    };
    for (availability, state) in [
        (Availability::NoLane, LaneState::NoLane),
        (Availability::NotInstalled, LaneState::NotInstalled),
        (Availability::Unreadable, LaneState::Unreadable),
        (Availability::Open, LaneState::Silent),
    ] {
        let explained = explain(&rest, &Lifecycle { availability, ..Lifecycle::default() });
        assert_eq!(explained.lanes[1].state, state);
        assert_eq!(explained.complete, availability == Availability::Open);
        assert_eq!(fact(&explained, FactName::Cwd).verdict, Verdict::OnlyAtRest);
        assert!(explained.turns.iter().all(|turn| turn.state == State::Unknown && turn.by == Matched::None));
    }
}

#[test]
fn a_turn_without_a_stop_is_unfinished() {
    let (root, _) = two_turns();
    let mut sightings = two_turns_announced();
    sightings.remove(5);
    let explained = joined(&root, sightings);
    assert_eq!(explained.turns[1].state, State::Unfinished);
    assert_eq!(explained.turns[1].end, None);
}

#[test]
fn a_lost_prompt_hook_leaves_the_turn_to_the_stored_session() {
    let (root, _) = two_turns();
    let mut sightings = two_turns_announced();
    sightings.remove(1);
    let explained = joined(&root, sightings);
    assert_eq!((explained.turns.len(), explained.turns[0].by), (2, Matched::TurnId));
    assert_eq!(explained.turns[0].begin.as_ref().unwrap().lane, Lane::AtRest);
}

#[test]
fn a_prompt_that_was_announced_and_never_stored_is_a_turn_of_one_lane() {
    let (root, _) = two_turns();
    let mut sightings = two_turns_announced();
    sightings.push(prompt(30_000, Some("rejected")));
    let explained = joined(&root, sightings);
    assert_eq!(explained.turns.len(), 3);
    let between = &explained.turns[1];
    assert_eq!((between.id.as_deref(), between.message.as_ref()), (Some("rejected"), None));
    assert_eq!((between.lanes.as_slice(), between.state), ([Lane::Lifecycle].as_slice(), State::Unfinished));
}

#[test]
fn prompts_of_the_harness_and_their_stops_are_no_turns_of_the_person() {
    let (mut root, _) = two_turns();
    say(&mut root, Role::User, Origin::Agent, 64_000, Some("notice"));
    let mut sightings = two_turns_announced();
    sightings.extend([prompt(63_990, Some("notice")), stop(64_500, Some("notice"))]);
    sightings.push(sighting(65_000, Boundary::Prompt { origin: Some(Origin::Harness) }, Some("other")));
    let explained = joined(&root, sightings);
    assert_eq!(explained.turns.len(), 2);
    assert_eq!((explained.lanes[1].prompts_of_the_harness, explained.lanes[1].extra_stops), (2, 0));
}

#[test]
fn a_second_stop_of_a_turn_is_counted_and_ends_it() {
    let (root, _) = two_turns();
    let mut sightings = two_turns_announced();
    sightings.push(stop(9_000, Some("turn\u{1f9ed}1")));
    let explained = joined(&root, sightings);
    assert_eq!((explained.turns.len(), explained.lanes[1].extra_stops), (2, 1));
    assert_eq!(explained.turns[0].end.as_ref().unwrap().at, at(9_000));
}

/// Without ids.
fn plain() -> (Session, Vec<Sighting>) {
    let mut root = session(ID);
    for time in [1_000, 5_000, 9_000] {
        asks(&mut root, time, None);
        answers(&mut root, time + 1_000, None);
    }
    let sightings = [1_000, 5_000, 9_000]
        .into_iter()
        .flat_map(|time| [prompt(time - 20, None), stop(time + 1_100, None)]);
    (root, sightings.collect())
}

#[test]
fn without_ids_turns_are_matched_by_time() {
    let (root, sightings) = plain();
    let explained = joined(&root, sightings);
    assert!(explained.turns.iter().all(|turn| turn.by == Matched::Time && turn.state == State::Ended));
    assert_eq!(explained.turns.len(), 3);
}

#[test]
fn without_ids_two_prompts_of_one_moment_are_candidates() {
    let mut root = session(ID);
    asks(&mut root, 1_000, None);
    let sightings = vec![prompt(900, None), prompt(4_000, None)];
    let explained = joined(&root, sightings);
    assert_eq!(explained.turns.len(), 3);
    assert!(explained.turns.iter().all(|turn| turn.by == Matched::None));
    let stored = explained.turns.iter().find(|turn| turn.message.is_some()).unwrap();
    assert_eq!(stored.candidates.len(), 2);
}

#[test]
fn a_clock_that_is_hours_off_matches_nothing() {
    let (root, sightings) = plain();
    let off = sightings.into_iter().map(|sighting| Sighting {
        at: at(sighting.at.as_milliseconds() - 1_800_000_000_000 + 7_200_000),
        ..sighting
    });
    let explained = joined(&root, off.collect());
    assert_eq!(explained.turns.len(), 6);
    assert!(explained.turns.iter().all(|turn| turn.by == Matched::None));
}

#[test]
fn a_subagent_explained_by_itself_takes_the_observations_that_name_it() {
    let (root, child) = two_turns();
    let agent = [Text::from("child"), Text::from("agent-1")];
    let rest = AtRest {
        session: &child,
        subagents: &[],
        root: &root.id,
        agent: &agent,
        findings: &[],
        places: &BTreeMap::new(),
        resolved: &BTreeMap::new(),
    };
    let lifecycle = Lifecycle { sightings: two_turns_announced(), ..Lifecycle::default() };
    let explained = explain(&rest, &lifecycle);
    assert_eq!(explained.lanes[1].records, Some(2));
    assert_eq!(fact(&explained, FactName::Parent).verdict, Verdict::Agree);
    assert_eq!(fact(&explained, FactName::Id).verdict, Verdict::Agree);
}

#[test]
fn the_record_reads_back_as_it_was_written() {
    let (root, child) = two_turns();
    let explained = joined_with(&root, &[child], two_turns_announced());
    let text = serde_json::to_string(&explained).unwrap();
    assert_eq!(serde_json::from_str::<Explained>(&text).unwrap(), explained);
}

fn some_sighting() -> impl Strategy<Value = Sighting> {
    let turn = prop::option::of(prop::sample::select(vec!["turn\u{1f9ed}1", "turn\u{1f9ed}2", "third"]));
    let boundary = prop::sample::select(vec![
        Boundary::SessionStart { source: None },
        Boundary::Prompt { origin: None },
        Boundary::Prompt { origin: Some(Origin::Harness) },
        Boundary::Stop,
        Boundary::SubagentStart,
        Boundary::SubagentStop,
        Boundary::SessionEnd { reason: None },
    ]);
    let agent = prop::option::of(prop::sample::select(vec!["agent-1", "agent-2"]));
    (0_i64..120_000, boundary, turn, agent).prop_map(|(time, boundary, turn, agent)| {
        let sighting = sighting(time, boundary, turn);
        match agent {
            Some(agent) => of_agent(sighting, agent),
            None => sighting,
        }
    })
}

/// What is told of a session, without how many observations of it there were.
fn story(mut explained: Explained) -> Explained {
    for lane in &mut explained.lanes {
        lane.repeated = 0;
    }
    explained
}

proptest! {
    #[test]
    fn the_order_in_which_observations_are_handed_in_does_not_matter(
        sightings in prop::collection::vec(some_sighting(), 0..24),
        seed in any::<u64>(),
    ) {
        let (root, child) = two_turns();
        let mut mixed = sightings.clone();
        let count = mixed.len().max(1);
        for (from, place) in (0..mixed.len()).zip((0..).map(|n: usize| n.wrapping_mul(31).wrapping_add(seed as usize) % count)) {
            mixed.swap(from, place);
        }
        let children = [child];
        prop_assert_eq!(joined_with(&root, &children, mixed), joined_with(&root, &children, sightings));
    }

    #[test]
    fn an_observation_that_is_there_twice_counts_once(
        sightings in prop::collection::vec(some_sighting(), 0..24),
        again in prop::collection::vec(any::<prop::sample::Index>(), 0..8),
    ) {
        let (root, child) = two_turns();
        let mut doubled = sightings.clone();
        if !sightings.is_empty() {
            doubled.extend(again.iter().map(|at| at.get(&sightings).clone()));
        }
        let children = [child];
        let (once, twice) = (joined_with(&root, &children, sightings), joined_with(&root, &children, doubled));
        prop_assert_eq!(story(once), story(twice));
    }

    #[test]
    fn observations_of_other_sessions_never_enter(
        sightings in prop::collection::vec(some_sighting(), 0..16),
        others in prop::collection::vec((some_sighting(), "[a-z\u{1f980} ]{0,4}"), 0..16),
    ) {
        let (root, child) = two_turns();
        let strangers = others.into_iter().flat_map(|(sighting, more)| {
            // Longer ids, shorter ones, and none.
            let ids = [format!("{ID}{more}x"), ID.chars().take(3).collect(), String::new()];
            ids.map(|id| {
                let mut sighting = sighting.clone();
                sighting.observation.session = id.into();
                sighting
            })
        });
        let mut all: Vec<Sighting> = strangers.collect();
        all.extend(sightings.clone());
        let children = [child];
        prop_assert_eq!(joined_with(&root, &children, all), joined_with(&root, &children, sightings));
    }

    #[test]
    fn no_turn_is_lost_and_no_message_is_in_two(
        sightings in prop::collection::vec(some_sighting(), 0..24),
    ) {
        let (root, child) = two_turns();
        let explained = joined_with(&root, &[child], sightings);
        let stored: Vec<_> = explained.turns.iter().filter_map(|turn| turn.message.as_ref()).collect();
        prop_assert_eq!(stored.len(), 2);
        prop_assert_eq!(stored[0].as_str(), "m0");
        prop_assert_eq!(stored[1].as_str(), "m2");
        let numbers: Vec<u64> = explained.turns.iter().map(|turn| turn.number).collect();
        prop_assert_eq!(numbers, (1..=explained.turns.len() as u64).collect::<Vec<_>>());
    }
}
