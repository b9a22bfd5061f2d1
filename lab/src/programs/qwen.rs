//! Qwen Code, by `qwen -p`.

use serde_json::json;

use super::{Driver, KEY, PORT, Prompt, first_text, words};
use crate::pins::Age;

/// The driver.
pub(super) struct Qwen;

impl Driver for Qwen {
    fn id(&self) -> &'static str {
        "qwen"
    }

    fn executable(&self) -> &'static str {
        "qwen"
    }

    fn configuration(&self, _: Age) -> Vec<(&'static str, String)> {
        let settings = json!({
            "privacy": {"usageStatisticsEnabled": false},
            "telemetry": {"enabled": false},
            "general": {"enableAutoUpdate": false, "disableAutoUpdate": true},
            "security": {"auth": {"selectedType": "openai"}},
            "$version": 4,
        });
        vec![(".qwen/settings.json", format!("{settings:#}\n"))]
    }

    fn variables(&self) -> Vec<(&'static str, String)> {
        vec![
            ("OPENAI_API_KEY", KEY.to_owned()),
            ("OPENAI_BASE_URL", format!("http://127.0.0.1:{PORT}/v1")),
            ("OPENAI_MODEL", "mock-model".to_owned()),
        ]
    }

    fn ask(&self, prompt: &Prompt<'_>, resume: Option<&str>, _: Age) -> Vec<String> {
        let mut arguments = words(&["--yolo", "-o", "stream-json"]);
        if let Some(id) = resume {
            arguments.extend(words(&["--resume", id]));
        }
        arguments.extend(words(&["-p", prompt.text]));
        arguments
    }

    fn session_of(&self, stdout: &str) -> Option<String> {
        first_text(stdout, "session_id")
    }

    fn is_only_read(&self) -> bool {
        true
    }
}
