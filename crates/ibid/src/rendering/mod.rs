//! A session as people read it on a terminal.
//!
//! Every text that comes from a session goes through [`crate::output::clean`].

mod explained;
mod header;
mod message;
mod result;
mod style;
mod tool;
mod wrap;

use ibid_model::{ToolResult, ToolUse};

pub(crate) use explained::explained;
pub(crate) use header::{Header, branches};
pub(crate) use message::Renderer;

/// A call with its result in full, without colours.
pub(crate) fn plain_call(call: &ToolUse, answer: Option<&ToolResult>) -> String {
    let options = Options { full: true, width: None };
    let mut text = tool::call(call, options);
    if let Some(answer) = answer {
        text.push_str(&result::result(answer, options));
    }
    plain(&text)
}

/// A result in full, without colours.
pub(crate) fn plain_result(answer: &ToolResult) -> String {
    plain(&result::result(answer, Options { full: true, width: None }))
}

/// Text without colours, and without the indent that it has below a heading.
fn plain(text: &str) -> String {
    let text = anstream::adapter::strip_str(text).to_string();
    text.lines().map(|line| format!("{}\n", line.strip_prefix("  ").unwrap_or(line))).collect()
}

/// What is shown of a session.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Options {
    /// Thinking, inputs and results in full.
    pub(crate) full: bool,
    /// The columns of the terminal, where there is one.
    pub(crate) width: Option<usize>,
}

/// How many lines of a result or an input are shown unless all are asked for.
const LINES_SHOWN: usize = 12;

/// How many characters of them.
const CHARS_SHOWN: usize = 2_000;
