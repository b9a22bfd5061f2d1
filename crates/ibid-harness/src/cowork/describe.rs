//! What a list shows of a session, without reading all of it.

use std::path::Path;

use ibid_carrier::FileStamp;
use ibid_carrier::fingerprint::Fingerprint;
use ibid_carrier::jsonl::Document;
use ibid_carrier::names::{inside, is_conflict_copy};
use ibid_carrier::walk::FileEntry;
use ibid_model::{CarrierInfo, CarrierRole, Finding, FindingKind, Lineage, Meta, SessionId, TitleOrigin};

use super::body::{companion, infos};
use super::files::Files;
use super::load::{absent, id_of, load, parent_id, read_record};
use super::place::{self, SubagentPlace};
use super::{Cowork, DECLARATION, record, subagent_id};
use crate::core::{Class, Codec, Context, Discovered, Listed, Reference, StoreError, path_text};
use crate::families::claude_rows::{self, AgentMeta, Assembled, READ_WHOLE, Shape, skim, spawned};

/// The largest description of a subagent that is read.
const META_BYTES: u64 = 1 << 20;

/// Describes a session or a subagent.
///
/// # Errors
/// When the record, or the subagent's transcript, cannot be read.
pub(super) fn describe(listed: &Listed, context: &Context<'_>) -> Result<Discovered, StoreError> {
    let path = &listed.reference.path;
    match place::subagent(path) {
        Some(subagent) => describe_subagent(listed, &subagent, context),
        None if place::is_record(path) => describe_session(listed, READ_WHOLE, context),
        None => describe_bundle(listed, context),
    }
}

/// What a transcript says to a list.
struct Told {
    meta: Meta,
    lineage: Vec<Lineage>,
    shape: Shape,
}

/// Describes a session; transcripts up to `read_whole` bytes are read whole.
pub(super) fn describe_session(
    listed: &Listed,
    read_whole: u64,
    context: &Context<'_>,
) -> Result<Discovered, StoreError> {
    let reference = &listed.reference;
    let path = &reference.path;
    let files = Files::of(&reference.root, path).map_err(|error| absent(reference, error))?;
    let document = Document::read(path, context.limits)?;
    let record = read_record(&document)?;
    let mut findings: Vec<Finding> =
        record::at(Some(path), document.findings().iter().chain(&record.findings).cloned().collect())
            .collect();
    findings.extend(named_otherwise(&record, path));
    findings.extend(files.findings.iter().cloned());
    let id = id_of(&record, path);
    let cli = record.cli_session_id.as_ref();
    let live = cli.and_then(|cli| files.transcript(cli, context.limits, &mut findings));
    let told = live.and_then(|live| tell(live, read_whole, &id, false, context, &mut findings));
    let readable = told.is_some();
    let told = told.unwrap_or(Told { meta: Meta::default(), lineage: Vec::new(), shape: Shape::Empty });
    Ok(Discovered {
        reference: reference.clone(),
        class: if told.shape == Shape::Partial { Class::Partial } else { Class::Session },
        id,
        meta: record.facts(told.meta),
        lineage: told.lineage,
        carriers: carriers(&files, live, readable),
        fingerprint: files.fingerprint(),
        bytes: files.bytes(),
        findings,
    })
}

/// A record that names another session than its file does, or is a copy.
pub(super) fn named_otherwise(record: &record::Record, path: &Path) -> Vec<Finding> {
    let mut findings = Vec::new();
    let stem = place::stem(path);
    let copy = path.file_name().is_some_and(|name| is_conflict_copy(&name.to_string_lossy()));
    // https://github.com/vshulcz/deja-vu/issues/1775 (fault 54)
    if copy {
        let finding = Finding::new(FindingKind::ConflictCopy, "its name is one that a copy gets");
        findings.push(finding.at_path(path));
    } else if record.id().is_some_and(|id| *id != stem.as_str()) {
        let detail = "its sessionId is not the name of its file; the sessionId counts";
        findings.push(Finding::new(FindingKind::MalformedRecord, detail).at_path(path));
    }
    findings
}

/// What a transcript says; none when it cannot be read, which is a finding.
fn tell(
    transcript: &FileEntry,
    read_whole: u64,
    id: &SessionId,
    subagent: bool,
    context: &Context<'_>,
    findings: &mut Vec<Finding>,
) -> Option<Told> {
    let path = &transcript.path;
    let mut skimmed = match skim(path, transcript.stamp.size, read_whole, subagent, context.limits) {
        Ok(skimmed) => skimmed,
        Err(error) => {
            findings.push(Finding::new(FindingKind::Unreadable, error.to_string()).at_path(path));
            return None;
        }
    };
    findings.extend(record::at(Some(path), std::mem::take(&mut skimmed.findings)));
    let shape = skimmed.assembly.shape();
    if shape == Shape::Foreign {
        findings.push(foreign_content(path));
    }
    let (meta, lineage) = if skimmed.whole {
        let Assembled { session, findings: more } =
            skimmed.assembly.finish(DECLARATION.id.as_str(), id.clone(), subagent);
        findings.extend(record::at(Some(path), more));
        (session.meta, session.lineage)
    } else {
        (skimmed.meta(subagent), Vec::new())
    };
    Some(Told { meta, lineage, shape })
}

/// What is said of a transcript whose rows are another program's.
pub(super) fn foreign_content(path: &Path) -> Finding {
    let detail = "there are no rows of type user or assistant with a message";
    Finding::new(FindingKind::ForeignContent, detail).at_path(path)
}

fn info(entry: &FileEntry, role: CarrierRole) -> CarrierInfo {
    CarrierInfo { path: path_text(&entry.path), role, key: None, bytes: Some(entry.stamp.size) }
}

/// The carriers in the order of [`super::Body`].
fn carriers(files: &Files, live: Option<&FileEntry>, readable: bool) -> Vec<CarrierInfo> {
    let mut carriers = Vec::new();
    carriers.extend(live.filter(|_| readable).map(|entry| info(entry, CarrierRole::Transcript)));
    carriers.push(info(&files.record, CarrierRole::Record));
    carriers.extend(files.audit.iter().map(|entry| info(entry, CarrierRole::Audit)));
    let beside = files.projects.iter().filter(|entry| live.is_none_or(|live| live.path != entry.path));
    carriers.extend(beside.map(|entry| info(entry, CarrierRole::Metadata)));
    carriers.extend(files.companions.iter().map(|folder| companion(folder)));
    carriers
}

fn describe_subagent(
    listed: &Listed,
    place: &SubagentPlace,
    context: &Context<'_>,
) -> Result<Discovered, StoreError> {
    let reference = &listed.reference;
    let path = &reference.path;
    inside(&reference.root, path).map_err(|error| absent(reference, error))?;
    let not_found = || StoreError::NotFound { harness: DECLARATION.name, reference: reference.to_string() };
    let entry = FileEntry { path: path.clone(), stamp: FileStamp::at(path)?.ok_or_else(not_found)? };
    let session = parent_id(&place.record, context);
    let id = subagent_id(session.as_str(), &place.agent);
    let mut findings = Vec::new();
    let told = tell(&entry, READ_WHOLE, &id, true, context, &mut findings);
    let mut told = told.ok_or_else(|| unreadable(&findings, path))?;
    let meta = meta_of(path);
    if let Some(description) = meta.as_ref().and_then(|meta| meta.description.as_ref()) {
        told.meta.offer_title(description, TitleOrigin::Agent);
    }
    let spawner = spawner(path, place, &session, context);
    told.lineage.push(spawned(Some(spawner), Some(&place.agent), meta.as_ref()));
    findings.extend(missing_parent(place));
    let mut carriers = vec![info(&entry, CarrierRole::Transcript)];
    let beside = place::agent_meta(path);
    let stamp = FileStamp::at(&beside).ok().flatten();
    let meta_entry = stamp.map(|stamp| FileEntry { path: beside, stamp });
    carriers.extend(meta_entry.iter().map(|entry| info(entry, CarrierRole::Metadata)));
    Ok(Discovered {
        reference: reference.clone(),
        class: Class::Sidecar,
        id,
        meta: told.meta,
        lineage: told.lineage,
        bytes: entry.stamp.size + meta_entry.map_or(0, |entry| entry.stamp.size),
        carriers,
        fingerprint: fingerprint(reference)?,
        findings,
    })
}

fn unreadable(findings: &[Finding], path: &Path) -> StoreError {
    let said = findings.iter().find(|finding| finding.kind == FindingKind::Unreadable);
    let reason = said.map_or_else(|| path.display().to_string(), |finding| finding.detail.to_string());
    crate::core::CodecError::Foreign { harness: DECLARATION.name, reason }.into()
}

/// What is said of a subagent whose session's record is not there.
// https://github.com/kenn-io/agentsview/issues/382 (fault 52)
pub(super) fn missing_parent(place: &SubagentPlace) -> Option<Finding> {
    let detail = "the record of the session that started the subagent is not there";
    (!place.record.exists()).then(|| Finding::new(FindingKind::MissingParent, detail).at_path(&place.record))
}

/// What the document beside a subagent's transcript says.
pub(super) fn meta_of(transcript: &Path) -> Option<AgentMeta> {
    let path = place::agent_meta(transcript);
    let small = std::fs::metadata(&path).is_ok_and(|meta| meta.is_file() && meta.len() <= META_BYTES);
    AgentMeta::read(&small.then(|| std::fs::read(&path).ok()).flatten()?)
}

/// What started a subagent: its session, unless another subagent made the call.
// https://github.com/kenn-io/agentsview/issues/1246 (fault 52)
pub(super) fn spawner(
    transcript: &Path,
    place: &SubagentPlace,
    session: &SessionId,
    context: &Context<'_>,
) -> SessionId {
    let meta = meta_of(transcript);
    let other = claude_rows::calling_subagent(transcript, &place.agent, meta.as_ref(), context.limits);
    match other.as_deref().and_then(place::agent_name) {
        Some(agent) => subagent_id(session.as_str(), &agent),
        None => session.clone(),
    }
}

/// A bundle that a person named by its path.
fn describe_bundle(listed: &Listed, context: &Context<'_>) -> Result<Discovered, StoreError> {
    let transcript = load(&listed.reference, context)?;
    let common = Cowork::to_common(&transcript)?;
    Ok(Discovered {
        reference: listed.reference.clone(),
        class: Class::Session,
        id: common.session.id,
        meta: common.session.meta,
        lineage: common.session.lineage,
        carriers: infos(&transcript.body),
        fingerprint: Fingerprint::of_file(&listed.reference.path)?,
        bytes: listed.bytes,
        findings: common.findings,
    })
}

/// The carriers of what a reference names, as they are now.
///
/// # Errors
/// When it is not there.
pub(super) fn fingerprint(reference: &Reference) -> Result<Fingerprint, StoreError> {
    let not_found = || StoreError::NotFound { harness: DECLARATION.name, reference: reference.to_string() };
    let Some(place) = place::subagent(&reference.path) else {
        if !place::is_record(&reference.path) {
            return Ok(Fingerprint::of_file(&reference.path)?);
        }
        let files = Files::of(&reference.root, &reference.path);
        return Ok(files.map_err(|error| absent(reference, error))?.fingerprint());
    };
    let stamp = FileStamp::at(&reference.path)?.ok_or_else(not_found)?;
    let entry = FileEntry { path: reference.path.clone(), stamp };
    match Files::of(&reference.root, &place.record) {
        Ok(files) => Ok(files.subagent_fingerprint(&entry)),
        Err(error) if error.is_absence() => Ok(Fingerprint::of_file(&reference.path)?),
        Err(error) => Err(error.into()),
    }
}
