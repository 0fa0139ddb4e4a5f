//! The layers on 512-bit registers: S-boxes as permutations of bytes (AVX-512 VBMI), matrices of GFNI, and functions
//! of three bits.
//!
//! A permutation of bytes looks 64 bytes up at once in a table of 64, and ignores the upper two bits of an index. So
//! bytes are turned until a field lies in the low bits of each, with a piece of another field above it; tables repeat
//! for the bits of that. The two fields in pieces are put together by a shift of each piece.
//!
//! Tables look S and M up together. The three upper fields of a word and the three lower ones are 16 bits each, so
//! two bytes of M's output say all about a half: these bytes are the sum of three look-ups, and the other two are
//! linear in them.

use super::assembly;
use super::layers::{LanesOf, Layers, Word, interleaved};
use super::schedule::PICKED;
use crate::cipher::Groups;
use crate::cipher::byte_sliced::GROUP;
use crate::cipher::sc2000::tables::{
    FIELDS, images_of_units, m_function, matrix_of, substituted, turned_byte,
};
use crate::lanes::bytes::x86::Zmm;
use crate::lanes::bytes::{Bytes, GaloisBytes, IsaOf};
use crate::lanes::permute::{Table64, TableBytes};
use crate::lanes::{Isa, Lanes, wipe};
use cipherlane_core::BLOCK;

/// The layers with tables of 64 bytes.
pub(crate) struct Vbmi;

/// Fields of half a word.
const HALF: usize = FIELDS / 2;

/// The bytes of M's output that each half is looked up for. The other two follow from them, which most pairs do not
/// allow.
const LOOKED_UP: [[usize; 2]; 2] = [[0, 3], [1, 2]];

/// The value of field `field` whose index is `index`.
const fn value(field: usize, index: usize) -> usize {
    match field {
        0 | 5 => index,
        // The upper two bits come from the byte above: see `pieces`.
        1 => (index & 3) << 3 | (index >> 2 & 7),
        _ => index & 31,
    }
}

/// Table `2 * field + i`: what a field adds to the i-th byte that its half is looked up for.
static TABLES: [Table64; 2 * FIELDS] = TABLES_OF_FIELDS;

pub(super) const TABLES_OF_FIELDS: [Table64; 2 * FIELDS] = {
    let mut tables = [const { Table64([0; 64]) }; 2 * FIELDS];
    let mut i = 0;
    while i < 64 * tables.len() {
        let (table, index) = (i / 64, i % 64);
        let image = m_function(substituted(table / 2, value(table / 2, index)));
        let byte = LOOKED_UP[table / 2 / HALF][table % 2];
        tables[table].0[index] = turned_byte(image, byte, Vbmi::TURNS);
        i += 1;
    }
    tables
};

/// What byte i that `half` is looked up for contributes to the other byte number `other`.
const fn matrix(half: usize, i: usize, other: usize) -> u64 {
    let (mut coordinates, mut bit) = ([0; 16], 0);
    while bit < 16 {
        let image = m_function(1 << (16 * (1 - half) + bit));
        let [first, second] = LOOKED_UP[half];
        coordinates[bit] = u16::from_le_bytes([
            turned_byte(image, first, Vbmi::TURNS),
            turned_byte(image, second, Vbmi::TURNS),
        ]);
        bit += 1;
    }
    let images = images_of_units(half, coordinates);
    let (mut columns, mut j) = ([0; 8], 0);
    while j < 8 {
        // What one half is looked up for is what the other is not.
        columns[j] = turned_byte(images[8 * i + j], LOOKED_UP[1 - half][other], Vbmi::TURNS);
        j += 1;
    }
    matrix_of(columns)
}

/// `matrix` for each half, other byte and byte looked up.
pub(super) const MATRICES: [[[u64; 2]; 2]; 2] = [
    [[matrix(0, 0, 0), matrix(0, 1, 0)], [matrix(0, 0, 1), matrix(0, 1, 1)]],
    [[matrix(1, 0, 0), matrix(1, 1, 0)], [matrix(1, 0, 1), matrix(1, 1, 1)]],
];

/// The two bytes that a half is looked up for, from the indices of its fields.
#[inline(always)]
fn look_up<const HALF_INDEX: usize>(indices: [Zmm; HALF]) -> [Zmm; 2] {
    let [first, second, third] = indices;
    let isa = first.isa();
    let mut sums = [first; 2];
    for (i, sum) in sums.iter_mut().enumerate() {
        let at = 2 * HALF * HALF_INDEX + i;
        let x = Zmm::load(isa, &TABLES[at]).permute(first);
        let y = Zmm::load(isa, &TABLES[at + 2]).permute(second);
        let z = Zmm::load(isa, &TABLES[at + 4]).permute(third);
        *sum = x.xor3(y, z);
    }
    sums
}

/// `own` and what the bytes of the other half contribute.
#[inline(always)]
fn add_linear(own: Zmm, [x, y]: [Zmm; 2], matrices: [u64; 2]) -> Zmm {
    let isa = own.isa();
    let x = x.affine::<0>(Zmm::splat_half(isa, matrices[0]));
    let y = y.affine::<0>(Zmm::splat_half(isa, matrices[1]));
    own.xor3(x, y)
}

/// The two lower bits of bytes.
pub(super) const LOW_TWO: u64 = 0x0303_0303_0303_0303;

/// The index of a field in pieces: the upper two bits of `two` become its lowest ones, the upper three of `three` the
/// next.
#[inline(always)]
fn pieces(two: Zmm, three: Zmm) -> Zmm {
    /// The first says which of the others.
    const CHOOSE: i32 = 0b1100_1010;
    let low_two = Zmm::splat_half(two.isa(), LOW_TWO);
    Zmm::ternary::<CHOOSE>(low_two, two.shift_units_right::<6>(), three.shift_units_right::<3>())
}

/// The patterns of [`Layers::slice`]'s last step, for bytes 2j and 2j + 1. The first three have put byte 2j of eight
/// registers into the low half of each lane, byte 2j + 1 into the high half; two such registers become slices in
/// which byte `4 n + l` is that of register n, lane l.
static SLICE: [Table64; 2] = {
    let mut patterns = [const { Table64([0; 64]) }; 2];
    let mut i = 0;
    while i < 128 {
        let (which, n, lane) = (i / 64, i % 64 / 4, i % 4);
        patterns[which].0[i % 64] = (64 * (n / 8) + 16 * lane + 8 * which + n % 8) as u8;
        i += 1;
    }
    patterns
};

/// The inverse patterns, for registers 0 to 7 and 8 to 15.
static UNSLICE: [Table64; 2] = {
    let mut patterns = [const { Table64([0; 64]) }; 2];
    let mut i = 0;
    while i < 128 {
        let (registers, lane, which, n) = (i / 64, i % 64 / 16, i % 16 / 8, i % 8);
        patterns[registers].0[i % 64] = (64 * which + 4 * (8 * registers + n) + lane) as u8;
        i += 1;
    }
    patterns
};

/// Eight registers of sixteen.
#[inline(always)]
fn eight(registers: &[Zmm; GROUP], first: usize) -> [Zmm; 8] {
    let mut result = [registers[first]; 8];
    result.copy_from_slice(&registers[first..first + 8]);
    result
}

/// The matrix that rotates bytes towards the low bit.
const fn rotation(bits: u32) -> u64 {
    let (mut columns, mut i) = ([0; 8], 0);
    while i < 8 {
        columns[i] = (1_u8 << i).rotate_right(bits);
        i += 1;
    }
    matrix_of(columns)
}

/// The matrices that turn the bytes of a word, and those that turn them back.
pub(super) const TURN: [[u64; 4]; 2] = {
    let (mut matrices, mut byte) = ([[0; 4]; 2], 0);
    while byte < 4 {
        let turn = Vbmi::TURNS[byte];
        matrices[0][byte] = rotation(turn);
        matrices[1][byte] = rotation(8 - turn);
        byte += 1;
    }
    matrices
};

/// Puts the bytes of a word that are turned at all through their matrices.
#[inline(always)]
fn turned(mut word: Word<Zmm>, matrices: [u64; 4]) -> Word<Zmm> {
    for byte in 0..4 {
        if Vbmi::TURNS[byte] != 0 {
            word[byte] = word[byte].affine::<0>(Zmm::splat_half(word[byte].isa(), matrices[byte]));
        }
    }
    word
}

/// The patterns that exchange lanes and words: word i of lane j becomes word j of lane i. The second reverses the
/// bytes of words, too.
static EXCHANGE: [Table64; 2] = {
    let mut patterns = [const { Table64([0; 64]) }; 2];
    let mut i = 0;
    while i < 64 {
        let from = 16 * (i / 4 % 4) + 4 * (i / 16);
        patterns[0].0[i] = (from + i % 4) as u8;
        patterns[1].0[i] = (from + 3 - i % 4) as u8;
        i += 1;
    }
    patterns
};

/// Number `at` of the four keys picked for each of four extended keys, in a lane each.
#[inline(always)]
fn pick(isa: IsaOf<Zmm>, keys: &[LanesOf<Vbmi>; 4], picked: &[[u8; 4]; 4], at: usize) -> Zmm {
    let mut from = [std::ptr::null(); 4];
    for (from, picked) in from.iter_mut().zip(picked) {
        *from = keys.as_ptr().cast::<u8>().wrapping_add(BLOCK * usize::from(picked[at] % 16));
    }
    // SAFETY: there are 16 keys of 16 bytes.
    Zmm::from_lanes(unsafe { isa.gather(&from) })
}

/// The patterns of [`Layers::keys`], for bytes 0 to 7 and 8 to 15: byte i of the four lanes, twice, in half i.
static SPREAD: [Table64; 2] = {
    let mut patterns = [const { Table64([0; 64]) }; 2];
    let mut i = 0;
    while i < 128 {
        patterns[i / 64].0[i % 64] = (16 * (i % 4) + i / 8) as u8;
        i += 1;
    }
    patterns
};

/// The matrices that turn what [`SPREAD`] has spread.
static TURN_SPREAD: Table64 = {
    let (mut table, mut i) = (Table64([0; 64]), 0);
    while i < 64 {
        let word = rotation(Vbmi::TURNS[i / 8 % 4]);
        table.0[i] = word.to_le_bytes()[i % 8];
        i += 1;
    }
    table
};

impl Layers for Vbmi {
    type Bytes = Zmm;

    const TURNS: [u32; 4] = [2, 0, 3, 0];

    /// Slices have lane l in every fourth byte from l on, so that eight bytes in memory say it all, which
    /// instructions broadcast as they add them.
    type Key = u64;

    #[inline(always)]
    fn slice(blocks: &mut [Zmm; GROUP]) {
        let isa = blocks[0].isa();
        let low = interleaved(interleaved(interleaved(eight(blocks, 0))));
        let high = interleaved(interleaved(interleaved(eight(blocks, 8))));
        for j in 0..GROUP / 2 {
            for i in 0..2 {
                blocks[2 * j + i] = low[j].permute_two(high[j], Zmm::load(isa, &SLICE[i]));
            }
        }
        for word in blocks.as_chunks_mut::<4>().0 {
            *word = Self::turn(*word);
        }
    }

    #[inline(always)]
    fn unslice(slices: &mut [Zmm; GROUP]) {
        let isa = slices[0].isa();
        for word in slices.as_chunks_mut::<4>().0 {
            *word = Self::turn_back(*word);
        }
        let mut halves = [eight(slices, 0); 2];
        for (i, half) in halves.iter_mut().enumerate() {
            for (j, register) in half.iter_mut().enumerate() {
                *register = slices[2 * j].permute_two(slices[2 * j + 1], Zmm::load(isa, &UNSLICE[i]));
            }
            *half = interleaved(interleaved(interleaved(interleaved(*half))));
        }
        for (i, slice) in slices.iter_mut().enumerate() {
            *slice = halves[i / 8][i % 8];
        }
    }

    /// Words of the four lanes lie together in memory. Four extended keys are made in a register, one in each lane,
    /// and change places with lanes at the end.
    #[inline(always)]
    fn extend(isa: IsaOf<Zmm>, intermediate: [LanesOf<Self>; 4], blocks: &mut [LanesOf<Self>]) {
        let (mut keys, mut rotated) = ([isa.zero(); 4], [isa.zero(); 4]);
        for i in 0..4 {
            let words = Zmm::from_lanes(intermediate[i]).permute(Zmm::load(isa, &EXCHANGE[0]));
            (keys[i], rotated[i]) = (words.to_lanes(), words.rotate_words_left::<1>().to_lanes());
        }
        for (block, picked) in blocks.iter_mut().zip(PICKED.as_chunks::<4>().0) {
            let [x, z] = [pick(isa, &rotated, picked, 0), pick(isa, &rotated, picked, 2)];
            let [y, w] = [pick(isa, &keys, picked, 1), pick(isa, &keys, picked, 3)];
            let right = z.subtract_words(w).rotate_words_left::<1>();
            let words = x.to_lanes().add32(y.to_lanes()).xor(right.to_lanes());
            *block = Zmm::from_lanes(words).permute(Zmm::load(isa, &EXCHANGE[1])).to_lanes();
        }
        wipe(&mut keys);
        wipe(&mut rotated);
    }

    #[inline(always)]
    fn keys(round_keys: LanesOf<Self>) -> [u64; GROUP] {
        let round_keys = Zmm::from_lanes(round_keys);
        let isa = round_keys.isa();
        let mut keys = [0; GROUP];
        for (pattern, keys) in SPREAD.iter().zip(keys.as_chunks_mut::<8>().0) {
            let spread = round_keys.permute(Zmm::load(isa, pattern));
            let turned = spread.affine::<0>(Zmm::load(isa, &TURN_SPREAD));
            for (word, keys) in turned.to_lanes().to_words().iter().zip(keys.as_chunks_mut::<2>().0) {
                #[allow(clippy::cast_possible_truncation)] // takes the halves apart
                let halves = [*word as u64, (*word >> 64) as u64];
                *keys = halves;
            }
        }
        keys
    }

    #[inline(always)]
    fn key(isa: IsaOf<Zmm>, key: u64) -> Zmm {
        Zmm::splat_half(isa, key)
    }

    #[inline(always)]
    fn turn(word: Word<Zmm>) -> Word<Zmm> {
        turned(word, TURN[0])
    }

    #[inline(always)]
    fn turn_back(word: Word<Zmm>) -> Word<Zmm> {
        turned(word, TURN[1])
    }

    #[inline(always)]
    fn ms([a, b, c, d]: Word<Zmm>) -> Word<Zmm> {
        let upper = look_up::<0>([a, pieces(a, b), b]);
        let lower = look_up::<1>([c, pieces(d, c), d]);
        [
            add_linear(upper[0], lower, MATRICES[1][0]),
            add_linear(lower[0], upper, MATRICES[0][0]),
            add_linear(lower[1], upper, MATRICES[0][1]),
            add_linear(upper[1], lower, MATRICES[1][1]),
        ]
    }

    /// Seven functions of three bits each way: found by exhaustive synthesis, which has shown that six do not do.
    #[inline(always)]
    fn substitute<const INVERSE: bool>([a, b, c, d]: [Zmm; 4]) -> [Zmm; 4] {
        if INVERSE {
            let t0 = Zmm::ternary::<0x9a>(a, c, d);
            let t1 = Zmm::ternary::<0x9c>(a, b, d);
            let t2 = Zmm::ternary::<0xe2>(t1, a, c);
            let t3 = Zmm::ternary::<0x63>(t2, t0, b);
            let t4 = Zmm::ternary::<0x36>(t3, t1, t0);
            let t5 = Zmm::ternary::<0x69>(t3, t2, b);
            let t6 = Zmm::ternary::<0xa6>(t5, t1, a);
            [t3, t5, t4, t6]
        } else {
            let t0 = Zmm::ternary::<0x56>(b, c, d);
            let t1 = Zmm::ternary::<0x9c>(a, b, c);
            let t2 = Zmm::ternary::<0xd8>(t0, a, c);
            let t3 = Zmm::ternary::<0xc9>(t2, t1, d);
            let t4 = Zmm::ternary::<0x6c>(t2, t1, d);
            let t5 = Zmm::ternary::<0x65>(t3, t1, t0);
            let t6 = Zmm::ternary::<0x56>(t4, t0, c);
            [t5, t6, t3, t4]
        }
    }

    const IN_MEMORY: bool = true;

    #[inline(always)]
    unsafe fn run_pairs<const INVERSE: bool>(
        fours: &[[u64; GROUP]],
        groups: Groups,
        added: Option<*const u8>,
    ) {
        // SAFETY: these layers prove the instructions, and the caller vouches for the rest.
        unsafe { assembly::crypt::<INVERSE>(fours, groups, added) }
    }

    #[inline(always)]
    unsafe fn count_pairs(fours: &[[u64; GROUP]], counter: [u8; BLOCK], text: Groups) {
        // SAFETY: as above.
        unsafe { assembly::count(fours, counter, text) }
    }
}
