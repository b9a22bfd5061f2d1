//! What is read of real and of hostile inputs. What is refused for being no object, or for
//! repeated keys, is the reader's that all harnesses share, and is tested there and with Codex.

mod property;
mod real;

use serde_json::{Value, json};

use super::*;

/// Stands in every field that must not come through.
const SECRET: &str = "hunter2-SECRET";

/// The input of one event: the common fields, these, and secrets in every neighbouring field.
fn input(event: &str, fields: &[(&str, Value)]) -> Vec<u8> {
    let mut object = json!({
        "session_id": "root",
        "transcript_path": "/home/dev/.claude/projects/-w/root.jsonl",
        "cwd": "/home/dev/demo",
        "hook_event_name": event,
        "prompt_id": "p1",
        "permission_mode": SECRET,
        "prompt": SECRET,
        "session_title": SECRET,
        "last_assistant_message": SECRET,
        "compact_summary": SECRET,
        "custom_instructions": SECRET,
        "effort": {"level": SECRET},
        "tool_name": SECRET,
        "tool_input": {"command": SECRET},
        "tool_calls": [{"tool_response": [SECRET]}],
        "background_tasks": [{"id": SECRET, "description": SECRET}],
        "session_crons": [SECRET],
        "env": {"ANTHROPIC_API_KEY": SECRET},
        SECRET: SECRET,
    });
    for (key, value) in fields {
        object[key] = value.clone();
    }
    serde_json::to_vec(&object).expect("an object")
}

/// Reads an input that must be read, and makes sure that no secret came through in any form.
fn observed(input: &[u8]) -> LifecycleObservation {
    let observation = parse_observation(input).expect("a recognised event");
    let announced = read(input).expect("a recognised event");
    assert_eq!(kept(&announced.native).as_ref(), Some(&announced.observation));
    for shown in [
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
    assert_eq!(error.to_string(), "hook input is not a recognised Claude Code lifecycle event");
    assert!(std::error::Error::source(&error).is_none());
    assert_eq!(read(input).expect_err("must be refused").to_string(), error.to_string());
}

/// What `input(event, …)` reads as.
fn of(event: LifecycleEvent) -> LifecycleObservation {
    LifecycleObservation {
        session_id: "root".into(),
        transcript_path: Some("/home/dev/.claude/projects/-w/root.jsonl".into()),
        cwd: "/home/dev/demo".into(),
        model: None,
        prompt_id: Some("p1".into()),
        event,
    }
}

fn origin_of(fields: &[(&str, Value)]) -> Option<Origin> {
    match observed(&input("UserPromptSubmit", fields)).common().boundary {
        Boundary::Prompt { origin } => origin,
        other => panic!("{other:?}"),
    }
}

/// Every field that any event needs.
fn everything() -> Vec<(&'static str, Value)> {
    vec![
        ("source", "startup".into()),
        ("reason", "other".into()),
        ("agent_id", "a".into()),
        ("agent_type", "k".into()),
    ]
}

#[test]
fn the_events_are_these_seven_and_each_is_read() {
    let expected = [
        "SessionStart",
        "UserPromptSubmit",
        "SubagentStart",
        "SubagentStop",
        "Stop",
        "PostCompact",
        "SessionEnd",
    ];
    assert_eq!(LIFECYCLE.events, expected);
    for event in expected {
        assert_eq!(observed(&input(event, &everything())).common().event, event);
    }
}

#[test]
fn an_event_that_is_known_and_not_read_is_refused_like_any_other() {
    for event in LIFECYCLE.unread.iter().chain(&["Telepathy", "", "stop"]) {
        refused(&input(event, &everything()));
        assert!(!LIFECYCLE_EVENTS.contains(event));
    }
}

#[test]
fn a_session_start_keeps_ids_paths_and_model_exactly() {
    let fields = [
        ("session_id", "🦀/ a".into()),
        ("transcript_path", "/home/d v/ä b.jsonl".into()),
        ("cwd", " /w".into()),
        ("model", "claude-opus-5-5".into()),
        ("source", "compact".into()),
    ];
    let expected = LifecycleObservation {
        session_id: "🦀/ a".into(),
        transcript_path: Some("/home/d v/ä b.jsonl".into()),
        cwd: " /w".into(),
        model: Some("claude-opus-5-5".into()),
        ..of(LifecycleEvent::SessionStart { source: SessionStartSource::Compact })
    };
    assert_eq!(observed(&input("SessionStart", &fields)), expected);
}

#[test]
fn a_source_of_a_start_that_nobody_knows_is_refused() {
    refused(&input("SessionStart", &[("source", "telepathy".into())]));
}

#[test]
fn a_prompt_is_gone_and_its_id_is_kept() {
    let event = LifecycleEvent::UserPromptSubmit {
        origin: Some(PromptOrigin::Person),
        agent_id: None,
        agent_type: None,
    };
    assert_eq!(observed(&input("UserPromptSubmit", &[])), of(event));
}

#[test]
fn a_task_notification_is_no_persons_prompt() {
    let notification = "<task-notification>\n<result>SECRET \u{fffd}</result>";
    assert_eq!(origin_of(&[("prompt", notification.into())]), Some(Origin::Harness));
    assert_eq!(origin_of(&[("prompt", "What is <task-notification>?".into())]), Some(Origin::Person));
}

#[test]
fn a_task_notification_that_was_cut_inside_a_character_is_still_one() {
    let text = String::from_utf8(input("UserPromptSubmit", &[("prompt", "HERE".into())])).expect("text");
    let text = text.replace("HERE", "<task-notification>SECRET\\ud83e");
    let Boundary::Prompt { origin } = observed(text.as_bytes()).common().boundary else { panic!("a prompt") };
    assert_eq!(origin, Some(Origin::Harness));
}

#[test]
fn what_the_program_says_of_a_prompts_writer_is_believed_before_its_text() {
    let said =
        |source: &str, prompt: &str| origin_of(&[("source", source.into()), ("prompt", prompt.into())]);
    assert_eq!(said("user", "<task-notification>"), Some(Origin::Person));
    assert_eq!(said("sdk", "SECRET"), Some(Origin::Person));
    assert_eq!(said("sdk", "<task-notification>"), Some(Origin::Harness));
    for source in ["system", "loop_wakeup", "schedule_wakeup", "poll_event"] {
        assert_eq!(said(source, "SECRET"), Some(Origin::Harness));
    }
}

#[test]
fn a_writer_in_a_word_that_nobody_knows_is_unknown_and_the_word_is_not_kept() {
    assert_eq!(origin_of(&[("source", "SECRET".into())]), None);
}

#[test]
fn a_prompt_inside_a_subagent_is_another_agents() {
    assert_eq!(origin_of(&everything()), Some(Origin::Agent));
}

#[test]
fn the_kind_of_a_main_thread_makes_it_no_subagent() {
    assert_eq!(origin_of(&[("agent_type", "reviewer".into())]), Some(Origin::Person));
    let stop = observed(&input("Stop", &[("agent_type", "reviewer".into())])).common();
    assert_eq!(stop.agent, None);
}

#[test]
fn a_subagent_stop_keeps_the_child_and_loses_its_answer_and_what_else_runs() {
    let fields = [
        ("agent_id", "child".into()),
        ("agent_type", "".into()),
        ("agent_transcript_path", "/p/agent-child.jsonl".into()),
    ];
    let event = LifecycleEvent::SubagentStop {
        agent_id: "child".into(),
        agent_type: String::new(),
        agent_transcript_path: Some("/p/agent-child.jsonl".into()),
    };
    let stopped = observed(&input("SubagentStop", &fields));
    assert_eq!(stopped, of(event));
    let agent = stopped.common().agent.expect("a subagent");
    assert_eq!(agent.transcript_path.expect("a path").as_str(), "/p/agent-child.jsonl");
}

#[test]
fn a_reason_of_an_end_that_nobody_knows_is_not_kept_and_the_end_is() {
    let ended = observed(&input("SessionEnd", &[("reason", "SECRET".into())]));
    assert_eq!(ended, of(LifecycleEvent::SessionEnd { reason: None }));
    let ended = observed(&input("SessionEnd", &[("reason", "prompt_input_exit".into())])).common();
    assert_eq!(ended.boundary, Boundary::SessionEnd { reason: Some("prompt_input_exit".into()) });
}

#[test]
fn a_field_that_an_event_needs_must_be_there() {
    let needed: [(&str, &[&str]); 7] = [
        ("SessionStart", &["source"]),
        ("UserPromptSubmit", &[]),
        ("SubagentStart", &["agent_id", "agent_type"]),
        ("SubagentStop", &["agent_id", "agent_type"]),
        ("Stop", &[]),
        ("PostCompact", &[]),
        ("SessionEnd", &["reason"]),
    ];
    for (event, own) in needed {
        for missing in own.iter().chain(&["session_id", "cwd", "hook_event_name"]) {
            refused(&input(event, &[everything(), vec![(*missing, Value::Null)]].concat()));
            refused(&input(event, &[everything(), vec![(*missing, json!([SECRET]))]].concat()));
        }
    }
}

#[test]
fn an_allowlisted_key_may_not_be_repeated_and_the_array_form_is_refused() {
    let object = String::from_utf8(input("Stop", &everything())).expect("text");
    refused(format!("[{object}]").as_bytes());
    refused(format!("{object}{object}").as_bytes());
    let object = object.strip_suffix('}').expect("an object");
    for key in ["session_id", "prompt", "reason", "\\u0070rompt_id"] {
        refused(format!("{object},\"{key}\":\"SECRET\"}}").as_bytes());
    }
}

#[test]
fn the_json_of_an_observation_writes_absent_options_as_null() {
    let stop = of(LifecycleEvent::Stop { agent_id: None, agent_type: None });
    let stop = LifecycleObservation { transcript_path: None, prompt_id: None, ..stop };
    assert_eq!(
        serde_json::to_string(&stop).expect("JSON"),
        r#"{"session_id":"root","transcript_path":null,"cwd":"/home/dev/demo","model":null,"prompt_id":null,"event":{"event":"stop","agent_id":null,"agent_type":null}}"#
    );
}
