//! Which of several subagents started another.

use std::path::{Path, PathBuf};

use ibid_carrier::jsonl::{Limits, open_scanner};
use ibid_carrier::walk::{WalkOptions, list_files};
use memchr::memmem;

use super::AgentMeta;

/// The transcript, of those in the same folder, of the subagent that started this one; none when
/// the main conversation did. The folder is flat, so the rows have to tell: the call that the
/// document beside the transcript names, or the result that names the subagent.
pub(crate) fn calling_subagent(
    transcript: &Path,
    agent: &str,
    meta: Option<&AgentMeta>,
    limits: &Limits,
) -> Option<PathBuf> {
    if meta.is_some_and(|meta| meta.spawn_depth == Some(1)) {
        return None;
    }
    let edge = match meta.and_then(|meta| meta.tool_use_id.as_ref()) {
        Some(call) => format!(r#""type":"tool_use","id":"{call}""#),
        None => format!(r#""agentId":"{agent}""#),
    };
    let folder = transcript.parent().map(subagent_transcripts).unwrap_or_default();
    folder.into_iter().find(|other| other != transcript && holds(other, edge.as_bytes(), limits))
}

/// The transcripts of subagents in a folder and below it.
pub(crate) fn subagent_transcripts(folder: &Path) -> Vec<PathBuf> {
    let options = WalkOptions { extensions: &["jsonl"], max_depth: 2, ..WalkOptions::default() };
    let (files, _) = list_files(folder, &options);
    let is_agent =
        |path: &PathBuf| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("agent-"));
    files.into_iter().map(|file| file.path).filter(is_agent).collect()
}

/// Whether a line of the file has these bytes.
fn holds(path: &Path, bytes: &[u8], limits: &Limits) -> bool {
    let Ok(mut scanner) = open_scanner(path, 0, limits) else { return false };
    let finder = memmem::Finder::new(bytes);
    while let Ok(Some(line)) = scanner.next() {
        if finder.find(line.bytes).is_some() {
            return true;
        }
    }
    false
}
