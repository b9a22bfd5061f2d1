//! The tools of Augment's agent, by their names in documents of 2026.

use ibid_model::{Argument, Json, Text, Tool};

use crate::families::tool_shapes::{self, Shape};

const SHAPES: &[(&str, Shape)] = &[
    ("launch-process", Shape::Shell { command: "command", cwd: "cwd", description: "", background: "" }),
    ("view", Shape::Read { path: "path", offset: "", limit: "" }),
    ("save-file", Shape::Write { path: "path", content: "file_content" }),
    ("web-fetch", Shape::Fetch { url: "url", prompt: "" }),
    ("web-search", Shape::WebSearch { query: "query" }),
];

/// What a call asks for. `view` reads a file unless it says that it lists a directory.
pub(super) fn decode(name: &Text, input: &Json) -> (Tool, Vec<Argument>) {
    let (tool, extra) = tool_shapes::decode(SHAPES, name, input);
    let lists = extra.iter().any(|extra| extra.name == "type" && extra.value.as_str() == "\"directory\"");
    match tool {
        Tool::Read(_) if lists => tool_shapes::decode(&[], name, input),
        tool => (tool, extra),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_view_of_a_directory_is_no_reading_of_a_file() {
        let kind = |input: &str| decode(&"view".into(), &Json::from_text(input).unwrap()).0.kind();
        assert_eq!(kind(r#"{"path":"src/x.rs","type":"file"}"#), "read");
        assert_eq!(kind(r#"{"path":"src","type":"directory"}"#), "raw");
    }
}
