//! pi, by `pi -p`.

use serde_json::json;

use super::{Announces, Driver, KEY, PORT, Prompt, first_text, words};
use crate::pins::Age;
use crate::sandbox::WORKSPACE;

/// The driver.
pub(super) struct Pi;

impl Driver for Pi {
    fn id(&self) -> &'static str {
        "pi"
    }

    fn plugin(&self) -> Option<Announces> {
        Some(Announces { profile: "pi", settings: ".pi/agent" })
    }

    fn executable(&self) -> &'static str {
        "pi"
    }

    fn configuration(&self, _: Age) -> Vec<(&'static str, String)> {
        let models = json!({"providers": {"mock": {
            "baseUrl": format!("http://127.0.0.1:{PORT}/v1"),
            "api": "openai-completions",
            "apiKey": KEY,
            "models": [{
                "id": "mock-model",
                "name": "mock",
                "reasoning": true,
                "input": ["text", "image"],
                "contextWindow": 200_000,
                "maxTokens": 8000,
                "cost": {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0},
            }],
        }}});
        vec![(".pi/agent/models.json", format!("{models:#}\n"))]
    }

    fn variables(&self) -> Vec<(&'static str, String)> {
        vec![
            ("PI_OFFLINE", "1".to_owned()),
            ("PI_SKIP_VERSION_CHECK", "1".to_owned()),
            ("PI_TELEMETRY", "0".to_owned()),
        ]
    }

    fn ask(&self, prompt: &Prompt<'_>, resume: Option<&str>, _: Age) -> Vec<String> {
        let mut arguments = words(&[
            "-p",
            "--mode",
            "json",
            "--provider",
            "mock",
            "--model",
            "mock-model",
            "--thinking",
            "medium",
        ]);
        if let Some(id) = resume {
            arguments.extend(words(&["--session", id]));
        }
        if let Some(picture) = prompt.picture {
            arguments.push(format!("@{picture}"));
        }
        arguments.push(prompt.text.to_owned());
        arguments
    }

    fn session_of(&self, stdout: &str) -> Option<String> {
        stdout
            .lines()
            .find(|line| line.contains("\"type\":\"session\""))
            .and_then(|line| first_text(line, "id"))
    }

    fn names_picture(&self, picture: &str) -> Option<String> {
        Some(format!("<file name=\"{WORKSPACE}/{picture}\"></file>"))
    }

    fn has_subagents(&self, _: Age) -> bool {
        false
    }

    fn records_its_version(&self) -> bool {
        false
    }
}
