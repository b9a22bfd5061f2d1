//! Which prompts stand in a log as messages too.

use std::collections::{HashMap, HashSet};

use ibid_model::Text;

use super::wire::{Line, Place};
use crate::families::loose::Loose;

/// The messages of a user that stand in the log by themselves. `turn.prompt` and `turn.steer` say
/// them too, and only count where they are the only ones to do so.
#[derive(Default)]
pub(super) struct Appended {
    ids: HashSet<Text>,
    contents: HashMap<Text, usize>,
}

impl Appended {
    /// Those of a log.
    pub(super) fn of(lines: &[(Place, Line)]) -> Appended {
        let mut appended = Appended::default();
        for (_, line) in lines.iter().filter(|(_, line)| line.kind == "context.append_message") {
            let Some(message) = line.body.object("message") else { continue };
            if message.text("role").is_some_and(|role| role == "user") {
                appended.ids.extend(message.some_text("id"));
                if let Some(content) = message.get("content") {
                    *appended.contents.entry(content.clone()).or_default() += 1;
                }
            }
        }
        appended
    }

    /// Whether a prompt stands in the log as a message too.
    pub(super) fn has(&mut self, prompt: &Loose) -> bool {
        if prompt.some_text("promptId").is_some_and(|id| self.ids.contains(&id)) {
            return true;
        }
        let count = prompt.get("input").and_then(|input| self.contents.get_mut(input));
        match count {
            Some(count) if *count > 0 => {
                *count -= 1;
                true
            }
            _ => false,
        }
    }
}
