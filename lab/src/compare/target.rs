//! What each target program is known to do with a conversation, beyond sending it.
//!
//! Everything here is narrow: a text that a program adds is recognised by its exact known shape,
//! and what is not recognised is a difference.

use ibid_model::{Command, Document, Role, Text};
use ibid_testkit::provider::Exchange;
use serde_json::Value;

use super::expected::Shape;
use super::piece::{Piece, Thought};
use super::sent::Sent;

/// A program that resumes what Ibid wrote.
pub(super) trait Target: Sync {
    /// The harness's id.
    fn harness(&self) -> &'static str;

    /// How its API puts a conversation.
    fn shape(&self) -> Shape;

    /// Whether it keeps a thought that a conversion carries to itself, when this model is asked.
    fn keeps(&self, _thought: &Thought, _asked: Option<&str>) -> bool {
        false
    }

    /// Whether the request is one for the conversation itself, not for a subagent or a title.
    fn is_main(&self, exchange: &Exchange) -> bool;

    /// The forms in which it sends a prompt that it was given on its command line.
    fn prompts(&self, prompt: &str) -> Vec<String> {
        vec![prompt.to_owned()]
    }

    /// What it puts behind a text of the user's that it joins with the next one in one message.
    fn joint(&self) -> &'static str {
        ""
    }

    /// The name of the rule by which the program adds the piece at this position of itself; none when
    /// it does not.
    fn adds(&self, pieces: &[Sent], at: usize) -> Option<&'static str>;

    /// Whether a text of this side is how the program tells the model a summary in place of a history.
    fn is_summary(&self, side: Role, text: &str, summary: &str) -> bool;

    /// Whether a document that is text is sent as text by the program itself.
    fn tells_documents(&self) -> bool {
        false
    }

    /// What the program sends in place of a document that the model cannot read.
    fn unread(&self, _document: &Document) -> Option<String> {
        None
    }

    /// What the program makes of a command that a person ran, where Ibid writes it as one.
    fn command(&self, _command: &Command) -> Option<String> {
        None
    }

    /// The texts that the program sends in place of a result without text.
    fn empty_answers(&self) -> &'static [&'static str] {
        &[]
    }

    /// The texts of a result and whether it failed, from the item that is sent; none where the
    /// neutral reading says it all.
    fn answer(&self, _item: &Value, _read: &dyn Fn(&Text) -> (Text, ibid_model::Outcome)) -> Option<Told> {
        None
    }
}

/// Whether the piece is this note, with nothing behind it in its message but pictures.
pub(super) fn is_note_on_pictures(pieces: &[Sent], at: usize, note: &str) -> bool {
    let Some(piece) = pieces.get(at).filter(|piece| piece.text_of(Role::User) == Some(note)) else {
        return false;
    };
    let mut behind = pieces.iter().skip(at + 1).take_while(|other| other.message == piece.message).peekable();
    behind.peek().is_some()
        && behind.all(|other| match &other.piece {
            Piece::Picture { .. } | Piece::Other { .. } => true,
            // In place of a document that the model does not read.
            Piece::Text { text, .. } => text.starts_with("ERROR: Cannot read "),
            _ => false,
        })
}

/// The texts of a result, and whether it failed.
pub(super) struct Told {
    pub(super) texts: Vec<String>,
    pub(super) failed: Option<bool>,
}

/// The targets whose programs the lab runs.
pub(super) static TARGETS: [&dyn Target; 4] =
    [&super::claude_code::ClaudeCode, &super::codex::Codex, &super::opencode::OpenCode, &super::pi::Pi];
