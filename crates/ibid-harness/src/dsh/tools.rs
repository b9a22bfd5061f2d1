//! The tools of DeepSeek Harness and the common ones.
//!
//! Source: npm `@deepseek-ai/dsh-tool-fs` 0.1.0-rc.8 for `read`, `write` and `edit`; recorded calls
//! for `bash`, `grep` and `todo_write`. Every other call stays raw.

use ibid_model::{Argument, Edit, Find, Json, Raw, Read, Replacement, Search, Shell, Text, Tool, Write};

use crate::core::Arguments;

/// The common form of a call, and the arguments that it has no field for.
pub(super) fn decode(name: &Text, input: &Json) -> (Tool, Vec<Argument>) {
    let typed = Arguments::of(input).and_then(|mut arguments| {
        let tool = typed(name, &mut arguments)?;
        Some((tool, arguments.into_rest()))
    });
    typed.unwrap_or_else(|| (Tool::Raw(Raw { name: name.clone(), input: input.clone() }), Vec::new()))
}

/// Every argument that is taken is text, a flag or a whole number, and so comes back as it was.
fn typed(name: &str, arguments: &mut Arguments) -> Option<Tool> {
    Some(match name {
        "bash" => Tool::Shell(Shell {
            command: arguments.take_text("command")?,
            cwd: None,
            timeout_ms: None,
            description: arguments.take_text("description"),
            background: None,
        }),
        "read" => Tool::Read(Read {
            path: arguments.take_text("file_path")?,
            offset: arguments.take("offset"),
            limit: arguments.take("limit"),
        }),
        "write" => Tool::Write(Write {
            path: arguments.take_text("file_path")?,
            content: arguments.take_text("content")?,
        }),
        "edit" => Tool::Edit(Edit {
            path: arguments.take_text("file_path")?,
            edits: vec![Replacement {
                old: arguments.take_text("old_string")?,
                new: arguments.take_text("new_string")?,
                all: arguments.take("replace_all").unwrap_or(false),
            }],
        }),
        "grep" => Tool::Search(Search {
            pattern: arguments.take_text("pattern")?,
            path: arguments.take_text("path"),
            glob: arguments.take_text("glob"),
        }),
        "glob" => {
            Tool::Find(Find { pattern: arguments.take_text("pattern")?, path: arguments.take_text("path") })
        }
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_with_other_arguments_stays_raw_and_further_ones_go_along() {
        let decoded = |name: &str, input: &str| decode(&name.into(), &Json::from_text(input).unwrap());
        let (tool, extra) = decoded("bash", r#"{"command":"ls","timeout":5}"#);
        assert!(matches!(tool, Tool::Shell(_)));
        assert_eq!(extra.len(), 1);
        assert!(matches!(decoded("read", r#"{"path":"a"}"#).0, Tool::Raw(_)));
        assert!(matches!(decoded("edit", r#"{"file_path":"a","old_string":"x"}"#).0, Tool::Raw(_)));
        assert!(matches!(decoded("todo_write", r#"{"todos":[]}"#).0, Tool::Raw(_)));
        assert!(matches!(decoded("write", "\"text\"").0, Tool::Raw(_)));
    }
}
