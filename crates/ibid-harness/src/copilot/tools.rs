//! Copilot's tools and the common ones.
//!
//! `bash`, `view`, `create`, `edit`, `grep`, `glob` and `task` have typed forms (names and arguments
//! of 1.0.102; `shell` is an older name of `bash`), and so has a free-form `apply_patch`. What belongs to an MCP server is known by the
//! fields of the call, not by its name. Every other call is raw.

use ibid_model::{
    Argument, Edit, Find, Json, Mcp, Patch, Raw, Read, Replacement, Search, Shell, Task, Text, Tool, Write,
};

use crate::core::Arguments;

/// The common form of a call, and the arguments that it has no field for.
pub(super) fn decode(name: &Text, input: &Json) -> (Tool, Vec<Argument>) {
    if name == "apply_patch"
        && let Some(patch) = input.as_string().filter(|patch| patch.starts_with("*** Begin Patch"))
    {
        return (Tool::Patch(Patch { patch: patch.into() }), Vec::new());
    }
    Arguments::typed(input, |arguments| decode_typed(name, arguments), encode)
        .unwrap_or_else(|| (Tool::Raw(Raw { name: name.clone(), input: input.clone() }), Vec::new()))
}

/// The same of a call whose record names an MCP server and the tool there.
pub(super) fn of_server(server: &Text, tool: &Text, input: &Json) -> Tool {
    Tool::Mcp(Mcp { server: server.clone(), tool: tool.clone(), input: input.clone() })
}

fn decode_typed(name: &str, arguments: &mut Arguments) -> Option<Tool> {
    Some(match name {
        "bash" | "shell" => Tool::Shell(Shell {
            command: arguments.take_text("command")?,
            cwd: None,
            timeout_ms: None,
            description: arguments.take_text("description"),
            background: arguments.take("detach"),
        }),
        "view" => {
            let path = arguments.take_text("path")?;
            let (offset, limit) = take_range(arguments);
            Tool::Read(Read { path, offset, limit })
        }
        "create" => Tool::Write(Write {
            path: arguments.take_text("path")?,
            content: arguments.take_text("file_text")?,
        }),
        "edit" => Tool::Edit(Edit {
            path: arguments.take_text("path")?,
            edits: vec![Replacement {
                old: arguments.take_text("old_str")?,
                new: arguments.take_text("new_str")?,
                all: false,
            }],
        }),
        "grep" => Tool::Search(Search {
            pattern: arguments.take_text("pattern")?,
            path: arguments.take_text("paths"),
            glob: arguments.take_text("glob"),
        }),
        "glob" => {
            Tool::Find(Find { pattern: arguments.take_text("pattern")?, path: arguments.take_text("paths") })
        }
        "task" => Tool::Task(Task {
            prompt: arguments.take_text("prompt")?,
            description: arguments.take_text("description"),
            agent: arguments.take_text("agent_type"),
        }),
        _ => return None,
    })
}

/// `view_range` is the first line and the last one, -1 for the end of the file.
fn take_range(arguments: &mut Arguments) -> (Option<u64>, Option<u64>) {
    let Some(written) = arguments.take_json("view_range") else { return (None, None) };
    let range: Option<[i64; 2]> = written.read().ok();
    let lines = range.and_then(|[first, last]| {
        let start = u64::try_from(first).ok()?;
        match last {
            -1 => Some((start, None)),
            last => Some((start, Some(u64::try_from(last.checked_sub(first)?.checked_add(1)?).ok()?))),
        }
    });
    match lines {
        Some((start, limit)) => (Some(start), limit),
        None => {
            arguments.push("view_range", &written);
            (None, None)
        }
    }
}

/// Copilot's own arguments for a tool.
fn encode(tool: &Tool) -> Option<Arguments> {
    let mut arguments = Arguments::default();
    match tool {
        Tool::Shell(shell) => {
            arguments.push("command", &shell.command);
            arguments.push_some("description", shell.description.as_ref());
            arguments.push_some("detach", shell.background.as_ref());
        }
        Tool::Read(read) => {
            arguments.push("path", &read.path);
            if let Some(first) = read.offset {
                let last = match read.limit {
                    Some(lines) => i64::try_from(first.checked_add(lines)?.checked_sub(1)?).ok()?,
                    None => -1,
                };
                arguments.push("view_range", &(first, last));
            }
        }
        Tool::Write(write) => {
            arguments.push("path", &write.path);
            arguments.push("file_text", &write.content);
        }
        Tool::Edit(Edit { path, edits }) => {
            let [Replacement { old, new, all: false }] = edits.as_slice() else { return None };
            arguments.push("path", path);
            arguments.push("old_str", old);
            arguments.push("new_str", new);
        }
        Tool::Search(search) => {
            arguments.push("pattern", &search.pattern);
            arguments.push_some("paths", search.path.as_ref());
            arguments.push_some("glob", search.glob.as_ref());
        }
        Tool::Find(find) => {
            arguments.push("pattern", &find.pattern);
            arguments.push_some("paths", find.path.as_ref());
        }
        Tool::Task(task) => {
            arguments.push("prompt", &task.prompt);
            arguments.push_some("description", task.description.as_ref());
            arguments.push_some("agent_type", task.agent.as_ref());
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
    fn a_range_of_lines_is_where_to_begin_and_how_many() {
        let lines = |input: &str| match decoded("view", input) {
            (Tool::Read(read), extra) => (read.offset, read.limit, extra.len()),
            other => panic!("{other:?}"),
        };
        assert_eq!(lines(r#"{"path":"a","view_range":[3,5]}"#), (Some(3), Some(3), 0));
        assert_eq!(lines(r#"{"path":"a","view_range":[3,-1]}"#), (Some(3), None, 0));
        assert_eq!(lines(r#"{"path":"a","view_range":[5,3]}"#), (None, None, 1));
        assert_eq!(lines(r#"{"path":"a","view_range":[9223372036854775807,-9]}"#), (None, None, 1));
    }

    #[test]
    fn arguments_without_a_field_are_kept_and_calls_that_do_not_fit_stay_raw() {
        let (tool, extra) = decoded("bash", r#"{"command":"ls","mode":"async","initial_wait":5}"#);
        assert!(matches!(tool, Tool::Shell(_)));
        assert_eq!(extra.len(), 2);
        for (name, input) in [("bash", r#"{"cmd":"ls"}"#), ("edit", r#"{"path":"a"}"#), ("sql", "{}")] {
            assert!(matches!(decoded(name, input).0, Tool::Raw(_)), "{name}");
        }
    }

    #[test]
    fn a_free_form_patch_is_a_patch() {
        let (tool, _) = decoded("apply_patch", r#""*** Begin Patch\n*** End Patch\n""#);
        assert!(matches!(tool, Tool::Patch(_)));
    }
}
