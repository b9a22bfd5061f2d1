//! What OpenCode adds to a conversation that it resumes (1.0.152 and 1.18.33).

use ibid_model::{Document, Role};
use ibid_testkit::provider::Exchange;

use super::expected::Shape;
use super::sent::Sent;
use super::target::{Target, is_note_on_pictures};

pub(super) struct OpenCode;

impl Target for OpenCode {
    fn harness(&self) -> &'static str {
        "opencode"
    }

    fn shape(&self) -> Shape {
        Shape { texts_first: true, texts_joined: true, pictures_behind: true, documents_behind: true }
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

    fn adds(&self, pieces: &[Sent], at: usize) -> Option<&'static str> {
        let piece = pieces.get(at)?;
        if piece.text_of(Role::System).is_some() {
            return Some("system prompt");
        }
        // A message of the model that only calls tools.
        if piece.text_of(Role::Assistant) == Some("") {
            return Some("empty content beside calls");
        }
        // What the summary of a compaction answers.
        if piece.text_of(Role::User) == Some("What did we do so far?") {
            return Some("question before a summary");
        }
        is_note_on_pictures(pieces, at, "Attached media from tool result:")
            .then_some("note before the pictures of a result")
    }

    /// The summary is an answer of the model's.
    fn is_summary(&self, side: Role, text: &str, summary: &str) -> bool {
        side == Role::Assistant && text == summary
    }

    /// Chat Completions has no documents.
    fn tells_documents(&self) -> bool {
        true
    }

    /// The models of its configuration say what they read.
    fn unread(&self, document: &Document) -> Option<String> {
        let kind = match document.media_type.as_deref() {
            Some("application/pdf") => "pdf",
            _ => return None,
        };
        let name = document.name.as_deref().filter(|name| !name.is_empty());
        let name = name.map_or(kind.to_owned(), |name| format!("\"{name}\""));
        Some(format!(
            "ERROR: Cannot read {name} (this model does not support {kind} input). Inform the user."
        ))
    }
}
