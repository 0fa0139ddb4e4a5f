//! The rounds of SC2000 over slices.

use super::layers::{Layers, RoundKeys};
use crate::cipher::byte_sliced::GROUP;
use crate::cipher::sc2000::tables::turned_masks;
use crate::lanes::bytes::{Bytes, IsaOf};

/// Half a block: two words.
const HALF: usize = GROUP / 2;

/// All rounds of a group of sliced blocks; INVERSE decrypts, with the round keys in the order of their use.
///
/// Each round of I, B, I, R, swap, R leaves the words it began with as c and d in the place of a and b and the other
/// way round: B puts its output where that is right again. R adds to two words, and the I function that follows adds
/// to the same: both in one step.
#[inline(always)]
pub(super) fn crypt<L: Layers, K: RoundKeys<L>, const INVERSE: bool>(
    isa: IsaOf<L::Bytes>,
    keys: &K,
    state: &mut [L::Bytes; GROUP],
) {
    let rounds = keys.rounds();
    add(keys, keys.four(0), state, 0..GROUP, 0);
    for round in 0..rounds {
        let order = if INVERSE { rounds - 1 - round } else { round };
        let masks = masks::<L>(isa, order % 2);
        let (after, next) = (keys.four(2 * round + 1), keys.four(2 * round + 2));
        substitute::<L, INVERSE>(state);
        for i in 0..HALF {
            (state[i], state[HALF + i]) = (state[HALF + i], state[i]);
        }
        add(keys, after, state, 0..HALF, HALF);
        r_and_add::<L, K, 0, HALF>(keys, after, masks, state);
        r_and_add::<L, K, HALF, 0>(keys, next, masks, state);
        add(keys, next, state, HALF..GROUP, 0);
    }
    substitute::<L, INVERSE>(state);
    add(keys, keys.four(2 * rounds + 1), state, 0..GROUP, 0);
}

/// The I function on the bytes `range` of the state, from key byte `range.start + offset` on.
#[inline(always)]
fn add<L: Layers, K: RoundKeys<L>>(
    keys: &K,
    four: K::Four,
    state: &mut [L::Bytes; GROUP],
    range: std::ops::Range<usize>,
    offset: usize,
) {
    for i in range {
        state[i] = state[i].xor(keys.byte(four, i + offset));
    }
}

/// The B function.
#[inline(always)]
fn substitute<L: Layers, const INVERSE: bool>(state: &mut [L::Bytes; GROUP]) {
    for k in 0..4 {
        let words = [state[k], state[4 + k], state[8 + k], state[12 + k]];
        [state[k], state[4 + k], state[8 + k], state[12 + k]] = L::substitute::<INVERSE>(words);
    }
}

/// The mask of one parity of rounds, for each byte of a word.
#[inline(always)]
fn masks<L: Layers>(isa: IsaOf<L::Bytes>, parity: usize) -> [[L::Bytes; 4]; 2] {
    let halves = const { turned_masks(L::TURNS) };
    let mut masks = [[L::Bytes::splat_half(isa, 0); 4]; 2];
    for k in 0..4 {
        masks[0][k] = L::Bytes::splat_half(isa, halves[parity][k]);
        masks[1][k] = L::Bytes::splat_half(isa, !halves[parity][k]);
    }
    masks
}

/// The R function with c and d from slice FROM on and a and b from slice TO on, to which the first two words of
/// `four` are added, too.
#[inline(always)]
fn r_and_add<L: Layers, K: RoundKeys<L>, const FROM: usize, const TO: usize>(
    keys: &K,
    four: K::Four,
    [mask, complement]: [[L::Bytes; 4]; 2],
    state: &mut [L::Bytes; GROUP],
) {
    let u = L::ms([state[FROM], state[FROM + 1], state[FROM + 2], state[FROM + 3]]);
    let v = L::ms([state[FROM + 4], state[FROM + 5], state[FROM + 6], state[FROM + 7]]);
    for k in 0..4 {
        let s = v[k].xor(u[k].and(mask[k]));
        let t = u[k].xor(v[k].and(complement[k]));
        state[TO + k] = state[TO + k].xor3(s, keys.byte(four, k));
        state[TO + 4 + k] = state[TO + 4 + k].xor3(t, keys.byte(four, 4 + k));
    }
}
