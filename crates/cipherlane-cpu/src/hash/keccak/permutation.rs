//! The permutation KECCAK-p[1600, 24] (sections 3.2 and 3.3), over integers and registers alike.

use super::WORDS;
use super::ahead::Ahead;

/// A word of a state, or of several states side by side.
pub(super) trait Word: Copy {
    /// `self ^ other`.
    fn xor(self, other: Self) -> Self;

    /// `self ^ a ^ b`.
    fn xor3(self, a: Self, b: Self) -> Self;

    /// `self ^ constant` in each state.
    fn xor_constant(self, constant: u64) -> Self;

    /// `words[x] ^ (!row[x + 1] & row[x + 2])`, of the row at Y: chi (section 3.2.4), where `words` are the row's own.
    fn chi<const Y: usize>(words: [Self; 5], row: [Self; 5]) -> [Self; 5];

    /// Rotates by R bits, 0 to 63, towards the high bit.
    fn rotate<const R: i32>(self) -> Self;

    /// From how words are outside the permutation to how its rounds take them, and back: the same both ways.
    #[inline(always)]
    fn between_permutations(state: [Self; WORDS]) -> [Self; WORDS] {
        state
    }
}

/// `chi` of each of `words`, and the two words of `row` behind its place.
#[inline(always)]
pub(super) fn of_row<W: Copy>(words: [W; 5], [a, b, c, d, e]: [W; 5], chi: impl Fn(W, W, W) -> W) -> [W; 5] {
    let [v, w, x, y, z] = words;
    [chi(v, b, c), chi(w, c, d), chi(x, d, e), chi(y, e, a), chi(z, a, b)]
}

/// RC of section 3.2.5 for each round.
pub(super) static ROUND_CONSTANTS: [u64; 24] = round_constants();

/// Algorithm 6, steps 2 and 3: bit 2^j - 1 of the constant of round i is rc(j + 7i).
const fn round_constants() -> [u64; 24] {
    let mut constants = [0; 24];
    // R of algorithm 5, its R[0] as bit 0: one turn for each value of t.
    let mut register = 1u8;
    let mut t = 0;
    while t < 24 * 7 {
        constants[t / 7] |= (register as u64 & 1) << ((1 << (t % 7)) - 1);
        register = (register << 1) ^ ((register >> 7) * 0b111_0001);
        t += 1;
    }
    constants
}

/// How states are permuted: in which order instructions come.
pub(crate) trait Permute<W>: Copy + Send + Sync + 'static {
    /// Whether words are copied meanwhile.
    const COPIES: bool = false;

    /// All rounds. Meanwhile it copies what is `ahead`, which is nothing unless it COPIES.
    ///
    /// # Safety
    /// What [`Ahead`] says is true.
    unsafe fn permute(state: [W; WORDS], ahead: &Ahead<'_>) -> [W; WORDS];
}

/// In the compiler's order.
#[derive(Clone, Copy)]
pub(crate) struct Compiled;

impl<W: Word> Permute<W> for Compiled {
    #[inline(always)]
    unsafe fn permute(state: [W; WORDS], ahead: &Ahead<'_>) -> [W; WORDS] {
        debug_assert!(ahead.is_nothing());
        permute(state)
    }
}

/// All rounds. Two by two: after them the words are in registers where they can stay for the next two.
#[inline(always)]
pub(super) fn permute<W: Word>(state: [W; WORDS]) -> [W; WORDS] {
    let mut state = W::between_permutations(state);
    for [first, second] in ROUND_CONSTANTS.as_chunks().0 {
        state = round(state, *first);
        state = round(state, *second);
    }
    W::between_permutations(state)
}

/// Rnd (section 3.3). Written out row by row, because positions have to be constants for a state to be in registers.
///
/// Each row's words are taken and rotated before chi of the row ahead of it: one fills the latency of the other, and
/// rotations, for which CPUs have fewer units, spread over the round. The first row comes last: its first word is not
/// rotated, so that the sums of the next round wait less. Together that saves 7 % of the time on Zen 4.
#[inline(always)]
fn round<W: Word>(state: [W; WORDS], constant: u64) -> [W; WORDS] {
    let a = Columns::new(state);
    // Pi (section 3.2.3): the word at (x, y) comes from ((x + 3y) mod 5, x).
    let row_4 = rotate::<W, 62, 55, 39, 41, 2>(a.at([2, 8, 14, 15, 21]));
    let row_3 = rotate::<W, 27, 36, 10, 15, 56>(a.at([4, 5, 11, 17, 23]));
    let [s20, s21, s22, s23, s24] = W::chi::<4>(row_4, row_4);
    let row_2 = rotate::<W, 1, 6, 25, 8, 18>(a.at([1, 7, 13, 19, 20]));
    let [s15, s16, s17, s18, s19] = W::chi::<3>(row_3, row_3);
    let row_1 = rotate::<W, 28, 20, 3, 45, 61>(a.at([3, 9, 10, 16, 22]));
    let [s10, s11, s12, s13, s14] = W::chi::<2>(row_2, row_2);
    let row_0 = rotate::<W, 0, 44, 43, 21, 14>(a.at([0, 6, 12, 18, 24]));
    // Iota (section 3.2.5): before chi, where nothing waits for it.
    let mut words = row_0;
    words[0] = words[0].xor_constant(constant);
    let [s05, s06, s07, s08, s09] = W::chi::<1>(row_1, row_1);
    let [s00, s01, s02, s03, s04] = W::chi::<0>(words, row_0);
    [
        s00, s01, s02, s03, s04, s05, s06, s07, s08, s09, s10, s11, s12, s13, s14, s15, s16, s17, s18, s19,
        s20, s21, s22, s23, s24,
    ]
}

/// A state, and what theta (section 3.2.1) adds to each column.
///
/// AVX-512 could add the two neighbours' sums to a word in one instruction of three operands, without adding them up
/// first. It would be slower: AMD's CPUs start four operations of two operands a clock, but only two of three (measured
/// on Zen 4, where operands are results of late), and sums and chi have 35 of these in a round.
struct Columns<W> {
    state: [W; WORDS],
    added: [W; 5],
}

impl<W: Word> Columns<W> {
    #[inline(always)]
    fn new(state: [W; WORDS]) -> Self {
        let mut sums = [state[0]; 5];
        for x in 0..5 {
            sums[x] = state[x].xor3(state[x + 5], state[x + 10]).xor3(state[x + 15], state[x + 20]);
        }
        let mut added = sums;
        // In this order each sum but one is used up soon, and 31 registers suffice.
        for x in [0, 3, 1, 4, 2] {
            added[x] = sums[(x + 4) % 5].xor(sums[(x + 1) % 5].rotate::<1>());
        }
        Self { state, added }
    }

    /// Five words after theta.
    #[inline(always)]
    fn at(&self, [i, j, k, l, m]: [usize; 5]) -> [W; 5] {
        [self.word(i), self.word(j), self.word(k), self.word(l), self.word(m)]
    }

    #[inline(always)]
    fn word(&self, i: usize) -> W {
        self.state[i].xor(self.added[i % 5])
    }
}

/// Rho (section 3.2.2) of five words.
#[inline(always)]
fn rotate<W: Word, const A: i32, const B: i32, const C: i32, const D: i32, const E: i32>(
    row: [W; 5],
) -> [W; 5] {
    let [a, b, c, d, e] = row;
    [a.rotate::<A>(), b.rotate::<B>(), c.rotate::<C>(), d.rotate::<D>(), e.rotate::<E>()]
}
