//! Which piece of the request is which piece of the source.

use std::collections::HashMap;

/// The greatest number of comparisons for a longest common sequence; beyond it, pieces are paired
/// in order as they come.
const COMPARISONS: usize = 64 << 20;

/// The keys of both sides as numbers: equal numbers mean the same content. A piece of the source
/// has one for each form in which it may be sent, a piece of a request one for each way to read it.
#[derive(Debug, Default)]
pub(super) struct Keys {
    numbers: HashMap<String, u32>,
    pub(super) expected: Vec<Vec<u32>>,
    pub(super) sent: Vec<Vec<u32>>,
}

impl Keys {
    fn number(&mut self, key: String) -> u32 {
        let next = u32::try_from(self.numbers.len()).unwrap_or(u32::MAX);
        *self.numbers.entry(key).or_insert(next)
    }

    pub(super) fn expect(&mut self, forms: Vec<String>) {
        let forms = forms.into_iter().map(|form| self.number(form)).collect();
        self.expected.push(forms);
    }

    pub(super) fn send(&mut self, readings: Vec<String>) {
        let readings = readings.into_iter().map(|reading| self.number(reading)).collect();
        self.sent.push(readings);
    }

    /// Whether the two may be one piece.
    pub(super) fn may_be(&self, expected: usize, sent: usize) -> bool {
        match (self.expected.get(expected), self.sent.get(sent)) {
            (Some(forms), Some(readings)) => readings.iter().any(|reading| forms.contains(reading)),
            _ => false,
        }
    }

    /// The longest common sequence: pairs of positions, rising on both sides. Of several pieces of
    /// the source that a piece may be, the last one that fits is taken: earlier ones may lie before a
    /// compaction.
    pub(super) fn pairs(&self) -> Vec<(usize, usize)> {
        let (all, heard) = (self.expected.len(), self.sent.len());
        let end =
            (0..all.min(heard)).take_while(|back| self.may_be(all - 1 - back, heard - 1 - back)).count();
        let start = (0..all.min(heard) - end).take_while(|at| self.may_be(*at, *at)).count();
        let (rows, columns) = (all - start - end, heard - start - end);
        let mut pairs: Vec<_> = (0..start).map(|at| (at, at)).collect();
        match rows.saturating_mul(columns) <= COMPARISONS {
            true => pairs.extend(self.longest(start, rows, columns)),
            false => pairs.extend(self.in_passing(start, rows, columns)),
        }
        pairs.extend((0..end).rev().map(|back| (all - 1 - back, heard - 1 - back)));
        pairs
    }

    fn longest(&self, start: usize, rows: usize, columns: usize) -> Vec<(usize, usize)> {
        let width = columns + 1;
        // The length of the longest common sequence of what comes before each pair of positions.
        let mut lengths = vec![0_u32; (rows + 1) * width];
        let length = |lengths: &[u32], row: usize, column: usize| {
            lengths.get(row * width + column).copied().unwrap_or_default()
        };
        for row in 1..=rows {
            for column in 1..=columns {
                let skipped = length(&lengths, row - 1, column).max(length(&lengths, row, column - 1));
                let paired = match self.may_be(start + row - 1, start + column - 1) {
                    true => length(&lengths, row - 1, column - 1) + 1,
                    false => 0,
                };
                if let Some(place) = lengths.get_mut(row * width + column) {
                    *place = skipped.max(paired);
                }
            }
        }
        let (mut row, mut column, mut pairs) = (rows, columns, Vec::new());
        while row > 0 && column > 0 {
            let best = length(&lengths, row, column);
            let may_be = self.may_be(start + row - 1, start + column - 1);
            if may_be && best == length(&lengths, row - 1, column - 1) + 1 {
                pairs.push((start + row - 1, start + column - 1));
                row -= 1;
                column -= 1;
            } else if best == length(&lengths, row, column - 1) {
                column -= 1;
            } else {
                row -= 1;
            }
        }
        pairs.reverse();
        pairs
    }

    /// Each piece with the next that may be it.
    fn in_passing(&self, start: usize, rows: usize, columns: usize) -> Vec<(usize, usize)> {
        let mut next = start;
        let mut pairs = Vec::new();
        for row in start..start + rows {
            if let Some(column) = (next..start + columns).find(|column| self.may_be(row, *column)) {
                pairs.push((row, column));
                next = column + 1;
            }
        }
        pairs
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(expected: &str, sent: &str) -> Vec<(usize, usize)> {
        let mut keys = Keys::default();
        expected.chars().for_each(|key| keys.expect(vec![key.to_string()]));
        sent.chars().for_each(|key| keys.send(vec![key.to_string()]));
        keys.pairs()
    }

    #[test]
    fn equal_sequences_are_paired_one_by_one() {
        assert_eq!(pairs("abab", "abab"), [(0, 0), (1, 1), (2, 2), (3, 3)]);
        assert_eq!(pairs("", ""), []);
    }

    #[test]
    fn what_is_only_on_one_side_is_left_out() {
        assert_eq!(pairs("abcd", "acd"), [(0, 0), (2, 1), (3, 2)]);
        assert_eq!(pairs("acd", "abcd"), [(0, 0), (1, 2), (2, 3)]);
    }

    #[test]
    fn of_equal_pieces_the_last_that_fits_is_taken() {
        assert_eq!(pairs("aba", "a"), [(2, 0)]);
        assert_eq!(pairs("xabay", "xay"), [(0, 0), (3, 1), (4, 2)]);
    }

    #[test]
    fn of_two_that_changed_places_one_is_left_out_on_both_sides() {
        assert_eq!(pairs("xaby", "xbay").len(), 3);
    }
}
