//! Whether two rows of a column are equal, of millions.

use std::collections::HashSet;
use std::hash::{BuildHasher, RandomState};
use std::ops::RangeInclusive;
use std::sync::OnceLock;

use cipherlane_core::{Column, Spread};

/// Rows that one thread hashes and sorts at a time: their hashes fit in the second cache.
const PART: usize = 1 << 14;

/// Whether two of the first `rows` rows of `column` are equal.
///
/// A set of a million rows is a table in which every look-up misses the caches. Here rows are hashed to 64 bits under a key of
/// this call, part by part, and like hashes meet by sorting, range by range, as `spread` shares both out. Where hashes
/// meet, rows are compared.
pub(crate) fn has_equal_rows(column: &Column<'_>, rows: usize, spread: &Spread<'_>) -> bool {
    let state = RandomState::new();
    let parts = rows.div_ceil(PART);
    let hashed = each(parts, spread, |part| {
        let rows = part * PART..rows.min((part + 1) * PART);
        let mut hashes: Vec<u64> = rows.map(|row| state.hash_one(column.row(row))).collect();
        hashes.sort_unstable();
        hashes
    });
    let meet = each(parts, spread, |range| meet(&hashed, range_of(range, parts)));
    meet.contains(&true) && !are_all_different(column, rows)
}

/// What `work` makes of each index below `count`.
fn each<T: Send + Sync>(count: usize, spread: &Spread<'_>, work: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let made: Vec<OnceLock<T>> = (0..count).map(|_| OnceLock::new()).collect();
    spread(count, &|index| {
        made[index].get_or_init(|| work(index));
    });
    let made = made.into_iter().enumerate();
    made.map(|(index, value)| value.into_inner().unwrap_or_else(|| work(index))).collect()
}

/// The hashes that are those of `range`, of as many ranges as there are `parts`.
fn range_of(range: usize, parts: usize) -> RangeInclusive<u64> {
    let width = u64::MAX / parts as u64;
    let start = range as u64 * width;
    start..=if range + 1 == parts { u64::MAX } else { start + (width - 1) }
}

/// Whether two hashes within `range` are equal. Those of each part are sorted, so that sorting all is merging.
fn meet(parts: &[Vec<u64>], range: RangeInclusive<u64>) -> bool {
    let mut within = Vec::new();
    for part in parts {
        let start = part.partition_point(|hash| hash < range.start());
        let end = part.partition_point(|hash| hash <= range.end());
        within.extend_from_slice(&part[start..end]);
    }
    within.sort();
    within.windows(2).any(|pair| pair[0] == pair[1])
}

fn are_all_different(column: &Column<'_>, rows: usize) -> bool {
    let mut seen = HashSet::with_capacity(rows);
    (0..rows).all(|row| seen.insert(column.row(row)))
}

#[cfg(test)]
mod tests {
    use cipherlane_core::alone;

    use super::*;

    /// Rows of 16 bytes that count up.
    fn rows(count: u32) -> Vec<u8> {
        (0..count).flat_map(|row| u128::from(row).to_le_bytes()).collect()
    }

    fn has_equal(bytes: &[u8]) -> bool {
        has_equal_rows(&Column::Each { bytes, width: 16 }, bytes.len() / 16, &alone)
    }

    #[test]
    fn equal_rows_are_found_wherever_they_lie() {
        let count = 3 * PART as u32 + 5;
        let different = rows(count);
        assert!(!has_equal(&different));
        let last = different.len() - 16;
        for (from, to) in
            [(0, 16), (0, last), (last, last - 16), (PART * 16, PART * 16 - 16), (32, last - 64)]
        {
            let mut bytes = different.clone();
            bytes.copy_within(from..from + 16, to);
            assert!(has_equal(&bytes), "{from}, {to}");
        }
    }

    #[test]
    fn few_rows_and_none_are_looked_at_as_well() {
        assert!(!has_equal(&rows(0)));
        assert!(!has_equal(&rows(1)));
        assert!(!has_equal(&rows(2)));
        assert!(has_equal(&[rows(7), rows(7)].concat()));
    }

    #[test]
    fn ranges_are_all_hashes_and_share_none() {
        for parts in [1, 2, 3, 1000] {
            let ranges: Vec<_> = (0..parts).map(|range| range_of(range, parts)).collect();
            assert_eq!((*ranges[0].start(), *ranges[parts - 1].end()), (0, u64::MAX));
            assert!(ranges.windows(2).all(|pair| pair[0].end() + 1 == *pair[1].start()));
        }
    }
}
