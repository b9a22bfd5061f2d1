//! What a harness is, apart from its data.

use std::fmt;

use super::capture::CaptureProfile;

/// The id of a harness, in kebab-case (`claude-code`). Only the registry makes them, so every
/// value names a harness that Ibid knows.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct HarnessId(&'static str);

impl HarnessId {
    /// Declares an id. For the harness folders of this crate.
    pub(crate) const fn declare(id: &'static str) -> HarnessId {
        HarnessId(id)
    }

    /// The id as text.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        self.0
    }
}

impl fmt::Display for HarnessId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl fmt::Debug for HarnessId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl serde::Serialize for HarnessId {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.0)
    }
}

impl<'de> serde::Deserialize<'de> for HarnessId {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = <String as serde::Deserialize>::deserialize(deserializer)?;
        crate::find(&name)
            .map(|harness| harness.declaration().id)
            .ok_or_else(|| serde::de::Error::custom(format!("no harness is called {name}")))
    }
}

/// What Ibid can do with a harness's sessions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Capabilities {
    /// Sessions lie in a store that can be searched. Documents (Simple, Ibid JSON) have none.
    pub store: bool,
    /// A common session can be written as one of this harness.
    pub write: bool,
    /// The program can be started on one session.
    pub resume: bool,
    /// Subagents are sessions of their own.
    pub subagents: bool,
    /// A session can have side branches.
    pub branches: bool,
    /// A compaction can be marked.
    pub compaction: bool,
}

/// How the program is started on a session. `{id}` and `{path}` in an argument stand for the
/// session's id and the path of its transcript; they are put in after the arguments were split,
/// so that an id can never become an argument of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResumeRecipe {
    /// The program, looked up on PATH.
    pub program: &'static str,
    /// Its arguments.
    pub arguments: &'static [&'static str],
    /// Whether it must be started in the session's working directory to find it.
    pub in_cwd: bool,
}

/// What the evidence host calls a harness. The names and their order are part of its protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct EvidencePlatform {
    /// The place in the list of platforms, from 0.
    pub rank: u8,
    /// The name (`claude`, not `claude-code`).
    pub name: &'static str,
}

/// What a harness says of itself. Every surface (CLI, documentation, services) reads this.
#[derive(Debug)]
pub struct Declaration {
    /// The id.
    pub id: HarnessId,
    /// The name for people.
    pub name: &'static str,
    /// Other names that are understood, compared without regard to case.
    pub aliases: &'static [&'static str],
    /// What Ibid can do with it.
    pub capabilities: Capabilities,
    /// How to carry a session on.
    pub resume: Option<ResumeRecipe>,
    /// The context window to warn about, in tokens: the smallest among its usual models.
    pub context_window: u64,
    /// The versions whose files were seen, newest first.
    pub versions_seen: &'static [&'static str],
    /// What the evidence host calls it; none when it is no platform of that protocol.
    pub evidence: Option<EvidencePlatform>,
    /// The ways in which it can be captured, one for each of its programs (a command, a desktop
    /// app); none when Ibid only reads its sessions.
    pub capture: &'static [CaptureProfile],
    /// The days after which the harness deletes sessions by itself, when it does.
    pub retention_days: Option<u32>,
}

impl Declaration {
    /// Whether `name` means this harness: its id or an alias, in any case, `_` and `-` alike.
    #[must_use]
    pub fn is_called(&self, name: &str) -> bool {
        let same = |known: &str| {
            known.len() == name.len()
                && known.bytes().zip(name.bytes()).all(|(a, b)| {
                    let fold = |c: u8| if c == b'_' { b'-' } else { c.to_ascii_lowercase() };
                    fold(a) == fold(b)
                })
        };
        same(self.id.as_str()) || self.aliases.iter().any(|alias| same(alias))
    }
}
