//! Where the JSON values of a broken line begin and end.

use std::ops::Range;

use serde::de::IgnoredAny;

use super::is_space;

/// How often a complete value is looked for behind a torn one, for each line.
const ATTEMPTS: usize = 1000;

/// One part of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// One complete JSON value.
    Value(Range<usize>),
    /// The half of a value, or no JSON at all, with a complete value behind it.
    Torn(Range<usize>),
    /// What cannot be read up to the end of the line, because it ends in the middle of a value.
    Cut(Range<usize>),
    /// What cannot be read up to the end of the line, because it is no JSON.
    NotJson(Range<usize>),
}

/// Splits a line into its parts, in order. White space belongs to none.
///
/// Behind a torn value, the next complete one is the first object from the place of the error on
/// that is followed by the end of the line or by another object. An object that could just as
/// well be part of the torn value is never taken for a record of its own: when everything up to
/// the end of the line fits into the torn value, the line is [`Part::Cut`].
pub(super) fn parts(line: &[u8]) -> Vec<Part> {
    let mut parts = Vec::new();
    let mut at = skip_space(line, 0);
    let mut attempts = ATTEMPTS;
    // Every attempt reads at most to its first error; a line made to be read again and again
    // ends here.
    let mut budget = line.len().saturating_mul(8);
    while at < line.len() {
        let failure = match first_value(line, at) {
            Ok(end) => {
                parts.push(Part::Value(at..end));
                at = skip_space(line, end);
                continue;
            }
            Err(failure) => failure,
        };
        if failure.at_end {
            parts.push(Part::Cut(at..line.len()));
            break;
        }
        match next_object(line, at, failure.at, &mut attempts, &mut budget) {
            Some(next) => {
                parts.push(Part::Torn(at..next));
                at = next;
            }
            None => {
                parts.push(Part::NotJson(at..line.len()));
                break;
            }
        }
    }
    parts
}

/// Why there is no complete value.
struct Failure {
    /// About where, at most one byte off.
    at: usize,
    /// Whether the line ends before the value does.
    at_end: bool,
}

/// Where the value that begins at `start` ends.
fn first_value(line: &[u8], start: usize) -> Result<usize, Failure> {
    let rest = line.get(start..).unwrap_or_default();
    let mut values = serde_json::Deserializer::from_slice(rest).into_iter::<IgnoredAny>();
    match values.next() {
        Some(Ok(_)) => Ok(start + values.byte_offset()),
        Some(Err(error)) => {
            Err(Failure { at: start + error.column().saturating_sub(1), at_end: error.is_eof() })
        }
        None => Err(Failure { at: start, at_end: true }),
    }
}

/// The first complete object behind `start` that stands where reading failed, or later.
///
/// A value torn inside a string swallows the opening brace and quote of the next record, so the
/// search begins at the last brace before the error.
fn next_object(
    line: &[u8],
    start: usize,
    failed_at: usize,
    attempts: &mut usize,
    budget: &mut usize,
) -> Option<usize> {
    let upto = line.len().min(failed_at + 2);
    let mut at =
        memchr::memrchr(b'{', line.get(..upto)?).filter(|at| *at > start).unwrap_or(upto.max(start + 1));
    loop {
        at += memchr::memchr(b'{', line.get(at..)?)?;
        *attempts = attempts.checked_sub(1)?;
        let read_to = match first_value(line, at) {
            Ok(end) if matches!(line.get(skip_space(line, end)), None | Some(b'{')) => return Some(at),
            Ok(end) => end,
            Err(failure) => failure.at,
        };
        *budget = budget.checked_sub(read_to.saturating_sub(at))?;
        at += 1;
    }
}

fn skip_space(line: &[u8], from: usize) -> usize {
    let rest = line.get(from..).unwrap_or_default();
    from + rest.iter().position(|byte| !is_space(*byte)).unwrap_or(rest.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The parts as text, each with its kind.
    fn shown(line: &str) -> Vec<String> {
        parts(line.as_bytes())
            .into_iter()
            .map(|part| match part {
                Part::Value(range) => format!("value {}", &line[range]),
                Part::Torn(range) => format!("torn {}", &line[range]),
                Part::Cut(range) => format!("cut {}", &line[range]),
                Part::NotJson(range) => format!("not-json {}", &line[range]),
            })
            .collect()
    }

    #[test]
    fn values_without_a_newline_between_them_are_told_apart() {
        assert_eq!(
            shown(r#"{"a":1}{"b":2}  {"c":3} "#),
            [r#"value {"a":1}"#, r#"value {"b":2}"#, r#"value {"c":3}"#]
        );
    }

    #[test]
    fn a_value_torn_inside_a_string_ends_where_the_next_one_begins() {
        assert_eq!(
            shown(r#"{"type":"a","text":"half {"type":"b","n":{"x":1}}"#),
            [r#"torn {"type":"a","text":"half "#, r#"value {"type":"b","n":{"x":1}}"#]
        );
    }

    #[test]
    fn a_value_may_be_torn_at_any_byte() {
        let first = r#"{"type":"a","n":{"k":[1,true,null,-2.5e3,"\u00e9\n"]},"m":{}}"#;
        let second = r#"{"type":"b","n":{"k":"v"}}"#;
        for cut in 1..first.len() {
            let line = format!("{}{second}", &first[..cut]);
            // Where a value was due, the second record fits in as that value: nothing tells that
            // it is not.
            let fits =
                ["\":", "[", "[1,", "true,", "null,", "e3,"].iter().any(|end| first[..cut].ends_with(end));
            let expected = if fits {
                vec![format!("cut {line}")]
            } else {
                vec![format!("torn {}", &first[..cut]), format!("value {second}")]
            };
            assert_eq!(shown(&line), expected, "cut at {cut}");
        }
    }

    #[test]
    fn an_inner_object_of_a_cut_value_is_no_value() {
        let line = r#"{"type":"a","message":{"role":"user","content":"hi"}"#;
        assert_eq!(shown(line), [format!("cut {line}")]);
    }

    #[test]
    fn an_inner_object_of_a_broken_value_is_no_value() {
        let line = r#"{"type":"a","text":"not "escaped" here","usage":{"n":1}}"#;
        assert_eq!(shown(line), [format!("not-json {line}")]);
    }

    #[test]
    fn a_line_made_of_braces_ends_in_time() {
        let line = "{\"a\":".repeat(400_000) + "x";
        assert_eq!(parts(line.as_bytes()).len(), 1);
        let line = "{\"a\":1,}".repeat(200_000);
        assert!(!parts(line.as_bytes()).is_empty());
    }
}
