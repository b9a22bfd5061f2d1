//! What must be remembered between the records of a rollout.

use std::collections::BTreeMap;

use ibid_model::{Json, MessageId, Outcome, SessionId, Text, Timestamp, Usage};
use serde::{Deserialize, Serialize};

use super::calls::Calls;
use super::copied::Copied;
use super::doubt::{Doubt, Held};
use super::pieces::Place;
use super::records::HistoryBase;
use super::vocabulary::{Seen, Vocabulary};

/// A message of the model that goes on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Open {
    pub(super) id: MessageId,
    pub(super) has_text: bool,
    /// Whether it has calls; none of them is answered yet.
    #[serde(default)]
    pub(super) has_calls: bool,
}

/// A tool call that has no result yet.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct OpenCall {
    pub(super) id: Text,
    pub(super) name: Text,
    /// Whether the record has no id for it.
    pub(super) anonymous: bool,
}

/// The structured form of a result that has not come yet.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Waiting {
    pub(super) call: Text,
    pub(super) outcome: Outcome,
    pub(super) text: Option<Text>,
    pub(super) json: Json,
    pub(super) place: (u32, u64, u64),
    pub(super) at: Option<Timestamp>,
    #[serde(default)]
    pub(super) turn: Option<Text>,
}

/// A thought that only an event has told.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Thought {
    pub(super) text: Text,
    pub(super) place: Place,
    pub(super) at: Option<Timestamp>,
    #[serde(default)]
    pub(super) turn: Option<Text>,
}

/// What must be remembered between records. It is what a cursor holds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct State {
    pub(super) vocabulary: Vocabulary,
    /// What a scan has seen that decides the vocabulary.
    pub(super) seen: Seen,
    /// Whether the file belongs to the thread that this one was forked from: what it tells is
    /// inherited, and what it says of itself is another session's.
    pub(super) of_base: bool,
    /// Where the own header says that the thread goes on from.
    pub(super) base: Option<HistoryBase>,
    /// The id in the session's own header.
    pub(super) own: Option<SessionId>,
    /// Whether the header was read, or is known to be missing.
    pub(super) begun: bool,
    pub(super) forks: bool,
    pub(super) copied: Copied,
    pub(super) calls: Calls,
    /// The turn that goes on, and whether its beginning was told; else the settings alone named it,
    /// which old versions write behind the prompt.
    #[serde(default)]
    pub(super) turn: Option<Text>,
    #[serde(default)]
    pub(super) turn_began: bool,
    pub(super) tip: Option<MessageId>,
    pub(super) open: Option<Open>,
    pub(super) results: Option<MessageId>,
    /// What stands before each prompt of the live branch.
    pub(super) prompts: Vec<Option<MessageId>>,
    pub(super) previewed: bool,
    /// Whether a working directory was named.
    pub(super) placed: bool,
    /// Thoughts that only events have told so far.
    pub(super) thoughts: Vec<Thought>,
    pub(super) thinks_in_items: bool,
    pub(super) open_calls: Vec<OpenCall>,
    pub(super) answered_by_event: Vec<Text>,
    pub(super) waiting: Vec<Waiting>,
    /// Whether the harness will show the model a picture that a tool asked for.
    pub(super) picture_due: bool,
    /// A text of the model that was taken from an event, in case its item follows.
    pub(super) told: Option<Text>,
    /// A message that looks like scaffolding, until it is known whether a person typed it.
    pub(super) held: Option<Held>,
    /// What decides it.
    #[serde(default)]
    pub(super) doubt: Doubt,
    pub(super) census: Census,
}

impl State {
    /// Where the own header says that the thread goes on from.
    pub(super) fn base(&self) -> Option<&HistoryBase> {
        self.base.as_ref()
    }

    /// At the beginning of a file in which these records tell the conversation.
    pub(super) fn reading(vocabulary: Vocabulary) -> State {
        State { vocabulary, ..State::default() }
    }

    /// The tokens of the whole as the file last sums them.
    pub(super) fn reported_usage(&self) -> Option<Usage> {
        self.calls.reported()
    }
}

/// How many records of which sort there are.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Census {
    /// Of Codex.
    pub(super) known: u64,
    /// Of the stream that `codex exec --json` prints.
    pub(super) stream: u64,
    /// Of no version.
    pub(super) strangers: u64,
    pub(super) messages: u64,
    pub(super) unreadable_times: u64,
    pub(super) unknown: BTreeMap<String, u64>,
}
