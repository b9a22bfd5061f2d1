//! OpenAI Chat Completions: messages by role, calls beside an assistant's content, results as messages.

use serde_json::Value;

use super::{Arguments, Page, Role, Said, kind, maybe, result, string};

/// Where servers that speak this API put what a model thought; the standard has no place for it.
const THOUGHT: [&str; 3] = ["reasoning_content", "reasoning", "reasoning_text"];

pub(super) fn read(body: &Value, page: &mut Page) {
    let messages = body.get("messages").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    for (i, value) in messages.iter().enumerate() {
        page.message = Some(i);
        message(page, &format!("/messages/{i}"), value);
    }
}

fn message(page: &mut Page, at: &str, message: &Value) {
    let content = message.get("content").unwrap_or(&Value::Null);
    match string(message, "role") {
        // `function` is the older name of a result, without an id.
        "tool" | "function" => {
            let (text, images) = result(content);
            let id = string(message, "tool_call_id").to_owned();
            return page.put(at, Said::Result { id, text, images, is_error: false });
        }
        "" => return page.put(at, Said::Other(kind(message).to_owned())),
        _ => {}
    }
    let role = Role::of(message);
    for key in THOUGHT {
        if let Some(text) = maybe(message, key) {
            page.put(format!("{at}/{key}"), Said::Thinking { text, signature: None });
            break;
        }
    }
    page.content(&format!("{at}/content"), content, role, |page, at, part| page.part(at, part, role));
    if let Some(text) = maybe(message, "refusal") {
        page.put(format!("{at}/refusal"), role.says(&text));
    }
    if let Some(function) = message.get("function_call").filter(|call| call.is_object()) {
        let said = call(function, "", Arguments::of_text(string(function, "arguments")));
        page.put(format!("{at}/function_call"), said);
    }
    let calls = message.get("tool_calls").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    for (i, value) in calls.iter().enumerate() {
        let id = string(value, "id");
        let said = match (value.get("function"), value.get("custom")) {
            (Some(function), _) => call(function, id, Arguments::of_text(string(function, "arguments"))),
            (None, Some(custom)) => call(custom, id, Arguments::Text(string(custom, "input").to_owned())),
            (None, None) => Said::Other(kind(value).to_owned()),
        };
        page.put(format!("{at}/tool_calls/{i}"), said);
    }
}

fn call(function: &Value, id: &str, arguments: Arguments) -> Said {
    Said::Call { id: id.to_owned(), name: string(function, "name").to_owned(), namespace: None, arguments }
}
