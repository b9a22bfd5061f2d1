//! Private key blocks, with their line ends real or escaped, indented, numbered or in a diff.

use crate::ascii::{self, run};
use crate::mark;

/// The beginning of every block, and the anchor of this rule.
pub(crate) const BEGIN: &str = "-----BEGIN ";
const END: &[u8] = b"-----END ";
/// A block is at most this long; an RSA key of 16,384 bits is under 13 KiB.
const LONGEST: usize = 32 * 1024;
/// A body with less is a mention of the format, not a key.
const SHORTEST_BODY: usize = 24;

/// The end of the private key block that begins at `at`, if one does.
pub(crate) fn end(text: &[u8], at: usize) -> Option<usize> {
    let name = at + BEGIN.len();
    let name_end = run(text, name, 40, |b| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b' ');
    let label = text.get(name..name_end)?;
    if !(label.ends_with(b"PRIVATE KEY") || label.ends_with(b"PRIVATE KEY BLOCK"))
        || !ascii::has(text, name_end, b"-----")
    {
        return None;
    }
    let body = name_end + 5;
    let rest = text.get(body..text.len().min(body + LONGEST))?;
    let rest = rest.get(..find(rest, BEGIN.as_bytes()).unwrap_or(rest.len()))?;
    let rest = rest.get(..find(rest, mark::OPENING.as_bytes()).unwrap_or(rest.len()))?;
    let (body_end, block_end) = match find(rest, END) {
        Some(i) => {
            let closing = body + i + END.len();
            let label_end = run(text, closing, 40, |b| b != b'-' && b != b'\n');
            (body + i, run(text, label_end, 5, |b| b == b'-'))
        }
        // Cut off: what still looks like the body is the secret.
        None => {
            let end = run(text, body, rest.len(), |b| {
                b.is_ascii_alphanumeric()
                    || b.is_ascii_whitespace()
                    || matches!(b, b'+' | b'/' | b'=' | b'\\')
            });
            (end, end)
        }
    };
    let base64 = text.get(body..body_end)?.iter().filter(|b| b.is_ascii_alphanumeric()).count();
    (base64 >= SHORTEST_BODY).then_some(block_end)
}

/// Where `what` first stands in `text`. Every search is bounded by the next block, so that many beginnings without
/// an end stay linear.
fn find(text: &[u8], what: &[u8]) -> Option<usize> {
    text.windows(what.len()).position(|window| window == what)
}
