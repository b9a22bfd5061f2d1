//! Codex, by `codex exec`.

use ibid_testkit::provider::Exchange;

use super::{Announces, Driver, KEY, PORT, Prompt, Trust, first_text, words};
use crate::pins::Age;

/// The driver.
pub(super) struct Codex;

/// A model whose tools are a shell and a patch tool; what newer ones call is a program of theirs.
const MODEL: &str = "gpt-5.5";

/// The model of versions that do not know that one.
const OLD_MODEL: &str = "gpt-5";

/// A model whose tool for subagents is among its tools from the start.
const MODEL_WITH_SUBAGENTS: &str = "gpt-5";

impl Driver for Codex {
    fn id(&self) -> &'static str {
        "codex"
    }

    fn plugin(&self) -> Option<Announces> {
        Some(Announces { profile: "codex-app", settings: ".codex" })
    }

    fn trust(&self) -> Option<Trust> {
        Some(Trust { file: ".codex/config.toml", arguments: words(&["app-server"]) })
    }

    fn executable(&self) -> &'static str {
        "codex"
    }

    fn configuration(&self, age: Age) -> Vec<(&'static str, String)> {
        let general = match age {
            Age::Latest => format!(
                "model = \"{MODEL}\"\nmodel_reasoning_summary = \"auto\"\ncheck_for_update_on_startup = false\n"
            ),
            Age::Older => format!("model = \"{OLD_MODEL}\"\n"),
        };
        let quiet = match age {
            Age::Latest => "[analytics]\nenabled = false\n\n[otel]\nexporter = \"none\"\n\n",
            Age::Older => "",
        };
        let no_sockets = match age {
            Age::Latest => "requires_openai_auth = false\nsupports_websockets = false\n",
            Age::Older => "",
        };
        let text = format!(
            "{general}model_provider = \"mock\"\napproval_policy = \"never\"\n\
             sandbox_mode = \"danger-full-access\"\n\n{quiet}[model_providers.mock]\nname = \"mock\"\n\
             base_url = \"http://127.0.0.1:{PORT}/v1\"\nwire_api = \"responses\"\nenv_key = \"LAB_KEY\"\n\
             {no_sockets}request_max_retries = 0\nstream_max_retries = 0\n"
        );
        vec![(".codex/config.toml", text)]
    }

    fn variables(&self) -> Vec<(&'static str, String)> {
        vec![("LAB_KEY", KEY.to_owned())]
    }

    fn ask(&self, prompt: &Prompt<'_>, resume: Option<&str>, age: Age) -> Vec<String> {
        let mut arguments = words(&["exec", "--json"]);
        if prompt.subagents && age == Age::Latest {
            arguments.extend(words(&["-m", MODEL_WITH_SUBAGENTS]));
        }
        if let Some(id) = resume {
            arguments.extend(words(&["resume", id]));
        }
        arguments.push(prompt.text.to_owned());
        // The option takes every word that follows it.
        if let Some(picture) = prompt.picture {
            arguments.extend(words(&["-i", picture]));
        }
        arguments
    }

    fn has_subagents(&self, age: Age) -> bool {
        age == Age::Latest
    }

    fn subagent(&self, exchange: &Exchange) -> Option<String> {
        exchange.header("x-codex-parent-thread-id")?;
        Some(exchange.header("thread-id")?.to_owned())
    }

    fn writes_by_commands(&self, age: Age) -> bool {
        age == Age::Older
    }

    fn session_of(&self, stdout: &str) -> Option<String> {
        first_text(stdout, "thread_id")
    }
}
