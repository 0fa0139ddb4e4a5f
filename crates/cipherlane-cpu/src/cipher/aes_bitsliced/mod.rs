//! AES in constant time without AES instructions: bitsliced, and "fixsliced".
//!
//! Eight blocks are encrypted together, in slices of one bit of each of their bytes (M. Matsui and J. Nakajima,
//! 2007; E. Käsper and P. Schwabe, 2009). No table is indexed and no branch taken by a secret.
//!
//! ShiftRows is never performed: bytes stay where they are, and what follows looks for them there (A. Adomnicai and
//! T. Peyrin, "Fixslicing AES-like Ciphers", 2020). After n ShiftRows the byte of row r, column c still lies in
//! column c + n * r, so the byte below it, which MixColumns wants, lies one row down and n columns on, in every row.
//! Round keys are arranged likewise. Four ShiftRows are none, which leaves two to be performed after 10 or 14 rounds.

mod keys;
pub(super) mod sbox;

pub(super) use keys::{MAX_KEYS, expand};
use keys::{RoundKeys, Schedule};
use sbox::{inverse_sub_bytes, sub_bytes};

use super::slices::{Native, Slice, Wire, transpose_bytes};
use super::{CALLS, KeyEach, Meanwhile, Permutation, SMALL};
use crate::lanes::portable::{Portable, X1};

/// Blocks sliced together: as many as a byte has bits.
pub(crate) const GROUP: usize = 8;

/// Bits 0 to 7 of every byte of eight blocks: bit b of byte p of a slice belongs to byte p of block b.
type State<S> = [Wire<S>; GROUP];

/// `a ^ b`; with a round key, AddRoundKey (section 5.1.4).
#[inline(always)]
fn add<S: Slice>(mut a: State<S>, b: State<S>) -> State<S> {
    for (a, b) in a.iter_mut().zip(b) {
        *a = *a ^ b;
    }
    a
}

/// Every byte times x modulo x^8 + x^4 + x^3 + x + 1 (FIPS 197 section 4.2).
#[inline(always)]
fn times_x<S: Slice>([a0, a1, a2, a3, a4, a5, a6, a7]: State<S>) -> State<S> {
    [a7, a0 ^ a7, a1, a2 ^ a7, a3 ^ a7, a4, a5, a6]
}

/// For each byte the one `rows` below it in its column, in a state that lacks `shifts` (modulo 4) ShiftRows.
#[inline(always)]
fn below<S: Slice>(mut state: State<S>, rows: usize, shifts: usize) -> State<S> {
    for bits in &mut state {
        *bits = Wire(bits.0.turn(rows, rows * shifts % 4));
    }
    state
}

/// MixColumns (section 5.1.3) of a state that lacks `shifts` (modulo 4) ShiftRows: byte a with b, c, d below it
/// becomes x(a + b) + b + c + d.
#[inline(always)]
fn mix_columns<S: Slice>(state: State<S>, shifts: usize) -> State<S> {
    let next = below(state, 1, shifts);
    let pairs = add(state, next);
    add(add(times_x(pairs), next), below(pairs, 2, shifts))
}

/// InvMixColumns (section 5.3.3): its polynomial is that of MixColumns times x^2 (z^2 + 1) + 1.
#[inline(always)]
fn inverse_mix_columns<S: Slice>(state: State<S>, shifts: usize) -> State<S> {
    let opposite = add(state, below(state, 2, shifts));
    mix_columns(add(state, times_x(times_x(opposite))), shifts)
}

/// Two ShiftRows, or two InvShiftRows: rows 1 and 3 by two columns.
#[inline(always)]
fn shift_rows_twice<S: Slice>(mut state: State<S>) -> State<S> {
    let odd_rows = Wire(S::load(X1([0xff00_ff00_ff00_ff00; 2])));
    for bits in &mut state {
        *bits = *bits ^ ((*bits ^ Wire(bits.0.turn(0, 2))) & odd_rows);
    }
    state
}

/// [`mix_columns`] with constants for turns, so that they are compiled to single instructions.
#[inline(always)]
fn mix_columns_in_phase<S: Slice>(state: State<S>, shifts: usize) -> State<S> {
    match shifts % 4 {
        0 => mix_columns(state, 0),
        1 => mix_columns(state, 1),
        2 => mix_columns(state, 2),
        _ => mix_columns(state, 3),
    }
}

/// [`inverse_mix_columns`] with constants for turns.
#[inline(always)]
fn inverse_mix_columns_in_phase<S: Slice>(state: State<S>, shifts: usize) -> State<S> {
    match shifts % 4 {
        0 => inverse_mix_columns(state, 0),
        1 => inverse_mix_columns(state, 1),
        2 => inverse_mix_columns(state, 2),
        _ => inverse_mix_columns(state, 3),
    }
}

/// CIPHER (section 5.1, algorithm 1) of sliced blocks.
#[inline(always)]
fn encrypt<S: Slice>(keys: &impl Schedule, state: State<S>) -> State<S> {
    let mut state = add(state, keys.round(0));
    for n in 1..keys.rounds() {
        state = mix_columns_in_phase(sub_bytes(state), n);
        state = add(state, keys.round(n));
    }
    let state = add(sub_bytes(state), keys.round(keys.rounds()));
    if keys.rounds() % 4 == 2 { shift_rows_twice(state) } else { state }
}

/// INVCIPHER (section 5.3, algorithm 3) of sliced blocks: the steps of [`encrypt`] backwards, under the same keys.
#[inline(always)]
fn decrypt<S: Slice>(keys: &impl Schedule, state: State<S>) -> State<S> {
    let state = if keys.rounds() % 4 == 2 { shift_rows_twice(state) } else { state };
    let mut state = inverse_sub_bytes(add(state, keys.round(keys.rounds())));
    for n in (1..keys.rounds()).rev() {
        state = add(state, keys.round(n));
        state = inverse_sub_bytes(inverse_mix_columns_in_phase(state, n));
    }
    add(state, keys.round(0))
}

/// Applies the cipher in one direction to eight blocks in place.
#[inline(always)]
fn apply_group<S: Slice, const INVERSE: bool>(keys: &impl Schedule, blocks: &mut [X1; GROUP]) {
    let mut state = [Wire(S::load(X1([0; 2]))); GROUP];
    for (bits, block) in state.iter_mut().zip(&*blocks) {
        *bits = Wire(S::load(*block));
    }
    transpose_bytes(&mut state);
    let mut state = if INVERSE { decrypt(keys, state) } else { encrypt(keys, state) };
    transpose_bytes(&mut state);
    for (bits, block) in state.into_iter().zip(blocks) {
        *block = bits.0.store();
    }
}

/// AES under a key of any length; INVERSE decrypts.
pub(crate) struct Aes<const INVERSE: bool> {
    keys: RoundKeys,
}

/// AES encryption.
pub(crate) type AesEncrypt = Aes<false>;

/// AES decryption.
pub(crate) type AesDecrypt = Aes<true>;

// Both compiled once and not into every mode: a thousand instructions each.
impl<const INVERSE: bool> Aes<INVERSE> {
    #[inline(never)]
    fn apply_shared(&self, blocks: &mut [X1; GROUP]) {
        apply_group::<Native, INVERSE>(&self.keys, blocks);
    }

    #[inline(never)]
    fn apply_own(keys: [&RoundKeys; GROUP], blocks: &mut [X1; GROUP]) {
        apply_group::<Native, INVERSE>(&keys, blocks);
    }
}

/// Runs `apply` on groups of eight blocks, the last one filled up.
#[inline(always)]
fn in_groups(blocks: &mut [X1], mut apply: impl FnMut(&mut [X1; GROUP])) {
    for some in blocks.chunks_mut(GROUP) {
        let mut group = [X1([0; 2]); GROUP];
        group[..some.len()].copy_from_slice(some);
        apply(&mut group);
        some.copy_from_slice(&group[..some.len()]);
    }
}

impl<const INVERSE: bool> Permutation for Aes<INVERSE> {
    type Isa = Portable;
    type Source = Portable;
    const WHOLE_GROUPS: bool = true;

    fn new(_: Portable, key: &[u8]) -> Self {
        Self { keys: RoundKeys::new(key) }
    }

    fn rekey(&mut self, key: &[u8]) {
        *self = Self::new(Portable, key);
    }

    #[inline(always)]
    fn isa(&self) -> Portable {
        Portable
    }

    /// Best with N a multiple of eight. The rounds leave no port idle, so `meanwhile` does its work before them.
    #[inline(always)]
    fn apply_while<const N: usize>(&self, mut blocks: [X1; N], meanwhile: &mut impl Meanwhile) -> [X1; N] {
        for call in 0..CALLS {
            meanwhile.step(call);
        }
        in_groups(&mut blocks, |group| self.apply_shared(group));
        blocks
    }
}

impl<const INVERSE: bool> KeyEach for Aes<INVERSE> {
    type Keys = Vec<Self>;

    /// Half a group: keys are expanded one by one.
    fn most_blocks(_: Portable) -> usize {
        GROUP / 2
    }

    fn no_keys(_: Portable) -> Vec<Self> {
        Vec::with_capacity(SMALL)
    }

    fn expand_keys(ciphers: &mut Vec<Self>, each: &[&[u8]]) {
        ciphers.clear();
        ciphers.extend(each.iter().map(|key| Self::new(Portable, key)));
    }

    fn apply_keys(ciphers: &Vec<Self>, blocks: &mut [X1; SMALL]) {
        for (ciphers, group) in ciphers.as_chunks::<GROUP>().0.iter().zip(blocks.as_chunks_mut().0) {
            Self::apply_own(std::array::from_fn(|i| &ciphers[i].keys), group);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cipher::slices::plain::Plain;

    fn check<S: Slice>(key_bytes: usize) {
        let key: [u8; 32] = std::array::from_fn(|i| u8::try_from(7 * i).unwrap());
        let keys = RoundKeys::new(&key[..key_bytes]);
        let plain: [X1; GROUP] = std::array::from_fn(|i| X1([0x0123_4567_89ab_cdef << i, !(i as u64)]));
        let (mut native, mut sliced) = (plain, plain);
        apply_group::<Native, false>(&keys, &mut native);
        apply_group::<S, false>(&keys, &mut sliced);
        assert_eq!(sliced, native);
        apply_group::<S, true>(&keys, &mut sliced);
        assert_eq!(sliced, plain);
    }

    /// The kind of slice that this target does not use agrees with the one that it does, which other tests compare
    /// with the reference.
    #[test]
    fn plain_slices_agree_with_those_in_use() {
        check::<Plain>(16);
        check::<Plain>(24);
        check::<Plain>(32);
    }
}
