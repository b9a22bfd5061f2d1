//! Grok, by `grok -p`.

use ibid_testkit::provider::Exchange;
use ibid_testkit::provider::wire::Said;

use super::{Driver, KEY, PORT, Prompt, first_text, words};
use crate::pins::Age;

/// The driver.
pub(super) struct Grok;

impl Driver for Grok {
    fn id(&self) -> &'static str {
        "grok"
    }

    fn executable(&self) -> &'static str {
        "grok"
    }

    fn configuration(&self, _: Age) -> Vec<(&'static str, String)> {
        let text = format!(
            "[models]\ndefault = \"mock\"\n\n[model.mock]\nmodel = \"mock-model\"\nname = \"mock\"\n\
             base_url = \"http://127.0.0.1:{PORT}/v1\"\napi_key = \"{KEY}\"\ncontext_window = 200000\n\n\
             [telemetry]\nenabled = false\n"
        );
        vec![(".grok/config.toml", text)]
    }

    fn variables(&self) -> Vec<(&'static str, String)> {
        let url = format!("http://127.0.0.1:{PORT}/v1");
        vec![
            ("XAI_API_KEY", KEY.to_owned()),
            ("GROK_XAI_API_BASE_URL", url.clone()),
            ("GROK_MODELS_BASE_URL", url),
            ("GROK_DISABLE_AUTOUPDATER", "1".to_owned()),
            ("GROK_TELEMETRY_ENABLED", "false".to_owned()),
        ]
    }

    fn ask(&self, prompt: &Prompt<'_>, resume: Option<&str>, _: Age) -> Vec<String> {
        let mut arguments = words(&["-m", "mock", "--always-approve", "--output-format", "streaming-json"]);
        if let Some(id) = resume {
            arguments.extend(words(&["--resume", id]));
        }
        arguments.extend(words(&["-p", prompt.text]));
        arguments
    }

    /// The last line tells it.
    fn session_of(&self, stdout: &str) -> Option<String> {
        stdout
            .lines()
            .find(|line| line.contains("\"type\":\"end\""))
            .and_then(|line| first_text(line, "sessionId"))
    }

    fn is_only_read(&self) -> bool {
        true
    }

    /// It asks for a line that sums the turn up, and for a title.
    fn is_aside(&self, exchange: &Exchange) -> bool {
        let said = exchange.said();
        matches!(said.last().map(|spoken| &spoken.said), Some(Said::User(text)) if text.starts_with("<system-reminder>"))
    }

    fn records_its_version(&self) -> bool {
        false
    }
}
