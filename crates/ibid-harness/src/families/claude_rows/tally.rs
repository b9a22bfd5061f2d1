//! Where rows stand, and what is wrong with them.

use ibid_model::{Finding, FindingKind, Source, Text};

/// More different findings than this are not kept; each kind that matters is among the first.
const TALLY: usize = 200;

/// Where a row stands.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    /// The line, counted from 1; 0 when lines are not counted.
    pub(crate) line: u64,
    /// The first byte of the row.
    pub(crate) start: u64,
    /// The byte after its last.
    pub(crate) end: u64,
}

impl Place {
    /// The place as the source of what was read there.
    pub(crate) fn source(self) -> Source {
        Source::bytes(0, self.start, self.end)
    }

    /// A finding about this place.
    pub(crate) fn finding(self, kind: FindingKind, detail: impl Into<Text>) -> Finding {
        let finding = Finding::new(kind, detail).at_bytes(self.start, self.end);
        if self.line == 0 { finding } else { finding.on_line(self.line) }
    }
}

/// What was seen more than once, or is wrong, with the first place.
#[derive(Debug, Default)]
pub(super) struct Tally(Vec<(FindingKind, Text, Place, u64)>);

impl Tally {
    pub(super) fn add(&mut self, kind: FindingKind, detail: impl Into<Text>, place: Place) {
        let detail = detail.into();
        if let Some((.., count)) =
            self.0.iter_mut().find(|(known, said, ..)| *known == kind && *said == detail)
        {
            *count += 1;
        } else if self.0.len() < TALLY {
            self.0.push((kind, detail, place, 1));
        }
    }

    pub(super) fn into_findings(self) -> impl Iterator<Item = Finding> {
        self.0.into_iter().map(|(kind, detail, place, count)| place.finding(kind, detail).times(count))
    }
}
