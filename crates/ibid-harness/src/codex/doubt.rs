//! Whether a person typed what looks like scaffolding.
//!
//! A message that Codex puts in front of the model is told from a prompt by how it begins, in
//! files that do not say it by `content_item_kinds`. A person may type such a text too. What
//! decides then is the event of the prompt: Codex writes it right behind the item (measured in
//! 0.47.0, 0.100.0 and 0.171.0), and none for what it puts there itself. Other programs write it
//! before the item.

use ibid_model::{Text, Timestamp};
use serde::{Deserialize, Serialize};

use super::content::Part;
use super::event::Event;
use super::item::{Injected, Kind, Message};
use super::pieces::{Pieces, Place};
use super::records::{Body, Record};
use super::vocabulary::Teller;

/// Follows the records of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Doubt {
    /// The texts of the last message, when it looks like scaffolding.
    item: Vec<Text>,
    /// The texts of the last prompt that an event has told, and no item behind it.
    event: Vec<Text>,
}

/// What a record decides.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Found {
    /// Whether a person typed the message before the record; none when that was and stays open.
    pub(super) before: Option<bool>,
    /// Whether the record is a message that looks like scaffolding, and a person typed it.
    pub(super) this: bool,
}

impl Doubt {
    /// Takes the next record.
    pub(super) fn take(&mut self, record: &Record) -> Found {
        match &record.body {
            Body::Event(event) => match &**event {
                Event::User { parts, .. } => {
                    let told = texts(parts);
                    let item = std::mem::take(&mut self.item);
                    let same = same_words(&item, &told);
                    self.event = if same { Vec::new() } else { told };
                    Found { before: (!item.is_empty()).then_some(same), this: false }
                }
                Event::TurnBegan(_) | Event::TurnEnded(_) | Event::Quiet => Found::default(),
                _ => self.decided(),
            },
            Body::Item(item) => {
                let found = self.decided();
                let Kind::Message(message) = &item.kind else { return found };
                let event = std::mem::take(&mut self.event);
                if !message.doubtful {
                    return found;
                }
                let item = texts(&message.parts);
                let this = same_words(&item, &event);
                if !this {
                    self.item = item;
                }
                Found { this, ..found }
            }
            Body::Turn(_) | Body::Quiet | Body::Unknown(_) | Body::Stream | Body::Stranger => {
                Found::default()
            }
            Body::Meta(_) | Body::Compacted(_) | Body::Usage(_) => self.decided(),
        }
    }

    /// No event of a prompt stands behind the last message.
    fn decided(&mut self) -> Found {
        let open = !std::mem::take(&mut self.item).is_empty();
        Found { before: open.then_some(false), this: false }
    }
}

fn texts(parts: &[Part]) -> Vec<Text> {
    let text = |part: &Part| match part {
        Part::Text(text) => Some(text.clone()),
        _ => None,
    };
    parts.iter().filter_map(text).collect()
}

/// An event joins the texts of its item in one way or another.
fn same_words(item: &[Text], event: &[Text]) -> bool {
    fn letters(texts: &[Text]) -> impl Iterator<Item = char> {
        texts.iter().flat_map(|text| text.chars()).filter(|letter| !letter.is_whitespace())
    }
    letters(item).next().is_some() && letters(item).eq(letters(event))
}

/// A message that waits for the record that decides whose it is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Held {
    texts: Vec<Text>,
    by: Injected,
    place: Place,
    at: Option<Timestamp>,
    inherited: bool,
    #[serde(default)]
    turn: Option<Text>,
    /// Whether it was told already, as put there, since nothing more was in the file.
    told: bool,
}

impl Pieces<'_> {
    /// Keeps a message until it is known whose it is.
    pub(super) fn hold(&mut self, message: Message) {
        let Some(by) = message.injected else { return };
        let texts = texts(&message.parts);
        let (place, at, inherited, turn) = (self.place, self.at, self.inherited, self.turn.clone());
        self.state.held = Some(Held { texts, by, place, at, inherited, turn, told: false });
    }

    /// Tells the message that waits, when a record decides whose it is.
    pub(super) fn settle(&mut self, found: Found) {
        let Some(persons) = found.before else { return };
        match self.state.held.take() {
            Some(held) if held.told => self.told_otherwise = persons,
            Some(held) => self.tell_held(held, persons),
            None => {}
        }
    }

    /// Nothing more is in the file: a message that waits is no prompt, as far as it goes.
    pub(super) fn settle_for_now(&mut self) {
        let Some(held) = self.state.held.clone().filter(|held| !held.told) else { return };
        self.state.held = Some(Held { told: true, texts: Vec::new(), ..held.clone() });
        self.tell_held(held, false);
    }

    fn tell_held(&mut self, held: Held, persons: bool) {
        let Held { texts, by, place, at, inherited, turn, .. } = held;
        let now = (self.place, self.at, self.inherited, std::mem::replace(&mut self.turn, turn));
        (self.place, self.at, self.inherited) = (place, at, inherited);
        let parts = texts.into_iter().map(Part::Text).collect();
        self.user(parts, Some(by).filter(|_| !persons), Teller::Items);
        (self.place, self.at, self.inherited, self.turn) = now;
    }
}
