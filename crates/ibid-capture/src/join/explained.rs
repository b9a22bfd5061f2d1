//! The joined record.

use std::fmt;

use ibid_model::{Finding, MessageId, SessionId, Text, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Evidence, Lane};

/// One session as its lanes tell it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Explained {
    /// The version of this form; see [`VERSION`](super::VERSION).
    pub ibid: u32,
    /// Which session.
    pub session: Named,
    /// What the lanes say of the session as a whole.
    pub facts: Vec<Fact>,
    /// The person's turns, in order.
    pub turns: Vec<Turn>,
    /// The subagents, in the order in which they began, as far as that is known.
    pub subagents: Vec<Subagent>,
    /// The lanes themselves.
    pub lanes: Vec<LaneReport>,
    /// What was wrong with the input, and where the lanes do not agree.
    pub findings: Vec<Finding>,
    /// Whether everything was there that could be: a journal that is read whole and reaches back,
    /// and a stored session without errors.
    pub complete: bool,
}

/// The name of a session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Named {
    /// The harness, as Ibid names it.
    pub harness: Text,
    /// The id.
    pub id: SessionId,
}

/// What a comparison of the lanes comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Verdict {
    /// Both lanes say it, and say the same.
    Agree,
    /// Both name the same place, and write it in different ways.
    SamePlace,
    /// They say different things. None is chosen.
    Disagree,
    /// Only the stored session says it.
    OnlyAtRest,
    /// Only observations say it.
    OnlyLifecycle,
    /// No lane says it.
    Unknown,
}

impl Verdict {
    /// By which lanes say anything, and whether they say the same.
    pub(super) fn of(at_rest: bool, lifecycle: bool, same: impl FnOnce() -> Verdict) -> Verdict {
        match (at_rest, lifecycle) {
            (true, true) => same(),
            (true, false) => Verdict::OnlyAtRest,
            (false, true) => Verdict::OnlyLifecycle,
            (false, false) => Verdict::Unknown,
        }
    }
}

/// Which fact.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum FactName {
    /// The id that observations name: that of the session, or of its root.
    Id,
    /// The working directories.
    Cwd,
    /// The models.
    Models,
    /// When it began: the first record, and the announced start.
    Started,
    /// When it ended: the last record, and the announced end.
    Ended,
    /// The transcript.
    TranscriptPath,
    /// The session that started it.
    Parent,
}

impl fmt::Display for FactName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            FactName::Id => "id",
            FactName::Cwd => "cwd",
            FactName::Models => "models",
            FactName::Started => "start",
            FactName::Ended => "end",
            FactName::TranscriptPath => "transcript path",
            FactName::Parent => "parent",
        })
    }
}

/// One value that a lane says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Said {
    /// The value, exactly. A time is RFC 3339 in UTC.
    pub value: Text,
    /// Where it is said first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evidence: Option<Evidence>,
    /// How many times the lane says it.
    pub times: u64,
}

/// One fact, by each lane.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Fact {
    /// Which.
    pub name: FactName,
    /// What the comparison comes to.
    pub verdict: Verdict,
    /// What the stored session says.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub at_rest: Vec<Said>,
    /// What observations say.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lifecycle: Vec<Said>,
}

/// One fact of a part of the session, by each lane.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Subject {
    /// What the comparison comes to.
    pub verdict: Verdict,
    /// What the stored session says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_rest: Option<Text>,
    /// What observations say; more than one when they do not agree with each other.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lifecycle: Vec<Text>,
}

/// How two lanes were found to speak of the same thing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Matched {
    /// Both give it the harness's own id.
    TurnId,
    /// Their times allow no other match.
    Time,
    /// They were not matched.
    None,
}

/// A beginning or an end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Bound {
    /// When. The time at rest where there is one.
    pub at: Timestamp,
    /// Which lane says so.
    pub lane: Lane,
    /// Where.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evidence: Option<Evidence>,
}

/// How something ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum State {
    /// A lane says that it ended.
    Ended,
    /// It was announced and no end was, or the stored session says that it was stopped: killed,
    /// interrupted, or still going on.
    Unfinished,
    /// No lane tells.
    Unknown,
}

/// One turn of the person: a prompt, and what it set off.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Turn {
    /// Its number, from 1.
    pub number: u64,
    /// The harness's own id of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<Text>,
    /// How the lanes were matched.
    pub by: Matched,
    /// The lanes that know of it.
    pub lanes: Vec<Lane>,
    /// The message of the prompt in the stored session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<MessageId>,
    /// When it began.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub begin: Option<Bound>,
    /// When it ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end: Option<Bound>,
    /// How it ended.
    pub state: State,
    /// The place of the prompt in the stored session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_rest: Option<Evidence>,
    /// The observations of it: its prompt first, then its stops.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lifecycle: Vec<Evidence>,
    /// What it may be in the other lane, when its time allows more than one answer.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub candidates: Vec<Evidence>,
}

/// How a subagent was tied to a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Tie {
    /// By the call that started it.
    Call,
    /// By the harness's id of the turn.
    TurnId,
    /// By its time: it began while this turn alone went on.
    Time,
    /// By the subagent that started it.
    Parent,
}

/// What one lane says about the turn that started a subagent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Spawned {
    /// The number of the turn.
    pub turn: u64,
    /// How that is known.
    pub by: Tie,
}

/// One subagent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Subagent {
    /// Its id, as observations give it, else that of its stored session.
    pub id: Text,
    /// Its stored session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<SessionId>,
    /// The session or subagent that started it, where that is not the session explained.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub within: Option<SessionId>,
    /// The lanes that know of it.
    pub lanes: Vec<Lane>,
    /// Its kind.
    pub kind: Subject,
    /// Its transcript.
    pub transcript_path: Subject,
    /// The turn that started it.
    pub turn: TurnOf,
    /// When it began.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub begin: Option<Bound>,
    /// When it ended: as announced, else its last record.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end: Option<Bound>,
    /// How it ended.
    pub state: State,
    /// Whether its end was announced after that of the session.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub late: bool,
    /// The call that started it, in the stored session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_rest: Option<Evidence>,
    /// The observations of it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lifecycle: Vec<Evidence>,
    /// Stored sessions that it may be, when more than one fits.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub candidates: Vec<SessionId>,
}

/// The turn that started a subagent, by each lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TurnOf {
    /// What the comparison comes to.
    pub verdict: Verdict,
    /// What the stored session says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_rest: Option<Spawned>,
    /// What observations say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lifecycle: Option<Spawned>,
}

/// What is known of a lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LaneState {
    /// It says something of the session.
    Present,
    /// The journal was read and has no observation of the session.
    Silent,
    /// The harness has no hooks that Ibid reads: what they would have said is unknown.
    NoLane,
    /// No plugin of Ibid is installed in it: what it would have said is unknown.
    NotInstalled,
    /// The journal could not be read.
    Unreadable,
}

/// One lane.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LaneReport {
    /// Which.
    pub lane: Lane,
    /// What is known of it.
    pub state: LaneState,
    /// Messages of the stored session, or observations.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub records: Option<u64>,
    /// Observations that were there more than once; they are not among the records.
    pub repeated: u64,
    /// Announced prompts that are no person's.
    pub prompts_of_the_harness: u64,
    /// Announced stops beyond the one that ends a turn.
    pub extra_stops: u64,
    /// Entries and files of the journal that could not be read.
    pub unread: u64,
    /// Whether older entries of the journal were removed.
    pub rotated_away: bool,
    /// The first time that it names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first: Option<Timestamp>,
    /// The last time that it names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last: Option<Timestamp>,
    /// The programs that announced.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub programs: Vec<Text>,
    /// The files or databases of the stored session.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub carriers: Vec<Text>,
}

impl LaneReport {
    pub(super) fn new(lane: Lane, state: LaneState) -> LaneReport {
        LaneReport {
            lane,
            state,
            records: None,
            repeated: 0,
            prompts_of_the_harness: 0,
            extra_stops: 0,
            unread: 0,
            rotated_away: false,
            first: None,
            last: None,
            programs: Vec::new(),
            carriers: Vec::new(),
        }
    }
}

/// The JSON Schema of [`Explained`], as published in `docs/schema/`.
///
/// # Errors
/// Never in practice; a schema is JSON.
pub fn schema() -> Result<String, serde_json::Error> {
    let mut text = serde_json::to_string_pretty(&schemars::schema_for!(Explained))?;
    text.push('\n');
    Ok(text)
}
