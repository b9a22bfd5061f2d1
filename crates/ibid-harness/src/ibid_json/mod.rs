//! Ibid JSON: the full common session as a document. It is what `ibid export` writes by default.

use std::path::Path;

use ibid_model::{Losses, Selection, Session, SessionDocument, SessionId};

use crate::core::{
    Capabilities, Codec, CodecError, Common, Converted, Declaration, Harness, HarnessId, Target, TextCodec,
    Transcript, conversion_name, derived_uuid,
};
use crate::families::documents::{DocumentBody, DocumentHarness, begins_with_key, document_store};

/// Ibid's own documents.
pub struct IbidJson;

static DECLARATION: Declaration = Declaration {
    id: HarnessId::declare("ibid"),
    name: "Ibid JSON",
    aliases: &["ibid-json"],
    capabilities: Capabilities {
        store: false,
        write: true,
        resume: false,
        subagents: false,
        branches: true,
        compaction: true,
    },
    resume: None,
    context_window: u64::MAX,
    versions_seen: &["1"],
    evidence: None,
    capture: &[],
    retention_days: None,
};

impl Harness for IbidJson {
    const DECLARATION: &'static Declaration = &DECLARATION;
    type Body = DocumentBody;
}

impl Codec for IbidJson {
    fn to_common(transcript: &Transcript<Self>) -> Result<Common, CodecError> {
        let document = parse(&transcript.body)?;
        Ok(Common { session: document.session, findings: document.findings })
    }

    /// With the default selection the session is written whole, all branches included; only its
    /// id and directory follow the target. Another selection writes the messages that it picks.
    fn from_common(session: &Session, target: &Target) -> Result<Converted<Transcript<Self>>, CodecError> {
        let mut losses = Losses::none();
        let mut session = session.clone();
        if target.selection != Selection::default() {
            losses = select(&mut session, &target.selection);
        }
        if let Some(cwd) = &target.cwd {
            session.meta.cwd = Some(cwd.clone());
        }
        if let Some(id) = &target.id {
            session.id = id.clone();
        }
        if session.id.is_empty() {
            session.id = derived_uuid("ibid-json", &conversion_name(&session, target)).to_string().into();
        }
        let id = session.id.clone();
        let mut document = SessionDocument::new(session);
        document.losses.clone_from(&losses);
        let text = document.to_text()?;
        Ok(Converted { value: Transcript { id, body: DocumentBody::new(text.into_bytes()) }, losses })
    }
}

/// Keeps the messages of a selection, and what refers to them.
fn select(session: &mut Session, selection: &Selection) -> Losses {
    use ibid_model::LossKind;
    let view = session.view(selection);
    let mut losses = Losses::none();
    losses.add_many(LossKind::SideBranch, view.on_other_branches as u64, None, None);
    losses.add_many(LossKind::BeforeCompaction, view.before_compaction as u64, None, None);
    losses.add_many(LossKind::CompactionSummary, view.summaries_left_out as u64, None, None);
    let mut messages: Vec<_> = view.messages.into_iter().cloned().collect();
    let mut parent = None;
    for message in &mut messages {
        message.parent = parent.replace(message.id.clone());
    }
    let there = |id: &ibid_model::MessageId| messages.iter().any(|message| message.id == *id);
    let anchors = |compaction: &ibid_model::Compaction| {
        [&compaction.after, &compaction.summary, &compaction.first_kept].into_iter().flatten().all(there)
    };
    session.compactions.retain(anchors);
    session.events.retain(|event| event.after.as_ref().is_none_or(there));
    session.calls.retain(|call| call.message.as_ref().is_some_and(there));
    session.head = messages.last().map(|message| message.id.clone());
    session.messages = messages;
    losses
}

impl TextCodec for IbidJson {
    fn from_text(text: &[u8]) -> Result<Transcript<Self>, CodecError> {
        let body = DocumentBody::new(text.to_vec());
        let id: SessionId = parse(&body)?.session.id;
        Ok(Transcript { id, body })
    }

    fn to_text(transcript: &Transcript<Self>) -> Result<Vec<u8>, CodecError> {
        Ok(transcript.body.bytes.to_vec())
    }
}

fn parse(body: &DocumentBody) -> Result<SessionDocument, CodecError> {
    let foreign = |reason: String| CodecError::Foreign { harness: DECLARATION.name, reason };
    let text = body.text().map_err(foreign)?;
    SessionDocument::from_text(&text).map_err(|error| foreign(error.to_string()))
}

impl DocumentHarness for IbidJson {
    const EXTENSION: &'static str = "ibid.json";
}

document_store!(IbidJson, |path: &Path, head: &[u8]| if begins_with_key(path, head, "ibid") {
    90
} else {
    0
});
