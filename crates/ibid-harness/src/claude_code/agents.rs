//! Subagents: which session, or which other subagent, started one.

use std::fs;
use std::path::{Path, PathBuf};

use ibid_carrier::jsonl::Limits;
use ibid_model::SessionId;

use super::place::{self, Named, named};
use super::subagent_id;
use crate::families::claude_rows::{AgentMeta, READ_WHOLE, calling_subagent, skim, subagent_transcripts};

/// The largest description of a subagent that is read.
const META_BYTES: u64 = 1 << 20;

/// What the document beside a subagent's transcript says.
pub(super) fn meta_of(transcript: &Path) -> Option<AgentMeta> {
    let path = place::agent_meta(transcript);
    let small = fs::metadata(&path).is_ok_and(|metadata| metadata.is_file() && metadata.len() <= META_BYTES);
    AgentMeta::read(&small.then(|| fs::read(&path).ok()).flatten()?)
}

/// What started the subagent whose transcript this is: the session, unless another subagent of
/// it made the call. The path decides when no row does.
// https://github.com/kenn-io/agentsview/issues/1246 (fault 52)
pub(super) fn spawner(transcript: &Path, meta: Option<&AgentMeta>, limits: &Limits) -> Option<SessionId> {
    let (session, agent) = match named(transcript) {
        Named::Subagent { session, agent, .. } => (session, agent),
        Named::LooseSubagent(_) => return first_session(transcript, limits).map(SessionId::from),
        _ => return None,
    };
    let other = calling_subagent(transcript, &agent, meta, limits);
    if let Some(Named::Subagent { agent, .. }) = other.as_deref().map(named) {
        return Some(subagent_id(&session, &agent));
    }
    Some(SessionId::from(session))
}

/// The session that the first row names.
pub(super) fn first_session(transcript: &Path, limits: &Limits) -> Option<String> {
    let bytes = fs::metadata(transcript).ok()?.len();
    let skimmed = skim(transcript, bytes, READ_WHOLE, true, limits).ok()?;
    skimmed.assembly.first_session().map(ToString::to_string)
}

/// The transcripts of the subagents that a session or subagent started.
pub(super) fn started_by(transcript: &Path, limits: &Limits) -> Vec<PathBuf> {
    let (folder, own) = match named(transcript) {
        Named::Session(id) | Named::Other(id) => {
            (Some(place::companions(transcript).join("subagents")), SessionId::from(id))
        }
        Named::Subagent { session, agent, .. } => {
            (transcript.parent().map(Path::to_owned), subagent_id(&session, &agent))
        }
        Named::LooseSubagent(_) => return Vec::new(),
    };
    let below = folder.map(|folder| subagent_transcripts(&folder)).unwrap_or_default();
    let mut started: Vec<PathBuf> = below
        .into_iter()
        .filter(|path| path != transcript)
        .filter(|path| spawner(path, meta_of(path).as_ref(), limits).as_ref() == Some(&own))
        .collect();
    if let Some(beside) = transcript.parent().filter(|_| !own.as_str().contains('/')) {
        let loose = fs::read_dir(beside).into_iter().flatten().flatten().map(|entry| entry.path());
        started.extend(loose.filter(|path| {
            matches!(named(path), Named::LooseSubagent(_))
                && path.extension().is_some_and(|end| end == "jsonl")
                && first_session(path, limits).as_deref() == Some(own.as_str())
        }));
    }
    started.sort();
    started
}
