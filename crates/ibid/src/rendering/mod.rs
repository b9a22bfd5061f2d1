//! A session as people read it on a terminal.
//!
//! Every text that comes from a session goes through [`crate::output::clean`].

mod header;
mod message;
mod result;
mod style;
mod tool;
mod wrap;

pub(crate) use header::{Header, branches};
pub(crate) use message::Renderer;

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
