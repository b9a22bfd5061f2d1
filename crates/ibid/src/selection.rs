//! Which part of a session a command is about.

use anyhow::{Result, bail};
use ibid_model::{MessageId, Selection, Session, Span};

use crate::exit::Failure;
use crate::output;

/// Arguments of commands that can take a part of a session.
#[derive(Debug, Default, clap::Args)]
pub(crate) struct SelectionArguments {
    /// Take the branch that ends with this message instead of the live one
    #[arg(long, value_name = "ID")]
    branch: Option<String>,

    /// Take only what the model still sees: the last summary and what follows it
    #[arg(long)]
    from_compaction: bool,
}

impl SelectionArguments {
    /// The selection in a session.
    ///
    /// # Errors
    /// When the branch names no message or several, or the range lies beyond the end.
    pub(crate) fn of(&self, session: &Session, span: Option<Span>) -> Result<Selection> {
        let branch = self.branch.as_deref().map(|id| message(session, id)).transpose()?;
        let mut selection = Selection { branch, from_compaction: self.from_compaction, span: None };
        if self.from_compaction {
            let branch = Selection { from_compaction: false, ..selection.clone() };
            if session.view(&branch).compactions.is_empty() {
                output::note("There is no compaction; this is the whole session.");
            }
        }
        if let Some(span) = span {
            let count = session.view(&selection).messages.len();
            if span.start >= count {
                let number = span.start.saturating_add(1);
                return Err(Failure::nothing_found(format!(
                    "there is no message {number}; there are {count}"
                ))
                .into());
            }
            selection.span = Some(span);
        }
        Ok(selection)
    }

    /// The selection of everything in a session that was [`cut`] to this one.
    pub(crate) fn of_cut(&self) -> Selection {
        Selection { from_compaction: self.from_compaction, ..Selection::default() }
    }

    /// Whether anything but the whole live branch is asked for.
    pub(crate) fn is_default(&self) -> bool {
        self.branch.is_none() && !self.from_compaction
    }
}

/// The message that an id or its unambiguous beginning means.
fn message(session: &Session, text: &str) -> Result<MessageId> {
    let id = MessageId::from(text);
    if session.message(&id).is_some() {
        return Ok(id);
    }
    let mut found = session.messages.iter().map(|m| &m.id).filter(|id| id.as_str().starts_with(text));
    match (found.next(), found.next()) {
        (Some(id), None) if !text.is_empty() => Ok(id.clone()),
        (Some(first), Some(second)) => bail!(
            "`{text}` begins the ids of several messages, such as {} and {}; write more of it",
            output::clean_line(first.as_str()),
            output::clean_line(second.as_str())
        ),
        _ => Err(Failure::nothing_found(format!(
            "no message has the id {text}; `ibid show SESSION --branches` lists the branches"
        ))
        .into()),
    }
}

/// The session cut to a selection, for output: messages outside are left out, and what refers to
/// them too. Parents and anchors that are gone are unknown then.
pub(crate) fn cut(session: &Session, selection: &Selection) -> Session {
    let view = session.view(selection);
    let mut cut = session.clone();
    cut.messages = view.messages.iter().map(|message| (*message).clone()).collect();
    cut.compactions = view.compactions.iter().map(|(_, compaction)| (*compaction).clone()).collect();
    let kept: std::collections::HashSet<MessageId> = cut.messages.iter().map(|m| m.id.clone()).collect();
    let gone = |id: &Option<MessageId>| id.as_ref().is_some_and(|id| !kept.contains(id));
    let mut previous: Option<MessageId> = None;
    for message in &mut cut.messages {
        message.parent = previous.replace(message.id.clone());
    }
    cut.head = previous;
    for compaction in &mut cut.compactions {
        for anchor in [&mut compaction.after, &mut compaction.summary, &mut compaction.first_kept] {
            if gone(anchor) {
                *anchor = None;
            }
        }
    }
    cut.calls.retain(|call| !gone(&call.message));
    cut.events.retain(|event| !gone(&event.after));
    cut
}

#[cfg(test)]
mod tests {
    use super::*;
    use ibid_model::{Message, Origin, Role};

    fn session(ids: &[&str]) -> Session {
        let mut session = Session::new("test", "s");
        let mut parent = None;
        for id in ids {
            let mut message = Message::new(*id, Role::User, Origin::Person);
            message.parent = parent.replace(MessageId::from(*id));
            session.messages.push(message);
        }
        session
    }

    #[test]
    fn the_beginning_of_a_message_id_is_enough_when_it_is_one() {
        let session = session(&["abc", "abd", "x1"]);
        assert_eq!(message(&session, "x").unwrap(), MessageId::from("x1"));
        assert!(message(&session, "ab").is_err());
        assert!(message(&session, "").is_err());
    }

    #[test]
    fn a_cut_session_keeps_the_invariants() {
        let session = session(&["a", "b", "c"]);
        let selection = Selection { span: Some((1..3).into()), ..Selection::default() };
        let cut = cut(&session, &selection);
        assert_eq!(cut.messages.len(), 2);
        assert!(cut.problems().is_empty());
    }

    #[test]
    fn a_range_beyond_the_end_finds_nothing() {
        let arguments = SelectionArguments::default();
        assert!(arguments.of(&session(&["a"]), Some((5..6).into())).is_err());
    }
}
