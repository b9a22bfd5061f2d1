//! OpenCode, by `opencode run`.

use ibid_testkit::provider::Exchange;
use serde_json::json;

use super::{Announces, Driver, KEY, PORT, Prompt, first_text, words};
use crate::pins::Age;

/// The driver.
pub(super) struct OpenCode;

impl Driver for OpenCode {
    fn id(&self) -> &'static str {
        "opencode"
    }

    fn plugin(&self) -> Option<Announces> {
        Some(Announces { profile: "opencode", settings: ".config/opencode" })
    }

    fn executable(&self) -> &'static str {
        "opencode"
    }

    fn configuration(&self, age: Age) -> Vec<(&'static str, String)> {
        let permission = match age {
            Age::Latest => json!("allow"),
            Age::Older => json!({"bash": "allow", "edit": "allow"}),
        };
        let model = json!({
            "name": "mock-model",
            "tool_call": true,
            "reasoning": true,
            "attachment": true,
            "modalities": {"input": ["text", "image"], "output": ["text"]},
            "limit": {"context": 200_000, "output": 8000},
        });
        let configuration = json!({
            "autoupdate": false,
            "share": "disabled",
            "model": "mock/mock-model",
            "small_model": "mock/mock-model",
            "permission": permission,
            "provider": {"mock": {
                "npm": "@ai-sdk/openai-compatible",
                "name": "Mock",
                "options": {"baseURL": format!("http://127.0.0.1:{PORT}/v1"), "apiKey": KEY},
                "models": {"mock-model": model},
            }},
        });
        // It has npm install what plugins import, and with a plugin there it waits for that: 70 s
        // without a network. It does not where a lock file names the package and the folder is there.
        let lock =
            json!({"lockfileVersion": 3, "packages": {"": {"dependencies": {"@opencode-ai/plugin": "*"}}}});
        vec![
            (".config/opencode/opencode.json", format!("{configuration:#}\n")),
            (".config/opencode/package-lock.json", format!("{lock:#}\n")),
            (".config/opencode/node_modules/.package-lock.json", "{}\n".to_owned()),
        ]
    }

    fn variables(&self) -> Vec<(&'static str, String)> {
        let names = [
            "OPENCODE_DISABLE_AUTOUPDATE",
            "OPENCODE_DISABLE_MODELS_FETCH",
            "OPENCODE_DISABLE_LSP_DOWNLOAD",
            "OPENCODE_DISABLE_DEFAULT_PLUGINS",
            "OPENCODE_DISABLE_SHARE",
        ];
        names.map(|name| (name, "1".to_owned())).to_vec()
    }

    fn ask(&self, prompt: &Prompt<'_>, resume: Option<&str>, _: Age) -> Vec<String> {
        // A converted session names the model of the program it is from, which is not set up here:
        // the screen falls back to the default then, and `run` ends.
        let mut arguments = words(&["run", "--format", "json", "-m", "mock/mock-model"]);
        if let Some(id) = resume {
            arguments.extend(words(&["-s", id]));
        }
        if let Some(picture) = prompt.picture {
            arguments.extend(words(&["-f", picture, "--"]));
        }
        arguments.push(prompt.text.to_owned());
        arguments
    }

    fn subagent(&self, exchange: &Exchange) -> Option<String> {
        exchange.header("x-parent-session-id")?;
        Some(exchange.header("x-session-id")?.to_owned())
    }

    fn cannot_be_written(&self, age: Age) -> Option<&'static str> {
        const FILES: &str = "this version keeps a session as a tree of files and does not look into a database; \
                             Ibid writes the database";
        (age == Age::Older).then_some(FILES)
    }

    fn subagent_tool(&self, age: Age) -> Option<&'static str> {
        (age == Age::Older).then_some("task")
    }

    fn session_of(&self, stdout: &str) -> Option<String> {
        first_text(stdout, "sessionID")
    }

    fn first_run(&self) -> Option<Vec<String>> {
        Some(words(&["session", "list"]))
    }

    fn needs_ripgrep(&self, age: Age) -> bool {
        age == Age::Older
    }

    fn limit(&self) -> u64 {
        120
    }
}
