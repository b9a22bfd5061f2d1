//! Model calls and their tokens, each counted once.

use ibid_model::{MessageId, ModelCall, Source, Text, Timestamp, Usage};
use serde::{Deserialize, Serialize};

use super::event::TokenCount;
use super::records::{Tokens, UsageRecord};

/// What must be remembered to count every call once.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Calls {
    model: Option<Text>,
    /// The last total. The same one again is the same event written twice, not another call.
    total: Option<Tokens>,
    /// The last total of all.
    reported: Option<Tokens>,
    /// Whether the file has a record for each call, which the counters then only repeat.
    has_records: bool,
    /// Calls that were counted before the model was known.
    before_model: Vec<ModelCall>,
}

impl Calls {
    /// The model that writes.
    pub(super) fn model(&self) -> Option<&Text> {
        self.model.as_ref()
    }

    /// The tokens of the whole as the file last sums them.
    pub(super) fn reported(&self) -> Option<Usage> {
        self.reported.as_ref().map(Tokens::usage)
    }

    /// What a fork goes on with: its totals continue its parent's, and what it reports is its own.
    pub(super) fn of_a_fork(self) -> Calls {
        Calls { reported: None, ..self }
    }

    /// A turn names its model. Calls that waited for it come back.
    // https://github.com/junhoyeo/tokscale/pull/501 (fault 45)
    pub(super) fn model_is(&mut self, model: Text) -> Vec<ModelCall> {
        let mut waited = std::mem::take(&mut self.before_model);
        for call in &mut waited {
            call.model = Some(model.clone());
        }
        self.model = Some(model);
        waited
    }

    /// Calls whose model no turn has named.
    pub(super) fn rest(&mut self) -> Vec<ModelCall> {
        std::mem::take(&mut self.before_model)
    }

    /// Takes a record of one call.
    pub(super) fn record(
        &mut self,
        record: &UsageRecord,
        message: Option<MessageId>,
        at: Option<Timestamp>,
        inherited: bool,
        source: Source,
    ) -> Option<ModelCall> {
        self.has_records = true;
        if record.total.is_some() {
            (self.total, self.reported) = (record.total, record.total);
        }
        self.known(ModelCall {
            api_id: record.response.clone(),
            request_id: None,
            message,
            model: self.model.clone(),
            at,
            usage: record.usage.usage(),
            inherited,
            sources: vec![source],
        })
    }

    /// Takes a counter event. It is written again at the beginning of a turn, and after a
    /// compaction or rollback with nothing in it; only a new total is a new call.
    pub(super) fn count(
        &mut self,
        count: Option<TokenCount>,
        message: Option<MessageId>,
        at: Option<Timestamp>,
        inherited: bool,
        source: Source,
    ) -> Option<ModelCall> {
        // Without counters the process has made no call yet: its totals begin anew.
        let Some(count) = count else {
            if !self.has_records {
                self.total = None;
            }
            return None;
        };
        let again = self.total == Some(count.total);
        (self.total, self.reported) = (Some(count.total), Some(count.total));
        if again || self.has_records {
            return None;
        }
        let last = count.last.filter(|last| last.input_tokens > 0 || last.output_tokens > 0)?;
        self.known(ModelCall {
            api_id: None,
            request_id: None,
            message,
            model: self.model.clone(),
            at,
            usage: last.usage(),
            inherited,
            sources: vec![source],
        })
    }

    fn known(&mut self, call: ModelCall) -> Option<ModelCall> {
        if call.model.is_some() {
            return Some(call);
        }
        self.before_model.push(call);
        None
    }
}
