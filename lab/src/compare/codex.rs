//! What Codex adds to a conversation that it resumes (0.47.0 to 0.171.0).

use ibid_model::{Outcome, Role, Text};
use ibid_testkit::provider::Exchange;
use serde_json::Value;

use super::expected::Shape;
use super::piece::{Piece, Thought};
use super::sent::Sent;
use super::target::{Target, Told};

pub(super) struct Codex;

/// What begins and ends the texts that the program puts in as a user's.
const FRAMES: [(&str, &str, &str); 3] = [
    ("environment", "<environment_context>\n", "</environment_context>"),
    ("AGENTS.md", "# AGENTS.md instructions for ", "</INSTRUCTIONS>"),
    ("user instructions", "<user_instructions>\n", "</user_instructions>"),
];

impl Target for Codex {
    fn harness(&self) -> &'static str {
        "codex"
    }

    fn shape(&self) -> Shape {
        Shape { texts_first: false, texts_joined: false, pictures_behind: false, documents_behind: false }
    }

    /// The provider takes only thoughts that it encrypted itself; others are shown to people.
    fn keeps(&self, _thought: &Thought, _asked: Option<&str>) -> bool {
        true
    }

    fn is_main(&self, exchange: &Exchange) -> bool {
        exchange.api().is_some()
            && exchange.header("x-openai-subagent").is_none()
            && exchange.header("x-codex-parent-thread-id").is_none()
    }

    /// Ibid writes no message of the developer, so all of them are the program's.
    fn adds(&self, pieces: &[Sent], at: usize) -> Option<&'static str> {
        let piece = pieces.get(at)?;
        if piece.text_of(Role::System).is_some() {
            return Some("developer message");
        }
        if is_tag_of_picture(pieces, at) {
            return Some("tag around a picture");
        }
        let text = piece.text_of(Role::User)?.trim_end();
        let frame = FRAMES.iter().find(|(_, start, end)| {
            text.starts_with(start) && text.ends_with(end) && text.matches(end).count() == 1
        });
        frame.map(|(name, ..)| *name)
    }

    /// The summary stands as it is, behind the person's texts of the history; until 0.47.0 both are in
    /// one text.
    fn is_summary(&self, side: Role, text: &str, summary: &str) -> bool {
        const START: &str = "You were originally given instructions from a user over one or more turns. Here were the \
                             user messages:\n\n";
        const BRIDGE: &str = "use the information in this summary to assist with your own analysis:\n\n";
        let framed = || {
            let before = text.strip_suffix(summary).and_then(|text| text.strip_suffix(BRIDGE));
            before.is_some_and(|before| before.starts_with(START))
        };
        side == Role::User && (text == summary || framed())
    }

    /// Header lines say how a call ended, in the text or as a first text of their own.
    fn answer(&self, item: &Value, read: &dyn Fn(&Text) -> (Text, Outcome)) -> Option<Told> {
        let failed = |outcome| match outcome {
            Outcome::Ok => Some(false),
            Outcome::Error | Outcome::Interrupted => Some(true),
            Outcome::Unknown => None,
        };
        let parts = match item.get("output")? {
            Value::String(text) => {
                let (text, outcome) = read(&Text::from(text.as_str()));
                return Some(Told { texts: vec![text.to_string()], failed: failed(outcome) });
            }
            Value::Array(parts) => parts,
            _ => return None,
        };
        let mut told = Told { texts: Vec::new(), failed: None };
        for (number, part) in parts.iter().enumerate() {
            let Some(text) = part.get("text").and_then(Value::as_str) else { continue };
            if number == 0 && text.ends_with("Output:\n") {
                let (rest, outcome) = read(&Text::from(text));
                if rest.is_empty() {
                    told.failed = failed(outcome);
                    continue;
                }
            }
            told.texts.push(text.to_owned());
        }
        Some(told)
    }
}

/// Whether the piece is `<image ...>` right before a picture of the same message, or `</image>` right
/// behind one.
fn is_tag_of_picture(pieces: &[Sent], at: usize) -> bool {
    let Some((piece, text)) = pieces.get(at).and_then(|piece| Some((piece, piece.text_of(Role::User)?)))
    else {
        return false;
    };
    let is_picture = |other: Option<&Sent>| {
        other.is_some_and(|other| {
            other.message == piece.message && matches!(other.piece, Piece::Picture { role: Role::User, .. })
        })
    };
    let opens =
        (text == "<image>" || text.starts_with("<image ")) && text.ends_with('>') && !text.contains('\n');
    (opens && is_picture(pieces.get(at + 1)))
        || (text == "</image>" && is_picture(at.checked_sub(1).and_then(|before| pieces.get(before))))
}
