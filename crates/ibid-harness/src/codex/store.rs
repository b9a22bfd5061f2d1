//! Where rollouts lie: found, loaded, saved, deleted.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use bytes::Bytes;
use ibid_carrier::CarrierError;
use ibid_carrier::fingerprint::Fingerprint;
use ibid_carrier::jsonl::Document;
use ibid_carrier::names::{checked_component, inside};
use ibid_carrier::plan::{Content, ContentStamp, Plan, Step};
use ibid_model::{Losses, SessionId, Text};

use super::codec::{header, read_records};
use super::files::{self, FOLDERS, Group, History};
use super::names::RolloutName;
use super::records::Body;
use super::{Codex, DECLARATION, Rollout, Rollouts, children, describe, names, scan, thread_names, whole};
use crate::core::open::{file_holder, lock_holder};
use crate::core::scan::{Control, Cursor, Sink, Wants};
use crate::core::{
    Context, Deleting, Discovered, Listed, Listing, OpenIn, Reference, Root, RootOrigin, SaveOptions, Saving,
    Store, StoreError, Surroundings, Transcript, derived_uuid,
};

/// The folder of locks, one for each thread that was ever loaded.
const WRITER_LOCKS: &str = "thread-writer-locks";

/// The variable that names the root.
const HOME: &str = "CODEX_HOME";

impl Store for Codex {
    // https://github.com/specstoryai/getspecstory/issues/136 (fault 36)
    fn roots(machine: &Surroundings) -> Vec<Root> {
        let root = match machine.directory(HOME) {
            Some(path) => Root { path, origin: RootOrigin::Variable(HOME) },
            None => Root { path: machine.home().join(".codex"), origin: RootOrigin::Default },
        };
        vec![root]
    }

    fn list(root: &Root, _: &Context<'_>) -> Listing {
        let (files, mut findings) = files::rollouts(&root.path);
        let (groups, variants) = files::groups(files);
        findings.extend(variants);
        let names = thread_names::all(&root.path);
        let sessions = groups.into_iter().filter_map(|group| listed(&group, &root.path, &names)).collect();
        Listing { sessions, findings, present: root.path.symlink_metadata().is_ok() }
    }

    fn describe(listed: &Listed, context: &Context<'_>) -> Result<Discovered, StoreError> {
        describe::describe(listed, context)
    }

    fn load(reference: &Reference, context: &Context<'_>) -> Result<Transcript<Codex>, StoreError> {
        let history = History::of(&reference.path, &reference.root, context.limits)
            .map_err(|error| not_found(error, reference))?;
        let read_all = |paths: Vec<PathBuf>| -> Result<Vec<Rollout>, StoreError> {
            paths.iter().map(|path| read(path, reference, context)).collect()
        };
        let files = read_all(history.own)?;
        let base = read_all(history.base)?;
        let id = id_of(&files, &reference.path);
        let name = thread_names::of(&reference.root, id.as_str());
        Ok(Transcript { id, body: Rollouts { files, base, name } })
    }

    fn scan(
        reference: &Reference,
        from: &Cursor,
        wants: Wants,
        control: &Control<'_>,
        sink: &mut dyn Sink,
        context: &Context<'_>,
    ) -> Result<Cursor, StoreError> {
        scan::scan(reference, from, wants, control, sink, context)
    }

    fn children(reference: &Reference, context: &Context<'_>) -> Vec<Reference> {
        children::children(reference, context)
    }

    fn save(
        transcript: &Transcript<Codex>,
        options: &SaveOptions,
        context: &Context<'_>,
    ) -> Result<Saving, StoreError> {
        save(transcript, options, context)
    }

    fn delete(reference: &Reference, context: &Context<'_>) -> Result<Deleting, StoreError> {
        let missing = || StoreError::NotFound { harness: DECLARATION.name, reference: reference.to_string() };
        let name = reference.path.file_name().and_then(|name| name.to_str());
        name.and_then(RolloutName::of).ok_or_else(missing)?;
        let chain = files::chain(&reference.path, &reference.root, context.limits)
            .map_err(|error| not_found(error, reference))?;
        let mut steps = Vec::with_capacity(chain.len());
        // The live file first: it makes the thread what it is.
        for path in chain.into_iter().rev() {
            inside_any(&folders(&reference.root), &path)?;
            let expected = ContentStamp::of(&path).map_err(|_| missing())?;
            steps.push(Step::TrashFile { path, expected: Some(expected) });
        }
        let plan = Plan::new(steps).label("harness", DECLARATION.id.as_str());
        Ok(Deleting { plan, roots: folders(&reference.root) })
    }

    // Measured with 0.171.0: it holds an exclusive lock on a file while the thread is loaded, and leaves
    // the file behind. 0.100.0 has no such file; both keep the rollout itself open.
    fn open_in(reference: &Reference, _: &Context<'_>) -> Option<OpenIn> {
        let name = reference.path.file_name()?.to_str().and_then(RolloutName::of)?;
        let lock = reference.root.join(WRITER_LOCKS).join(format!("{}.lock", name.thread));
        // A shared lock is what can be had for a moment unless somebody writes.
        let held = ibid_carrier::file::open(&lock)
            .is_ok_and(|(file, _)| matches!(file.try_lock_shared(), Err(std::fs::TryLockError::WouldBlock)));
        if held {
            return Some(OpenIn { process: lock_holder(&lock), sign: lock.display().to_string() });
        }
        let process = file_holder(&reference.path)?;
        Some(OpenIn { process: Some(process), sign: "it has the rollout open".to_owned() })
    }

    fn fingerprints(references: &[Reference], _: &Context<'_>) -> Vec<Result<Fingerprint, StoreError>> {
        let mut roots: HashMap<&Path, HashMap<PathBuf, Fingerprint>> = HashMap::new();
        references
            .iter()
            .map(|reference| {
                let root = roots.entry(&reference.root).or_insert_with(|| current(&reference.root));
                root.get(&reference.path).cloned().ok_or_else(|| StoreError::NotFound {
                    harness: DECLARATION.name,
                    reference: reference.to_string(),
                })
            })
            .collect()
    }

    fn recognises(path: &Path, head: &[u8]) -> u8 {
        let name = path.file_name().and_then(|name| name.to_str());
        let named = name.and_then(RolloutName::of).is_some();
        let (items, _) = read_records(&Document::from_bytes(head.to_vec()));
        let first = items.into_iter().map(|item| item.value.body).find(|body| !matches!(body, Body::Quiet));
        match (first, named) {
            (Some(Body::Meta(_)), true) => 95,
            (Some(Body::Meta(meta)), false) => {
                // A bare header is told by its neighbours only; one in the envelope by itself. A
                // document with its messages on one line is no header.
                let document = memchr::memmem::find(head, b"\"messages\"").is_some();
                match meta.originator.is_some() || meta.version.is_some() {
                    true => 80,
                    false if document => 5,
                    false => 30,
                }
            }
            (Some(Body::Stranger) | None, true) => 5,
            (Some(Body::Stranger) | None, false) => 0,
            (Some(Body::Stream), _) => 20,
            (Some(_), true) => 85,
            (Some(_), false) => 40,
        }
    }
}

fn listed(group: &Group, root: &Path, names: &HashMap<String, Text>) -> Option<Listed> {
    let live = group.live()?;
    let name = live.name().and_then(|name| names.get(name.thread));
    let reference =
        Reference { harness: DECLARATION.id, root: root.to_owned(), path: live.path.clone(), key: None };
    Some(Listed { reference, fingerprint: group.fingerprint(name), bytes: group.bytes() })
}

/// The fingerprints of all sessions of a root as they are now.
fn current(root: &Path) -> HashMap<PathBuf, Fingerprint> {
    let names = thread_names::all(root);
    let (groups, _) = files::groups(files::rollouts(root).0);
    let listed = groups.iter().filter_map(|group| listed(group, root, &names));
    listed.map(|listed| (listed.reference.path, listed.fingerprint)).collect()
}

pub(super) fn not_found(error: CarrierError, reference: &Reference) -> StoreError {
    match error {
        CarrierError::NotFound { .. } => {
            StoreError::NotFound { harness: DECLARATION.name, reference: reference.to_string() }
        }
        error => error.into(),
    }
}

fn read(path: &Path, reference: &Reference, context: &Context<'_>) -> Result<Rollout, StoreError> {
    let document = Document::read(path, context.limits).map_err(|error| not_found(error, reference))?;
    let stored = match document.was_compressed() {
        true => Some(Bytes::from(std::fs::read(path).map_err(|error| CarrierError::io(path, error))?)),
        false => None,
    };
    Ok(Rollout { document, place: place_of(path, &reference.root), stored })
}

/// The place of a file below the root, when it lies in one of its folders.
fn place_of(path: &Path, root: &Path) -> Option<String> {
    let parts: Option<Vec<&str>> =
        path.strip_prefix(root).ok()?.components().map(|part| part.as_os_str().to_str()).collect();
    let parts = parts?;
    FOLDERS.contains(parts.first()?).then(|| parts.join("/"))
}

/// The id that a file says, else the one in its name.
pub(super) fn id_of(files: &[Rollout], path: &Path) -> SessionId {
    // The header is the first record; where it is damaged, the name counts.
    let said = files.first().and_then(|file| {
        let line = file.document.lines().next()?;
        let head = Document::from_bytes(line.bytes.to_vec());
        let (items, _) = read_records(&head);
        let (whole, _) = if items.is_empty() { read_records(&file.document) } else { (items, Vec::new()) };
        let first = whole.first().is_some_and(|item| matches!(item.value.body, Body::Meta(_)));
        if first { header(&whole).and_then(|meta| meta.id.clone()) } else { None }
    });
    said.unwrap_or_else(|| named_id(path))
}

/// The id in the name of a file; for a name without one, an id that is made from it.
pub(super) fn named_id(path: &Path) -> SessionId {
    let file_name = path.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
    match RolloutName::of(&file_name) {
        Some(name) => SessionId::from(name.thread),
        None => SessionId::from(derived_uuid("codex file", &file_name).to_string()),
    }
}

/// The folders in which Codex keeps rollouts. The two below its home count by themselves, since
/// people keep them on another disk behind a link of that name; what they link to is theirs.
fn folders(root: &Path) -> Vec<PathBuf> {
    let mut folders = vec![root.to_owned()];
    folders.extend(
        ["sessions", "archived_sessions"].map(|name| root.join(name)).into_iter().filter(|f| f.is_dir()),
    );
    folders
}

fn inside_any(folders: &[PathBuf], path: &Path) -> Result<(), StoreError> {
    let mut refusal = None;
    for folder in folders {
        match inside(folder, path) {
            Ok(_) => return Ok(()),
            Err(error) => refusal = refusal.or(Some(error)),
        }
    }
    refusal.map_or(Ok(()), |error| Err(error.into()))
}

fn save(
    transcript: &Transcript<Codex>,
    options: &SaveOptions,
    context: &Context<'_>,
) -> Result<Saving, StoreError> {
    let root = match &options.root {
        Some(root) => root.clone(),
        None => Codex::roots(context.machine).into_iter().map(|root| root.path).next().unwrap_or_default(),
    };
    let id = transcript.id.clone();
    checked_component(id.as_str())?;
    let places: Vec<String> = transcript.body.files.iter().map(|file| place(file, &id)).collect();
    let Some(live) = places.last() else {
        let reason = "it has no rollout file".to_owned();
        return Err(StoreError::NoPlace { harness: DECLARATION.name, reason });
    };
    let path = root.join(live);
    let ours: Vec<PathBuf> = places.iter().map(|place| root.join(place)).collect();
    let (existing, _) = files::rollouts(&root);
    let taken = existing.into_iter().find(|file| {
        file.name().is_some_and(|name| name.thread == id.as_str())
            && !(options.replace && ours.contains(&file.path))
    });
    if let Some(taken) = taken {
        return Err(StoreError::Exists {
            harness: DECLARATION.name,
            id: id.to_string(),
            place: taken.path.display().to_string(),
        });
    }
    let mut steps = Vec::new();
    let mut notes = Vec::new();
    let at = transcript.body.files.first().and_then(|file| first_time(&file.document));
    steps.push(Step::MakeDirectory { path: root.clone(), private: true });
    if let Some(name) = &transcript.body.name
        && let Some((_, step)) = thread_names::naming(&root, id.as_str(), name, at)
    {
        steps.push(step);
    }
    for (file, path) in transcript.body.files.iter().zip(&ours) {
        for part in path.strip_prefix(&root).into_iter().flat_map(Path::components) {
            checked_component(&part.as_os_str().to_string_lossy())?;
        }
        if let Some(folder) = path.parent() {
            steps.push(Step::MakeDirectory { path: folder.to_owned(), private: true });
        }
        let bytes = file.stored.clone().unwrap_or_else(|| file.document.shared_bytes());
        steps.push(Step::CreateFile { path: path.clone(), content: Content::from(bytes), private: true });
    }
    if uuid::Uuid::try_parse(id.as_str()).is_err() {
        notes.push("Codex resumes a session only by an id that is a UUID, and this one is none.".to_owned());
    }
    let plan = Plan::new(steps).label("harness", DECLARATION.id.as_str()).label("session", id.as_str());
    Ok(Saving {
        plan,
        roots: folders(&root),
        id,
        reference: Reference { harness: DECLARATION.id, root, path, key: None },
        losses: Losses::none(),
        notes,
    })
}

/// The time of the first record that has one.
fn first_time(document: &Document) -> Option<ibid_model::Timestamp> {
    if let Some(items) = whole::records(document) {
        return items.iter().find_map(|item| item.value.at.known());
    }
    // Mostly the first line has one.
    document.lines().find_map(|line| {
        let (items, _) = read_records(&Document::from_bytes(document.shared_bytes().slice_ref(line.bytes)));
        items.iter().find_map(|item| item.value.at.known())
    })
}

/// Where a rollout goes: where it was, or by its name, or by its first time.
fn place(file: &Rollout, id: &SessionId) -> String {
    if let Some(place) = &file.place {
        return place.clone();
    }
    let name = file.document.path().and_then(Path::file_name).and_then(|name| name.to_str());
    if let Some(name) = name
        && let Some(read) = RolloutName::of(name)
        && read.thread == id.as_str()
        && let Some(date) = read.time.get(..10)
    {
        return format!("sessions/{}/{name}", date.replace('-', "/"));
    }
    let epoch = ibid_model::Timestamp::from_milliseconds(0);
    match first_time(&file.document).or(epoch) {
        Some(at) => names::place(at, id.as_str()),
        None => format!("sessions/rollout-{id}.jsonl"),
    }
}
