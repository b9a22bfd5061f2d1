//! What messages and results hold.

use ibid_model::{Outcome, ResultPart, StopReason, Text, Usage};

use crate::families::content_blocks::{other, part, parts};
use crate::families::loose::Loose;

/// A prompt without the tag `<user_query>` that stands around it in what goes to the model.
pub(super) fn unwrapped(text: &Text) -> Text {
    let inner = text.trim().strip_prefix("<user_query>").and_then(|rest| rest.strip_suffix("</user_query>"));
    match inner {
        Some(inner) => {
            let inner = inner.strip_prefix('\n').unwrap_or(inner);
            Text::part_of(text, inner.strip_suffix('\n').unwrap_or(inner))
        }
        None => text.clone(),
    }
}

/// What the last record of a call shows: blocks inside `{"type":"content","content":BLOCK}`, and
/// others (`diff`, `terminal`) as they are.
pub(super) fn shown(content: &[Text]) -> Vec<ResultPart> {
    let one = |written: &Text| {
        let fields = Loose::of(written).unwrap_or_default();
        match (fields.text("type").as_deref(), fields.get("content")) {
            (Some("content"), Some(inner)) => parts(inner),
            _ => vec![part(other(fields.text("type").unwrap_or_default(), written))],
        }
    };
    content.iter().flat_map(one).collect()
}

/// How a call ended, by the status of its record, and of a finished command by its exit code; none
/// when the status is one of a call that goes on.
pub(super) fn outcome(status: &str, output: Option<&Loose>) -> Option<Outcome> {
    Some(match status {
        "failed" | "error" => Outcome::Error,
        "cancelled" | "canceled" => Outcome::Interrupted,
        "completed" => output.map_or(Outcome::Ok, |output| {
            let code: Option<i64> = output.read_as("exit_code").or_else(|| output.read_as("exitCode"));
            match (code, output.read_as::<bool>("timed_out")) {
                (_, Some(true)) => Outcome::Interrupted,
                (Some(code), _) if code != 0 => Outcome::Error,
                _ => Outcome::Ok,
            }
        }),
        _ => return None,
    })
}

/// How a command ended, by the line `exit: N` that its result begins with for the model.
pub(super) fn exit(text: &str) -> Outcome {
    let code = text.strip_prefix("exit: ").and_then(|rest| rest.lines().next());
    match code.and_then(|code| code.trim().parse::<i64>().ok()) {
        Some(0) => Outcome::Ok,
        Some(_) => Outcome::Error,
        None => Outcome::Unknown,
    }
}

pub(super) fn stop(reason: &Text) -> StopReason {
    match reason.as_str() {
        "end_turn" => StopReason::EndTurn,
        "max_tokens" => StopReason::MaxTokens,
        "refusal" => StopReason::Refusal,
        "cancelled" | "canceled" => StopReason::Aborted,
        "error" => StopReason::Error,
        _ => StopReason::Other(reason.clone()),
    }
}

/// Costs are counted in this part of a dollar (documentation of 1.0.41).
const TICKS: f64 = 1e10;

/// A count of tokens. All input, cached or not, is in `inputTokens`, and reasoning is in
/// `outputTokens`: the two make `totalTokens` (files of 2026-08, and 1.0.41).
pub(super) fn usage(counts: &Loose) -> Usage {
    let (cache_read, cache_write) = (counts.number("cachedReadTokens"), counts.number("cacheCreationTokens"));
    let cached = cache_read.unwrap_or(0).saturating_add(cache_write.unwrap_or(0));
    let input = counts.number("inputTokens");
    Usage {
        input: input.map(|all| all.checked_sub(cached).unwrap_or(all)),
        output: counts.number("outputTokens"),
        cache_read,
        cache_write,
        reasoning: counts.number("reasoningTokens"),
        cost_usd: counts.read_as::<f64>("costUsdTicks").map(|ticks| ticks / TICKS),
        ..Usage::default()
    }
}

/// The tokens of a turn by model: those of each where several are named, else those of the turn,
/// with what it leaves out taken from the one model.
pub(super) fn usages(counts: &Loose) -> Vec<(Option<Text>, Usage)> {
    let by_model = counts.object("modelUsage").unwrap_or_default();
    let models: Vec<(Text, Usage)> = by_model
        .fields()
        .filter_map(|(model, inner)| Some((model.clone(), usage(&Loose::of(inner)?))))
        .collect();
    let turn = usage(counts);
    let all: Vec<(Option<Text>, Usage)> = match models.as_slice() {
        [] => vec![(None, turn)],
        [(model, inner)] => vec![(
            Some(model.clone()),
            Usage {
                input: turn.input.or(inner.input),
                output: turn.output.or(inner.output),
                cache_read: turn.cache_read.or(inner.cache_read),
                cache_write: turn.cache_write.or(inner.cache_write),
                reasoning: turn.reasoning.or(inner.reasoning),
                cost_usd: turn.cost_usd.or(inner.cost_usd),
                ..Usage::default()
            },
        )],
        several => several.iter().map(|(model, inner)| (Some(model.clone()), *inner)).collect(),
    };
    all.into_iter().filter(|(_, usage)| !usage.is_unknown()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn loose(text: &str) -> Loose {
        Loose::read(&Text::from(text.to_owned())).unwrap()
    }

    #[test]
    fn a_prompt_is_what_stands_inside_its_tag() {
        for (written, typed) in [
            ("<user_query>\nfix it\n</user_query>", "fix it"),
            ("fix <user_query>", "fix <user_query>"),
            ("<user_query>\n\nfix\n\n</user_query>", "\nfix\n"),
        ] {
            assert_eq!(&*unwrapped(&Text::from(written)), typed);
        }
    }

    #[test]
    fn parts_of_the_input_do_not_overlap() {
        let counts = r#"{"inputTokens":139031,"outputTokens":1068,"totalTokens":140099,"cachedReadTokens":111232,"cacheCreationTokens":0,"reasoningTokens":289,"costUsdTicks":953756000}"#;
        let usage = usage(&loose(counts));
        assert_eq!((usage.input, usage.cache_read), (Some(27_799), Some(111_232)));
        assert!((usage.cost_usd.unwrap() - 0.095_375_6).abs() < 1e-12);
    }

    #[test]
    fn two_models_of_a_turn_are_counted_apart_and_not_once_more_together() {
        let counts = r#"{"inputTokens":30,"modelUsage":{"a":{"inputTokens":10},"b":{"inputTokens":20}}}"#;
        let usages = usages(&loose(counts));
        let inputs: Vec<_> = usages.iter().map(|(model, usage)| (model.as_deref(), usage.input)).collect();
        assert_eq!(inputs, [(Some("a"), Some(10)), (Some("b"), Some(20))]);
    }

    #[test]
    fn what_the_turn_leaves_out_is_taken_from_its_model() {
        let counts = r#"{"inputTokens":7,"modelUsage":{"a":{"inputTokens":9,"outputTokens":2}}}"#;
        let (model, usage) = usages(&loose(counts)).remove(0);
        assert_eq!((model.as_deref(), usage.input, usage.output), (Some("a"), Some(7), Some(2)));
    }

    #[test]
    fn a_command_that_ends_with_another_code_than_0_failed() {
        let output = loose(r#"{"exit_code":3}"#);
        assert_eq!(outcome("completed", Some(&output)), Some(Outcome::Error));
        assert_eq!(outcome("completed", None), Some(Outcome::Ok));
        assert_eq!(outcome("in_progress", None), None);
        assert_eq!(
            (exit("exit: 3\nx"), exit("exit: 0\n"), exit("exit")),
            (Outcome::Error, Outcome::Ok, Outcome::Unknown)
        );
    }
}
