//! What a script has the program do, told without the name of a tool.

use std::path::Path;

use super::mark::Mark;
use super::prompt::{ODD, Prompt};
use crate::provider::Options;

/// One thing that a model can have done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Act {
    /// A shell command that says a line.
    Shell,
    /// A shell command that says a line on standard error and ends with status 3.
    FailingShell,
    /// A shell command that takes 20 seconds.
    SleepingShell,
    /// A shell command whose text is easily broken.
    OddShell,
    /// A new file.
    Write,
    /// Another new file, beside other calls.
    SecondFile,
    /// A change in the file that [`Act::Write`] made.
    Edit,
    /// A look at the workspace's image.
    Image,
    /// The start of a subagent, as the program does it when nothing else is said: Claude Code 2.1.332 goes on
    /// beside it.
    Subagent,
    /// The start of a subagent whose end is waited for.
    AwaitedSubagent,
    /// The wait for a subagent's end.
    Wait,
}

impl Act {
    /// What it is called in the text that says that there is no tool for it.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Shell => "shell",
            Self::FailingShell => "failing shell",
            Self::SleepingShell => "sleeping shell",
            Self::OddShell => "odd shell",
            Self::Write => "write",
            Self::SecondFile => "second file",
            Self::Edit => "edit",
            Self::Image => "image",
            Self::Subagent | Self::AwaitedSubagent => "subagent",
            Self::Wait => "wait",
        }
    }

    /// Whether it is missed where there is no tool for it. Most programs wait for a subagent by themselves.
    pub(super) fn is_asked_for(self) -> bool {
        self != Self::Wait
    }
}

/// Where an act is played.
pub(super) struct Stage<'a> {
    pub(super) mark: &'a Mark,
    pub(super) options: &'a Options,
    pub(super) prompt: &'a Prompt,
}

/// The texts and paths of one act. The same act in another place has others.
pub(super) struct Detail {
    /// Place of the act in the session: turn, step, and number in the step.
    place: String,
    /// Name of the file that is written or changed; relative to the workspace.
    file: String,
    workspace: std::path::PathBuf,
    image: String,
    /// Ids of the subagents that were started since the prompt, where the program told them.
    pub(super) agents: Vec<String>,
}

impl Stage<'_> {
    pub(super) fn detail(&self, index: usize) -> Detail {
        Detail {
            place: format!("{}n{index}", self.mark),
            file: format!("mock-{}", self.mark.word()),
            workspace: self.options.workspace.clone(),
            image: self.options.image.clone(),
            agents: self.prompt.results.iter().filter_map(|result| agent(result)).collect(),
        }
    }
}

/// The id that Codex 0.171.0 gives back when it starts a subagent of its older kind: `{"agent_id": "..."}`.
fn agent(result: &str) -> Option<String> {
    let value: serde_json::Value = serde_json::from_str(result).ok()?;
    value.get("agent_id")?.as_str().map(str::to_owned)
}

impl Detail {
    /// The shell command of an act that is one.
    pub(super) fn command(&self, act: Act) -> Option<String> {
        let place = &self.place;
        match act {
            Act::Shell => Some(format!("echo mock shell {place} && pwd")),
            Act::FailingShell => Some(format!("echo mock failure {place} >&2; exit 3")),
            Act::SleepingShell => Some(format!("echo mock sleep {place}; sleep 20")),
            Act::OddShell => Some(format!("printf '%s\\n' 'mock odd {place} {}'", ODD.replace('\'', ""))),
            _ => None,
        }
    }

    /// Name of the file that an act writes or changes.
    pub(super) fn file(&self, act: Act) -> String {
        match act {
            Act::SecondFile => format!("{}-second.txt", self.file),
            _ => format!("{}.txt", self.file),
        }
    }

    /// The same with its folder, as most tools want it.
    pub(super) fn path(&self, act: Act) -> String {
        self.absolute(&self.file(act))
    }

    /// The image with its folder.
    pub(super) fn image(&self) -> String {
        self.absolute(&self.image)
    }

    fn absolute(&self, name: &str) -> String {
        Path::new(&self.workspace).join(name).to_string_lossy().into_owned()
    }

    /// The lines that an act writes.
    pub(super) fn lines(&self) -> [String; 2] {
        ["first line of the mock".to_owned(), "second line".to_owned()]
    }

    /// The line that an edit takes away, and the one that it puts there.
    pub(super) fn change(&self) -> (String, String) {
        let [_, old] = self.lines();
        (old, format!("second line, changed in {}", self.place))
    }

    /// What a subagent is told to do. No keyword is in it: the subagent answers with one text.
    pub(super) fn task(&self) -> String {
        format!("mock task {}: say one sentence", self.place)
    }
}
