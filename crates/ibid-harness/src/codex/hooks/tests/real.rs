//! The payloads that the real program gave its hooks (`fixtures/hooks/codex`).

use super::*;
use crate::core::hook_object::payloads;

/// The events of one run that are read, in the common form.
fn common(run: &str) -> Vec<Observation> {
    let input = payloads(&format!("codex/0.171.0/{run}"));
    let read = input.iter().filter(|(name, _)| !name.ends_with("SessionEnd"));
    read.map(|(_, input)| parse_observation(input).expect("a recognised event").common()).collect()
}

const ROOT: &str = "01a22ea6-0b33-7a80-914b-1501d2ff5113";
const CHILD: &str = "01a22ea6-0c5e-7a72-b33a-9c7be2814144";

#[test]
fn every_event_of_a_run_with_a_subagent_names_the_root_session() {
    let events = common("subagent");
    let names: Vec<_> = events.iter().map(|event| event.event.as_str()).collect();
    let expected =
        ["SessionStart", "UserPromptSubmit", "SubagentStart", "UserPromptSubmit", "SubagentStop", "Stop"];
    assert_eq!(names, expected);
    assert!(events.iter().all(|event| event.session == ROOT));
}

#[test]
fn the_prompt_of_the_person_and_the_prompt_of_the_parent_are_told_apart() {
    let origins: Vec<_> = common("subagent")
        .into_iter()
        .filter_map(|event| match event.boundary {
            Boundary::Prompt { origin } => Some((origin, event.agent.map(|agent| agent.id))),
            _ => None,
        })
        .collect();
    let child = Some(Text::from(CHILD));
    assert_eq!(origins, [(Some(Origin::Person), None), (Some(Origin::Agent), child)]);
}

#[test]
fn the_transcript_of_a_subagent_is_the_subagents_on_each_of_its_events() {
    let inside: Vec<_> = common("subagent").into_iter().filter(|event| event.agent.is_some()).collect();
    assert_eq!(inside.len(), 3);
    for event in inside {
        assert_eq!(event.transcript_path, None);
        let path = event.agent.and_then(|agent| agent.transcript_path).expect("a path");
        assert!(path.as_str().contains(CHILD), "{}", event.event);
    }
}

#[test]
fn the_transcript_that_a_nested_subagents_end_names_is_its_parents() {
    let input = payloads("codex/0.171.0/nested");
    let (_, input) = input.iter().find(|(name, _)| name.ends_with("SubagentStop")).expect("an end");
    let observation = parse_observation(input).expect("a recognised event");
    let LifecycleEvent::SubagentStop { agent_id, agent_transcript_path, .. } = &observation.event else {
        panic!("an end of a subagent")
    };
    let supplied = observation.transcript_path.clone().expect("a path");
    assert!(agent_transcript_path.as_ref().expect("a path").contains(agent_id));
    assert!(!supplied.contains(agent_id) && !supplied.contains(&observation.session_id));
    assert_eq!(observation.common().transcript_path, None, "it is not the root's");
}

#[test]
fn a_subagent_has_a_turn_of_its_own() {
    let events = common("subagent");
    let turn = |at: usize| events[at].turn.as_ref().expect("a turn").as_str();
    assert_eq!(turn(2), turn(3));
    assert_eq!(turn(2), turn(4));
    assert_ne!(turn(2), turn(1));
    assert_eq!(turn(5), turn(1));
}

#[test]
fn a_fork_starts_another_session() {
    let events = common("fork");
    let source = Some(Text::from("fork"));
    assert_eq!(events[0].boundary, Boundary::SessionStart { source });
    assert_ne!(events[0].session.as_str(), ROOT);
}

#[test]
fn a_resumed_session_keeps_its_id() {
    let source = Some(Text::from("resume"));
    assert_eq!(common("resume")[0].boundary, Boundary::SessionStart { source });
    assert!(common("resume").iter().all(|event| event.session == ROOT));
}

#[test]
fn the_end_of_a_session_is_known_and_not_read() {
    for run in ["subagent", "resume", "fork"] {
        let (_, end) = payloads(&format!("codex/0.171.0/{run}")).pop().expect("an end");
        refused(&end);
    }
}
