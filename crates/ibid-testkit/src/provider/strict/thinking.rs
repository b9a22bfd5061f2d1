//! Rules about thoughts. Only Anthropic's service looks at them.

use super::case::{Case, Message, text};
use super::{Refusal, Rule};
use crate::provider::wire::{Api, Said, Spoken};

pub(super) fn check(case: &Case<'_>) -> Vec<Refusal> {
    if case.api != Api::Messages {
        return Vec::new();
    }
    let mut refusals: Vec<_> =
        case.spoken.iter().filter(|spoken| is_unsigned(spoken)).map(unsigned).collect();
    for message in case.messages().filter(|message| message.role() == "assistant") {
        refusals.extend(not_first(case, message));
        refusals.extend(last(case, message));
    }
    refusals.extend(loop_without_thought(case));
    refusals
}

fn is_unsigned(spoken: &Spoken) -> bool {
    match &spoken.said {
        Said::Thinking { signature, .. } => signature.as_deref().is_none_or(str::is_empty),
        _ => false,
    }
}

fn unsigned(spoken: &Spoken) -> Refusal {
    Refusal::new(Rule::UnsignedThinking, spoken.at.clone(), "the thought has no signature")
}

fn is_thought(block: &serde_json::Value) -> bool {
    matches!(text(block, "type"), "thinking" | "redacted_thinking")
}

fn not_first(case: &Case<'_>, message: Message<'_>) -> Option<Refusal> {
    let blocks = message.blocks();
    let late = !blocks.first().is_some_and(is_thought) && blocks.iter().any(is_thought);
    let why = "the message holds a thought and does not begin with one";
    late.then(|| Refusal::new(Rule::ThinkingNotFirst, format!("{}/content/0", case.at(message)), why))
}

fn last(case: &Case<'_>, message: Message<'_>) -> Option<Refusal> {
    let blocks = message.blocks();
    let why = "the message ends in a thought";
    let at = || format!("{}/content/{}", case.at(message), blocks.len().saturating_sub(1));
    blocks.last().is_some_and(is_thought).then(|| Refusal::new(Rule::ThinkingLast, at(), why))
}

/// A request whose last message answers calls is inside a loop of tools. With thinking enabled, that loop must have
/// begun with a thought.
fn loop_without_thought(case: &Case<'_>) -> Option<Refusal> {
    let thinks = case.body.pointer("/thinking/type").is_some_and(|kind| kind == "enabled");
    let messages: Vec<_> = case.messages().filter(|message| message.role() != "system").collect();
    let answers =
        |message: &Message<'_>| case.said(*message).any(|spoken| matches!(spoken.said, Said::Result { .. }));
    if !thinks || !messages.last().is_some_and(answers) {
        return None;
    }
    let prompt = messages.iter().rposition(|message| message.role() == "user" && !answers(message));
    let start = messages
        .iter()
        .skip(prompt.map_or(0, |place| place + 1))
        .find(|message| message.role() == "assistant")?;
    // A message with a late thought is refused for that.
    let bare = !start.blocks().iter().any(is_thought);
    let why = "thinking is enabled, and the loop of tools does not begin with a thought";
    bare.then(|| Refusal::new(Rule::ThinkingNotFirst, format!("{}/content/0", case.at(*start)), why))
}
