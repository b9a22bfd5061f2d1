//! JSON Web Tokens: dot-separated base64url parts, the first of which is a JSON header.

use crate::ascii::{self, byte, is_token_byte, run};

/// Headers are short; what is longer is not decoded.
const LONGEST_HEADER: usize = 4096;

/// The end of the token that begins at `at`, if one does.
///
/// A header and a payload are enough, since a text is often cut before the signature.
pub(crate) fn end(text: &[u8], at: usize) -> Option<usize> {
    if !ascii::has(text, at, b"eyJ") || !ascii::starts_word(text, at) || ascii::before(text, at) == b'.' {
        return None;
    }
    let header = run(text, at, LONGEST_HEADER, is_token_byte);
    if byte(text, header) != b'.' || !is_header(text.get(at..header)?) {
        return None;
    }
    let mut end = header;
    let mut parts = 1;
    while parts < 5 && byte(text, end) == b'.' {
        let part = run(text, end + 1, usize::MAX, is_token_byte);
        // An encrypted token has an empty second part when its key is agreed on directly.
        if part == end + 1 && byte(text, part) != b'.' {
            break;
        }
        end = part;
        parts += 1;
    }
    (parts >= 2 && end - header > 10).then_some(end)
}

fn is_header(part: &[u8]) -> bool {
    let json = decode(part, LONGEST_HEADER);
    json.starts_with(b"{")
        && [&b"\"alg\""[..], b"\"typ\"", b"\"enc\"", b"\"kid\""].iter().any(|name| contains(&json, name))
}

pub(crate) fn contains(text: &[u8], what: &[u8]) -> bool {
    text.windows(what.len()).any(|window| window == what)
}

/// Decodes base64 of either alphabet as far as it goes, at most `limit` bytes of input.
pub(crate) fn decode(part: &[u8], limit: usize) -> Vec<u8> {
    let mut out = Vec::with_capacity(part.len().min(limit) / 4 * 3 + 3);
    let (mut bits, mut held) = (0_u32, 0_u32);
    for b in part.iter().take(limit) {
        let six = match b {
            b'A'..=b'Z' => b - b'A',
            b'a'..=b'z' => b - b'a' + 26,
            b'0'..=b'9' => b - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            _ => break,
        };
        bits = (bits << 6) | u32::from(six);
        held += 6;
        if held >= 8 {
            held -= 8;
            out.push(((bits >> held) & 0xff) as u8);
        }
    }
    out
}
