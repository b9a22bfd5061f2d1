//! The common session: what every harness's sessions can be read into.

use foldhash::{HashMap, HashSet};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    Block, CarrierInfo, Compaction, Event, Lineage, Message, MessageId, ModelCall, Origin, Role, SessionId,
    Text, Timestamp, Usage,
};

/// Where a title came from; a later kind never replaces an earlier one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TitleOrigin {
    /// A person gave it.
    Person,
    /// An agent gave it.
    Agent,
    /// The harness had a model make it.
    Generated,
    /// The harness took it from a summary of the conversation.
    Summary,
}

/// A session's title.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Title {
    /// The title.
    pub text: Text,
    /// Where it came from.
    pub origin: TitleOrigin,
}

/// What a list shows of a session. Discovery and a full load give the same values.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Meta {
    /// The title; none when the session has none (a list then shows the preview).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<Title>,
    /// The beginning of the first thing a person said: one line, at most [`Meta::PREVIEW_CHARS`] characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preview: Option<Text>,
    /// The working directory it began in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<Text>,
    /// The model that wrote last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<Text>,
    /// The time of the first stamped record.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started: Option<Timestamp>,
    /// The time of the last stamped record.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub updated: Option<Timestamp>,
    /// The git branch it began on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub git_branch: Option<Text>,
    /// The version of the harness that began it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<Text>,
    /// The program that wrote it, where records name one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub originator: Option<Text>,
    /// Whether the harness has put it away.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub archived: bool,
}

impl Meta {
    /// The length of a preview.
    pub const PREVIEW_CHARS: usize = 200;

    /// Takes a title unless one of a higher kind is there; of one kind the last wins.
    pub fn offer_title(&mut self, text: &Text, origin: TitleOrigin) {
        if text.is_blank() {
            return;
        }
        if self.title.as_ref().is_none_or(|title| origin <= title.origin) {
            self.title = Some(Title { text: text.clone(), origin });
        }
    }

    /// Takes the preview from what a person said, unless there is one.
    pub fn offer_preview(&mut self, text: &str) {
        if self.preview.is_some() {
            return;
        }
        let words = text.split_whitespace();
        let mut line = String::new();
        let mut chars = 0;
        'words: for word in words {
            if chars > 0 {
                line.push(' ');
                chars += 1;
            }
            for c in word.chars() {
                if chars >= Self::PREVIEW_CHARS {
                    break 'words;
                }
                line.push(c);
                chars += 1;
            }
        }
        if !line.is_empty() {
            self.preview = Some(Text::from(line.trim_end().to_owned()));
        }
    }

    /// Takes the time of a record: the first seen is `started`, the last seen `updated`.
    pub fn stamp(&mut self, at: Timestamp) {
        self.started.get_or_insert(at);
        self.updated = Some(at);
    }
}

/// How many of what a session has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Counts {
    /// Messages in which a person said something.
    pub prompts: u64,
    /// User messages that the harness or another agent put there.
    pub injected: u64,
    /// Messages of the model.
    pub assistant: u64,
    /// Of these: with text.
    pub assistant_with_text: u64,
    /// Tool calls.
    pub tool_calls: u64,
    /// Tool calls that have a result.
    pub tool_results: u64,
}

/// One conversation, in a form that does not depend on the harness.
///
/// Messages stand in the order of the carrier; which of them belong together is told by their
/// parents. [`Session::problems`] says whether the invariants hold that the other methods rely on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Session {
    /// The harness it is from, as Ibid names it (`claude-code`, `codex`, ...).
    pub harness: Text,
    /// Its id.
    pub id: SessionId,
    /// What a list shows.
    pub meta: Meta,
    /// Where it came from.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lineage: Vec<Lineage>,
    /// What it was read from.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub carriers: Vec<CarrierInfo>,
    /// All messages of all branches.
    pub messages: Vec<Message>,
    /// The last message of the live branch; none when there are no messages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub head: Option<MessageId>,
    /// Where the history was compacted, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub compactions: Vec<Compaction>,
    /// The model calls and their tokens, each once.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<ModelCall>,
    /// The tokens of the whole session as the harness itself last summed them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reported_usage: Option<Usage>,
    /// What is not conversation.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub events: Vec<Event>,
}

/// An invariant of the model that a session breaks.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Problem {
    /// Two messages have this id.
    RepeatedId(MessageId),
    /// The message names a parent that is not there.
    MissingParent(MessageId),
    /// The message is its own ancestor.
    Cycle(MessageId),
    /// The head names no message.
    MissingHead(MessageId),
    /// A compaction names a message that is not there.
    MissingAnchor(MessageId),
}

/// One path through the tree, from a root to a leaf.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Branch {
    /// Its last message.
    pub leaf: MessageId,
    /// The last message it shares with the live branch; none when it shares nothing.
    pub fork: Option<MessageId>,
    /// How many messages it has of its own.
    pub own: usize,
    /// Whether it is the live branch.
    pub live: bool,
}

impl Session {
    /// A session without messages.
    #[must_use]
    pub fn new(harness: impl Into<Text>, id: impl Into<SessionId>) -> Session {
        Session {
            harness: harness.into(),
            id: id.into(),
            meta: Meta::default(),
            lineage: Vec::new(),
            carriers: Vec::new(),
            messages: Vec::new(),
            head: None,
            compactions: Vec::new(),
            calls: Vec::new(),
            reported_usage: None,
            events: Vec::new(),
        }
    }

    /// The message with this id.
    #[must_use]
    pub fn message(&self, id: &MessageId) -> Option<&Message> {
        self.messages.iter().find(|message| message.id == *id)
    }

    /// The positions of messages by their ids (the last one of equal ids).
    #[must_use]
    pub fn positions(&self) -> HashMap<&str, usize> {
        self.messages.iter().enumerate().map(|(at, message)| (message.id.as_str(), at)).collect()
    }

    /// The positions of the messages on the way from a root to `leaf`, in that order. A circle
    /// ends the walk; an unknown leaf gives an empty path.
    #[must_use]
    pub fn path_to(&self, leaf: &MessageId) -> Vec<usize> {
        let positions = self.positions();
        self.walk(leaf, &positions)
    }

    fn walk(&self, leaf: &MessageId, positions: &HashMap<&str, usize>) -> Vec<usize> {
        let mut path = Vec::new();
        let mut seen = vec![false; self.messages.len()];
        let mut next = positions.get(leaf.as_str()).copied();
        while let Some(at) = next {
            match seen.get_mut(at) {
                Some(seen) if !*seen => *seen = true,
                _ => break,
            }
            path.push(at);
            next = self
                .messages
                .get(at)
                .and_then(|message| message.parent.as_ref())
                .and_then(|parent| positions.get(parent.as_str()).copied());
        }
        path.reverse();
        path
    }

    /// The positions of the messages of the live branch, in order.
    #[must_use]
    pub fn live_path(&self) -> Vec<usize> {
        match self.head.as_ref().or(self.messages.last().map(|message| &message.id)) {
            Some(head) => self.path_to(head),
            None => Vec::new(),
        }
    }

    /// All branches: the live one first, then the others in the order of their last messages.
    #[must_use]
    pub fn branches(&self) -> Vec<Branch> {
        let positions = self.positions();
        let live = self.live_path();
        let on_live: HashSet<usize> = live.iter().copied().collect();
        let parents: HashSet<&str> =
            self.messages.iter().filter_map(|m| m.parent.as_ref().map(MessageId::as_str)).collect();
        let mut branches = Vec::new();
        if let Some(leaf) = live.last().and_then(|at| self.messages.get(*at)) {
            branches.push(Branch { leaf: leaf.id.clone(), fork: None, own: live.len(), live: true });
        }
        for (at, message) in self.messages.iter().enumerate() {
            if on_live.contains(&at) || parents.contains(message.id.as_str()) {
                continue;
            }
            let path = self.walk(&message.id, &positions);
            let shared = path.iter().take_while(|at| on_live.contains(at)).count();
            let fork =
                shared.checked_sub(1).and_then(|last| path.get(last)).and_then(|at| self.messages.get(*at));
            branches.push(Branch {
                leaf: message.id.clone(),
                fork: fork.map(|message| message.id.clone()),
                own: path.len() - shared,
                live: false,
            });
        }
        branches
    }

    /// The parent in the sense of lists: the first relation that names one.
    #[must_use]
    pub fn parent(&self) -> Option<&SessionId> {
        self.lineage.iter().find_map(|lineage| lineage.parent.as_ref())
    }

    /// How many of what the session has, on all branches, inherited messages included.
    #[must_use]
    pub fn counts(&self) -> Counts {
        let mut counts = Counts::default();
        let mut answered: HashMap<&str, u64> = HashMap::default();
        for message in &self.messages {
            match message.role {
                Role::User if message.is_prompt() => counts.prompts += 1,
                Role::User if matches!(message.origin, Origin::Harness | Origin::Summary | Origin::Agent) => {
                    counts.injected += 1;
                }
                Role::Assistant => {
                    counts.assistant += 1;
                    counts.assistant_with_text += u64::from(message.has_text());
                }
                _ => {}
            }
            for block in &message.blocks {
                match block {
                    Block::ToolUse(call) => {
                        counts.tool_calls += 1;
                        answered.entry(call.id.as_str()).or_insert(0);
                    }
                    Block::ToolResult(result) => {
                        *answered.entry(result.call.as_str()).or_insert(0) += 1;
                    }
                    _ => {}
                }
            }
        }
        counts.tool_results = answered.values().filter(|results| **results > 0).count() as u64;
        counts
    }

    /// The sum of all model calls that this session made itself.
    #[must_use]
    pub fn own_usage(&self) -> Usage {
        self.calls
            .iter()
            .filter(|call| !call.inherited)
            .fold(Usage::default(), |sum, call| sum.plus(&call.usage))
    }

    /// The invariants that do not hold. A session that a codec made has none.
    #[must_use]
    pub fn problems(&self) -> Vec<Problem> {
        let mut problems = Vec::new();
        let positions = self.positions();
        for (at, message) in self.messages.iter().enumerate() {
            if positions.get(message.id.as_str()) != Some(&at) {
                problems.push(Problem::RepeatedId(message.id.clone()));
            }
            if let Some(parent) = &message.parent
                && !positions.contains_key(parent.as_str())
            {
                problems.push(Problem::MissingParent(message.id.clone()));
            }
        }
        problems.extend(self.cycles(&positions));
        if let Some(head) = &self.head
            && !positions.contains_key(head.as_str())
        {
            problems.push(Problem::MissingHead(head.clone()));
        }
        for compaction in &self.compactions {
            for anchor in
                [&compaction.after, &compaction.summary, &compaction.first_kept].into_iter().flatten()
            {
                if !positions.contains_key(anchor.as_str()) {
                    problems.push(Problem::MissingAnchor(anchor.clone()));
                }
            }
        }
        problems
    }

    fn cycles(&self, positions: &HashMap<&str, usize>) -> Vec<Problem> {
        #[derive(Clone, Copy, PartialEq)]
        enum State {
            New,
            Open,
            Done,
        }
        let mut states = vec![State::New; self.messages.len()];
        let mut problems = Vec::new();
        for start in 0..self.messages.len() {
            let mut walked = Vec::new();
            let mut next = Some(start);
            while let Some(at) = next {
                match states.get(at).copied() {
                    Some(State::New) => {}
                    Some(State::Open) => {
                        if let Some(message) = self.messages.get(at) {
                            problems.push(Problem::Cycle(message.id.clone()));
                        }
                        break;
                    }
                    _ => break,
                }
                if let Some(state) = states.get_mut(at) {
                    *state = State::Open;
                }
                walked.push(at);
                next = self
                    .messages
                    .get(at)
                    .and_then(|message| message.parent.as_ref())
                    .and_then(|parent| positions.get(parent.as_str()).copied());
            }
            for at in walked {
                if let Some(state) = states.get_mut(at) {
                    *state = State::Done;
                }
            }
        }
        problems
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chain(edges: &[(&str, Option<&str>)]) -> Session {
        let mut session = Session::new("test", "s");
        for (id, parent) in edges {
            let mut message = Message::new(*id, Role::User, Origin::Person);
            message.parent = parent.map(MessageId::from);
            session.messages.push(message);
        }
        session
    }

    #[test]
    fn the_live_path_goes_from_the_root_to_the_head() {
        let mut session = chain(&[("a", None), ("b", Some("a")), ("c", Some("b")), ("d", Some("a"))]);
        session.head = Some("c".into());
        assert_eq!(session.live_path(), [0, 1, 2]);
        let branches = session.branches();
        assert_eq!(branches.len(), 2);
        assert_eq!((branches[1].leaf.as_str(), branches[1].own), ("d", 1));
        assert_eq!(branches[1].fork, Some("a".into()));
    }

    #[test]
    fn a_circle_of_parents_ends_the_walk_and_is_named() {
        let session = chain(&[("a", Some("b")), ("b", Some("a"))]);
        assert_eq!(session.live_path().len(), 2);
        assert_eq!(session.problems(), [Problem::Cycle("a".into())]);
    }

    #[test]
    fn a_person_names_a_session_for_good() {
        let mut meta = Meta::default();
        meta.offer_title(&"generated".into(), TitleOrigin::Generated);
        meta.offer_title(&"mine".into(), TitleOrigin::Person);
        meta.offer_title(&"generated again".into(), TitleOrigin::Generated);
        assert_eq!(meta.title.unwrap().text, "mine");
    }

    #[test]
    fn a_preview_is_one_short_line() {
        let mut meta = Meta::default();
        meta.offer_preview("  \n ");
        meta.offer_preview(&format!("a\n  b {}", "x".repeat(500)));
        let preview = meta.preview.unwrap();
        assert!(preview.starts_with("a b x"));
        assert_eq!(preview.chars().count(), Meta::PREVIEW_CHARS);
    }
}
