//! What tells one turn of the model from every other, made from the request alone.

use std::fmt;

use sha2::{Digest, Sha256};

/// Which turn of the model this is: after how many prompts, at which step of the script, for which prompt.
///
/// Two prompts of one session differ in `turn`, two steps in `step`, and two sessions in `prompt` as long as they
/// begin with different prompts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::provider) struct Mark {
    /// How many prompts the request holds, this one included.
    pub(super) turn: usize,
    /// How many times tools were called since the prompt.
    pub(super) step: usize,
    /// A digest of the prompt.
    pub(super) prompt: u64,
}

impl Mark {
    pub(super) fn digest(text: &str) -> u64 {
        Sha256::digest(text).iter().take(8).fold(0, |sum, byte| (sum << 8) | u64::from(*byte))
    }

    /// An id with a prefix (`toolu_`, `call_`, ...), for the `index`th thing of its kind in this turn.
    pub(in crate::provider) fn id(&self, prefix: &str, index: usize) -> String {
        format!("{prefix}{self}n{index}_{:016x}", self.prompt)
    }

    /// The step in which an id was made, if it is one of these.
    pub(super) fn step_of(id: &str) -> Option<usize> {
        let (_, tail) = id.split_once('_')?;
        let (mark, _) = tail.split_once('_')?;
        let (turn, rest) = mark.strip_prefix('t')?.split_once('s')?;
        let (step, index) = rest.split_once('n')?;
        let numbers = [turn, step, index].map(|text| text.parse::<usize>().ok());
        match numbers {
            [Some(_), Some(step), Some(_)] => Some(step),
            _ => None,
        }
    }

    /// A word for names of files, unlike those of other prompts.
    pub(super) fn word(&self) -> String {
        format!("t{}-{:06x}", self.turn, self.prompt >> 40)
    }
}

impl fmt::Display for Mark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "t{}s{}", self.turn, self.step)
    }
}
