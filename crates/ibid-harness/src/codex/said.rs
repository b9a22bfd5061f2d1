//! What the two sides say, as pieces.

use ibid_model::{Block, Origin, Role, Thinking};

use super::content::Part;
use super::item::Injected;
use super::pieces::Pieces;
use super::state::{Open, Thought};
use super::vocabulary::Teller;
use crate::core::scan::{Fact, ScanEvent};

impl Pieces<'_> {
    pub(super) fn user(&mut self, parts: Vec<Part>, injected: Option<Injected>, teller: Teller) {
        if injected.is_none() && self.state.vocabulary.user != teller {
            return;
        }
        self.answer_from_events();
        self.tell_thoughts();
        self.close();
        self.state.told = None;
        let only_pictures = !parts.is_empty() && parts.iter().all(|part| matches!(part, Part::Image(_)));
        let due = std::mem::take(&mut self.state.picture_due) && only_pictures;
        let origin = match injected {
            Some(Injected::Harness) => Origin::Harness,
            Some(Injected::Agent) => Origin::Agent,
            None if due => Origin::Harness,
            None => Origin::Person,
        };
        let before = self.state.tip.clone();
        let mut piece = self.next(Role::User, origin);
        if origin == Origin::Person && self.turn_is_old {
            piece.turn = None;
        }
        piece.blocks = parts.into_iter().map(Part::into_block).collect();
        if origin == Origin::Person {
            self.state.prompts.push(before);
            if !self.state.previewed {
                let text = piece.texts().find(|text| !text.is_blank()).cloned();
                if let Some(text) = text {
                    self.state.previewed = true;
                    self.fact(Fact::Preview(text));
                }
            }
        }
        self.emit(ScanEvent::Message(piece));
    }

    pub(super) fn assistant(&mut self, parts: Vec<Part>) {
        self.answer_from_events();
        self.tell_thoughts();
        if parts.is_empty() {
            return;
        }
        let blocks = parts.into_iter().map(Part::into_block).collect();
        self.model_says(blocks, true);
    }

    /// Adds to the message of the model that goes on, or begins one. A second text begins another
    /// message: each text was one item. But behind a call that is not answered yet it belongs to the
    /// message of the call: the model said both before it saw a result.
    pub(super) fn model_says(&mut self, blocks: Vec<Block>, text: bool) {
        self.state.results = None;
        let calls = blocks.iter().any(|block| matches!(block, Block::ToolUse(_)));
        let begins = |open: &Open| text && open.has_text && !open.has_calls;
        let going_on = self.state.open.as_mut().filter(|open| !begins(open));
        let mut piece = match going_on {
            Some(open) => {
                open.has_text |= text;
                open.has_calls |= calls;
                let id = open.id.clone();
                self.piece(id, Role::Assistant, Origin::Model)
            }
            None => {
                let piece = self.next(Role::Assistant, Origin::Model);
                self.state.open = Some(Open { id: piece.id.clone(), has_text: text, has_calls: calls });
                piece
            }
        };
        piece.model = self.state.calls.model().cloned();
        piece.blocks = blocks;
        self.emit(ScanEvent::Message(piece));
    }

    /// Thoughts that no item has told are told by their events.
    pub(super) fn tell_thoughts(&mut self) {
        let thoughts = std::mem::take(&mut self.state.thoughts);
        if self.state.thinks_in_items {
            return;
        }
        // They stand where their events do, and not where the next record is: a message that they
        // begin must not take the id of what that record says.
        let here = (self.place, self.at, self.turn.clone());
        for Thought { text, place, at, turn } in thoughts {
            if !text.is_blank() {
                (self.place, self.at, self.turn) = (place, at, turn);
                self.model_says(vec![Block::Thinking(Thinking { text, tokens: Vec::new() })], false);
            }
        }
        (self.place, self.at, self.turn) = here;
    }
}
