//! The permutation KECCAK-p[1600, 24] (sections 3.2 and 3.3), over integers and registers alike.

use super::WORDS;

/// A word of a state, or of several states side by side.
pub(super) trait Word: Copy {
    /// Whether [`Word::xor3`] is one instruction.
    const HAS_XOR3: bool;

    /// `self ^ other`.
    fn xor(self, other: Self) -> Self;

    /// `self ^ a ^ b`.
    fn xor3(self, a: Self, b: Self) -> Self;

    /// `self ^ constant` in each state.
    fn xor_constant(self, constant: u64) -> Self;

    /// `self ^ (!a & b)`: chi of section 3.2.4.
    fn chi(self, a: Self, b: Self) -> Self;

    /// Rotates by R bits, 0 to 63, towards the high bit.
    fn rotate<const R: i32>(self) -> Self;
}

/// RC of section 3.2.5 for each round.
static ROUND_CONSTANTS: [u64; 24] = round_constants();

/// Algorithm 6, steps 2 and 3: bit 2^j - 1 of the constant of round i is rc(j + 7i).
const fn round_constants() -> [u64; 24] {
    let mut constants = [0; 24];
    // R of algorithm 5, its R[0] as bit 0: one turn for each value of t.
    let mut register = 1u8;
    let mut t = 0;
    while t < 24 * 7 {
        constants[t / 7] |= (register as u64 & 1) << ((1 << (t % 7)) - 1);
        register = register << 1 ^ (register >> 7) * 0b111_0001;
        t += 1;
    }
    constants
}

/// All rounds. Two by two: after them the words are in registers where they can stay for the next two.
#[inline(always)]
pub(super) fn permute<W: Word>(mut state: [W; WORDS]) -> [W; WORDS] {
    for [first, second] in ROUND_CONSTANTS.as_chunks().0 {
        state = round(state, *first);
        state = round(state, *second);
    }
    state
}

/// Rnd (section 3.3). Written out row by row, because positions have to be constants for a state to be in registers.
#[inline(always)]
fn round<W: Word>(state: [W; WORDS], constant: u64) -> [W; WORDS] {
    let a = Columns::new(state);
    // Pi takes B[x, y] from A[(x + 3y) mod 5, x] (section 3.2.3), rho has rotated it.
    let [a0, a1, a2, a3, a4] = rotate::<W, 0, 44, 43, 21, 14>(a.at([0, 6, 12, 18, 24]));
    let [s00, s01, s02, s03, s04] = [
        a0.xor_constant(constant).chi(a1, a2),
        a1.chi(a2, a3),
        a2.chi(a3, a4),
        a3.chi(a4, a0),
        a4.chi(a0, a1),
    ];
    let [s05, s06, s07, s08, s09] = chi(rotate::<W, 28, 20, 3, 45, 61>(a.at([3, 9, 10, 16, 22])));
    let [s10, s11, s12, s13, s14] = chi(rotate::<W, 1, 6, 25, 8, 18>(a.at([1, 7, 13, 19, 20])));
    let [s15, s16, s17, s18, s19] = chi(rotate::<W, 27, 36, 10, 15, 56>(a.at([4, 5, 11, 17, 23])));
    let [s20, s21, s22, s23, s24] = chi(rotate::<W, 62, 55, 39, 41, 2>(a.at([2, 8, 14, 15, 21])));
    [
        s00, s01, s02, s03, s04, s05, s06, s07, s08, s09, s10, s11, s12, s13, s14, s15, s16, s17, s18, s19,
        s20, s21, s22, s23, s24,
    ]
}

/// Columns that theta (section 3.2.1) has been applied to at once where it is one instruction a word. The others
/// follow word by word as they are used, so that rotations, for which CPUs have fewer units, can begin early. With
/// fewer columns at once, the sums of the others would not find room in 32 registers.
const AT_ONCE: usize = 3;

/// A state, and what theta adds to its columns.
struct Columns<W> {
    state: [W; WORDS],
    /// What is added to column x: one word, or with [`Word::HAS_XOR3`] two.
    added: [[W; 2]; 5],
}

impl<W: Word> Columns<W> {
    #[inline(always)]
    fn new(mut state: [W; WORDS]) -> Self {
        let mut sums = [state[0]; 5];
        for x in 0..5 {
            sums[x] = state[x].xor3(state[x + 5], state[x + 10]).xor3(state[x + 15], state[x + 20]);
        }
        let mut added = [[sums[0]; 2]; 5];
        for x in 0..5 {
            let (before, after) = (sums[(x + 4) % 5], sums[(x + 1) % 5].rotate::<1>());
            added[x] = if W::HAS_XOR3 { [before, after] } else { [before.xor(after); 2] };
            if W::HAS_XOR3 && x < AT_ONCE {
                for y in 0..5 {
                    state[5 * y + x] = state[5 * y + x].xor3(before, after);
                }
            }
        }
        Self { state, added }
    }

    /// Word `i` after theta.
    #[inline(always)]
    fn word(&self, i: usize) -> W {
        let (word, [first, second]) = (self.state[i], self.added[i % 5]);
        match W::HAS_XOR3 {
            true if i % 5 < AT_ONCE => word,
            true => word.xor3(first, second),
            false => word.xor(first),
        }
    }

    #[inline(always)]
    fn at(&self, [i, j, k, l, m]: [usize; 5]) -> [W; 5] {
        [self.word(i), self.word(j), self.word(k), self.word(l), self.word(m)]
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

/// Chi (section 3.2.4) of a row.
#[inline(always)]
fn chi<W: Word>([a, b, c, d, e]: [W; 5]) -> [W; 5] {
    [a.chi(b, c), b.chi(c, d), c.chi(d, e), d.chi(e, a), e.chi(a, b)]
}
