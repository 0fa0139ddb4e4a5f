//! AES with T-tables (J. Daemen and V. Rijmen, "AES Proposal: Rijndael", 1999, section 5.2.1), as on GPUs and in
//! software for CPUs without instructions for it: for the laboratory alone.
//!
//! Not constant-time: see [`super::table_vartime`]. Words are columns here, row 0 in the lowest byte.

use zeroize::Zeroize;

use super::aes_bitsliced::{MAX_KEYS, expand};
use super::byte_sliced::matrix::{AES_POLYNOMIAL, AES_SBOX, times};
use super::table_vartime::{OneByOne, TableCipher};

/// For each row of the state, what a byte adds to its column: SubBytes, then MixColumns. 4 KiB.
type Tables = [[u32; 256]; 4];

static ENCRYPT: Tables = tables(&AES_SBOX, [0x02, 0x01, 0x01, 0x03]);
static DECRYPT: Tables = tables(&INVERSE_SBOX, [0x0e, 0x09, 0x0d, 0x0b]);
static SBOX: [u8; 256] = AES_SBOX;
static INVERSE_SBOX: [u8; 256] = inverse(&AES_SBOX);

/// `column` is the first column of the matrix of MixColumns or its inverse (FIPS 197 sections 5.1.3 and 5.3.3), of
/// which the others are rotations.
const fn tables(sbox: &[u8; 256], column: [u8; 4]) -> Tables {
    let (mut tables, mut i) = ([[0_u32; 256]; 4], 0);
    while i < 4 * 256 {
        let (row, value) = (i / 256, i % 256);
        let (mut bytes, mut to) = ([0; 4], 0);
        while to < 4 {
            bytes[(to + row) % 4] = times(column[to], sbox[value], AES_POLYNOMIAL);
            to += 1;
        }
        tables[row][value] = u32::from_le_bytes(bytes);
        i += 1;
    }
    tables
}

#[allow(clippy::cast_possible_truncation)] // below 256
const fn inverse(sbox: &[u8; 256]) -> [u8; 256] {
    let (mut inverse, mut i) = ([0; 256], 0);
    while i < 256 {
        inverse[sbox[i] as usize] = i as u8;
        i += 1;
    }
    inverse
}

/// AES in one direction, with tables: INVERSE decrypts.
pub(crate) struct AesVartime<const INVERSE: bool> {
    /// In the order of use.
    round_keys: [[u32; 4]; MAX_KEYS],
    rounds: usize,
}

/// AES encryption with tables.
pub(crate) type AesEncryptVartime = OneByOne<AesVartime<false>>;

/// AES decryption with tables: the equivalent inverse cipher (FIPS 197 section 5.3.5).
pub(crate) type AesDecryptVartime = OneByOne<AesVartime<true>>;

/// The S-box of each byte of a word.
#[inline(always)]
fn sub_word_vartime(word: u32) -> u32 {
    u32::from_le_bytes(word.to_le_bytes().map(|byte| SBOX[usize::from(byte)]))
}

/// InvMixColumns of a column of a round key: the tables undo the S-box, so that comes first.
#[inline(always)]
fn inverse_mix_column_vartime(column: u32) -> u32 {
    let bytes = sub_word_vartime(column).to_le_bytes();
    DECRYPT.iter().zip(bytes).fold(0, |sum, (table, byte)| sum ^ table[usize::from(byte)])
}

/// The columns from which ShiftRows takes rows 0 to 3 of each column, or its inverse if INVERSE (sections 5.1.2 and
/// 5.3.1).
#[inline(always)]
fn shifted<const INVERSE: bool>([a, b, c, d]: [u32; 4]) -> [[u32; 4]; 4] {
    if INVERSE {
        [[a, d, c, b], [b, a, d, c], [c, b, a, d], [d, c, b, a]]
    } else {
        [[a, b, c, d], [b, c, d, a], [c, d, a, b], [d, a, b, c]]
    }
}

/// A column after a round, of the columns that its rows come from.
#[inline(always)]
fn column_vartime<const INVERSE: bool>([a, b, c, d]: [u32; 4], key: u32) -> u32 {
    let tables = if INVERSE { &DECRYPT } else { &ENCRYPT };
    let look_up = |row: usize, column: u32| tables[row][usize::from(column.to_le_bytes()[row])];
    look_up(0, a) ^ look_up(1, b) ^ look_up(2, c) ^ look_up(3, d) ^ key
}

/// A column after the last round, which lacks MixColumns.
#[inline(always)]
fn last_column_vartime<const INVERSE: bool>(from: [u32; 4], key: u32) -> u32 {
    let sbox = if INVERSE { &INVERSE_SBOX } else { &SBOX };
    let look_up = |row: usize| sbox[usize::from(from[row].to_le_bytes()[row])];
    u32::from_le_bytes([look_up(0), look_up(1), look_up(2), look_up(3)]) ^ key
}

impl<const INVERSE: bool> TableCipher for AesVartime<INVERSE> {
    fn expand_vartime(key: &[u8]) -> Self {
        // FIPS 197 section 5, table 3.
        let rounds = key.len() / 4 + 6;
        let mut words = expand(key, rounds, sub_word_vartime);
        let mut round_keys = [[0; 4]; MAX_KEYS];
        round_keys.as_flattened_mut().copy_from_slice(&words);
        words.zeroize();
        if INVERSE {
            round_keys[..=rounds].reverse();
            for column in round_keys[1..rounds].as_flattened_mut() {
                *column = inverse_mix_column_vartime(*column);
            }
        }
        Self { round_keys, rounds }
    }

    #[inline(always)]
    #[allow(clippy::cast_possible_truncation)] // takes the words apart
    fn crypt_vartime(&self, [low, high]: [u64; 2]) -> [u64; 2] {
        let [first, keys @ ..] = &self.round_keys;
        let [mut a, mut b, mut c, mut d] = [low as u32, (low >> 32) as u32, high as u32, (high >> 32) as u32];
        (a, b, c, d) = (a ^ first[0], b ^ first[1], c ^ first[2], d ^ first[3]);
        let (rounds, last) = (&keys[..self.rounds - 1], &keys[self.rounds - 1]);
        // In four variables: compilers keep an array in two registers, and each round would take it apart.
        for [k0, k1, k2, k3] in rounds {
            let [to_a, to_b, to_c, to_d] = shifted::<INVERSE>([a, b, c, d]);
            a = column_vartime::<INVERSE>(to_a, *k0);
            b = column_vartime::<INVERSE>(to_b, *k1);
            c = column_vartime::<INVERSE>(to_c, *k2);
            d = column_vartime::<INVERSE>(to_d, *k3);
        }
        let from = shifted::<INVERSE>([a, b, c, d]);
        let column = |i: usize| u64::from(last_column_vartime::<INVERSE>(from[i], last[i]));
        [column(0) | column(1) << 32, column(2) | column(3) << 32]
    }
}

impl<const INVERSE: bool> Drop for AesVartime<INVERSE> {
    fn drop(&mut self) {
        self.round_keys.zeroize();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cipher::aes_bitsliced::AesEncrypt;
    use crate::cipher::table_vartime::assert_agrees;

    #[test]
    fn tables_agree_with_circuits() {
        assert_agrees::<AesEncryptVartime, AesDecryptVartime, AesEncrypt>(&[16, 24, 32]);
    }

    /// FIPS 197 tables 4 and 6 at their corners.
    #[test]
    fn the_s_boxes_are_those_of_the_standard() {
        assert_eq!((SBOX[0x00], SBOX[0x53], SBOX[0xff]), (0x63, 0xed, 0x16));
        assert_eq!((INVERSE_SBOX[0x00], INVERSE_SBOX[0xed], INVERSE_SBOX[0xff]), (0x52, 0x53, 0x7d));
    }
}
