//! The surface: what of a session the model sees, in order.
//!
//! An event of the conversation is appended to it, or takes the place of a range of it. What is
//! replaced stays in the log. Source: npm `@deepseek-ai/dsh-session` 0.1.1-rc.2 (`surface`).

use std::collections::HashMap;

/// One place of the surface.
#[derive(Clone, Copy, Debug)]
struct Node {
    /// The position of its message in the session.
    message: usize,
    /// Nodes further along have a higher one.
    order: u64,
    next: Option<usize>,
    previous: Option<usize>,
    /// Whether it is there still.
    shown: bool,
}

/// The surface.
#[derive(Debug, Default)]
pub(super) struct Surface {
    nodes: Vec<Node>,
    by_seq: HashMap<u64, usize, foldhash::fast::RandomState>,
    last: Option<usize>,
}

/// A range that is to be replaced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Range {
    first: usize,
    last: usize,
    /// The positions of its messages, in the order of the surface.
    pub(super) messages: Vec<usize>,
    /// The position of the message behind it.
    pub(super) behind: Option<usize>,
}

impl Surface {
    /// Adds an event at the end.
    pub(super) fn append(&mut self, seq: Option<u64>, message: usize) {
        let at = self.nodes.len();
        let order = self.last.and_then(|last| self.nodes.get(last)).map_or(0, |last| last.order + 1);
        self.nodes.push(Node { message, order, next: None, previous: self.last, shown: true });
        if let Some(last) = self.last.and_then(|last| self.nodes.get_mut(last)) {
            last.next = Some(at);
        }
        self.last = Some(at);
        self.name(seq, at);
    }

    fn name(&mut self, seq: Option<u64>, at: usize) {
        if let Some(seq) = seq {
            self.by_seq.insert(seq, at);
        }
    }

    fn shown(&self, seq: u64) -> Option<(usize, Node)> {
        let at = *self.by_seq.get(&seq)?;
        let node = *self.nodes.get(at)?;
        node.shown.then_some((at, node))
    }

    /// The range from one event to another; none when one of them is not on the surface, or they
    /// stand the other way round.
    pub(super) fn range(&self, start: u64, end: u64) -> Option<Range> {
        let (first, begin) = self.shown(start)?;
        let (last, finish) = self.shown(end)?;
        if begin.order > finish.order {
            return None;
        }
        // What is walked over here is taken away by the replacement, so the walks add up to no more
        // than there are events.
        let mut messages = Vec::new();
        let mut next = Some(first);
        while let Some(at) = next {
            let node = self.nodes.get(at)?;
            messages.push(node.message);
            next = node.next.filter(|_| at != last);
        }
        let behind = finish.next.and_then(|at| self.nodes.get(at)).map(|node| node.message);
        Some(Range { first, last, messages, behind })
    }

    /// Puts an event in the place of a range.
    pub(super) fn replace(&mut self, range: &Range, seq: Option<u64>, message: usize) {
        let Some(first) = self.nodes.get(range.first).copied() else { return };
        let Some(last) = self.nodes.get(range.last).copied() else { return };
        let at = self.nodes.len();
        let mut next = Some(range.first);
        while let Some(node) = next.and_then(|at| self.nodes.get_mut(at)) {
            node.shown = false;
            next = node.next.filter(|_| next != Some(range.last));
        }
        self.nodes.push(Node {
            message,
            order: first.order,
            next: last.next,
            previous: first.previous,
            shown: true,
        });
        if let Some(before) = first.previous.and_then(|before| self.nodes.get_mut(before)) {
            before.next = Some(at);
        }
        match last.next.and_then(|behind| self.nodes.get_mut(behind)) {
            Some(behind) => behind.previous = Some(at),
            None => self.last = Some(at),
        }
        self.name(seq, at);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn surface(events: u64) -> Surface {
        let mut surface = Surface::default();
        (0..events).for_each(|seq| surface.append(Some(seq), usize::try_from(seq).unwrap()));
        surface
    }

    #[test]
    fn a_replacement_stands_where_the_range_stood() {
        let mut surface = surface(5);
        let range = surface.range(1, 2).unwrap();
        assert_eq!((range.messages.as_slice(), range.behind), ([1, 2].as_slice(), Some(3)));
        surface.replace(&range, Some(5), 5);
        assert_eq!(surface.range(0, 4).unwrap().messages, [0, 5, 3, 4]);
        assert!(surface.range(1, 3).is_none(), "what was replaced is there no more");
        let range = surface.range(5, 4).unwrap();
        surface.replace(&range, Some(6), 6);
        surface.append(Some(7), 7);
        assert_eq!(surface.range(0, 7).unwrap().messages, [0, 6, 7]);
    }

    #[test]
    fn a_range_the_wrong_way_round_is_none() {
        let mut surface = surface(4);
        assert!(surface.range(3, 1).is_none());
        let range = surface.range(0, 2).unwrap();
        surface.replace(&range, Some(9), 9);
        assert!(surface.range(3, 9).is_none(), "the replacement has the place of the range");
        assert_eq!(surface.range(9, 3).unwrap().messages, [9, 3]);
    }
}
