//! Integers of CPUs without `andn`, six of whose words are kept as their complements.
//!
//! Chi takes the complement of every word. Where the right words are complements already, some products turn into sums
//! (De Morgan), others have the complement that they want, and one NOT a row is left of five ("Keccak implementation
//! overview", version 3.2, section 2.2: lane complementing).

use super::WORDS;
use super::permutation::Word;
use super::words::Stored;
use crate::hash::MAX_STREAMS;

/// A word of a state on its way through the rounds, as it is or its complement by its place.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub(super) struct Complemented(u64);

/// Whether the word at each place is its complement, before and after each round.
const IS_COMPLEMENT: [bool; WORDS] = {
    let mut is = [false; WORDS];
    let places = [1, 2, 8, 12, 17, 20];
    let mut i = 0;
    while i < places.len() {
        is[places[i]] = true;
        i += 1;
    }
    is
};

/// Whether the sum of a column comes out as its complement.
const fn is_sum_complement(x: usize) -> bool {
    let is = IS_COMPLEMENT;
    is[x] ^ is[x + 5] ^ is[x + 10] ^ is[x + 15] ^ is[x + 20]
}

/// The same of the word at (x, y), in place 5 y + x, between pi and chi: theta has added two columns' sums to it.
const IS_COMPLEMENT_BEFORE_CHI: [bool; WORDS] = {
    let mut is = [false; WORDS];
    let mut i = 0;
    while i < WORDS {
        let (x, y) = (i % 5, i / 5);
        let (from_x, from_y) = ((x + 3 * y) % 5, x);
        let added = is_sum_complement((from_x + 4) % 5) ^ is_sum_complement((from_x + 1) % 5);
        is[i] = IS_COMPLEMENT[5 * from_y + from_x] ^ added;
        i += 1;
    }
    is
};

/// Which of a, b and c to complement before [`chi`], where `is` says which are complements, and `wanted` whether the
/// result is to be one. All of this is known when a round is compiled, where it is inlined.
#[inline(always)]
const fn to_complement([a, b, c]: [bool; 3], wanted: bool) -> Option<usize> {
    if b == c {
        return Some(if a ^ wanted == b { 1 } else { 2 });
    }
    if a ^ c == wanted { None } else { Some(0) }
}

/// `a ^ (!b & c)`.
#[inline(always)]
fn chi(mut words: [u64; 3], mut is: [bool; 3], wanted: bool) -> u64 {
    if let Some(i) = to_complement(is, wanted) {
        (words[i], is[i]) = (!words[i], !is[i]);
    }
    // Either b or c is one now: !b & c, or the complement of that.
    let [a, b, c] = words;
    a ^ if is[1] { b & c } else { b | c }
}

/// The word at (X, Y) behind chi.
#[inline(always)]
fn word<const X: usize, const Y: usize>(words: [Complemented; 5], row: [Complemented; 5]) -> Complemented {
    let (next, other) = ((X + 1) % 5, (X + 2) % 5);
    let is = const {
        let is = IS_COMPLEMENT_BEFORE_CHI;
        [is[5 * Y + X], is[5 * Y + (X + 1) % 5], is[5 * Y + (X + 2) % 5]]
    };
    Complemented(chi([words[X].0, row[next].0, row[other].0], is, IS_COMPLEMENT[5 * Y + X]))
}

impl Word for Complemented {
    #[inline(always)]
    fn xor(self, other: Self) -> Self {
        Self(self.0.xor(other.0))
    }

    #[inline(always)]
    fn xor3(self, a: Self, b: Self) -> Self {
        Self(self.0.xor3(a.0, b.0))
    }

    #[inline(always)]
    fn xor_constant(self, constant: u64) -> Self {
        Self(self.0.xor_constant(constant))
    }

    #[inline(always)]
    fn chi<const Y: usize>(words: [Self; 5], row: [Self; 5]) -> [Self; 5] {
        [
            word::<0, Y>(words, row),
            word::<1, Y>(words, row),
            word::<2, Y>(words, row),
            word::<3, Y>(words, row),
            word::<4, Y>(words, row),
        ]
    }

    #[inline(always)]
    fn rotate<const R: i32>(self) -> Self {
        Self(self.0.rotate::<R>())
    }

    #[inline(always)]
    fn between_permutations(mut state: [Self; WORDS]) -> [Self; WORDS] {
        for (word, is_complement) in state.iter_mut().zip(IS_COMPLEMENT) {
            if is_complement {
                word.0 = !word.0;
            }
        }
        state
    }
}

impl Stored for Complemented {
    type Isa = ();
    const COUNT: usize = 1;

    #[inline(always)]
    unsafe fn load((): (), from: *const u64) -> Self {
        // SAFETY: the caller's.
        Self(unsafe { u64::load((), from) })
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut u64) {
        // SAFETY: the caller's.
        unsafe { self.0.store(to) }
    }

    #[inline(always)]
    unsafe fn two((): (), from: &[*const u8; MAX_STREAMS], at: usize) -> [Self; 2] {
        // SAFETY: the caller's.
        unsafe { u64::two((), from, at) }.map(Self)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn chi_is_right_of_any_complements() {
        // A bit for each of the eight inputs.
        let words = [0b1111_0000_u64, 0b1100_1100, 0b1010_1010];
        let plain = words[0] ^ (!words[1] & words[2]);
        for choice in 0..16_u32 {
            let is = [0, 1, 2, 3].map(|bit| choice >> bit & 1 == 1);
            let stored = [0, 1, 2].map(|i| if is[i] { !words[i] } else { words[i] });
            let expected = if is[3] { !plain } else { plain };
            assert_eq!(chi(stored, [is[0], is[1], is[2]], is[3]), expected, "{is:?}");
        }
    }

    #[test]
    fn a_row_has_one_complement_to_make() {
        for y in 0..5 {
            let made = (0..5).filter_map(|x| {
                let places = [x, (x + 1) % 5, (x + 2) % 5];
                let is = places.map(|x| IS_COMPLEMENT_BEFORE_CHI[5 * y + x]);
                to_complement(is, IS_COMPLEMENT[5 * y + x]).map(|i| places[i])
            });
            let made: BTreeSet<usize> = made.collect();
            assert_eq!(made.len(), 1, "row {y}: {made:?}");
        }
    }
}
