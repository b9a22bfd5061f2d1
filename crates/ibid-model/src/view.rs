//! Which messages of a session are meant.

use std::ops::Range;

use crate::{Compaction, Message, MessageId, Origin, Session};
use foldhash::HashSet;

/// Messages `start..end` of a view, counted from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// The first message.
    pub start: usize,
    /// The message after the last.
    pub end: usize,
}

impl From<Range<usize>> for Span {
    fn from(range: Range<usize>) -> Self {
        Span { start: range.start, end: range.end }
    }
}

/// Which part of a session is meant. The default is the live branch as people see it: across
/// compactions, without the summaries that stand in for what is there anyway.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selection {
    /// The last message of the branch; none means the live branch.
    pub branch: Option<MessageId>,
    /// Only what the model still sees: the last summary and what follows it.
    pub from_compaction: bool,
    /// Only these messages of the view.
    pub span: Option<Span>,
}

/// The messages that a [`Selection`] picks, in order.
#[derive(Clone, Debug)]
pub struct View<'a> {
    /// The messages.
    pub messages: Vec<&'a Message>,
    /// The compactions on the way, each with the number of messages of the view before it.
    pub compactions: Vec<(usize, &'a Compaction)>,
    /// How many messages lie on other branches.
    pub on_other_branches: usize,
    /// How many messages come before the compaction that the view starts from.
    pub before_compaction: usize,
    /// How many summaries were left out since what they sum up is in the view.
    pub summaries_left_out: usize,
    /// How many messages lie outside the span.
    pub outside_span: usize,
}

impl Session {
    /// The messages that the selection picks.
    #[must_use]
    pub fn view(&self, selection: &Selection) -> View<'_> {
        let path = match &selection.branch {
            Some(leaf) => self.path_to(leaf),
            None => self.live_path(),
        };
        let ids = path.iter().filter_map(|at| self.messages.get(*at)).map(|message| message.id.as_str());
        let on_path: HashSet<&str> =
            if self.compactions.is_empty() { HashSet::default() } else { ids.collect() };
        let mut view = View {
            messages: Vec::with_capacity(path.len()),
            compactions: Vec::new(),
            on_other_branches: self.messages.len() - path.len(),
            before_compaction: 0,
            summaries_left_out: 0,
            outside_span: 0,
        };
        let compactions: Vec<&Compaction> = self
            .compactions
            .iter()
            .filter(|c| {
                c.after.as_ref().or(c.summary.as_ref()).is_none_or(|id| on_path.contains(id.as_str()))
            })
            .collect();
        let messages: Vec<&Message> = path.iter().filter_map(|at| self.messages.get(*at)).collect();
        if selection.from_compaction
            && let Some(last) = compactions.last()
        {
            view.take_from(&messages, last);
        } else {
            for message in messages {
                if message.origin == Origin::Summary {
                    view.summaries_left_out += 1;
                } else {
                    view.messages.push(message);
                }
                let before = view.messages.len();
                view.compactions.extend(
                    compactions
                        .iter()
                        .filter(|c| c.after.as_ref() == Some(&message.id))
                        .map(|c| (before, *c)),
                );
            }
        }
        if let Some(span) = selection.span {
            let all = view.messages.len();
            let end = span.end.min(all);
            let start = span.start.min(end);
            view.messages = view.messages.drain(start..end).collect();
            view.outside_span = all - view.messages.len();
            view.compactions.retain(|(before, _)| (start..=end).contains(before));
            for (before, _) in &mut view.compactions {
                *before -= start;
            }
        }
        view
    }
}

impl<'a> View<'a> {
    fn take_from(&mut self, messages: &[&'a Message], compaction: &'a Compaction) {
        let place =
            |id: &Option<MessageId>| id.as_ref().and_then(|id| messages.iter().position(|m| m.id == *id));
        let after = place(&compaction.after).map_or(0, |at| at + 1);
        let kept = place(&compaction.first_kept).unwrap_or(after);
        let summary = place(&compaction.summary);
        if let Some(message) = summary.and_then(|at| messages.get(at)) {
            self.messages.push(message);
        }
        self.compactions.push((0, compaction));
        for (at, message) in messages.iter().enumerate() {
            if at < kept.min(after) {
                self.before_compaction += 1;
            } else if Some(at) != summary {
                if message.origin == Origin::Summary {
                    self.summaries_left_out += 1;
                } else {
                    self.messages.push(message);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Role;

    fn compacted() -> Session {
        let mut session = Session::new("test", "s");
        let mut parent = None;
        for (id, origin) in
            [("a", Origin::Person), ("b", Origin::Model), ("sum", Origin::Summary), ("c", Origin::Person)]
        {
            let role = if origin == Origin::Model { Role::Assistant } else { Role::User };
            let mut message = Message::new(id, role, origin);
            message.parent = parent.replace(MessageId::from(id));
            session.messages.push(message);
        }
        session.compactions.push(Compaction {
            after: Some("b".into()),
            summary: Some("sum".into()),
            text: None,
            first_kept: None,
            trigger: None,
            tokens_before: None,
            at: None,
            sources: Vec::new(),
        });
        session
    }

    fn ids(view: &View<'_>) -> Vec<String> {
        view.messages.iter().map(|m| m.id.to_string()).collect()
    }

    // https://github.com/anthropics/claude-code/issues/92089 (fault 10)
    #[test]
    fn people_see_across_a_compaction() {
        let session = compacted();
        let view = session.view(&Selection::default());
        assert_eq!(ids(&view), ["a", "b", "c"]);
        assert_eq!(view.compactions.len(), 1);
        assert_eq!(view.compactions[0].0, 2);
    }

    #[test]
    fn the_model_sees_the_summary_and_what_follows() {
        let session = compacted();
        let view = session.view(&Selection { from_compaction: true, ..Selection::default() });
        assert_eq!(ids(&view), ["sum", "c"]);
        assert_eq!(view.before_compaction, 2);
    }

    #[test]
    fn what_was_kept_stands_behind_the_summary() {
        let mut session = compacted();
        session.compactions[0].first_kept = Some("b".into());
        let view = session.view(&Selection { from_compaction: true, ..Selection::default() });
        assert_eq!(ids(&view), ["sum", "b", "c"]);
    }

    #[test]
    fn a_span_beyond_the_end_is_cut_to_what_is_there() {
        let session = compacted();
        let selection = Selection { span: Some((1..99).into()), ..Selection::default() };
        assert_eq!(ids(&session.view(&selection)), ["b", "c"]);
    }
}
