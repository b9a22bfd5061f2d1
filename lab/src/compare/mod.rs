//! Whether a real program that resumes what Ibid wrote sends the whole conversation.
//!
//! What must be sent is made from the common session of the source, with the selection that was
//! converted, and not from the file that the conversion wrote. What was sent is read from the log of
//! the provider, each tool call through the tool mapping of the target. Both are lists of pieces
//! (texts, calls, results, pictures, thoughts); they are paired in order, and
//!
//! - a piece of the source that is not sent, or in another form, needs a loss that names its message;
//! - a piece that is sent and not of the source must be one that the target program is known to add
//!   (`target`, one file a program), else it is a difference;
//! - a loss that names a message of which nothing is missing is a difference too, as far as losses
//!   of its kind show in a request at all (`ledger` has the table, with reasons).
//!
//! # Limits
//!
//! Who said what, in which words and order, is compared; how it was cut into messages is not. Of a
//! history before a compaction that the target marks, the program may send as much as it likes, and
//! the verdict says how much it left out.

mod align;
mod claude_code;
mod codex;
mod expected;
mod form;
mod ledger;
mod opencode;
mod pi;
mod piece;
mod sent;
mod target;
mod verdict;

use std::collections::HashSet;

use ibid_harness::HarnessId;
use ibid_model::{LossKind, Losses, MessageId, Role, Selection, Session};
use ibid_testkit::provider::Exchange;

use align::Keys;
use expected::{Expectation, Expected};
use form::Need;
use ledger::Ledger;
use piece::Piece;
use sent::Sent;
use target::Target;

pub use ledger::Unneeded;
pub use piece::Place;
pub use verdict::{Changed, Counts, Extra, Misplaced, Missing, Verdict};

/// What is to be compared.
#[derive(Clone, Copy, Debug)]
pub struct Question<'a> {
    /// The session that was converted, as its own harness reads it.
    pub source: &'a Session,
    /// Which part of it was converted.
    pub selection: &'a Selection,
    /// Whether subagents were converted along, whose losses are in the report too.
    pub with_subagents: bool,
    /// What the conversion reports.
    pub losses: &'a Losses,
    /// The harness whose program resumed the result.
    pub target: HarnessId,
    /// The log of that run.
    pub exchanges: &'a [Exchange],
    /// The new prompt of that run.
    pub prompt: &'a str,
}

/// Compares what the program sent with what the source says. None when the lab knows no program of
/// the target.
#[must_use]
pub fn compare(question: &Question<'_>) -> Option<Verdict> {
    let id = question.target.as_str();
    let target = target::TARGETS.iter().copied().find(|target| target.harness() == id)?;
    let harness = ibid_harness::find(id)?;
    let Some(request) = sent::request(target, question.exchanges, question.prompt) else {
        return Some(Verdict::default());
    };
    let sent = sent::pieces(target, harness, request);
    let ledger = Ledger::of(question.losses);
    let view = question.source.view(question.selection);
    let marked = (view.compactions.len() as u64) > ledger.count(LossKind::CompactionMarker);
    let mut expectation = Expectation::of(question.source, question.selection, target.shape(), marked);
    expectation.expect_prompt(question.prompt, target.prompts(question.prompt), &sent);
    let mut verdict = Verdict { request: Some(request.number), sent: counted(&sent), ..Verdict::default() };
    verdict.refusals =
        request.refused.iter().map(|refusal| format!("{} {}", refusal.at, refusal.why)).collect();
    let asked = request.body.as_ref().and_then(|body| body.get("model")?.as_str()).map(str::to_owned);
    let mut comparison = Comparison { target, asked, ledger, verdict, unseen: HashSet::new() };
    comparison.told(expectation, sent, view.summaries_left_out as u64);
    comparison.verdict.unneeded = {
        let here = view.messages.iter().map(|message| message.id.clone()).collect();
        comparison.ledger.unneeded(&here, &comparison.unseen, question.with_subagents)
    };
    Some(comparison.verdict)
}

fn counted(sent: &[Sent]) -> Counts {
    let mut counts = Counts::default();
    for sent in sent {
        match &sent.piece {
            Piece::Text { role: Role::System, .. } => {}
            Piece::Text { .. } | Piece::Command(_) => counts.texts += 1,
            Piece::Call(_) => counts.calls += 1,
            Piece::Answer(answer) => {
                counts.results += 1;
                counts.pictures += answer.pictures.len();
            }
            Piece::Picture { .. } => counts.pictures += 1,
            Piece::Thought(_) => counts.thoughts += 1,
            Piece::Document(_) | Piece::Other { .. } => {}
        }
    }
    counts
}

struct Comparison<'a> {
    target: &'static dyn Target,
    /// The model that the request asks.
    asked: Option<String>,
    ledger: Ledger<'a>,
    verdict: Verdict,
    /// The messages of which the program left something out since they come before a compaction.
    unseen: HashSet<MessageId>,
}

impl Comparison<'_> {
    fn told(&mut self, expectation: Expectation, mut sent: Vec<Sent>, summaries: u64) {
        self.asides(&expectation);
        let mut keys = Keys::default();
        let mut known = HashSet::new();
        for expected in &expectation.pieces {
            let forms = form::expected_keys(expected, self.target);
            known.extend(forms.iter().cloned());
            keys.expect(forms);
        }
        self.unjoin(&mut sent, |text| {
            let is_summary = |summary: &String| self.target.is_summary(Role::User, text, summary);
            known.contains(&form::text_key(text)) || expectation.summaries.iter().any(is_summary)
        });
        self.summaries(&expectation, &mut sent, summaries);
        // What the program adds is no part of the conversation, unless the source says the same.
        let rules: Vec<_> = (0..sent.len()).map(|at| self.target.adds(&sent, at)).collect();
        let mut rules = rules.into_iter();
        sent.retain(|piece| match rules.next().flatten() {
            Some(rule) if !known.contains(&form::sent_key(&piece.piece)) => {
                *self.verdict.added.entry(rule).or_default() += 1;
                false
            }
            _ => true,
        });
        sent.iter().for_each(|sent| keys.send(form::sent_keys(&sent.piece)));
        let mut pairing = Pairing::of(&keys);
        self.pairs(&expectation.pieces, &sent, &pairing);
        self.misplaced(&expectation.pieces, &sent, &keys, &mut pairing);
        self.changed(&expectation.pieces, &sent, &mut pairing);
        self.answers(&expectation.pieces, &sent, &pairing);
        self.extras(&expectation, &sent, &keys, &pairing);
        self.absent(&expectation.pieces, &pairing);
    }

    /// Takes away what the program puts between texts of two messages that it joins, where the text
    /// without it is one that is expected and with it is none.
    fn unjoin(&self, sent: &mut [Sent], is_expected: impl Fn(&str) -> bool) {
        let joined: Vec<bool> = sent
            .windows(2)
            .map(|pair| match pair {
                [a, b] => a.message == b.message && b.text_of(Role::User).is_some(),
                _ => false,
            })
            .collect();
        for (piece, _) in sent.iter_mut().zip(joined).filter(|(_, joined)| *joined) {
            let Some(text) = piece.text_of(Role::User).filter(|text| !is_expected(text)) else { continue };
            let bare = text.strip_suffix(self.target.joint()).filter(|bare| is_expected(bare));
            if let Some(bare) = bare.map(str::to_owned) {
                piece.piece = Piece::Text { role: Role::User, text: bare };
            }
        }
    }

    /// What no conversion carries, and the counts that name no message.
    fn asides(&mut self, expectation: &Expectation) {
        for aside in &expectation.aside {
            self.explain(aside, aside.absent);
        }
        for (kind, count) in [
            (LossKind::SideBranch, expectation.on_other_branches),
            (LossKind::BeforeCompaction, expectation.before_compaction),
            (LossKind::OrphanResult, expectation.orphans),
        ] {
            let reported = self.ledger.take_many(kind, count);
            if reported < count {
                let what = format!("{} that the report does not count as {kind}", count - reported);
                self.verdict.missing.push(Missing { place: Place::whole(), what });
            }
        }
    }

    /// The summary of the last marked compaction is sent, in the form of the program; those of earlier
    /// ones may be, each once. A text of the source that reads like a summary is none.
    fn summaries(&mut self, expectation: &Expectation, sent: &mut Vec<Sent>, left_out: u64) {
        let mut seen = 0;
        for (number, summary) in expectation.summaries.iter().enumerate() {
            let last = number + 1 == expectation.summaries.len();
            let is = |piece: &Sent| match &piece.piece {
                Piece::Text { role, text } => self.target.is_summary(*role, text, summary),
                _ => false,
            };
            let said = expectation.pieces.iter().filter(|own| match &own.piece {
                Piece::Text { text, .. } => !own.compacted && text == summary,
                _ => false,
            });
            let told = sent.iter().filter(|piece| is(piece)).count();
            let bare = sent.iter().filter(|piece| is(piece)).filter(|piece| match &piece.piece {
                Piece::Text { text, .. } => text == summary,
                _ => false,
            });
            let bare = bare.count();
            let same = expectation.summaries.iter().skip(number).filter(|other| *other == summary).count();
            // Where the same is to come again, an earlier one may be left out.
            let there = told - said.count().min(bare) >= if last { 1 } else { same };
            match sent.iter().position(is).filter(|_| there) {
                Some(at) => {
                    sent.remove(at);
                    *self.verdict.added.entry("summary of a compaction").or_default() += 1;
                    seen = 1;
                }
                None if last => {
                    let what = "the summary of the compaction".to_owned();
                    self.verdict.missing.push(Missing { place: Place::whole(), what });
                }
                None => {}
            }
        }
        // Of several compactions, only the last one shows for certain.
        let gone = if left_out > 1 { left_out } else { left_out.saturating_sub(seen) };
        self.ledger.take_many(LossKind::CompactionSummary, gone);
    }

    /// Pieces that were found in their places: in which form, and does the report say so.
    fn pairs(&mut self, expected: &[Expected], sent: &[Sent], pairing: &Pairing) {
        for (number, at) in pairing.pairs() {
            let (Some(own), Some(piece)) = (expected.get(number), sent.get(at)) else { continue };
            for kind in &own.needs {
                let need = Need {
                    any: vec![*kind],
                    required: true,
                    names: Vec::new(),
                    why: "it is not where it was, or is new".to_owned(),
                };
                self.need(own, piece, &need);
            }
            match form::judge(own, &piece.piece, self.target) {
                Ok(needs) => needs.iter().for_each(|need| self.need(own, piece, need)),
                Err(how) => self.differs(own, piece, how, Vec::new()),
            }
        }
    }

    /// Results in their places whose calls are other ones than in the source.
    fn answers(&mut self, expected: &[Expected], sent: &[Sent], pairing: &Pairing) {
        let calls = pairing.calls(expected, sent);
        for (number, at) in pairing.pairs() {
            let (Some(own), Some(piece)) = (expected.get(number), sent.get(at)) else { continue };
            if let (Piece::Answer(answer), Piece::Answer(heard)) = (&own.piece, &piece.piece)
                && answer.call.and_then(|call| calls.get(call).copied().flatten()) != heard.call
            {
                self.differs(own, piece, "it answers another call".to_owned(), Vec::new());
            }
        }
    }

    fn need(&mut self, own: &Expected, piece: &Sent, need: &Need) {
        let told =
            need.any.iter().copied().find(|kind| self.ledger.take(*kind, &own.place.message, &need.names));
        match told {
            Some(kind) => {
                let missing = Missing { place: own.place.clone(), what: own.piece.title() };
                self.verdict.explained.push((missing, kind));
            }
            None if need.required => self.differs(own, piece, need.why.clone(), need.any.clone()),
            None => {}
        }
    }

    fn differs(&mut self, own: &Expected, piece: &Sent, how: String, unreported: Vec<LossKind>) {
        self.verdict.changed.push(Changed {
            place: own.place.clone(),
            at: piece.at.clone(),
            what: own.piece.title(),
            how,
            unreported,
        });
    }

    /// Pieces that are there, and not where the source has them.
    fn misplaced(&mut self, expected: &[Expected], sent: &[Sent], keys: &Keys, pairing: &mut Pairing) {
        for number in pairing.expected_left() {
            let Some(own) = expected.get(number).filter(|own| !own.compacted) else { continue };
            let Some(at) = pairing.sent_left().into_iter().find(|at| keys.may_be(number, *at)) else {
                continue;
            };
            let Some(piece) = sent.get(at) else { continue };
            pairing.settle(number, at);
            let (place, at, what) = (own.place.clone(), piece.at.clone(), own.piece.title());
            self.verdict.out_of_order.push(Misplaced { place, at, what });
        }
    }

    /// Pieces between the same neighbours that are of one kind: the one became the other.
    fn changed(&mut self, expected: &[Expected], sent: &[Sent], pairing: &mut Pairing) {
        let calls = pairing.calls(expected, sent);
        for number in pairing.expected_left() {
            let Some(own) = expected.get(number) else { continue };
            let answers = |piece: &Piece| match (&own.piece, piece) {
                (Piece::Answer(own), Piece::Answer(sent)) => {
                    let call = own.call.and_then(|call| calls.get(call).copied().flatten());
                    call.is_none() || call == sent.call
                }
                _ => false,
            };
            let found = pairing.gap(number).find_map(|at| {
                let piece = sent.get(at)?;
                let how = form::difference(&own.piece, &piece.piece, answers(&piece.piece))?;
                Some((at, piece, how))
            });
            if let Some((at, piece, how)) = found {
                pairing.settle(number, at);
                self.differs(own, piece, how, Vec::new());
            }
        }
    }

    /// What was sent and is no piece of the source, or not once more.
    fn extras(&mut self, expectation: &Expectation, sent: &[Sent], keys: &Keys, pairing: &Pairing) {
        for at in pairing.sent_left() {
            let Some(piece) = sent.get(at) else { continue };
            let again = (0..expectation.pieces.len()).any(|number| keys.may_be(number, at));
            let carried = expectation.aside.iter().any(|aside| {
                let Piece::Text { text, .. } = &aside.piece else { return false };
                matches!(&piece.piece, Piece::Text { text: sent, .. } if sent == text)
            });
            let mut what = piece.piece.title();
            if carried {
                what.push_str(", which the report says was left behind");
            }
            let extra = Extra { at: piece.at.clone(), what };
            match again {
                true => self.verdict.twice.push(extra),
                false => self.verdict.extra.push(extra),
            }
        }
    }

    /// What was not sent. What needs a loss takes it before what only may have one.
    fn absent(&mut self, expected: &[Expected], pairing: &Pairing) {
        let left: Vec<&Expected> =
            pairing.expected_left().into_iter().filter_map(|at| expected.get(at)).collect();
        let (kept, lost): (Vec<&Expected>, Vec<_>) = left.into_iter().partition(|own| match &own.piece {
            _ if own.compacted => true,
            Piece::Thought(thought) => self.target.keeps(thought, self.asked.as_deref()),
            _ => false,
        });
        for own in lost {
            self.explain(own, own.absent);
        }
        for own in kept {
            if own.compacted {
                self.verdict.compacted += 1;
                self.unseen.insert(own.place.message.clone());
            }
            self.told_if_reported(own);
        }
    }

    /// What needs no loss may have one all the same, which is then true.
    fn told_if_reported(&mut self, own: &Expected) {
        if let Some(kind) = self.taken(own, own.absent).or_else(|| self.taken(own, &own.needs)) {
            let missing = Missing { place: own.place.clone(), what: own.piece.title() };
            self.verdict.explained.push((missing, kind));
        }
    }

    fn taken(&mut self, own: &Expected, kinds: &[LossKind]) -> Option<LossKind> {
        kinds.iter().copied().find(|kind| self.ledger.take(*kind, &own.place.message, &[]))
    }

    fn explain(&mut self, own: &Expected, kinds: &[LossKind]) {
        let missing = Missing { place: own.place.clone(), what: own.piece.title() };
        match self.taken(own, kinds) {
            Some(kind) => self.verdict.explained.push((missing, kind)),
            None => self.verdict.missing.push(missing),
        }
    }
}

/// Which pieces have found each other.
struct Pairing {
    /// For each piece of the source, the piece of the request.
    expected: Vec<Option<usize>>,
    sent: Vec<Option<usize>>,
    /// The pairs that stand in order.
    in_order: Vec<(usize, usize)>,
}

impl Pairing {
    fn of(keys: &Keys) -> Pairing {
        let in_order = keys.pairs();
        let mut expected = vec![None; keys.expected.len()];
        let mut sent = vec![None; keys.sent.len()];
        for (number, at) in &in_order {
            if let (Some(own), Some(piece)) = (expected.get_mut(*number), sent.get_mut(*at)) {
                (*own, *piece) = (Some(*at), Some(*number));
            }
        }
        Pairing { expected, sent, in_order }
    }

    fn pairs(&self) -> impl Iterator<Item = (usize, usize)> {
        self.in_order.iter().copied()
    }

    fn settle(&mut self, number: usize, at: usize) {
        if let (Some(own), Some(piece)) = (self.expected.get_mut(number), self.sent.get_mut(at)) {
            (*own, *piece) = (Some(at), Some(number));
        }
    }

    fn expected_left(&self) -> Vec<usize> {
        left(&self.expected)
    }

    fn sent_left(&self) -> Vec<usize> {
        left(&self.sent)
    }

    /// The pieces of the request that are left between the neighbours of a piece of the source.
    fn gap(&self, number: usize) -> impl Iterator<Item = usize> {
        let before = self.in_order.iter().rev().find(|(own, _)| *own < number).map_or(0, |(_, at)| at + 1);
        let behind =
            self.in_order.iter().find(|(own, _)| *own > number).map_or(self.sent.len(), |(_, at)| *at);
        (before..behind).filter(|at| self.sent.get(*at) == Some(&None))
    }

    /// For each call of the source, in order, the number of the call of the request.
    fn calls(&self, expected: &[Expected], sent: &[Sent]) -> Vec<Option<usize>> {
        let is_call = |piece: &Piece| matches!(piece, Piece::Call(_));
        let mut numbers = vec![None; sent.len()];
        let calls = sent.iter().enumerate().filter(|(_, sent)| is_call(&sent.piece));
        for (number, (at, _)) in calls.enumerate() {
            if let Some(place) = numbers.get_mut(at) {
                *place = Some(number);
            }
        }
        let own = expected.iter().enumerate().filter(|(_, own)| is_call(&own.piece));
        own.map(|(number, _)| {
            let at = self.expected.get(number).copied().flatten()?;
            numbers.get(at).copied().flatten()
        })
        .collect()
    }
}

fn left(side: &[Option<usize>]) -> Vec<usize> {
    side.iter().enumerate().filter(|(_, other)| other.is_none()).map(|(at, _)| at).collect()
}

impl Place {
    /// Where what is of no message stands.
    fn whole() -> Place {
        Place { message: "the session".into(), number: 0 }
    }
}
