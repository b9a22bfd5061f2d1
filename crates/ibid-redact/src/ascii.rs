//! Looking at bytes around a position without ever leaving the text.
//!
//! Every place where a span begins or ends is next to an ASCII byte or an end of the text, so spans never cut a
//! character in two.

/// The byte at a position; NUL outside the text.
pub(crate) fn byte(text: &[u8], at: usize) -> u8 {
    text.get(at).copied().unwrap_or(0)
}

/// The byte before a position; NUL at the start.
pub(crate) fn before(text: &[u8], at: usize) -> u8 {
    at.checked_sub(1).map_or(0, |i| byte(text, i))
}

/// Whether `what` stands at a position.
pub(crate) fn has(text: &[u8], at: usize, what: &[u8]) -> bool {
    text.get(at..).is_some_and(|rest| rest.starts_with(what))
}

/// The end of the run of bytes of a class that begins at `from`, at most `limit` bytes long.
pub(crate) fn run(text: &[u8], from: usize, limit: usize, class: impl Fn(u8) -> bool) -> usize {
    let rest = text.get(from..).unwrap_or(&[]);
    from + rest.iter().take(limit).take_while(|b| class(**b)).count()
}

/// Skips spaces and tabs, at most 16.
pub(crate) fn skip_blanks(text: &[u8], from: usize) -> usize {
    run(text, from, 16, |b| b == b' ' || b == b'\t')
}

/// Letters, digits, `_` and `-`: what most tokens are made of.
pub(crate) fn is_token_byte(b: u8) -> bool {
    b.is_ascii_alphanumeric() || b == b'_' || b == b'-'
}

/// Whether a token may begin at a position: what stands before is not part of a longer word.
///
/// An escape (`\n`), an ANSI colour (`[32m`), a percent escape (`%3D`) and a diff marker at the start of a line
/// end in a word byte but are no part of the word.
pub(crate) fn starts_word(text: &[u8], at: usize) -> bool {
    let previous = before(text, at);
    let line_starts = |i: usize| {
        let b = before(text, i);
        i == 0 || b == b'\n' || (b == b'n' && before(text, i - 1) == b'\\')
    };
    if previous == b'-' || previous == b'+' {
        return line_starts(at - 1);
    }
    if !is_token_byte(previous) {
        return true;
    }
    let second = before(text, at - 1);
    if second == b'\\' && matches!(previous, b'n' | b'r' | b't' | b'b' | b'f') {
        return true;
    }
    if at >= 3
        && byte(text, at - 3) == b'%'
        && previous.is_ascii_hexdigit()
        && byte(text, at - 2).is_ascii_hexdigit()
    {
        return true;
    }
    previous == b'm' && ends_colour(text, at - 1)
}

/// Whether the bytes before the `m` at a position are those of an ANSI colour sequence.
fn ends_colour(text: &[u8], m: usize) -> bool {
    let mut i = m;
    while m - i < 12 && (before(text, i).is_ascii_digit() || before(text, i) == b';') {
        i -= 1;
    }
    before(text, i) == b'['
}
