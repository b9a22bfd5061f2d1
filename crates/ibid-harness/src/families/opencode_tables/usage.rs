//! Tokens, and why a model stopped.

use ibid_model::{StopReason, Text, Usage};

use super::fields::Fields;

/// The tokens of one model call. `input`, `cache.read` and `cache.write` do not overlap. Whether
/// `output` holds the reasoning too is told by `total`; where there is none it does not (the
/// program charges both).
pub(crate) fn of_call(tokens: &Fields<'_>, cost: Option<f64>) -> Usage {
    let cache = tokens.object("cache");
    let cached = |name: &str| cache.as_ref().and_then(|cache| cache.count(name));
    let (input, output, reasoning) =
        (tokens.count("input"), tokens.count("output"), tokens.count("reasoning"));
    let (read, write) = (cached("read"), cached("write"));
    let all: u64 = [input, output, read, write].into_iter().flatten().fold(0, u64::saturating_add);
    let included = tokens.count("total") == Some(all);
    let output = match (output, reasoning) {
        (Some(output), Some(reasoning)) if !included => Some(output.saturating_add(reasoning)),
        (output, _) => output,
    };
    Usage {
        input,
        output,
        reasoning,
        cache_read: read,
        cache_write: write,
        cost_usd: cost,
        ..Usage::default()
    }
}

/// Whether all counts are zero, as the program writes them when it made no call.
pub(crate) fn is_nothing(usage: &Usage) -> bool {
    [usage.input, usage.output, usage.cache_read, usage.cache_write]
        .into_iter()
        .all(|count| count.unwrap_or(0) == 0)
}

/// The running sum of a session; none when it is all zero, as it stays where the program does not
/// keep it.
pub(crate) fn running_sum(
    input: Option<u64>,
    output: Option<u64>,
    reasoning: Option<u64>,
    (cache_read, cache_write): (Option<u64>, Option<u64>),
    cost_usd: Option<f64>,
) -> Option<Usage> {
    let output = match (output, reasoning) {
        (Some(output), Some(reasoning)) => Some(output.saturating_add(reasoning)),
        (output, _) => output,
    };
    let usage = Usage { input, output, reasoning, cache_read, cache_write, cost_usd, ..Usage::default() };
    (!is_nothing(&usage)).then_some(usage)
}

/// The running sum in a record.
pub(crate) fn of_sum(tokens: &Fields<'_>, cost: Option<f64>) -> Option<Usage> {
    let cache = tokens.object("cache");
    let cached = |name: &str| cache.as_ref().and_then(|cache| cache.count(name));
    running_sum(
        tokens.count("input"),
        tokens.count("output"),
        tokens.count("reasoning"),
        (cached("read"), cached("write")),
        cost,
    )
}

/// Why the model stopped, from the word that the program keeps.
pub(crate) fn stop_reason(word: &Text) -> StopReason {
    match word.as_str() {
        "stop" | "end_turn" => StopReason::EndTurn,
        "tool-calls" | "tool_calls" | "tool_use" => StopReason::ToolUse,
        "length" => StopReason::MaxTokens,
        "stop-sequence" => StopReason::StopSequence,
        "content-filter" => StopReason::Refusal,
        "aborted" => StopReason::Aborted,
        "error" => StopReason::Error,
        _ => StopReason::Other(word.clone()),
    }
}

/// The word that the program would keep.
pub(crate) fn finish_word(stop: &StopReason) -> Text {
    match stop {
        StopReason::EndTurn => "stop".into(),
        StopReason::ToolUse => "tool-calls".into(),
        StopReason::MaxTokens => "length".into(),
        StopReason::StopSequence => "stop-sequence".into(),
        StopReason::Refusal => "content-filter".into(),
        StopReason::Aborted => "aborted".into(),
        StopReason::Error => "error".into(),
        StopReason::Other(word) => word.clone(),
        _ => "other".into(),
    }
}

/// Why a message ended that has an `error` of this name.
pub(crate) fn stop_of_error(name: &str) -> StopReason {
    match name {
        "MessageAbortedError" => StopReason::Aborted,
        "MessageOutputLengthError" => StopReason::MaxTokens,
        "ContentFilterError" => StopReason::Refusal,
        _ => StopReason::Error,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(json: &str) -> Usage {
        of_call(&Fields::of(&Text::from(json)).unwrap(), None)
    }

    #[test]
    fn output_includes_the_reasoning_exactly_once() {
        let apart = r#"{"total":20,"input":10,"output":4,"reasoning":6,"cache":{"read":0,"write":0}}"#;
        assert_eq!(tokens(apart).output, Some(10));
        let within = r#"{"total":14,"input":10,"output":4,"reasoning":3,"cache":{"read":0,"write":0}}"#;
        assert_eq!(tokens(within).output, Some(4));
        assert_eq!(tokens(r#"{"input":10,"output":4,"reasoning":3}"#).output, Some(7));
    }

    #[test]
    fn a_count_that_is_not_there_is_unknown() {
        assert_eq!(tokens(r#"{"input":10}"#).cache_read, None);
    }
}
