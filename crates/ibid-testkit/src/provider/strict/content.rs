//! Rules about texts and about content that is empty.

use serde_json::Value;

use super::case::{Case, Message, list, text};
use super::{Refusal, Rule};
use crate::provider::wire::{Api, Said};

pub(super) fn check(case: &Case<'_>) -> Vec<Refusal> {
    match case.api {
        Api::Messages => messages(case),
        Api::Chat => case.messages().filter_map(|message| chat(case, message)).collect(),
        Api::Responses => Vec::new(),
    }
}

fn messages(case: &Case<'_>) -> Vec<Refusal> {
    let mut refusals = Vec::new();
    let texts = case.spoken.iter().filter(|spoken| match &spoken.said {
        Said::User(text) | Said::Assistant(text) | Said::System(text) => text.trim().is_empty(),
        _ => false,
    });
    // A text that is the whole content is empty content, not an empty block; the system prompt may be empty.
    let blocks = texts.filter(|spoken| !spoken.at.ends_with("/content") && spoken.at != "/system");
    refusals.extend(blocks.map(|spoken| {
        Refusal::new(Rule::EmptyText, spoken.at.clone(), "a text block has no text, or only white space")
    }));
    let last = case.messages().last();
    for message in case.messages() {
        let empty = match message.value.get("content") {
            Some(Value::String(text)) => text.trim().is_empty(),
            Some(Value::Array(blocks)) => blocks.is_empty(),
            _ => true,
        };
        let is_last = last.is_some_and(|last| last.index == message.index);
        // Claude Code 2.1.332 sends system messages that hold settings and no content.
        let exempt = message.role() == "system" || is_last && message.role() == "assistant";
        if empty && !exempt {
            refusals.push(Refusal::new(Rule::EmptyContent, case.at(message), "the message has no content"));
        }
    }
    refusals.extend(last.and_then(|message| final_whitespace(case, message)));
    refusals
}

/// A final message of the assistant's is the beginning of the answer.
fn final_whitespace(case: &Case<'_>, message: Message<'_>) -> Option<Refusal> {
    let spoken = case.said(message).last()?;
    let Said::Assistant(text) = &spoken.said else { return None };
    let why = "the final text of the assistant's ends in white space";
    text.ends_with(char::is_whitespace).then(|| Refusal::new(Rule::FinalWhitespace, spoken.at.clone(), why))
}

fn chat(case: &Case<'_>, message: Message<'_>) -> Option<Refusal> {
    let content = message.value.get("content").unwrap_or(&Value::Null);
    let calls = message.value.get("tool_calls");
    let why = if content.as_array().is_some_and(Vec::is_empty) {
        "the content is an empty list"
    } else if calls.and_then(Value::as_array).is_some_and(Vec::is_empty) {
        "the list of tool calls is empty"
    } else if content.is_null() && !speaks_without_content(message.value) {
        "the message has no content"
    } else {
        return None;
    };
    Some(Refusal::new(Rule::EmptyContent, case.at(message), why))
}

/// An assistant's message may hold calls or a refusal instead.
fn speaks_without_content(message: &Value) -> bool {
    let refuses = message.get("refusal").is_some_and(Value::is_string);
    let calls = !list(message, "tool_calls").is_empty() || message.get("function_call").is_some();
    text(message, "role") == "assistant" && (refuses || calls)
}
