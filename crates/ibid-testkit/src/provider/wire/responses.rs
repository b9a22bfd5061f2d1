//! OpenAI Responses: `instructions` beside `input`, which is one string or a list of typed items.

use serde_json::Value;

use super::{Arguments, Page, Role, Said, kind, maybe, result, string};

pub(super) fn read(body: &Value, page: &mut Page) {
    if let Some(text) = body.get("instructions").and_then(Value::as_str) {
        page.put("/instructions", Said::System(text.to_owned()));
    }
    match body.get("input") {
        Some(Value::String(text)) => page.put("/input", Said::User(text.clone())),
        Some(Value::Array(items)) => {
            for (i, value) in items.iter().enumerate() {
                page.message = Some(i);
                item(page, &format!("/input/{i}"), value);
            }
        }
        _ => {}
    }
}

fn item(page: &mut Page, at: &str, item: &Value) {
    // A message may leave its type out; its role is then what tells it.
    let kind = match kind(item) {
        "object" if item.get("role").is_some() => "message",
        kind => kind,
    };
    let said = match kind {
        "message" => {
            let role = Role::of(item);
            let content = item.get("content").unwrap_or(&Value::Null);
            return page.content(&format!("{at}/content"), content, role, |page, at, value| {
                page.part(at, value, role);
            });
        }
        // Codex: what one agent tells another. To the model that reads it, it is a prompt.
        "agent_message" => {
            let content = item.get("content").unwrap_or(&Value::Null);
            return page.content(
                &format!("{at}/content"),
                content,
                Role::User,
                |page, at, value| match value.get("encrypted_content").and_then(Value::as_str) {
                    Some(text) => page.put(at, Said::User(text.to_owned())),
                    None => page.part(at, value, Role::User),
                },
            );
        }
        "reasoning" => Said::Thinking { text: thought(item), signature: maybe(item, "encrypted_content") },
        "function_call" => call(item, Arguments::of_text(string(item, "arguments"))),
        "custom_tool_call" => call(item, Arguments::Text(string(item, "input").to_owned())),
        "local_shell_call" => Said::Call {
            id: string(item, "call_id").to_owned(),
            name: "local_shell".to_owned(),
            namespace: None,
            arguments: Arguments::Json(item.get("action").cloned().unwrap_or_default()),
        },
        "function_call_output" | "custom_tool_call_output" | "local_shell_call_output" => {
            let (text, images) = result(item.get("output").unwrap_or(&Value::Null));
            Said::Result { id: string(item, "call_id").to_owned(), text, images, is_error: false }
        }
        other => Said::Other(other.to_owned()),
    };
    page.put(at, said);
}

fn call(item: &Value, arguments: Arguments) -> Said {
    Said::Call {
        id: string(item, "call_id").to_owned(),
        name: string(item, "name").to_owned(),
        namespace: maybe(item, "namespace"),
        arguments,
    }
}

/// The readable text of a reasoning item: its summaries, then its content.
fn thought(item: &Value) -> String {
    let lists = [item.get("summary"), item.get("content")];
    let parts = lists.into_iter().flatten().filter_map(Value::as_array).flatten();
    parts.map(|part| string(part, "text")).collect::<Vec<_>>().join("\n")
}
