//! Where sessions lie, and what the names of files say.

use std::path::{Path, PathBuf};

use uuid::Uuid;

use crate::core::{Root, RootOrigin, Surroundings};

/// The variable that moves the program's home.
const CONFIG_DIR: &str = "CLAUDE_CONFIG_DIR";

/// The directory of the program's settings: that of the variable, or `~/.claude`.
pub(super) fn config_dir(machine: &Surroundings) -> PathBuf {
    machine.directory(CONFIG_DIR).unwrap_or_else(|| machine.home().join(".claude"))
}

/// The directories in which the program keeps projects: that of the variable first, when it is
/// set, since only there the program looks then.
// https://github.com/specstoryai/getspecstory/issues/136 (fault 36)
pub(super) fn roots(machine: &Surroundings) -> Vec<Root> {
    let mut roots = Vec::new();
    if let Some(directory) = machine.directory(CONFIG_DIR) {
        roots.push(Root { path: directory.join("projects"), origin: RootOrigin::Variable(CONFIG_DIR) });
    }
    for directory in [".claude", ".config/claude"] {
        let path = machine.home().join(directory).join("projects");
        if roots.iter().all(|root| root.path != path) {
            roots.push(Root { path, origin: RootOrigin::Default });
        }
    }
    roots
}

/// What the path of a transcript says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Named {
    /// A session, whose id is the name of the file.
    Session(String),
    /// A subagent, in the folder of its session.
    Subagent {
        /// The session.
        session: String,
        /// The subagent.
        agent: String,
        /// Where the session's own file is, or would be.
        parent: PathBuf,
    },
    /// A subagent beside the sessions, as some releases put them; its rows name the session.
    LooseSubagent(String),
    /// A file whose name is no id: a copy, or one that a person named.
    Other(String),
}

/// Reads the path of a transcript.
pub(super) fn named(path: &Path) -> Named {
    let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    if let Some(agent) = stem.strip_prefix("agent-").filter(|agent| !agent.is_empty()) {
        return match session_folder(path) {
            Some(folder) => Named::Subagent {
                session: folder
                    .file_name()
                    .map(|name| name.to_string_lossy().into_owned())
                    .unwrap_or_default(),
                agent: agent.to_owned(),
                parent: folder.with_extension("jsonl"),
            },
            None => Named::LooseSubagent(agent.to_owned()),
        };
    }
    match Uuid::try_parse(&stem) {
        Ok(_) => Named::Session(stem),
        Err(_) => Named::Other(stem),
    }
}

/// The folder of the session that a file in `subagents/`, or below it, belongs to.
fn session_folder(path: &Path) -> Option<&Path> {
    let mut ancestors = path.ancestors().skip(1).take(4);
    ancestors.find(|ancestor| ancestor.file_name().is_some_and(|name| name == "subagents"))?.parent()
}

/// The document beside a subagent's transcript.
pub(super) fn agent_meta(transcript: &Path) -> PathBuf {
    transcript.with_extension("meta.json")
}

/// The folder with what belongs to a session.
pub(super) fn companions(transcript: &Path) -> PathBuf {
    transcript.with_extension("")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_path_of_a_subagent_names_its_session() {
        let path = Path::new("/p/-a/11111111-1111-4111-8111-111111111111/subagents/agent-x1.jsonl");
        let Named::Subagent { session, agent, parent } = named(path) else { panic!() };
        assert_eq!((session.as_str(), agent.as_str()), ("11111111-1111-4111-8111-111111111111", "x1"));
        assert_eq!(parent, Path::new("/p/-a/11111111-1111-4111-8111-111111111111.jsonl"));
        assert_eq!(named(Path::new("/p/-a/agent-x1.jsonl")), Named::LooseSubagent("x1".to_owned()));
        assert_eq!(named(Path::new("/p/-a/copy.jsonl")), Named::Other("copy".to_owned()));
    }
}
