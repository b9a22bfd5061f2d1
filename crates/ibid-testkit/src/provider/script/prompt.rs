//! Which prompt a request is about, and how far its script has come.
//!
//! Programs put messages of their own between a person's prompt and the end of the request: reminders behind the
//! prompt (Kimi Code), user messages behind tool results (OpenClaw, Grok; OpenCode and pi for images), notices of finished subagents (Claude
//! Code, Codex), the working environment before the first prompt (Codex). None of these may be taken for a
//! prompt while a script is under way, or the script would begin again for ever.

use super::act::Act;
use super::keyword::Keyword;
use super::mark::Mark;
use crate::provider::wire::{Said, Spoken};

/// How much of a prompt is repeated in an answer, in characters.
const REPEATED: usize = 60;

/// Characters that get lost where somebody cuts by bytes, escapes twice or cleans up: outside the basic
/// plane, combining, right to left, of no width, quotes, a backslash, what looks like a tag, and a tab.
pub(super) const ODD: &str = "\u{1f9ea} e\u{301} \u{5d0}\u{5d1} \u{200b}| \"'\\n' </x>&amp; \t|";

/// The prompt that a request is about.
#[derive(Debug)]
pub(super) struct Prompt {
    pub(super) keyword: Option<Keyword>,
    pub(super) step: usize,
    pub(super) mark: Mark,
    /// The results that came since the prompt, as text.
    pub(super) results: Vec<String>,
    /// The end of the last text of a user's message.
    tail: String,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Last {
    Nothing,
    User,
    Assistant,
    Result,
}

/// What was seen so far on the way through the request.
struct Walk {
    last: Last,
    text: String,
    keyword: Option<Keyword>,
    turn: usize,
    rounds: usize,
    marked: Option<usize>,
    open: Vec<String>,
    results: Vec<String>,
    tail: String,
}

impl Prompt {
    pub(super) fn find(spoken: &[Spoken]) -> Self {
        let mut walk = Walk {
            last: Last::Nothing,
            text: String::new(),
            keyword: None,
            turn: 0,
            rounds: 0,
            marked: None,
            open: Vec::new(),
            results: Vec::new(),
            tail: String::new(),
        };
        // The pieces of one message belong together: Claude Code sends reminders in the prompt's own message, and
        // texts behind results in the message of the results.
        for message in spoken.chunk_by(|a, b| a.message == b.message) {
            walk.message(message);
        }
        // A step is counted by the ids of its calls, since parallel calls may stand apart; by the rounds of
        // calls and results where the program gave them other ids.
        let step = walk.marked.map_or(walk.rounds, |step| step + 1);
        let mark = Mark { turn: walk.turn, step, prompt: Mark::digest(&walk.text) };
        Self { keyword: walk.keyword, step, mark, results: walk.results, tail: walk.tail }
    }

    /// What the model thinks before it says anything.
    pub(super) fn thought(&self) -> String {
        format!("MOCK-THOUGHT {}: what is wanted by <<{}>>", self.mark, self.tail)
    }

    /// The text that ends a script, or is all of it.
    pub(super) fn answer(&self, missing: &[Act]) -> String {
        let mut text = format!("MOCK-TEXT {}: <<{}>>", self.mark, self.tail);
        if self.keyword.is_some_and(Keyword::is_odd) {
            text.push_str(&format!(" {ODD}\r\n\u{a0}second line"));
        }
        if !missing.is_empty() {
            let names: Vec<_> = missing.iter().map(|act| act.name()).collect();
            text.push_str(&format!(" (no tool for: {})", names.join(", ")));
        }
        text
    }
}

impl Walk {
    fn message(&mut self, pieces: &[Spoken]) {
        let mut texts = Vec::new();
        let (mut answered, mut pictured) = (false, false);
        for piece in pieces {
            match &piece.said {
                Said::User(text) => texts.push(text.as_str()),
                Said::Assistant(_) | Said::Thinking { .. } => self.last = Last::Assistant,
                Said::Call { id, .. } => {
                    self.last = Last::Assistant;
                    self.open.push(id.clone());
                    if let Some(step) = Mark::step_of(id) {
                        self.marked = self.marked.max(Some(step));
                    }
                }
                Said::Result { id, text, .. } => {
                    answered = true;
                    if self.last != Last::Result {
                        self.rounds += 1;
                    }
                    self.last = Last::Result;
                    self.open.retain(|open| open != id);
                    self.results.push(text.clone());
                }
                Said::Image { .. } => pictured = true,
                Said::System(_) | Said::Other(_) => {}
            }
        }
        // What a tool read as an image is sent on by OpenCode and pi in a user's message with a heading.
        let attached = pictured && self.last == Last::Result;
        if !texts.is_empty() && !answered && !attached {
            self.user(&texts);
        }
    }

    fn user(&mut self, texts: &[&str]) {
        let own: Vec<_> = texts.iter().copied().filter(|text| !is_notice(text)).collect();
        let text = own.join("\n");
        let keyword = Keyword::find(&text);
        let task = text.contains("Message Type: NEW_TASK");
        let fresh = match self.last {
            Last::Nothing | Last::Assistant => self.open.is_empty() || keyword.is_some() || task,
            Last::Result => keyword.is_some() || task,
            // Behind another user message: a second thought of the person's, or a reminder.
            Last::User => !own.is_empty() && (keyword.is_some() || self.keyword.is_none()),
        };
        if let Some(text) = own.last() {
            self.tail = tail(text);
        }
        if !fresh {
            return;
        }
        if self.last != Last::User {
            self.turn += 1;
        }
        self.last = Last::User;
        self.text = text;
        self.keyword = keyword;
        self.rounds = 0;
        self.marked = None;
        self.open.clear();
        self.results.clear();
    }
}

/// The end of a text on one line.
fn tail(text: &str) -> String {
    let line: Vec<char> = text.trim().chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    line.iter().skip(line.len().saturating_sub(REPEATED)).collect::<String>().trim().to_owned()
}

/// Whether a text is a program's notice and not a person's: wrapped in a tag that says so.
fn is_notice(text: &str) -> bool {
    const NOTICES: [&str; 6] = ["reminder", "notification", "context", "instructions", "caveat", "plugins"];
    let text = text.trim();
    let Some((tag, _)) = text.strip_prefix('<').and_then(|rest| rest.split_once('>')) else {
        // Codex: another agent's message that is no task.
        return text.starts_with("Message Type: ") && !text.starts_with("Message Type: NEW_TASK");
    };
    let name = tag.split_whitespace().next().unwrap_or_default();
    NOTICES.iter().any(|notice| name.contains(notice))
}
