//! Kimi Code's tools and the common ones (names and arguments of 2.1.0).

use ibid_model::{
    Argument, Edit, Fetch, Find, Json, Raw, Read, Replacement, Search, Shell, Task, Text, Tool, WebSearch,
    Write,
};

use crate::core::Arguments;

/// The common form of a call, and the arguments that it has no field for. Every field is taken from
/// one argument of its own name, so each mapping can be turned round.
pub(super) fn decode(name: &Text, input: &Json) -> (Tool, Vec<Argument>) {
    let typed = Arguments::of(input).and_then(|mut arguments| {
        let tool = decode_typed(name, &mut arguments)?;
        Some((tool, arguments.into_rest()))
    });
    typed.unwrap_or_else(|| (Tool::Raw(Raw { name: name.clone(), input: input.clone() }), Vec::new()))
}

fn decode_typed(name: &str, arguments: &mut Arguments) -> Option<Tool> {
    Some(match name {
        "Bash" => Tool::Shell(Shell {
            command: arguments.take_text("command")?,
            cwd: arguments.take_text("cwd"),
            timeout_ms: None,
            description: arguments.take_text("description"),
            background: arguments.take("run_in_background"),
        }),
        "Read" => Tool::Read(Read {
            path: arguments.take_text("path")?,
            offset: arguments.take("line_offset"),
            limit: arguments.take("n_lines"),
        }),
        // A file may be added to instead, which the common form has no word for.
        "Write" if !arguments.has("mode") => Tool::Write(Write {
            path: arguments.take_text("path")?,
            content: arguments.take_text("content")?,
        }),
        "Edit" => {
            let path = arguments.take_text("path")?;
            let (old, new) = (arguments.take_text("old_string")?, arguments.take_text("new_string")?);
            let all = arguments.take::<bool>("replace_all");
            if all == Some(false) {
                // Saying no is not the same as saying nothing, and the common form knows one of them.
                arguments.push("replace_all", &false);
            }
            Tool::Edit(Edit { path, edits: vec![Replacement { old, new, all: all.unwrap_or(false) }] })
        }
        "Grep" => Tool::Search(Search {
            pattern: arguments.take_text("pattern")?,
            path: arguments.take_text("path"),
            glob: arguments.take_text("glob"),
        }),
        "Glob" => {
            Tool::Find(Find { pattern: arguments.take_text("pattern")?, path: arguments.take_text("path") })
        }
        "FetchURL" => Tool::Fetch(Fetch { url: arguments.take_text("url")?, prompt: None }),
        "WebSearch" => Tool::WebSearch(WebSearch { query: arguments.take_text("query")? }),
        "Agent" => Tool::Task(Task {
            prompt: arguments.take_text("prompt")?,
            description: arguments.take_text("description"),
            agent: arguments.take_text("subagent_type"),
        }),
        _ => return None,
    })
}
