//! Where sessions lie, and what paths say.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use crate::core::{Platform, Root, RootOrigin, Surroundings};

/// The variable that names the folder of sessions itself.
const SESSIONS_DIR: &str = "COWORK_SESSIONS_DIR";

/// The folder of sessions in the app's data folder.
const SESSIONS: &str = "local-agent-mode-sessions";

/// What the name of a session begins with.
pub(super) const PREFIX: &str = "local_";

/// What the name of an agent session begins with.
const AGENT_PREFIX: &str = "local_ditto_";

/// The folder of agent sessions in an account's folder.
pub(super) const AGENT: &str = "agent";

/// The folder of sessions: that of the variable alone, when it is set. `XDG_CONFIG_HOME` is not
/// honoured by the app.
// https://github.com/specstoryai/getspecstory/issues/136 (fault 36)
pub(super) fn roots(machine: &Surroundings) -> Vec<Root> {
    if let Some(path) = machine.directory(SESSIONS_DIR) {
        return vec![Root { path, origin: RootOrigin::Variable(SESSIONS_DIR) }];
    }
    let home = machine.home();
    let data = match machine.platform() {
        Platform::MacOs => home.join("Library").join("Application Support"),
        Platform::Windows => {
            machine.directory("APPDATA").unwrap_or_else(|| home.join("AppData").join("Roaming"))
        }
        Platform::Linux => home.join(".config"),
    };
    vec![Root { path: data.join("Claude").join(SESSIONS), origin: RootOrigin::Default }]
}

/// Whether a file has the name of a record.
pub(super) fn is_record(path: &Path) -> bool {
    let stem = path.file_stem().and_then(OsStr::to_str);
    path.extension().is_some_and(|end| end == "json") && stem.is_some_and(|stem| stem.starts_with(PREFIX))
}

/// Whether a session of this id is kept among the agent sessions.
pub(super) fn is_agent(id: &str) -> bool {
    id.starts_with(AGENT_PREFIX)
}

/// The name of a record's file without its ending.
pub(super) fn stem(record: &Path) -> String {
    record.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default()
}

/// The folder of a record's session.
pub(super) fn storage(record: &Path) -> PathBuf {
    record.with_extension("")
}

/// The folder in which the embedded Claude Code keeps its projects.
pub(super) fn projects(storage: &Path) -> PathBuf {
    storage.join(".claude").join("projects")
}

/// The audit log.
pub(super) fn audit(storage: &Path) -> PathBuf {
    storage.join("audit.jsonl")
}

/// A subagent's transcript, by its path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SubagentPlace {
    /// The record of the session.
    pub(super) record: PathBuf,
    /// The CLI session in whose folder it lies.
    pub(super) cli: String,
    /// Its own name.
    pub(super) agent: String,
}

/// Reads the path of a subagent's transcript:
/// `<record without .json>/.claude/projects/<slug>/<cli>/subagents/agent-<agent>.jsonl`.
pub(super) fn subagent(path: &Path) -> Option<SubagentPlace> {
    let agent = agent_name(path)?;
    let mut above = path.ancestors().skip(1);
    let mut next = || above.next().filter(|path| path.file_name().is_some());
    let named = |path: &Path, name: &str| path.file_name().is_some_and(|own| own == name);
    next().filter(|path| named(path, "subagents"))?;
    let cli = next()?.file_name()?.to_str()?.to_owned();
    next()?;
    next().filter(|path| named(path, "projects"))?;
    next().filter(|path| named(path, ".claude"))?;
    let mut record = next()?.to_owned();
    let name = format!("{}.json", record.file_name()?.to_str()?);
    record.set_file_name(name);
    is_record(&record).then_some(SubagentPlace { record, cli, agent })
}

/// The name of a subagent, from that of its transcript.
pub(super) fn agent_name(path: &Path) -> Option<String> {
    if path.extension().is_none_or(|end| end != "jsonl") {
        return None;
    }
    let stem = path.file_stem()?.to_str()?;
    stem.strip_prefix("agent-").filter(|agent| !agent.is_empty()).map(str::to_owned)
}

/// The document beside a subagent's transcript.
pub(super) fn agent_meta(transcript: &Path) -> PathBuf {
    transcript.with_extension("meta.json")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn root(machine: &Surroundings) -> PathBuf {
        let roots = roots(machine);
        assert_eq!(roots.len(), 1);
        roots[0].path.clone()
    }

    #[test]
    fn the_root_is_in_the_data_folder_of_each_system() {
        let machine = Surroundings::isolated("/h").with_variable("XDG_CONFIG_HOME", "/elsewhere");
        let on = |platform| root(&machine.clone().on(platform));
        assert_eq!(
            on(Platform::MacOs),
            Path::new("/h/Library/Application Support/Claude/local-agent-mode-sessions")
        );
        assert_eq!(on(Platform::Linux), Path::new("/h/.config/Claude/local-agent-mode-sessions"));
        assert_eq!(on(Platform::Windows), Path::new("/h/AppData/Roaming/Claude/local-agent-mode-sessions"));
        let roaming = machine.with_variable("APPDATA", "/r").on(Platform::Windows);
        assert_eq!(root(&roaming), Path::new("/r/Claude/local-agent-mode-sessions"));
    }

    // https://github.com/specstoryai/getspecstory/issues/136 (fault 36)
    #[test]
    fn the_variable_names_the_root_itself_and_a_blank_one_is_unset() {
        let machine = Surroundings::isolated("/h").on(Platform::Linux);
        assert_eq!(root(&machine.clone().with_variable(SESSIONS_DIR, "/s")), Path::new("/s"));
        assert!(root(&machine.with_variable(SESSIONS_DIR, " ")).starts_with("/h"));
    }

    #[test]
    fn the_path_of_a_subagent_names_its_record() {
        let path = "/r/o/a/agent/local_x/.claude/projects/-w/c1/subagents/agent-a7.jsonl";
        let place = subagent(Path::new(path)).unwrap();
        assert_eq!(place.record, Path::new("/r/o/a/agent/local_x.json"));
        assert_eq!((place.cli.as_str(), place.agent.as_str()), ("c1", "a7"));
        assert_eq!(subagent(Path::new("/r/o/a/local_x/.claude/projects/-w/c1.jsonl")), None);
    }

    #[test]
    fn records_are_told_by_their_names() {
        assert!(is_record(Path::new("/a/local_1.json")));
        assert!(!is_record(Path::new("/a/cowork_settings.json")));
        assert!(!is_record(Path::new("/a/local_1.jsonl")));
    }
}
