//! Finding, describing, loading, saving and deleting sessions.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use ibid_carrier::fingerprint::Fingerprint;
use ibid_carrier::jsonl::{Document, Limits};
use ibid_carrier::names::{inside, is_conflict_copy};
use ibid_carrier::plan::{Plan, Step};
use ibid_carrier::walk::{FileEntry, WalkOptions, list_files};
use ibid_carrier::{CarrierError, FileStamp};
use ibid_model::{CarrierInfo, CarrierRole, Finding, FindingKind, SessionId, TitleOrigin};

use super::codec::{foreign_content, id_of};
use super::place::{self, Named, named};
use super::{Body, ClaudeCode, DECLARATION, agents, running, subagent_id};
use crate::core::scan::{Control, Cursor, Sink, Wants};
use crate::core::{
    Class, Context, Deleting, Discovered, Listed, Listing, OpenIn, Reference, Root, SaveOptions, Saving,
    Store, StoreError, Surroundings, Transcript, path_text,
};
use crate::families::claude_rows::{self, Assembled, READ_WHOLE, Record, Shape, skim, spawned};

/// Directories of a project that hold no sessions.
const SKIPPED: &[&str] = &["tool-results", "workflows", "memory"];

impl Store for ClaudeCode {
    fn roots(machine: &Surroundings) -> Vec<Root> {
        place::roots(machine)
    }

    fn list(root: &Root, _: &Context<'_>) -> Listing {
        let projects = projects(&root.path);
        let present = !matches!(fs::metadata(&projects), Err(error) if error.kind() == ErrorKind::NotFound);
        let options = WalkOptions {
            extensions: &["jsonl"],
            max_depth: 5,
            skip_dirs: SKIPPED,
            ..WalkOptions::default()
        };
        let (files, findings) = list_files(&projects, &options);
        let sessions = files
            .into_iter()
            .filter(|file| is_transcript(&projects, &file.path))
            .map(|file| listed(&root.path, file))
            .collect();
        Listing { sessions, findings, present }
    }

    fn describe(listed: &Listed, context: &Context<'_>) -> Result<Discovered, StoreError> {
        describe(listed, READ_WHOLE, context.limits)
    }

    fn load(reference: &Reference, context: &Context<'_>) -> Result<Transcript<Self>, StoreError> {
        let path = &reference.path;
        let transcript = Document::read(path, context.limits)?;
        let agent_meta = match named(path) {
            Named::Subagent { .. } | Named::LooseSubagent(_) => {
                match Document::read(&place::agent_meta(path), context.limits) {
                    Ok(meta) => Some(meta),
                    Err(error) if error.is_absence() => None,
                    Err(error) => return Err(error.into()),
                }
            }
            _ => None,
        };
        let spawned_by = agents::spawner(path, agents::meta_of(path).as_ref(), context.limits);
        let id = match named(path) {
            Named::Session(id) => SessionId::from(id),
            Named::Subagent { session, agent, .. } => subagent_id(&session, &agent),
            Named::LooseSubagent(agent) => loose_id(spawned_by.as_ref(), &agent),
            Named::Other(stem) => id_of(&claude_rows::read(&transcript).0, Some(&stem)),
        };
        Ok(Transcript { id, body: Body { transcript, agent_meta, spawned_by } })
    }

    fn scan(
        reference: &Reference,
        from: &Cursor,
        wants: Wants,
        control: &Control<'_>,
        sink: &mut dyn Sink,
        context: &Context<'_>,
    ) -> Result<Cursor, StoreError> {
        super::scan::scan(reference, from, wants, control, sink, context)
    }

    fn children(reference: &Reference, context: &Context<'_>) -> Vec<Reference> {
        let started = agents::started_by(&reference.path, context.limits);
        started.into_iter().map(|path| Reference { path, ..reference.clone() }).collect()
    }

    fn save(
        transcript: &Transcript<Self>,
        options: &SaveOptions,
        context: &Context<'_>,
    ) -> Result<Saving, StoreError> {
        super::save::save(transcript, options, context)
    }

    fn open_in(reference: &Reference, _: &Context<'_>) -> Option<OpenIn> {
        let session = match named(&reference.path) {
            Named::Session(id) | Named::Subagent { session: id, .. } => id,
            Named::LooseSubagent(_) | Named::Other(_) => return None,
        };
        running::open_in(reference.root.parent()?, &session)
    }

    // The companions go too: `<id>/` beside `<id>.jsonl`, with the subagents in it.
    fn delete(reference: &Reference, _: &Context<'_>) -> Result<Deleting, StoreError> {
        let path = &reference.path;
        let not_found =
            || StoreError::NotFound { harness: DECLARATION.name, reference: reference.to_string() };
        let root = projects(&reference.root);
        inside(&root, path)?;
        let stamp = FileStamp::at(path)?.ok_or_else(not_found)?;
        if path.extension().is_none_or(|end| end != "jsonl") || !path.is_file() {
            return Err(not_found());
        }
        let mut steps = vec![Step::TrashFile { path: path.clone(), expected: Some(stamp.into()) }];
        match named(path) {
            Named::Subagent { .. } | Named::LooseSubagent(_) => {
                let meta = place::agent_meta(path);
                if let Some(stamp) = FileStamp::at(&meta)? {
                    steps.push(Step::TrashFile { path: meta, expected: Some(stamp.into()) });
                }
            }
            Named::Session(_) | Named::Other(_) => {
                let companions = place::companions(path);
                if companions.is_dir() && !companions.is_symlink() {
                    steps.push(Step::TrashDirectory { path: companions });
                }
            }
        }
        let name = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
        let plan = Plan::new(steps).label("harness", DECLARATION.id.as_str()).label("session", name);
        Ok(Deleting { plan, roots: vec![root] })
    }

    fn fingerprints(references: &[Reference], _: &Context<'_>) -> Vec<Result<Fingerprint, StoreError>> {
        let fingerprint = |reference: &Reference| {
            let path = &reference.path;
            match FileStamp::at(path)? {
                Some(stamp) => Ok(fingerprint(path, stamp).0),
                None => Err(CarrierError::NotFound { path: path.clone() }.into()),
            }
        };
        references.iter().map(fingerprint).collect()
    }

    fn recognises(path: &Path, head: &[u8]) -> u8 {
        if path.extension().is_some_and(|end| end != "jsonl") {
            return 0;
        }
        let document = Document::from_bytes(head.to_vec());
        let records = document.read_records(Record::read).items;
        let turns = records.iter().filter(|item| item.value.is_turn());
        let in_tree = turns
            .clone()
            .filter(|item| item.value.uuid.is_some() && item.value.ambient.session.is_some())
            .count();
        match (in_tree, turns.count()) {
            (0, 0) => 0,
            (0, _) => 40,
            _ => 90,
        }
    }
}

/// The directory of projects: the root itself, or `projects` in it, when a person named the
/// program's home.
pub(super) fn projects(root: &Path) -> PathBuf {
    let inner = root.join("projects");
    if inner.is_dir() { inner } else { root.to_owned() }
}

/// Whether a file below the projects is a transcript: directly in a project, or one of a
/// subagent. What else lies in the folder of a session belongs to it and is none.
fn is_transcript(projects: &Path, path: &Path) -> bool {
    let Ok(below) = path.strip_prefix(projects) else { return false };
    match below.components().count() {
        2 => true,
        0 | 1 => false,
        _ => matches!(named(path), Named::Subagent { .. }),
    }
}

fn listed(root: &Path, file: FileEntry) -> Listed {
    let (fingerprint, bytes) = fingerprint(&file.path, file.stamp);
    let reference = Reference { harness: DECLARATION.id, root: root.to_owned(), path: file.path, key: None };
    Listed { reference, fingerprint, bytes }
}

/// The listing of one transcript.
pub(super) fn listed_at(reference: &Reference) -> Option<Listed> {
    let stamp = FileStamp::at(&reference.path).ok().flatten()?;
    let (fingerprint, bytes) = fingerprint(&reference.path, stamp);
    Some(Listed { reference: reference.clone(), fingerprint, bytes })
}

/// The fingerprint over the carriers of a transcript, and their size.
fn fingerprint(path: &Path, stamp: FileStamp) -> (Fingerprint, u64) {
    let transcript = Fingerprint::of().stamped(path, Some(stamp));
    match named(path) {
        Named::Subagent { .. } | Named::LooseSubagent(_) => {
            let meta = place::agent_meta(path);
            let beside = FileStamp::at(&meta).ok().flatten();
            let size = beside.map_or(0, |stamp| stamp.size);
            (transcript.stamped(&meta, beside).finish(), stamp.size + size)
        }
        _ => (transcript.finish(), stamp.size),
    }
}

/// The id of a subagent beside the sessions.
fn loose_id(session: Option<&SessionId>, agent: &str) -> SessionId {
    match session {
        Some(session) => subagent_id(session.as_str(), agent),
        None => SessionId::from(format!("agent-{agent}")),
    }
}

/// Describes a file; those up to `read_whole` bytes are read whole.
pub(super) fn describe(listed: &Listed, read_whole: u64, limits: &Limits) -> Result<Discovered, StoreError> {
    let path = &listed.reference.path;
    let named = named(path);
    let by_name = matches!(named, Named::Subagent { .. } | Named::LooseSubagent(_));
    // The rows have to tell the id of a file whose name is none, and all of them are asked.
    let read_whole = if matches!(named, Named::Other(_)) { u64::MAX } else { read_whole };
    let stamp = FileStamp::at(path)?.ok_or_else(|| CarrierError::NotFound { path: path.clone() })?;
    let mut skimmed = skim(path, stamp.size, read_whole, by_name, limits)?;
    let assembly = &skimmed.assembly;
    let meta = by_name.then(|| agents::meta_of(path)).flatten();
    let spawned_by = agents::spawner(path, meta.as_ref(), limits);
    let agent = assembly.agent_id().cloned().filter(|_| matches!(named, Named::Other(_)));
    let subagent = by_name || agent.is_some();
    let id = match &named {
        Named::Session(id) => SessionId::from(id.as_str()),
        Named::Subagent { session, agent, .. } => subagent_id(session, agent),
        Named::LooseSubagent(agent) => loose_id(spawned_by.as_ref(), agent),
        Named::Other(stem) => id_of(assembly, Some(stem)),
    };
    let class = match assembly.shape() {
        Shape::Foreign => Class::Foreign,
        Shape::Empty => Class::Other,
        _ if subagent => Class::Sidecar,
        Shape::Partial => Class::Partial,
        Shape::Whole => Class::Session,
    };
    let first_session = assembly.first_session().cloned();
    let mut findings = std::mem::take(&mut skimmed.findings);
    let (mut list, mut lineage) = match skimmed.whole {
        true => {
            let Assembled { session, findings: more } =
                skimmed.assembly.finish(DECLARATION.id.as_str(), id.clone(), subagent);
            findings.extend(more);
            (session.meta, session.lineage)
        }
        false => (skimmed.meta(subagent), Vec::new()),
    };
    if subagent {
        if let Some(description) = meta.as_ref().and_then(|meta| meta.description.as_ref()) {
            list.offer_title(description, TitleOrigin::Agent);
        }
        let own = id.as_str().rsplit_once('/').map(|(_, agent)| agent).or(agent.as_deref());
        let parent = spawned_by.or(first_session.map(SessionId::from));
        lineage.push(spawned(parent, own, meta.as_ref()));
    }
    if class == Class::Foreign {
        findings.push(foreign_content());
    }
    if is_conflict_copy(&path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default())
    {
        findings.push(Finding::new(FindingKind::ConflictCopy, "the name is one that a copy gets"));
    }
    // https://github.com/kenn-io/agentsview/issues/382 (fault 52)
    if let Named::Subagent { parent, session, .. } = &named
        && !parent.exists()
    {
        let detail = format!("the session {session} that started the subagent is not there");
        findings.push(Finding::new(FindingKind::MissingParent, detail));
    }
    let at_path = |finding: Finding| if finding.path.is_some() { finding } else { finding.at_path(path) };
    Ok(Discovered {
        reference: listed.reference.clone(),
        class,
        id,
        meta: list,
        lineage,
        carriers: carriers(path, stamp),
        fingerprint: fingerprint(path, stamp).0,
        bytes: fingerprint(path, stamp).1,
        findings: findings.into_iter().map(at_path).collect(),
    })
}

fn carriers(path: &Path, stamp: FileStamp) -> Vec<CarrierInfo> {
    let info =
        |path: &Path, role, bytes| CarrierInfo { path: path_text(path), role, key: None, bytes: Some(bytes) };
    let mut carriers = vec![info(path, CarrierRole::Transcript, stamp.size)];
    if matches!(named(path), Named::Subagent { .. } | Named::LooseSubagent(_)) {
        let meta = place::agent_meta(path);
        if let Ok(Some(stamp)) = FileStamp::at(&meta) {
            carriers.push(info(&meta, CarrierRole::Metadata, stamp.size));
        }
    }
    carriers
}
