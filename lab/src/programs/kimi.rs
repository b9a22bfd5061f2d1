//! Kimi Code, by `kimi -p`.

use super::{Driver, KEY, PORT, Prompt, first_text, words};
use crate::pins::Age;

/// The driver.
pub(super) struct Kimi;

impl Driver for Kimi {
    fn id(&self) -> &'static str {
        "kimi"
    }

    fn executable(&self) -> &'static str {
        "kimi"
    }

    fn configuration(&self, _: Age) -> Vec<(&'static str, String)> {
        let text = format!(
            "default_model = \"mock\"\ntelemetry = false\n\n[providers.mock]\ntype = \"openai\"\n\
             base_url = \"http://127.0.0.1:{PORT}/v1\"\napi_key = \"{KEY}\"\n\n\
             [models.mock]\nprovider = \"mock\"\nmodel = \"mock-model\"\nmax_context_size = 200000\n"
        );
        vec![(".kimi-code/config.toml", text)]
    }

    fn variables(&self) -> Vec<(&'static str, String)> {
        vec![("KIMI_CODE_NO_AUTO_UPDATE", "1".to_owned())]
    }

    fn ask(&self, prompt: &Prompt<'_>, resume: Option<&str>, _: Age) -> Vec<String> {
        let mut arguments = words(&["--output-format", "stream-json"]);
        if let Some(id) = resume {
            arguments.extend(words(&["--session", id]));
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

    /// The time that a command took, and that it failed, stand before its output.
    fn kept_of_result<'a>(&self, sent: &'a str) -> &'a str {
        const FAILED: &str = "<system>ERROR: Tool execution failed.</system>\n";
        let timed = sent.strip_prefix("Wall time: ").and_then(|rest| rest.split_once(" seconds\n"));
        let output = timed.map_or(sent, |(_, output)| output);
        output.strip_prefix(FAILED).unwrap_or(output)
    }

    fn records_its_version(&self) -> bool {
        false
    }
}
