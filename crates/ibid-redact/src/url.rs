//! Passwords and tokens in the user part of a URL.

use crate::ascii::{self, run};
use crate::{mark, value};

/// The longest authority that is looked at; names end at 255 bytes, tokens rarely reach 500.
const LONGEST: usize = 1024;

/// The secret after the `://` at a position: the password, or a user name that is itself a token.
pub(crate) fn secret(text: &[u8], at: usize) -> Option<(usize, usize)> {
    if !ascii::before(text, at).is_ascii_alphanumeric() {
        return None;
    }
    let start = at + 3;
    let end = run(text, start, LONGEST, |b| {
        !b.is_ascii_whitespace()
            && !b.is_ascii_control()
            && !matches!(b, b'/' | b'?' | b'"' | b'\'' | b'`' | b'\\' | b'<' | b'>')
    });
    let authority = text.get(start..end)?;
    let user_end = start + authority.iter().rposition(|b| *b == b'@')?;
    let user = text.get(start..user_end)?;
    // The colon of a mark is none between a name and a password.
    if user.windows(mark::OPENING.len()).any(|part| part == mark::OPENING.as_bytes()) {
        return None;
    }
    // A host must follow.
    if !matches!(ascii::byte(text, user_end + 1), b if b.is_ascii_alphanumeric() || matches!(b, b'[' | b'$' | b'{' | b'%'))
    {
        return None;
    }
    match user.iter().position(|b| *b == b':') {
        Some(colon) => {
            // `https://TOKEN:x-oauth-basic@host`: the user name is the secret.
            let name = std::str::from_utf8(user.get(..colon)?).ok()?;
            if value::is_random(name) {
                return Some((start, user_end));
            }
            let from = start + colon + 1;
            let password = std::str::from_utf8(text.get(from..user_end)?).ok()?;
            value::is_url_password(password).then_some((from, user_end))
        }
        None => {
            let name = std::str::from_utf8(user).ok()?;
            value::is_random(name).then_some((start, user_end))
        }
    }
}
