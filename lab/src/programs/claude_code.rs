//! Claude Code, by `claude -p`.

use ibid_testkit::provider::Exchange;
use serde_json::json;

use super::{Announces, Driver, KEY, PORT, Prompt, words};
use crate::cells::PICTURE;
use crate::pins::Age;

/// The driver.
pub(super) struct ClaudeCode;

impl Driver for ClaudeCode {
    fn id(&self) -> &'static str {
        "claude-code"
    }

    fn plugin(&self) -> Option<Announces> {
        Some(Announces { profile: "claude", settings: ".claude" })
    }

    fn executable(&self) -> &'static str {
        "claude"
    }

    fn configuration(&self, _: Age) -> Vec<(&'static str, String)> {
        Vec::new()
    }

    fn variables(&self) -> Vec<(&'static str, String)> {
        let on = |name| (name, "1".to_owned());
        vec![
            ("ANTHROPIC_API_KEY", KEY.to_owned()),
            ("ANTHROPIC_BASE_URL", format!("http://127.0.0.1:{PORT}")),
            on("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC"),
            on("DISABLE_TELEMETRY"),
            on("DISABLE_ERROR_REPORTING"),
            on("DISABLE_AUTOUPDATER"),
            // As root it works without asking only where it is told that nothing can be harmed.
            on("IS_SANDBOX"),
        ]
    }

    fn ask(&self, prompt: &Prompt<'_>, resume: Option<&str>, _: Age) -> Vec<String> {
        let mut arguments =
            words(&["-p", "--output-format", "stream-json", "--verbose", "--dangerously-skip-permissions"]);
        if let Some(id) = resume {
            arguments.extend(words(&["--resume", id]));
        }
        // A picture can only come with a prompt that is read from standard input.
        match prompt.picture {
            Some(_) => arguments.extend(words(&["--input-format", "stream-json"])),
            None => arguments.push(prompt.text.to_owned()),
        }
        arguments
    }

    fn input(&self, prompt: &Prompt<'_>) -> Option<String> {
        prompt.picture?;
        let picture = json!({"type": "image", "source": {
            "type": "base64", "media_type": "image/png", "data": PICTURE,
        }});
        let content = json!([{"type": "text", "text": prompt.text}, picture]);
        Some(format!("{}\n", json!({"type": "user", "message": {"role": "user", "content": content}})))
    }

    fn subagent(&self, exchange: &Exchange) -> Option<String> {
        Some(exchange.header("x-claude-code-agent-id")?.to_owned())
    }

    fn subagents_are_parts(&self) -> bool {
        true
    }

    fn session_of(&self, stdout: &str) -> Option<String> {
        super::first_text(stdout, "session_id")
    }
}
