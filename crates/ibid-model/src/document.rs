//! Ibid JSON: the whole common session as one document.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Finding, Losses, Session};

/// The version of Ibid JSON that this crate writes, and the only one that it reads.
pub const VERSION: u32 = 1;

/// The document: a version and one session.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SessionDocument {
    /// The version of the form; see [`VERSION`].
    pub ibid: u32,
    /// The session.
    pub session: Session,
    /// Subagents of the session and other sessions that go with it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub children: Vec<Session>,
    /// What was wrong with the input it was read from.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<Finding>,
    /// What a conversion on the way lost.
    #[serde(default, skip_serializing_if = "Losses::is_empty")]
    pub losses: Losses,
    /// How many secrets were replaced when it was exported; absent when nothing looked for any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub redactions: Option<u64>,
}

/// Why a text is not an Ibid JSON document.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DocumentError {
    /// The text is not JSON of this shape.
    #[error("this is not an Ibid session document: {0}")]
    Shape(#[from] serde_json::Error),
    /// The version is not known.
    #[error(
        "this document has version {0} of Ibid JSON, and this Ibid reads version {VERSION}; use a newer Ibid"
    )]
    Version(u32),
    /// The session breaks an invariant.
    #[error("the session in this document is not consistent: {0:?}")]
    Inconsistent(crate::Problem),
}

impl SessionDocument {
    /// A document of one session.
    #[must_use]
    pub fn new(session: Session) -> SessionDocument {
        SessionDocument {
            ibid: VERSION,
            session,
            children: Vec::new(),
            findings: Vec::new(),
            losses: Losses::none(),
            redactions: None,
        }
    }

    /// Reads a document.
    ///
    /// # Errors
    /// When the text has another shape or version, or a session in it breaks an invariant.
    pub fn from_text(text: &str) -> Result<SessionDocument, DocumentError> {
        #[derive(Deserialize)]
        struct Version {
            ibid: u32,
        }
        let version: Version = serde_json::from_str(text)?;
        if version.ibid != VERSION {
            return Err(DocumentError::Version(version.ibid));
        }
        let document: SessionDocument = serde_json::from_str(text)?;
        let sessions = std::iter::once(&document.session).chain(&document.children);
        if let Some(problem) = sessions.flat_map(Session::problems).next() {
            return Err(DocumentError::Inconsistent(problem));
        }
        Ok(document)
    }

    /// Writes the document, indented, with a newline at the end.
    ///
    /// # Errors
    /// Never for a document that [`SessionDocument::from_text`] or a codec made.
    pub fn to_text(&self) -> Result<String, serde_json::Error> {
        let mut text = serde_json::to_string_pretty(self)?;
        text.push('\n');
        Ok(text)
    }
}

/// The JSON Schema of [`SessionDocument`], as published in `docs/schema/`.
///
/// # Errors
/// Never in practice; a schema is JSON.
pub fn schema() -> Result<String, serde_json::Error> {
    let schema = schemars::schema_for!(SessionDocument);
    let mut text = serde_json::to_string_pretty(&schema)?;
    text.push('\n');
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Block, Json, Message, Origin, Raw, Role, Tool, ToolUse};

    #[test]
    fn a_document_keeps_the_spelling_of_tool_inputs() {
        let mut session = Session::new("codex", "s");
        let mut message = Message::new("m", Role::Assistant, Origin::Model);
        let input = Json::from_text(r#"{"n":12345678901234567890123,"b":1.50}"#).unwrap();
        message.blocks.push(Block::ToolUse(ToolUse {
            id: "c".into(),
            name: "count".into(),
            tool: Tool::Raw(Raw { name: "count".into(), input }),
            extra: Vec::new(),
        }));
        session.messages.push(message);
        let document = SessionDocument::new(session);
        let text = document.to_text().unwrap();
        assert_eq!(SessionDocument::from_text(&text).unwrap(), document);
        assert!(text.contains("12345678901234567890123"));
    }

    #[test]
    fn a_newer_version_is_refused_by_number() {
        let error = SessionDocument::from_text(r#"{"ibid":2,"session":{}}"#).unwrap_err();
        assert!(error.to_string().contains("version 2"));
    }
}
