//! The tools of Cursor's agent, as transcripts of 2026 name them.

use ibid_model::{Argument, Json, Text, Tool};

use crate::families::tool_shapes::{self, Shape};

const SHAPES: &[(&str, Shape)] = &[
    (
        "Shell",
        Shape::Shell {
            command: "command",
            cwd: "working_directory",
            description: "description",
            background: "is_background",
        },
    ),
    ("Read", Shape::Read { path: "path", offset: "offset", limit: "limit" }),
    ("Write", Shape::Write { path: "path", content: "contents" }),
    ("StrReplace", Shape::Edit { path: "path", old: "old_string", new: "new_string", all: "replace_all" }),
    ("ApplyPatch", Shape::Patch { patch: "patch" }),
    ("Grep", Shape::Search { pattern: "pattern", path: "path", glob: "glob" }),
    ("Glob", Shape::Find { pattern: "glob_pattern", path: "target_directory" }),
    ("LS", Shape::List { path: "target_directory" }),
    ("WebFetch", Shape::Fetch { url: "url", prompt: "" }),
    ("WebSearch", Shape::WebSearch { query: "search_term" }),
    ("Task", Shape::Task { prompt: "prompt", description: "description", agent: "subagent_type" }),
    ("CallMcpTool", Shape::Mcp { server: "server", tool: "toolName", input: "arguments" }),
];

/// What a call asks for.
pub(super) fn decode(name: &Text, input: &Json) -> (Tool, Vec<Argument>) {
    tool_shapes::decode(SHAPES, name, input)
}
