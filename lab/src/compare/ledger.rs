//! The loss report, and what of it was seen to be true.

use std::collections::{HashMap, HashSet};

use ibid_model::{Loss, LossKind, Losses, MessageId};

/// How a kind of loss shows in a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shows {
    /// Every case of it.
    Each,
    /// At least once in each message that it names.
    Somewhere,
    /// Not at all, for this reason.
    Never(&'static str),
}

/// How each kind of loss shows.
pub(super) fn shows(loss: &Loss) -> Shows {
    use LossKind as K;
    let of_it = matches!(loss.what.as_deref(), Some("name" | "its name" | "its type" | "media type"));
    match loss.kind {
        K::Image | K::Document if of_it => Shows::Never("it is there, without its name or with another type"),
        K::Thinking
        | K::InjectedContext
        | K::SystemMessage
        | K::ToolKeptRaw
        | K::InputWrapped
        | K::CallIdChanged
        | K::OrphanCallCompleted
        | K::OrphanResult
        | K::ResultsMoved
        | K::Image
        | K::Document
        | K::UnknownBlock
        | K::CommandFlattened
        | K::EmptyText
        | K::SideBranch
        | K::BeforeCompaction
        | K::CompactionSummary
        | K::RoleChanged => Shows::Each,
        K::ToolRenamed | K::ResultFlattened | K::LoneSurrogate => Shows::Somewhere,
        K::ThinkingToken => Shows::Never("a thought without its token is shown to people, not sent"),
        K::CompactionMarker => Shows::Never("without the mark, all of the history is expected"),
        K::StructuredResult => Shows::Never("the model never saw it"),
        K::ResultStatus => Shows::Never("most APIs have no place for it; a wrong one is a difference"),
        K::EmptyMessage => Shows::Never("a message without content says nothing"),
        K::Regrouped => Shows::Never("what is compared is what was said, not how it was cut into messages"),
        K::AgentMessage => Shows::Never("who wrote a message of the user's side is not sent"),
        K::Usage | K::Model | K::StopReason => Shows::Never("how earlier turns were made is not sent"),
        K::Time | K::TimeFilled | K::FieldFilled => Shows::Never("the program keeps it to itself"),
        K::Title | K::MessageDirectory | K::DirectoryChanged | K::GitBranch => {
            Shows::Never("it is of the session, not of what was said")
        }
        K::SessionId | K::MessageIds | K::Lineage | K::Subagents => {
            Shows::Never("ids and relations of sessions and messages are not sent")
        }
        K::HarnessEvents | K::UnreadableRecords | K::Companion => {
            Shows::Never("it was no part of what was said")
        }
        // Kinds may be added; one that is not in this table must be seen.
        _ => Shows::Each,
    }
}

/// One entry of the report.
struct Entry<'a> {
    loss: &'a Loss,
    used: u64,
    used_in: HashMap<&'a str, u64>,
}

/// The report as it is used up.
pub(super) struct Ledger<'a> {
    entries: Vec<Entry<'a>>,
}

/// A loss that is reported and did not happen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unneeded {
    /// Its kind.
    pub kind: LossKind,
    /// What exactly, as reported.
    pub what: Option<String>,
    /// How many cases were not seen.
    pub count: u64,
    /// The messages that it names without cause.
    pub messages: Vec<MessageId>,
}

impl<'a> Ledger<'a> {
    pub(super) fn of(losses: &'a Losses) -> Ledger<'a> {
        let entry = |loss| Entry { loss, used: 0, used_in: HashMap::new() };
        Ledger { entries: losses.iter().map(entry).collect() }
    }

    /// Whether the report says one more case of this kind, of this message and one of these names
    /// (any when there are none); it is then used.
    pub(super) fn take(&mut self, kind: LossKind, message: &MessageId, names: &[String]) -> bool {
        let of_kind = |entry: &&mut Entry<'a>| {
            let what = entry.loss.what.as_deref();
            let named = names.is_empty() || what.is_none_or(|what| names.iter().any(|name| name == what));
            entry.loss.kind == kind && entry.used < entry.loss.count && named
        };
        let by_name = self.entries.iter_mut().filter(of_kind).find_map(|entry| {
            let name = entry.loss.messages.iter().map(plain).find(|name| *name == plain(message))?;
            Some((entry, name))
        });
        if let Some((entry, name)) = by_name {
            entry.used += 1;
            *entry.used_in.entry(name).or_default() += 1;
            return true;
        }
        // Beyond the messages that an entry has room for, only its count says more.
        let unnamed = |entry: &&mut Entry<'a>| {
            let named = entry.loss.messages.len();
            named == 0 || (named >= Losses::MESSAGES_NAMED && entry.loss.count > named as u64)
        };
        match self.entries.iter_mut().filter(of_kind).find(unnamed) {
            Some(entry) => {
                entry.used += 1;
                true
            }
            None => false,
        }
    }

    /// How many cases of this kind are reported.
    pub(super) fn count(&self, kind: LossKind) -> u64 {
        self.entries.iter().filter(|entry| entry.loss.kind == kind).map(|entry| entry.loss.count).sum()
    }

    /// Uses up to `count` cases of this kind, whatever messages they name, and says how many there were.
    pub(super) fn take_many(&mut self, kind: LossKind, count: u64) -> u64 {
        let mut taken = 0;
        for entry in self.entries.iter_mut().filter(|entry| entry.loss.kind == kind) {
            let more = (count - taken).min(entry.loss.count - entry.used);
            entry.used += more;
            taken += more;
            for message in &entry.loss.messages {
                entry.used_in.insert(plain(message), 1);
            }
        }
        taken
    }

    /// What is reported and was not seen. `here` are the messages that were looked at, `unseen` those
    /// of which the program did not send all that it was given; `along` says whether other sessions
    /// were converted along, whose losses the report has too.
    pub(super) fn unneeded(
        &self,
        here: &HashSet<MessageId>,
        unseen: &HashSet<MessageId>,
        along: bool,
    ) -> Vec<Unneeded> {
        let seen = |message: &MessageId| {
            let name = plain(message);
            !unseen.contains(name) && (!along || here.contains(name))
        };
        let all = !along && unseen.is_empty();
        self.entries.iter().filter_map(|entry| entry.unneeded(&seen, all)).collect()
    }
}

impl Entry<'_> {
    /// `seen` says whether a message was seen whole, `all` whether every one was.
    fn unneeded(&self, seen: &dyn Fn(&MessageId) -> bool, all: bool) -> Option<Unneeded> {
        let shows = shows(self.loss);
        if matches!(shows, Shows::Never(_)) {
            return None;
        }
        let idle = |message: &&MessageId| !self.used_in.contains_key(plain(message)) && seen(message);
        let messages: Vec<MessageId> = self.loss.messages.iter().filter(idle).cloned().collect();
        let left = match shows {
            // What was lost elsewhere cannot be told from a count.
            Shows::Each if all => self.loss.count - self.used,
            _ => 0,
        };
        let count = left.max(messages.len() as u64);
        (count > 0).then(|| Unneeded {
            kind: self.loss.kind,
            what: self.loss.what.as_ref().map(ToString::to_string),
            count,
            messages,
        })
    }
}

/// A message's id without what marks the message that a conversion makes of its results.
fn plain(message: &MessageId) -> &str {
    message.as_str().strip_suffix(":results").unwrap_or(message.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(id: &str) -> MessageId {
        id.into()
    }

    #[test]
    fn a_loss_counts_for_the_message_that_it_names_and_for_no_other() {
        let mut losses = Losses::none();
        losses.add(LossKind::Thinking, None, Some(&id("a")));
        let mut ledger = Ledger::of(&losses);
        assert!(!ledger.take(LossKind::Thinking, &id("b"), &[]));
        assert!(ledger.take(LossKind::Thinking, &id("a"), &[]));
        assert!(!ledger.take(LossKind::Thinking, &id("a"), &[]));
        assert!(ledger.unneeded(&HashSet::new(), &HashSet::new(), false).is_empty());
    }

    #[test]
    fn a_loss_that_did_not_happen_is_named_with_its_message() {
        let mut losses = Losses::none();
        losses.add(LossKind::Image, None, Some(&id("a")));
        losses.add(LossKind::Image, Some("its name"), Some(&id("a")));
        losses.add_many(LossKind::Usage, 3, None, None);
        let unneeded = Ledger::of(&losses).unneeded(&HashSet::new(), &HashSet::new(), false);
        assert_eq!(unneeded.len(), 1);
        assert_eq!((unneeded[0].kind, &unneeded[0].messages), (LossKind::Image, &vec![id("a")]));
    }

    #[test]
    fn beyond_the_messages_that_an_entry_names_its_count_says_more() {
        let mut losses = Losses::none();
        for number in 0..25 {
            losses.add(LossKind::Thinking, None, Some(&id(&format!("m{number}"))));
        }
        let mut ledger = Ledger::of(&losses);
        assert!((0..25).all(|number| ledger.take(LossKind::Thinking, &id(&format!("m{number}")), &[])));
        assert!(!ledger.take(LossKind::Thinking, &id("m25"), &[]));
    }
}
