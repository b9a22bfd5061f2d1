//! What is read of real and of hostile inputs.

use super::*;
use crate::core::hook_object::payloads;

/// Stands in every field that must not come through.
const SECRET: &str = "hunter2-SECRET";

/// The input of one event: these fields, and secrets in every neighbouring one.
fn input(event: &str, fields: serde_json::Value) -> Vec<u8> {
    let mut object = serde_json::json!({
        "event": event,
        "session_id": "id 🦀/1",
        "session_file": "/home/dev/.pi/agent/sessions/x y.jsonl",
        "cwd": "/home/dev/demo",
        "text": SECRET,
        "prompt": SECRET,
        "images": [SECRET],
        "message": {"role": "user", "content": SECRET},
        "env": {"API_KEY": SECRET},
        SECRET: SECRET,
    });
    for (key, value) in fields.as_object().expect("an object") {
        object[key] = value.clone();
    }
    serde_json::to_vec(&object).expect("an object")
}

/// Reads an input that must be read, and makes sure that no secret came through in any form.
fn observed(input: &[u8]) -> Observation {
    let observation = parse_observation(input).expect("a recognised event");
    let announced = read(input).expect("a recognised event");
    let common = serde_json::to_string(&announced.observation).expect("JSON");
    for shown in [format!("{observation:?}"), announced.native.clone(), common] {
        assert!(!shown.contains("SECRET"), "{shown}");
    }
    assert_eq!(kept(&announced.native), Some(announced.observation.clone()));
    announced.observation
}

#[test]
fn the_identities_of_a_session_start_are_exact() {
    let fields = serde_json::json!({"reason": "startup", "model": "m", "provider": "p"});
    let observation = observed(&input("session_start", fields));
    assert_eq!(observation.session.as_str(), "id 🦀/1");
    assert_eq!(observation.boundary, Boundary::SessionStart { source: Some("startup".into()) });
    assert_eq!(observation.transcript_path.as_deref(), Some("/home/dev/.pi/agent/sessions/x y.jsonl"));
    assert_eq!((observation.event.as_ref(), observation.model.as_deref()), ("session_start", Some("m")));
}

#[test]
fn only_a_prompt_that_no_extension_made_is_a_persons() {
    for (source, origin) in [
        (serde_json::json!("interactive"), Some(Origin::Person)),
        (serde_json::json!("rpc"), Some(Origin::Person)),
        (serde_json::json!("extension"), Some(Origin::Harness)),
        (serde_json::Value::Null, None),
    ] {
        let observation = observed(&input("input", serde_json::json!({"source": source})));
        assert_eq!(observation.boundary, Boundary::Prompt { origin });
    }
}

#[test]
fn each_event_that_is_read_is_a_boundary_of_its_own() {
    let boundary = |event: &str| observed(&input(event, serde_json::json!({"reason": "quit"}))).boundary;
    assert_eq!(boundary("agent_settled"), Boundary::Stop);
    assert_eq!(boundary("session_compact"), Boundary::Compacted);
    assert_eq!(boundary("session_shutdown"), Boundary::SessionEnd { reason: Some("quit".into()) });
    for event in LIFECYCLE_EVENTS {
        assert_eq!(observed(&input(event, serde_json::json!({}))).event.as_ref(), event);
    }
}

#[test]
fn what_is_no_event_of_the_extension_is_refused_without_a_word_of_it() {
    let event = |fields| input("input", fields);
    for bad in [
        input("agent_end", serde_json::json!({})),
        input(SECRET, serde_json::json!({})),
        event(serde_json::json!({"session_id": null})),
        event(serde_json::json!({"session_file": {"path": SECRET}})),
        event(serde_json::json!({"source": SECRET})),
        event(serde_json::json!({"reason": "telepathy"})),
        br#"{"event":"input","session_id":"a","session_id":"b"}"#.to_vec(),
        br#"[{"event":"input","session_id":"a"}]"#.to_vec(),
        br#"{"event":"input","session_id":"a"} x"#.to_vec(),
        b"hunter2-SECRET".to_vec(),
    ] {
        let error = read(&bad).expect_err("must be refused");
        assert_eq!(error.to_string(), "hook input is not a recognised pi lifecycle event");
    }
}

#[test]
fn a_real_run_reads_as_a_start_a_prompt_of_a_person_a_stop_and_an_end() {
    for run in ["pi/1.6.0/turn", "pi/1.6.0/resume"] {
        let observations: Vec<Observation> =
            payloads(run).iter().map(|(_, payload)| observed(payload)).collect();
        let boundaries: Vec<_> =
            observations.iter().map(|observation| observation.boundary.clone()).collect();
        assert_eq!(
            boundaries,
            [
                Boundary::SessionStart { source: Some("startup".into()) },
                Boundary::Prompt { origin: Some(Origin::Person) },
                Boundary::Stop,
                Boundary::SessionEnd { reason: Some("quit".into()) },
            ],
            "{run}"
        );
        assert!(observations.iter().all(|observation| observation.session == observations[0].session));
        let turns: Vec<_> = observations.iter().map(|observation| observation.turn.clone()).collect();
        assert!(turns[1].is_some() && turns[1] == turns[2], "{run}: {turns:?}");
        assert_eq!((&turns[0], &turns[3]), (&None, &None), "{run}");
    }
}

#[test]
fn of_two_real_prompts_on_their_way_neither_is_given_an_entry() {
    let turns: Vec<_> = payloads("pi/1.6.0/compact")
        .iter()
        .map(|(_, payload)| observed(payload))
        .filter(|observation| matches!(observation.boundary, Boundary::Prompt { .. }))
        .map(|observation| observation.turn.is_some())
        .collect();
    assert_eq!(turns, [true, false, false]);
}
