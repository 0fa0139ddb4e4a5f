//! The key schedule, for all lanes at once.

use cipherlane_core::BLOCK;

use super::layers::{LanesOf, Layers};
use crate::cipher::sc2000::tables::{ms_of_constant, picked};
use crate::lanes::bytes::{Bytes, IsaOf};
use crate::lanes::{Isa, Lanes, MAX_LANES, wipe_blocks};

/// Most groups of four round keys: 7.5 rounds have two for each round, and two more.
pub(super) const MAX_FOURS: usize = 16;

/// Groups of four round keys for a key of `key_bytes` bytes.
pub(super) const fn fours(key_bytes: usize) -> usize {
    if key_bytes == 16 { 14 } else { MAX_FOURS }
}

/// The constants of intermediate key i of the branches a, c, b and d, as the words of a lane.
const CONSTANTS: [[u8; BLOCK]; 3] = {
    let (mut constants, mut i) = ([[0; BLOCK]; 3], 0);
    while i < 12 {
        let branch = [0, 2, 1, 3][i % 4];
        let word = ms_of_constant(4 * (i / 4) as u32 + branch).to_le_bytes();
        let mut byte = 0;
        while byte < 4 {
            constants[i / 4][4 * (i % 4) + byte] = word[byte];
            byte += 1;
        }
        i += 1;
    }
    constants
};

/// The user key of lane `i` from `keys[i]`, as big-endian words 0 to 3 and 4 to 7: a shorter key starts again.
#[inline(always)]
pub(super) fn load<I: Isa>(isa: I, keys: &[&[u8]]) -> [I::V; 2] {
    let key_bytes = keys[0].len();
    let (mut first, mut last) = ([std::ptr::null(); MAX_LANES], [std::ptr::null(); MAX_LANES]);
    for (lane, key) in keys.iter().enumerate().take(I::V::LANES) {
        assert!(key.len() == key_bytes, "a checked batch has keys of the same length");
        (first[lane], last[lane]) = (key.as_ptr(), key[key_bytes - BLOCK..].as_ptr());
    }
    // SAFETY: 16 bytes at either end of a key of at least as many.
    let (first, last) = unsafe { (isa.gather(&first), isa.gather(&last)) };
    // The last 16 of 24 bytes are words 2 to 5; words 6 and 7 are 0 and 1 again.
    let last = if key_bytes == 24 { last.high_low(first) } else { last };
    [first, last]
}

/// The intermediate keys of a user key, numbered as [`number`] does.
#[inline(always)]
pub(super) fn intermediate<L: Layers>(isa: IsaOf<L::Bytes>, user: [LanesOf<L>; 2]) -> [LanesOf<L>; 4] {
    // From big-endian words to those of this machine.
    let swap = isa.splat(&[3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8, 15, 14, 13, 12]);
    let user = [user[0].permute_bytes(swap), user[1].permute_bytes(swap)];
    // Words 0, 4, 1, 5 and words 2, 6, 3, 7.
    let [low, high, ..] = ms::<L>(isa, [user[0], user[1], user[0], user[1]]);
    // Branches a, c, b, d: words 0, 4, 2, 6 and words 1, 5, 3, 7.
    let even = low.low_low(high);
    let odd = low.high_low(high.swap_halves());
    let (twice, mut sums) = (odd.add32(odd), [even; 4]);
    for (i, multiple) in [odd, twice, twice.add32(odd)].into_iter().enumerate() {
        sums[i] = even.add32(isa.splat(&CONSTANTS[i])).xor(multiple);
    }
    ms::<L>(isa, sums)
}

/// MS of the words in four registers a, b, c and d: the lanes of the result are words a0 b0 a1 b1, then a2 b2 a3 b3,
/// then the same of c and d.
#[inline(always)]
fn ms<L: Layers>(isa: IsaOf<L::Bytes>, registers: [LanesOf<L>; 4]) -> [LanesOf<L>; 4] {
    let pattern = isa.splat(&[3, 7, 11, 15, 2, 6, 10, 14, 1, 5, 9, 13, 0, 4, 8, 12]);
    let mut grouped = [L::Bytes::splat_half(isa, 0); 4];
    for (to, from) in grouped.iter_mut().zip(registers) {
        // The topmost bytes of four words, then the next ones.
        *to = L::Bytes::from_lanes(from.permute_bytes(pattern));
    }
    let [a, b, c, d] = grouped;
    let [ab, cd] = [[a.interleave_low(b), a.interleave_high(b)], [c.interleave_low(d), c.interleave_high(d)]];
    let mut word = grouped;
    for i in 0..2 {
        [word[2 * i], word[2 * i + 1]] = exchange::<L>(ab[i], cd[i]);
    }
    let [a, b, c, d] = L::turn_back(L::ms(L::turn(word)));
    // Bytes 0 and 1, and bytes 2 and 3, of the words of a and b, then those of c and d.
    let (upper, lower) = (exchange::<L>(a, b), exchange::<L>(c, d));
    let mut result = registers;
    for i in 0..2 {
        // Lowest bytes first: 3 and 1 next to each other, and 2 and 0.
        let odd_and_even = [lower[i].interleave_low(upper[i]), lower[i].interleave_high(upper[i])];
        result[2 * i] = odd_and_even[1].interleave_low(odd_and_even[0]).to_lanes();
        result[2 * i + 1] = odd_and_even[1].interleave_high(odd_and_even[0]).to_lanes();
    }
    result
}

/// The low halves of both, then the high halves of both.
#[inline(always)]
fn exchange<L: Layers>(a: L::Bytes, b: L::Bytes) -> [L::Bytes; 2] {
    let (a, b) = (a.to_lanes(), b.to_lanes());
    [L::Bytes::from_lanes(a.low_low(b)), L::Bytes::from_lanes(a.high_low(b.swap_halves()))]
}

/// Where intermediate key `index` of `branch` lies: word `number % 4` of register `number / 4`.
const fn number(branch: usize, index: usize) -> usize {
    let (register, word) = (branch % 2 + 2 * (index / 2), 2 * (branch / 2) + index % 2);
    4 * register + word
}

/// The numbers of the four intermediate keys that make extended key n.
pub(super) static PICKED: [[u8; 4]; 4 * MAX_FOURS] = {
    let (mut numbers, mut i) = ([[0; 4]; 4 * MAX_FOURS], 0);
    while i < 4 * numbers.len() {
        let n = i / 4;
        let (branch, index) = picked(n)[i % 4];
        numbers[n][i % 4] = number(branch, index) as u8;
        i += 1;
    }
    numbers
};

/// The extended keys of intermediate keys, four by four as a block has words.
#[inline(always)]
pub(super) fn extend<I: Isa>(isa: I, intermediate: [I::V; 4], blocks: &mut [I::V]) {
    let mut keys = [[[0; BLOCK]; MAX_LANES]; 4];
    for (blocks, register) in keys.iter_mut().zip(intermediate) {
        *blocks = register.to_blocks();
    }
    for (block, numbers) in blocks.iter_mut().zip(PICKED.as_chunks::<4>().0) {
        let mut lanes = [0; MAX_LANES];
        for (lane, words) in lanes.iter_mut().enumerate().take(I::V::LANES) {
            for (i, numbers) in numbers.iter().enumerate() {
                let mut picked = [0; 4];
                for (key, number) in picked.iter_mut().zip(numbers) {
                    let register = &keys[usize::from(number / 4) % 4][lane];
                    *key = u32::from_le_bytes(register.as_chunks().0[usize::from(number % 4)]);
                }
                let left = picked[0].rotate_left(1).wrapping_add(picked[1]);
                let right = picked[2].rotate_left(1).wrapping_sub(picked[3]);
                let extended = left ^ right.rotate_left(1);
                *words |= u128::from(extended.swap_bytes()) << (32 * i);
            }
        }
        *block = isa.words(&lanes);
    }
    wipe_blocks(keys.as_flattened_mut());
}
