//! Rules about who speaks, and in what parts.

use serde_json::Value;

use super::case::{Case, Message, list, text};
use super::{Refusal, Rule};
use crate::provider::wire::{Api, Said};

pub(super) fn check(case: &Case<'_>) -> Vec<Refusal> {
    let mut refusals = Vec::new();
    refusals.extend(no_messages(case));
    for message in case.messages() {
        refusals.extend(unknown_role(case, message));
        refusals.extend(part_types(case, message));
    }
    if case.api == Api::Messages {
        refusals.extend(first(case));
        refusals.extend(alternation(case));
    }
    if case.api == Api::Responses {
        refusals.extend(case.messages().filter_map(|item| item_id(case, item)));
    }
    refusals
}

fn no_messages(case: &Case<'_>) -> Option<Refusal> {
    let conversation = case.body.get(case.list());
    let there = match conversation {
        Some(Value::Array(list)) => !list.is_empty(),
        Some(Value::String(_)) => case.api == Api::Responses,
        _ => false,
    };
    // The conversation may be on the server.
    let stored = ["previous_response_id", "conversation", "prompt"];
    let stored = case.api == Api::Responses
        && stored.iter().any(|key| case.body.get(key).is_some_and(|v| !v.is_null()));
    let why = format!("there is nothing in `{}`", case.list());
    (!there && !stored).then(|| Refusal::new(Rule::NoMessages, format!("/{}", case.list()), why))
}

fn unknown_role(case: &Case<'_>, message: Message<'_>) -> Option<Refusal> {
    let role = message.role();
    let known = match case.api {
        // Claude Code 2.1.197 and later put messages of the system between the others.
        Api::Messages => matches!(role, "user" | "assistant" | "system"),
        Api::Chat => matches!(role, "user" | "assistant" | "system" | "developer" | "tool" | "function"),
        Api::Responses => {
            !is_message(message.value) || matches!(role, "user" | "assistant" | "system" | "developer")
        }
    };
    let why = format!("the role {role:?} is not known");
    (!known).then(|| Refusal::new(Rule::UnknownRole, case.at(message), why))
}

/// Responses: whether an item is a message; its type may be left out.
fn is_message(item: &Value) -> bool {
    match item.get("type") {
        Some(kind) => kind == "message",
        None => true,
    }
}

fn first(case: &Case<'_>) -> Option<Refusal> {
    let first = case.messages().find(|message| message.role() != "system")?;
    let why = "the first message is not the user's";
    (first.role() == "assistant").then(|| Refusal::new(Rule::FirstNotUser, case.at(first), why))
}

fn alternation(case: &Case<'_>) -> Vec<Refusal> {
    let speakers: Vec<_> = case.messages().filter(|message| message.role() != "system").collect();
    let calls =
        |message: Message<'_>| case.said(message).any(|spoken| matches!(spoken.said, Said::Call { .. }));
    let bad = speakers.windows(2).filter_map(|pair| match pair {
        [one, two] if one.role() == "assistant" && two.role() == "assistant" && calls(*one) => Some(*two),
        _ => None,
    });
    let why = "the assistant speaks again before its calls are answered";
    bad.map(|message| Refusal::new(Rule::RolesAlternate, case.at(message), why)).collect()
}

fn part_types(case: &Case<'_>, message: Message<'_>) -> Vec<Refusal> {
    let role = message.role();
    let allowed = |kind: &str| match (case.api, role) {
        (Api::Messages, "assistant") => kind != "tool_result",
        (Api::Messages, _) => !matches!(kind, "tool_use" | "thinking" | "redacted_thinking"),
        (Api::Responses, "assistant") => matches!(kind, "output_text" | "refusal"),
        (Api::Responses, _) => matches!(kind, "input_text" | "input_image" | "input_file" | "input_audio"),
        // Images in the wrong place have a rule of their own.
        (Api::Chat, "assistant") => matches!(kind, "text" | "refusal" | "image_url"),
        (Api::Chat, "user") => matches!(kind, "text" | "image_url" | "input_audio" | "file"),
        (Api::Chat, _) => matches!(kind, "text" | "image_url"),
    };
    if case.api == Api::Responses && !is_message(message.value) {
        return Vec::new();
    }
    let parts = list(message.value, "content").iter().enumerate();
    let bad = parts.filter(|(_, part)| !allowed(text(part, "type")));
    bad.map(|(i, part)| {
        let why = format!("a part of the type {:?} cannot stand with the role {role:?}", text(part, "type"));
        Refusal::new(Rule::PartType, format!("{}/content/{i}", case.at(message)), why)
    })
    .collect()
}

fn item_id(case: &Case<'_>, item: Message<'_>) -> Option<Refusal> {
    let id = item.value.get("id")?.as_str()?;
    let prefix = match text(item.value, "type") {
        "message" => "msg",
        "reasoning" => "rs",
        "function_call" => "fc",
        "custom_tool_call" => "ctc",
        _ => return None,
    };
    let why = format!("the id {id:?} does not begin with {prefix:?}");
    (!id.starts_with(prefix)).then(|| Refusal::new(Rule::ItemId, format!("{}/id", case.at(item)), why))
}
