//! The redaction pass over a whole document.

use std::collections::BTreeMap;

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
    let map: BTreeMap<String, Box<serde_json::value::RawValue>> = serde_json::from_str(object).ok()?;
    let value = map.into_values().next()?;
    Json::from_text(String::from(Box::<str>::from(value))).ok()
}

/// How many secrets were replaced in what is written.
#[derive(Serialize)]
pub(crate) struct Redactions {
    /// All of them.
    pub(crate) total: u64,
    /// Those of each kind.
    pub(crate) kinds: BTreeMap<&'static str, u64>,
}

impl Redactions {
    /// Those in a document that leaves parts of the session out: the marks that the pass put there,
    /// without those that stood in the session already.
    pub(crate) fn between(counts: &Counts, before: &str, after: &str) -> Redactions {
        let marks = |text: &str, kind: &str| text.matches(&format!("[redacted:{kind}]")).count() as u64;
        let written = |(kind, _)| (kind, marks(after, kind).saturating_sub(marks(before, kind)));
        let kinds: BTreeMap<_, u64> = counts.iter().map(written).filter(|(_, count)| *count > 0).collect();
        Redactions { total: kinds.values().sum(), kinds }
    }
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
