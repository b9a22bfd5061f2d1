//! What the journal holds.

use std::path::PathBuf;

use ibid_model::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// One entry, as one line of JSON.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Entry {
    /// A hook reported something.
    Observed(Observed),
    /// A hook was called with something that it refused.
    Refused(Refused),
}

/// What a hook reported.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Observed {
    /// When the hook read it, by the clock of the machine.
    pub at: Timestamp,
    /// The id of the program that announced it (`claude`, `codex-app`).
    pub program: String,
    /// The root session, exactly as announced.
    pub session: String,
    /// The harness's own observation, as its parser let it through.
    pub observation: Box<RawValue>,
}

/// That a hook refused its input. Nothing of the input is kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refused {
    /// When.
    pub at: Timestamp,
    /// The program it was called for, when that is one that Ibid knows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program: Option<String>,
    /// Why.
    pub reason: Refusal,
    /// How many bytes of input were read.
    pub bytes: u64,
}

/// Why a hook refused its input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Refusal {
    /// It is no event that the program is known to announce.
    NotAnEvent,
    /// It is larger than a hook reads.
    TooLarge,
    /// It did not end in time.
    TooSlow,
    /// It could not be read.
    Unreadable,
    /// The hook was called for a program that Ibid does not know, or without one.
    UnknownProgram,
    /// The hook was called with arguments that it does not understand.
    Arguments,
}

/// Where an entry lies.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Place {
    /// The file.
    pub path: PathBuf,
    /// Its first byte.
    pub start: u64,
    /// The byte after its last, the newline not included.
    pub end: u64,
}

/// An entry with its place.
#[derive(Clone, Debug)]
pub struct Kept {
    /// Where.
    pub place: Place,
    /// What.
    pub entry: Entry,
}
