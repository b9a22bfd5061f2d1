//! Percent-encoding of the fields that a person can write.

use std::borrow::Cow;

use percent_encoding::{AsciiSet, CONTROLS, percent_decode_str, utf8_percent_encode};

/// What is encoded beside bytes from 0x80: control characters, DEL, and what ends or escapes a
/// text. A `+` is not: it is a plus.
const ENCODED: &AsciiSet = &CONTROLS.add(b' ').add(b'%').add(b'"').add(b'\\');

/// The value as it stands in a header: ASCII that can be seen.
pub(super) fn encode(value: &str) -> String {
    utf8_percent_encode(value, ENCODED).to_string()
}

/// The value of a header as it was meant. An escape that is none, or that spells no UTF-8, leaves
/// the whole value as it stands: it is more use to a person than nothing. A control character in
/// what comes out empties it, so that no log, table or header can be forged with one.
pub(super) fn decode(value: &str) -> String {
    let decoded = if well_formed(value) { percent_decode_str(value).decode_utf8().ok() } else { None };
    let decoded = decoded.unwrap_or(Cow::Borrowed(value));
    if has_control(&decoded) { String::new() } else { decoded.into_owned() }
}

/// Whether a value has a C0 control character or DEL.
pub(super) fn has_control(value: &str) -> bool {
    value.bytes().any(|byte| byte < 0x20 || byte == 0x7f)
}

/// Whether two hex digits stand behind each `%`.
fn well_formed(value: &str) -> bool {
    let hex = |digit: Option<&u8>| digit.is_some_and(u8::is_ascii_hexdigit);
    value.split('%').skip(1).all(|rest| hex(rest.as_bytes().first()) && hex(rest.as_bytes().get(1)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exactly_these_ascii_characters_are_encoded() {
        let encoded: String =
            (0..0x80_u8).map(char::from).filter(|c| encode(&c.to_string()) != c.to_string()).collect();
        let controls: String = (0..0x20_u8).map(char::from).collect();
        assert_eq!(encoded, format!("{controls} \"%\\\u{7f}"));
    }

    #[test]
    fn a_percent_sign_that_begins_no_escape_leaves_the_value_as_it_stands() {
        for value in ["100%", "%", "%4", "a%zz%20b", "%%20", "%ff%20"] {
            assert_eq!(decode(value), value);
        }
    }

    #[test]
    fn no_control_character_comes_out_escaped_or_raw() {
        for value in ["a%0Ab", "a%0db", "%7F", "%00", "a\tb", "%zz\u{1}"] {
            assert_eq!(decode(value), "");
        }
    }

    proptest::proptest! {
        #[test]
        fn what_was_encoded_is_visible_ascii_and_reads_back(value: String) {
            let encoded = encode(&value);
            proptest::prop_assert!(encoded.bytes().all(|byte| (0x21..0x7f).contains(&byte)));
            let expected = if has_control(&value) { String::new() } else { value };
            proptest::prop_assert_eq!(decode(&encoded), expected);
        }
    }
}
