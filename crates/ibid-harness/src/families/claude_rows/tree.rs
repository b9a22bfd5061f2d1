//! The parents of messages, the live branch, and the compactions: what is known only when all
//! rows are.

use std::collections::HashSet;

use ibid_model::{
    Block, CallId, Compaction, Finding, FindingKind, Lineage, Message, MessageId, Origin, Relation, Session,
    SessionId, Text,
};

use super::assembly::{Assembly, NodeParent, OpenCompaction};
use super::{Map, Set};

/// More results of one answer than this are not joined.
const PARALLEL_CALLS: usize = 256;

/// A conversation with its findings.
#[derive(Debug)]
pub(crate) struct Assembled {
    /// The session.
    pub(crate) session: Session,
    /// What was wrong with the rows.
    pub(crate) findings: Vec<Finding>,
}

/// What kind of file the rows make.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// A conversation from its beginning.
    Whole,
    /// A conversation whose beginning is not in the file.
    Partial,
    /// Rows of another program.
    Foreign,
    /// No conversation.
    Empty,
}

impl Assembly {
    /// What kind of file the rows make.
    pub(crate) fn shape(&self) -> Shape {
        if self.own_rows == 0 {
            return if self.foreign_rows + self.foreign_turns > 0 { Shape::Foreign } else { Shape::Empty };
        }
        if self.missing_parent().is_some() { Shape::Partial } else { Shape::Whole }
    }

    /// Makes the session; `subagent` says whether the file is a subagent's own.
    pub(crate) fn finish(mut self, harness: &str, id: SessionId, subagent: bool) -> Assembled {
        self.finish_meta(subagent);
        self.forget_joins();
        let calls = std::mem::take(&mut self.ledger).into_calls();
        let parents = self.parents();
        let ids: Vec<MessageId> = self.messages.iter().map(|message| message.id.clone()).collect();
        for (message, parent) in self.messages.iter_mut().zip(&parents) {
            message.parent = parent.and_then(|at| ids.get(at).cloned());
        }
        let head = self.head(&parents);
        let compactions = self.close_compactions(&ids);
        let lineage = self.copied(&ids);
        self.pairs();
        if self.messages.is_empty() && !self.nodes.is_empty() {
            let first = self.nodes.first().map(|node| node.place);
            if let Some(place) = first {
                self.tally.add(FindingKind::NoTurns, "there are rows and no turn among them", place);
            }
        }
        let mut session = Session::new(Text::from(harness), id);
        session.meta = self.meta;
        session.lineage = lineage;
        session.messages = self.messages;
        session.head = head.and_then(|at| ids.get(at).cloned());
        session.compactions = compactions;
        session.calls = calls;
        session.events = self.events;
        let copied: Set<&MessageId> =
            session.messages.iter().filter(|message| message.inherited).map(|message| &message.id).collect();
        for call in session.calls.iter_mut().filter(|_| !copied.is_empty()) {
            call.inherited = call.message.as_ref().is_some_and(|id| copied.contains(id));
        }
        Assembled { session, findings: self.tally.into_findings().collect() }
    }

    /// The message before each message.
    fn parents(&mut self) -> Vec<Option<usize>> {
        let mut resolved: Vec<Option<Option<usize>>> = vec![None; self.nodes.len()];
        let mut parents = Vec::with_capacity(self.messages.len());
        for at in 0..self.messages.len() {
            let node = self.first_nodes.get(at).copied().unwrap_or_default();
            parents.push(self.before(node, at, &mut resolved));
        }
        self.cut_circles(&mut parents);
        self.join_parallel_results(&mut parents);
        parents
    }

    /// The message before the one at `own`, whose first row is `node`.
    fn before(&mut self, node: usize, own: usize, resolved: &mut [Option<Option<usize>>]) -> Option<usize> {
        let mut walked = Vec::new();
        let mut next = Some(node);
        let mut found = None;
        while let Some(at) = next {
            // A row that is being looked at has the slot filled already, so that a circle of rows
            // without messages ends here.
            if let Some(known) = resolved.get(at).copied().flatten() {
                found = known;
                break;
            }
            if let Some(slot) = resolved.get_mut(at) {
                *slot = Some(None);
            }
            walked.push(at);
            let Some((parent, previous)) = self.nodes.get(at).map(|n| (n.parent.clone(), n.previous)) else {
                break;
            };
            let previous = previous.filter(|previous| *previous != own);
            let step = match self.boundary_parent(at).unwrap_or(parent) {
                NodeParent::Unsaid => Err(previous),
                // Where no row at all names a parent, the file has no tree to speak of.
                NodeParent::Root if !self.names_parents => Err(previous),
                NodeParent::Root => Err(None),
                NodeParent::Node(parent) => Ok(parent),
                NodeParent::Row(uuid) => {
                    match self.by_uuid.get(&uuid).copied().filter(|parent| *parent != at) {
                        Some(parent) => Ok(parent),
                        None => {
                            self.dangling(at);
                            Err(previous)
                        }
                    }
                }
            };
            match step {
                Err(end) => {
                    found = end;
                    break;
                }
                Ok(parent) => match self.nodes.get(parent).and_then(|node| node.message) {
                    Some(message) if message != own => {
                        found = Some(message);
                        break;
                    }
                    _ => next = Some(parent),
                },
            }
        }
        for at in walked {
            if let Some(slot) = resolved.get_mut(at) {
                *slot = Some(found);
            }
        }
        found.filter(|found| *found != own)
    }

    fn dangling(&mut self, node: usize) {
        if let Some(place) = self.nodes.get(node).map(|node| node.place) {
            self.tally.add(
                FindingKind::DanglingParent,
                "the row names a parent that is not in the file",
                place,
            );
        }
    }

    /// Where a compacted history goes on from: the last row of the old one, else what precedes it
    /// in the file. None for a row that begins no compacted history.
    fn boundary_parent(&self, node: usize) -> Option<NodeParent> {
        let after = self.boundaries.get(&node)?;
        let known = after.as_ref().filter(|uuid| self.by_uuid.contains_key(*uuid));
        Some(known.map_or(NodeParent::Unsaid, |uuid| NodeParent::Row(uuid.clone())))
    }

    /// Parents that come later in the file are rare; only then can there be a circle.
    fn cut_circles(&mut self, parents: &mut [Option<usize>]) {
        if parents.iter().enumerate().all(|(at, parent)| parent.is_none_or(|parent| parent < at)) {
            return;
        }
        let mut done = vec![false; parents.len()];
        for start in 0..parents.len() {
            let mut open = HashSet::new();
            let mut walked = Vec::new();
            let mut next = Some(start);
            while let Some(at) = next {
                if done.get(at).copied().unwrap_or(true) {
                    break;
                }
                open.insert(at);
                walked.push(at);
                let parent = parents.get(at).copied().flatten();
                if parent.is_some_and(|parent| open.contains(&parent)) {
                    if let Some(slot) = parents.get_mut(at) {
                        *slot = None;
                    }
                    if let Some(node) = self.first_nodes.get(at).and_then(|node| self.nodes.get(*node)) {
                        self.tally.add(
                            FindingKind::ParentCycle,
                            "the parents lead back to the row",
                            node.place,
                        );
                    }
                    break;
                }
                next = parent;
            }
            for at in walked {
                if let Some(slot) = done.get_mut(at) {
                    *slot = true;
                }
            }
        }
    }

    /// The results of parallel calls are children of the rows of their calls, which are one
    /// message: as they stand they would be branches of it. Each follows the one before.
    fn join_parallel_results(&self, parents: &mut [Option<usize>]) {
        let mut last_of: Map<usize, usize> = Map::default();
        for (at, message) in self.messages.iter().enumerate() {
            let Some(parent) = parents.get(at).copied().flatten() else { continue };
            if message.origin != Origin::Tools || parent >= at {
                continue;
            }
            let Some(last) = last_of.get(&parent).copied() else {
                last_of.insert(parent, at);
                continue;
            };
            // The same call answered twice: that is a branch.
            if !self.answers_again(message, last, parent, parents) {
                if let Some(slot) = parents.get_mut(at) {
                    *slot = Some(last);
                }
                last_of.insert(parent, at);
            }
        }
    }

    /// Whether the message answers a call that one of the results from `last` up to `parent`
    /// answers.
    fn answers_again(
        &self,
        message: &Message,
        last: usize,
        parent: usize,
        parents: &[Option<usize>],
    ) -> bool {
        let mut next = Some(last);
        for _ in 0..PARALLEL_CALLS {
            let Some(at) = next.filter(|at| *at != parent) else { return false };
            let Some(known) = self.messages.get(at) else { return false };
            if results(known).any(|call| results(message).any(|own| own == call)) {
                return true;
            }
            next = parents.get(at).copied().flatten();
        }
        true
    }

    /// The end of the live branch, as the program finds it: the branch of the row that the last
    /// `last-prompt` names, else of the last row of the main conversation.
    // https://github.com/anthropics/claude-code/issues/62301 (fault 8)
    fn head(&self, parents: &[Option<usize>]) -> Option<usize> {
        let main = |at: &usize| self.messages.get(*at).is_some_and(|message| !message.sidechain);
        let named = self.leaf.as_ref().and_then(|leaf| self.message_of(leaf));
        let last =
            || (0..self.messages.len()).rev().find(main).or_else(|| self.messages.len().checked_sub(1));
        let mut head = named.or_else(last)?;
        let from_beside = !main(&head);
        let mut newest_child: Vec<Option<usize>> = vec![None; parents.len()];
        for (at, parent) in parents.iter().enumerate() {
            if let Some(child) = parent.and_then(|parent| newest_child.get_mut(parent))
                && (main(&at) || from_beside)
            {
                *child = Some(at);
            }
        }
        for _ in 0..self.messages.len() {
            match newest_child.get(head).copied().flatten() {
                Some(child) => head = child,
                None => break,
            }
        }
        Some(head)
    }

    /// The message that a row is a part of, or the one before it.
    fn message_of(&self, uuid: &Text) -> Option<usize> {
        let mut node = *self.by_uuid.get(uuid)?;
        for _ in 0..self.nodes.len() {
            let row = self.nodes.get(node)?;
            if row.message.is_some() {
                return row.message;
            }
            node = match &row.parent {
                NodeParent::Node(parent) => *parent,
                NodeParent::Row(parent) => *self.by_uuid.get(parent)?,
                _ => return row.previous,
            };
        }
        None
    }

    fn close_compactions(&mut self, ids: &[MessageId]) -> Vec<Compaction> {
        let open: Vec<OpenCompaction> = std::mem::take(&mut self.compactions);
        let id = |at: Option<usize>| at.and_then(|at| ids.get(at).cloned());
        let close = |compaction: OpenCompaction| {
            let node = self.nodes.get(compaction.node)?;
            let after = match self.boundary_parent(compaction.node) {
                Some(NodeParent::Row(uuid)) => self.message_of(&uuid),
                _ => node.previous,
            };
            let boundary = compaction.boundary;
            let kept = boundary.as_ref().and_then(|boundary| boundary.first_kept.as_ref());
            Some(Compaction {
                after: id(after),
                summary: id(compaction.summary),
                text: None,
                first_kept: id(kept.and_then(|uuid| self.message_of(uuid))),
                trigger: boundary.as_ref().and_then(|boundary| boundary.trigger.clone()),
                tokens_before: boundary.as_ref().and_then(|boundary| boundary.tokens_before),
                at: compaction.at,
                sources: vec![node.place.source()],
            })
        };
        open.into_iter().filter_map(close).collect()
    }

    /// The copied beginning of the session, and where it came from.
    fn copied(&mut self, ids: &[MessageId]) -> Vec<Lineage> {
        if let Some((parent, upto)) = self.copied_from.take() {
            let mut lineage = Lineage::to(Relation::Forked, parent);
            lineage.at = ids.get(upto).cloned();
            for message in self.messages.iter_mut().take(upto + 1) {
                message.inherited = true;
            }
            return vec![lineage];
        }
        let Some(upto) = self.restamped() else { return Vec::new() };
        // The times are those of the resume; when the turns really were is not in this file.
        // https://github.com/openai/codex/issues/35003 (fault 57)
        for message in self.messages.iter_mut().take(upto + 1) {
            message.inherited = true;
            message.at = None;
        }
        vec![Lineage {
            relation: Relation::Resumed,
            parent: None,
            parent_path: None,
            call: None,
            agent: None,
            agent_kind: None,
            at: ids.get(upto).cloned(),
        }]
    }

    /// Versions 1 began a new file when they resumed, with the history copied: its rows all have
    /// the time of the resume, and its answers have lost their request id. An answer in the same
    /// millisecond as its prompt was not made then.
    // https://github.com/anthropics/claude-code/issues/5034 (fault 24)
    fn restamped(&self) -> Option<usize> {
        if !self.meta.version.as_ref()?.starts_with("1.") {
            return None;
        }
        let first = self.messages.first()?.at?;
        let same = self.messages.iter().take_while(|message| message.at == Some(first)).count();
        let copied = self.messages.get(..same)?;
        let answer = copied.iter().rposition(|message| message.origin == Origin::Model)?;
        (self.first_request.is_none_or(|at| at > answer)).then_some(answer)
    }

    /// Reports calls without results and results without calls.
    fn pairs(&mut self) {
        let mut calls: Map<&str, (usize, bool)> = Map::default();
        let mut orphans = Vec::new();
        for (at, message) in self.messages.iter().enumerate() {
            for block in &message.blocks {
                match block {
                    Block::ToolUse(call) => {
                        calls.entry(call.id.as_str()).or_insert((at, false));
                    }
                    Block::ToolResult(result) => match calls.get_mut(result.call.as_str()) {
                        Some((_, answered)) => *answered = true,
                        None => orphans.push((result.call.as_str(), at)),
                    },
                    _ => {}
                }
            }
        }
        // A file can have a result before its call.
        orphans.retain(|(call, _)| match calls.get_mut(call) {
            Some((_, answered)) => {
                *answered = true;
                false
            }
            None => true,
        });
        let mut open: Vec<usize> =
            calls.values().filter(|(_, answered)| !answered).map(|(at, _)| *at).collect();
        open.sort_unstable();
        let place =
            |at: &usize| self.first_nodes.get(*at).and_then(|node| self.nodes.get(*node)).map(|n| n.place);
        let open: Vec<_> = open.iter().filter_map(place).collect();
        let orphans: Vec<_> = orphans.iter().filter_map(|(_, at)| place(at)).collect();
        for place in open {
            self.tally.add(FindingKind::CallWithoutResult, "a call has no result in the file", place);
        }
        for place in orphans {
            self.tally.add(FindingKind::ResultWithoutCall, "a result has no call in the file", place);
        }
    }
}

fn results(message: &Message) -> impl Iterator<Item = &CallId> {
    message.blocks.iter().filter_map(|block| match block {
        Block::ToolResult(result) => Some(&result.call),
        _ => None,
    })
}
