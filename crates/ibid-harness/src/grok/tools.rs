//! Grok's tools and the common ones (names and arguments of 1.0.41; `run_terminal_cmd` is of 2026-07).

use ibid_model::{
    Argument, Edit, Json, List, Raw, Read, Replacement, Search, Shell, Task, Text, Tool, WebSearch, Write,
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
        "run_terminal_command" | "run_terminal_cmd" => Tool::Shell(Shell {
            command: arguments.take_text("command")?,
            cwd: None,
            timeout_ms: None,
            description: arguments.take_text("description"),
            background: arguments.take("background"),
        }),
        "read_file" => Tool::Read(Read {
            path: arguments.take_text("target_file")?,
            offset: arguments.take("offset"),
            limit: arguments.take("limit"),
        }),
        "write" => Tool::Write(Write {
            path: arguments.take_text("file_path")?,
            content: arguments.take_text("content")?,
        }),
        "search_replace" => {
            let path = arguments.take_text("file_path")?;
            let (old, new) = (arguments.take_text("old_string")?, arguments.take_text("new_string")?);
            let all = arguments.take::<bool>("replace_all");
            if all == Some(false) {
                // Saying no is not the same as saying nothing, and the common form knows one of them.
                arguments.push("replace_all", &false);
            }
            let all = all.unwrap_or(false);
            Tool::Edit(Edit { path, edits: vec![Replacement { old, new, all }] })
        }
        "list_dir" => Tool::List(List { path: Some(arguments.take_text("target_directory")?) }),
        "grep" => Tool::Search(Search {
            pattern: arguments.take_text("pattern")?,
            path: arguments.take_text("path"),
            glob: arguments.take_text("glob"),
        }),
        "web_search" => Tool::WebSearch(WebSearch { query: arguments.take_text("query")? }),
        "spawn_subagent" => Tool::Task(Task {
            prompt: arguments.take_text("prompt")?,
            description: arguments.take_text("description"),
            agent: arguments.take_text("subagent_type"),
        }),
        _ => return None,
    })
}
