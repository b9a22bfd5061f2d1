//! What a tool gave back: the forms in which versions write it, and the one that is written here.
//!
//! - 0.39 to 0.100: a string that is JSON, `{"output": ..., "metadata": {"exit_code": ...}}`.
//! - 0.100 to 0.171: a string of header lines (`Chunk ID: ...`, `Wall time: ...`,
//!   `Process exited with code 0` or `Exit code: 0`) up to `Output:`, then the output.
//! - 0.146 to 0.171: an array of content items, the first of which may be such a header alone
//!   (`Script completed`, `Wall time 0.1 seconds`, `Output:`).
//! - otherwise the text itself; a few fixed sentences say that the harness refused the call.

use std::borrow::Cow;

use ibid_model::{Outcome, ResultPart, Text, TextBlock};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::content::{self, Part};
use super::json::{self, Str};

/// The content of a result and how it ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Answer {
    pub(super) parts: Vec<ResultPart>,
    pub(super) outcome: Outcome,
}

/// The exit code of a process that was interrupted (128 and the number of SIGINT).
const INTERRUPTED: i64 = 130;

/// What the harness says in place of a result, and what that means. Versions 0.47.0 to 0.171.0.
const REFUSALS: [(&str, Outcome); 7] = [
    ("unsupported call: ", Outcome::Error),
    ("unsupported custom tool call: ", Outcome::Error),
    ("failed to parse function arguments: ", Outcome::Error),
    ("apply_patch verification failed: ", Outcome::Error),
    ("unable to locate image at ", Outcome::Error),
    ("aborted by user", Outcome::Interrupted),
    ("exec command rejected by user", Outcome::Interrupted),
];

/// Reads the `output` of a result.
pub(super) fn read(output: Option<&RawValue>, whole: &Text) -> Answer {
    let Some(raw) = output else { return Answer::default() };
    match raw.get().as_bytes().first() {
        Some(b'"') => json::string(Some(raw), whole).map_or_else(Answer::default, |text| read_text(&text)),
        Some(b'[') => read_items(content::read(Some(raw), whole)),
        Some(b'{') => read_object(raw, whole),
        _ => Answer::default(),
    }
}

#[derive(Deserialize)]
struct Framed<'a> {
    #[serde(borrow)]
    output: Str<'a>,
    metadata: Metadata,
}

#[derive(Deserialize)]
struct Metadata {
    exit_code: Option<i64>,
}

/// Reads a result that is one string.
pub(super) fn read_text(text: &Text) -> Answer {
    read_said(text, &text.to_str())
}

/// The same for a text that says `said`.
fn read_said(text: &Text, said: &str) -> Answer {
    if said.starts_with('{')
        && let Ok(framed) = serde_json::from_str::<Framed<'_>>(said)
    {
        let outcome = framed.metadata.exit_code.map_or(Outcome::Unknown, of_exit_code);
        // A string inside a string has escapes, and so was decoded for this alone: it is copied.
        let output = Text::from(framed.output.0);
        return Answer { parts: text_part(output), outcome };
    }
    if let Some((outcome, rest)) = header(said) {
        return Answer { parts: text_part(text.tail(said.len() - rest.len())), outcome };
    }
    let refusal = REFUSALS.iter().find(|(start, _)| said.starts_with(start)).map(|(_, outcome)| *outcome);
    let aborted = (said == "aborted").then_some(Outcome::Interrupted);
    Answer { parts: text_part(text.clone()), outcome: refusal.or(aborted).unwrap_or_default() }
}

fn text_part(text: Text) -> Vec<ResultPart> {
    if text.is_empty() { Vec::new() } else { vec![ResultPart::Text(TextBlock { text })] }
}

fn of_exit_code(code: i64) -> Outcome {
    match code {
        0 => Outcome::Ok,
        INTERRUPTED => Outcome::Interrupted,
        _ => Outcome::Error,
    }
}

/// The outcome that header lines tell, and what follows them; none when the text does not begin
/// with header lines that tell one.
fn header(text: &str) -> Option<(Outcome, &str)> {
    let mut outcome = None;
    let mut rest = text;
    // No version writes more than six lines.
    for _ in 0..8 {
        let (line, after) = rest.split_once('\n')?;
        rest = after;
        if line == "Output:" {
            return outcome.map(|outcome| (outcome, rest));
        }
        let code =
            line.strip_prefix("Process exited with code ").or_else(|| line.strip_prefix("Exit code: "));
        if let Some(code) = code {
            outcome =
                Some(if code == "unknown" { Outcome::Unknown } else { of_exit_code(code.parse().ok()?) });
        } else if line.starts_with("Process running with session ID ") || line == "Script completed" {
            outcome = Some(Outcome::Ok);
        } else if line == "Script failed" {
            outcome = Some(Outcome::Error);
        } else if !["Chunk ID: ", "Wall time", "Original token count: ", "Total output lines: "]
            .iter()
            .any(|start| line.starts_with(start))
        {
            return None;
        }
    }
    None
}

fn read_items(parts: Vec<Part>) -> Answer {
    let mut answer = Answer::default();
    for (number, part) in parts.into_iter().enumerate() {
        if let (0, Part::Text(text)) = (number, &part)
            && let Some((outcome, "")) = header(&text.to_str())
        {
            answer.outcome = outcome;
            continue;
        }
        answer.parts.push(part.into_result());
    }
    answer
}

#[derive(Deserialize)]
struct Object<'a> {
    #[serde(borrow)]
    content: Option<&'a RawValue>,
    success: Option<bool>,
}

/// A result that is an object: one content item, or content with a flag.
fn read_object(raw: &RawValue, whole: &Text) -> Answer {
    let Some(object) = json::read::<Object<'_>>(Some(raw)) else { return Answer::default() };
    if object.content.is_none() {
        return read_items(content::read(Some(raw), whole));
    }
    let mut answer = read(object.content, whole);
    match object.success {
        Some(true) => answer.outcome = Outcome::Ok,
        Some(false) => answer.outcome = Outcome::Error,
        None => {}
    }
    answer
}

/// The `output` of a result that is read back as this answer.
#[derive(Serialize)]
#[serde(untagged)]
pub(super) enum Output<'a> {
    Text(Cow<'a, str>),
    Items(Vec<content::Item<'a>>),
}

/// Writes a result. Parts that are neither text nor picture must have been made text before.
pub(super) fn write<'a>(parts: &'a [ResultPart], outcome: Outcome) -> Output<'a> {
    let header = match outcome {
        Outcome::Ok => "Exit code: 0\nOutput:\n".to_owned(),
        Outcome::Error => "Exit code: 1\nOutput:\n".to_owned(),
        Outcome::Interrupted => format!("Exit code: {INTERRUPTED}\nOutput:\n"),
        Outcome::Unknown => "Exit code: unknown\nOutput:\n".to_owned(),
    };
    let text = match parts {
        [] => Some(Text::default()),
        [ResultPart::Text(text)] => Some(text.text.clone()),
        _ => None,
    };
    if let Some(text) = text {
        // The bare text is what most versions write; it must not say more than is known.
        let said = text.to_str();
        let bare = read_said(&text, &said);
        if outcome == bare.outcome && bare.parts == parts {
            return Output::Text(said.into_owned().into());
        }
        return Output::Text((header + &said).into());
    }
    let mut items = vec![content::Item::InputText { text: header.into() }];
    for part in parts {
        content::push_result(&mut items, part);
    }
    Output::Items(items)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(text: &str) -> (String, Outcome) {
        let answer = read_text(&text.into());
        let texts = answer.parts.iter().map(|part| match part {
            ResultPart::Text(text) => text.text.to_string(),
            other => format!("{other:?}"),
        });
        (texts.collect(), answer.outcome)
    }

    #[test]
    fn every_version_tells_how_a_command_ended() {
        let old = r#"{"output":"to-stderr\n","metadata":{"exit_code":3,"duration_seconds":0.0}}"#;
        assert_eq!(answer(old), ("to-stderr\n".into(), Outcome::Error));
        let unified = "Chunk ID: 3d621b\nWall time: 0.0000 seconds\nProcess exited with code 0\n\
                       Original token count: 8\nOutput:\nhello\n";
        assert_eq!(answer(unified), ("hello\n".into(), Outcome::Ok));
        let patched = "Exit code: 0\nWall time: 0 seconds\nOutput:\nSuccess.\n";
        assert_eq!(answer(patched), ("Success.\n".into(), Outcome::Ok));
        assert_eq!(answer("unsupported call: x"), ("unsupported call: x".into(), Outcome::Error));
        assert_eq!(answer("Plan updated"), ("Plan updated".into(), Outcome::Unknown));
    }

    #[test]
    fn an_output_that_only_looks_like_a_header_is_kept() {
        let text = "Exit code: 0\nnothing else\nOutput:\nx";
        assert_eq!(answer(text), (text.into(), Outcome::Unknown));
    }

    #[test]
    fn what_is_written_is_read_back() {
        let texts = [
            "",
            "plain",
            "Exit code: 0\nOutput:\n",
            "unsupported call: y",
            "aborted",
            "Output:\nx",
            r#"{"output":"a","metadata":{}}"#,
        ];
        for text in texts {
            for outcome in [Outcome::Unknown, Outcome::Ok, Outcome::Error, Outcome::Interrupted] {
                let parts = text_part(text.into());
                let Output::Text(written) = write(&parts, outcome) else { panic!("not a text") };
                assert_eq!(read_text(&written.into()), Answer { parts, outcome }, "{text:?} {outcome:?}");
            }
        }
    }
}
