//! What is read of real and of hostile inputs. The behaviours one by one; [`real`] has the
//! payloads of the real program, [`property`] what holds for every value.

mod property;
mod real;

use super::*;

/// Stands in every field that must not come through.
const SECRET: &str = "hunter2-SECRET";

/// The input of one event: the common fields, these, and secrets in every neighbouring field that
/// the program has, or that nobody knows.
fn input(event: &str, fields: &[(&str, serde_json::Value)]) -> Vec<u8> {
    let mut object = serde_json::json!({
        "session_id": "root",
        "transcript_path": "/home/dev/.codex/sessions/root.jsonl",
        "cwd": "/home/dev/demo",
        "hook_event_name": event,
        "model": "gpt-5",
        "permission_mode": SECRET,
        "prompt": SECRET,
        "last_assistant_message": SECRET,
        "stop_hook_active": SECRET,
        "tool_name": SECRET,
        "tool_input": {"command": SECRET},
        "tool_response": [SECRET, {"deep": [[SECRET]]}],
        "env": {"OPENAI_API_KEY": SECRET},
        SECRET: SECRET,
        "x-extension": {"session_id": SECRET, "turn_id": SECRET},
    });
    for (key, value) in fields {
        object[key] = value.clone();
    }
    serde_json::to_vec(&object).expect("an object")
}

fn json(observation: &LifecycleObservation) -> String {
    serde_json::to_string(observation).expect("an observation is JSON")
}

/// Reads an input that must be read, and makes sure that no secret came through in any form.
fn observed(input: &[u8]) -> LifecycleObservation {
    let observation = parse_observation(input).expect("a recognised event");
    let announced = read(input).expect("a recognised event");
    for shown in [
        json(&observation),
        format!("{observation:?}"),
        announced.native,
        serde_json::to_string(&announced.observation).expect("JSON"),
    ] {
        assert!(!shown.contains("SECRET"), "{shown}");
    }
    observation
}

fn refused(input: &[u8]) {
    let error = parse_observation(input).expect_err("must be refused");
    assert_eq!(error, ParseObservationError::Unrecognised);
    assert_eq!(error.to_string(), "hook input is not a recognised Codex lifecycle event");
    assert!(std::error::Error::source(&error).is_none());
    let error = read(input).expect_err("must be refused");
    assert_eq!(error.to_string(), "hook input is not a recognised Codex lifecycle event");
}

/// What `input("SessionStart", …)` reads as with this session, path, model and source.
fn start(source: SessionStartSource) -> LifecycleObservation {
    LifecycleObservation {
        session_id: "root".into(),
        transcript_path: Some("/home/dev/.codex/sessions/root.jsonl".into()),
        cwd: "/home/dev/demo".into(),
        model: Some("gpt-5".into()),
        event: LifecycleEvent::SessionStart { source },
    }
}

fn of_turn(event: LifecycleEvent) -> LifecycleObservation {
    LifecycleObservation { event, ..start(SessionStartSource::Startup) }
}

#[test]
fn a_session_start_keeps_an_emoji_id_a_path_with_spaces_model_and_source_exactly() {
    let input = input(
        "SessionStart",
        &[
            ("session_id", "🦀/ a b\\c".into()),
            ("transcript_path", "/home/d v/My Sessions/ä b.jsonl ".into()),
            ("cwd", " /home/d v/Proj ect".into()),
            ("model", "gpt-5 (preview)/x".into()),
            ("source", "resume".into()),
        ],
    );
    let expected = LifecycleObservation {
        session_id: "🦀/ a b\\c".into(),
        transcript_path: Some("/home/d v/My Sessions/ä b.jsonl ".into()),
        cwd: " /home/d v/Proj ect".into(),
        model: Some("gpt-5 (preview)/x".into()),
        event: LifecycleEvent::SessionStart { source: SessionStartSource::Resume },
    };
    assert_eq!(observed(&input), expected);
}

#[test]
fn every_source_of_a_start_is_read_as_what_it_is() {
    let words = ["startup", "resume", "clear", "compact", "fork"];
    let sources = [
        SessionStartSource::Startup,
        SessionStartSource::Resume,
        SessionStartSource::Clear,
        SessionStartSource::Compact,
        SessionStartSource::Fork,
    ];
    for (word, source) in words.into_iter().zip(sources) {
        assert_eq!(observed(&input("SessionStart", &[("source", word.into())])), start(source));
    }
}

#[test]
fn a_prompt_is_gone_and_its_turn_is_kept() {
    let input = input("UserPromptSubmit", &[("turn_id", "turn/1".into())]);
    let event =
        LifecycleEvent::UserPromptSubmit { turn_id: "turn/1".into(), agent_id: None, agent_type: None };
    assert_eq!(observed(&input), of_turn(event));
}

#[test]
fn a_prompt_inside_a_subagent_names_the_subagent() {
    let agent = [("turn_id", "t".into()), ("agent_id", "child".into()), ("agent_type", "explorer".into())];
    let event = LifecycleEvent::UserPromptSubmit {
        turn_id: "t".into(),
        agent_id: Some("child".into()),
        agent_type: Some("explorer".into()),
    };
    assert_eq!(observed(&input("UserPromptSubmit", &agent)), of_turn(event));
}

#[test]
fn a_stop_keeps_its_turn_and_not_the_answer() {
    let stopped = observed(&input("Stop", &[("turn_id", "t2".into())]));
    assert_eq!(stopped, of_turn(LifecycleEvent::Stop { turn_id: "t2".into() }));
}

#[test]
fn a_subagent_start_is_exact_and_its_permission_mode_is_ignored() {
    let fields = [("turn_id", "t".into()), ("agent_id", "🐙".into()), ("agent_type", "a b/c".into())];
    let event = LifecycleEvent::SubagentStart {
        turn_id: "t".into(),
        agent_id: "🐙".into(),
        agent_type: "a b/c".into(),
    };
    assert_eq!(observed(&input("SubagentStart", &fields)), of_turn(event));
}

#[test]
fn a_subagent_stop_keeps_root_and_child_and_loses_its_last_message_and_extensions() {
    let fields = [
        ("turn_id", "t".into()),
        ("agent_id", "child".into()),
        ("agent_type", "default".into()),
        ("agent_transcript_path", "/home/dev/.codex/sessions/child.jsonl".into()),
    ];
    let event = LifecycleEvent::SubagentStop {
        turn_id: "t".into(),
        agent_id: "child".into(),
        agent_type: "default".into(),
        agent_transcript_path: Some("/home/dev/.codex/sessions/child.jsonl".into()),
    };
    assert_eq!(observed(&input("SubagentStop", &fields)), of_turn(event));
}

#[test]
fn a_subagent_stop_may_have_a_null_child_path_and_no_transcript_path_or_model() {
    let input = br#"{"hook_event_name":"SubagentStop","session_id":"root","cwd":"/w","turn_id":"t",
        "agent_id":"child","agent_type":"default","agent_transcript_path":null}"#;
    let expected = LifecycleObservation {
        session_id: "root".into(),
        transcript_path: None,
        cwd: "/w".into(),
        model: None,
        event: LifecycleEvent::SubagentStop {
            turn_id: "t".into(),
            agent_id: "child".into(),
            agent_type: "default".into(),
            agent_transcript_path: None,
        },
    };
    assert_eq!(observed(input), expected);
}

#[test]
fn the_events_are_these_five_in_this_order_for_parser_and_manifest() {
    assert_eq!(
        LIFECYCLE_EVENTS,
        ["SessionStart", "SubagentStart", "SubagentStop", "UserPromptSubmit", "Stop"]
    );
    assert_eq!(LIFECYCLE.events, LIFECYCLE_EVENTS);
}

/// Every field that any event needs.
fn everything() -> Vec<(&'static str, serde_json::Value)> {
    vec![
        ("source", "startup".into()),
        ("turn_id", "t".into()),
        ("agent_id", "a".into()),
        ("agent_type", "k".into()),
    ]
}

#[test]
fn each_of_exactly_five_listed_events_is_read() {
    for event in LIFECYCLE_EVENTS {
        assert_eq!(observed(&input(event, &everything())).common().event, event);
    }
}

#[test]
fn an_event_that_is_known_and_not_read_is_refused_like_any_other() {
    for event in LIFECYCLE.unread {
        refused(&input(event, &everything()));
    }
    assert!(LIFECYCLE.unread.contains(&"PreToolUse"));
    assert!(LIFECYCLE.unread.iter().all(|event| !LIFECYCLE_EVENTS.contains(event)));
}

#[test]
fn an_event_that_nobody_knows_is_refused() {
    for event in ["", "sessionstart", "session_start", "SessionStart ", "SECRET"] {
        refused(&input(event, &everything()));
    }
}

#[test]
fn the_source_telepathy_is_refused() {
    for source in ["telepathy", "Startup", "startup ", ""] {
        refused(&input("SessionStart", &[("source", source.into())]));
    }
}

#[test]
fn what_is_no_json_is_refused() {
    for input in ["", "  ", "SECRET", "{", "{\"session_id\":\"SECRET\"", "null", "\"SECRET\"", "12"] {
        refused(input.as_bytes());
    }
}

#[test]
fn a_field_that_an_event_needs_must_be_there() {
    let needed: [(&str, &[&str]); 5] = [
        ("SessionStart", &["source"]),
        ("SubagentStart", &["turn_id", "agent_id", "agent_type"]),
        ("SubagentStop", &["turn_id", "agent_id", "agent_type"]),
        ("UserPromptSubmit", &["turn_id"]),
        ("Stop", &["turn_id"]),
    ];
    for (event, own) in needed {
        for missing in own.iter().chain(&["session_id", "cwd", "hook_event_name"]) {
            let mut object: serde_json::Map<String, serde_json::Value> =
                serde_json::from_slice(&input(event, &everything())).expect("an object");
            object.remove(*missing).expect("the field is there");
            refused(&serde_json::to_vec(&object).expect("JSON"));
            object.insert((*missing).into(), serde_json::Value::Null);
            refused(&serde_json::to_vec(&object).expect("JSON"));
        }
    }
}

#[test]
fn an_identity_that_is_no_string_is_refused() {
    for key in ["session_id", "transcript_path", "cwd", "model", "turn_id", "agent_id", "agent_type"] {
        for value in [serde_json::json!(1), serde_json::json!({"s": SECRET}), serde_json::json!([SECRET])] {
            let mut fields = everything();
            fields.push((key, value));
            refused(&input("SubagentStop", &fields));
        }
    }
}

#[test]
fn the_array_form_is_refused() {
    let object = String::from_utf8(input("Stop", &everything())).expect("text");
    refused(format!("[{object}]").as_bytes());
    refused(br#"["Stop","root",null,"/w",null,"t"]"#);
}

#[test]
fn only_white_space_may_stand_around_the_object() {
    let object = String::from_utf8(input("Stop", &everything())).expect("text");
    observed(format!(" \r\n\t{object}\n\n\t ").as_bytes());
    for behind in [&object, "x", ",", "null", "\0", "//", "\u{feff}", "\u{a0}"] {
        refused(format!("{object}{behind}").as_bytes());
        refused(format!("{object}\n{behind}").as_bytes());
    }
    refused(format!("\u{feff}{object}").as_bytes());
}

#[test]
fn an_allowlisted_key_may_not_be_repeated_however_it_is_spelled() {
    let object = String::from_utf8(input("UserPromptSubmit", &everything())).expect("text");
    let object = object.strip_suffix('}').expect("an object");
    for key in ALLOWED.iter().filter(|key| object.contains(&format!("\"{key}\":"))) {
        refused(format!("{object},\"{key}\":null}}").as_bytes());
        refused(format!("{object},\"{key}\":\"root\"}}").as_bytes());
        let escaped: String = key.chars().map(|c| format!("\\u{:04X}", c as u32)).collect();
        refused(format!("{object},\"{escaped}\":\"root\"}}").as_bytes());
    }
}

#[test]
fn a_key_that_is_not_read_may_be_repeated() {
    let object = String::from_utf8(input("Stop", &everything())).expect("text");
    let object = object.strip_suffix('}').expect("an object");
    observed(format!("{object},\"prompt\":\"SECRET\",\"prompt\":[\"SECRET\"]}}").as_bytes());
}

#[test]
fn an_allowlisted_key_is_recognised_when_it_is_spelled_with_escapes() {
    let input = br#"{"\u0068ook_event_name":"Stop","session\u005fid":"\u0072oot","cwd":"/w","turn_id":"t"}"#;
    assert_eq!(observed(input).session_id, "root");
}

#[test]
fn an_identity_with_a_lone_surrogate_is_refused_because_it_cannot_be_kept() {
    let object = String::from_utf8(input("Stop", &[("turn_id", "HERE".into())])).expect("text");
    refused(object.replace("HERE", "a\\ud800").as_bytes());
    observed(object.replace("HERE", "\\ud83e\\udd80").as_bytes());
}

#[test]
fn a_lone_surrogate_in_what_is_passed_over_does_not_matter() {
    let object = String::from_utf8(input("Stop", &everything())).expect("text");
    observed(object.replace(SECRET, "SECRET \\ud800").as_bytes());
}

#[test]
fn what_is_not_utf_8_is_refused() {
    let mut object = input("Stop", &everything());
    let at = object.windows(SECRET.len()).position(|part| part == SECRET.as_bytes()).expect("a secret");
    object[at] = 0xff;
    refused(&object);
}

#[test]
fn fields_that_are_passed_over_may_be_nested_without_end() {
    let object = String::from_utf8(input("Stop", &everything())).expect("text");
    let object = object.strip_suffix('}').expect("an object");
    let deep = format!("{}\"SECRET\"{}", "[{\"a\":".repeat(100_000), "}]".repeat(100_000));
    observed(format!("{object},\"deep\":{deep}}}").as_bytes());
    refused(format!("{object},\"deep\":{}}}", "[".repeat(500_000)).as_bytes());
    refused(format!("{object},\"agent_transcript_path\":{deep},\"hook_event_name\":{deep}}}").as_bytes());
}

#[test]
fn an_identity_may_be_as_long_as_the_input() {
    let id = "i".repeat(1 << 20);
    assert_eq!(
        observed(&input("Stop", &[("turn_id", "t".into()), ("session_id", id.clone().into())])).session_id,
        id
    );
}

#[test]
fn the_json_of_an_observation_writes_absent_options_as_null() {
    let absent = LifecycleObservation {
        session_id: "s".into(),
        transcript_path: None,
        cwd: "/w".into(),
        model: None,
        event: LifecycleEvent::SessionStart { source: SessionStartSource::Startup },
    };
    assert_eq!(
        json(&absent),
        r#"{"session_id":"s","transcript_path":null,"cwd":"/w","model":null,"event":{"event":"session_start","source":"startup"}}"#
    );
    let prompt = LifecycleEvent::UserPromptSubmit { turn_id: "t".into(), agent_id: None, agent_type: None };
    assert_eq!(
        serde_json::to_string(&prompt).expect("JSON"),
        r#"{"event":"user_prompt_submit","turn_id":"t","agent_id":null,"agent_type":null}"#
    );
}

#[test]
fn the_json_of_an_observation_is_read_when_absent_options_are_left_out() {
    let short = r#"{"session_id":"s","cwd":"/w","event":{"event":"subagent_stop","turn_id":"t","agent_id":"a","agent_type":"k"}}"#;
    let full = r#"{"session_id":"s","transcript_path":null,"cwd":"/w","model":null,"event":{"event":"subagent_stop","turn_id":"t","agent_id":"a","agent_type":"k","agent_transcript_path":null}}"#;
    let read: LifecycleObservation = serde_json::from_str(short).expect("an observation");
    assert_eq!(json(&read), full);
}

#[test]
fn what_a_journal_kept_reads_as_what_was_announced() {
    for event in LIFECYCLE_EVENTS {
        let announced = read(&input(event, &everything())).expect("a recognised event");
        assert_eq!(kept(&announced.native), Some(announced.observation));
    }
    assert_eq!(kept("{}"), None);
    assert_eq!(kept("SECRET"), None);
}

#[test]
fn a_transcript_of_the_common_form_is_never_a_subagents() {
    let common = |event: &str, fields: &[(&str, serde_json::Value)]| observed(&input(event, fields)).common();
    let path = Some(Text::from("/home/dev/.codex/sessions/root.jsonl"));

    let prompt = common("UserPromptSubmit", &[("turn_id", "t".into())]);
    assert_eq!((prompt.transcript_path, prompt.agent), (path.clone(), None));
    assert_eq!(prompt.boundary, Boundary::Prompt { origin: Some(Origin::Person) });

    for event in ["UserPromptSubmit", "SubagentStart"] {
        let inside = common(event, &everything());
        assert_eq!(inside.transcript_path, None);
        assert_eq!(inside.agent.and_then(|agent| agent.transcript_path), path);
    }
    let inside = common("UserPromptSubmit", &everything());
    assert_eq!(inside.boundary, Boundary::Prompt { origin: Some(Origin::Agent) });

    let stopped = common("SubagentStop", &everything());
    assert_eq!(stopped.transcript_path, None, "the parent may be a subagent itself");
    assert_eq!(stopped.agent.map(|agent| agent.transcript_path), Some(None));
}

#[test]
fn a_prompt_with_nothing_but_a_kind_of_agent_is_no_persons() {
    let prompt = observed(&input("UserPromptSubmit", &[("turn_id", "t".into()), ("agent_type", "k".into())]));
    let common = prompt.common();
    assert_eq!(common.boundary, Boundary::Prompt { origin: Some(Origin::Agent) });
    assert_eq!((common.agent, common.transcript_path), (None, None));
}
