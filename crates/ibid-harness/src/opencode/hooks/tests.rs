//! What is read of real and of hostile inputs.

use super::*;
use crate::core::hook_object::payloads;

/// Stands in every field that must not come through.
const SECRET: &str = "hunter2-SECRET";

/// The input of one event: these fields, and secrets in every neighbouring one.
fn input(event: &str, fields: serde_json::Value) -> Vec<u8> {
    let mut object = serde_json::json!({
        "event": event,
        "session_id": "ses_child",
        "cwd": "/home/dev/demo",
        "text": SECRET,
        "prompt": SECRET,
        "parts": [{"type": "text", "text": SECRET}],
        "title": SECRET,
        "args": {"command": SECRET},
        "env": {"OPENAI_API_KEY": SECRET},
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
fn a_session_without_a_parent_starts_and_is_its_own_root() {
    let fields = serde_json::json!({"session_id": "ses 🦀/1", "root_id": "ses 🦀/1", "model": "m"});
    let observation = observed(&input("session.created", fields));
    assert_eq!(observation.boundary, Boundary::SessionStart { source: None });
    assert_eq!(observation.session.as_str(), "ses 🦀/1");
    assert_eq!((observation.agent, observation.model.as_deref()), (None, Some("m")));
}

#[test]
fn a_session_with_a_parent_is_a_subagent_of_its_root() {
    let fields = serde_json::json!({"parent_id": "ses_mid", "root_id": "ses_root", "agent": "general"});
    for (event, boundary) in [
        ("session.created", Boundary::SubagentStart),
        ("chat.message", Boundary::Prompt { origin: Some(Origin::Agent) }),
        ("session.idle", Boundary::SubagentStop),
    ] {
        let observation = observed(&input(event, fields.clone()));
        assert_eq!((observation.boundary, observation.session.as_str()), (boundary, "ses_root"));
        let agent = observation.agent.expect("a subagent");
        assert_eq!((agent.id.as_ref(), agent.kind.as_deref()), ("ses_child", Some("general")));
    }
}

#[test]
fn a_prompt_is_a_persons_unless_opencode_made_all_of_it_or_nobody_knows_the_root() {
    let origin = |root: Option<&str>, origin: Option<&str>| {
        let fields = serde_json::json!({"root_id": root, "origin": origin, "message_id": "msg_1"});
        let observation = observed(&input("chat.message", fields));
        assert_eq!(observation.turn.as_deref(), Some("msg_1"));
        match observation.boundary {
            Boundary::Prompt { origin } => origin,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(origin(Some("ses_child"), Some("person")), Some(Origin::Person));
    assert_eq!(origin(Some("ses_child"), Some("harness")), Some(Origin::Harness));
    assert_eq!(origin(None, Some("person")), None);
    assert_eq!(origin(Some("ses_child"), None), None);
}

#[test]
fn a_subagent_whose_root_is_unknown_is_observed_under_no_other_id_than_its_own() {
    let observation = observed(&input("session.idle", serde_json::json!({"parent_id": "ses_mid"})));
    assert_eq!(observation.session.as_str(), "ses_child");
    assert!(observation.agent.is_some());
}

#[test]
fn what_is_no_event_of_the_plugin_is_refused_without_a_word_of_it() {
    let event = |fields| input("session.idle", fields);
    for bad in [
        input("session.updated", serde_json::json!({})),
        input(SECRET, serde_json::json!({})),
        event(serde_json::json!({"session_id": null})),
        event(serde_json::json!({"session_id": [SECRET]})),
        event(serde_json::json!({"origin": SECRET})),
        event(serde_json::json!({"root_id": "another"})),
        event(serde_json::json!({"parent_id": "p", "root_id": "ses_child"})),
        event(serde_json::json!({"parent_id": "ses_child", "root_id": "r"})),
        br#"{"event":"session.idle","session_id":"a","session_id":"b"}"#.to_vec(),
        br#"[{"event":"session.idle","session_id":"a"}]"#.to_vec(),
        br#"{"event":"session.idle","session_id":"a"} x"#.to_vec(),
        b"hunter2-SECRET".to_vec(),
    ] {
        let error = read(&bad).expect_err("must be refused");
        assert_eq!(error.to_string(), "hook input is not a recognised OpenCode lifecycle event");
    }
}

#[test]
fn a_real_run_with_a_subagent_reads_as_one_prompt_of_a_person_and_one_subagent() {
    let observations: Vec<Observation> =
        payloads("opencode/1.18.33/subagent").iter().map(|(_, payload)| observed(payload)).collect();
    let boundaries: Vec<_> = observations.iter().map(|observation| observation.boundary.clone()).collect();
    assert_eq!(
        boundaries,
        [
            Boundary::SessionStart { source: None },
            Boundary::Prompt { origin: Some(Origin::Person) },
            Boundary::SubagentStart,
            Boundary::Prompt { origin: Some(Origin::Agent) },
            Boundary::SubagentStop,
            Boundary::Stop,
        ]
    );
    let root = &observations[0].session;
    assert!(observations.iter().all(|observation| observation.session == *root));
    assert_eq!(observations[1].turn, observations[5].turn);
    assert_eq!(observations[3].turn, observations[4].turn);
    assert!(observations[1].turn.is_some() && observations[1].turn != observations[3].turn);
}

#[test]
fn a_real_resumed_session_is_known_to_be_a_root_before_anything_else_says_so() {
    let (_, prompt) = &payloads("opencode/1.18.33/resume")[0];
    assert_eq!(observed(prompt).boundary, Boundary::Prompt { origin: Some(Origin::Person) });
}
