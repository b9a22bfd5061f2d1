//! What pi adds to a conversation that it resumes (0.73.1 and 1.6.0).

use ibid_model::Role;
use ibid_testkit::provider::Exchange;

use super::expected::Shape;
use super::sent::Sent;
use super::target::{Target, is_note_on_pictures};

pub(super) struct Pi;

impl Target for Pi {
    fn harness(&self) -> &'static str {
        "pi"
    }

    /// Chat Completions has no pictures in results: they follow in a message of the user's.
    fn shape(&self) -> Shape {
        Shape { texts_first: true, texts_joined: true, pictures_behind: true, documents_behind: false }
    }

    fn is_main(&self, exchange: &Exchange) -> bool {
        exchange.api().is_some()
    }

    fn adds(&self, pieces: &[Sent], at: usize) -> Option<&'static str> {
        let piece = pieces.get(at)?;
        if piece.text_of(Role::System).is_some() {
            return Some("system prompt");
        }
        is_note_on_pictures(pieces, at, "Attached image(s) from tool result:")
            .then_some("note before the pictures of a result")
    }

    fn is_summary(&self, side: Role, text: &str, summary: &str) -> bool {
        const START: &str = "The conversation history before this point was compacted into the following summary:\n\n\
                             <summary>\n";
        let inside = text.strip_prefix(START).and_then(|text| text.strip_suffix("\n</summary>"));
        side == Role::User && inside == Some(summary)
    }

    fn empty_answers(&self) -> &'static [&'static str] {
        &["(see attached image)", "(no tool output)"]
    }
}
