//! Anthropic Messages: `system` beside `messages`, content in typed blocks, results in user messages.

use serde_json::Value;

use super::{Arguments, Image, Page, Role, Said, kind, maybe, result, string};

pub(super) fn read(body: &Value, page: &mut Page) {
    if let Some(system) = body.get("system") {
        page.content("/system", system, Role::System, |page, at, part| block(page, at, part, Role::System));
    }
    let messages = body.get("messages").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    for (i, message) in messages.iter().enumerate() {
        page.message = Some(i);
        let role = Role::of(message);
        match message.get("content") {
            Some(content) => {
                page.content(&format!("/messages/{i}/content"), content, role, |page, at, part| {
                    block(page, at, part, role);
                });
            }
            None => page.put(format!("/messages/{i}"), Said::Other(kind(message).to_owned())),
        }
    }
}

fn block(page: &mut Page, at: &str, block: &Value, role: Role) {
    let said = match kind(block) {
        "text" => role.says(string(block, "text")),
        "thinking" => Said::Thinking {
            text: string(block, "thinking").to_owned(),
            signature: maybe(block, "signature"),
        },
        "redacted_thinking" => Said::Thinking { text: String::new(), signature: maybe(block, "data") },
        "tool_use" => Said::Call {
            id: string(block, "id").to_owned(),
            name: string(block, "name").to_owned(),
            namespace: None,
            arguments: Arguments::Json(block.get("input").cloned().unwrap_or_default()),
        },
        "tool_result" => {
            let (text, images) = result(block.get("content").unwrap_or(&Value::Null));
            Said::Result {
                id: string(block, "tool_use_id").to_owned(),
                text,
                images,
                is_error: block.get("is_error").and_then(Value::as_bool).unwrap_or(false),
            }
        }
        other => match Image::read(block) {
            Some(image) => Said::Image { role, image },
            None => Said::Other(other.to_owned()),
        },
    };
    page.put(at, said);
}
