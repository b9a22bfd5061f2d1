//! Planning to write a session.

use std::fs;
use std::path::{Path, PathBuf};

use ibid_carrier::jsonl::Document;
use ibid_carrier::names::checked_component;
use ibid_carrier::plan::{Content, ContentStamp, Plan, Step};
use ibid_model::{LossKind, Losses, SessionId};

use super::accounts::{Account, accounts, choose, no_place};
use super::body::{Body, SessionBody, SubagentBody};
use super::files::Files;
use super::place::{self, AGENT, PREFIX};
use super::record::{Record, with_field};
use super::write::cli_session;
use super::{Cowork, DECLARATION};
use crate::core::{CodecError, Context, Reference, SaveOptions, Saving, StoreError, Transcript};
use crate::families::claude_rows::{self, slug};

/// Plans to write a session or a subagent.
///
/// # Errors
/// When there is no account to write it for, its id is one that the app would not list or that is
/// no file name, or is taken.
pub(super) fn save(
    transcript: &Transcript<Cowork>,
    options: &SaveOptions,
    context: &Context<'_>,
) -> Result<Saving, StoreError> {
    let first = || place::roots(context.machine).into_iter().next().map(|root| root.path);
    let root = options.root.clone().or_else(first).unwrap_or_default();
    match &transcript.body {
        Body::Session(body) => save_session(transcript.id.as_str(), body, root, options),
        Body::Subagent(body) => save_subagent(&transcript.id, body, root, options),
    }
}

fn save_session(
    id: &str,
    body: &SessionBody,
    root: PathBuf,
    options: &SaveOptions,
) -> Result<Saving, StoreError> {
    let foreign = |reason| CodecError::Foreign { harness: DECLARATION.name, reason };
    let record =
        Record::read(body.record.bytes()).map_err(|reason| foreign(format!("of the record, {reason}")))?;
    let mut session = Writing {
        id: checked_id(record.id().map_or(id, |own| own.as_str()), options)?,
        record: body.record.bytes().to_vec(),
        losses: Losses::none(),
        notes: Vec::new(),
    };
    if record.id().is_none_or(|own| *own != session.id.as_str()) {
        let id = session.id.clone();
        session.set("sessionId", &id)?;
        session.losses.add(LossKind::SessionId, None, None);
    }
    let origin = options.root.as_ref().and_then(|_| origin_of(&body.record));
    let (account, note) = choose(&root, options.account.as_deref(), origin)?;
    session.notes.extend(note);
    let folder = if body.agent { account.path.join(AGENT) } else { account.path.clone() };
    let path = folder.join(format!("{}.json", session.id));
    check_free(&root, &session.id, &path, options)?;
    let storage = place::storage(&path);
    let projects = place::projects(&storage);
    let mut files = vec![];
    if let Some(transcript) = &body.transcript {
        session.place_transcript(&record, body, transcript, &storage, &mut files)?;
    }
    for file in &body.beside {
        files.push((projects.join(checked_place(&file.place)?), &file.document));
    }
    files.extend(body.audit.as_ref().map(|audit| (place::audit(&storage), audit)));
    for folder in &body.companions {
        let name = folder.file_name().map(|name| name.to_string_lossy().into_owned());
        session.losses.add(LossKind::Companion, name.as_deref(), None);
    }
    let mut steps = if options.replace { clear(&root, &path, &files) } else { Vec::new() };
    for made in ["uploads", "outputs"] {
        steps.push(Step::MakeDirectory { path: storage.join(made), private: true });
    }
    write_files(files, &mut steps);
    // The record makes the session visible, and must never point at nothing.
    steps.push(Step::MakeDirectory { path: folder, private: true });
    let content = Content::from(session.record);
    steps.push(Step::CreateFile { path: path.clone(), content, private: true });
    let plan = Plan::new(steps)
        .label("harness", DECLARATION.id.as_str())
        .label("session", session.id.as_str())
        .label("account", account.name());
    Ok(Saving {
        plan,
        roots: vec![root.clone()],
        id: SessionId::from(session.id),
        reference: Reference { harness: DECLARATION.id, root, path, key: None },
        losses: session.losses,
        notes: session.notes,
    })
}

/// A session on its way to its place.
struct Writing {
    id: String,
    record: Vec<u8>,
    losses: Losses,
    notes: Vec<String>,
}

impl Writing {
    fn set(&mut self, field: &str, value: &str) -> Result<(), CodecError> {
        let foreign = |reason| CodecError::Foreign { harness: DECLARATION.name, reason };
        self.record = with_field(&self.record, field, value).map_err(foreign)?;
        Ok(())
    }

    /// Puts the transcript where the record's `cliSessionId` leads.
    fn place_transcript<'b>(
        &mut self,
        record: &Record,
        body: &SessionBody,
        transcript: &'b Document,
        storage: &Path,
        files: &mut Vec<(PathBuf, &'b Document)>,
    ) -> Result<(), StoreError> {
        let cli = match &record.cli_session_id {
            Some(cli) => cli.to_string(),
            None if transcript.bytes().is_empty() => return Ok(()),
            None => {
                let cli = cli_session(&self.id);
                self.set("cliSessionId", &cli)?;
                self.notes.push("the record had no cliSessionId, and got one".to_owned());
                cli
            }
        };
        let name = format!("{}.jsonl", checked_component(&cli)?);
        let outputs = storage.join("outputs").to_string_lossy().into_owned();
        let project = match project_of(transcript) {
            Some(project) => project,
            None => {
                let directory = self.directory(record, body, transcript, outputs)?;
                // The program names the project after the real path, when it is there to ask.
                let real = fs::canonicalize(&directory).ok();
                slug(real.as_deref().and_then(Path::to_str).unwrap_or(&directory))
            }
        };
        files.push((place::projects(storage).join(project).join(name), transcript));
        Ok(())
    }

    /// The working directory that the project is named after: the record's, else the rows', else
    /// the session's own `outputs`, where the app runs sessions of the host.
    fn directory(
        &mut self,
        record: &Record,
        body: &SessionBody,
        transcript: &Document,
        outputs: String,
    ) -> Result<String, StoreError> {
        let own = match &record.cwd {
            Some(cwd) => Some(cwd.to_string()),
            None => claude_rows::read(transcript).0.first_cwd().map(ToString::to_string),
        };
        if let Some(own) = own.filter(|own| !own.trim().is_empty()) {
            return Ok(own);
        }
        if body.converted {
            self.set("cwd", &outputs)?;
            self.losses.add(LossKind::DirectoryChanged, None, None);
            self.notes.push(format!("the session has no working directory, and got {outputs}"));
        }
        Ok(outputs)
    }
}

/// The id that is used, which is the one that is written.
fn checked_id(id: &str, options: &SaveOptions) -> Result<String, StoreError> {
    let id = match id {
        id if id.starts_with(PREFIX) => id.to_owned(),
        id if options.fix_id && !id.is_empty() => format!("{PREFIX}{id}"),
        id => {
            return Err(no_place(format!(
                "the app lists no session whose id does not begin with {PREFIX}, and this one is called {id:?}; give \
                 it another id, or ask for the prefix"
            )));
        }
    };
    checked_component(&id)?;
    Ok(id)
}

/// The account that a record was loaded from.
fn origin_of(record: &Document) -> Option<(String, String)> {
    let path = record.path()?;
    let folder = path.parent()?;
    let account = if folder.ends_with(AGENT) { folder.parent()? } else { folder };
    let name = |path: &Path| path.file_name()?.to_str().map(str::to_owned);
    let (organisation, account) = (name(account.parent()?)?, name(account)?);
    let is_uuid = |name: &str| uuid::Uuid::parse_str(name).is_ok();
    (is_uuid(&organisation) && is_uuid(&account)).then_some((organisation, account))
}

/// The project that a transcript was found in.
fn project_of(transcript: &Document) -> Option<String> {
    let project = transcript.path()?.parent()?;
    let in_projects = project.parent().is_some_and(|folder| folder.ends_with("projects"));
    project.file_name().filter(|_| in_projects)?.to_str().map(str::to_owned)
}

/// A path below the projects, none of whose parts leads elsewhere. Folders of projects begin with
/// `-` by rule.
fn checked_place(place: &Path) -> Result<&Path, StoreError> {
    for part in place.iter() {
        let part = part.to_string_lossy();
        checked_component(part.trim_start_matches('-'))?;
    }
    Ok(place)
}

/// Refuses an id that any account of the root has.
fn check_free(root: &Path, id: &str, path: &Path, options: &SaveOptions) -> Result<(), StoreError> {
    let name = format!("{id}.json");
    let known = accounts(root, &mut Vec::new());
    let places =
        known.iter().flat_map(|Account { path, .. }| [path.join(&name), path.join(AGENT).join(&name)]);
    let holds_files = |folder: PathBuf| fs::read_dir(folder).is_ok_and(|mut list| list.next().is_some());
    let taken = |place: &PathBuf| place.symlink_metadata().is_ok() || holds_files(place::storage(place));
    match places.into_iter().filter(taken).find(|place| !(options.replace && place == path)) {
        None => Ok(()),
        Some(place) => Err(StoreError::Exists {
            harness: DECLARATION.name,
            id: id.to_owned(),
            place: place.display().to_string(),
        }),
    }
}

/// What of a session that is to be replaced would be read with the new one: it goes to the trash.
fn clear(root: &Path, record: &Path, files: &[(PathBuf, &Document)]) -> Vec<Step> {
    let Ok(old) = Files::of(root, record) else { return Vec::new() };
    let stale = |path: &PathBuf| files.iter().all(|(new, _)| new != path);
    let audit = old.audit.iter().map(|entry| entry.path.clone());
    let all = audit.chain(old.projects.iter().map(|entry| entry.path.clone()));
    let trash = |path: PathBuf| {
        let expected = ContentStamp::of(&path).ok();
        Step::TrashFile { path, expected }
    };
    all.filter(stale).map(trash).collect()
}

/// The folders of files, each once, and then the files.
fn write_files(files: Vec<(PathBuf, &Document)>, steps: &mut Vec<Step>) {
    let mut folders: Vec<PathBuf> =
        files.iter().filter_map(|(path, _)| path.parent().map(Path::to_owned)).collect();
    folders.sort();
    folders.dedup();
    steps.extend(folders.into_iter().map(|path| Step::MakeDirectory { path, private: true }));
    for (path, document) in files {
        let content = Content::from(document.shared_bytes());
        steps.push(Step::CreateFile { path, content, private: true });
    }
}

/// A subagent goes beside its session's transcript, in the folder of the CLI session.
fn save_subagent(
    id: &SessionId,
    body: &SubagentBody,
    root: PathBuf,
    options: &SaveOptions,
) -> Result<Saving, StoreError> {
    let Some(parent) = &options.parent else {
        return Err(no_place(
            "it is a subagent, and is kept inside the session that started it; save that one".into(),
        ));
    };
    let above = place::subagent(&parent.path);
    let record = above.map_or_else(|| parent.path.clone(), |above| above.record);
    let storage = place::storage(&record);
    let agent = id.as_str().rsplit('/').next().unwrap_or_default();
    let name = format!("agent-{agent}.jsonl");
    let folder = subagents_folder(&root, &record, &storage, body, id)?;
    let path = folder.join(checked_component(&name)?);
    if path.symlink_metadata().is_ok() && !options.replace {
        let place = path.display().to_string();
        return Err(StoreError::Exists { harness: DECLARATION.name, id: id.to_string(), place });
    }
    let mut files = vec![(path.clone(), &body.transcript)];
    files.extend(body.meta.as_ref().map(|meta| (place::agent_meta(&path), meta)));
    let mut steps = Vec::new();
    write_files(files, &mut steps);
    Ok(Saving {
        plan: Plan::new(steps).label("harness", DECLARATION.id.as_str()).label("session", id.as_str()),
        roots: vec![root.clone()],
        id: id.clone(),
        reference: Reference { harness: DECLARATION.id, root, path, key: None },
        losses: Losses::none(),
        notes: Vec::new(),
    })
}

/// The folder of subagents: beside the transcript of a session that is there, where the subagent
/// was found, or where its session's transcript will be.
fn subagents_folder(
    root: &Path,
    record: &Path,
    storage: &Path,
    body: &SubagentBody,
    id: &SessionId,
) -> Result<PathBuf, StoreError> {
    let projects = place::projects(storage);
    let limits = ibid_carrier::jsonl::Limits::default();
    if let Ok(files) = Files::of(root, record)
        && let Ok(document) = Document::read(record, &limits)
        && let Ok(read) = Record::read(document.bytes())
        && let Some(cli) = &read.cli_session_id
        && let Some(live) = files.transcript(cli, &limits, &mut Vec::new())
    {
        return Ok(live.path.with_extension("").join("subagents"));
    }
    if let Some(path) = body.transcript.path()
        && let Some(own) = place::subagent(path)
        && let Ok(below) = path.strip_prefix(place::projects(&place::storage(&own.record)))
        && let Some(folder) = below.parent()
    {
        return Ok(projects.join(checked_place(folder)?));
    }
    let (assembly, _) = claude_rows::read(&body.transcript);
    let session = id.as_str().split('/').next().unwrap_or_default();
    let cli = assembly.first_session().map_or_else(|| cli_session(session), ToString::to_string);
    let outputs = storage.join("outputs").to_string_lossy().into_owned();
    let cwd = assembly.first_cwd().map_or(outputs, ToString::to_string);
    Ok(projects.join(slug(&cwd)).join(checked_component(&cli)?).join("subagents"))
}
