//! Changes to a text that belongs to someone else, kept so that they can be taken back.
//!
//! A configuration file is the user's. What Ibid changes in it is a list of splices; a
//! [`Receipt`] keeps each with what stood there before. As long as the file is what Ibid left,
//! taking back is exact, down to the byte. When it changed meanwhile, each format has its own way
//! of taking the changes back one by one, which uses what a change means (`C`).

use std::fmt::Write as _;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// The version of receipts that is written and read.
const VERSION: u32 = 1;

/// One change: at byte `at`, `was` became `now`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Step<C> {
    /// The byte at which it begins, in the text as the steps before it left it.
    pub(crate) at: usize,
    /// What stood there.
    pub(crate) was: String,
    /// What stands there now.
    pub(crate) now: String,
    /// What it means in the format of the text.
    pub(crate) what: C,
}

/// The changes of one application.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Layer<C> {
    /// The digest of the text before.
    before: String,
    /// The digest of the text after.
    after: String,
    /// The changes in their order.
    pub(crate) steps: Vec<Step<C>>,
}

impl<C> Layer<C> {
    /// The layer that made `after` of `before`.
    pub(crate) fn new(before: &str, after: &str, steps: Vec<Step<C>>) -> Layer<C> {
        Layer { before: digest(before), after: digest(after), steps }
    }

    /// The very text from before, when `text` is what this layer left; otherwise nothing.
    pub(crate) fn exactly_before(&self, text: &str) -> Option<String> {
        if digest(text) != self.after {
            return None;
        }
        let mut text = text.to_owned();
        for step in self.steps.iter().rev() {
            let end = step.at.checked_add(step.now.len())?;
            if text.get(step.at..end)? != step.now {
                return None;
            }
            text.replace_range(step.at..end, &step.was);
        }
        (digest(&text) == self.before).then_some(text)
    }
}

/// What was changed in a file, with the values that were replaced. It may hold a secret of that
/// file (a variable that was taken out), so it is kept as private as the file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Receipt<C> {
    version: u32,
    layers: Vec<Layer<C>>,
}

impl<C> Default for Receipt<C> {
    fn default() -> Receipt<C> {
        Receipt { version: VERSION, layers: Vec::new() }
    }
}

impl<C> Receipt<C> {
    /// Whether it says that nothing was changed.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.layers.is_empty()
    }

    /// Whether it is of a version that can be read; what another version says is not used.
    pub(crate) fn is_known(&self) -> bool {
        self.version == VERSION
    }

    /// The layers, oldest first.
    pub(crate) fn layers(&self) -> &[Layer<C>] {
        &self.layers
    }

    /// Adds a layer, unless it changes nothing.
    pub(crate) fn push(&mut self, layer: Layer<C>) {
        if !layer.steps.is_empty() {
            self.layers.push(layer);
        }
    }

    /// Takes off the newest layers for as long as `text` is exactly what they left. Gives the text
    /// from before them.
    pub(crate) fn unwind(&mut self, text: &str) -> Option<String> {
        let mut before: Option<String> = None;
        while let Some(layer) = self.layers.last()
            && let Some(earlier) = layer.exactly_before(before.as_deref().unwrap_or(text))
        {
            before = Some(earlier);
            self.layers.pop();
        }
        before
    }
}

/// The digest of a text, in hexadecimal.
fn digest(text: &str) -> String {
    Sha256::digest(text.as_bytes()).iter().fold(String::with_capacity(64), |mut hex, byte| {
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}

/// The byte order mark that some editors put before UTF-8.
pub(crate) const BYTE_ORDER_MARK: char = '\u{feff}';

/// How long the byte order mark of the text is; 0 without one.
pub(crate) fn mark_of(text: &str) -> usize {
    if text.starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK.len_utf8() } else { 0 }
}

/// The line end that a text uses first; `\n` when it has none.
pub(crate) fn line_end(text: &str) -> &'static str {
    match text.find('\n') {
        Some(at) if text.get(..at).is_some_and(|before| before.ends_with('\r')) => "\r\n",
        _ => "\n",
    }
}

/// The line and the column of a byte, both from 1; the column counts characters, without the byte
/// order mark.
pub(crate) fn line_and_column(text: &str, at: usize) -> (usize, usize) {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at = at.saturating_sub(1);
    }
    let before = text.get(..at).unwrap_or_default();
    let before = before.strip_prefix(BYTE_ORDER_MARK).unwrap_or(before);
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
    (line, column)
}
