//! The messages of what is written, one by one, with what only later messages say.

use std::collections::VecDeque;

use ibid_model::{Losses, Message, Preparation, Selection, Session, Step, Text, Timestamp};

use super::write::RULES;

/// The first time that a message of what is picked has.
pub(super) fn first_time(session: &Session, selection: &Selection) -> Option<Timestamp> {
    Preparation::new(session, selection, &RULES).find_map(|step| match step {
        Step::Message(message) => message.at,
        Step::Compaction(_) => None,
    })
}

/// Messages, each with the model that answers at it: the one of the next message of the model, or
/// behind the last of these its model. It looks no further ahead than that.
pub(super) struct Ahead<'a> {
    preparation: Preparation<'a>,
    /// What was read, and the messages of which the model is known.
    read: VecDeque<Step<'a>>,
    known: usize,
    model: Option<Text>,
}

impl<'a> Ahead<'a> {
    pub(super) fn of(session: &'a Session, selection: &Selection) -> Ahead<'a> {
        let preparation = Preparation::new(session, selection, &RULES);
        Ahead { preparation, read: VecDeque::new(), known: 0, model: None }
    }

    /// The next step and its model; `otherwise` is the model where no message names one.
    pub(super) fn next(&mut self, otherwise: Option<&Text>) -> Option<(Step<'a>, Option<Text>)> {
        while self.known == 0 {
            match self.preparation.next() {
                Some(step) => {
                    if let Step::Message(Message { model: Some(model), .. }) = &step {
                        self.model = Some(model.clone());
                        self.known = self.read.len() + 1;
                    }
                    self.read.push_back(step);
                }
                None if self.read.is_empty() => return None,
                None => {
                    self.model = self.model.take().or_else(|| otherwise.cloned());
                    self.known = self.read.len();
                }
            }
        }
        self.known -= 1;
        self.read.pop_front().map(|step| (step, self.model.clone()))
    }

    /// What had to be changed or left behind.
    pub(super) fn into_losses(self) -> Losses {
        self.preparation.into_losses()
    }
}
