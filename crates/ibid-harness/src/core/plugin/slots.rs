//! Templates whose slots are filled with JSON.
//!
//! A slot is a string literal of the template, `"__IBID_NAME__"`, quotes included. Values are put
//! in as whole JSON literals, in one pass over the template: what was put in is never looked at
//! again, so a value may spell the name of another slot.

use std::fmt::Write as _;

/// The command of the hook as an array of words.
pub const HOOK_WORDS: &str = "HOOK_WORDS";

/// The command of the hook as one line for a POSIX shell.
pub const HOOK_LINE: &str = "HOOK_LINE";

/// How every slot begins and ends.
const BEGIN: &str = "\"__IBID_";
const END: &str = "__\"";

/// A value for a slot.
#[derive(Clone, Copy, Debug)]
pub enum Slot<'a> {
    /// A string.
    Text(&'a str),
    /// An array of strings.
    Words(&'a [String]),
}

/// A template has a slot without a value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the template has a slot {0} that nothing fills")]
pub struct UnfilledSlot(pub String);

/// The template with every slot filled.
///
/// # Errors
/// [`UnfilledSlot`] for a slot that is not among the values.
pub fn fill(template: &str, values: &[(&str, Slot<'_>)]) -> Result<String, UnfilledSlot> {
    let mut filled = String::with_capacity(template.len() + 256);
    let mut rest = template;
    while let Some((before, after)) = rest.split_once(BEGIN) {
        filled.push_str(before);
        let (name, behind) = after.split_once(END).unwrap_or((after, ""));
        let Some((_, slot)) = values.iter().find(|(known, _)| *known == name) else {
            let name: String = name.chars().take_while(|c| c.is_ascii_uppercase() || *c == '_').collect();
            return Err(UnfilledSlot(name));
        };
        match slot {
            Slot::Text(text) => literal(text, &mut filled),
            Slot::Words(words) => {
                filled.push('[');
                for (at, word) in words.iter().enumerate() {
                    filled.push_str(if at == 0 { "" } else { ", " });
                    literal(word, &mut filled);
                }
                filled.push(']');
            }
        }
        rest = behind;
    }
    filled.push_str(rest);
    Ok(filled)
}

/// A string as a literal of JSON that is one of JavaScript and TypeScript too, old releases
/// included (which end a line at U+2028).
fn literal(text: &str, out: &mut String) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if c.is_control() || matches!(c, '\u{2028}' | '\u{2029}') => {
                let _ = write!(out, "\\u{:04x}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out.push('"');
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test states what it expects")]
mod tests {
    use super::*;

    const TEMPLATE: &str = r#"{"a": "__IBID_A__", "b": "__IBID_B__", "w": "__IBID_W__"}"#;

    fn filled(a: &str, b: &str, words: &[String]) -> serde_json::Value {
        let values = [("A", Slot::Text(a)), ("B", Slot::Text(b)), ("W", Slot::Words(words))];
        serde_json::from_str(&fill(TEMPLATE, &values).unwrap()).unwrap()
    }

    #[test]
    fn a_value_that_spells_another_slot_survives() {
        let json = filled("\"__IBID_B__\"", "__IBID_A__", &["\"__IBID_A__\"".to_owned()]);
        assert_eq!(
            json,
            serde_json::json!({"a": "\"__IBID_B__\"", "b": "__IBID_A__", "w": ["\"__IBID_A__\""]})
        );
    }

    #[test]
    fn every_character_reads_back_as_it_was() {
        let all: String = (0..=0x2ff_u32).chain(0x2020..0x2030).filter_map(char::from_u32).collect();
        let json = filled(&all, "😀 \\\" '", &[]);
        assert_eq!(json["a"], all);
        assert_eq!(json["b"], "😀 \\\" '");
        assert_eq!(json["w"], serde_json::json!([]));
    }

    #[test]
    fn a_slot_without_a_value_is_named() {
        assert_eq!(fill(r#"["__IBID_OTHER__"]"#, &[]), Err(UnfilledSlot("OTHER".to_owned())));
        assert_eq!(fill(r#"["__IBID_CUT"#, &[]), Err(UnfilledSlot("CUT".to_owned())));
    }
}
