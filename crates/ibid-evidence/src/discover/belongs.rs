//! Whether a session belongs to a project.
//!
//! A recorded working directory decides: the one it began in, or any that it changed to later. The
//! place of a session in its store counts only when no record names a directory, since the names
//! that programs make of paths are the same for several.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use ibid_harness::{
    AnyHarness, Class, Context, Control, Cursor, Fact, Listed, Reference, ScanEvent, StoreError, Wants,
};

use super::Question;
use super::memory::Described;

/// A session, and what is known of it already.
pub(crate) struct Candidate {
    pub(crate) listed: Listed,
    pub(crate) described: Option<Arc<Described>>,
    /// Whether it changes into the project.
    pub(crate) enters: Option<bool>,
}

/// What was found out about a session.
pub(crate) struct Judged {
    pub(crate) described: Arc<Described>,
    pub(crate) belongs: bool,
    /// Whether it changes into the project, where that had to be found out.
    pub(crate) enters: Option<bool>,
    /// Whether some of its files could not be read for that.
    pub(crate) unreadable: bool,
}

/// Reads as much of a session as it takes to tell.
///
/// # Errors
/// When it cannot be read at all.
pub(crate) fn judge(
    harness: &dyn AnyHarness,
    candidate: &Candidate,
    question: &Question,
    cancelled: &AtomicBool,
) -> Result<Judged, StoreError> {
    let context = Context { machine: &question.machine, limits: &question.limits };
    let reference = &candidate.listed.reference;
    let described = match &candidate.described {
        Some(described) => Arc::clone(described),
        None => Arc::new(Described::of(&harness.describe(&candidate.listed, &context)?)),
    };
    let judged = |belongs, enters, unreadable| Judged {
        described: Arc::clone(&described),
        belongs,
        enters,
        unreadable,
    };
    if matches!(described.class, Class::Foreign | Class::Other) {
        return Ok(judged(false, None, false));
    }
    if let Some(cwd) = &described.cwd
        && question.workspace.holds(cwd)
    {
        return Ok(judged(true, None, false));
    }
    if described.cwd.is_none()
        && question.workspace.paths().any(|path| harness.placed_for(reference, path, &context))
    {
        return Ok(judged(true, None, false));
    }
    if let Some(enters) = candidate.enters {
        return Ok(judged(enters, Some(enters), false));
    }
    let (mentioned, unreadable) = is_mentioned(reference, &described, question, cancelled);
    if !mentioned {
        return Ok(judged(false, (!unreadable).then_some(false), unreadable));
    }
    let enters = changes_into(harness, reference, question, cancelled, &context)?;
    Ok(judged(enters, Some(enters), false))
}

/// Whether the files hold the project's path; and whether some could not be read.
fn is_mentioned(
    reference: &Reference,
    described: &Described,
    question: &Question,
    cancelled: &AtomicBool,
) -> (bool, bool) {
    let mut unreadable = false;
    let files = std::iter::once(&reference.path).chain(&described.carriers);
    let mentioned = files.into_iter().any(|path| {
        question.needles.in_file(path, cancelled).unwrap_or_else(|_| {
            unreadable = true;
            false
        })
    });
    (mentioned, unreadable)
}

/// Whether any record was made in a directory of the project.
fn changes_into(
    harness: &dyn AnyHarness,
    reference: &Reference,
    question: &Question,
    cancelled: &AtomicBool,
    context: &Context<'_>,
) -> Result<bool, StoreError> {
    let mut found = false;
    let mut sink = |event: ScanEvent| {
        let cwd = match event {
            ScanEvent::Fact(Fact::Cwd(cwd)) => Some(cwd),
            ScanEvent::Message(message) => message.cwd,
            _ => None,
        };
        found |= cwd.is_some_and(|cwd| question.workspace.holds(&cwd.to_str()));
        !found
    };
    let wants = Wants { usage: false, ..Wants::ALL };
    let control = Control { deadline: Some(question.judged_by), cancel: Some(cancelled) };
    let outcome = harness.scan(reference, &Cursor::Start, wants, &control, &mut sink, context);
    if found {
        return Ok(true);
    }
    outcome.map(|_| false)
}
