//! How a harness can be captured while it runs, apart from how its sessions are read.
//!
//! One harness may be several programs (a command and a desktop app) that share their sessions and
//! differ in how they are started and observed: each is a [`CaptureProfile`] of the declaration.

use ibid_model::{Observation, ThreadRule};

use super::hook_object::Refused;
use super::launch::Planner;
use super::plugin::Plugin;

/// Which user agents of requests are the program's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UserAgentRule {
    /// None tells it.
    None,
    /// Those that begin with this, in any case. A prefix and not a part: `some-claude-like` is
    /// another program.
    Prefix(&'static str),
}

impl UserAgentRule {
    /// Whether a request with this user agent is the program's.
    #[must_use]
    pub fn covers(self, user_agent: &str) -> bool {
        match self {
            UserAgentRule::None => false,
            UserAgentRule::Prefix(prefix) => user_agent
                .as_bytes()
                .get(..prefix.len())
                .is_some_and(|beginning| beginning.eq_ignore_ascii_case(prefix.as_bytes())),
        }
    }
}

/// How the program is started so that its traffic can be captured.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Launch {
    /// Arguments and variables make it use a gateway.
    Recipe(Planner),
    /// Its plugin takes the gateway from variables; whoever starts it sets them.
    ConsumerOwned,
    /// It cannot be started by another program.
    Unsupported,
}

/// What ties a request to a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Attribution {
    /// A file for each running process names its session.
    SessionsDir,
    /// The process has the transcript of its session open.
    OpenRollout,
    /// Its plugin writes the identity into each request.
    SelfAttributing,
    /// Its hooks announce sessions, which are then looked up by the ids in requests.
    LifecycleHooks,
    /// Nothing does.
    None,
}

/// Which files are the transcripts of its sessions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Transcripts {
    /// Claude Code's projects folder.
    ClaudeProjects,
    /// Codex's rollouts.
    CodexRollouts,
    /// Its sessions are not files that grow.
    None,
}

/// How its traffic reaches a gateway.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Mechanism {
    /// It is started with another endpoint.
    LaunchRedirect,
    /// An installed plugin redirects it.
    InstalledPlugin,
    /// Its configuration redirects it, and its hooks say who it is.
    LifecycleHooks,
}

/// One program of a harness, as capture sees it.
#[derive(Debug)]
pub struct CaptureProfile {
    /// The id in envelopes, journals and on the command line (`claude`, not `claude-code`).
    pub id: &'static str,
    /// Other names that are understood and never listed.
    pub aliases: &'static [&'static str],
    /// The name for people.
    pub name: &'static str,
    /// Which user agents are its own.
    pub user_agent: UserAgentRule,
    /// How it is started for capture.
    pub launch: Launch,
    /// What ties its requests to sessions.
    pub attribution: Attribution,
    /// What in a request tells its sub-thread, in the order in which it is believed; none when
    /// nothing does.
    pub threads: &'static [ThreadRule],
    /// Where its transcripts are.
    pub transcripts: Transcripts,
    /// How its traffic is redirected.
    pub mechanism: Mechanism,
    /// What must be installed for its lifecycle lane.
    pub plugin: Plugin,
    /// What it announces; none when it has no lifecycle lane.
    pub lifecycle: Option<&'static Lifecycle>,
}

/// What a program announces at its boundaries, and how that is read.
#[derive(Debug)]
pub struct Lifecycle {
    /// The events that are read, in the order in which its plugin registers them.
    pub events: &'static [&'static str],
    /// Events that are known by name and deliberately not read.
    pub unread: &'static [&'static str],
    /// Reads the input of one hook: exactly one JSON object, against a closed allowlist.
    pub read: fn(&[u8]) -> Result<Announced, NotAnEvent>,
    /// Reads the native form that a journal kept; none when it is not in that form.
    pub kept: fn(&str) -> Option<Observation>,
}

/// What a hook said, as far as the allowlist lets it through.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Announced {
    /// The harness's own observation as one line of JSON, for the journal.
    pub native: String,
    /// The same in the common form.
    pub observation: Observation,
}

impl Announced {
    /// What is kept of one event, in the harness's own form and in the common one.
    ///
    /// # Errors
    ///
    /// [`Refused`] when the own form cannot be written as JSON.
    pub fn of(native: &impl serde::Serialize, observation: Observation) -> Result<Announced, Refused> {
        let native = serde_json::to_string(native).map_err(|_| Refused)?;
        Ok(Announced { native, observation })
    }
}

/// The input of a hook is no event that the program is known to announce. Nothing of the input is
/// in it, nor in its text: what was refused may hold a prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("hook input is not a recognised {name} lifecycle event")]
pub struct NotAnEvent {
    /// The name of the program.
    pub name: &'static str,
}

/// Every profile with the id of its harness, in the order of the registry.
pub fn profiles() -> impl Iterator<Item = (super::HarnessId, &'static CaptureProfile)> {
    crate::all().iter().flat_map(|harness| {
        let declaration = harness.declaration();
        declaration.capture.iter().map(|profile| (declaration.id, profile))
    })
}

/// What tells the sub-thread of a request whose program is not known: the rules of all profiles, in
/// the order of the registry, each once.
#[must_use]
pub fn thread_rules() -> Vec<ThreadRule> {
    let mut rules = Vec::new();
    for rule in profiles().flat_map(|(_, profile)| profile.threads) {
        if !rules.contains(rule) {
            rules.push(*rule);
        }
    }
    rules
}

/// The profile of this id or alias, in any case and without the white space around it.
#[must_use]
pub fn profile(name: &str) -> Option<(super::HarnessId, &'static CaptureProfile)> {
    let name = name.trim();
    let is_called = |profile: &CaptureProfile| {
        std::iter::once(&profile.id).chain(profile.aliases).any(|known| known.eq_ignore_ascii_case(name))
    };
    profiles().find(|(_, profile)| is_called(profile))
}
