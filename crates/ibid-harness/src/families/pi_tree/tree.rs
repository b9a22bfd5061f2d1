//! The tree of entries: who continues whom, and which message an entry hangs from.

use std::collections::HashMap;

use ibid_model::{MessageId, Text};

use super::records::Parent;

/// How many steps up the tree all compactions of one file together may take. Real files need a few
/// thousand; the bound keeps a hostile one from taking time that grows with its square.
const STEPS: usize = 4_000_000;

#[derive(Clone, Debug)]
struct Node {
    id: Text,
    parent: Option<usize>,
    is_message: bool,
    /// The nearest message at or above it.
    nearest: Option<usize>,
}

/// The entries of a file in their order, the header among them.
#[derive(Debug, Default)]
pub(crate) struct Tree {
    nodes: Vec<Node>,
    by_id: HashMap<Text, usize>,
    last: Option<usize>,
    steps: usize,
}

/// Where an entry was put.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Placed {
    /// The number of its node.
    pub(crate) node: usize,
    /// Its id, derived where it has none.
    pub(crate) id: MessageId,
    /// The nearest message above it.
    pub(crate) above: Option<MessageId>,
    /// What was odd about it.
    pub(crate) oddity: Option<Oddity>,
}

/// What can be odd about an entry's place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Oddity {
    /// It names a parent that does not precede it.
    MissingParent,
    /// It names no parent, in a file where entries do.
    NoParent,
    /// Its id stands on an earlier message, whose place it takes.
    Repeats,
    /// Its id stands on an earlier entry of another kind; it got one of its own.
    Renamed,
}

impl Tree {
    /// How many entries there are, the header included.
    pub(super) fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether nothing but a header was put in.
    pub(super) fn is_bare(&self) -> bool {
        self.last.is_none()
    }

    /// Puts in an entry that is no part of the tree.
    pub(crate) fn push_header(&mut self) {
        self.nodes.push(Node { id: Text::default(), parent: None, is_message: false, nearest: None });
    }

    /// Puts in an entry. In a linear file (version 1) every entry continues the one before it,
    /// whatever it says: so the program itself reads such files.
    pub(crate) fn push(
        &mut self,
        id: Option<&Text>,
        parent: &Parent,
        linear: bool,
        is_message: bool,
    ) -> Placed {
        let known = id.and_then(|id| self.by_id.get(id.as_str()).copied());
        if let Some(node) = known
            && is_message
            && let Some(first) = self.nodes.get(node).filter(|first| first.is_message)
        {
            self.last = Some(node);
            let above = first.parent.and_then(|parent| self.message_at(parent));
            let id = MessageId::from(first.id.clone());
            return Placed { node, id, above, oddity: Some(Oddity::Repeats) };
        }
        let (parent, oddity) = self.resolve(parent, linear);
        let node = self.nodes.len();
        let id = match id {
            // A copy: the id must not keep the memory of the whole file alive.
            Some(id) if known.is_none() => Text::from(id.as_str()),
            _ => self.derived_id(node),
        };
        let nearest = match is_message {
            true => Some(node),
            false => parent.and_then(|parent| self.nodes.get(parent)).and_then(|parent| parent.nearest),
        };
        let above = parent.and_then(|parent| self.message_at(parent));
        self.by_id.insert(id.clone(), node);
        self.nodes.push(Node { id: id.clone(), parent, is_message, nearest });
        self.last = Some(node);
        let oddity = if known.is_some() { Some(Oddity::Renamed) } else { oddity };
        Placed { node, id: MessageId::from(id), above, oddity }
    }

    fn resolve(&self, parent: &Parent, linear: bool) -> (Option<usize>, Option<Oddity>) {
        if linear {
            return (self.last, None);
        }
        match parent {
            Parent::Root => (None, None),
            Parent::Entry(id) => match self.by_id.get(id.as_str()) {
                Some(known) => (Some(*known), None),
                None => (self.last_pushed(), Some(Oddity::MissingParent)),
            },
            Parent::Unsaid => (self.last_pushed(), self.last_pushed().map(|_| Oddity::NoParent)),
        }
    }

    /// The entry before in file order.
    fn last_pushed(&self) -> Option<usize> {
        self.last.map(|_| self.nodes.len() - 1)
    }

    /// An id from the entry's number, the header being 0: the way version 1 counts.
    fn derived_id(&self, number: usize) -> Text {
        let mut id = format!("entry-{number}");
        while self.by_id.contains_key(id.as_str()) {
            id.push('-');
        }
        Text::from(id)
    }

    /// The nearest message at or above a node.
    pub(crate) fn message_at(&self, node: usize) -> Option<MessageId> {
        let nearest = self.nodes.get(node)?.nearest?;
        self.nodes.get(nearest).map(|node| MessageId::from(node.id.clone()))
    }

    /// The nodes from a node up to its root, itself included.
    pub(crate) fn way_up(&self, node: usize) -> Vec<usize> {
        let mut way = Vec::new();
        let mut next = Some(node);
        while let Some(at) = next {
            way.push(at);
            // A parent precedes its children, so no circle is possible.
            next = self.nodes.get(at).and_then(|node| node.parent).filter(|parent| *parent < at);
        }
        way
    }

    /// The node of an id.
    pub(super) fn find(&self, id: &str) -> Option<usize> {
        self.by_id.get(id).copied()
    }

    /// The first message at or below `kept` on the way down to `from`; none when `kept` does not
    /// lie on the way, or no message follows it.
    pub(super) fn first_from(&mut self, kept: usize, from: usize) -> Option<MessageId> {
        let mut found = None;
        let mut next = self.nodes.get(from).and_then(|node| node.parent);
        while let Some(at) = next {
            self.steps += 1;
            if self.steps > STEPS || at < kept {
                return None;
            }
            let node = self.nodes.get(at)?;
            if node.is_message {
                found = Some(at);
            }
            if at == kept {
                return found.and_then(|at| self.message_at(at));
            }
            next = node.parent;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn push(tree: &mut Tree, id: &str, parent: &str, is_message: bool) -> Placed {
        let parent = if parent.is_empty() { Parent::Root } else { Parent::Entry(parent.into()) };
        tree.push(Some(&Text::from(id)), &parent, false, is_message)
    }

    #[test]
    fn a_message_hangs_from_the_nearest_message_above_it() {
        let mut tree = Tree::default();
        tree.push_header();
        push(&mut tree, "model", "", false);
        let first = push(&mut tree, "a", "model", true);
        push(&mut tree, "label", "a", false);
        let second = push(&mut tree, "b", "label", true);
        assert_eq!((first.above, second.above), (None, Some("a".into())));
    }

    #[test]
    fn what_a_compaction_keeps_may_begin_at_an_entry_that_is_no_message() {
        let mut tree = Tree::default();
        tree.push_header();
        push(&mut tree, "model", "", false);
        push(&mut tree, "a", "model", true);
        push(&mut tree, "b", "a", true);
        let compaction = push(&mut tree, "c", "b", false);
        let model = tree.find("model").unwrap();
        assert_eq!(tree.first_from(model, compaction.node), Some("a".into()));
        assert_eq!(tree.first_from(compaction.node, compaction.node), None);
    }

    // https://github.com/ctxrs/ctx/pull/663 (fault 23)
    #[test]
    fn a_repeated_id_takes_the_place_of_the_first_and_makes_no_circle() {
        let mut tree = Tree::default();
        push(&mut tree, "a", "", true);
        push(&mut tree, "b", "a", true);
        let again = push(&mut tree, "a", "b", true);
        assert_eq!((again.node, again.above, again.oddity), (0, None, Some(Oddity::Repeats)));
        let other = push(&mut tree, "b", "a", false);
        assert_eq!(other.oddity, Some(Oddity::Renamed));
    }
}
