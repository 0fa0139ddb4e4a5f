//! The layers on registers that look sixteen bytes up at once in tables of sixteen.
//!
//! Four bits of a field are an index. A table for each value of the rest is looked up, and the rest chooses: bits at
//! the top of a byte, which the field is moved to or lies at. Which bits of a field are the index is whatever moves
//! least.
//!
//! Tables look up what a field adds to one byte of M's output, in the upper half of a word another than in the lower
//! one. Each half has three fields of 16 bits in all; the sums of two and two of the three bytes looked up have as
//! many, so the other bytes of the output are linear in these two sums.

use std::marker::PhantomData;
use std::ops::{BitAnd, BitOr, BitXor, Not};

use cipherlane_core::BLOCK;

use super::layers::{LanesOf, Layers, Word, interleaved};
use crate::cipher::byte_sliced::GROUP;
use crate::cipher::sc2000::circuits::{substitute, substitute_inversely};
use crate::cipher::sc2000::tables::{
    FIELDS, SHIFTS, images_of_units, m_function, matrix_of, substituted, turned_byte,
};
use crate::lanes::bytes::{Bytes, GaloisBytes, IsaOf, repeated};
use crate::lanes::permute::ShuffleBytes;

/// The layers on registers B, with linear maps M.
pub(crate) struct Shuffles<B, M>(PhantomData<fn() -> (B, M)>);

/// The layers on registers B.
pub(crate) type WithNibbles<B> = Shuffles<B, Nibbles>;

/// The layers on registers B with GFNI.
pub(crate) type WithGalois<B> = Shuffles<B, Galois>;

/// Fields of half a word.
const HALF: usize = FIELDS / 2;

/// The byte of M's output that each half is looked up for.
const LOOKED_UP: [usize; 2] = [3, 0];

/// The value of field `field` whose index is `index % 16` and whose choosing bits are `index / 16`.
const fn value(field: usize, index: usize) -> usize {
    let (low, choice) = (index % 16, index / 16);
    match field {
        1 => (low & 3) << 3 | (choice % 2) << 2 | low >> 2,
        4 => (low & 7) << 2 | (choice % 2) << 1 | low >> 3,
        0 | 5 => index,
        _ => index % 32,
    }
}

/// What each field adds to the byte that its half is looked up for. Fields of five bits have two tables.
static TABLES: [[[u8; BLOCK]; 4]; FIELDS] = {
    let (mut tables, mut i) = ([[[0; BLOCK]; 4]; FIELDS], 0);
    while i < 64 * FIELDS {
        let (field, index) = (i / 64, i % 64);
        let image = m_function(substituted(field, value(field, index)));
        tables[field][index / 16][index % 16] = turned_byte(image, LOOKED_UP[field / HALF], [0; 4]);
        i += 1;
    }
    tables
};

/// What M makes of the bits of the two sums of a half, the first sum first.
const fn images(half: usize) -> [u32; 16] {
    let (mut coordinates, mut bit) = ([0; 16], 0);
    while bit < 16 {
        let at = 16 * (1 - half) + bit;
        let byte = turned_byte(m_function(1 << at), LOOKED_UP[half], [0; 4]);
        let (first, third) = (at >= SHIFTS[HALF * half] as usize, at < SHIFTS[HALF * half + 1] as usize);
        coordinates[bit] = u16::from_le_bytes([if third { 0 } else { byte }, if first { 0 } else { byte }]);
        bit += 1;
    }
    images_of_units(half, coordinates)
}

/// What bits of the two sums of half `half` add to byte `byte` of the output.
const fn columns(half: usize, byte: usize) -> [[u8; 8]; 2] {
    let (images, mut columns, mut i) = (images(half), [[0; 8]; 2], 0);
    while i < 16 {
        columns[i / 8][i % 8] = turned_byte(images[i], byte, [0; 4]);
        i += 1;
    }
    columns
}

/// Linear maps from the two sums of a half to bytes of the output.
pub(crate) trait Maps<B>: 'static {
    /// The sums, as maps take them.
    type Sums: Copy;

    /// Prepares the sums.
    fn prepare(sums: [B; 2]) -> Self::Sums;

    /// Byte `byte` of what half `half` adds to the output, and `sum`.
    fn add(sum: B, half: usize, byte: usize, sums: Self::Sums) -> B;
}

/// Maps by tables of half bytes.
pub(crate) struct Nibbles;

/// The tables of each half and byte, for the low and the high bits of the first sum and then of the second.
static NIBBLES: [[[[u8; BLOCK]; 4]; 4]; 2] = {
    let (mut tables, mut i) = ([[[[0; BLOCK]; 4]; 4]; 2], 0);
    while i < 8 {
        let (columns, mut entry) = (columns(i / 4, i % 4), 0);
        while entry < 4 * BLOCK {
            let (nibble, index, mut bit) = (entry / BLOCK, entry % BLOCK, 0);
            while bit < 4 {
                if index >> bit & 1 == 1 {
                    tables[i / 4][i % 4][nibble][index] ^= columns[nibble / 2][4 * (nibble % 2) + bit];
                }
                bit += 1;
            }
            entry += 1;
        }
        i += 1;
    }
    tables
};

impl<B: ShuffleBytes> Maps<B> for Nibbles {
    type Sums = [B; 4];

    #[inline(always)]
    fn prepare([first, second]: [B; 2]) -> [B; 4] {
        let (a, b) = (low_four(first), low_four(first.shift_units_right::<4>()));
        [a, b, low_four(second), low_four(second.shift_units_right::<4>())]
    }

    #[inline(always)]
    fn add(mut sum: B, half: usize, byte: usize, nibbles: [B; 4]) -> B {
        for (table, nibble) in NIBBLES[half][byte].iter().zip(nibbles) {
            sum = sum.xor(look_up(table, nibble));
        }
        sum
    }
}

/// Maps by matrices.
pub(crate) struct Galois;

/// The matrices of each half and byte.
const MATRICES: [[[u64; 2]; 4]; 2] = {
    let (mut words, mut i) = ([[[0; 2]; 4]; 2], 0);
    while i < 8 {
        let [first, second] = columns(i / 4, i % 4);
        words[i / 4][i % 4] = [matrix_of(first), matrix_of(second)];
        i += 1;
    }
    words
};

impl<B: GaloisBytes> Maps<B> for Galois {
    type Sums = [B; 2];

    #[inline(always)]
    fn prepare(sums: [B; 2]) -> [B; 2] {
        sums
    }

    #[inline(always)]
    fn add(sum: B, half: usize, byte: usize, sums: [B; 2]) -> B {
        let [first, second] = MATRICES[half][byte];
        let isa = sum.isa();
        let first = sums[0].affine::<0>(B::splat_half(isa, first));
        sum.xor3(first, sums[1].affine::<0>(B::splat_half(isa, second)))
    }
}

#[inline(always)]
fn look_up<B: ShuffleBytes>(table: &[u8; BLOCK], index: B) -> B {
    B::splat_lane(index.isa(), table).shuffle(index)
}

/// The bits of every byte that `mask` has.
#[inline(always)]
fn masked<B: Bytes>(bytes: B, mask: u8) -> B {
    bytes.and(B::splat_half(bytes.isa(), repeated(mask)))
}

#[inline(always)]
fn low_four<B: Bytes>(bytes: B) -> B {
    masked(bytes, 0x0f)
}

/// A field of five bits: `choice` has one of them at the top.
#[inline(always)]
fn look_up_five<B: ShuffleBytes>(field: usize, index: B, choice: B) -> B {
    let [first, second, ..] = &TABLES[field];
    choice.choose(look_up(first, index), look_up(second, index))
}

/// A field of six bits: `upper` and `lower` have two of them at the top.
#[inline(always)]
fn look_up_six<B: ShuffleBytes>(field: usize, index: B, upper: B, lower: B) -> B {
    let [a, b, c, d] = &TABLES[field];
    let first = lower.choose(look_up(a, index), look_up(b, index));
    let second = lower.choose(look_up(c, index), look_up(d, index));
    upper.choose(first, second)
}

/// The three fields in the upper bytes of a word.
#[inline(always)]
fn look_up_upper<B: ShuffleBytes>(a: B, b: B) -> [B; HALF] {
    let middle = masked(a, 0x03).xor(masked(b, 0x60).shift_units_right::<3>());
    [
        look_up_six(0, low_four(a.shift_units_right::<2>()), a, a.shift_units_left::<1>()),
        look_up_five(1, middle, b),
        look_up_five(2, low_four(b), b.shift_units_left::<3>()),
    ]
}

/// The three fields in the lower bytes of a word.
#[inline(always)]
fn look_up_lower<B: ShuffleBytes>(c: B, d: B) -> [B; HALF] {
    let middle = masked(c, 0x07).xor(masked(d, 0x40).shift_units_right::<3>());
    [
        look_up_five(3, low_four(c.shift_units_right::<3>()), c),
        look_up_five(4, middle, d),
        look_up_six(5, low_four(d), d.shift_units_left::<2>(), d.shift_units_left::<3>()),
    ]
}

impl<B: ShuffleBytes, M: Maps<B>> Layers for Shuffles<B, M> {
    type Bytes = B;

    const TURNS: [u32; 4] = [0; 4];

    type Key = LanesOf<Self>;

    #[inline(always)]
    fn slice(blocks: &mut [B; GROUP]) {
        *blocks = interleaved(interleaved(interleaved(interleaved(*blocks))));
    }

    #[inline(always)]
    fn unslice(slices: &mut [B; GROUP]) {
        Self::slice(slices);
    }

    #[inline(always)]
    fn keys(round_keys: LanesOf<Self>) -> [Self::Key; GROUP] {
        let bytes = B::from_lanes(round_keys);
        let mut keys = [round_keys; GROUP];
        for (i, key) in (0..).zip(&mut keys) {
            *key = bytes.shuffle(B::splat_half(bytes.isa(), repeated(i))).to_lanes();
        }
        keys
    }

    #[inline(always)]
    fn key(_: IsaOf<B>, key: Self::Key) -> B {
        B::from_lanes(key)
    }

    #[inline(always)]
    fn turn(word: Word<B>) -> Word<B> {
        word
    }

    #[inline(always)]
    fn turn_back(word: Word<B>) -> Word<B> {
        word
    }

    #[inline(always)]
    fn ms([a, b, c, d]: Word<B>) -> Word<B> {
        let ([u, v, w], [x, y, z]) = (look_up_upper(a, b), look_up_lower(c, d));
        let (upper, lower) = ([u.xor(v), v.xor(w)], [x.xor(y), y.xor(z)]);
        let sums = [M::prepare(upper), M::prepare(lower)];
        let zero = a.xor(a);
        [
            M::add(lower[0].xor(z), 0, 0, sums[0]),
            M::add(M::add(zero, 0, 1, sums[0]), 1, 1, sums[1]),
            M::add(M::add(zero, 0, 2, sums[0]), 1, 2, sums[1]),
            M::add(upper[0].xor(w), 1, 3, sums[1]),
        ]
    }

    #[inline(always)]
    fn substitute<const INVERSE: bool>([a, b, c, d]: [B; 4]) -> [B; 4] {
        let wires = [Wire(a), Wire(b), Wire(c), Wire(d)];
        let [a, b, c, d] = if INVERSE { substitute_inversely(wires) } else { substitute(wires) };
        [a.0, b.0, c.0, d.0]
    }
}

/// Registers as wires of a circuit.
#[derive(Clone, Copy)]
struct Wire<B>(B);

impl<B: Bytes> BitXor for Wire<B> {
    type Output = Self;
    #[inline(always)]
    fn bitxor(self, other: Self) -> Self {
        Self(self.0.xor(other.0))
    }
}

impl<B: Bytes> BitAnd for Wire<B> {
    type Output = Self;
    #[inline(always)]
    fn bitand(self, other: Self) -> Self {
        Self(self.0.and(other.0))
    }
}

/// Compilers make one instruction of it.
impl<B: Bytes> BitOr for Wire<B> {
    type Output = Self;
    #[inline(always)]
    fn bitor(self, other: Self) -> Self {
        self ^ other ^ (self & other)
    }
}

/// Compilers make one instruction of it and the AND that follows.
impl<B: Bytes> Not for Wire<B> {
    type Output = Self;
    #[inline(always)]
    fn not(self) -> Self {
        Self(self.0.xor(B::splat_half(self.0.isa(), u64::MAX)))
    }
}
