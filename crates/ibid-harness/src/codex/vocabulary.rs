//! Which records tell the conversation. A file can say the same thing up to three times: as
//! response items, as message events, and as completed items. For each side of the conversation
//! one of them counts, never two.

use ibid_model::Role;
use serde::{Deserialize, Serialize};

use super::doubt::Doubt;
use super::event::{Event, Lane};
use super::item::Kind;
use super::records::{Body, Record};

/// The records that tell one side of the conversation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Teller {
    /// Response items.
    #[default]
    Items,
    /// `user_message` or `agent_message` events.
    Messages,
    /// `item_completed` events.
    Completed,
}

impl Teller {
    /// Whether events of this lane are the ones that count.
    pub(super) fn is(self, lane: Lane) -> bool {
        matches!((self, lane), (Teller::Messages, Lane::Message) | (Teller::Completed, Lane::Completed))
    }
}

/// What counts for each side.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Vocabulary {
    pub(super) user: Teller,
    pub(super) assistant: Teller,
}

/// What was seen of a file that decides it.
// https://github.com/pacphi/agentic-kit/issues/170 (fault 11)
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Seen {
    user: [bool; 3],
    assistant: [bool; 3],
    #[serde(default)]
    doubt: Doubt,
}

impl Seen {
    /// Looks at one record.
    pub(super) fn look(&mut self, record: &Record) {
        let found = self.doubt.take(record);
        if let Some(seen) = self.user.first_mut() {
            *seen |= found.this || found.before == Some(true);
        }
        let (side, teller) = match &record.body {
            Body::Item(item) => match &item.kind {
                Kind::Message(message) if message.role == Role::Assistant => (&mut self.assistant, 0),
                Kind::Message(message)
                    if message.role == Role::User
                        && message.injected.is_none()
                        && !message.parts.is_empty() =>
                {
                    (&mut self.user, 0)
                }
                _ => return,
            },
            Body::Event(event) => match &**event {
                Event::User { lane, .. } => (&mut self.user, number(*lane)),
                Event::Agent { lane, .. } => (&mut self.assistant, number(*lane)),
                _ => return,
            },
            _ => return,
        };
        if let Some(seen) = side.get_mut(teller) {
            *seen = true;
        }
    }

    /// Whether nothing that follows can change what counts for the user's side.
    pub(super) fn user_is_decided(&self) -> bool {
        self.user.first() == Some(&true)
    }

    /// Whether nothing that follows can change what counts.
    pub(super) fn is_decided(&self) -> bool {
        self.user_is_decided() && self.assistant.first() == Some(&true)
    }

    /// What counts, by all that was seen.
    pub(super) fn vocabulary(&self) -> Vocabulary {
        Vocabulary { user: first(self.user), assistant: first(self.assistant) }
    }
}

fn number(lane: Lane) -> usize {
    match lane {
        Lane::Message => 1,
        Lane::Completed => 2,
    }
}

fn first([items, messages, completed]: [bool; 3]) -> Teller {
    match (items, messages, completed) {
        (false, true, _) => Teller::Messages,
        (false, false, true) => Teller::Completed,
        _ => Teller::Items,
    }
}
