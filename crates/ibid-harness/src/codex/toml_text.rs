//! Keys and strings as TOML writes them.

use std::fmt::Write as _;

/// The text as a basic string. Everything that could end it is escaped, so that a value can never
/// become TOML of its own.
pub(super) fn basic_string(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for character in text.chars() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            control if (control as u32) < 0x20 || control as u32 == 0x7f => {
                let _ = write!(out, "\\u{:04X}", control as u32);
            }
            other => out.push(other),
        }
    }
    out.push('"');
    out
}

/// Whether the text can be a key without quotes.
pub(super) fn is_bare_key(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
}

/// The text as one key: bare where that is possible, otherwise in quotes.
pub(super) fn key(text: &str) -> String {
    if is_bare_key(text) { text.to_owned() } else { basic_string(text) }
}

/// A dotted key of these parts.
pub(super) fn dotted<S: AsRef<str>>(path: &[S]) -> String {
    path.iter().map(|part| key(part.as_ref())).collect::<Vec<_>>().join(".")
}

/// Whether the text can be the name of an HTTP header here: ASCII without control characters.
pub(super) fn is_header_name(text: &str) -> bool {
    !text.trim().is_empty() && text.bytes().all(|byte| byte.is_ascii() && !byte.is_ascii_control())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_string_ends_early() {
        for text in ["a\"b", "a\\", "a\nb = 1", "\u{1}\u{7f}", "\"\"\"", "tab\t", "é🙂", "\r\n"] {
            let written: toml_edit::Value = basic_string(text).parse().unwrap();
            assert_eq!(written.as_str(), Some(text));
        }
    }

    #[test]
    fn a_key_is_quoted_only_where_it_must_be() {
        assert_eq!(
            dotted(&["model_providers", "ibid", "http_headers", "X-Ibid"]),
            "model_providers.ibid.http_headers.X-Ibid"
        );
        assert_eq!(dotted(&["a.b", "", "c d"]), "\"a.b\".\"\".\"c d\"");
    }
}
