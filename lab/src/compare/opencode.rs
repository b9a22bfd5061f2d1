//! What OpenCode adds to a conversation that it resumes (1.0.152 and 1.18.33).

use ibid_model::Role;
use ibid_testkit::provider::Exchange;

use super::expected::Shape;
use super::sent::Sent;
use super::target::Target;

pub(super) struct OpenCode;

impl Target for OpenCode {
    fn harness(&self) -> &'static str {
        "opencode"
    }

    fn shape(&self) -> Shape {
        Shape { texts_first: true, pictures_behind: true }
    }

    fn keeps_thoughts_to_itself(&self) -> bool {
        false
    }

    /// Titles are asked for without tools; subagents name their parent in a header.
    fn is_main(&self, exchange: &Exchange) -> bool {
        let tools = exchange.body.as_ref().and_then(|body| body.get("tools")?.as_array());
        exchange.api().is_some()
            && exchange.header("x-parent-session-id").is_none()
            && tools.is_some_and(|tools| !tools.is_empty())
    }

    /// A prompt of several words that is one argument is put in quotes.
    fn prompts(&self, prompt: &str) -> Vec<String> {
        vec![prompt.to_owned(), format!("\"{prompt}\"")]
    }

    fn adds(&self, piece: &Sent) -> Option<&'static str> {
        if piece.text_of(Role::System).is_some() {
            return Some("system prompt");
        }
        // A message of the model that only calls tools.
        (piece.text_of(Role::Assistant) == Some("")).then_some("empty content beside calls")
    }

    fn is_summary(&self, text: &str, summary: &str) -> bool {
        text == summary
    }
}
