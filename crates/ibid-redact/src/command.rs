//! Passwords in the arguments of commands that take them under a short flag.

use crate::ascii::{self, run, skip_blanks};
use crate::{mark, value};

/// No password on a command line is longer.
const LONGEST: usize = 256;

fn ends_argument(b: u8) -> bool {
    b.is_ascii_whitespace()
        || b.is_ascii_control()
        || matches!(b, b'"' | b'\'' | b'`' | b'\\' | b'|' | b';' | b'<' | b'>' | b',')
}

/// Skips the quote that opens an argument, with the backslashes before it.
fn skip_quote(text: &[u8], at: usize) -> usize {
    let quote = run(text, at, 8, |b| b == b'\\');
    if matches!(ascii::byte(text, quote), b'"' | b'\'') { quote + 1 } else { at }
}

/// The argument that begins at `at`, if it can be a password.
fn password(text: &[u8], at: usize) -> Option<(usize, usize)> {
    let end = run(text, at, LONGEST, |b| !ends_argument(b));
    let found = std::str::from_utf8(text.get(at..end)?).ok()?;
    let real = value::is_url_password(found) && found.bytes().any(|b| b.is_ascii_alphabetic());
    real.then_some((at, end))
}

/// The password after `sshpass -p`.
pub(crate) fn sshpass(text: &[u8], at: usize) -> Option<(usize, usize)> {
    password(text, skip_quote(text, skip_blanks(text, at)))
}

/// The password in `curl -u user:password`, the flag being at `from..to`.
pub(crate) fn curl_user(text: &[u8], from: usize, to: usize) -> Option<(usize, usize)> {
    // Other commands take a user and a group there.
    let window = text.get(from.saturating_sub(200)..from)?;
    let line = mark::after_last(window).rsplit(|b| *b == b'\n').next()?;
    if !line.windows(4).any(|word| word == b"curl") {
        return None;
    }
    let user = skip_quote(text, skip_blanks(text, to));
    let colon = run(text, user, LONGEST, |b| !ends_argument(b) && b != b':');
    (colon > user && ascii::byte(text, colon) == b':').then(|| password(text, colon + 1)).flatten()
}
