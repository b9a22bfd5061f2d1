//! Copilot CLI, by `copilot -p`.

use super::{Driver, KEY, PORT, Prompt, first_text, words};
use crate::pins::Age;

/// The driver.
pub(super) struct Copilot;

impl Driver for Copilot {
    fn id(&self) -> &'static str {
        "copilot"
    }

    fn executable(&self) -> &'static str {
        "copilot"
    }

    fn configuration(&self, _: Age) -> Vec<(&'static str, String)> {
        Vec::new()
    }

    fn variables(&self) -> Vec<(&'static str, String)> {
        vec![
            ("COPILOT_PROVIDER_BASE_URL", format!("http://127.0.0.1:{PORT}/v1")),
            ("COPILOT_PROVIDER_TYPE", "openai".to_owned()),
            ("COPILOT_PROVIDER_API_KEY", KEY.to_owned()),
            ("COPILOT_MODEL", "gpt-4.1".to_owned()),
            ("COPILOT_OFFLINE", "true".to_owned()),
            ("COPILOT_AUTO_UPDATE", "false".to_owned()),
        ]
    }

    fn ask(&self, prompt: &Prompt<'_>, resume: Option<&str>, _: Age) -> Vec<String> {
        let mut arguments = words(&["--allow-all-tools", "--output-format", "json"]);
        if let Some(id) = resume {
            arguments.push(format!("--resume={id}"));
        }
        arguments.extend(words(&["-p", prompt.text]));
        arguments
    }

    /// The last line tells it.
    fn session_of(&self, stdout: &str) -> Option<String> {
        stdout
            .lines()
            .find(|line| line.contains("\"type\":\"result\""))
            .and_then(|line| first_text(line, "sessionId"))
    }

    fn is_only_read(&self) -> bool {
        true
    }
}
