//! What a session cost, each token once.
//!
//! 1.0.102 writes a receipt for every call (`session.usage_record`) and sums of all of them when it
//! ends (`session.shutdown`). Earlier versions have the output of each answer and the sums. So the
//! calls are the receipts, else the answers; and what the sums hold beyond these is one more entry
//! for each model, so that nothing is counted twice and nothing is left out.

use std::collections::{BTreeMap, HashMap, HashSet};

use ibid_model::{MessageId, ModelCall, Source, Text, Timestamp, Usage};

use super::records::{Answer, Compacted, Receipt, Shutdown, Tokens};

/// What makes two receipts one: the provider's id of the call, and the receipt's own number.
type ReceiptKey = (Option<Text>, Option<(Text, u64)>);

/// What a session cost.
#[derive(Debug, Default)]
pub(super) struct Spending {
    /// Whether there are receipts, so that answers and compactions need not be counted.
    pub(super) has_receipts: bool,
    calls: Vec<ModelCall>,
    by_api_call: HashMap<Text, usize>,
    /// The calls of answers by the answers' ids.
    by_answer: HashMap<MessageId, usize>,
    receipts: HashSet<ReceiptKey>,
    /// The last sums of each run, by when it began.
    sums: BTreeMap<Option<Text>, Shutdown>,
    last_sums: Option<(Option<Timestamp>, Source)>,
}

/// Copilot counts what the cache gave and took as input, whatever the provider counts (measured
/// with providers of both kinds); a part that is larger than the whole leaves nothing.
fn usage(tokens: &Tokens) -> Usage {
    let cached = tokens.cache_read.unwrap_or(0).saturating_add(tokens.cache_write.unwrap_or(0));
    Usage {
        input: tokens.input.map(|input| input.saturating_sub(cached)),
        output: tokens.output,
        cache_read: tokens.cache_read,
        cache_write: tokens.cache_write,
        reasoning: tokens.reasoning,
        ..Usage::default()
    }
}

impl Spending {
    pub(super) fn receipt(&mut self, receipt: &Receipt, at: Option<Timestamp>, source: Source) {
        let known = receipt.api_call.as_ref().and_then(|id| self.by_api_call.get(id).copied());
        let same = receipt.api_call.is_some()
            && !self.receipts.insert((receipt.api_call.clone(), receipt.number.clone()));
        let usage = usage(&receipt.tokens);
        if let Some(call) = known.filter(|_| same).and_then(|at| self.calls.get_mut(at)) {
            call.usage = usage;
            call.sources.push(source);
            return;
        }
        // A provider that hands out one id for all calls makes them no single call.
        let api_id = receipt.api_call.clone().filter(|_| known.is_none());
        if let Some(id) = &api_id {
            self.by_api_call.insert(id.clone(), self.calls.len());
        }
        self.calls.push(ModelCall {
            api_id,
            request_id: receipt.request.clone(),
            message: None,
            model: receipt.model.clone(),
            at,
            usage,
            inherited: false,
            sources: vec![source],
        });
    }

    pub(super) fn answer(
        &mut self,
        answer: &Answer,
        message: &MessageId,
        model: Option<Text>,
        at: Option<Timestamp>,
        source: Source,
    ) {
        if self.has_receipts {
            let known = answer.api_call.as_ref().and_then(|id| self.by_api_call.get(id).copied());
            if let Some(call) = known.and_then(|at| self.calls.get_mut(at)) {
                call.message.get_or_insert_with(|| message.clone());
            }
            return;
        }
        let Some(output) = answer.output_tokens else { return };
        let usage = Usage { output: Some(output), ..Usage::default() };
        if let Some(call) = self.by_answer.get(message).and_then(|at| self.calls.get_mut(*at)) {
            call.usage = usage;
            call.sources.push(source);
            return;
        }
        self.by_answer.insert(message.clone(), self.calls.len());
        let api_id = answer.api_call.clone().filter(|id| !self.by_api_call.contains_key(id));
        if let Some(id) = &api_id {
            self.by_api_call.insert(id.clone(), self.calls.len());
        }
        self.calls.push(ModelCall {
            api_id,
            request_id: answer.request.clone(),
            message: Some(message.clone()),
            model,
            at,
            usage,
            inherited: false,
            sources: vec![source],
        });
    }

    pub(super) fn compaction(&mut self, compacted: &Compacted, at: Option<Timestamp>, source: Source) {
        let usage = usage(&compacted.tokens);
        if !self.has_receipts && !usage.is_unknown() {
            self.calls.push(unnamed(compacted.model.clone(), at, usage, source));
        }
    }

    /// The sums of one run replace each other; those of runs that began at different times add up.
    pub(super) fn shutdown(&mut self, shutdown: &Shutdown, at: Option<Timestamp>, source: Source) {
        self.sums.insert(shutdown.began.clone(), shutdown.clone());
        self.last_sums = Some((at, source));
    }

    /// The calls, and the sums as the program last had them.
    pub(super) fn finish(mut self) -> (Vec<ModelCall>, Option<Usage>) {
        let Some((at, source)) = self.last_sums else { return (self.calls, None) };
        let mut models: BTreeMap<Option<Text>, Usage> = BTreeMap::new();
        let mut add = |model: Option<&Text>, usage: &Usage| {
            let sum = models.entry(model.cloned()).or_default();
            *sum = sum.plus(usage);
        };
        for sums in self.sums.values() {
            match &sums.details {
                Some(parts) if sums.models.is_empty() => {
                    let input = parts.input;
                    add(None, &Usage { input, ..usage(&Tokens { input: None, ..*parts }) });
                }
                _ => sums.models.iter().for_each(|(model, tokens)| add(Some(model), &usage(tokens))),
            }
        }
        let reported = models.values().fold(Usage::default(), |sum, usage| sum.plus(usage));
        let mut told: BTreeMap<Option<Text>, Usage> = BTreeMap::new();
        for call in &self.calls {
            let sum = told.entry(call.model.clone()).or_default();
            *sum = sum.plus(&call.usage);
        }
        if !told.keys().all(|model| model.is_some() && models.contains_key(model)) {
            // Whose tokens some calls are is not known, so only the sum of all can be compared.
            let mut names = models.into_keys();
            let model = names.next().filter(|_| names.next().is_none()).flatten();
            told = BTreeMap::from([(
                model.clone(),
                told.values().fold(Usage::default(), |sum, usage| sum.plus(usage)),
            )]);
            models = BTreeMap::from([(model, reported)]);
        }
        for (model, sum) in models {
            let told = told.get(&model).copied().unwrap_or_default();
            if let Some(rest) = beyond(&sum, &told) {
                self.calls.push(unnamed(model, at, rest, source.clone()));
            }
        }
        (self.calls, (!reported.is_unknown()).then_some(reported))
    }
}

fn unnamed(model: Option<Text>, at: Option<Timestamp>, usage: Usage, source: Source) -> ModelCall {
    ModelCall {
        api_id: None,
        request_id: None,
        message: None,
        model,
        at,
        usage,
        inherited: false,
        sources: vec![source],
    }
}

/// What a sum holds that was not told call by call; none when it is nothing.
fn beyond(sum: &Usage, told: &Usage) -> Option<Usage> {
    let rest = |sum: Option<u64>, told: Option<u64>| {
        let rest = sum?.saturating_sub(told.unwrap_or(0));
        (rest > 0 || told.is_none()).then_some(rest)
    };
    let rest = Usage {
        input: rest(sum.input, told.input),
        output: rest(sum.output, told.output),
        cache_read: rest(sum.cache_read, told.cache_read),
        cache_write: rest(sum.cache_write, told.cache_write),
        reasoning: rest(sum.reasoning, told.reasoning),
        ..Usage::default()
    };
    let parts = [rest.input, rest.output, rest.cache_read, rest.cache_write, rest.reasoning];
    parts.into_iter().flatten().any(|tokens| tokens > 0).then_some(rest)
}
