//! From the files of a session to the common session.

use ibid_model::{Finding, Relation, Session, SessionId, TitleOrigin};

use super::place::{self, Place};
use super::{DECLARATION, Qoder, log};
use crate::core::{Class, CodecError, Common, Transcript};
use crate::families::claude_rows::{self, AgentMeta, Assembled, Shape, spawned};
use crate::families::files::{FilesBody, SessionFile};

/// Whether a file is a part of a log. A text without a name can be one too.
fn is_part(file: &SessionFile) -> bool {
    file.name.starts_with(place::SEGMENTS)
}

/// The id: what the path says; of a text what its rows say.
pub(super) fn session_id(body: &FilesBody) -> SessionId {
    if let Some(path) = body.path() {
        return SessionId::from(place::id(path));
    }
    let rows = body.file(place::CONVERSATION).map(|(_, file)| claude_rows::read(&file.document).0);
    let named = rows.and_then(|rows| rows.session_id(None));
    SessionId::from(named.unwrap_or_else(|| "qoder-session".into()))
}

pub(super) fn class(body: &FilesBody, common: &Common) -> Class {
    let session = &common.session;
    let subagent = body.path().is_some_and(|path| matches!(place::of(path), Place::Subagent { .. }));
    if session.messages.is_empty() && session.events.is_empty() {
        Class::Other
    } else if subagent || session.lineage.iter().any(|lineage| lineage.relation == Relation::Spawned) {
        Class::Sidecar
    } else {
        Class::Session
    }
}

pub(super) fn to_common(transcript: &Transcript<Qoder>) -> Result<Common, CodecError> {
    let body = &transcript.body;
    let mut told = log::read(body, transcript.id.as_str(), is_part);
    let mut findings = std::mem::take(&mut told.findings);
    let conversation = body.file(place::CONVERSATION);
    let session = conversation.and_then(|(_, file)| conversed(transcript, file, &mut findings));
    if session.is_none() && !told.known && conversation.is_some() {
        // A text that is no conversation may be a part of a log.
        told = log::read(body, transcript.id.as_str(), |_| true);
        findings = std::mem::take(&mut told.findings);
        if !told.known || told.messages.is_empty() {
            let reason = "there are neither rows of a conversation nor records of a log".to_owned();
            return Err(CodecError::Foreign { harness: DECLARATION.name, reason });
        }
    }
    let mut session = session.unwrap_or_else(|| Session::new(DECLARATION.id.as_str(), transcript.id.clone()));
    session.carriers = body.infos();
    log::add(&mut session, told);
    Ok(Common { session, findings })
}

/// The session of a conversation; none when its rows are another program's, or there are none.
fn conversed(
    transcript: &Transcript<Qoder>,
    file: &SessionFile,
    findings: &mut Vec<Finding>,
) -> Option<Session> {
    let body = &transcript.body;
    let (assembly, mut found) = claude_rows::read(&file.document);
    if matches!(assembly.shape(), Shape::Foreign) {
        return None;
    }
    let place = body.path().map(place::of);
    let agent = assembly.agent_id().cloned();
    let subagent = matches!(place, Some(Place::Subagent { .. }));
    let parent = assembly.first_session().cloned();
    let Assembled { mut session, findings: more } =
        assembly.finish(DECLARATION.id.as_str(), transcript.id.clone(), subagent);
    found.extend(more);
    claude_rows::number_lines(&file.document, &mut found);
    findings.extend(found.into_iter().map(|finding| match &file.path {
        Some(path) => finding.at_path(path),
        None => finding,
    }));
    if subagent {
        let meta = body.file(place::AGENT).and_then(|(_, file)| AgentMeta::read(file.document.bytes()));
        if let Some(description) = meta.as_ref().and_then(|meta| meta.description.as_ref()) {
            session.meta.offer_title(description, TitleOrigin::Agent);
        }
        let (parent_id, own) = match &place {
            Some(Place::Subagent { session, agent }) => {
                (Some(SessionId::from(session.as_str())), agent.strip_prefix("agent-"))
            }
            _ => (parent.map(SessionId::from), None),
        };
        session.lineage.push(spawned(parent_id, own.or(agent.as_deref()), meta.as_ref()));
    }
    Some(session)
}
