//! Where sessions lie, and what the names of files say.

use std::path::{Path, PathBuf};

use unicode_normalization::UnicodeNormalization;
use uuid::Uuid;

use crate::core::{Root, RootOrigin, Surroundings};

/// The variable that moves the program's home.
const CONFIG_DIR: &str = "CLAUDE_CONFIG_DIR";

/// A folder name up to this length is not cut.
const SLUG_UNITS: usize = 200;

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

/// The name of the folder for a working directory: every UTF-16 unit outside `A-Za-z0-9` becomes
/// `-`; of a longer name the first 200 units stay, with a hash of the path behind them. Measured
/// with 2.1.332.
// https://github.com/lossless-claude/lcm/issues/534 (fault 5)
// https://github.com/Untrivial-ai/agent-orchestrator/pull/1612 (fault 6)
pub(super) fn slug(cwd: &str) -> String {
    let mut name = String::with_capacity(cwd.len());
    let mut hash: i32 = 0;
    for unit in cwd.encode_utf16() {
        hash = hash.wrapping_mul(31).wrapping_add(i32::from(unit));
        let plain = u8::try_from(unit).ok().filter(u8::is_ascii_alphanumeric);
        name.push(plain.map_or('-', char::from));
    }
    if name.len() > SLUG_UNITS {
        name.truncate(SLUG_UNITS);
        name.push('-');
        name.push_str(&base_36(hash.unsigned_abs()));
    }
    name
}

/// The names that the folder of a working directory may have: macOS hands out names decomposed
/// that other programs write composed.
// https://github.com/anthropics/claude-code/issues/22243 (fault 32)
pub(super) fn slugs(cwd: &str) -> Vec<String> {
    let mut slugs = vec![slug(cwd)];
    for form in [cwd.nfc().collect::<String>(), cwd.nfd().collect::<String>()] {
        let slug = slug(&form);
        if !slugs.contains(&slug) {
            slugs.push(slug);
        }
    }
    slugs
}

fn base_36(mut number: u32) -> String {
    let mut digits = Vec::new();
    loop {
        digits.push(char::from_digit(number % 36, 36).unwrap_or('0'));
        number /= 36;
        if number == 0 {
            break;
        }
    }
    digits.iter().rev().collect()
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

    // https://github.com/lossless-claude/lcm/issues/534 (fault 5)
    #[test]
    fn every_unit_that_is_no_letter_or_digit_becomes_a_dash() {
        assert_eq!(slug("/home/dev/My Project_2.0 (ö)"), "-home-dev-My-Project-2-0----");
        assert_eq!(slug(r"C:\Users\x"), "C--Users-x");
        assert_eq!(slug("/a/😀"), "-a---");
    }

    // https://github.com/Untrivial-ai/agent-orchestrator/pull/1612 (fault 6)
    #[test]
    fn a_long_name_is_cut_and_gets_a_hash_of_the_whole_path() {
        let (one, two) = (format!("/{}/a", "x".repeat(250)), format!("/{}/b", "x".repeat(250)));
        let (one, two) = (slug(&one), slug(&two));
        assert!(one.len() > 201 && one.len() < 210 && one.starts_with("-xxx"));
        assert_eq!(one.get(..201), two.get(..201));
        assert_ne!(one, two);
    }

    #[test]
    fn the_hash_is_the_one_of_strings_in_java() {
        assert_eq!(base_36(96_354), "22ci");
        assert_eq!(
            "abc".encode_utf16().fold(0_i32, |h, u| h.wrapping_mul(31).wrapping_add(i32::from(u))),
            96_354
        );
    }

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
