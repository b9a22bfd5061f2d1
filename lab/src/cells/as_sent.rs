//! Whether a session holds what its program and the provider told each other, word for word.

use anyhow::{Context as _, Result, bail, ensure};
use ibid_harness::AnyHarness;
use ibid_model::{Block, Json, Origin, Role, Selection, Session, Text};
use ibid_testkit::provider::Exchange;
use ibid_testkit::provider::wire::{Arguments, Said};
use serde_json::Value;

use crate::programs::Driver;

/// One thing that was said. Both sides are read into these, and compared in order.
#[derive(Clone, Debug, PartialEq)]
enum Word {
    Prompt(String),
    Text(String),
    Call { id: String, name: String, input: String },
    Result { call: String, text: String },
}

/// Compares a session of Chat Completions with the last request of its program, which holds all
/// that was said before, and with the answer to it. `prompts` are what the person asked.
///
/// Thoughts are compared apart: a program need not send them again, but what it sends must be in
/// the session. Texts that the program put in by itself are no part of it; that none of them counts
/// as a prompt is.
///
/// # Errors
/// The first difference.
pub(super) fn compare(
    session: &Session,
    driver: &dyn Driver,
    harness: &dyn AnyHarness,
    prompts: &[&'static str],
    last: &Exchange,
) -> Result<()> {
    let (mut sent, thoughts) = sent(driver, harness, prompts, last);
    let answer = last.answer.as_ref().and_then(|answer| answer.body.pointer("/choices/0/message/content"));
    let answer = answer.and_then(Value::as_str).context("the last answer is no text")?;
    sent.push(Word::Text(answer.to_owned()));
    let (mut said, thought) = said(session);
    results_by_call(&mut sent);
    results_by_call(&mut said);
    for (number, (one, other)) in sent.iter().zip(&said).enumerate() {
        ensure!(
            one == other,
            "piece {number} was {}, and is {} in the session",
            in_short(one),
            in_short(other)
        );
    }
    ensure!(
        sent.len() == said.len(),
        "{} pieces were said, and the session has {}; the next is {}",
        sent.len(),
        said.len(),
        sent.get(said.len()).or_else(|| said.get(sent.len())).map(in_short).unwrap_or_default()
    );
    let mut rest = thought.iter();
    for sent in &thoughts {
        if !rest.any(|own| own == sent) {
            bail!("the thought `{sent}` is not in the session in its place");
        }
    }
    Ok(())
}

/// What the request says, with the thoughts apart.
fn sent(
    driver: &dyn Driver,
    harness: &dyn AnyHarness,
    prompts: &[&'static str],
    last: &Exchange,
) -> (Vec<Word>, Vec<String>) {
    let (mut words, mut thoughts) = (Vec::new(), Vec::new());
    let mut asked = prompts.iter().peekable();
    for spoken in last.said() {
        match spoken.said {
            Said::User(text) => {
                if let Some(prompt) = asked.next_if(|prompt| text.contains(**prompt)) {
                    words.push(Word::Prompt((*prompt).to_owned()));
                }
            }
            Said::Assistant(text) if !text.is_empty() => words.push(Word::Text(text)),
            Said::Thinking { text, .. } => thoughts.push(text),
            Said::Call { id, name, arguments, .. } => {
                let value = match arguments {
                    Arguments::Json(value) => value,
                    Arguments::Text(text) => Value::String(text),
                };
                let input = Json::of(&value).unwrap_or_else(|_| Json::null());
                let input = format!("{:?}", harness.read_call(&Text::from(name.as_str()), &input));
                words.push(Word::Call { id, name, input });
            }
            Said::Result { id, text, .. } => {
                let (text, _) = harness.read_answer(&Text::from(driver.kept_of_result(&text)));
                words.push(Word::Result { call: id, text: text.to_string() });
            }
            Said::System(_) | Said::Assistant(_) | Said::Image { .. } | Said::Other(_) => {}
        }
    }
    (words, thoughts)
}

/// What the session says, with the thoughts apart.
fn said(session: &Session) -> (Vec<Word>, Vec<String>) {
    let (mut words, mut thoughts) = (Vec::new(), Vec::new());
    for message in session.view(&Selection::default()).messages {
        for block in &message.blocks {
            match block {
                Block::Text(text) if message.role == Role::User && message.origin == Origin::Person => {
                    words.push(Word::Prompt(text.text.to_string()));
                }
                Block::Text(text) if message.role == Role::Assistant && !text.text.is_blank() => {
                    words.push(Word::Text(text.text.to_string()));
                }
                Block::Thinking(thinking) => thoughts.push(thinking.text.to_string()),
                Block::ToolUse(call) => words.push(Word::Call {
                    id: call.id.to_string(),
                    name: call.name.to_string(),
                    input: format!("{:?}", (&call.tool, &call.extra)),
                }),
                Block::ToolResult(result) => words
                    .push(Word::Result { call: result.call.to_string(), text: result.text().to_string() }),
                _ => {}
            }
        }
    }
    (words, thoughts)
}

/// Puts results of calls that were made at once into one order: a program records them as they end,
/// and sends them as they were called.
fn results_by_call(words: &mut [Word]) {
    for run in words.chunk_by_mut(|a, b| matches!((a, b), (Word::Result { .. }, Word::Result { .. }))) {
        run.sort_by(|a, b| match (a, b) {
            (Word::Result { call: a, .. }, Word::Result { call: b, .. }) => a.cmp(b),
            _ => std::cmp::Ordering::Equal,
        });
    }
}

fn in_short(word: &Word) -> String {
    const SHOWN: usize = 300;
    let whole = format!("{word:?}");
    match whole.char_indices().nth(SHOWN) {
        Some((at, _)) => format!("{}…", whole.get(..at).unwrap_or_default()),
        None => whole,
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::programs;
    use crate::source::{find_file, read_log};

    /// A request of a shell call and its result, with the answer to it.
    const LOG: &str = r#"{"number":1,"time":"2026-01-01T00:00:00Z","method":"POST","path":"/v1/chat/completions","headers":[],"body":{"messages":[
        {"role":"user","content":"<reminder>be good</reminder>"},
        {"role":"user","content":"<query>Say hello</query>"},
        {"role":"assistant","content":"I will","tool_calls":[{"id":"call_1","type":"function","function":{"name":"bash","arguments":"{\"command\":\"echo hello\"}"}}]},
        {"role":"tool","tool_call_id":"call_1","content":"hello\n"}]},
        "answer":{"status":200,"body":{"choices":[{"message":{"content":"Said"}}]}}}"#;

    fn compared(document: &str) -> Result<()> {
        let folder = tempfile::tempdir()?;
        let (log, path) = (folder.path().join("log.jsonl"), folder.path().join("session.json"));
        std::fs::write(&log, LOG.replace('\n', " "))?;
        std::fs::write(&path, document)?;
        let last = read_log(Path::new(&log))?.pop().context("an exchange")?;
        let session = find_file(&path, "simple")?;
        let driver = programs::every().find(|driver| driver.id() == "copilot").context("a driver")?;
        let harness = ibid_harness::find("simple").context("a harness")?;
        compare(&session, driver, harness, &["Say hello"], &last)
    }

    fn document(command: &str, output: &str, last: &str) -> String {
        serde_json::json!({"id": "one", "messages": [
            {"role": "user", "content": "Say hello"},
            {"role": "assistant", "content": [
                {"type": "text", "text": "I will"},
                {"type": "tool_use", "id": "call_1", "name": "bash", "input": {"command": command}},
            ]},
            {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "call_1", "content": output},
            ]},
            {"role": "assistant", "content": last},
        ]})
        .to_string()
    }

    #[test]
    fn a_session_that_holds_what_was_said_passes() {
        compared(&document("echo hello", "hello\n", "Said")).unwrap();
    }

    #[test]
    fn another_argument_result_or_text_is_seen() {
        for (changed, named) in [
            (document("echo HELLO", "hello\n", "Said"), "piece 2"),
            (document("echo hello", "hello", "Said"), "piece 3"),
            (document("echo hello", "hello\n", "said"), "piece 4"),
        ] {
            let told = compared(&changed).unwrap_err().to_string();
            assert!(told.starts_with(named), "{told}");
        }
    }
}
