//! Findings that stay few, however broken the input is.

use std::collections::BTreeMap;

use ibid_model::{Finding, FindingKind};

/// From this many findings of one kind on, one finding stands for all of them.
const FOLDED_FROM: u64 = 100;

/// Findings in the order of the input. Of a kind that occurs more than [`FOLDED_FROM`] times,
/// only the first remains, with the count of all.
#[derive(Debug, Default)]
pub(crate) struct FindingList {
    findings: Vec<Finding>,
    counts: BTreeMap<FindingKind, u64>,
}

impl FindingList {
    /// Adds a finding.
    pub(crate) fn push(&mut self, finding: Finding) {
        let count = self.counts.entry(finding.kind).or_default();
        let before = *count;
        *count += finding.count;
        if before < FOLDED_FROM {
            self.findings.push(finding);
        }
    }

    /// Adds the findings of a later part of the input, whose lines are counted from
    /// `lines_before`.
    pub(crate) fn append(&mut self, later: FindingList, lines_before: u64) {
        for mut finding in later.findings {
            finding.line = finding.line.map(|line| line + lines_before);
            if self.counts.get(&finding.kind).is_none_or(|count| *count < FOLDED_FROM) {
                self.findings.push(finding);
            }
        }
        for (kind, count) in later.counts {
            *self.counts.entry(kind).or_default() += count;
        }
    }

    /// The findings, folded.
    pub(crate) fn finish(self) -> Vec<Finding> {
        let mut folded: Vec<FindingKind> = Vec::new();
        let mut out = Vec::with_capacity(self.findings.len());
        for finding in self.findings {
            let count = self.counts.get(&finding.kind).copied().unwrap_or(finding.count);
            if count <= FOLDED_FROM {
                out.push(finding);
            } else if !folded.contains(&finding.kind) {
                folded.push(finding.kind);
                out.push(finding.times(count));
            }
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn on_line(line: u64) -> Finding {
        Finding::new(FindingKind::NotJson, "x").on_line(line)
    }

    #[test]
    fn a_hundred_findings_stay_apart_and_one_more_folds_them() {
        let mut list = FindingList::default();
        (1..=100).for_each(|line| list.push(on_line(line)));
        assert_eq!(list.finish().len(), 100);

        let mut list = FindingList::default();
        (1..=101).for_each(|line| list.push(on_line(line)));
        list.push(Finding::new(FindingKind::CutLine, "y"));
        let findings = list.finish();
        assert_eq!(findings.len(), 2);
        assert_eq!((findings[0].count, findings[0].line), (101, Some(1)));
    }

    #[test]
    fn parts_of_the_input_are_counted_together() {
        let mut list = FindingList::default();
        for part in 0..3 {
            let mut later = FindingList::default();
            (1..=40).for_each(|line| later.push(on_line(line)));
            list.append(later, part * 1000);
        }
        let findings = list.finish();
        assert_eq!(findings.len(), 1);
        assert_eq!(findings[0].count, 120);
    }
}
