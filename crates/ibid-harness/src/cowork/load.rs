//! Reading a session whole.

use std::path::Path;

use ibid_carrier::jsonl::Document;
use ibid_carrier::{CarrierError, names::inside};
use ibid_model::{Finding, FindingKind, SessionId, Text};

use super::body::{Beside, Body, SessionBody, SubagentBody};
use super::files::Files;
use super::place::{self, AGENT, SubagentPlace};
use super::record::Record;
use super::{Cowork, DECLARATION, subagent_id, text};
use crate::core::{CodecError, Context, Reference, StoreError, Transcript};

/// Loads a session, a subagent of one, or a bundle that a person named.
///
/// # Errors
/// When the record is not there, is none, or lies outside the root.
pub(super) fn load(reference: &Reference, context: &Context<'_>) -> Result<Transcript<Cowork>, StoreError> {
    match place::subagent(&reference.path) {
        Some(subagent) => load_subagent(reference, &subagent, context),
        None => load_session(reference, context),
    }
}

fn load_session(reference: &Reference, context: &Context<'_>) -> Result<Transcript<Cowork>, StoreError> {
    let files = Files::of(&reference.root, &reference.path).map_err(|error| absent(reference, error))?;
    let document = Document::read(&reference.path, context.limits)?;
    if !place::is_record(&reference.path)
        && let Ok(bundle) = text::read(document.bytes())
    {
        return Ok(bundle);
    }
    let record = read_record(&document)?;
    let mut findings = files.findings.clone();
    let cli = record.cli_session_id.as_ref();
    let live = cli.and_then(|cli| files.transcript(cli, context.limits, &mut findings));
    let transcript = live.and_then(|entry| readable(&entry.path, context, &mut findings));
    let audit = files.audit.as_ref().and_then(|entry| readable(&entry.path, context, &mut findings));
    let folder = files.projects_folder();
    let mut beside = Vec::new();
    for entry in files.projects.iter().filter(|entry| live.is_none_or(|live| live.path != entry.path)) {
        let Ok(place) = entry.path.strip_prefix(&folder) else { continue };
        if let Some(document) = readable(&entry.path, context, &mut findings) {
            beside.push(Beside { place: place.to_owned(), document });
        }
    }
    let id = id_of(&record, &reference.path);
    let body = SessionBody {
        record: document,
        transcript,
        audit,
        beside,
        companions: files.companions,
        agent: reference.path.parent().is_some_and(|folder| folder.ends_with(AGENT)),
        converted: false,
        findings,
    };
    Ok(Transcript { id, body: Body::Session(Box::new(body)) })
}

fn load_subagent(
    reference: &Reference,
    place: &SubagentPlace,
    context: &Context<'_>,
) -> Result<Transcript<Cowork>, StoreError> {
    inside(&reference.root, &reference.path).map_err(|error| absent(reference, error))?;
    let transcript = Document::read(&reference.path, context.limits)?;
    let mut findings = Vec::new();
    let meta = place::agent_meta(&reference.path);
    let meta = match meta.symlink_metadata() {
        Ok(_) if inside(&reference.root, &meta).is_ok() => readable(&meta, context, &mut findings),
        _ => None,
    };
    let session = parent_id(&place.record, context);
    let id = subagent_id(session.as_str(), &place.agent);
    let spawned_by = Some(super::describe::spawner(&reference.path, place, &session, context));
    Ok(Transcript {
        id,
        body: Body::Subagent(Box::new(SubagentBody { transcript, meta, spawned_by, findings })),
    })
}

/// The id of the session whose record this is, as far as the record can be read.
pub(super) fn parent_id(record: &Path, context: &Context<'_>) -> SessionId {
    let document = Document::read(record, context.limits).ok();
    let read = document.and_then(|document| Record::read(document.bytes()).ok());
    read.map_or_else(|| SessionId::from(place::stem(record)), |read| id_of(&read, record))
}

/// The id of a session: its record's, else the name of the record's file.
pub(super) fn id_of(record: &Record, path: &Path) -> SessionId {
    SessionId::from(record.id().cloned().unwrap_or_else(|| Text::from(place::stem(path))))
}

/// The fields of a record in the store, which has to say which session it is.
///
/// # Errors
/// When it is none, or has no id at all.
pub(super) fn read_record(document: &Document) -> Result<Record, CodecError> {
    let foreign = |reason: String| CodecError::Foreign { harness: DECLARATION.name, reason };
    let record =
        Record::read(document.bytes()).map_err(|reason| foreign(format!("of the record, {reason}")))?;
    match record.session_id {
        Some(_) => Ok(record),
        None => Err(foreign("the record has no sessionId".to_owned())),
    }
}

/// A file that the session can be without: when it cannot be read, that is a finding.
fn readable(path: &Path, context: &Context<'_>, findings: &mut Vec<Finding>) -> Option<Document> {
    match Document::read(path, context.limits) {
        Ok(document) => Some(document),
        Err(error) => {
            let kind = match error {
                CarrierError::TooLarge { .. } => FindingKind::Oversize,
                _ => FindingKind::Unreadable,
            };
            findings.push(Finding::new(kind, error.to_string()).at_path(path));
            None
        }
    }
}

pub(super) fn absent(reference: &Reference, error: CarrierError) -> StoreError {
    if error.is_absence() {
        StoreError::NotFound { harness: DECLARATION.name, reference: reference.to_string() }
    } else {
        error.into()
    }
}
