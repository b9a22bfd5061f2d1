//! The payloads that the real program gave its hooks (`fixtures/hooks/claude-code`).

use super::*;
use crate::core::hook_object::payloads;

/// The events of one run that are read, in the common form.
fn common(run: &str) -> Vec<Observation> {
    let input = payloads(&format!("claude-code/{run}"));
    let read = input.iter().filter(|(name, _)| !name.ends_with("PreCompact"));
    read.map(|(_, input)| parse_observation(input).expect("a recognised event").common()).collect()
}

fn names(events: &[Observation]) -> Vec<&str> {
    events.iter().map(|event| event.event.as_str()).collect()
}

fn source(word: &str) -> Boundary {
    Boundary::SessionStart { source: Some(word.into()) }
}

#[test]
fn every_event_of_a_run_with_a_subagent_names_the_root_session_and_its_transcript() {
    for version in ["2.1.332", "2.1.197"] {
        for event in common(&format!("{version}/subagent")) {
            let path = event.transcript_path.expect("a path");
            assert!(path.as_str().ends_with(&format!("/{}.jsonl", event.session.as_str())));
        }
    }
}

#[test]
fn the_prompt_of_the_program_and_the_stop_that_answers_it_are_told_apart_from_the_persons() {
    let events = common("2.1.332/subagent");
    let expected = [
        "SessionStart",
        "UserPromptSubmit",
        "SubagentStart",
        "Stop",
        "SubagentStop",
        "UserPromptSubmit",
        "Stop",
        "SessionEnd",
    ];
    assert_eq!(names(&events), expected);
    assert_eq!(events[1].boundary, Boundary::Prompt { origin: Some(Origin::Person) });
    assert_eq!(events[5].boundary, Boundary::Prompt { origin: Some(Origin::Harness) });
    assert_eq!(events[3].turn, events[1].turn, "the first Stop is of the person's prompt");
    assert_eq!(events[6].turn, events[5].turn, "the second Stop is of the notification");
    assert_ne!(events[1].turn, events[5].turn);
}

#[test]
fn a_subagent_is_tied_to_the_prompt_that_it_came_from() {
    for (run, start, stop) in [("2.1.332/subagent", 2, 4), ("2.1.197/subagent", 2, 3)] {
        let events = common(run);
        assert_eq!(events[start].boundary, Boundary::SubagentStart);
        assert_eq!(events[stop].boundary, Boundary::SubagentStop);
        assert_eq!((&events[start].turn, &events[stop].turn), (&events[1].turn, &events[1].turn));
        let id = |at: usize| events[at].agent.as_ref().map(|agent| agent.id.clone());
        assert_eq!(id(start), id(stop));
        let transcript = events[stop].agent.as_ref().and_then(|agent| agent.transcript_path.clone());
        assert!(transcript.expect("a path").as_str().contains("/subagents/agent-"));
    }
}

#[test]
fn a_version_that_waits_for_its_subagents_stops_once() {
    let events = common("2.1.197/subagent");
    assert_eq!(events.iter().filter(|event| event.boundary == Boundary::Stop).count(), 1);
}

#[test]
fn a_compaction_is_announced_when_it_happened() {
    let events = common("2.1.332/compact");
    assert!(events.iter().any(|event| event.boundary == source("compact")));
    assert_eq!(events.iter().filter(|event| event.boundary == Boundary::Compacted).count(), 1);
    let input = payloads("claude-code/2.1.332/compact");
    let (_, before) = input.iter().find(|(name, _)| name.ends_with("PreCompact")).expect("a PreCompact");
    refused(before);
}

#[test]
fn a_session_that_is_cleared_ends_and_another_begins() {
    let events = common("2.1.332/clear");
    assert_eq!(names(&events), ["SessionStart", "SessionEnd", "SessionStart", "SessionEnd"]);
    assert_eq!(events[1].boundary, Boundary::SessionEnd { reason: Some("clear".into()) });
    assert_eq!(events[2].boundary, source("clear"));
    assert_ne!(events[1].session, events[2].session);
}

#[test]
fn a_resumed_session_keeps_its_id_and_a_fork_has_another() {
    let [first, resumed, fork] = ["subagent", "resume", "fork"].map(|run| common(&format!("2.1.332/{run}")));
    assert_eq!(resumed[0].boundary, source("resume"));
    assert_eq!(fork[0].boundary, source("fork"));
    assert_eq!(resumed[0].session, first[0].session);
    assert_ne!(fork[0].session, first[0].session);
}
