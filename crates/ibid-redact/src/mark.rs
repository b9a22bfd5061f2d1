//! The replacement mark `[redacted:<kind>]`, and how to see one that is already there.

use crate::ascii;
use crate::kind::Kind;

pub(crate) const OPENING: &str = "[redacted:";

/// Appends the mark of a kind.
pub(crate) fn push(out: &mut String, kind: Kind) {
    out.push_str(OPENING);
    out.push_str(kind.code());
    out.push(']');
}

/// What follows the last mark of a window.
///
/// Rules that look back do not look past what is replaced, whether this pass did it or an earlier one.
pub(crate) fn after_last(window: &[u8]) -> &[u8] {
    let last = window.windows(OPENING.len()).rposition(|part| part == OPENING.as_bytes());
    last.and_then(|at| window.get(at + OPENING.len()..)).unwrap_or(window)
}

/// The end of the mark that begins at a position, if one does.
pub(crate) fn end(text: &[u8], at: usize) -> Option<usize> {
    if !ascii::has(text, at, OPENING.as_bytes()) {
        return None;
    }
    let code = at + OPENING.len();
    let end = ascii::run(text, code, 32, |b| b.is_ascii_lowercase() || b == b'-');
    (end > code && ascii::byte(text, end) == b']').then_some(end + 1)
}
