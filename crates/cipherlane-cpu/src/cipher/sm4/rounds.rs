//! The rounds of SM4 over slices (GB/T 32907 sections 6 and 7).
//!
//! L(b) = b ^ (b <<< 2) ^ (b <<< 10) ^ (b <<< 18) ^ (b <<< 24) moves bits by whole bytes, which is only a matter of
//! indices here, and by 2 within the word. With p = b ^ (b << 2) and r = b ^ (b >> 6) of each byte, whose sum p ^ r is
//! b rotated by 2, byte i of L(b) is the sum of r of byte i, p of byte i + 3, and p and r of all four bytes.

use super::boxes::{Boxes, Word};
use crate::cipher::byte_sliced::{GROUP, Parked};
use crate::lanes::bytes::{Bytes, IsaOf};
use crate::lanes::{Isa, Lanes};

/// Rounds whose keys make a block.
pub(super) const ROUNDS_OF_BLOCK: usize = 4;

/// Blocks of round keys.
pub(super) const BLOCKS: usize = 32 / ROUNDS_OF_BLOCK;

/// Where the rounds take their keys from.
pub(super) trait RoundKeys<X: Boxes> {
    /// The keys of rounds 4 `index` to 4 `index` + 3, offset and entered.
    fn block(&self, index: usize) -> [Word<X::Bytes>; ROUNDS_OF_BLOCK];
}

/// G groups of slices.
type Groups<X, const G: usize> = [[<X as Boxes>::Bytes; GROUP]; G];

/// All rounds of G groups side by side, one or two. What is done to a second group is written out: compilers do not
/// unroll a loop as long as a round, and registers that a loop indexes stay in memory.
#[inline(always)]
pub(super) fn crypt<X: Boxes, const G: usize>(
    keys: &impl RoundKeys<X>,
    mut blocks: Groups<X, G>,
) -> Groups<X, G> {
    let mut last = [[blocks[0][0]; 4]; G];
    enter::<X, G>(0, &mut blocks, &mut last);
    if G > 1 {
        enter::<X, G>(1, &mut blocks, &mut last);
    }
    let mut words = Parked::new(blocks);
    for index in 0..BLOCKS {
        let [k0, k1, k2, k3] = keys.block(index);
        two_rounds::<X, G>(&mut words, &mut last, [0, 4, 8], [k0, k1]);
        two_rounds::<X, G>(&mut words, &mut last, [8, 12, 0], [k2, k3]);
    }
    leave::<X, G>(0, &words, &mut blocks);
    if G > 1 {
        leave::<X, G>(1, &words, &mut blocks);
    }
    blocks
}

#[inline(always)]
fn enter<X: Boxes, const G: usize>(g: usize, blocks: &mut Groups<X, G>, last: &mut [Word<X::Bytes>; G]) {
    for byte in &mut blocks[g] {
        *byte = X::enter(*byte);
    }
    let [.., a, b, c, d] = blocks[g];
    last[g] = [a, b, c, d];
}

/// In the opposite order (section 7.1 b).
#[inline(always)]
fn leave<X: Boxes, const G: usize>(g: usize, words: &Parked<X::Bytes, G>, blocks: &mut Groups<X, G>) {
    blocks[g] = of_words([words.get(g, 12), words.get(g, 8), words.get(g, 4), words.get(g, 0)]);
    for byte in &mut blocks[g] {
        *byte = X::leave(*byte);
    }
}

/// Two rounds, whose inputs have two words in common: replaces the words from slices `first` and `second` on. The one
/// from `third` comes after them, and `last` after that.
#[inline(always)]
fn two_rounds<X: Boxes, const G: usize>(
    words: &mut Parked<X::Bytes, G>,
    last: &mut [Word<X::Bytes>; G],
    [first, second, third]: [usize; 3],
    [k0, k1]: [Word<X::Bytes>; 2],
) {
    let (mut both, mut input) = (*last, *last);
    for g in 0..G {
        both[g] = add(last[g], words.get(g, third));
        input[g] = add3(both[g], words.get(g, second), k0);
    }
    round::<X, G>(words, last, first, input);
    for g in 0..G {
        input[g] = add3(both[g], last[g], k1);
    }
    round::<X, G>(words, last, second, input);
}

/// Adds T(input) (section 6.2) to the word of each group from slice `to` on, and makes it the last.
#[inline(always)]
fn round<X: Boxes, const G: usize>(
    words: &mut Parked<X::Bytes, G>,
    last: &mut [Word<X::Bytes>; G],
    to: usize,
    input: [Word<X::Bytes>; G],
) {
    if G == 2 && X::TOGETHER {
        let [first, second] = X::two_halves_of_l([input[0], input[1]]);
        last[0] = add_l(words.get(0, to), first);
        last[1] = add_l(words.get(1, to), second);
    } else {
        for (g, (word, input)) in last.iter_mut().zip(input).enumerate() {
            *word = add_l(words.get(g, to), X::halves_of_l(input));
        }
    }
    for (g, &word) in last.iter().enumerate() {
        words.park(g, to, word);
    }
}

/// `to ^ L(b)`, of `p` and `r` of b. With the sums r of byte i and p of byte i + 3, byte i takes one of them as itself
/// and as a part of all four: so it takes the other three.
#[inline(always)]
fn add_l<B: Bytes>(to: Word<B>, [p, r]: [Word<B>; 2]) -> Word<B> {
    let [a, b, c, d] = [r[0].xor(p[3]), r[1].xor(p[0]), r[2].xor(p[1]), r[3].xor(p[2])];
    let (ab, cd) = (a.xor(b), c.xor(d));
    [to[0].xor3(b, cd), to[1].xor3(a, cd), to[2].xor3(d, ab), to[3].xor3(c, ab)]
}

/// The S-box of each byte of a word.
#[inline(always)]
#[allow(clippy::cast_possible_truncation)] // takes the word out of its lane
pub(super) fn sub_word<X: Boxes>(isa: IsaOf<X::Bytes>, word: u32) -> u32 {
    let lane = isa.splat_word(u128::from(word ^ offset::<X>()));
    let input = X::enter(X::Bytes::from_lanes(lane));
    let [[p, ..], [r, ..]] = X::halves_of_l([input; 4]);
    // Every byte rotated by 2 towards its high bit.
    let rotated = X::leave(p.xor(r)).to_lanes().to_words()[0] as u32;
    (rotated >> 2 & 0x3f3f_3f3f) | (rotated << 6 & 0xc0c0_c0c0)
}

/// What [`Boxes::OFFSET`] makes of a round key.
pub(super) const fn offset<X: Boxes>() -> u32 {
    u32::from_ne_bytes([X::OFFSET; 4])
}

#[inline(always)]
pub(super) fn add<B: Bytes>(mut a: Word<B>, b: Word<B>) -> Word<B> {
    for i in 0..4 {
        a[i] = a[i].xor(b[i]);
    }
    a
}

#[inline(always)]
fn add3<B: Bytes>(mut a: Word<B>, b: Word<B>, c: Word<B>) -> Word<B> {
    for i in 0..4 {
        a[i] = a[i].xor3(b[i], c[i]);
    }
    a
}

/// The words of a block.
#[inline(always)]
pub(super) fn words<B: Copy>([a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p]: [B; GROUP]) -> [Word<B>; 4] {
    [[a, b, c, d], [e, f, g, h], [i, j, k, l], [m, n, o, p]]
}

#[inline(always)]
fn of_words<B: Copy>([[a, b, c, d], [e, f, g, h], [i, j, k, l], [m, n, o, p]]: [Word<B>; 4]) -> [B; GROUP] {
    [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p]
}
