//! Few blocks, a word to a register, by GFNI.
//!
//! Bytes are kept as INPUT times them. A lane has its word four times: of the S-boxes that two inversions make, the four
//! halves have what L takes from the byte of the same place, from the next one, from the one behind that and from the
//! last one. Shuffles bring these to their places.

use super::boxes::{INPUT, LEFT, OFFSET, OUTPUT, OUTPUT_CONSTANT, RIGHT};
use super::keys::{FIXED, SYSTEM};
use crate::cipher::byte_sliced::Key;
use crate::cipher::byte_sliced::matrix::Matrix;
use crate::cipher::packed::{Lane, PackedCipher, matrices};
use crate::lanes::packed::Packed;
use crate::lanes::wipe_blocks;

/// Rounds.
const ROUNDS: usize = 32;

const ENTER: Lane = matrices(INPUT, INPUT);
const LEAVE: Lane = matrices(INPUT.inverse(), INPUT.inverse());

/// Behind the inversion: the S-box, what comes `after` it, and coordinates.
const fn output(after: Matrix) -> Matrix {
    INPUT.after(after).after(OUTPUT)
}

/// A linear map of a word, as the maps of the byte of the same place, of the next one, and so on.
struct Linear([Lane; 2]);

impl Linear {
    const fn new([a, b, c, d]: [Matrix; 4]) -> Self {
        Self([matrices(output(a), output(b)), matrices(output(c), output(d))])
    }
}

/// L (GB/T 32907 section 6.2): byte by byte, what is rotated by 2, 10 and 18 is rotated within it and takes two bits
/// from the next one.
const L: Linear = Linear::new([LEFT, Matrix::rotation(2), Matrix::rotation(2), RIGHT]);

/// L' of the key schedule (section 7.3): rotations by 13 and 23.
const L_OF_KEYS: Linear = Linear::new([
    Matrix::IDENTITY,
    Matrix::shift(5),
    Matrix::shift(-3).plus(Matrix::shift(7)),
    Matrix::shift(-1),
]);

/// The pattern that brings bytes `ahead` of their places there, from half `half` of a lane.
const fn ahead(half: usize, ahead: usize) -> Lane {
    let (mut pattern, mut i) = ([0; 16], 0);
    while i < 16 {
        pattern[i] = (8 * half + (i + ahead) % 4) as u8;
        i += 1;
    }
    pattern
}

/// The pattern that has word `word` of a lane four times.
const fn four_times(word: usize) -> Lane {
    let (mut pattern, mut i) = ([0; 16], 0);
    while i < 16 {
        pattern[i] = (4 * word + i % 4) as u8;
        i += 1;
    }
    pattern
}

/// The pattern that leaves nothing but word `word` of a lane.
const fn only(word: usize) -> Lane {
    let (mut pattern, mut i) = ([0x80; 16], 0);
    while i < 4 {
        pattern[4 * word + i] = (4 * word + i) as u8;
        i += 1;
    }
    pattern
}

/// What T adds to its result besides what is linear behind the inversion: L of four times the constant of the S-box.
const CONSTANT: u32 = {
    let word = u32::from_ne_bytes([OUTPUT_CONSTANT; 4]);
    word ^ word.rotate_left(2) ^ word.rotate_left(10) ^ word.rotate_left(18) ^ word.rotate_left(24)
};

/// The same of the key schedule.
const CONSTANT_OF_KEYS: u32 = {
    let word = u32::from_ne_bytes([OUTPUT_CONSTANT; 4]);
    word ^ word.rotate_left(13) ^ word.rotate_left(23)
};

/// What word `number` lacks, from 0 on, where the constant of T is left out: every fourth is made of the one before, so
/// that it has its own to add, or both cancel. After all rounds no word lacks any.
const fn lacking(number: usize, constant: u32) -> u32 {
    if number / 4 % 2 == 1 { constant } else { 0 }
}

/// What is added to the input of each round for the words that lack something, and the constant in front of the
/// inversion.
const fn missing(constant: u32) -> [u32; ROUNDS] {
    let (mut sums, mut round) = ([0; ROUNDS], 0);
    while round < ROUNDS {
        sums[round] = u32::from_ne_bytes([OFFSET; 4]);
        let mut word = round + 1;
        while word <= round + 3 {
            sums[round] ^= lacking(word, constant);
            word += 1;
        }
        round += 1;
    }
    sums
}

/// What the key schedule adds to the input of each round.
static FIXED_LANES: [Lane; ROUNDS] = {
    let (sums, mut lanes, mut round) = (missing(CONSTANT_OF_KEYS), [[0; 16]; ROUNDS], 0);
    while round < ROUNDS {
        lanes[round] = constant(FIXED[round] ^ sums[round]);
        round += 1;
    }
    lanes
};

/// What it adds to the key of each round, in the order of use.
const fn ends(inverse: bool) -> [Lane; ROUNDS] {
    let (sums, mut lanes, mut round) = (missing(CONSTANT), [[0; 16]; ROUNDS], 0);
    while round < ROUNDS {
        let at = if inverse { ROUNDS - 1 - round } else { round };
        lanes[at] = constant(lacking(round + 4, CONSTANT_OF_KEYS) ^ sums[at]);
        round += 1;
    }
    lanes
}

static ENDS: [Lane; ROUNDS] = ends(false);
static ENDS_INVERSE: [Lane; ROUNDS] = ends(true);

/// A word that is no secret, in coordinates, four times.
const fn constant(word: u32) -> Lane {
    let (bytes, mut lane, mut i) = (word.to_be_bytes(), [0; 16], 0);
    while i < 16 {
        lane[i] = INPUT.apply(bytes[i % 4]);
        i += 1;
    }
    lane
}

/// SM4 of few blocks: its round keys, in coordinates, four times in a lane, and nothing for the round that there is not.
/// Wiped when dropped.
pub(crate) struct Sm4([Lane; ROUNDS + 1]);

impl Drop for Sm4 {
    fn drop(&mut self) {
        wipe_blocks(&mut self.0);
    }
}

impl PackedCipher for Sm4 {
    type Parts<R: Packed> = [R; 4];

    /// Section 7.3.
    #[inline(always)]
    #[allow(clippy::cast_possible_truncation)] // takes words apart
    fn new<R: Packed, const INVERSE: bool>(isa: R::Isa, key: &Key) -> Self {
        let mut words = [R::splat(isa, &[0; 16]); 4];
        for (i, word) in words.iter_mut().enumerate() {
            *word = entered(isa, (key.first >> (96 - 32 * i)) as u32 ^ SYSTEM[i]);
        }
        let (t, mut cipher) = (T::new(isa, &L_OF_KEYS), Self([[0; 16]; ROUNDS + 1]));
        for (round, fixed) in FIXED_LANES.iter().enumerate() {
            let [k0, k1, k2, k3] = words;
            let key = t.add_to(k0, k1.xor(k2).xor(R::splat(isa, fixed)).xor(k3));
            words = [k1, k2, k3, key];
            let (at, ends) = if INVERSE { (ROUNDS - 1 - round, &ENDS_INVERSE) } else { (round, &ENDS) };
            cipher.0[at] = key.xor(R::splat(isa, &ends[at])).to_lane();
        }
        cipher
    }

    #[inline(always)]
    fn enter<R: Packed>(isa: R::Isa, blocks: R) -> [R; 4] {
        let blocks = blocks.affine(R::splat(isa, &ENTER));
        [
            blocks.shuffle(R::splat(isa, const { &four_times(0) })),
            blocks.shuffle(R::splat(isa, const { &four_times(1) })),
            blocks.shuffle(R::splat(isa, const { &four_times(2) })),
            blocks.shuffle(R::splat(isa, const { &four_times(3) })),
        ]
    }

    #[inline(always)]
    fn leave<R: Packed>(isa: R::Isa, [a, b, c, d]: [R; 4]) -> R {
        let a = a.shuffle(R::splat(isa, const { &only(0) }));
        let b = b.shuffle(R::splat(isa, const { &only(1) }));
        let c = c.shuffle(R::splat(isa, const { &only(2) }));
        let d = d.shuffle(R::splat(isa, const { &only(3) }));
        a.xor(b).xor(c).xor(d).affine(R::splat(isa, &LEAVE))
    }

    #[inline(always)]
    fn add<R: Packed>([a, b, c, d]: [R; 4], [e, f, g, h]: [R; 4]) -> [R; 4] {
        [a.xor(e), b.xor(f), c.xor(g), d.xor(h)]
    }

    #[inline(always)]
    fn run<R: Packed, const G: usize>(&self, isa: R::Isa, mut parts: [[R; 4]; G]) -> [[R; 4]; G] {
        let t = T::new(isa, &L);
        let mut inputs = [R::splat(isa, &self.0[0]); G];
        for (input, [_, b, c, d]) in inputs.iter_mut().zip(parts) {
            *input = input.xor(b).xor(c).xor(d);
        }
        for keys in self.0[1..].as_chunks::<4>().0 {
            for (i, key) in keys.iter().enumerate() {
                let key = R::splat(isa, key);
                for (input, words) in inputs.iter_mut().zip(&mut parts) {
                    // What is in the next input beside the word that is made now: that need not wait for its sum.
                    let others = words[(i + 2) % 4].xor(words[(i + 3) % 4]).xor(key);
                    *input = t.add_to(words[i].xor(others).pin(), *input);
                    words[i] = input.xor(others);
                }
            }
        }
        // In the opposite order (section 7.1 b).
        for words in &mut parts {
            words.reverse();
        }
        parts
    }
}

/// T (section 6.2) or that of the key schedule, in registers.
struct T<R> {
    /// Behind the inversions.
    boxes: [R; 2],
    /// From each half of both: see [`ahead`].
    places: [R; 4],
}

impl<R: Packed> T<R> {
    #[inline(always)]
    fn new(isa: R::Isa, linear: &Linear) -> Self {
        let [first, second] = &linear.0;
        let places = [
            R::splat(isa, const { &ahead(0, 0) }).pin(),
            R::splat(isa, const { &ahead(1, 1) }).pin(),
            R::splat(isa, const { &ahead(0, 2) }).pin(),
            R::splat(isa, const { &ahead(1, 3) }).pin(),
        ];
        Self { boxes: [R::splat(isa, first), R::splat(isa, second)], places }
    }

    /// `to ^ T(input)` but for constants.
    #[inline(always)]
    fn add_to(&self, to: R, input: R) -> R {
        let [first, second] =
            [input.affine_of_inverse(self.boxes[0]), input.affine_of_inverse(self.boxes[1])];
        let to = to.xor(first.shuffle(self.places[0])).xor(first.shuffle(self.places[1])).pin();
        to.xor(second.shuffle(self.places[2])).xor(second.shuffle(self.places[3])).pin()
    }
}

/// A word in coordinates, four times.
#[inline(always)]
fn entered<R: Packed>(isa: R::Isa, word: u32) -> R {
    let [a, b, c, d] = word.to_be_bytes();
    R::splat(isa, &[a, b, c, d, a, b, c, d, a, b, c, d, a, b, c, d]).affine(R::splat(isa, &ENTER))
}
