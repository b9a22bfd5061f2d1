//! Rules about one call or one tool: its name, its id, its input.

use serde_json::Value;

use super::case::{Case, list};
use super::{Refusal, Rule};
use crate::provider::wire::{Api, Arguments, Said};

pub(super) fn check(case: &Case<'_>) -> Vec<Refusal> {
    let mut refusals = Vec::new();
    offered(case.api, list(case.body, "tools"), "/tools", &mut refusals);
    for spoken in &case.spoken {
        let at = &spoken.at;
        match &spoken.said {
            Said::Call { id, name, arguments, .. } => {
                refusals.extend(tool_name(case.api, name, at));
                refusals.extend(call_id(case.api, id, at));
                refusals.extend(input(case, arguments, at));
            }
            Said::Result { id, .. } => refusals.extend(call_id(case.api, id, at)),
            _ => {}
        }
    }
    refusals
}

/// The names of the tools that are offered, those in Codex's namespaces too.
fn offered(api: Api, tools: &[Value], at: &str, refusals: &mut Vec<Refusal>) {
    for (i, tool) in tools.iter().enumerate() {
        let at = format!("{at}/{i}");
        let own = tool.get("function").or_else(|| tool.get("custom")).unwrap_or(tool);
        if let Some(name) = own.get("name").and_then(Value::as_str) {
            refusals.extend(tool_name(api, name, &at));
        }
        if tool.get("type").is_some_and(|kind| kind == "namespace") && at.matches('/').count() < 4 {
            offered(api, list(tool, "tools"), &format!("{at}/tools"), refusals);
        }
    }
}

fn tool_name(api: Api, name: &str, at: &str) -> Option<Refusal> {
    let most = match api {
        Api::Messages | Api::Responses => 128,
        Api::Chat => 64,
    };
    let why = format!("the tool's name {name:?} is not of 1 to {most} letters, digits, `_` and `-`");
    (!is_word(name) || name.len() > most).then(|| Refusal::new(Rule::ToolName, at, why))
}

fn call_id(api: Api, id: &str, at: &str) -> Option<Refusal> {
    let (good, wanted) = match api {
        Api::Messages => (is_word(id), "made of letters, digits, `_` and `-`"),
        Api::Responses => ((1..=64).contains(&id.chars().count()), "of 1 to 64 characters"),
        Api::Chat => ((1..=40).contains(&id.chars().count()), "of 1 to 40 characters"),
    };
    (!good).then(|| Refusal::new(Rule::CallId, at, format!("the call's id {id:?} is not {wanted}")))
}

fn is_word(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
}

fn input(case: &Case<'_>, arguments: &Arguments, at: &str) -> Option<Refusal> {
    // A custom tool is called with text.
    let call = case.body.pointer(at).unwrap_or(&Value::Null);
    let custom = call.get("type").is_some_and(|kind| kind == "custom_tool_call" || kind == "custom");
    let good = custom || matches!(arguments, Arguments::Json(Value::Object(_)));
    (!good).then(|| Refusal::new(Rule::InputNotObject, at, "the call's input is no JSON object"))
}
