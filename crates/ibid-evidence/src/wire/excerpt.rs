//! Words about a text that may hold anything: short, and on one line.

use std::fmt::Write as _;

/// The beginning of a text, at most `limit` characters of it, as printable ASCII: whatever else it
/// holds is written as an escape, so that it can neither break a line nor steer a terminal.
pub(super) fn excerpt(text: &str, limit: usize) -> String {
    let mut said = String::new();
    let mut chars = text.chars();
    for character in chars.by_ref().take(limit) {
        if character == ' ' || character.is_ascii_graphic() {
            said.push(character);
        } else {
            // Writing into a string cannot fail.
            let _ = write!(said, "{}", character.escape_unicode());
        }
    }
    if chars.next().is_some() {
        said.push_str("...");
    }
    said
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_excerpt_is_one_short_line_of_printable_ascii() {
        assert_eq!(excerpt("plain", 10), "plain");
        assert_eq!(excerpt("plain", 3), "pla...");
        assert_eq!(excerpt("a\nb\u{1b}[31m\u{202e}é", 20), "a\\u{a}b\\u{1b}[31m\\u{202e}\\u{e9}");
    }
}
