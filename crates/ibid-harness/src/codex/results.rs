//! Tool calls and their results, as pieces.

use ibid_model::{Block, CallId, Origin, Outcome, ResultPart, Role, Text, TextBlock, ToolResult, ToolUse};

use super::answers::Answer;
use super::event::Structured;
use super::item::Call;
use super::pieces::{Pieces, Place};
use super::state::{OpenCall, Waiting};
use crate::core::scan::ScanEvent;

impl Pieces<'_> {
    pub(super) fn call(&mut self, call: Call) {
        self.answer_from_events();
        self.tell_thoughts();
        let anonymous = call.id.is_none();
        let id = call.id.unwrap_or_else(|| format!("call_{}", self.place.id()).into());
        self.state.open_calls.push(OpenCall { id: id.clone(), name: call.name.clone(), anonymous });
        let block = Block::ToolUse(ToolUse {
            id: CallId::from(id),
            name: call.name,
            tool: call.tool,
            extra: call.extra,
        });
        self.model_says(vec![block], false);
    }

    pub(super) fn output(&mut self, call: Option<Text>, answer: Answer) {
        let open = match &call {
            Some(id) => self.state.open_calls.iter().position(|open| open.id == *id),
            None => self.state.open_calls.iter().position(|open| open.anonymous),
        };
        let open = open.map(|at| self.state.open_calls.remove(at));
        let id = match (&open, call) {
            (Some(open), _) => open.id.clone(),
            (None, Some(id)) => id,
            (None, None) => format!("call_{}", self.place.id()).into(),
        };
        if open.is_none()
            && let Some(at) = self.state.answered_by_event.iter().position(|told| *told == id)
        {
            self.state.answered_by_event.remove(at);
            return;
        }
        let in_code = open.as_ref().is_some_and(|open| open.name == "exec");
        let structured = self.structured(&id, in_code);
        self.state.picture_due = matches!(answer.parts.as_slice(),
            [ResultPart::Text(text)] if text.text == "attached local image path");
        let outcome = match (answer.outcome, &structured) {
            (Outcome::Unknown, Some(structured)) => structured.outcome,
            (outcome, _) => outcome,
        };
        self.result(ToolResult {
            call: CallId::from(id),
            content: answer.parts,
            outcome,
            structured: structured.map(|structured| structured.json),
        });
    }

    /// The structured form of a result: by its call, or, for a script (code mode), the one command
    /// that ran in it, which has an id of its own.
    fn structured(&mut self, call: &Text, in_code: bool) -> Option<Waiting> {
        let waiting = &mut self.state.waiting;
        let own = waiting.iter().position(|waiting| waiting.call == *call);
        let inside = |waiting: &Waiting| waiting.call.starts_with("exec-");
        let at = own.or_else(|| {
            let one = in_code && waiting.iter().filter(|waiting| inside(waiting)).count() == 1;
            one.then(|| waiting.iter().position(inside)).flatten()
        });
        let found = at.map(|at| waiting.remove(at));
        if in_code {
            waiting.retain(|waiting| !inside(waiting));
        }
        found
    }

    fn result(&mut self, result: ToolResult) {
        self.state.open = None;
        let mut piece = match self.state.results.clone() {
            Some(id) => self.piece(id, Role::User, Origin::Tools),
            None => {
                let piece = self.next(Role::User, Origin::Tools);
                self.state.results = Some(piece.id.clone());
                piece
            }
        };
        piece.blocks.push(Block::ToolResult(result));
        self.emit(ScanEvent::Message(piece));
    }

    /// Calls whose result only an event has told get it from there.
    pub(super) fn answer_from_events(&mut self) {
        for waiting in std::mem::take(&mut self.state.waiting) {
            let Some(at) = self.state.open_calls.iter().position(|open| open.id == waiting.call) else {
                continue;
            };
            self.state.open_calls.remove(at);
            self.state.answered_by_event.push(waiting.call.clone());
            let (carrier, start, end) = waiting.place;
            let now = (self.place, self.at, std::mem::replace(&mut self.turn, waiting.turn));
            (self.place, self.at) = (Place { carrier, start, end }, waiting.at);
            let content = waiting.text.map(|text| ResultPart::Text(TextBlock { text })).into_iter().collect();
            self.result(ToolResult {
                call: CallId::from(waiting.call),
                content,
                outcome: waiting.outcome,
                structured: Some(waiting.json),
            });
            (self.place, self.at, self.turn) = now;
        }
    }

    pub(super) fn wait(&mut self, structured: Structured) {
        let Structured { call, outcome, text, json } = structured;
        let place = (self.place.carrier, self.place.start, self.place.end);
        self.state.waiting.push(Waiting {
            call,
            outcome,
            text,
            json,
            place,
            at: self.at,
            turn: self.turn.clone(),
        });
    }
}
