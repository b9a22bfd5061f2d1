//! What pi adds to a conversation that it resumes (0.73.1 and 1.6.0).

use ibid_model::Role;
use ibid_testkit::provider::Exchange;

use super::expected::Shape;
use super::sent::Sent;
use super::target::Target;

pub(super) struct Pi;

impl Target for Pi {
    fn harness(&self) -> &'static str {
        "pi"
    }

    /// Chat Completions has no pictures in results: they follow in a message of the user's.
    fn shape(&self) -> Shape {
        Shape { texts_first: true, pictures_behind: true }
    }

    fn keeps_thoughts_to_itself(&self) -> bool {
        false
    }

    fn is_main(&self, exchange: &Exchange) -> bool {
        exchange.api().is_some()
    }

    fn adds(&self, piece: &Sent) -> Option<&'static str> {
        if piece.text_of(Role::System).is_some() {
            return Some("system prompt");
        }
        let text = piece.text_of(Role::User)?;
        (text == "Attached image(s) from tool result:").then_some("note before the pictures of a result")
    }

    fn is_summary(&self, text: &str, summary: &str) -> bool {
        const START: &str = "The conversation history before this point was compacted into the following summary:\n\n\
                             <summary>\n";
        text.strip_prefix(START).and_then(|text| text.strip_suffix("\n</summary>")) == Some(summary)
    }

    fn empty_answers(&self) -> &'static [&'static str] {
        &["(see attached image)", "(no tool output)"]
    }
}
