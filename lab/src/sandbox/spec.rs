//! What runs in a sandbox, as a value that goes in, and how it went, as one that comes out.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// One run of a sandbox.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Spec {
    /// Counts the runs of the same sandbox.
    pub number: u32,
    /// Holds `home` and `out`.
    pub folder: PathBuf,
    /// The folder of installed programs.
    pub tools: PathBuf,
    /// The program under test.
    pub ibid: PathBuf,
    /// Directories that are empty inside: the caller's own home.
    pub hidden: Vec<PathBuf>,
    /// The provider, when there is to be one.
    pub provider: Option<Provider>,
    /// What is done, one after another.
    pub steps: Vec<Step>,
}

/// How the provider behaves.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Provider {
    /// The name of its log, in the folder of what is put out.
    pub log: String,
    /// Whether it refuses what real providers refuse.
    pub strict: bool,
    /// How many tokens a request may have, about; any number when none.
    #[serde(default)]
    pub context: Option<u64>,
}

/// One thing that is done in a sandbox.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Step {
    /// Run a program to its end.
    Run(Launch),
    /// Start a program and go on while it runs.
    Start(Launch),
    /// Wait until the provider's log holds this text.
    Await {
        /// The text.
        text: String,
        /// For at most this long.
        seconds: u64,
    },
    /// End the program that was started, with everything it started.
    Stop,
}

/// A program to run.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Launch {
    /// The program and its arguments.
    pub words: Vec<String>,
    /// Its variables, beside PATH, HOME and the like.
    pub variables: BTreeMap<String, String>,
    /// Folders before the system's on PATH.
    pub path: Vec<String>,
    /// Where it starts; none means the workspace.
    pub cwd: Option<String>,
    /// What it reads as standard input.
    pub input: Option<String>,
    /// How long it may run.
    pub seconds: u64,
}

impl Step {
    /// How long it may take.
    #[must_use]
    pub fn seconds(&self) -> u64 {
        match self {
            Step::Run(launch) => launch.seconds,
            Step::Start(_) | Step::Stop => 5,
            Step::Await { seconds, .. } => *seconds,
        }
    }
}

/// How a step ended.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Ended {
    /// The exit status; none when it was ended from outside. 0 for a step that is no program.
    pub status: Option<i32>,
    /// Whether it took longer than it may.
    pub late: bool,
    /// How long it took.
    pub seconds: f64,
}

impl fmt::Display for Ended {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.late, self.status) {
            (true, _) => write!(f, "did not end within {:.0} s", self.seconds),
            (false, Some(status)) => write!(f, "ended with status {status}"),
            (false, None) => write!(f, "was ended by a signal"),
        }
    }
}

/// The name of the file that holds what a step printed.
pub(super) fn output_name(number: u32, step: usize, kind: &str) -> String {
    format!("{number}-{step}.{kind}")
}
