//! What Claude Code adds to a conversation that it resumes (1.0.60 to 2.1.332).

use ibid_model::{Command, Role};
use ibid_testkit::provider::Exchange;

use super::expected::Shape;
use super::piece::Thought;
use super::sent::Sent;
use super::target::Target;

pub(super) struct ClaudeCode;

impl Target for ClaudeCode {
    fn harness(&self) -> &'static str {
        "claude-code"
    }

    fn shape(&self) -> Shape {
        Shape { texts_first: true, texts_joined: false, pictures_behind: false, documents_behind: false }
    }

    /// Signed thoughts of another model than the one that is asked stay behind (2.1.332).
    fn keeps(&self, thought: &Thought, asked: Option<&str>) -> bool {
        let signed = thought.sealed_by.iter().any(|provider| provider == "anthropic");
        signed && thought.model.is_some() && thought.model.as_deref() != asked
    }

    /// Subagents name themselves in a header; counts and titles offer no tools.
    fn is_main(&self, exchange: &Exchange) -> bool {
        let tools = exchange.body.as_ref().and_then(|body| body.get("tools")?.as_array());
        exchange.api().is_some()
            && exchange.header("x-claude-code-agent-id").is_none()
            && tools.is_some_and(|tools| !tools.is_empty())
    }

    fn joint(&self) -> &'static str {
        "\n"
    }

    fn adds(&self, pieces: &[Sent], at: usize) -> Option<&'static str> {
        let piece = pieces.get(at)?;
        if piece.text_of(Role::System).is_some() {
            return Some("system prompt");
        }
        // What stands for the answer that a prompt at the end of the history never got.
        if piece.text_of(Role::Assistant) == Some("No response requested.") {
            return Some("answer to an unanswered prompt");
        }
        let text = piece.text_of(Role::User)?;
        let reminder = text.trim_end().strip_prefix("<system-reminder>\n")?;
        // One reminder and nothing behind it.
        let inside = reminder.strip_suffix("</system-reminder>")?;
        (!inside.contains("</system-reminder>")).then_some("system reminder")
    }

    /// The summary stands as it is.
    fn is_summary(&self, side: Role, text: &str, summary: &str) -> bool {
        side == Role::User && text == summary
    }

    /// A command is kept as the markup that the program itself writes.
    fn command(&self, command: &Command) -> Option<String> {
        let (name, args) = (&command.name, command.args.as_deref().unwrap_or_default());
        let message = name.trim_start_matches('/');
        Some(format!(
            "<command-name>{name}</command-name>\n            <command-message>{message}</command-message>\n            \
             <command-args>{args}</command-args>"
        ))
    }
}
