//! What holds for every observation and every input.

use proptest::collection::vec;
use proptest::option::of;
use proptest::prelude::*;

use super::*;

fn text() -> impl Strategy<Value = String> {
    prop_oneof![any::<String>(), "[ \t\n\u{0}\"\\\\/🦀a-c]{0,6}"]
}

fn event() -> impl Strategy<Value = LifecycleEvent> {
    use {LifecycleEvent as E, PromptOrigin as O, SessionEndReason as R, SessionStartSource as S};
    let source = prop::sample::select(vec![S::Startup, S::Resume, S::Clear, S::Compact, S::Fork]);
    let origin = prop::sample::select(vec![None, Some(O::Person), Some(O::Harness), Some(O::Agent)]);
    let reason = prop::sample::select(vec![
        None,
        Some(R::Clear),
        Some(R::Resume),
        Some(R::Logout),
        Some(R::PromptInputExit),
        Some(R::BypassPermissionsDisabled),
        Some(R::Other),
    ]);
    prop_oneof![
        source.prop_map(|source| E::SessionStart { source }),
        (origin, of(text()), of(text())).prop_map(|(origin, agent_id, agent_type)| {
            E::UserPromptSubmit { origin, agent_id, agent_type }
        }),
        (of(text()), of(text())).prop_map(|(agent_id, agent_type)| E::Stop { agent_id, agent_type }),
        (text(), text()).prop_map(|(agent_id, agent_type)| E::SubagentStart { agent_id, agent_type }),
        (text(), text(), of(text())).prop_map(|(agent_id, agent_type, agent_transcript_path)| {
            E::SubagentStop { agent_id, agent_type, agent_transcript_path }
        }),
        Just(E::PostCompact),
        reason.prop_map(|reason| E::SessionEnd { reason }),
    ]
}

proptest! {
    #[test]
    fn an_observation_reads_back_from_its_json_exactly(
        ids in (text(), of(text()), text(), of(text()), of(text())),
        event in event(),
    ) {
        let (session_id, transcript_path, cwd, model, prompt_id) = ids;
        let observation =
            LifecycleObservation { session_id, transcript_path, cwd, model, prompt_id, event };
        let json = serde_json::to_string(&observation).expect("JSON");
        let read: LifecycleObservation = serde_json::from_str(&json).expect("an observation");
        prop_assert_eq!(&read, &observation);
        prop_assert_eq!(kept(&json), Some(observation.common()));
    }

    #[test]
    fn identities_are_exact_and_no_planted_secret_survives(
        name in prop::sample::select(LIFECYCLE_EVENTS.to_vec()),
        session in text(),
        prompt in text(),
        agent in text(),
        beside in vec((any::<String>(), any::<String>()), 0..5),
    ) {
        let mut fields = everything();
        let beside: Vec<(String, Value)> = beside
            .into_iter()
            .map(|(key, value)| (format!("{key}{SECRET}"), json!([{value: SECRET}])))
            .collect();
        fields.extend(beside.iter().map(|(key, value)| (key.as_str(), value.clone())).collect::<Vec<_>>());
        let own = [("session_id", &session), ("prompt_id", &prompt), ("agent_id", &agent)];
        fields.extend(own.iter().map(|(key, value)| (*key, value.as_str().into())));
        let fields: Vec<(&str, Value)> = fields;
        let common = observed(&input(name, &fields)).common();
        prop_assert_eq!(common.session.as_str(), session);
        prop_assert_eq!(common.turn, Some(Text::from(prompt)));
        if let Some(named) = common.agent {
            prop_assert_eq!(named.id.as_str(), agent);
        }
    }

    #[test]
    fn no_input_makes_the_parser_panic(input in vec(any::<u8>(), 0..200)) {
        let _ = parse_observation(&input);
    }
}
