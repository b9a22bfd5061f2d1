//! A session as it is at rest.

use std::path::PathBuf;

use ibid_carrier::jsonl::Document;
use ibid_model::{CarrierInfo, CarrierRole, Finding, SessionId, Text};

use crate::core::{Carrier, Carriers, Content, path_text};

/// A session of Cowork, or one of its subagents.
#[derive(Clone, Debug)]
pub enum Body {
    /// A session.
    Session(Box<SessionBody>),
    /// A subagent.
    Subagent(Box<SubagentBody>),
}

/// The carriers of a session.
#[derive(Clone, Debug)]
pub struct SessionBody {
    /// The app's record.
    pub record: Document,
    /// The conversation; none when it is not there, or cannot be read.
    pub transcript: Option<Document>,
    /// The audit log.
    pub audit: Option<Document>,
    /// The subagents and whatever else the embedded Claude Code keeps beside the transcript.
    pub beside: Vec<Beside>,
    /// Folders of files that go with the session, and are not read.
    pub companions: Vec<PathBuf>,
    /// Whether it is kept among the agent sessions.
    pub agent: bool,
    /// Whether a conversion made it, so that a place that is not known yet is still to be filled
    /// in.
    pub converted: bool,
    /// What the store found wrong.
    pub findings: Vec<Finding>,
}

/// A file among the projects of the embedded Claude Code.
#[derive(Clone, Debug)]
pub struct Beside {
    /// Its path below the folder of projects.
    pub place: PathBuf,
    /// What is in it.
    pub document: Document,
}

/// The carriers of a subagent.
#[derive(Clone, Debug)]
pub struct SubagentBody {
    /// The conversation.
    pub transcript: Document,
    /// The document that says what it is for.
    pub meta: Option<Document>,
    /// What started it.
    pub spawned_by: Option<SessionId>,
    /// What the store found wrong.
    pub findings: Vec<Finding>,
}

fn carrier(document: &Document, role: CarrierRole) -> Carrier<'_> {
    let info = CarrierInfo {
        path: document.path().map_or_else(Text::default, path_text),
        role,
        key: None,
        bytes: Some(document.bytes().len() as u64),
    };
    Carrier { info, content: Content::Bytes(document.bytes()) }
}

impl Carriers for Body {
    /// The transcript comes first, since the sources of rows count from it.
    fn carriers(&self) -> Vec<Carrier<'_>> {
        let mut carriers = Vec::new();
        match self {
            Body::Session(body) => {
                carriers.extend(body.transcript.iter().map(|doc| carrier(doc, CarrierRole::Transcript)));
                carriers.push(carrier(&body.record, CarrierRole::Record));
                carriers.extend(body.audit.iter().map(|doc| carrier(doc, CarrierRole::Audit)));
                let beside = body.beside.iter().map(|file| carrier(&file.document, CarrierRole::Metadata));
                carriers.extend(beside);
            }
            Body::Subagent(body) => {
                carriers.push(carrier(&body.transcript, CarrierRole::Transcript));
                carriers.extend(body.meta.iter().map(|doc| carrier(doc, CarrierRole::Metadata)));
            }
        }
        carriers
    }
}

/// What a session lives in, as a list names it: its carriers, and the folders that go with it.
pub(super) fn infos(body: &Body) -> Vec<CarrierInfo> {
    let mut infos: Vec<CarrierInfo> = body.carriers().into_iter().map(|carrier| carrier.info).collect();
    if let Body::Session(body) = body {
        infos.extend(body.companions.iter().map(|folder| companion(folder)));
    }
    infos
}

/// A folder that goes with a session.
pub(super) fn companion(folder: &std::path::Path) -> CarrierInfo {
    CarrierInfo { path: path_text(folder), role: CarrierRole::Companion, key: None, bytes: None }
}
