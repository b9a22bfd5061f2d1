//! What a session cost, each token once.
//!
//! An answer has its own tokens. The program's telemetry tells of every response once more, and of
//! those that are no answer: compressions, what its helpers asked. A response that an answer tells of
//! comes right before it with the same counts.

use std::collections::HashMap;

use ibid_model::{MessageId, ModelCall, Source, Text, Timestamp};

use super::content;
use super::records::{Telemetry, Tokens};

/// The calls of a session.
#[derive(Debug, Default)]
pub(super) struct Spending {
    calls: Vec<Option<ModelCall>>,
    by_message: HashMap<MessageId, usize>,
    /// Measured responses that no answer has told of, by their counts: the last one first.
    measured: HashMap<Counts, Vec<usize>>,
    responses: HashMap<Text, usize>,
}

type Counts = (Option<u64>, Option<u64>, Option<u64>);

fn counts(tokens: &Tokens) -> Counts {
    (tokens.prompt, tokens.candidates, tokens.cached)
}

impl Spending {
    /// The call of an answer; of several rows with one id the last counts.
    pub(super) fn answer(&mut self, mut call: ModelCall, tokens: Tokens) {
        if let Some(twin) = self.measured.get_mut(&counts(&tokens)).and_then(Vec::pop)
            && let Some(measured) = self.calls.get_mut(twin).and_then(Option::take)
        {
            call.api_id = measured.api_id;
            call.sources.extend(measured.sources);
        }
        let known = call.message.as_ref().and_then(|id| self.by_message.get(id)).copied();
        if let Some(earlier) = known.and_then(|at| self.calls.get_mut(at)) {
            if let Some(earlier) = earlier.take() {
                call.sources.extend(earlier.sources);
                call.model = call.model.or(earlier.model);
            }
            *earlier = Some(call);
            return;
        }
        if let Some(id) = &call.message {
            self.by_message.insert(id.clone(), self.calls.len());
        }
        self.calls.push(Some(call));
    }

    /// A response that was measured.
    pub(super) fn measured(&mut self, telemetry: &Telemetry, at: Option<Timestamp>, source: Source) {
        // One id for all responses, as some providers hand out, is none.
        let id = telemetry.response.clone().filter(|id| !id.is_blank());
        let api_id = id.filter(|id| self.responses.insert(id.clone(), self.calls.len()).is_none());
        let place = self.measured.entry(counts(&telemetry.tokens)).or_default();
        place.push(self.calls.len());
        self.calls.push(Some(ModelCall {
            api_id,
            request_id: None,
            message: None,
            model: telemetry.model.clone(),
            at,
            usage: content::usage(&telemetry.tokens),
            inherited: false,
            sources: vec![source],
        }));
    }

    /// The calls in the order in which they are told.
    pub(super) fn finish(self) -> Vec<ModelCall> {
        self.calls.into_iter().flatten().collect()
    }
}
