//! Rules about calls and their results.

use std::collections::HashSet;

use serde_json::Value;

use super::case::{Case, Message, text};
use super::{Refusal, Rule};
use crate::provider::wire::{Api, Said, Spoken};

pub(super) fn check(case: &Case<'_>) -> Vec<Refusal> {
    let mut refusals = duplicate_calls(case);
    refusals.extend(match case.api {
        Api::Messages => messages(case),
        Api::Responses => responses(case),
        Api::Chat => chat(case),
    });
    refusals
}

/// A call or a result: its id, and where it stands.
type Named<'a> = (&'a str, &'a str);

fn call(spoken: &Spoken) -> Option<Named<'_>> {
    match &spoken.said {
        Said::Call { id, .. } => Some((id, &spoken.at)),
        _ => None,
    }
}

fn result(spoken: &Spoken) -> Option<Named<'_>> {
    match &spoken.said {
        Said::Result { id, .. } => Some((id, &spoken.at)),
        _ => None,
    }
}

fn duplicate_calls(case: &Case<'_>) -> Vec<Refusal> {
    let mut seen = HashSet::new();
    let twice = case.spoken.iter().filter_map(call).filter(|(id, _)| !id.is_empty() && !seen.insert(*id));
    twice
        .map(|(id, at)| Refusal::new(Rule::DuplicateCall, at, format!("a second call has the id {id:?}")))
        .collect()
}

fn unanswered((id, at): Named<'_>) -> Refusal {
    Refusal::new(Rule::CallWithoutResult, at, format!("the call {id:?} has no result where it must be"))
}

fn uncalled((id, at): Named<'_>) -> Refusal {
    Refusal::new(
        Rule::ResultWithoutCall,
        at,
        format!("the result is for {id:?}, which is not called where it must be"),
    )
}

fn repeated((id, at): Named<'_>) -> Refusal {
    Refusal::new(Rule::DuplicateResult, at, format!("the call {id:?} has a second result"))
}

/// Calls that wait for their results, and what became of them.
#[derive(Default)]
struct Waiting<'a> {
    open: Vec<Named<'a>>,
    done: HashSet<&'a str>,
    refusals: Vec<Refusal>,
}

impl<'a> Waiting<'a> {
    fn answer(&mut self, result: Named<'a>) {
        match self.open.iter().position(|(id, _)| *id == result.0) {
            Some(place) => {
                self.open.remove(place);
                self.done.insert(result.0);
            }
            None if self.done.contains(result.0) => self.refusals.push(repeated(result)),
            None => self.refusals.push(uncalled(result)),
        }
    }

    /// Nothing more is answered: what is open stays without a result.
    fn close(&mut self) {
        self.refusals.extend(self.open.drain(..).map(unanswered));
        self.done.clear();
    }
}

/// Anthropic: all results in the very next message, before anything else of it.
fn messages(case: &Case<'_>) -> Vec<Refusal> {
    let mut waiting = Waiting::default();
    for message in case.messages().filter(|message| message.role() != "system") {
        let is_user = message.role() != "assistant";
        for named in case.said(message).filter_map(result).filter(|_| is_user) {
            waiting.answer(named);
        }
        waiting.close();
        waiting.open.extend(case.said(message).filter_map(call).filter(|_| !is_user));
        waiting.refusals.extend(not_first(case, message));
    }
    waiting.close();
    waiting.refusals
}

fn not_first(case: &Case<'_>, message: Message<'_>) -> Option<Refusal> {
    let is_result = |block: &Value| text(block, "type") == "tool_result";
    let blocks = message.blocks();
    let other = blocks.iter().position(|block| !is_result(block))?;
    let late = blocks.iter().skip(other).position(is_result)? + other;
    let why = "a result stands behind other content";
    Some(Refusal::new(Rule::ResultNotFirst, format!("{}/content/{late}", case.at(message)), why))
}

/// Responses: every output after its call, every call with its output, anywhere.
fn responses(case: &Case<'_>) -> Vec<Refusal> {
    let mut waiting = Waiting::default();
    for spoken in &case.spoken {
        waiting.open.extend(call(spoken));
        if let Some(named) = result(spoken) {
            waiting.answer(named);
        }
    }
    waiting.close();
    // The calls may be in a response that the server keeps.
    let stored = case.body.get("previous_response_id").is_some_and(Value::is_string);
    waiting.refusals.retain(|refusal| !stored || refusal.rule != Some(Rule::ResultWithoutCall));
    waiting.refusals
}

/// Chat: results right behind the assistant's message, in any order, before any other message.
fn chat(case: &Case<'_>) -> Vec<Refusal> {
    let mut waiting = Waiting::default();
    for message in case.messages() {
        if message.role() == "tool" {
            for named in case.said(message).filter_map(result) {
                waiting.answer(named);
            }
        } else {
            waiting.close();
            waiting.open.extend(case.said(message).filter_map(call).filter(|(id, _)| !id.is_empty()));
        }
    }
    waiting.close();
    waiting.refusals
}
