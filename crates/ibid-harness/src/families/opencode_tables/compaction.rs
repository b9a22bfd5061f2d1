//! Where a history was compacted: a message that asks for a summary, and the summary that answers.

use std::collections::HashSet;

use ibid_model::{Compaction, MessageId, Origin, Text, Timestamp};

use super::assembly::Assembly;
use super::fields::Fields;
use super::records::{MessageRecord, PartRecord};

/// The messages that are summaries of a compacted history, and the messages that asked for them.
pub(super) struct Summaries {
    pub(super) asked: HashSet<Text>,
    pub(super) given: HashSet<Text>,
}

impl Summaries {
    /// A history starts again at a message with a `compaction` part only when an assistant message
    /// answers it that is a summary, is finished and has no error (measured).
    pub(super) fn of(messages: &[MessageRecord]) -> Summaries {
        let mut summaries = Summaries { asked: HashSet::new(), given: HashSet::new() };
        let asks: HashSet<&Text> =
            messages.iter().filter(|m| compaction_part(m).is_some()).map(|m| &m.id).collect();
        if asks.is_empty() {
            return summaries;
        }
        for message in messages {
            let Some(fields) = Fields::of(&message.data) else { continue };
            let whole = fields.flag("summary") && fields.has("finish") && fields.json("error").is_none();
            let Some(parent) = fields.text("parentID").filter(|_| whole) else { continue };
            if asks.contains(&parent) {
                summaries.asked.insert(parent);
                summaries.given.insert(message.id.clone());
            }
        }
        summaries
    }
}

fn compaction_part(message: &MessageRecord) -> Option<&PartRecord> {
    message.parts.iter().find(|part| {
        part.data.contains("compaction")
            && Fields::of(&part.data).and_then(|part| part.text("type")).is_some_and(|t| t == "compaction")
    })
}

impl Assembly {
    /// The history before a summary was compacted.
    pub(super) fn compaction(&mut self, record: &MessageRecord, fields: &Fields<'_>, at: Option<Timestamp>) {
        self.session.compactions.push(Compaction {
            after: self.last.clone(),
            summary: Some(record.id.clone().into()),
            text: None,
            // Filled in at the end from the message that asked.
            first_kept: fields.text("parentID").map(MessageId::from),
            trigger: None,
            tokens_before: None,
            at,
            sources: vec![record.source.clone()],
        });
    }

    /// Says of each compaction what the message that asked for it says. One whose tail begins at a
    /// message that is not there has no effect (measured), and is none.
    pub(super) fn complete_compactions(&mut self, messages: &[MessageRecord]) {
        let mut compactions = std::mem::take(&mut self.session.compactions);
        compactions.retain_mut(|compaction| {
            let asked = compaction.first_kept.take();
            let asked = asked.and_then(|id| messages.iter().find(|message| message.id == id.as_str()));
            let Some(part) = asked.and_then(compaction_part) else { return false };
            let Some(fields) = Fields::of(&part.data) else { return false };
            compaction.trigger = Some(if fields.flag("auto") { "auto" } else { "manual" }.into());
            compaction.sources.push(part.source.clone());
            let Some(tail) = fields.text("tail_start_id") else { return true };
            compaction.first_kept = self.ids.get(tail.as_str()).cloned();
            compaction.first_kept.is_some()
        });
        let given: HashSet<&MessageId> = compactions.iter().filter_map(|c| c.summary.as_ref()).collect();
        for message in &mut self.session.messages {
            if message.origin == Origin::Summary && !given.contains(&message.id) {
                message.origin = Origin::Model;
            }
        }
        drop(given);
        self.session.compactions = compactions;
    }
}
