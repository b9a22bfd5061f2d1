//! Lists of findings that stay short, however broken the input is.

use ibid_model::Finding;

/// Up to this many cases of one kind are listed apart.
const LISTED_APART: u64 = 100;

/// Adds a finding to a list. When there are more than a hundred cases of its kind, only the first
/// finding of the kind remains, with the count of all.
pub fn report(findings: &mut Vec<Finding>, finding: Finding) {
    let kind = finding.kind;
    let cases = findings.iter().filter(|known| known.kind == kind).map(|known| known.count).sum::<u64>();
    if cases == 0 || cases.saturating_add(finding.count) <= LISTED_APART {
        findings.push(finding);
        return;
    }
    let mut first = true;
    findings.retain_mut(|known| {
        if known.kind != kind {
            return true;
        }
        if std::mem::take(&mut first) {
            known.count = cases.saturating_add(finding.count);
            return true;
        }
        false
    });
}

/// Adds several findings, each as [`report`] does.
pub fn report_all(findings: &mut Vec<Finding>, more: impl IntoIterator<Item = Finding>) {
    more.into_iter().for_each(|finding| report(findings, finding));
}

#[cfg(test)]
mod tests {
    use ibid_model::FindingKind;

    use super::*;

    fn on_line(line: u64) -> Finding {
        Finding::new(FindingKind::NotJson, "x").on_line(line)
    }

    #[test]
    fn a_hundred_cases_stay_apart_and_one_more_folds_them() {
        let mut findings = Vec::new();
        report_all(&mut findings, (1..=100).map(on_line));
        report(&mut findings, Finding::new(FindingKind::CutLine, "y"));
        assert_eq!(findings.len(), 101);
        report(&mut findings, on_line(101));
        assert_eq!(findings.len(), 2);
        assert_eq!((findings[0].count, findings[0].line), (101, Some(1)));
        report(&mut findings, on_line(102));
        assert_eq!((findings.len(), findings[0].count), (2, 102));
    }

    #[test]
    fn lists_of_parts_are_counted_together() {
        let mut findings = Vec::new();
        for part in 0..3 {
            let mut of_part = Vec::new();
            report_all(&mut of_part, (1..=40).map(on_line));
            report_all(
                &mut findings,
                of_part.into_iter().map(|f| Finding { line: f.line.map(|l| l + part * 1000), ..f }),
            );
        }
        assert_eq!(findings.len(), 1);
        assert_eq!((findings[0].count, findings[0].line), (120, Some(1)));
    }

    #[test]
    fn one_finding_for_many_cases_is_kept_as_it_is() {
        let mut findings = Vec::new();
        report(&mut findings, on_line(1).times(1000));
        assert_eq!(findings, [on_line(1).times(1000)]);
    }
}
