//! What a conversion changed or left behind.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Finding, FindingKind, MessageId, Text};

/// Whether what is meant is gone, or only looks different.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LossEffect {
    /// The content is there in another form; converting back gives the same meaning.
    Changed,
    /// Something was added that the source does not say.
    Added,
    /// The content is not in the target.
    Dropped,
}

macro_rules! loss_kinds {
    ($($(#[doc = $doc:literal])+ $name:ident = $code:literal, $effect:ident;)+) => {
        /// Every kind of loss. The name in JSON is stable; new kinds may be added.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
        #[non_exhaustive]
        pub enum LossKind {
            $($(#[doc = $doc])+ #[serde(rename = $code)] $name,)+
        }

        impl LossKind {
            /// All kinds, in the order of the documentation.
            pub const ALL: &'static [LossKind] = &[$(LossKind::$name),+];

            /// The stable name.
            #[must_use]
            pub fn code(self) -> &'static str {
                match self { $(LossKind::$name => $code,)+ }
            }

            /// Whether what is meant is gone, or only looks different.
            #[must_use]
            pub fn effect(self) -> LossEffect {
                match self { $(LossKind::$name => LossEffect::$effect,)+ }
            }

            /// What it means, for the documentation.
            #[must_use]
            pub fn meaning(self) -> &'static str {
                match self { $(LossKind::$name => concat!($($doc),+),)+ }
            }
        }
    };
}

loss_kinds! {
    /// Thinking was left behind: its provider token is valid only with the provider, model and history it was made for.
    Thinking = "thinking", Dropped;
    /// The opaque token of a thinking block was left behind.
    ThinkingToken = "thinking-token", Dropped;
    /// Messages of branches other than the chosen one were left behind.
    SideBranch = "side-branch", Dropped;
    /// Messages before the compaction were left behind, as asked.
    BeforeCompaction = "before-compaction", Dropped;
    /// A compaction boundary could not be marked in the target; the conversation itself is whole.
    CompactionMarker = "compaction-marker", Dropped;
    /// The summary that stands for a compacted history was left behind, since the history itself is carried.
    CompactionSummary = "compaction-summary", Dropped;
    /// Text that the harness, not a person, put in front of the model was left behind; the target adds its own.
    InjectedContext = "injected-context", Dropped;
    /// A system message was left behind; the target has no place for it and writes its own.
    SystemMessage = "system-message", Dropped;
    /// A tool of the source has no counterpart in the target; the call keeps its own name and input.
    ToolKeptRaw = "tool-kept-raw", Changed;
    /// A tool name was spelled with the characters that the target allows.
    ToolRenamed = "tool-renamed", Changed;
    /// A tool input that is not an object was wrapped as `{"input": ...}`.
    InputWrapped = "input-wrapped", Changed;
    /// A tool call id was rewritten with the characters and length that the target allows.
    CallIdChanged = "call-id-changed", Changed;
    /// A tool call had no result; one was added that says it was interrupted.
    OrphanCallCompleted = "orphan-call-completed", Added;
    /// A tool result had no call and was left behind.
    OrphanResult = "orphan-result", Dropped;
    /// Tool results were moved to stand right after their calls, in the order of the calls.
    ResultsMoved = "results-moved", Changed;
    /// The structured form of a tool result was left behind; its text is carried.
    StructuredResult = "structured-result", Dropped;
    /// A tool result's parts were written as text.
    ResultFlattened = "result-flattened", Changed;
    /// Whether a tool result is an error could not be said in the target.
    ResultStatus = "result-status", Dropped;
    /// An image could not be carried.
    Image = "image", Dropped;
    /// A document could not be carried, or only as text.
    Document = "document", Dropped;
    /// A block of a kind that the target cannot express was left behind.
    UnknownBlock = "unknown-block", Dropped;
    /// A command of the harness that a person ran was written as plain text.
    CommandFlattened = "command-flattened", Changed;
    /// A text without any character but white space was left behind, since providers refuse it.
    EmptyText = "empty-text", Dropped;
    /// A message without content was left behind.
    EmptyMessage = "empty-message", Dropped;
    /// Half of a UTF-16 surrogate pair was replaced by U+FFFD, since providers refuse it.
    LoneSurrogate = "lone-surrogate", Changed;
    /// Token counts were left behind, wholly or in part.
    Usage = "usage", Dropped;
    /// The model's name was left behind.
    Model = "model", Dropped;
    /// The reason why the model stopped was left behind.
    StopReason = "stop-reason", Dropped;
    /// A time was unknown and the target requires one; the nearest known one was written.
    TimeFilled = "time-filled", Added;
    /// A field was unknown and the target requires one; nothing, zero, or what follows from the model's name was written.
    FieldFilled = "field-filled", Added;
    /// A time was left behind, or is less exact.
    Time = "time", Dropped;
    /// The title was left behind.
    Title = "title", Dropped;
    /// The working directory of single messages was left behind.
    MessageDirectory = "message-directory", Dropped;
    /// The working directory was changed.
    DirectoryChanged = "directory-changed", Changed;
    /// The git branch was left behind.
    GitBranch = "git-branch", Dropped;
    /// The session got another id.
    SessionId = "session-id", Changed;
    /// Ids of messages were rewritten; their order and parents are kept.
    MessageIds = "message-ids", Changed;
    /// Where the session came from (fork, resume, subagent) was left behind.
    Lineage = "lineage", Dropped;
    /// Subagents were left behind.
    Subagents = "subagents", Dropped;
    /// Records of the harness that are no conversation (modes, permissions, snapshots, hooks) were left behind.
    HarnessEvents = "harness-events", Dropped;
    /// Records that could not be read were left behind.
    UnreadableRecords = "unreadable-records", Dropped;
    /// A companion of the session (audit log, uploaded files) was left behind.
    Companion = "companion", Dropped;
    /// A role that the target lacks was written as another.
    RoleChanged = "role-changed", Changed;
    /// A message that no person typed (a subagent's task or report, a picture that was put in) reads as a person's in
    /// the target.
    AgentMessage = "agent-message", Changed;
    /// Neighbouring messages of one role were joined, or a message was split, as the target's shape asks.
    Regrouped = "regrouped", Changed;
}

impl fmt::Display for LossKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.code())
    }
}

/// Something a conversion changed or left behind.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Loss {
    /// What it is.
    pub kind: LossKind,
    /// How many times; at least 1.
    pub count: u64,
    /// The messages it concerns, at most [`Losses::MESSAGES_NAMED`] of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub messages: Vec<MessageId>,
    /// What exactly, where the kind alone does not say: a tool's name, a field, a block's kind.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub what: Option<Text>,
}

/// The losses of one conversion, one entry for each kind and object, in a fixed order.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Losses(Vec<Loss>);

impl Losses {
    /// How many messages an entry names at most; its count is exact all the same.
    pub const MESSAGES_NAMED: usize = 20;

    /// No losses.
    #[must_use]
    pub fn none() -> Losses {
        Losses::default()
    }

    /// What no conversion can carry, since it could not be read: one entry for each kind of finding
    /// that left a record or a part of one out.
    #[must_use]
    pub fn unreadable(findings: &[Finding]) -> Losses {
        let mut losses = Losses::none();
        for finding in findings {
            let left_out = matches!(
                finding.kind,
                FindingKind::NotJson
                    | FindingKind::CutLine
                    | FindingKind::TornPrefix
                    | FindingKind::NotAnObject
                    | FindingKind::MalformedRecord
                    | FindingKind::NulRun
                    | FindingKind::Oversize
                    | FindingKind::TooDeep
            );
            if left_out {
                losses.add_many(LossKind::UnreadableRecords, finding.count, Some(finding.kind.code()), None);
            }
        }
        losses
    }

    /// Adds one case of a loss.
    pub fn add(&mut self, kind: LossKind, what: Option<&str>, message: Option<&MessageId>) {
        self.add_many(kind, 1, what, message);
    }

    /// Adds `count` cases of a loss; none when `count` is 0.
    pub fn add_many(&mut self, kind: LossKind, count: u64, what: Option<&str>, message: Option<&MessageId>) {
        if count == 0 {
            return;
        }
        let key = (kind, what);
        let place = self.0.binary_search_by(|loss| (loss.kind, loss.what.as_deref()).cmp(&key));
        let at = match place {
            Ok(at) => at,
            Err(at) => {
                let loss = Loss { kind, count: 0, messages: Vec::new(), what: what.map(Text::from) };
                self.0.insert(at, loss);
                at
            }
        };
        if let Some(loss) = self.0.get_mut(at) {
            loss.count = loss.count.saturating_add(count);
            if let Some(message) = message
                && loss.messages.len() < Self::MESSAGES_NAMED
                && loss.messages.last() != Some(message)
            {
                // A copy: a report must not keep the whole session in memory.
                loss.messages.push(MessageId::from(message.as_str()));
            }
        }
    }

    /// Adds all of another report.
    pub fn merge(&mut self, other: Losses) {
        for loss in other.0 {
            self.add_many(loss.kind, loss.count, loss.what.as_deref(), loss.messages.first());
            for message in loss.messages.iter().skip(1) {
                self.name(loss.kind, loss.what.as_deref(), message);
            }
        }
    }

    /// This report less `count` cases of a kind that did not come true after all. Which messages
    /// they concern is not known, so the first ones named stay named.
    #[must_use]
    pub fn without(&self, kind: LossKind, mut count: u64) -> Losses {
        let mut left = self.0.clone();
        for loss in left.iter_mut().filter(|loss| loss.kind == kind) {
            let taken = loss.count.min(count);
            loss.count -= taken;
            count -= taken;
            loss.messages.truncate(usize::try_from(loss.count).unwrap_or(usize::MAX));
        }
        left.retain(|loss| loss.count > 0);
        Losses(left)
    }

    fn name(&mut self, kind: LossKind, what: Option<&str>, message: &MessageId) {
        if let Some(loss) = self.0.iter_mut().find(|l| l.kind == kind && l.what.as_deref() == what)
            && loss.messages.len() < Self::MESSAGES_NAMED
        {
            loss.messages.push(message.clone());
        }
    }

    /// Whether nothing was lost.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The entries, ordered by kind and object.
    pub fn iter(&self) -> std::slice::Iter<'_, Loss> {
        self.0.iter()
    }

    /// Whether the report has a loss of this kind.
    #[must_use]
    pub fn has(&self, kind: LossKind) -> bool {
        self.0.iter().any(|loss| loss.kind == kind)
    }

    /// How many cases of this kind there are.
    #[must_use]
    pub fn count(&self, kind: LossKind) -> u64 {
        self.0.iter().filter(|loss| loss.kind == kind).map(|loss| loss.count).sum()
    }
}

impl<'a> IntoIterator for &'a Losses {
    type Item = &'a Loss;
    type IntoIter = std::slice::Iter<'a, Loss>;
    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_could_not_be_read_is_lost_in_every_conversion() {
        let findings = [
            Finding::new(FindingKind::NotJson, "a line").times(3),
            Finding::new(FindingKind::CarriageReturns, "line ends"),
        ];
        let losses = Losses::unreadable(&findings);
        assert_eq!(losses.count(LossKind::UnreadableRecords), 3);
        assert_eq!(losses.iter().next().unwrap().what.as_deref(), Some("not-json"));
    }

    #[test]
    fn a_report_without_one_kind_still_names_every_message_of_the_others() {
        let mut losses = Losses::none();
        for id in ["a", "b", "c"] {
            losses.add(LossKind::Thinking, None, Some(&MessageId::from(id)));
        }
        losses.add_many(LossKind::CompactionSummary, 2, None, None);
        let left = losses.without(LossKind::CompactionSummary, 2);
        assert!(!left.has(LossKind::CompactionSummary));
        assert_eq!(left.iter().next().unwrap().messages.len(), 3);
        assert_eq!(losses.without(LossKind::CompactionSummary, 1).count(LossKind::CompactionSummary), 1);
        assert_eq!(losses.without(LossKind::Thinking, 9).count(LossKind::Thinking), 0);
    }

    #[test]
    fn cases_of_one_kind_and_object_are_one_entry() {
        let mut losses = Losses::none();
        losses.add(LossKind::ToolKeptRaw, Some("WebFetch"), Some(&MessageId::from("b")));
        losses.add(LossKind::Thinking, None, Some(&MessageId::from("a")));
        losses.add(LossKind::ToolKeptRaw, Some("WebFetch"), Some(&MessageId::from("c")));
        losses.add_many(LossKind::Usage, 0, None, None);
        let kinds: Vec<_> = losses.iter().map(|l| (l.kind, l.count)).collect();
        assert_eq!(kinds, [(LossKind::Thinking, 1), (LossKind::ToolKeptRaw, 2)]);
    }
}
