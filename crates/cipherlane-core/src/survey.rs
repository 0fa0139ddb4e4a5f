//! What one look at offsets tells: whether they rise, and how long the items between them are.

use std::sync::OnceLock;

/// Calls `work(i)` once for each `i` below the first argument, in any order, on whatever threads there are.
pub type Spread<'s> = dyn Fn(usize, &(dyn Fn(usize) + Sync)) + 's;

/// The [`Spread`] of the calling thread by itself.
pub fn alone(parts: usize, work: &(dyn Fn(usize) + Sync)) {
    (0..parts).for_each(work);
}

/// Items that are looked at twice where their lengths differ: the second look finds their offsets in the first cache.
const LOOK: usize = 1 << 10;

/// Items of a part for one thread: some microseconds of work, so that handing it over costs less.
const PART: usize = 1 << 14;

/// What is known of the lengths between some offsets.
///
/// Batches have millions of messages: what has no early end and no branch is as fast as memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Survey {
    /// Its top bit is set where an offset is lower than the one before it, or beyond all memory.
    tops: u64,
    /// The bits that are set in any length.
    pub(crate) bits: u64,
    /// The greatest length; 0 where there is no item.
    pub(crate) longest: u64,
    /// The least one; `u64::MAX` where there is no item.
    pub(crate) shortest: u64,
}

impl Survey {
    /// That of no items.
    const NONE: Self = Self { tops: 0, bits: 0, longest: 0, shortest: u64::MAX };

    /// Looks at all of `offsets`, part by part as `spread` shares them out. What it leaves out is done here.
    pub(crate) fn of(offsets: &[u64], spread: &Spread<'_>) -> Self {
        if offsets.len() <= 2 * PART {
            return Self::of_part(offsets);
        }
        let parts: Vec<_> = pieces(offsets, PART).map(|part| (part, OnceLock::new())).collect();
        let look = |index: usize| {
            if let Some((part, survey)) = parts.get(index) {
                survey.get_or_init(|| Self::of_part(part));
            }
        };
        spread(parts.len(), &look);
        let surveys = parts.iter().map(|(part, survey)| *survey.get_or_init(|| Self::of_part(part)));
        surveys.fold(Self::NONE, Self::and)
    }

    /// Whether `offsets`, which it is of, are one at least, never fall, and stay within a buffer of `bytes` bytes.
    pub(crate) fn fits(&self, offsets: &[u64], bytes: usize) -> bool {
        self.tops >> 63 == 0 && offsets.last().is_some_and(|&end| end <= bytes as u64)
    }

    fn of_part(offsets: &[u64]) -> Self {
        let (mut all, mut are_alike) = (Self::NONE, true);
        for some in pieces(offsets, LOOK) {
            // Where they were not alike a look ago, they will hardly be now.
            let alike = if are_alike { Self::of_alike(some) } else { None };
            are_alike = alike.is_some();
            all = all.and(alike.unwrap_or_else(|| Self::of_any(some)));
        }
        all
    }

    /// Of offsets between which all lengths are the same, if they are.
    fn of_alike(offsets: &[u64]) -> Option<Self> {
        let length = offsets[1].wrapping_sub(offsets[0]);
        let others =
            offsets.windows(2).fold(0, |others, pair| others | (pair[0].wrapping_add(length) ^ pair[1]));
        if others != 0 {
            return None;
        }
        // Where they fall, or leave 64 bits, the last one is not as far from the first as all lengths together.
        let (start, end) = (offsets[0], offsets[offsets.len() - 1]);
        let rise = u128::from(length) * (offsets.len() - 1) as u128 + u128::from(start) == u128::from(end);
        let tops = if rise { start | end } else { u64::MAX };
        Some(Self { tops, bits: length, longest: length, shortest: length })
    }

    fn of_any(offsets: &[u64]) -> Self {
        // Every x86-64 compares four numbers of 32 bits at a time, and few compare any of 64.
        let (mut tops, mut bits, mut longest, mut shortest) = (0, 0, 0, i32::MAX);
        for (start, found) in lengths(offsets) {
            tops |= start | found;
            bits |= found;
            #[allow(clippy::cast_possible_truncation)] // of lengths that have more, all is thrown away
            let short = found as i32;
            (longest, shortest) = (longest.max(short), shortest.min(short));
        }
        if bits >> 31 == 0 {
            let (longest, shortest) = (u64::from(longest.unsigned_abs()), u64::from(shortest.unsigned_abs()));
            return Self { tops, bits, longest, shortest };
        }
        let mut all = Self { tops, bits, ..Self::NONE };
        for (_, found) in lengths(offsets) {
            (all.longest, all.shortest) = (all.longest.max(found), all.shortest.min(found));
        }
        all
    }

    /// What both tell, of items one behind the other.
    fn and(self, next: Self) -> Self {
        Self {
            tops: self.tops | next.tops,
            bits: self.bits | next.bits,
            longest: self.longest.max(next.longest),
            shortest: self.shortest.min(next.shortest),
        }
    }
}

/// `offsets` in pieces of `items` items, of which each begins with the offset that ends the one before.
fn pieces(offsets: &[u64], items: usize) -> impl Iterator<Item = &[u64]> {
    let all = offsets.len().saturating_sub(1);
    (0..all).step_by(items).map(move |start| &offsets[start..=all.min(start + items)])
}

/// Where each item begins, and how long it is.
fn lengths(offsets: &[u64]) -> impl Iterator<Item = (u64, u64)> {
    offsets.windows(2).map(|pair| (pair[0], pair[1].wrapping_sub(pair[0])))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(offsets: &[u64]) -> Survey {
        Survey::of(offsets, &alone)
    }

    /// As one would write it down.
    fn plain(offsets: &[u64]) -> (u64, u64, u64) {
        let lengths = offsets.windows(2).map(|pair| pair[1] - pair[0]);
        let bits = lengths.clone().fold(0, |all, length| all | length);
        (bits, lengths.clone().max().unwrap_or(0), lengths.min().unwrap_or(u64::MAX))
    }

    #[test]
    fn offsets_must_rise_and_fit() {
        let fit = |offsets: &[u64], bytes| of(offsets).fits(offsets, bytes);
        assert!(fit(&[0], 0));
        assert!(!fit(&[], 0));
        assert!(!fit(&[0, 4], 3));
        assert!(!fit(&[0, 3, 2], 3));
        assert!(!fit(&[0, u64::MAX, 2], 3));
        assert!(!fit(&[u64::MAX, 2], 3));
        assert!(!fit(&[0, 1 << 63], usize::MAX));
    }

    #[test]
    fn one_that_falls_is_seen_wherever_it_is() {
        let count = 3 * PART as u64 + 5;
        for (odd, length) in [(0, 7), (1, 7), (0, 0)] {
            let mut offsets: Vec<_> = (0..=count).map(|i| 9 + i * length + odd * (i % 2)).collect();
            assert!(of(&offsets).fits(&offsets, usize::MAX));
            for at in [1, LOOK, LOOK + 1, PART - 1, PART, PART + 1, 2 * PART + 77, offsets.len() - 1] {
                let right = std::mem::replace(&mut offsets[at], 8);
                assert!(!of(&offsets).fits(&offsets, usize::MAX), "{at} of {length}");
                offsets[at] = right;
            }
        }
    }

    #[test]
    fn lengths_are_those_of_all_items() {
        let mut next = 1_u64;
        for (count, most) in
            [(0, 9), (1, 1), (40, 9), (5000, 1), (5000, 300), (40_000, 1 << 20), (40_000, 1 << 40)]
        {
            let offsets: Vec<_> = std::iter::once(17)
                .chain((0..count).scan(17, |end, i: u64| {
                    // Knuth's linear congruential generator (MMIX). All alike at first.
                    next =
                        next.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                    *end += if i < 3000 { most } else { (next >> 20) % most };
                    Some(*end)
                }))
                .collect();
            let Survey { tops, bits, longest, shortest } = of(&offsets);
            assert_eq!((bits, longest, shortest), plain(&offsets), "{count} of {most}");
            assert_eq!(tops >> 63, 0);
        }
    }

    #[test]
    fn who_spreads_parts_badly_changes_nothing() {
        let offsets: Vec<u64> = (0..=5 * PART as u64).map(|i| i * i % 1000 + i * 1000).collect();
        let expected = of(&offsets);
        let never = |_: usize, _: &(dyn Fn(usize) + Sync)| {};
        let twice =
            |parts: usize, work: &(dyn Fn(usize) + Sync)| (0..2 * parts + 3).rev().for_each(|i| work(i / 2));
        assert_eq!(Survey::of(&offsets, &never), expected);
        assert_eq!(Survey::of(&offsets, &twice), expected);
    }
}
