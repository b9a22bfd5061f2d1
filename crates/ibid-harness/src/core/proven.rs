//! Which versions of the real programs were proven to resume what Ibid writes, or to be read.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

use super::HarnessId;

/// The file that the lab works from; this is the copy of when Ibid was built.
const FILE: &str = include_str!("../../versions.json");

/// The version of a program that was proven last.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Proven {
    /// The version.
    pub version: String,
    /// The day of the run, as in `2026-01-31`.
    pub on: String,
}

#[derive(Deserialize)]
struct Versions {
    programs: BTreeMap<String, Program>,
}

#[derive(Deserialize)]
struct Program {
    passed: Option<Proven>,
    read: Option<Proven>,
}

static VERSIONS: LazyLock<Option<Versions>> = LazyLock::new(|| serde_json::from_str(FILE).ok());

/// The version of the harness's program with which every cell of the lab passed last; none for a
/// harness whose program the lab does not run.
#[must_use]
pub fn proven(harness: HarnessId) -> Option<&'static Proven> {
    VERSIONS.as_ref()?.programs.get(harness.as_str())?.passed.as_ref()
}

/// The same of a program whose sessions Ibid reads and writes none of: every session that it made
/// was read as it was sent.
#[must_use]
pub fn proven_to_be_read(harness: HarnessId) -> Option<&'static Proven> {
    VERSIONS.as_ref()?.programs.get(harness.as_str())?.read.as_ref()
}

impl Proven {
    /// Whether a version is newer than the proven one. None when the two cannot be compared: only
    /// versions that are numbers between dots can.
    #[must_use]
    pub fn is_older_than(&self, version: &str) -> Option<bool> {
        Some(numbers(version)? > numbers(&self.version)?)
    }
}

fn numbers(version: &str) -> Option<Vec<u64>> {
    version.split('.').map(|part| part.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_compared_by_their_numbers() {
        let proven = Proven { version: "1.9.3".to_owned(), on: String::new() };
        assert_eq!(proven.is_older_than("1.10.0"), Some(true));
        assert_eq!(proven.is_older_than("1.9.3"), Some(false));
        assert_eq!(proven.is_older_than("1.9"), Some(false));
        assert_eq!(proven.is_older_than("2.0.0-beta"), None);
    }

    #[test]
    fn the_programs_that_the_lab_runs_are_proven() {
        for name in ["claude-code", "codex", "opencode", "pi"] {
            let id = crate::find(name).map(|harness| harness.declaration().id);
            assert!(id.and_then(proven).is_some(), "{name}");
        }
        for name in ["copilot", "grok", "qwen", "kimi"] {
            let id = crate::find(name).map(|harness| harness.declaration().id);
            assert!(id.and_then(proven_to_be_read).is_some() && id.and_then(proven).is_none(), "{name}");
        }
        assert_eq!(crate::find("simple").map(|harness| harness.declaration().id).and_then(proven), None);
    }
}
