//! The tools of harnesses that are only read, as tables: what a tool is, and what its arguments are
//! called.
//!
//! A call is typed only when its arguments have the names and types of the table, and every argument
//! beyond them stays in [`ToolUse::extra`](ibid_model::ToolUse::extra); so name, typed form and
//! extra arguments give the input again.

use ibid_model::{
    Argument, Edit, Fetch, Find, Json, List, Mcp, Patch, Raw, Read, Replacement, Search, Shell, Task, Text,
    Tool, WebSearch, Write,
};

use crate::core::Arguments;

/// What a tool is, with the names of its arguments; an empty name is an argument that it lacks.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Shape {
    /// Runs a command.
    Shell { command: &'static str, cwd: &'static str, description: &'static str, background: &'static str },
    /// Reads a file.
    Read { path: &'static str, offset: &'static str, limit: &'static str },
    /// Writes a file.
    Write { path: &'static str, content: &'static str },
    /// Replaces text once, or everywhere.
    Edit { path: &'static str, old: &'static str, new: &'static str, all: &'static str },
    /// Applies a patch.
    Patch { patch: &'static str },
    /// Searches contents.
    Search { pattern: &'static str, path: &'static str, glob: &'static str },
    /// Finds files.
    Find { pattern: &'static str, path: &'static str },
    /// Lists a directory.
    List { path: &'static str },
    /// Fetches a page.
    Fetch { url: &'static str, prompt: &'static str },
    /// Searches the web.
    WebSearch { query: &'static str },
    /// Hands a task to a subagent.
    Task { prompt: &'static str, description: &'static str, agent: &'static str },
    /// Calls a tool of an MCP server.
    Mcp { server: &'static str, tool: &'static str, input: &'static str },
}

/// What a call of the tool `name` asks for, and its arguments beyond that.
pub(crate) fn decode(shapes: &[(&str, Shape)], name: &Text, input: &Json) -> (Tool, Vec<Argument>) {
    let shape = shapes.iter().find(|(known, _)| *known == name.as_str());
    let typed = shape.and_then(|(_, shape)| {
        let mut arguments = Arguments::of(input)?;
        let tool = shape.take(&mut arguments)?;
        Some((tool, arguments.into_rest()))
    });
    typed.unwrap_or_else(|| (Tool::Raw(Raw { name: name.clone(), input: input.clone() }), Vec::new()))
}

impl Shape {
    fn take(self, arguments: &mut Arguments) -> Option<Tool> {
        Some(match self {
            Shape::Shell { command, cwd, description, background } => Tool::Shell(Shell {
                command: text(arguments, command)?,
                cwd: text(arguments, cwd),
                timeout_ms: None,
                description: text(arguments, description),
                background: value(arguments, background),
            }),
            Shape::Read { path, offset, limit } => Tool::Read(Read {
                path: text(arguments, path)?,
                offset: value(arguments, offset),
                limit: value(arguments, limit),
            }),
            Shape::Write { path, content } => {
                Tool::Write(Write { path: text(arguments, path)?, content: text(arguments, content)? })
            }
            Shape::Edit { path, old, new, all } => {
                let (path, old, new) = (text(arguments, path)?, text(arguments, old)?, text(arguments, new)?);
                // What is not said and what is said to be so by default are two spellings: one that
                // is said as `false` stays an argument of its own.
                let everywhere = json(arguments, all);
                if let Some(said) = everywhere.as_ref().filter(|said| said.as_str() != "true") {
                    arguments.push(all, said);
                }
                let all = everywhere.is_some_and(|said| said.as_str() == "true");
                Tool::Edit(Edit { path, edits: vec![Replacement { old, new, all }] })
            }
            Shape::Patch { patch } => Tool::Patch(Patch { patch: text(arguments, patch)? }),
            Shape::Search { pattern, path, glob } => Tool::Search(Search {
                pattern: text(arguments, pattern)?,
                path: text(arguments, path),
                glob: text(arguments, glob),
            }),
            Shape::Find { pattern, path } => {
                Tool::Find(Find { pattern: text(arguments, pattern)?, path: text(arguments, path) })
            }
            Shape::List { path } => Tool::List(List { path: text(arguments, path) }),
            Shape::Fetch { url, prompt } => {
                Tool::Fetch(Fetch { url: text(arguments, url)?, prompt: text(arguments, prompt) })
            }
            Shape::WebSearch { query } => Tool::WebSearch(WebSearch { query: text(arguments, query)? }),
            Shape::Task { prompt, description, agent } => Tool::Task(Task {
                prompt: text(arguments, prompt)?,
                description: text(arguments, description),
                agent: text(arguments, agent),
            }),
            Shape::Mcp { server, tool, input } => Tool::Mcp(Mcp {
                server: text(arguments, server)?,
                tool: text(arguments, tool)?,
                input: json(arguments, input)?,
            }),
        })
    }
}

fn text(arguments: &mut Arguments, name: &str) -> Option<Text> {
    value::<String>(arguments, name).map(Text::from)
}

fn value<T: serde::de::DeserializeOwned>(arguments: &mut Arguments, name: &str) -> Option<T> {
    if name.is_empty() { None } else { arguments.take(name) }
}

fn json(arguments: &mut Arguments, name: &str) -> Option<Json> {
    if name.is_empty() { None } else { arguments.take_json(name) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHAPES: &[(&str, Shape)] = &[
        ("Run", Shape::Shell { command: "command", cwd: "dir", description: "why", background: "" }),
        ("Swap", Shape::Edit { path: "path", old: "old", new: "new", all: "all" }),
    ];

    fn decoded(name: &str, input: &str) -> (Tool, Vec<Argument>) {
        decode(SHAPES, &name.into(), &Json::from_text(input).unwrap())
    }

    #[test]
    fn an_argument_that_the_table_does_not_name_is_kept_beside_the_typed_form() {
        let (tool, extra) = decoded("Run", r#"{"command":"ls","timeout":1.50,"dir":7}"#);
        assert!(matches!(tool, Tool::Shell(Shell { command, cwd: None, .. }) if command == "ls"));
        let kept: Vec<_> = extra.iter().map(|extra| (extra.name.as_str(), extra.value.as_str())).collect();
        assert_eq!(kept, [("timeout", "1.50"), ("dir", "7")]);
    }

    #[test]
    fn a_call_without_what_its_tool_needs_stays_as_it_is() {
        for (name, input) in [("Run", r#"{"dir":"/w"}"#), ("Run", r#""ls""#), ("Walk", r#"{"command":"ls"}"#)]
        {
            let (tool, extra) = decoded(name, input);
            assert!(matches!(tool, Tool::Raw(Raw { input: kept, .. }) if kept.as_str() == input));
            assert!(extra.is_empty());
        }
    }

    #[test]
    fn only_a_replacement_everywhere_says_so() {
        let all = |input: &str| match decoded("Swap", input) {
            (Tool::Edit(edit), extra) => (edit.edits.first().unwrap().all, extra.len()),
            _ => unreachable!("the call has all that the tool needs"),
        };
        assert_eq!(all(r#"{"path":"a","old":"x","new":"y"}"#), (false, 0));
        assert_eq!(all(r#"{"path":"a","old":"x","new":"y","all":true}"#), (true, 0));
        assert_eq!(all(r#"{"path":"a","old":"x","new":"y","all":false}"#), (false, 1));
    }
}
