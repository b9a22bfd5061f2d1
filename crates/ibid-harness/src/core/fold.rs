//! From the events of a scan to what a list shows.

use std::collections::HashMap;

use ibid_model::{
    Compaction, Event, Finding, Lineage, Message, MessageId, Meta, ModelCall, SessionId, Text, TitleOrigin,
    Usage,
};

use super::scan::{CallLedger, Fact, ScanEvent, Sink};

/// Gathers the events of a scan. Fed with everything, it holds what a full load says.
#[derive(Clone, Debug, Default)]
pub struct Fold {
    /// The id.
    pub id: Option<SessionId>,
    /// The facts for a list.
    pub meta: Meta,
    /// Where the session came from.
    pub lineage: Vec<Lineage>,
    /// The messages; pieces of one API message are joined.
    pub messages: Vec<Message>,
    /// The compactions.
    pub compactions: Vec<Compaction>,
    /// The tokens of the whole session as the harness itself last summed them.
    pub reported_usage: Option<Usage>,
    /// What is not conversation.
    pub events: Vec<Event>,
    /// The end of the live branch, where the harness says.
    pub head: Option<MessageId>,
    /// What is wrong with the input.
    pub findings: Vec<Finding>,
    ledger: CallLedger,
    /// The last message with an API id, and with an id.
    by_api_id: HashMap<Text, usize>,
    by_id: HashMap<MessageId, usize>,
}

impl Fold {
    /// The model calls, each once.
    #[must_use]
    pub fn calls(&self) -> Vec<ModelCall> {
        self.ledger.clone().into_calls()
    }

    fn fact(&mut self, fact: Fact) {
        let meta = &mut self.meta;
        match fact {
            Fact::Id(id) => {
                self.id.get_or_insert(id);
            }
            // A person took the name away.
            Fact::Title(text, TitleOrigin::Person) if text.is_blank() => {
                meta.title = meta.title.take().filter(|title| title.origin != TitleOrigin::Person);
            }
            Fact::Title(text, origin) => meta.offer_title(&text, origin),
            Fact::Preview(text) => meta.offer_preview(&text),
            Fact::Cwd(cwd) => {
                meta.cwd.get_or_insert(cwd);
            }
            Fact::Model(model) => meta.model = Some(model),
            Fact::Stamp(at) => meta.stamp(at),
            Fact::GitBranch(branch) => {
                meta.git_branch.get_or_insert(branch);
            }
            Fact::Version(version) => {
                meta.version.get_or_insert(version);
            }
            Fact::Originator(originator) => {
                meta.originator.get_or_insert(originator);
            }
            Fact::Archived(archived) => meta.archived = archived,
        }
    }

    fn message(&mut self, piece: Message) {
        // A piece of the last message is the usual case, and needs no search.
        let last = self.messages.len().checked_sub(1);
        let is_last = |at: &usize| self.messages.get(*at).is_some_and(|message| message.id == piece.id);
        let at = last.filter(is_last).or_else(|| {
            let by_api_id = self.by_api_id.get(piece.api_id.as_ref()?).copied();
            by_api_id.max(self.by_id.get(&piece.id).copied())
        });
        let place = at.unwrap_or(self.messages.len());
        if let Some(api_id) = &piece.api_id {
            self.by_api_id.insert(api_id.clone(), place);
        }
        match at.and_then(|at| self.messages.get_mut(at)) {
            Some(message) => {
                message.api_id = message.api_id.take().or(piece.api_id);
                message.turn = message.turn.take().or(piece.turn);
                message.blocks.extend(piece.blocks);
                message.sources.extend(piece.sources);
                message.stop = piece.stop.or(message.stop.take());
            }
            None => {
                self.by_id.insert(piece.id.clone(), place);
                self.messages.push(piece);
            }
        }
    }
}

impl Sink for Fold {
    fn take(&mut self, event: ScanEvent) -> bool {
        match event {
            ScanEvent::Fact(fact) => self.fact(fact),
            ScanEvent::Lineage(lineage) => self.lineage.push(lineage),
            ScanEvent::Message(message) => self.message(message),
            ScanEvent::Call(call) => self.ledger.take(call),
            ScanEvent::ReportedUsage(usage) => self.reported_usage = Some(usage),
            ScanEvent::Compaction(compaction) => self.compactions.push(compaction),
            ScanEvent::Event(event) => self.events.push(event),
            ScanEvent::Head(head) => self.head = Some(head),
            ScanEvent::Finding(finding) => self.findings.push(finding),
        }
        true
    }
}
