//! The input of a tool call in few words.

use ibid_model::{Text, Tool};
use serde_json::{Map, Value};

use super::clip::Clip;

/// The longest value of an argument that is taken along, in characters.
const VALUE_CHARS: usize = 8_000;

/// What a call asks for: a command or a patch as it is, other arguments as JSON.
pub(crate) fn of(tool: &Tool) -> Clip {
    let text = |text: &Text| Value::from(text.head(VALUE_CHARS));
    let maybe = |text: &Option<Text>| text.as_ref().map(|text| Value::from(text.head(VALUE_CHARS)));
    match tool {
        Tool::Shell(shell) => Clip::of(&shell.command.to_str()),
        Tool::Patch(patch) => Clip::of(&patch.patch.to_str()),
        Tool::Raw(raw) => json(&raw.input),
        Tool::Mcp(mcp) => json(&mcp.input),
        Tool::Read(read) => object([
            ("path", Some(text(&read.path))),
            ("offset", read.offset.map(Value::from)),
            ("limit", read.limit.map(Value::from)),
        ]),
        Tool::Write(write) => {
            object([("path", Some(text(&write.path))), ("content", Some(text(&write.content)))])
        }
        Tool::Edit(edit) => {
            let edits = edit.edits.iter().take(100);
            let edits = edits.map(|edit| {
                serde_json::json!({ "old": edit.old.head(VALUE_CHARS), "new": edit.new.head(VALUE_CHARS) })
            });
            object([("path", Some(text(&edit.path))), ("edits", Some(Value::Array(edits.collect())))])
        }
        Tool::Search(search) => object([
            ("pattern", Some(text(&search.pattern))),
            ("path", maybe(&search.path)),
            ("glob", maybe(&search.glob)),
        ]),
        Tool::Find(find) => object([("pattern", Some(text(&find.pattern))), ("path", maybe(&find.path))]),
        Tool::List(list) => object([("path", maybe(&list.path))]),
        Tool::Fetch(fetch) => object([("url", Some(text(&fetch.url))), ("prompt", maybe(&fetch.prompt))]),
        Tool::WebSearch(search) => object([("query", Some(text(&search.query)))]),
        Tool::Task(task) => object([
            ("description", maybe(&task.description)),
            ("agent", maybe(&task.agent)),
            ("prompt", Some(text(&task.prompt))),
        ]),
        Tool::Todo(todo) => {
            let items = todo.items.iter().take(100);
            let items = items.map(|item| {
                serde_json::json!({ "text": item.text.head(VALUE_CHARS), "status": item.status.head(100) })
            });
            object([("items", Some(Value::Array(items.collect())))])
        }
        _ => Clip::default(),
    }
}

fn object<const N: usize>(members: [(&str, Option<Value>); N]) -> Clip {
    let members = members.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?)));
    let members: Map<String, Value> = members.collect();
    if members.is_empty() { Clip::default() } else { Clip::of(&Value::Object(members).to_string()) }
}

fn json(input: &ibid_model::Json) -> Clip {
    let written = input.as_str();
    match written.starts_with('"') {
        true => Clip::of(&input.as_string().unwrap_or_default()),
        false if matches!(written.trim(), "{}" | "null") => Clip::default(),
        false => Clip::of(written),
    }
}
