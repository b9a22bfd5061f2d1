//! Qwen Code's tools and the common ones.
//!
//! Names and arguments of 0.24.4 and 0.15.10: `run_shell_command`, `read_file`, `write_file`, `edit`,
//! `grep_search`, `glob`, `list_directory`, `web_fetch`, `web_search`, `agent` (before: `task`). An MCP tool is named
//! `mcp__<server>__<tool>`. Every other call is raw.

use ibid_model::{
    Argument, Edit, Fetch, Find, Json, List, Mcp, Raw, Read, Replacement, Search, Shell, Task, Text, Tool,
    WebSearch, Write,
};

use crate::core::Arguments;
use crate::families::mcp_name;

/// The common form of a call, and the arguments that it has no field for.
pub(super) fn decode(name: &Text, input: &Json) -> (Tool, Vec<Argument>) {
    if let Some((server, tool)) = mcp_name::parts(name) {
        let part = |part: &str| Text::part_of(name, part);
        let mcp = Mcp { server: part(server), tool: part(tool), input: input.clone() };
        return (Tool::Mcp(mcp), Vec::new());
    }
    Arguments::typed(input, |arguments| decode_typed(name, arguments), encode)
        .unwrap_or_else(|| (Tool::Raw(Raw { name: name.clone(), input: input.clone() }), Vec::new()))
}

fn decode_typed(name: &str, arguments: &mut Arguments) -> Option<Tool> {
    Some(match name {
        "run_shell_command" => Tool::Shell(Shell {
            command: arguments.take_text("command")?,
            cwd: arguments.take_text("directory"),
            timeout_ms: arguments.take("timeout"),
            description: arguments.take_text("description"),
            background: arguments.take("is_background"),
        }),
        "read_file" => Tool::Read(Read {
            path: arguments.take_text("file_path")?,
            offset: arguments.take("offset"),
            limit: arguments.take("limit"),
        }),
        "write_file" => Tool::Write(Write {
            path: arguments.take_text("file_path")?,
            content: arguments.take_text("content")?,
        }),
        "edit" => Tool::Edit(Edit {
            path: arguments.take_text("file_path")?,
            edits: vec![Replacement {
                old: arguments.take_text("old_string")?,
                new: arguments.take_text("new_string")?,
                all: take_all(arguments),
            }],
        }),
        "grep_search" => Tool::Search(Search {
            pattern: arguments.take_text("pattern")?,
            path: arguments.take_text("path"),
            glob: arguments.take_text("glob"),
        }),
        "glob" => {
            Tool::Find(Find { pattern: arguments.take_text("pattern")?, path: arguments.take_text("path") })
        }
        "list_directory" => Tool::List(List { path: Some(arguments.take_text("path")?) }),
        "web_fetch" => {
            Tool::Fetch(Fetch { url: arguments.take_text("url")?, prompt: arguments.take_text("prompt") })
        }
        "web_search" => Tool::WebSearch(WebSearch { query: arguments.take_text("query")? }),
        "agent" | "task" => Tool::Task(Task {
            prompt: arguments.take_text("prompt")?,
            description: arguments.take_text("description"),
            agent: arguments.take_text("subagent_type"),
        }),
        _ => return None,
    })
}

/// Whether every occurrence is meant. A `false` that is written stays among the arguments, since it
/// would not come back.
fn take_all(arguments: &mut Arguments) -> bool {
    let Some(written) = arguments.take_json("replace_all") else { return false };
    let all = written.as_str() == "true";
    if !all {
        arguments.push("replace_all", &written);
    }
    all
}

/// Qwen Code's own arguments for a tool.
fn encode(tool: &Tool) -> Option<Arguments> {
    let mut arguments = Arguments::default();
    match tool {
        Tool::Shell(shell) => {
            arguments.push("command", &shell.command);
            arguments.push_some("directory", shell.cwd.as_ref());
            arguments.push_some("timeout", shell.timeout_ms.as_ref());
            arguments.push_some("description", shell.description.as_ref());
            arguments.push_some("is_background", shell.background.as_ref());
        }
        Tool::Read(read) => {
            arguments.push("file_path", &read.path);
            arguments.push_some("offset", read.offset.as_ref());
            arguments.push_some("limit", read.limit.as_ref());
        }
        Tool::Write(write) => {
            arguments.push("file_path", &write.path);
            arguments.push("content", &write.content);
        }
        Tool::Edit(Edit { path, edits }) => {
            let [Replacement { old, new, all }] = edits.as_slice() else { return None };
            arguments.push("file_path", path);
            arguments.push("old_string", old);
            arguments.push("new_string", new);
            arguments.push_some("replace_all", all.then_some(true).as_ref());
        }
        Tool::Search(search) => {
            arguments.push("pattern", &search.pattern);
            arguments.push_some("path", search.path.as_ref());
            arguments.push_some("glob", search.glob.as_ref());
        }
        Tool::Find(find) => {
            arguments.push("pattern", &find.pattern);
            arguments.push_some("path", find.path.as_ref());
        }
        Tool::List(list) => arguments.push_some("path", list.path.as_ref()),
        Tool::Fetch(fetch) => {
            arguments.push("url", &fetch.url);
            arguments.push_some("prompt", fetch.prompt.as_ref());
        }
        Tool::WebSearch(search) => arguments.push("query", &search.query),
        Tool::Task(task) => {
            arguments.push("prompt", &task.prompt);
            arguments.push_some("description", task.description.as_ref());
            arguments.push_some("subagent_type", task.agent.as_ref());
        }
        _ => return None,
    }
    Some(arguments)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decoded(name: &str, input: &str) -> (Tool, Vec<Argument>) {
        decode(&Text::from(name), &Json::from_text(input).unwrap())
    }

    #[test]
    fn a_written_false_stays_among_the_arguments() {
        let input = r#"{"file_path":"a","old_string":"x","new_string":"y","replace_all":false}"#;
        let (tool, extra) = decoded("edit", input);
        assert!(matches!(&tool, Tool::Edit(edit) if !edit.edits[0].all));
        assert_eq!(extra.len(), 1);
    }

    #[test]
    fn a_call_whose_arguments_do_not_fit_stays_raw() {
        for (name, input) in [
            ("read_file", r#"{"path":"a"}"#),
            ("run_shell_command", "[1]"),
            ("todo_write", "{}"),
            ("mcp__a__b__c", "{}"),
        ] {
            assert!(matches!(decoded(name, input).0, Tool::Raw(_)), "{name}");
        }
        assert!(matches!(decoded("mcp__a__b", "{}").0, Tool::Mcp(_)));
    }
}
