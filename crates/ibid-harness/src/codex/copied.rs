//! How far a fork or a subagent repeats its parent's history.
//!
//! What is copied counts in the parent. Its own lines begin where the file itself says so:
//! at an ordinal (subagents of 0.171), or at the first turn that is younger than the session
//! (forks since 0.100 copy turn ids, and ids of version 7 hold their time). The times of the lines
//! themselves say nothing where turns are named, since all were rewritten to the moment of the copy.

use ibid_model::{SessionId, Timestamp};
use serde::{Deserialize, Serialize};

use super::event::Event;
use super::json::Stamp;
use super::records::{Body, Record, SessionMeta, time_of_id};

/// What is known of the copied part.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Copied {
    /// Nothing is copied, or the copied part is over.
    #[default]
    Over,
    /// What stands before this ordinal is copied.
    Below(u64),
    /// What belongs to turns older than the session is copied.
    Older {
        /// When the session was made, as its id says.
        made: Option<Timestamp>,
        /// When the copy was written.
        written: Option<Timestamp>,
        /// Whether the copied lines name turns.
        names_turns: bool,
    },
}

/// How much later than the copy a line must be to be the session's own, in files whose lines name
/// no turns.
const SAME_WRITE_MS: i64 = 1000;

impl Copied {
    /// By the session's own header.
    pub(super) fn by_header(meta: &SessionMeta) -> Copied {
        meta.copied_before.map_or(Copied::Over, Copied::Below)
    }

    /// A header of another session stands right behind the own one: the parent's history follows.
    pub(super) fn parents_header(&mut self, own: Option<&SessionId>, at: Stamp) {
        if *self == Copied::Over {
            let made = own.and_then(|id| time_of_id(id.as_str()));
            *self = Copied::Older { made, written: at.known(), names_turns: false };
        }
    }

    /// Whether a record is copied. Once one is not, none is.
    // https://github.com/ccusage/ccusage/issues/950 (fault 1)
    // https://github.com/getagentseal/codeburn/issues/413 (fault 29)
    pub(super) fn holds(&mut self, record: &Record) -> bool {
        let copied = match self {
            Copied::Over => return false,
            Copied::Below(own) => match record.ordinal {
                Some(ordinal) => ordinal < *own,
                // A line without an ordinal was not written by the version that copies this way.
                None => false,
            },
            Copied::Older { made, written, names_turns } => match (turn(record), *made) {
                (Some(turn), Some(made)) => {
                    *names_turns = true;
                    time_of_id(turn).is_none_or(|began| began < made)
                }
                _ if *names_turns => true,
                _ => match (record.at.known(), *written) {
                    (Some(at), Some(written)) => {
                        at.as_milliseconds() - written.as_milliseconds() <= SAME_WRITE_MS
                    }
                    _ => true,
                },
            },
        };
        if !copied {
            *self = Copied::Over;
        }
        copied
    }
}

/// The turn that a record names.
fn turn(record: &Record) -> Option<&str> {
    let turn = match &record.body {
        Body::Turn(turn) => turn.turn.as_ref(),
        Body::Item(item) => item.turn.as_ref(),
        Body::Event(event) => match &**event {
            Event::TurnBegan(turn) | Event::TurnEnded(turn) | Event::Aborted { turn, .. } => turn.as_ref(),
            _ => None,
        },
        _ => None,
    };
    turn.map(|turn| turn.as_str())
}
