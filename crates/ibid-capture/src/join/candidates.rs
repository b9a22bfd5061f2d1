//! Which stored prompt is which announced one, where no id tells.

use std::collections::HashMap;

use super::SAME_MOMENT_MS;

/// A prompt of one lane.
#[derive(Clone, Copy, Debug)]
pub(super) struct Prompt {
    /// When, in milliseconds; none when the lane does not say.
    pub(super) at: Option<i64>,
    /// Whether the lane has an id for its turn. Two ids that differ are two turns.
    pub(super) has_id: bool,
}

/// More candidates than this are not told apart further.
const CANDIDATES: usize = 16;

/// For each stored prompt the announced ones that it may be: at about the same moment, and nothing
/// between them. What lies between is given by `moments`, which are sorted.
pub(super) fn of(stored: &[Prompt], announced: &[Prompt], moments: &[i64]) -> Vec<Vec<usize>> {
    let mut by_time: Vec<(i64, usize)> =
        announced.iter().enumerate().filter_map(|(at, prompt)| Some((prompt.at?, at))).collect();
    by_time.sort_unstable();
    let near = |prompt: &Prompt| {
        let Some(at) = prompt.at else { return Vec::new() };
        let first = by_time.partition_point(|(time, _)| *time < at.saturating_sub(SAME_MOMENT_MS));
        let reachable = by_time
            .iter()
            .skip(first)
            .take_while(|(time, _)| *time <= at.saturating_add(SAME_MOMENT_MS))
            .filter(|(time, _)| !is_between(moments, at, *time))
            .map(|(_, announced)| *announced);
        let can_be = |other: &usize| !(prompt.has_id && announced.get(*other).is_some_and(|a| a.has_id));
        reachable.filter(can_be).take(CANDIDATES).collect()
    };
    stored.iter().map(near).collect()
}

/// The matches that are the only ones possible: each is the only candidate of the other.
pub(super) fn only(candidates: &[Vec<usize>]) -> Vec<(usize, usize)> {
    let mut wanted: HashMap<usize, usize> = HashMap::new();
    for candidate in candidates.iter().flatten() {
        *wanted.entry(*candidate).or_default() += 1;
    }
    let one = |(stored, found): (usize, &Vec<usize>)| match found.as_slice() {
        [announced] if wanted.get(announced) == Some(&1) => Some((stored, *announced)),
        _ => None,
    };
    candidates.iter().enumerate().filter_map(one).collect()
}

fn is_between(moments: &[i64], one: i64, other: i64) -> bool {
    let (from, to) = (one.min(other), one.max(other));
    let next = moments.partition_point(|moment| *moment <= from);
    moments.get(next).is_some_and(|moment| *moment < to)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(time: i64) -> Prompt {
        Prompt { at: Some(time), has_id: false }
    }

    #[test]
    fn prompts_of_one_moment_are_one() {
        let found = of(&[at(100), at(60_100)], &[at(90), at(60_050)], &[90, 100, 60_050, 60_100]);
        assert_eq!(only(&found), [(0, 0), (1, 1)]);
    }

    #[test]
    fn a_stop_between_two_prompts_keeps_them_apart() {
        let found = of(&[at(100), at(3_100)], &[at(90), at(3_050)], &[90, 100, 2_000, 3_050, 3_100]);
        assert_eq!(only(&found), [(0, 0), (1, 1)]);
    }

    #[test]
    fn where_two_matches_are_possible_none_is_made() {
        let found = of(&[at(100)], &[at(90), at(110)], &[90, 100, 110]);
        assert_eq!(found, [vec![0, 1]]);
        assert!(only(&found).is_empty());
    }

    #[test]
    fn prompts_with_different_ids_are_different_prompts() {
        let with_id = Prompt { at: Some(100), has_id: true };
        assert_eq!(of(&[with_id], &[with_id], &[100]), [Vec::<usize>::new()]);
    }
}
