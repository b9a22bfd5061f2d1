//! The tools of WorkBuddy's agent, which are called as Claude Code's are.

use ibid_model::{Argument, Json, Text, Tool};

use crate::families::tool_shapes::{self, Shape};

const SHAPES: &[(&str, Shape)] = &[
    (
        "Bash",
        Shape::Shell {
            command: "command",
            cwd: "",
            description: "description",
            background: "run_in_background",
        },
    ),
    ("Read", Shape::Read { path: "file_path", offset: "offset", limit: "limit" }),
    ("Write", Shape::Write { path: "file_path", content: "content" }),
    ("Edit", Shape::Edit { path: "file_path", old: "old_string", new: "new_string", all: "replace_all" }),
    ("Grep", Shape::Search { pattern: "pattern", path: "path", glob: "glob" }),
    ("Glob", Shape::Find { pattern: "pattern", path: "path" }),
    ("LS", Shape::List { path: "path" }),
    ("WebFetch", Shape::Fetch { url: "url", prompt: "prompt" }),
    ("WebSearch", Shape::WebSearch { query: "query" }),
    ("Task", Shape::Task { prompt: "prompt", description: "description", agent: "subagent_type" }),
];

/// What a call asks for.
pub(super) fn decode(name: &Text, input: &Json) -> (Tool, Vec<Argument>) {
    tool_shapes::decode(SHAPES, name, input)
}
