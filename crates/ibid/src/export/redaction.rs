//! The redaction pass over a whole document.

use anyhow::{Context as _, Result};
use ibid_model::{Argument, Block, Json, Session, SessionDocument};
use ibid_redact::{Counts, Redactor};
use serde::Serialize;

/// The document with every secret replaced that the pass knows, and how many of each kind there
/// were. Every string goes through it: texts, inputs, results, titles, events and findings. Paths
/// and ids stay as they are, since nothing in them looks like a secret.
///
/// # Errors
/// When the redacted text is no document any more, which would be a fault of the pass; nothing is
/// handed out then.
pub(crate) fn redacted(mut document: SessionDocument) -> Result<(SessionDocument, Counts)> {
    let redactor = Redactor::new();
    let mut counts = Counts::default();
    for session in std::iter::once(&mut document.session).chain(&mut document.children) {
        redact_arguments(session, &redactor, &mut counts);
    }
    let text = serde_json::to_string(&document)?;
    let redacted = redactor.redact_json(&text);
    counts.merge(&redacted.counts);
    let mut document = SessionDocument::from_text(&redacted.text)
        .context("the redacted session cannot be read; nothing was written")?;
    document.redactions = Some(counts.total());
    Ok((document, counts))
}

/// Arguments beyond a tool's typed form keep their name and their value in two strings, and a name
/// such as `password` is what makes a value a secret: they are put together for the pass.
fn redact_arguments(session: &mut Session, redactor: &Redactor, counts: &mut Counts) {
    for block in session.messages.iter_mut().flat_map(|message| &mut message.blocks) {
        let Block::ToolUse(call) = block else { continue };
        for argument in &mut call.extra {
            let pair = format!("{{{}:{}}}", Json::string(&argument.name).as_str(), argument.value.as_str());
            let redacted = redactor.redact_json(&pair);
            if redacted.counts.is_empty() {
                continue;
            }
            if let Some(value) = value_of(&redacted.text) {
                counts.merge(&redacted.counts);
                *argument = Argument { name: argument.name.clone(), value };
            }
        }
    }
}

/// The value of an object with one key.
fn value_of(object: &str) -> Option<Json> {
    let map: std::collections::BTreeMap<String, Box<serde_json::value::RawValue>> =
        serde_json::from_str(object).ok()?;
    let value = map.into_values().next()?;
    Json::from_text(String::from(Box::<str>::from(value))).ok()
}

/// The counts for `--json`.
#[derive(Serialize)]
pub(crate) struct Redactions {
    total: u64,
    kinds: std::collections::BTreeMap<&'static str, u64>,
}

impl From<&Counts> for Redactions {
    fn from(counts: &Counts) -> Redactions {
        Redactions { total: counts.total(), kinds: counts.iter().collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ibid_model::{Message, Origin, Raw, Role, Tool, ToolUse};

    #[test]
    fn an_argument_is_a_secret_by_its_name() {
        let mut session = Session::new("test", "s");
        let mut message = Message::new("m", Role::Assistant, Origin::Model);
        let extra = vec![Argument { name: "password".into(), value: Json::string("correct-horse-7") }];
        let tool = Tool::Raw(Raw { name: "login".into(), input: Json::from_text("{}").unwrap() });
        message.blocks.push(Block::ToolUse(ToolUse { id: "c".into(), name: "login".into(), tool, extra }));
        session.messages.push(message);
        let (document, counts) = redacted(SessionDocument::new(session)).unwrap();
        assert_eq!(counts.total(), 1);
        assert!(!document.to_text().unwrap().contains("correct-horse-7"));
        assert_eq!(document.redactions, Some(1));
    }
}
