//! What holds for every observation and every input.

use proptest::collection::vec;
use proptest::option::of;
use proptest::prelude::*;

use super::*;

/// Text of any kind, and of the kinds that get lost: empty, spaces around it, control characters.
fn text() -> impl Strategy<Value = String> {
    prop_oneof![any::<String>(), "[ \t\n\u{0}\"\\\\/🦀a-c]{0,6}"]
}

fn event() -> impl Strategy<Value = LifecycleEvent> {
    let source = prop_oneof![
        Just(SessionStartSource::Startup),
        Just(SessionStartSource::Resume),
        Just(SessionStartSource::Clear),
        Just(SessionStartSource::Compact),
        Just(SessionStartSource::Fork),
    ];
    prop_oneof![
        source.prop_map(|source| LifecycleEvent::SessionStart { source }),
        (text(), of(text()), of(text())).prop_map(|(turn_id, agent_id, agent_type)| {
            LifecycleEvent::UserPromptSubmit { turn_id, agent_id, agent_type }
        }),
        text().prop_map(|turn_id| LifecycleEvent::Stop { turn_id }),
        (text(), text(), text()).prop_map(|(turn_id, agent_id, agent_type)| {
            LifecycleEvent::SubagentStart { turn_id, agent_id, agent_type }
        }),
        (text(), text(), text(), of(text())).prop_map(
            |(turn_id, agent_id, agent_type, agent_transcript_path)| LifecycleEvent::SubagentStop {
                turn_id,
                agent_id,
                agent_type,
                agent_transcript_path,
            }
        ),
    ]
}

fn observation() -> impl Strategy<Value = LifecycleObservation> {
    (text(), of(text()), text(), of(text()), event()).prop_map(
        |(session_id, transcript_path, cwd, model, event)| LifecycleObservation {
            session_id,
            transcript_path,
            cwd,
            model,
            event,
        },
    )
}

/// Any JSON, with the secret in its strings and keys.
fn planted() -> impl Strategy<Value = serde_json::Value> {
    let leaf = prop_oneof![
        Just(serde_json::Value::Null),
        any::<i64>().prop_map(Into::into),
        any::<String>().prop_map(|around| format!("{around}{SECRET}{around}").into()),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(serde_json::Value::Array),
            vec((any::<String>(), inner), 0..4).prop_map(|members| {
                let members = members.into_iter().map(|(key, value)| (format!("{key}{SECRET}"), value));
                serde_json::Value::Object(members.collect())
            }),
        ]
    })
}

/// The input that a program would give a hook for this observation, with these fields beside it.
fn as_input(observation: &LifecycleObservation, beside: &[(String, serde_json::Value)]) -> Vec<u8> {
    let mut object = match serde_json::to_value(observation) {
        Ok(serde_json::Value::Object(object)) => object,
        other => panic!("an observation is an object: {other:?}"),
    };
    let Some(serde_json::Value::Object(event)) = object.remove("event") else { panic!("an event") };
    object.insert("hook_event_name".into(), observation.common().event.as_str().into());
    object.extend(event.into_iter().filter(|(key, _)| key != "event"));
    for (key, value) in beside {
        object.entry(format!("{key}{SECRET}")).or_insert_with(|| value.clone());
    }
    for key in ["prompt", "last_assistant_message", "permission_mode"] {
        object.insert(key.into(), SECRET.into());
    }
    serde_json::to_vec(&object).expect("JSON")
}

proptest! {
    #[test]
    fn an_observation_reads_back_from_its_json_exactly(observation in observation()) {
        let read: LifecycleObservation = serde_json::from_str(&json(&observation)).expect("an observation");
        prop_assert_eq!(&read, &observation);
        prop_assert_eq!(kept(&json(&observation)), Some(observation.common()));
    }

    #[test]
    fn an_input_reads_as_what_it_says_and_no_planted_secret_survives(
        observation in observation(),
        beside in vec((any::<String>(), planted()), 0..5),
    ) {
        prop_assert_eq!(observed(&as_input(&observation, &beside)), observation);
    }

    #[test]
    fn no_input_makes_the_parser_panic(input in vec(any::<u8>(), 0..200)) {
        let _ = parse_observation(&input);
    }

    #[test]
    fn no_input_that_was_cut_is_read(observation in observation(), part in 0.0..1.0_f64) {
        let input = as_input(&observation, &[]);
        let length = (input.len() as f64 * part) as usize;
        prop_assert!(parse_observation(&input[..length]).is_err());
    }
}
