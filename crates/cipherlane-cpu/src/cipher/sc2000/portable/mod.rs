//! SC2000 without instructions beyond the target's baseline: bitsliced, and word by word where there are few blocks.
//!
//! 64 blocks are encrypted together. A slice has a bit of two words of each: of a and b, or of c and d, whose S and M
//! functions are then one.

mod mix;
mod words;

use cipherlane_core::BLOCK;
use zeroize::Zeroize;

use self::mix::mix;
use self::words::{excess, intermediate};
use super::circuits::{five, six, substitute, substitute_inversely};
use super::tables::{MASKS, picked};
use crate::cipher::SMALL;
use crate::cipher::grouped::{GroupKeys, InGroups, filled_up, rekey_one_by_one};
use crate::cipher::slices::{Native, Slice, Wire, transpose_halves};
use crate::lanes::portable::{Portable, X1};
use crate::lanes::{Isa, Lanes};

/// Blocks sliced together: a bit of as many in each half of a slice.
const GROUP: usize = 64;

/// Most groups of four round keys: 7.5 rounds have two for each round, and two more.
const MAX_FOURS: usize = 16;

/// Up to so many blocks are encrypted one by one: that takes less time than a group, which always takes the same.
const FEW: usize = 4;

/// 32 bits of two words of each block, from the lowest.
type Words<S> = [Wire<S>; 32];

/// A group: words a and b, and words c and d.
type State<S> = [Words<S>; 2];

/// Where a group takes its round keys from.
trait RoundKeys<S: Slice> {
    /// The words of one I function.
    type Four: Copy;

    /// Groups of four round keys.
    fn fours(&self) -> usize;

    /// Four round keys.
    fn four(&self, index: usize) -> Self::Four;

    /// Bit `bit` of the first two of them (`half` 0) or of the others.
    fn slice(four: &Self::Four, half: usize, bit: usize) -> Wire<S>;
}

/// The same for all blocks.
impl<S: Slice> RoundKeys<S> for &[[u32; 4]] {
    type Four = [S; 2];

    #[inline(always)]
    fn fours(&self) -> usize {
        self.len()
    }

    #[inline(always)]
    fn four(&self, index: usize) -> [S; 2] {
        let [a, b, c, d] = self[index];
        [S::spread([a, b]), S::spread([c, d])]
    }

    #[inline(always)]
    fn slice(four: &[S; 2], half: usize, bit: usize) -> Wire<S> {
        Wire(four[half].bit(bit))
    }
}

/// Those of a block each.
impl<S: Slice> RoundKeys<S> for [&[[u32; 4]]; GROUP] {
    type Four = State<S>;

    #[inline(always)]
    fn fours(&self) -> usize {
        self[0].len()
    }

    #[inline(always)]
    fn four(&self, index: usize) -> State<S> {
        let mut blocks = [X1([0; 2]); GROUP];
        for (block, fours) in blocks.iter_mut().zip(self) {
            let [a, b, c, d] = fours[index].map(|word| u64::from(word.swap_bytes()));
            *block = X1([a | b << 32, c | d << 32]);
        }
        load(&blocks)
    }

    #[inline(always)]
    fn slice(four: &State<S>, half: usize, bit: usize) -> Wire<S> {
        four[half][bit]
    }
}

/// The register, once transposed, of bit `bit` of the first word of a half of a block: words are big-endian. That of
/// the second word is 32 further on.
const fn register(bit: usize) -> usize {
    bit ^ 24
}

/// Blocks as slices of words a and b, and of words c and d.
#[inline(always)]
fn load<S: Slice>(blocks: &[X1; GROUP]) -> State<S> {
    let mut registers = [Wire(S::load(X1([0; 2]))); GROUP];
    for (register, block) in registers.iter_mut().zip(blocks) {
        *register = Wire(S::load(*block));
    }
    transpose_halves(&mut registers);
    let mut words = [[registers[0]; 32]; 2];
    for bit in 0..32 {
        let (first, second) = (registers[register(bit)].0, registers[32 + register(bit)].0);
        words[0][bit] = Wire(first.low_halves(second));
        words[1][bit] = Wire(first.high_halves(second));
    }
    words
}

/// The inverse of [`load`].
#[inline(always)]
fn store<S: Slice>(ab: &Words<S>, cd: &Words<S>, blocks: &mut [X1; GROUP]) {
    let mut registers = [ab[0]; GROUP];
    for bit in 0..32 {
        let (first, second) = (ab[bit].0, cd[bit].0);
        registers[register(bit)] = Wire(first.low_halves(second));
        registers[32 + register(bit)] = Wire(first.high_halves(second));
    }
    transpose_halves(&mut registers);
    for (register, block) in registers.into_iter().zip(blocks) {
        *block = register.0.store();
    }
}

/// The I, B and I functions, two bits of every word at a time, with round keys from group `index` on.
#[inline(never)] // seven or eight times in a loop
fn i_b_i<S: Slice, K: RoundKeys<S>, const INVERSE: bool>(
    keys: &K,
    index: usize,
    first: &mut Words<S>,
    second: &mut Words<S>,
) {
    let (before, after) = (keys.four(index), keys.four(index + 1));
    let pairs = first.as_chunks_mut::<2>().0.iter_mut().zip(second.as_chunks_mut::<2>().0);
    for (pair, (ab, cd)) in pairs.enumerate() {
        for i in 0..2 {
            ab[i] = ab[i] ^ K::slice(&before, 0, 2 * pair + i);
            cd[i] = cd[i] ^ K::slice(&before, 1, 2 * pair + i);
        }
        let (a, b) = (ab[0].0.low_halves(ab[1].0), ab[0].0.high_halves(ab[1].0));
        let (c, d) = (cd[0].0.low_halves(cd[1].0), cd[0].0.high_halves(cd[1].0));
        let wires = [Wire(a), Wire(b), Wire(c), Wire(d)];
        let [a, b, c, d] = if INVERSE { substitute_inversely(wires) } else { substitute(wires) };
        *ab = [Wire(a.0.low_halves(b.0)), Wire(a.0.high_halves(b.0))];
        *cd = [Wire(c.0.low_halves(d.0)), Wire(c.0.high_halves(d.0))];
        for i in 0..2 {
            ab[i] = ab[i] ^ K::slice(&after, 0, 2 * pair + i);
            cd[i] = cd[i] ^ K::slice(&after, 1, 2 * pair + i);
        }
    }
}

/// For each bit of a word the half of a slice whose S and M go to both words: the first where the mask of the rounds
/// has the bit, else the second.
static HALVES: [[X1; 32]; 2] = {
    let (mut halves, mut i) = ([[X1([0; 2]); 32]; 2], 0);
    while i < 64 {
        let masked = MASKS[i / 32] >> (i % 8) & 1 == 1;
        halves[i / 32][i % 32] = X1(if masked { [u64::MAX, 0] } else { [0, u64::MAX] });
        i += 1;
    }
    halves
};

/// The R function, but for [`excess`], with words c and d in `from` and a and b in `to`.
#[inline(never)] // twelve times in a loop; 500 instructions
fn r<S: Slice>(from: &Words<S>, to: &mut Words<S>, parity: usize) {
    let mut wires = *from;
    for field in [0, 26] {
        let fields = [
            from[field],
            from[field + 1],
            from[field + 2],
            from[field + 3],
            from[field + 4],
            from[field + 5],
        ];
        wires[field..field + 6].copy_from_slice(&six(fields));
    }
    for field in [6, 11, 16, 21] {
        let fields = [from[field], from[field + 1], from[field + 2], from[field + 3], from[field + 4]];
        wires[field..field + 5].copy_from_slice(&five(fields));
    }
    let mixed = mix(wires);
    for ((slice, mixed), half) in to.iter_mut().zip(mixed).zip(&HALVES[parity]) {
        *slice = *slice ^ Wire(mixed.0.swap_halves()) ^ (mixed & Wire(S::load(*half)));
    }
}

/// All rounds of a group of blocks; INVERSE decrypts, with the round keys in the order of their use.
#[inline(always)]
fn crypt<S: Slice, const INVERSE: bool>(keys: &impl RoundKeys<S>, blocks: &mut [X1; GROUP]) {
    let rounds = keys.fours() / 2 - 1;
    let [mut ab, mut cd] = load::<S>(blocks);
    let (mut first, mut second) = (&mut ab, &mut cd);
    for round in 0..rounds {
        let order = if INVERSE { rounds - 1 - round } else { round };
        i_b_i::<S, _, INVERSE>(keys, 2 * round, first, second);
        r(second, first, order % 2);
        r(first, second, order % 2);
        // Words c and d become a and b.
        (first, second) = (second, first);
    }
    i_b_i::<S, _, INVERSE>(keys, 2 * rounds, first, second);
    store(first, second, blocks);
}

/// SC2000 under a key of any length; INVERSE decrypts.
pub(crate) struct Sc2000<const INVERSE: bool> {
    /// The round keys in the order of use, and what makes up for [`excess`].
    fours: [[u32; 4]; MAX_FOURS],
    /// How many there are: 14 for 6.5 rounds, 16 for 7.5.
    count: usize,
}

/// SC2000 encryption.
pub(crate) type Sc2000Encrypt = Sc2000<false>;

/// SC2000 decryption.
pub(crate) type Sc2000Decrypt = Sc2000<true>;

impl<const INVERSE: bool> Sc2000<INVERSE> {
    fn fours(&self) -> &[[u32; 4]] {
        &self.fours[..self.count]
    }

    fn apply_shared(&self, blocks: &mut [X1; GROUP]) {
        crypt::<Native, INVERSE>(&self.fours(), blocks);
    }

    fn apply_own(keys: [&[[u32; 4]]; GROUP], blocks: &mut [X1; GROUP]) {
        crypt::<Native, INVERSE>(&keys, blocks);
    }

    fn apply_one(&self, block: X1) -> X1 {
        let [block, ..] = block.to_blocks();
        Portable.splat(&words::crypt::<INVERSE>(self.fours(), block))
    }
}

impl<const INVERSE: bool> InGroups for Sc2000<INVERSE> {
    type Isa = Portable;
    type GroupKeys = EachKey<INVERSE>;

    fn new(_: Portable, key: &[u8]) -> Self {
        let mut user = user_words(key);
        let mut intermediate = intermediate(&user);
        let count = if key.len() == BLOCK { MAX_FOURS - 2 } else { MAX_FOURS };
        let mut fours = [[0; 4]; MAX_FOURS];
        for (n, word) in fours[..count].as_flattened_mut().iter_mut().enumerate() {
            *word = extended_key(&intermediate, n);
        }
        if INVERSE {
            fours[..count].reverse();
        }
        for round in 0..count / 2 - 1 {
            let order = if INVERSE { count / 2 - 2 - round } else { round };
            for four in &mut fours[2 * round + 1..2 * round + 3] {
                for (word, excess) in four.iter_mut().zip(excess(order % 2)) {
                    *word ^= excess;
                }
            }
        }
        user.zeroize();
        intermediate.zeroize();
        Self { fours, count }
    }

    fn rekey(&mut self, key: &[u8]) {
        *self = Self::new(Portable, key);
    }

    fn apply(&self, blocks: &mut [X1]) {
        let (groups, rest) = blocks.as_chunks_mut();
        for group in groups {
            self.apply_shared(group);
        }
        if rest.len() > FEW {
            filled_up(rest, |group| self.apply_shared(group));
        } else {
            for block in rest {
                *block = self.apply_one(*block);
            }
        }
    }
}

/// SC2000 under a key for each block.
pub(crate) struct EachKey<const INVERSE: bool>(Vec<Sc2000<INVERSE>>);

impl<const INVERSE: bool> GroupKeys for EachKey<INVERSE> {
    type Isa = Portable;
    /// Blocks with a key each leave three quarters of a group empty.
    const MOST_BLOCKS: usize = 1;

    fn new(_: Portable) -> Self {
        Self(Vec::with_capacity(SMALL))
    }

    fn rekey(&mut self, keys: &[&[u8]]) {
        rekey_one_by_one(&mut self.0, keys);
    }

    fn apply(&self, blocks: &mut [X1; SMALL]) {
        // Blocks that fill up the group are run under the last key, and dropped.
        let keys = std::array::from_fn(|i| self.0[i.min(SMALL - 1)].fours());
        filled_up(blocks, |group| Sc2000::<INVERSE>::apply_own(keys, group));
    }
}

impl<const INVERSE: bool> Drop for Sc2000<INVERSE> {
    fn drop(&mut self) {
        self.fours.zeroize();
    }
}

/// The eight words of a user key: a shorter one starts again.
fn user_words(key: &[u8]) -> [u32; 8] {
    let mut words = [0; 8];
    for (word, bytes) in words.iter_mut().zip(key.as_chunks::<4>().0.iter().cycle()) {
        *word = u32::from_be_bytes(*bytes);
    }
    words
}

/// Extended key number `n`.
fn extended_key(intermediate: &[[u32; 3]; 4], n: usize) -> u32 {
    let [x, y, z, w] = picked(n).map(|(branch, index)| intermediate[branch][index]);
    x.rotate_left(1).wrapping_add(y) ^ z.rotate_left(1).wrapping_sub(w).rotate_left(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cipher::slices::plain::Plain;

    fn check<S: Slice>(key_bytes: usize) {
        let key: [u8; 32] = std::array::from_fn(|i| u8::try_from(7 * i).unwrap());
        let cipher = Sc2000Encrypt::new(Portable, &key[..key_bytes]);
        let plain: [X1; GROUP] = std::array::from_fn(|i| X1([0x0123_4567_89ab_cdef << i, !(i as u64)]));
        let (mut native, mut sliced) = (plain, plain);
        crypt::<Native, false>(&cipher.fours(), &mut native);
        crypt::<S, false>(&cipher.fours(), &mut sliced);
        assert_eq!(sliced, native);
        let few: [X1; GROUP] = plain.map(|block| cipher.apply_one(block));
        assert_eq!(few, native);
        let inverse = Sc2000Decrypt::new(Portable, &key[..key_bytes]);
        crypt::<S, true>(&inverse.fours(), &mut sliced);
        assert_eq!(sliced, plain);
        assert_eq!(native.map(|block| inverse.apply_one(block)), plain);
    }

    /// The kind of slice that this target does not use agrees with the one that it does, and with words: other tests
    /// compare with the reference.
    #[test]
    fn plain_slices_and_words_agree_with_the_slices_in_use() {
        check::<Plain>(16);
        check::<Plain>(24);
        check::<Plain>(32);
    }
}
