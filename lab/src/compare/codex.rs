//! What Codex adds to a conversation that it resumes (0.47.0 to 0.171.0).

use ibid_model::{Outcome, Role, Text};
use ibid_testkit::provider::Exchange;
use serde_json::Value;

use super::expected::Shape;
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
        Shape { texts_first: false, pictures_behind: false }
    }

    /// The provider takes only thoughts that it encrypted itself.
    fn keeps_thoughts_to_itself(&self) -> bool {
        true
    }

    fn is_main(&self, exchange: &Exchange) -> bool {
        exchange.api().is_some()
            && exchange.header("x-openai-subagent").is_none()
            && exchange.header("x-codex-parent-thread-id").is_none()
    }

    /// Ibid writes no message of the developer, so all of them are the program's.
    fn adds(&self, piece: &Sent) -> Option<&'static str> {
        if piece.text_of(Role::System).is_some() {
            return Some("developer message");
        }
        let text = piece.text_of(Role::User)?.trim_end();
        let frame = FRAMES.iter().find(|(_, start, end)| {
            text.starts_with(start) && text.ends_with(end) && text.matches(end.trim_end()).count() == 1
        });
        frame.map(|(name, ..)| *name)
    }

    /// The summary stands as it is, behind the person's texts of the history.
    fn is_summary(&self, text: &str, summary: &str) -> bool {
        text == summary
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
