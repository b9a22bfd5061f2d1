//! Planning to write a session.

use std::fs;
use std::path::{Path, PathBuf};

use ibid_carrier::names::checked_component;
use ibid_carrier::plan::{Content, Plan, Step};
use ibid_model::{Losses, SessionId};
use uuid::Uuid;

use super::store::projects;
use super::{ClaudeCode, DECLARATION, place};
use crate::core::{Context, Reference, SaveOptions, Saving, Store, StoreError, Transcript};
use crate::families::claude_rows::{self, slugs};

/// Plans to write a session under its working directory's folder, or a subagent beside its
/// parent. The transcript, which makes it visible, comes last.
///
/// # Errors
/// When its rows name no working directory, its id is no name for a file, or the id is taken.
pub(super) fn save(
    transcript: &Transcript<ClaudeCode>,
    options: &SaveOptions,
    context: &Context<'_>,
) -> Result<Saving, StoreError> {
    let first = || ClaudeCode::roots(context.machine).into_iter().next().map(|root| root.path);
    let root =
        options.root.clone().or_else(first).ok_or_else(|| no_place("there is no root to save under"))?;
    let projects = projects(&root);
    if transcript.body.transcript.bytes().is_empty() {
        return Err(no_place(
            "it has no row at all, and the program lists no empty file; choose another part",
        ));
    }
    let id = transcript.id.as_str();
    let mut notes = Vec::new();
    let path = match id.rsplit_once('/') {
        Some((session, agent)) => {
            let folder = match &options.parent {
                Some(parent) => place::companions(&parent.path),
                None => folder(transcript, &projects)?.join(checked_component(session)?),
            };
            folder.join("subagents").join(checked_component(&format!("agent-{agent}.jsonl"))?)
        }
        None => {
            let name = format!("{id}.jsonl");
            if Uuid::try_parse(id).is_err() {
                notes.push(format!(
                    "{} resumes {id} by its path only, since the id is not a UUID",
                    DECLARATION.name
                ));
            }
            folder(transcript, &projects)?.join(checked_component(&name)?)
        }
    };
    if let Some(taken) = taken(&projects, &path)
        && !(options.replace && taken == path)
    {
        let (harness, place) = (DECLARATION.name, taken.display().to_string());
        return Err(StoreError::Exists { harness, id: id.to_owned(), place });
    }
    let mut steps = Vec::new();
    if let Some(folder) = path.parent() {
        steps.push(Step::MakeDirectory { path: folder.to_owned(), private: true });
    }
    if let Some(meta) = &transcript.body.agent_meta {
        let content = Content::from(meta.shared_bytes());
        steps.push(Step::CreateFile { path: place::agent_meta(&path), content, private: true });
    }
    let content = Content::from(transcript.body.transcript.shared_bytes());
    steps.push(Step::CreateFile { path: path.clone(), content, private: true });
    let plan = Plan::new(steps).label("harness", DECLARATION.id.as_str()).label("session", id);
    let reference = Reference { harness: DECLARATION.id, root, path, key: None };
    let id = SessionId::from(id);
    Ok(Saving { plan, roots: vec![projects], id, reference, losses: Losses::none(), notes })
}

fn no_place(reason: &str) -> StoreError {
    StoreError::NoPlace { harness: DECLARATION.name, reason: reason.to_owned() }
}

/// The folder in which the program looks for sessions of the working directory: named after its
/// real path, when it is there to ask.
fn folder(transcript: &Transcript<ClaudeCode>, projects: &Path) -> Result<PathBuf, StoreError> {
    let (assembly, _) = claude_rows::read(&transcript.body.transcript);
    match assembly.first_cwd() {
        Some(cwd) => {
            let real = fs::canonicalize(cwd.as_str()).ok();
            let real = real.as_deref().and_then(Path::to_str).unwrap_or(cwd);
            // A folder that is there counts, whichever form of the name it was made from.
            let slugs = slugs(real);
            let there = slugs.iter().find(|slug| projects.join(slug).is_dir());
            Ok(projects.join(there.or(slugs.first()).map_or("-", String::as_str)))
        }
        // A copy of a session that never named one stays in the folder that it came from.
        None => {
            let own = transcript.body.transcript.path().and_then(Path::parent).and_then(Path::file_name);
            let own = own.and_then(|name| name.to_str()).ok_or_else(|| {
                no_place("its rows name no working directory, so that no project can be told; give one")
            })?;
            Ok(projects.join(own))
        }
    }
}

/// Where a session of this id is already: the program finds it in any project, by path.
fn taken(projects: &Path, path: &Path) -> Option<PathBuf> {
    if path.symlink_metadata().is_ok() {
        return Some(path.to_owned());
    }
    let below = path.strip_prefix(projects).ok()?;
    let within: PathBuf = below.components().skip(1).collect();
    let folders = fs::read_dir(projects).into_iter().flatten().flatten();
    folders.map(|folder| folder.path().join(&within)).find(|place| place.symlink_metadata().is_ok())
}
