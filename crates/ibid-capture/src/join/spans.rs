//! During which turn something happened.

/// From when to when a turn went on, in milliseconds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Span {
    /// The number of the turn.
    pub(super) turn: u64,
    /// Its beginning.
    pub(super) from: i64,
    /// Its end, itself included; none while it goes on.
    pub(super) to: Option<i64>,
}

/// The one turn that went on at this time; none when none did, or more than one.
pub(super) fn only_at(spans: &[Span], at: i64) -> Option<u64> {
    let mut going_on = spans
        .iter()
        .filter(|span| span.from <= at && span.to.is_none_or(|to| at <= to))
        .map(|span| span.turn);
    let first = going_on.next()?;
    going_on.all(|other| other == first).then_some(first)
}
