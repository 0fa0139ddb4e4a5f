//! SC2000 with tables, as on GPUs and in most software: for the laboratory alone, which compares layouts of tables.
//!
//! Not constant-time: see [`super::table_vartime`].
//!
//! A table has the S and M functions of a piece of a word: one or two neighbouring fields. The layouts are those of
//! "Throughput and Power Efficiency Evaluation of Block Ciphers on Kepler and GCN GPUs" (Nishikawa et al., 2014), and
//! the one with a table for each S-box.

use std::marker::PhantomData;

use cipherlane_core::BLOCK;
use zeroize::Zeroize;

use super::sc2000::circuits::{substitute, substitute_inversely};
use super::sc2000::tables::{FIELDS, MASKS, SHIFTS, m_function, picked, substituted};
use super::table_vartime::{OneByOne, TableCipher, block_of, words_of};

/// How words are cut into pieces.
pub(crate) trait Layout: Send + Sync + 'static {
    /// The S function, then the M function. Reads addresses that depend on `word`.
    fn ms_vartime(word: u32) -> u32;
}

/// Six pieces of 6, 5, 5, 5, 5 and 6 bits: 1 KiB.
pub(crate) struct SixPieces;

/// Four pieces of 6, 10, 10 and 6 bits: 8.5 KiB.
pub(crate) struct FourPieces;

/// Three pieces of 11, 10 and 11 bits: 20 KiB.
pub(crate) struct ThreePieces;

/// The table of a piece of N entries, whose lowest field is number `last`.
const fn table<const N: usize>(last: usize) -> [u32; N] {
    let (mut table, mut index) = ([0; N], 0);
    while index < N {
        let (mut sum, mut field, mut rest) = (0, last + 1, index);
        let mut left = N;
        while left > 1 {
            field -= 1;
            let values = if field == 0 || field == FIELDS - 1 { 64 } else { 32 };
            sum ^= substituted(field, rest % values);
            rest /= values;
            left /= values;
        }
        table[index] = m_function(sum);
        index += 1;
    }
    table
}

/// The entry of the piece that ends at `shift`.
#[inline(always)]
fn look_up_vartime<const N: usize>(table: &[u32; N], word: u32, shift: u32) -> u32 {
    table[(word >> shift) as usize % N]
}

impl Layout for SixPieces {
    #[inline(always)]
    fn ms_vartime(word: u32) -> u32 {
        static OUTER: [[u32; 64]; 2] = [table(0), table(5)];
        static INNER: [[u32; 32]; 4] = [table(1), table(2), table(3), table(4)];
        let mut sum =
            look_up_vartime(&OUTER[0], word, SHIFTS[0]) ^ look_up_vartime(&OUTER[1], word, SHIFTS[5]);
        for (table, shift) in INNER.iter().zip(&SHIFTS[1..5]) {
            sum ^= look_up_vartime(table, word, *shift);
        }
        sum
    }
}

impl Layout for FourPieces {
    #[inline(always)]
    fn ms_vartime(word: u32) -> u32 {
        static OUTER: [[u32; 64]; 2] = [table(0), table(5)];
        static INNER: [[u32; 1024]; 2] = [table(2), table(4)];
        let outer = look_up_vartime(&OUTER[0], word, SHIFTS[0]) ^ look_up_vartime(&OUTER[1], word, SHIFTS[5]);
        let inner = look_up_vartime(&INNER[0], word, SHIFTS[2]) ^ look_up_vartime(&INNER[1], word, SHIFTS[4]);
        outer ^ inner
    }
}

impl Layout for ThreePieces {
    #[inline(always)]
    fn ms_vartime(word: u32) -> u32 {
        static OUTER: [[u32; 2048]; 2] = [table(1), table(5)];
        static MIDDLE: [u32; 1024] = table(3);
        let outer = look_up_vartime(&OUTER[0], word, SHIFTS[1]) ^ look_up_vartime(&OUTER[1], word, SHIFTS[5]);
        outer ^ look_up_vartime(&MIDDLE, word, SHIFTS[3])
    }
}

/// Most round keys: 7.5 rounds have 64.
const MAX_KEYS: usize = 64;

/// SC2000 in one direction, with tables cut as T says: INVERSE decrypts.
pub(crate) struct Sc2000Vartime<T, const INVERSE: bool> {
    /// In the order of use.
    round_keys: [[u32; 4]; MAX_KEYS / 4],
    /// Groups of four of them.
    fours: usize,
    layout: PhantomData<fn() -> T>,
}

/// SC2000 encryption with tables.
pub(crate) type Sc2000EncryptVartime<T> = OneByOne<Sc2000Vartime<T, false>>;

/// SC2000 decryption with tables.
pub(crate) type Sc2000DecryptVartime<T> = OneByOne<Sc2000Vartime<T, true>>;

impl<T: Layout, const INVERSE: bool> Sc2000Vartime<T, INVERSE> {
    /// The I, B and I functions.
    #[inline(always)]
    fn i_b_i(&self, state: [u32; 4], four: usize) -> [u32; 4] {
        let state = add(state, &self.round_keys[four]);
        let state = if INVERSE { substitute_inversely(state) } else { substitute(state) };
        add(state, &self.round_keys[four + 1])
    }

    /// What the R function makes of a and b.
    #[inline(always)]
    fn r_vartime([a, b, c, d]: [u32; 4], mask: u32) -> [u32; 2] {
        let (u, v) = (T::ms_vartime(c), T::ms_vartime(d));
        [a ^ (u & mask) ^ v, b ^ (v & !mask) ^ u]
    }
}

/// The I function.
#[inline(always)]
fn add(mut state: [u32; 4], keys: &[u32; 4]) -> [u32; 4] {
    for (word, key) in state.iter_mut().zip(keys) {
        *word ^= key;
    }
    state
}

/// The extended keys of a user key.
fn extended_keys_vartime<T: Layout>(key: &[u8], keys: &mut [u32]) {
    let mut user = [0; 8];
    for (word, bytes) in user.iter_mut().zip(key.as_chunks::<4>().0.iter().cycle()) {
        *word = T::ms_vartime(u32::from_be_bytes(*bytes));
    }
    let mut intermediate = [[0; 3]; 4];
    for (branch, number) in (0..4).zip(0_u32..) {
        for (i, multiple) in (0..3).zip(1_u32..) {
            let constant = T::ms_vartime(4 * (multiple - 1) + number);
            let sum = user[2 * branch].wrapping_add(constant) ^ user[2 * branch + 1].wrapping_mul(multiple);
            intermediate[branch][i] = T::ms_vartime(sum);
        }
    }
    for (n, extended) in keys.iter_mut().enumerate() {
        let [x, y, z, w] = picked(n).map(|(branch, index)| intermediate[branch][index]);
        let right = z.rotate_left(1).wrapping_sub(w).rotate_left(1);
        *extended = x.rotate_left(1).wrapping_add(y) ^ right;
    }
    user.zeroize();
    intermediate.zeroize();
}

impl<T: Layout, const INVERSE: bool> TableCipher for Sc2000Vartime<T, INVERSE> {
    fn expand_vartime(key: &[u8]) -> Self {
        let fours = if key.len() == BLOCK { MAX_KEYS / 4 - 2 } else { MAX_KEYS / 4 };
        let mut round_keys = [[0; 4]; MAX_KEYS / 4];
        extended_keys_vartime::<T>(key, round_keys[..fours].as_flattened_mut());
        if INVERSE {
            round_keys[..fours].reverse();
        }
        Self { round_keys, fours, layout: PhantomData }
    }

    #[inline(always)]
    fn crypt_vartime(&self, block: [u64; 2]) -> [u64; 2] {
        let (mut state, rounds) = (words_of(block), self.fours / 2 - 1);
        for round in 0..rounds {
            let order = if INVERSE { rounds - 1 - round } else { round };
            let mask = u32::from_ne_bytes([MASKS[order % 2]; 4]);
            let [a, b, c, d] = self.i_b_i(state, 2 * round);
            let [a, b] = Self::r_vartime([a, b, c, d], mask);
            let [c, d] = Self::r_vartime([c, d, a, b], mask);
            state = [c, d, a, b];
        }
        block_of(self.i_b_i(state, 2 * rounds))
    }
}

impl<T, const INVERSE: bool> Drop for Sc2000Vartime<T, INVERSE> {
    fn drop(&mut self) {
        self.round_keys.zeroize();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cipher::grouped::Only;
    use crate::cipher::sc2000::portable::Sc2000Encrypt;
    use crate::cipher::table_vartime::assert_agrees;

    #[test]
    fn tables_agree_with_circuits() {
        fn check<T: Layout>() {
            assert_agrees::<Sc2000EncryptVartime<T>, Sc2000DecryptVartime<T>, Only<Sc2000Encrypt>>(&[
                16, 24, 32,
            ]);
        }
        check::<SixPieces>();
        check::<FourPieces>();
        check::<ThreePieces>();
    }

    #[test]
    fn tables_give_the_examples() {
        for (word, sum) in [(0, 0x0eaa_5e14), (11, 0x9942_533f), (0x0123_4567, 0x5a90_e456)] {
            assert_eq!(SixPieces::ms_vartime(word), sum);
            assert_eq!(FourPieces::ms_vartime(word), sum);
            assert_eq!(ThreePieces::ms_vartime(word), sum);
        }
    }
}
