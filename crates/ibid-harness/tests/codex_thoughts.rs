//! Thoughts that only events tell stand before what the next record says, and are not joined to it.

use ibid_harness::codex::Codex;
use ibid_harness::{Codec, TextCodec};
use ibid_model::{Block, Role};

const ROLLOUT: &str = r#"{"timestamp":"2026-01-29T22:24:00.000Z","type":"session_meta","payload":{"id":"0199aaaa-0000-7000-8000-000000000001","timestamp":"2026-01-29T22:24:00.000Z","cwd":"/w","originator":"codex_cli_rs","cli_version":"0.100.0"}}
{"timestamp":"2026-01-29T22:24:30.000Z","type":"event_msg","payload":{"type":"agent_reasoning","text":"All tests pass."}}
{"timestamp":"2026-01-29T22:24:59.000Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"review it"}]}}
"#;

#[test]
fn a_thought_before_a_prompt_does_not_make_the_prompt_the_models() {
    let transcript = Codex::from_text(ROLLOUT.as_bytes()).unwrap();
    let session = Codex::to_common(&transcript).unwrap().session;
    let said: Vec<_> = session.messages.iter().map(|m| (m.role, m.blocks.len())).collect();
    assert_eq!(said, [(Role::Assistant, 1), (Role::User, 1)]);
    assert!(matches!(session.messages[0].blocks[0], Block::Thinking(_)));
    let event = ROLLOUT.find(r#"{"timestamp":"2026-01-29T22:24:30"#).unwrap() as u64;
    let source = &session.messages[0].sources[0];
    assert!(matches!(source.extent, ibid_model::Extent::Bytes { start, .. } if start == event));
}
