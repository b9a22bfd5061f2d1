//! What stands inside messages: text, thoughts, calls, results, pictures.

use ibid_model::{
    Block, CallId, Data, Document, Image, Json, OtherBlock, Outcome, ProviderToken, ResultPart, Text,
    TextBlock, Thinking, TokenUse, ToolResult, ToolUse, Usage,
};

use super::records::{Ended, Part, Response, Tokens};
use super::tools;

/// The tool whose answers tell an exit code.
const SHELL: &str = "run_shell_command";

/// What a part is, unless it is a call or a response.
pub(super) fn block(part: &Part) -> Block {
    match part {
        Part::Text(text) => Block::text(text.clone()),
        Part::Thought { text, signature } => {
            let token = |value: &Text| ProviderToken {
                usage: TokenUse::Signature,
                provider: None,
                value: value.clone(),
            };
            Block::Thinking(Thinking { text: text.clone(), tokens: signature.iter().map(token).collect() })
        }
        Part::Bytes { media_type, data, name } => {
            media(media_type.clone(), Data::Base64(data.clone()), name.clone())
        }
        Part::File { media_type, uri, name } => {
            let data = match uri.strip_prefix("file://") {
                Some(path) => Data::Path(Text::from(path.to_owned())),
                None => Data::Url(uri.clone()),
            };
            media(media_type.clone(), data, name.clone())
        }
        Part::Other(json) => Block::Other(OtherBlock { kind: "part".into(), json: json.clone() }),
        // These have a place of their own; here they stand where none belongs.
        Part::Call { name, .. } => {
            Block::Other(OtherBlock { kind: "functionCall".into(), json: Json::string(name) })
        }
        Part::Response(response) => {
            let text = response.output.as_ref().or(response.error.as_ref()).cloned().unwrap_or_default();
            Block::Other(OtherBlock { kind: "functionResponse".into(), json: Json::string(&text) })
        }
    }
}

fn media(media_type: Option<Text>, data: Data, name: Option<Text>) -> Block {
    match media_type.as_deref().is_some_and(|media| media.starts_with("image/")) {
        true => Block::Image(Image { media_type, data, name }),
        false => Block::Document(Document { media_type, data, name }),
    }
}

/// A call.
pub(super) fn call(id: Text, name: &Text, args: Option<&Json>) -> ToolUse {
    let nothing = || Json::from_text("{}").unwrap_or_else(|_| Json::null());
    let input = args.cloned().unwrap_or_else(nothing);
    let (tool, extra) = tools::decode(name, &input);
    ToolUse { id: CallId::from(id), name: name.clone(), tool, extra }
}

/// What a call gave back.
pub(super) fn result(call: Text, response: Option<&Response>, ended: Option<&Ended>) -> ToolResult {
    let none = Response::default();
    let given = response.unwrap_or(&none);
    let mut text = given.output.as_ref().or(given.error.as_ref()).cloned();
    if response.is_none() {
        // Without the response, what was shown to the person is all that is known.
        text = text.or_else(|| ended.and_then(|ended| ended.shown.clone()));
    }
    let mut content: Vec<ResultPart> = text.iter().map(|text| self::text(text.clone())).collect();
    content.extend(
        given
            .json
            .iter()
            .map(|json| ResultPart::Other(OtherBlock { kind: "response".into(), json: json.clone() })),
    );
    content.extend(given.parts.iter().map(part));
    ToolResult {
        call: CallId::from(call),
        content,
        outcome: outcome(given, ended, text.as_ref()),
        structured: ended.and_then(|ended| ended.display.clone()),
    }
}

/// A part of a result.
pub(super) fn part(part: &Part) -> ResultPart {
    match block(part) {
        Block::Text(TextBlock { text }) => self::text(text),
        Block::Image(image) => ResultPart::Image(image),
        Block::Document(document) => ResultPart::Document(document),
        Block::Other(other) => ResultPart::Other(other),
        other => ResultPart::Other(OtherBlock {
            kind: "part".into(),
            json: Json::of(&other).unwrap_or_else(|_| Json::null()),
        }),
    }
}

fn text(text: Text) -> ResultPart {
    ResultPart::Text(TextBlock { text })
}

fn outcome(given: &Response, ended: Option<&Ended>, text: Option<&Text>) -> Outcome {
    let status = ended.and_then(|ended| ended.status.as_deref());
    let failed = ended.is_some_and(|ended| ended.error_type.is_some()) || given.error.is_some();
    // 0.15 calls a command done that ended with another code than 0; its answer names the code.
    let code = given.name.as_deref().filter(|name| *name == SHELL).and(text).and_then(exit_code);
    match status {
        Some("cancelled") => Outcome::Interrupted,
        Some("error" | "failed") => Outcome::Error,
        _ if failed || code.is_some_and(|code| code != 0) => Outcome::Error,
        Some("success") => Outcome::Ok,
        _ if given.output.is_some() => Outcome::Ok,
        _ => Outcome::Unknown,
    }
}

/// The code in the line that the shell tool ends its answer with.
fn exit_code(text: &Text) -> Option<i64> {
    let text = text.to_str();
    let mut lines = text.lines().rev().take(4);
    lines.find_map(|line| line.strip_prefix("Exit Code: ")?.trim().parse().ok())
}

/// The tokens of a call, in parts that do not overlap.
pub(super) fn usage(tokens: &Tokens) -> Usage {
    // Most providers count thinking among what they answer; Gemini's own count does not, and then the
    // total says so.
    let apart = match (tokens.prompt, tokens.candidates, tokens.thoughts, tokens.total) {
        (Some(prompt), Some(candidates), Some(thoughts), Some(total)) if thoughts > 0 => {
            prompt.checked_add(candidates).and_then(|sum| sum.checked_add(thoughts)) == Some(total)
        }
        _ => false,
    };
    let thinking = if apart { tokens.thoughts.unwrap_or(0) } else { 0 };
    Usage {
        input: tokens.prompt.map(|prompt| prompt.saturating_sub(tokens.cached.unwrap_or(0))),
        output: tokens.candidates.map(|candidates| candidates.saturating_add(thinking)),
        cache_read: tokens.cached,
        reasoning: tokens.thoughts,
        ..Usage::default()
    }
}

/// Whether a text stands in a prompt that the harness put there: a reminder, what a hook said.
pub(super) fn is_injected(text: &Text) -> bool {
    let text = text.to_str();
    let text = text.trim();
    let wrapped = |tag: &str| {
        let inner = text.strip_prefix('<').and_then(|rest| rest.strip_prefix(tag));
        inner.is_some_and(|rest| rest.starts_with('>'))
            && text
                .strip_suffix('>')
                .and_then(|rest| rest.strip_suffix(tag))
                .is_some_and(|rest| rest.ends_with("</"))
    };
    wrapped("system-reminder") || wrapped("qwen:user-prompt-submit-context")
}

/// What stands before the files that a prompt names with `@`.
pub(super) const FILES_BEGIN: &str = "--- Content from referenced files ---";

/// What stands behind them.
pub(super) const FILES_END: &str = "--- End of content ---";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thinking_is_added_to_the_answer_only_where_the_total_says_that_it_stands_apart() {
        let tokens = |total| Tokens {
            prompt: Some(100),
            candidates: Some(20),
            thoughts: Some(5),
            total: Some(total),
            cached: Some(40),
        };
        assert_eq!((usage(&tokens(125)).output, usage(&tokens(120)).output), (Some(25), Some(20)));
        assert_eq!((usage(&tokens(120)).input, usage(&tokens(120)).cache_read), (Some(60), Some(40)));
    }

    #[test]
    fn a_reminder_is_one_only_as_a_whole() {
        assert!(is_injected(&"<system-reminder>\nx\n</system-reminder>\n\n".into()));
        assert!(!is_injected(&"<system-reminder>x</system-reminder> and this".into()));
        assert!(!is_injected(&"what is <system-reminder>?".into()));
    }

    #[test]
    fn the_code_of_a_command_is_on_one_of_its_last_lines() {
        assert_eq!(
            exit_code(&"Output: Exit Code: 9\nError: (none)\nExit Code: 3\nSignal: 0\nPGID: 1".into()),
            Some(3)
        );
        assert_eq!(exit_code(&"Exit Code: 3\na\nb\nc\nd".into()), None);
    }
}
