//! The layers on words, without tables: for key schedules, and for few blocks.

use cipherlane_core::BLOCK;

use crate::cipher::sc2000::circuits::{FIVE, OFFSETS, SIX, five, six, substitute, substitute_inversely};
use crate::cipher::sc2000::tables::{FIELDS, MASKS, SHIFTS, m_function, ms_of_constant};

/// Bits of S-boxes by where a word has them: what M makes of each wire of the circuits in the place of such a bit.
pub(super) const MIXED: [u32; 32] = {
    let (mut mixed, mut field) = ([0; 32], 0);
    while field < FIELDS {
        let (mut i, is_six) = (0, field == 0 || field == FIELDS - 1);
        while i < if is_six { 6 } else { 5 } {
            let image = if is_six { SIX[i] } else { FIVE[i] };
            mixed[SHIFTS[field] as usize + i] = m_function(image << SHIFTS[field]);
            i += 1;
        }
        field += 1;
    }
    mixed
};

/// What the circuits leave out of every MS: M of the S-boxes of zero.
const OFFSET: u32 = {
    let (mut sum, mut field) = (0, 0);
    while field < FIELDS {
        sum ^= OFFSETS[(field == 0 || field == FIELDS - 1) as usize] << SHIFTS[field];
        field += 1;
    }
    m_function(sum)
};

/// `word` in both halves.
const fn twice(word: u32) -> u64 {
    (word as u64) << 32 | word as u64
}

/// MS of the words in both halves, but for [`OFFSET`].
#[inline(always)]
fn ms_of_two(words: u64) -> u64 {
    /// The lowest bits of the fields of six bits, and of those of five, which begin at bit 6.
    const LOWEST: [u64; 2] = [twice(0x0400_0001), twice(0x0000_8421)];
    let (mut sixes, mut fives) = ([0; 6], [0; 5]);
    for (i, wire) in sixes.iter_mut().enumerate() {
        *wire = words >> i & LOWEST[0];
    }
    for (i, wire) in fives.iter_mut().enumerate() {
        *wire = words >> (6 + i) & LOWEST[1];
    }
    let mut wires = 0;
    for (i, wire) in six(sixes).into_iter().enumerate() {
        wires |= (wire & LOWEST[0]) << i;
    }
    for (i, wire) in five(fives).into_iter().enumerate() {
        wires |= (wire & LOWEST[1]) << (6 + i);
    }
    let mut sum = 0;
    for (i, mixed) in MIXED.iter().enumerate() {
        // A bit of each word, times what it adds.
        sum ^= (wires >> i & twice(1)) * u64::from(*mixed);
    }
    sum
}

/// MS of two words.
#[inline]
#[allow(clippy::cast_possible_truncation)] // takes words out
fn ms([x, y]: [u32; 2]) -> [u32; 2] {
    let words = ms_of_two(u64::from(x) << 32 | u64::from(y)) ^ twice(OFFSET);
    [(words >> 32) as u32, words as u32]
}

/// The intermediate keys of the branches a, b, c and d, three each.
pub(super) fn intermediate(user: &[u32; 8]) -> [[u32; 3]; 4] {
    let (mut keys, mut words) = ([[0; 3]; 4], *user);
    for pair in words.as_chunks_mut::<2>().0 {
        *pair = ms(*pair);
    }
    for (i, number) in (0..3).zip(0_u32..) {
        for branch in 0..4 {
            let constant = CONSTANTS[4 * i + branch];
            let [first, second] = [words[2 * branch], words[2 * branch + 1]];
            keys[branch][i] = first.wrapping_add(constant) ^ second.wrapping_mul(number + 1);
        }
        for branch in [0, 2] {
            [keys[branch][i], keys[branch + 1][i]] = ms([keys[branch][i], keys[branch + 1][i]]);
        }
    }
    keys
}

/// MS of 0 to 11.
const CONSTANTS: [u32; 12] = {
    let (mut constants, mut i) = ([0; 12], 0);
    while i < 12 {
        constants[i] = ms_of_constant(i as u32);
        i += 1;
    }
    constants
};

/// What two R functions in a row add to a and b in excess, because [`ms_of_two`] leaves [`OFFSET`] out: in rounds
/// with mask number `parity`.
pub(super) fn excess(parity: usize) -> [u32; 2] {
    let mask = u32::from_ne_bytes([MASKS[parity]; 4]);
    [OFFSET & !mask, OFFSET & mask]
}

/// One block under round keys that make up for [`excess`].
#[inline(never)] // once and not for each of a few blocks in each mode
pub(super) fn crypt<const INVERSE: bool>(fours: &[[u32; 4]], block: [u8; BLOCK]) -> [u8; BLOCK] {
    let rounds = fours.len() / 2 - 1;
    let mut state = [0; 4];
    for (word, bytes) in state.iter_mut().zip(block.as_chunks::<4>().0) {
        *word = u32::from_be_bytes(*bytes);
    }
    for round in 0..rounds {
        let order = if INVERSE { rounds - 1 - round } else { round };
        let [a, b, c, d] = i_b_i::<INVERSE>(state, &fours[2 * round..]);
        let [a, b] = r([a, b, c, d], order % 2);
        let [c, d] = r([c, d, a, b], order % 2);
        state = [c, d, a, b];
    }
    let mut block = [0; BLOCK];
    for (bytes, word) in
        block.as_chunks_mut::<4>().0.iter_mut().zip(i_b_i::<INVERSE>(state, &fours[2 * rounds..]))
    {
        *bytes = word.to_be_bytes();
    }
    block
}

/// The I, B and I functions.
#[inline(always)]
fn i_b_i<const INVERSE: bool>(mut state: [u32; 4], fours: &[[u32; 4]]) -> [u32; 4] {
    for (word, key) in state.iter_mut().zip(fours[0]) {
        *word ^= key;
    }
    state = if INVERSE { substitute_inversely(state) } else { substitute(state) };
    for (word, key) in state.iter_mut().zip(fours[1]) {
        *word ^= key;
    }
    state
}

/// What the R function makes of a and b, but for [`excess`].
#[inline(always)]
#[allow(clippy::cast_possible_truncation)] // takes words out
fn r([a, b, c, d]: [u32; 4], parity: usize) -> [u32; 2] {
    let mask = u32::from_ne_bytes([MASKS[parity]; 4]);
    let words = ms_of_two(u64::from(c) << 32 | u64::from(d));
    let (u, v) = ((words >> 32) as u32, words as u32);
    [a ^ (u & mask) ^ v, b ^ (v & !mask) ^ u]
}
