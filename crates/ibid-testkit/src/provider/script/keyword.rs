//! The words that choose a script, and the scripts.

use super::act::Act;

/// A word in a prompt that chooses a script; see the [table](crate::provider#scripts).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keyword {
    /// `do-think`
    Think,
    /// `do-shell`
    Shell,
    /// `do-fail`
    Fail,
    /// `do-sleep`
    Sleep,
    /// `do-edit`
    Edit,
    /// `do-tools`
    Tools,
    /// `do-parallel`
    Parallel,
    /// `do-image`
    Image,
    /// `do-subagent`
    Subagent,
    /// `do-odd`
    Odd,
    /// `do-work`
    Work,
    /// `do-all`
    All,
}

impl Keyword {
    /// Every keyword.
    pub const EVERY: [Self; 12] = [
        Self::Think,
        Self::Shell,
        Self::Fail,
        Self::Sleep,
        Self::Edit,
        Self::Tools,
        Self::Parallel,
        Self::Image,
        Self::Subagent,
        Self::Odd,
        Self::Work,
        Self::All,
    ];

    /// The word.
    pub fn word(self) -> &'static str {
        match self {
            Self::Think => "do-think",
            Self::Shell => "do-shell",
            Self::Fail => "do-fail",
            Self::Sleep => "do-sleep",
            Self::Edit => "do-edit",
            Self::Tools => "do-tools",
            Self::Parallel => "do-parallel",
            Self::Image => "do-image",
            Self::Subagent => "do-subagent",
            Self::Odd => "do-odd",
            Self::Work => "do-work",
            Self::All => "do-all",
        }
    }

    /// The first keyword in a text.
    pub(super) fn find(text: &str) -> Option<Self> {
        let words = text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '-'));
        words.into_iter().find_map(|word| Self::EVERY.into_iter().find(|keyword| keyword.word() == word))
    }

    /// Whether the script begins with a thought, asked for or not.
    pub(super) fn thinks(self) -> bool {
        matches!(self, Self::Think | Self::Work | Self::All)
    }

    /// Whether the last text holds characters that are often broken.
    pub(super) fn is_odd(self) -> bool {
        matches!(self, Self::Odd | Self::Work | Self::All)
    }

    /// What is done, step by step; what stands in one step is called at once.
    pub(super) fn steps(self) -> Vec<Vec<Act>> {
        match self {
            Self::Think => Vec::new(),
            Self::Shell => vec![vec![Act::Shell]],
            Self::Fail => vec![vec![Act::FailingShell]],
            Self::Sleep => vec![vec![Act::SleepingShell]],
            Self::Edit => vec![vec![Act::Write], vec![Act::Edit]],
            Self::Tools => vec![vec![Act::Shell], vec![Act::Write]],
            Self::Parallel => vec![vec![Act::Shell, Act::Shell, Act::SecondFile]],
            Self::Image => vec![vec![Act::Image]],
            Self::Subagent => vec![vec![Act::Subagent], vec![Act::Wait]],
            Self::Odd => vec![vec![Act::OddShell]],
            Self::Work => {
                let parts = [Self::Shell, Self::Fail, Self::Edit, Self::Parallel, Self::Odd];
                parts.into_iter().flat_map(Self::steps).collect()
            }
            Self::All => {
                let parts = [Self::Shell, Self::Fail, Self::Edit, Self::Parallel, Self::Image, Self::Odd];
                let mut steps: Vec<_> = parts.into_iter().flat_map(Self::steps).collect();
                steps.extend([vec![Act::AwaitedSubagent], vec![Act::Wait]]);
                steps
            }
        }
    }
}
