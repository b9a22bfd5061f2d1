//! Credentials of HTTP headers: `Authorization`, `Bearer`, `Basic`, `Cookie`.

use crate::ascii::{self, byte, run};
use crate::{jwt, value};

/// Schemes after which the credential is one run of bytes.
const SCHEMES: &[&str] =
    &["bearer", "basic", "token", "apikey", "api-key", "negotiate", "digest", "key", "bot"];

/// Servers refuse headers of more.
const LONGEST: usize = 8192;

fn is_credential_byte(b: u8) -> bool {
    b.is_ascii_alphanumeric()
        || matches!(b, b'-' | b'_' | b'.' | b'~' | b'+' | b'/' | b'=' | b'!' | b'@' | b'%')
}

/// The credential in the value of an `Authorization` header that begins at `at` and ends before `limit`.
pub(crate) fn authorization(text: &[u8], at: usize, limit: usize) -> Option<(usize, usize)> {
    let text = text.get(..limit)?;
    let word = run(text, at, 16, |b| b.is_ascii_alphabetic() || b == b'-');
    let scheme = text.get(at..word)?;
    let named = SCHEMES.iter().any(|known| scheme.eq_ignore_ascii_case(known.as_bytes()));
    let blanks = ascii::skip_blanks(text, word);
    let start = if named && blanks > word { blanks } else { at };
    let end = run(text, start, LONGEST, is_credential_byte);
    let credential = std::str::from_utf8(text.get(start..end)?).ok()?;
    let real = !value::is_placeholder(credential)
        && credential.len() >= 8
        && (value::is_random(credential)
            || (start > at && !value::is_slug(credential) && credential.bytes().any(|b| b.is_ascii_digit()))
            || (scheme.eq_ignore_ascii_case(b"basic") && is_user_and_password(credential)));
    // `Bearer token.value(...)` is code.
    (real && byte(text, end) != b'(').then_some((start, end))
}

/// The credential after `Bearer ` or `Basic ` outside a header, `at` being where it begins.
pub(crate) fn after_scheme(text: &[u8], at: usize, basic: bool) -> Option<(usize, usize)> {
    let end = run(text, at, LONGEST, is_credential_byte);
    let mut trimmed = end;
    while trimmed > at && matches!(ascii::before(text, trimmed), b'.' | b'!') {
        trimmed -= 1;
    }
    let credential = std::str::from_utf8(text.get(at..trimmed)?).ok()?;
    let real = if basic { is_user_and_password(credential) } else { value::is_random(credential) };
    (real && byte(text, end) != b'(').then_some((at, trimmed))
}

/// Whether base64 hides `user:password`.
fn is_user_and_password(credential: &str) -> bool {
    let decoded = jwt::decode(credential.as_bytes(), 1024);
    credential.len() >= 8
        && decoded.len() >= 5
        && decoded.contains(&b':')
        && decoded.iter().all(|b| b.is_ascii_graphic() || *b == b' ')
}

/// The whole value of a cookie header, if it holds a cookie that is worth hiding.
pub(crate) fn cookie(value: &str) -> bool {
    !value.contains(crate::mark::OPENING)
        && value.split(';').any(|pair| {
            pair.split_once('=').is_some_and(|(name, held)| {
                let name = name.trim();
                !name.is_empty()
                    && name
                        .bytes()
                        .all(|b| b.is_ascii_graphic() && !matches!(b, b'(' | b')' | b'"' | b'{' | b'['))
                    && held.len() >= 6
                    && held
                        .bytes()
                        .all(|b| b.is_ascii_graphic() && !matches!(b, b'(' | b')' | b'{' | b'}' | b'['))
                    && held.bytes().any(|b| b.is_ascii_digit())
                    && !value::is_placeholder(held)
                    && !["expires", "max-age", "path", "domain", "samesite"]
                        .iter()
                        .any(|known| name.eq_ignore_ascii_case(known))
            })
        })
}
