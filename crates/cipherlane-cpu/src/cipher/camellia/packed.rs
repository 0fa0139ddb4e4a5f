//! Few blocks, half a block to a register, by GFNI.
//!
//! A byte is kept as INPUT times it, and bytes 4 and 7 as INPUT times what SBOX4 rotates them to: then all eight S-boxes
//! of F are one inversion, but for the matrix behind it. A lane holds its half twice, and has one matrix for the bytes
//! that P sums up for bytes 4 and 7, and one for the others. So three registers have the S-boxes of all bytes in both
//! coordinates: of the bytes of SBOX1 and SBOX4, of SBOX2 and of SBOX3; shuffles pick from them what P sums.

use super::boxes::{INPUT, LEFT, OFFSET, OUTPUT, OUTPUT_CONSTANT, RIGHT};
use super::schedule::{
    MAX_BLOCKS, MAX_LAYERS, Material, ROUNDS_OF_SEGMENT, SIGMA, Sink, expand, rounds, second_half,
};
use crate::cipher::byte_sliced::Key;
use crate::cipher::byte_sliced::matrix::Matrix;
use crate::cipher::packed::{Lane, PackedCipher, matrices};
use crate::lanes::packed::Packed;
use crate::lanes::wipe_blocks;

/// Bytes of a half that go through SBOX4, numbered from 0.
const fn is_rotated(byte: usize) -> bool {
    byte == 3 || byte == 6
}

/// To the coordinates of bytes through SBOX4.
const INPUT_4: Matrix = INPUT.after(LEFT);
const ENTER: Lane = matrices(INPUT, INPUT_4);
const LEAVE: Lane = matrices(INPUT.inverse(), INPUT_4.inverse());

/// Of a half in both coordinates the right one, twice. `swap` is 3 where bytes of a word are the other way round.
const fn select(swap: usize) -> Lane {
    let (mut pattern, mut i) = ([0; 16], 0);
    while i < 16 {
        let byte = i % 8;
        let from = byte ^ swap;
        pattern[i] = (if is_rotated(byte) { 8 + from } else { from }) as u8;
        i += 1;
    }
    pattern
}

const SELECT: Lane = select(0);
/// The same of words that are as integers have them.
const SELECT_OF_WORDS: Lane = select(3);

/// [`SELECT`], as words of integers.
const SELECT_WORDS: Lane = {
    let (mut pattern, mut i) = ([0; 16], 0);
    while i < 16 {
        pattern[i] = SELECT[i ^ 3];
        i += 1;
    }
    pattern
};

/// The other word of each half.
const OTHER_WORD: Lane = [4, 5, 6, 7, 0, 1, 2, 3, 12, 13, 14, 15, 8, 9, 10, 11];

/// Behind the inversion: an S-box, what comes `after` it, and both coordinates.
const fn output(after: Matrix) -> Lane {
    matrices(INPUT.after(after).after(OUTPUT), INPUT_4.after(after).after(OUTPUT))
}

const BOX_1: Lane = output(Matrix::IDENTITY);
const BOX_2: Lane = output(LEFT);
const BOX_3: Lane = output(RIGHT);

/// P (RFC 3713 section 2.4.1): bit j of row i says that byte i of the result is a sum with byte j, numbered from 0.
const P: [u8; 8] = [
    0b1110_1101, // 1 3 4 6 7 8
    0b1101_1011, // 1 2 4 5 7 8
    0b1011_0111, // 1 2 3 5 6 8
    0b0111_1110, // 2 3 4 5 6 7
    0b1110_0011, // 1 2 6 7 8
    0b1101_0110, // 2 3 5 7 8
    0b1011_1100, // 3 4 5 6 8
    0b0111_1001, // 1 4 5 6 7
];

/// The pattern that brings the `nth` of those bytes in `of` that P sums up to each byte of the result.
const fn picks(of: u8, nth: u32) -> Lane {
    let (mut pattern, mut i) = ([0x80; 16], 0);
    while i < 16 {
        let byte = i % 8;
        let (mut rest, mut skipped) = (P[byte] & of, 0);
        while skipped < nth {
            rest &= rest.wrapping_sub(1);
            skipped += 1;
        }
        if rest != 0 {
            pattern[i] = rest.trailing_zeros() as u8 + if is_rotated(byte) { 8 } else { 0 };
        }
        i += 1;
    }
    pattern
}

/// Bytes through SBOX1 and SBOX4, through SBOX2, and through SBOX3.
const OF_1: u8 = 0b1100_1001;
const OF_2: u8 = 0b0001_0010;
const OF_3: u8 = 0b0010_0100;

/// What F adds to its result besides what is linear behind the inversion: P of the constants of the S-boxes.
const CONSTANT: u64 = {
    let (mut word, mut i) = (0, 0);
    while i < 8 {
        let (mut sum, mut j) = (0, 0);
        while j < 8 {
            if P[i] >> j & 1 == 1 {
                sum ^= if OF_2 >> j & 1 == 1 {
                    LEFT.apply(OUTPUT_CONSTANT)
                } else if OF_3 >> j & 1 == 1 {
                    RIGHT.apply(OUTPUT_CONSTANT)
                } else {
                    OUTPUT_CONSTANT
                };
            }
            j += 1;
        }
        word = word << 8 | sum as u64;
        i += 1;
    }
    word
};

/// What a subkey of F has on top, so that the constant in front of the inversion is in it.
const OFFSETS: u64 = {
    let (mut word, mut i) = (0, 0);
    while i < 8 {
        word = word << 8 | if is_rotated(i) { RIGHT.apply(OFFSET) } else { OFFSET } as u64;
        i += 1;
    }
    word
};

/// Two halves.
type Halves<R> = [R; 2];

/// Camellia of few blocks. Wiped when dropped.
pub(crate) struct Camellia {
    /// See [`Sink::sum`], in coordinates, a lane for each half.
    sums: [[Lane; 2]; MAX_BLOCKS],
    /// The masks of FL and of FLINV, as words of integers: of the first word, then of the second, the other being 0.
    masks: [[[Lane; 2]; 2]; MAX_LAYERS],
    rounds: usize,
}

impl Drop for Camellia {
    fn drop(&mut self) {
        wipe_blocks(self.sums.as_flattened_mut());
        wipe_blocks(self.masks.as_flattened_mut().as_flattened_mut());
    }
}

/// Subkeys on their way into lanes.
struct InLanes<'a, R: Packed> {
    isa: R::Isa,
    cipher: &'a mut Camellia,
}

impl<R: Packed> Sink<u64> for InLanes<'_, R> {
    #[inline(always)]
    fn sum(&mut self, index: usize, halves: [u64; 2]) {
        let constant = if (1..=self.cipher.rounds / 2).contains(&index) { CONSTANT } else { 0 };
        for (lane, half) in self.cipher.sums[index].iter_mut().zip(halves) {
            *lane = enter(self.isa, R::splat(self.isa, &in_bytes(half ^ constant))).to_lane();
        }
    }

    #[inline(always)]
    fn mask(&mut self, index: usize, halves: [u64; 2]) {
        for (lanes, half) in self.cipher.masks[index].iter_mut().zip(halves) {
            *lanes = [in_words([half >> 32, 0]), in_words([0, half & 0xffff_ffff])];
        }
    }
}

impl PackedCipher for Camellia {
    type Parts<R: Packed> = Halves<R>;

    #[inline(always)]
    fn new<R: Packed, const INVERSE: bool>(isa: R::Isa, key: &Key) -> Self {
        let (kl, kr) = (halves(key.first), second_half(halves(key.rest), key.bytes));
        let rounds = rounds(key.bytes);
        let [ka, kb] = derive::<R>(isa, kl, kr);
        let mut cipher =
            Self { sums: [[[0; 16]; 2]; MAX_BLOCKS], masks: [[[[0; 16]; 2]; 2]; MAX_LAYERS], rounds };
        let mut sink = InLanes::<R> { isa, cipher: &mut cipher };
        expand::<_, INVERSE>(&Material { kl, kr, ka, kb }, rounds, OFFSETS, &mut sink);
        cipher
    }

    #[inline(always)]
    fn enter<R: Packed>(isa: R::Isa, blocks: R) -> Halves<R> {
        let left = blocks.shuffle(R::splat(isa, const { &twice(0) }));
        let right = blocks.shuffle(R::splat(isa, const { &twice(8) }));
        [enter(isa, left), enter(isa, right)]
    }

    #[inline(always)]
    fn leave<R: Packed>(isa: R::Isa, [left, right]: Halves<R>) -> R {
        let left = leave(isa, left).shuffle(R::splat(isa, const { &only(0) }));
        let right = leave(isa, right).shuffle(R::splat(isa, const { &only(1) }));
        left.xor(right)
    }

    #[inline(always)]
    fn add<R: Packed>([a, b]: Halves<R>, [c, d]: Halves<R>) -> Halves<R> {
        [a.xor(c), b.xor(d)]
    }

    #[inline(always)]
    fn run<R: Packed, const G: usize>(&self, isa: R::Isa, mut parts: [Halves<R>; G]) -> [Halves<R>; G] {
        let f = F::new(isa);
        for halves in &mut parts {
            *halves = Self::add(*halves, self.sum(isa, 0));
        }
        for segment in 0..self.rounds / ROUNDS_OF_SEGMENT {
            if segment > 0 {
                for halves in &mut parts {
                    *halves = layer(isa, &self.masks[segment - 1], *halves);
                }
            }
            for pair in 0..ROUNDS_OF_SEGMENT / 2 {
                let [first, second] = self.sum(isa, 1 + ROUNDS_OF_SEGMENT / 2 * segment + pair);
                for [left, right] in &mut parts {
                    *right = f.add_to(right.xor(first), *left);
                }
                for [left, right] in &mut parts {
                    *left = f.add_to(left.xor(second), *right);
                }
            }
        }
        let [last, _] = self.sum(isa, 1 + self.rounds / 2);
        for halves in &mut parts {
            *halves = [halves[1].xor(last), halves[0]];
        }
        parts
    }
}

impl Camellia {
    /// What is added to both halves.
    #[inline(always)]
    fn sum<R: Packed>(&self, isa: R::Isa, index: usize) -> Halves<R> {
        let [left, right] = &self.sums[index];
        [R::splat(isa, left), R::splat(isa, right)]
    }
}

/// The pattern that has the half from byte `first` on twice.
const fn twice(first: u8) -> Lane {
    let (mut pattern, mut i) = ([first; 16], 0);
    while i < 16 {
        pattern[i] = first + i as u8 % 8;
        i += 1;
    }
    pattern
}

/// [`SELECT`] for one half of a lane, the other being 0.
const fn only(half: usize) -> Lane {
    let (mut pattern, mut i) = (SELECT, 0);
    while i < 16 {
        if i / 8 != half {
            pattern[i] = 0x80;
        }
        i += 1;
    }
    pattern
}

/// A half that a lane has twice, into coordinates.
#[inline(always)]
fn enter<R: Packed>(isa: R::Isa, half: R) -> R {
    half.affine(R::splat(isa, &ENTER)).shuffle(R::splat(isa, &SELECT))
}

/// A half out of coordinates, still to be selected.
#[inline(always)]
fn leave<R: Packed>(isa: R::Isa, half: R) -> R {
    half.affine(R::splat(isa, &LEAVE))
}

/// F (section 2.4.1) in registers.
struct F<R> {
    /// Behind the inversions: of SBOX1 and SBOX4, of SBOX2, of SBOX3.
    boxes: [R; 3],
    /// What P sums up: four of the first, two of each other: see [`picks`].
    picks: [[R; 2]; 4],
}

impl<R: Packed> F<R> {
    #[inline(always)]
    fn new(isa: R::Isa) -> Self {
        let picks = [
            [pick::<R, OF_1, 0>(isa), pick::<R, OF_1, 1>(isa)],
            [pick::<R, OF_1, 2>(isa), pick::<R, OF_1, 3>(isa)],
            [pick::<R, OF_2, 0>(isa), pick::<R, OF_2, 1>(isa)],
            [pick::<R, OF_3, 0>(isa), pick::<R, OF_3, 1>(isa)],
        ];
        Self { boxes: [R::splat(isa, &BOX_1), R::splat(isa, &BOX_2), R::splat(isa, &BOX_3)], picks }
    }

    /// `to ^ F(from)` but for constants, where `from` carries its subkey. CPUs start two shuffles at a time: the sum of
    /// two waits for no others.
    #[inline(always)]
    fn add_to(&self, to: R, from: R) -> R {
        let first = from.affine_of_inverse(self.boxes[0]);
        let second = from.affine_of_inverse(self.boxes[1]);
        let third = from.affine_of_inverse(self.boxes[2]);
        let to = self.add_picked(0, to, first);
        let to = self.add_picked(1, to, first);
        let to = self.add_picked(2, to, second);
        self.add_picked(3, to, third)
    }

    #[inline(always)]
    fn add_picked(&self, picks: usize, to: R, boxes: R) -> R {
        let [a, b] = self.picks[picks];
        to.xor(boxes.shuffle(a)).xor(boxes.shuffle(b)).pin()
    }
}

#[inline(always)]
fn pick<R: Packed, const OF: u8, const NTH: u32>(isa: R::Isa) -> R {
    R::splat(isa, const { &picks(OF, NTH) }).pin()
}

/// FL of the left half and FLINV of the right one, without their constants (sections 2.4.2 and 2.4.3).
#[inline(always)]
fn layer<R: Packed>(isa: R::Isa, masks: &[[Lane; 2]; 2], [left, right]: Halves<R>) -> Halves<R> {
    let [left_masks, right_masks] = masks;
    let mut left = to_words(isa, left);
    left = left.xor(other_word(isa, masked(isa, left, &left_masks[0]).rotate_words_left()));
    left = left.xor(other_word(isa, masked(isa, left, &left_masks[1])));
    let mut right = to_words(isa, right);
    right = right.xor(other_word(isa, masked(isa, right, &right_masks[1])));
    right = right.xor(other_word(isa, masked(isa, right, &right_masks[0]).rotate_words_left()));
    [of_words(isa, left), of_words(isa, right)]
}

#[inline(always)]
fn masked<R: Packed>(isa: R::Isa, half: R, mask: &Lane) -> R {
    half.and(R::splat(isa, mask))
}

#[inline(always)]
fn other_word<R: Packed>(isa: R::Isa, half: R) -> R {
    half.shuffle(R::splat(isa, &OTHER_WORD))
}

/// A half as integers have its words, out of coordinates.
#[inline(always)]
fn to_words<R: Packed>(isa: R::Isa, half: R) -> R {
    leave(isa, half).shuffle(R::splat(isa, &SELECT_WORDS))
}

/// And back.
#[inline(always)]
fn of_words<R: Packed>(isa: R::Isa, words: R) -> R {
    words.affine(R::splat(isa, &ENTER)).shuffle(R::splat(isa, &SELECT_OF_WORDS))
}

/// KA and KB of KL and KR (section 2.2).
#[inline(always)]
fn derive<R: Packed>(isa: R::Isa, kl: [u64; 2], kr: [u64; 2]) -> [[u64; 2]; 2] {
    let sum = |a: [u64; 2], b: [u64; 2]| [a[0] ^ b[0], a[1] ^ b[1]];
    let ka = two_rounds::<R>(isa, 2, sum(two_rounds::<R>(isa, 0, sum(kl, kr)), kl));
    [ka, two_rounds::<R>(isa, 4, sum(ka, kr))]
}

/// Two rounds with constants number `first` and the next for subkeys.
#[inline(always)]
fn two_rounds<R: Packed>(isa: R::Isa, first: usize, [mut left, mut right]: [u64; 2]) -> [u64; 2] {
    right ^= f_of_half::<R>(isa, left ^ SIGMA[first]);
    left ^= f_of_half::<R>(isa, right ^ SIGMA[first + 1]);
    [left, right]
}

/// F of a half with its subkey.
#[inline(always)]
fn f_of_half<R: Packed>(isa: R::Isa, half: u64) -> u64 {
    let from = enter(isa, R::splat(isa, &in_bytes(half ^ OFFSETS)));
    let to = F::new(isa).add_to(R::splat(isa, &[0; 16]), from);
    let [left, _] = halves(u128::from_be_bytes(leave(isa, to).shuffle(R::splat(isa, &SELECT)).to_lane()));
    left ^ CONSTANT
}

/// The halves of a block.
#[allow(clippy::cast_possible_truncation)] // takes the halves apart
const fn halves(block: u128) -> [u64; 2] {
    [(block >> 64) as u64, block as u64]
}

/// A half as a lane of two words, twice, as integers have them.
fn in_words([first, second]: [u64; 2]) -> Lane {
    let half = u128::from(first) | u128::from(second) << 32;
    (half | half << 64).to_le_bytes()
}

/// A half as RFC 3713 has it, twice.
fn in_bytes(half: u64) -> Lane {
    (u128::from(half) << 64 | u128::from(half)).to_be_bytes()
}
