//! Where Kimi Code keeps sessions:
//! `<root>/wd_<name>_<hash>/<session id>/{state.json, agents/<agent>/wire.jsonl}`.
//!
//! The hash is the first 12 hexadecimal digits of the SHA-256 of the working directory (measured,
//! 2.1.0). Beside the root lie `workspaces.json`, which names the directory of each folder, and
//! `session_index.jsonl`, which names that of each session.

use std::path::{Path, PathBuf};

use ibid_carrier::jsonl::Document;
use ibid_model::{CarrierRole, Text};
use memchr::memmem;
use sha2::{Digest, Sha256};

use crate::core::{Context, Reference, Root, RootOrigin, Surroundings, comparable_path};
use crate::families::files::FilePlace;
use crate::families::loose::Loose;

/// Names the directory that stands for `~/.kimi-code` (measured).
const HOME: &str = "KIMI_CODE_HOME";

/// The same to programs that read Kimi Code's sessions; 2.1.0 itself does not ask it (measured).
const READERS_HOME: &str = "KIMI_HOME";

/// The log of an agent.
pub(super) const WIRE: &str = "wire.jsonl";
/// What describes the session.
pub(super) const STATE: &str = "state.json";
/// The agent that the person talks to.
pub(super) const MAIN: &str = "main";

pub(super) fn roots(machine: &Surroundings) -> Vec<Root> {
    let named = |name: &'static str| {
        let home = machine.directory(name)?;
        Some(Root { path: home.join("sessions"), origin: RootOrigin::Variable(name) })
    };
    let mut roots = vec![named(HOME).unwrap_or_else(|| Root {
        path: machine.home().join(".kimi-code").join("sessions"),
        origin: RootOrigin::Default,
    })];
    let readers = named(READERS_HOME).filter(|root| roots.iter().all(|known| known.path != root.path));
    roots.extend(readers);
    roots
}

/// What the path of a log or of a state file says.
pub(super) struct Place {
    /// The folder of the session.
    pub(super) session: PathBuf,
    /// The agent.
    pub(super) agent: String,
}

/// The place of a file that lies where the program puts it; none of another.
pub(super) fn of(path: &Path) -> Option<Place> {
    let name = path.file_name()?.to_str()?;
    let folder = path.parent()?;
    match name {
        STATE => Some(Place { session: folder.to_owned(), agent: MAIN.to_owned() }),
        WIRE => {
            let agents = folder.parent().filter(|agents| agents.ends_with("agents"))?;
            let agent = folder.file_name()?.to_string_lossy().into_owned();
            Some(Place { session: agents.parent()?.to_owned(), agent })
        }
        _ => None,
    }
}

/// The files that a reference means.
pub(super) fn files(path: &Path) -> Vec<FilePlace> {
    let Some(Place { session, agent }) = of(path) else {
        return vec![FilePlace::new(WIRE, path, CarrierRole::Transcript)];
    };
    let wire = session.join("agents").join(agent).join(WIRE);
    vec![
        FilePlace::new(WIRE, wire, CarrierRole::Transcript),
        FilePlace::new(STATE, session.join(STATE), CarrierRole::Record),
    ]
}

/// The name of a folder as text.
pub(super) fn name_of(folder: &Path) -> Option<Text> {
    folder.file_name().map(|name| Text::from(name.to_string_lossy().into_owned()))
}

/// Whether a session lies where the program puts those of a directory: as `workspaces.json` says of
/// its folder, else as the index says of it, else by the hash in the name of the folder.
pub(super) fn is_for(reference: &Reference, directory: &Path, context: &Context<'_>) -> bool {
    let Some(place) = of(&reference.path) else { return false };
    let (Some(folder), Some(home)) = (place.session.parent(), reference.root.parent()) else { return false };
    let same = |path: &str| comparable_path(Path::new(path)) == comparable_path(directory);
    let name = folder.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    if let Some(root) = workspace(home, &name, context) {
        return same(&root);
    }
    let session = name_of(&place.session).unwrap_or_default();
    if let Some(directory) = indexed(home, &session, context) {
        return same(&directory);
    }
    let hash = name.strip_prefix("wd_").and_then(|name| name.rsplit_once('_')).map(|(_, hash)| hash);
    hash.is_some_and(|hash| directory.to_str().is_some_and(|path| hash == hash_of(path)))
}

/// The first 12 hexadecimal digits of the SHA-256 of a path.
fn hash_of(path: &str) -> String {
    let digest = Sha256::digest(path.as_bytes());
    digest.iter().take(6).map(|byte| format!("{byte:02x}")).collect()
}

/// `workspaces.json`: `{workspaces: {<folder>: {root}}}`.
fn workspace(home: &Path, folder: &str, context: &Context<'_>) -> Option<Text> {
    let document = Document::read(&home.join("workspaces.json"), context.limits).ok()?;
    let known = Loose::of(document.text()?)?.object("workspaces")?;
    known.object(folder)?.some_text("root")
}

/// The last line of `session_index.jsonl` about a session: `{sessionId, sessionDir, workDir}`, or
/// `{sessionId, deleted: true}`. The index is asked for every session: only lines that hold the id
/// are read.
fn indexed(home: &Path, session: &str, context: &Context<'_>) -> Option<Text> {
    let document = Document::read(&home.join("session_index.jsonl"), context.limits).ok()?;
    let named = memmem::Finder::new(session);
    let lines = document.lines().filter(|line| named.find(line.bytes).is_some());
    let texts = lines.filter_map(|line| document.text_of(line.start, line.end));
    let read = texts.filter_map(|text| Loose::read(&text).ok());
    let last = read.filter(|line| line.text("sessionId").is_some_and(|id| id == session)).last()?;
    last.some_text("workDir")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_of_a_folder_is_the_one_that_the_program_makes() {
        assert_eq!(hash_of("/home/sam/demo"), "982f58f316c7");
    }

    #[test]
    fn a_log_names_its_session_and_agent_by_its_place() {
        let place = of(Path::new("/k/sessions/wd_a_b/session_1/agents/agent-0/wire.jsonl")).unwrap();
        assert_eq!(
            (place.session.as_path(), place.agent.as_str()),
            (Path::new("/k/sessions/wd_a_b/session_1"), "agent-0")
        );
        assert!(of(Path::new("/tmp/wire.jsonl")).is_none());
    }
}
