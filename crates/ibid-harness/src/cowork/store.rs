//! Finding, describing, loading, saving and deleting sessions.

use std::path::{Path, PathBuf};

use ibid_carrier::fingerprint::Fingerprint;
use ibid_carrier::names::{inside, is_conflict_copy};
use ibid_carrier::plan::{ContentStamp, Plan, Step};
use ibid_model::{Finding, FindingKind};
use rayon::prelude::*;
use uuid::Uuid;

use super::accounts::{accounts, records};
use super::describe::{fingerprint, spawner};
use super::files::Files;
use super::load::{absent, parent_id};
use super::place::{self, AGENT};
use super::{Cowork, DECLARATION, subagent_id};
use crate::core::scan::{Control, Cursor, Sink, Wants};
use crate::core::{
    Context, Deleting, Discovered, Listed, Listing, Reference, Root, SaveOptions, Saving, Store, StoreError,
    Surroundings, Transcript,
};

impl Store for Cowork {
    fn roots(machine: &Surroundings) -> Vec<Root> {
        place::roots(machine)
    }

    fn list(root: &Root, _: &Context<'_>) -> Listing {
        let root = &root.path;
        let mut listing = Listing { present: root.symlink_metadata().is_ok(), ..Listing::default() };
        let found: Vec<PathBuf> = accounts(root, &mut listing.findings)
            .iter()
            .flat_map(|account| records(root, account, &mut listing.findings))
            .collect();
        let found = without_copies(found, &mut listing.findings);
        let listed: Vec<(Vec<Listed>, Vec<Finding>)> =
            found.par_iter().map(|record| list_session(root, record)).collect();
        for (sessions, findings) in listed {
            listing.sessions.extend(sessions);
            listing.findings.extend(findings);
        }
        listing.sessions.sort_by(|a, b| a.reference.cmp(&b.reference));
        listing
    }

    fn describe(listed: &Listed, context: &Context<'_>) -> Result<Discovered, StoreError> {
        super::describe::describe(listed, context)
    }

    fn load(reference: &Reference, context: &Context<'_>) -> Result<Transcript<Self>, StoreError> {
        super::load::load(reference, context)
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
        let own = place::subagent(&reference.path);
        let record = own.as_ref().map_or_else(|| reference.path.clone(), |own| own.record.clone());
        let Ok(files) = Files::of(&reference.root, &record) else { return Vec::new() };
        let session = parent_id(&record, context);
        let above = match &own {
            Some(own) => subagent_id(session.as_str(), &own.agent),
            None => session.clone(),
        };
        let mut children = Vec::new();
        for file in files.subagents(&mut Vec::new()) {
            let Some(place) = place::subagent(&file.path) else { continue };
            if file.path != reference.path && spawner(&file.path, &place, &session, context) == above {
                children.push(Reference { path: file.path.clone(), ..reference.clone() });
            }
        }
        children
    }

    fn save(
        transcript: &Transcript<Self>,
        options: &SaveOptions,
        context: &Context<'_>,
    ) -> Result<Saving, StoreError> {
        super::save::save(transcript, options, context)
    }

    fn delete(reference: &Reference, _: &Context<'_>) -> Result<Deleting, StoreError> {
        delete(reference)
    }

    fn fingerprints(references: &[Reference], _: &Context<'_>) -> Vec<Result<Fingerprint, StoreError>> {
        references.iter().map(fingerprint).collect()
    }

    fn recognises(path: &Path, head: &[u8]) -> u8 {
        let head = head.trim_ascii_start();
        let has = |key: &[u8]| memchr::memmem::find(head, key).is_some();
        if head.first() != Some(&b'{') || !has(br#""sessionId""#) {
            return 0;
        }
        if place::is_record(path) {
            return if has(br#""cliSessionId""#) || has(br#""processName""#) { 95 } else { 60 };
        }
        let bundle = head.get(1..).unwrap_or_default().trim_ascii_start().starts_with(br#""header""#);
        if bundle && has(br#""processName""#) { 90 } else { 0 }
    }
}

/// A session and its subagents.
fn list_session(root: &Path, record: &Path) -> (Vec<Listed>, Vec<Finding>) {
    let files = match Files::of(root, record) {
        Ok(files) => files,
        Err(error) if error.is_absence() => return (Vec::new(), Vec::new()),
        Err(error) => {
            let finding = Finding::new(FindingKind::Unreadable, error.to_string()).at_path(record);
            return (Vec::new(), vec![finding]);
        }
    };
    let reference = |path: &Path| Reference {
        harness: DECLARATION.id,
        root: root.to_owned(),
        path: path.to_owned(),
        key: None,
    };
    let mut findings = Vec::new();
    let mut listed =
        vec![Listed { reference: reference(record), fingerprint: files.fingerprint(), bytes: files.bytes() }];
    for file in files.subagents(&mut findings) {
        let meta = files.agent_meta(&file.path).map_or(0, |meta| meta.stamp.size);
        listed.push(Listed {
            reference: reference(&file.path),
            fingerprint: files.subagent_fingerprint(file),
            bytes: file.stamp.size + meta,
        });
    }
    (listed, findings)
}

/// The records without those that a synchronisation program made of another one, which are named.
// https://github.com/vshulcz/deja-vu/issues/1775 (fault 54)
fn without_copies(records: Vec<PathBuf>, findings: &mut Vec<Finding>) -> Vec<PathBuf> {
    let is_copy = |path: &Path| {
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let stem = place::stem(path);
        let original = |other: &PathBuf| {
            other.parent() == path.parent()
                && other.as_path() != path
                && stem.starts_with(&place::stem(other))
        };
        is_conflict_copy(&name) && records.iter().any(original)
    };
    let (copies, kept): (Vec<PathBuf>, Vec<PathBuf>) =
        records.iter().cloned().partition(|path| is_copy(path));
    findings.extend(copies.iter().map(|path| {
        let detail = "a copy of the record of the same name; the other is listed";
        Finding::new(FindingKind::ConflictCopy, detail).at_path(path)
    }));
    kept
}

/// The record first, so that the session is out of sight, then everything of it. Only what lies
/// exactly at `<root>/<organisation>/<account>/[agent/]local_*.json` is taken for a record, and
/// only what lies in the folder of such a one for its subagent.
fn delete(reference: &Reference) -> Result<Deleting, StoreError> {
    let path = &reference.path;
    let not_found = || StoreError::NotFound { harness: DECLARATION.name, reference: reference.to_string() };
    let real = |path: &Path| inside(&reference.root, path).map_err(|error| absent(reference, error));
    let subagent = place::subagent(path);
    let storage = place::storage(subagent.as_ref().map_or(path, |own| &own.record));
    let (real_root, real_path) = (real(&reference.root)?, real(path)?);
    let real_storage = match &subagent {
        Some(_) => real(&storage)?,
        None => place::storage(&real_path),
    };
    let below = real_storage.strip_prefix(&real_root).map_err(|_| not_found())?;
    if path.is_symlink() || !path.is_file() || !is_place_of_session(below) {
        return Err(not_found());
    }
    let trash = |path: PathBuf| {
        let expected = ContentStamp::of(&path).map_err(|_| not_found())?;
        Ok::<_, StoreError>(Step::TrashFile { path, expected: Some(expected) })
    };
    let mut steps = vec![trash(path.clone())?];
    if subagent.is_some() {
        if !real_path.starts_with(&real_storage) {
            return Err(not_found());
        }
        let meta = place::agent_meta(path);
        if meta.is_file() && !meta.is_symlink() {
            steps.push(trash(meta)?);
        }
    } else if !place::is_record(path) {
        return Err(not_found());
    } else if storage.is_dir() && !storage.is_symlink() {
        steps.push(Step::TrashDirectory { path: storage });
    }
    let plan = Plan::new(steps).label("harness", DECLARATION.id.as_str()).label("session", place::stem(path));
    Ok(Deleting { plan, roots: vec![reference.root.clone()] })
}

/// Whether a path below the root is where the folder of a session lies, or would lie.
fn is_place_of_session(below: &Path) -> bool {
    let parts: Vec<String> = below.iter().map(|part| part.to_string_lossy().into_owned()).collect();
    let is_uuid = |name: &String| Uuid::parse_str(name).is_ok();
    let (organisation, account) = match parts.as_slice() {
        [organisation, account, _] => (organisation, account),
        [organisation, account, agent, _] if agent == AGENT => (organisation, account),
        _ => return false,
    };
    is_uuid(organisation) && is_uuid(account) && place::is_record(&below.with_extension("json"))
}
