#![no_main]
//! What a hook is given, against every lifecycle: nothing panics, what was kept reads as what was
//! announced, and what stands beside the identities never comes through.

use serde_json::{Map, Value, json};

/// Stands in fields that must not come through.
const SECRET: &str = "planted-b3f1c2";

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    if data.windows(SECRET.len()).any(|part| part == SECRET.as_bytes()) {
        return;
    }
    for lifecycle in ibid_harness::profiles().filter_map(|(_, profile)| profile.lifecycle) {
        let Ok(announced) = (lifecycle.read)(data) else { continue };
        assert_eq!((lifecycle.kept)(&announced.native), Some(announced.observation));

        let Ok(mut object) = serde_json::from_slice::<Map<String, Value>>(data) else { continue };
        for key in
            ["prompt", "last_assistant_message", "compact_summary", "permission_mode", "text", "message"]
        {
            object.insert(key.into(), json!(SECRET));
        }
        for key in ["tool_input", "tool_response", "env", "background_tasks", SECRET] {
            object
                .insert(key.into(), json!({ SECRET: [SECRET, { "session_id": SECRET, "prompt": SECRET }] }));
        }
        let Ok(planted) = (lifecycle.read)(&serde_json::to_vec(&object).expect("JSON")) else { continue };
        assert!(!planted.native.contains(SECRET), "a secret was kept");
        let common = serde_json::to_string(&planted.observation).expect("JSON");
        assert!(!common.contains(SECRET), "a secret was kept");
    }
});
