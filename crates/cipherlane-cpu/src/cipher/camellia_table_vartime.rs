//! Camellia with tables of an S-box and what P does to its output, as on GPUs and in most software: for the laboratory
//! alone, which compares tables of 32 and of 64 bits.
//!
//! Not constant-time: see [`super::table_vartime`]. Section numbers are those of RFC 3713.

use std::marker::PhantomData;

use zeroize::Zeroize;

use super::camellia::boxes::SBOX1;
use super::camellia::schedule::{Material, ROUNDS_OF_SEGMENT, SIGMA, Subkeys, rounds, second_half};
use super::table_vartime::{OneByOne, TableCipher};

/// How wide the tables are.
pub(crate) trait Width: Send + Sync + 'static {
    /// The S-boxes and P of the F function (section 2.4.1). Reads addresses that depend on `x`.
    fn sp_vartime(x: u64) -> u64;
}

/// Four tables of 32 bits: 4 KiB. What P makes of a half comes from that of its words by a rotation.
pub(crate) struct Bits32;

/// Eight tables of 64 bits, one for each byte: 16 KiB, and nothing but look-ups and XOR.
pub(crate) struct Bits64;

/// SBOX1 to SBOX4, numbered from 0.
const fn substituted(number: usize, x: u8) -> u8 {
    match number {
        0 => SBOX1[x as usize],
        1 => SBOX1[x as usize].rotate_left(1),
        2 => SBOX1[x as usize].rotate_right(1),
        _ => SBOX1[x.rotate_left(1) as usize],
    }
}

/// The bytes of a word to which P adds an output of SBOX1 to SBOX4: of the first word of the result, and for bytes 5
/// to 8 of the argument of the second as well. Bytes 1 to 4 are not added to the second as they are: see [`widened`].
const PLACES: [u32; 4] = [0xffff_ff00, 0x00ff_ffff, 0xff00_ffff, 0xffff_00ff];

/// The S-boxes of bytes 1 to 8, numbered from 0.
const NUMBERS: [usize; 8] = [0, 1, 2, 3, 1, 2, 3, 0];

#[allow(clippy::cast_possible_truncation)] // below 256
const fn table32(number: usize) -> [u32; 256] {
    let (mut table, mut x) = ([0; 256], 0);
    while x < 256 {
        table[x] = u32::from_ne_bytes([substituted(number, x as u8); 4]) & PLACES[number];
        x += 1;
    }
    table
}

/// What P makes of a half whose bytes 1 to 4 add `first` to the first word, and whose bytes 5 to 8 add `second`.
#[inline(always)]
const fn widened(first: u32, second: u32) -> u64 {
    let sum = first ^ second;
    (sum as u64) << 32 | (sum ^ first.rotate_right(8)) as u64
}

const fn table64(byte: usize) -> [u64; 256] {
    let (words, mut table, mut x) = (table32(NUMBERS[byte]), [0; 256], 0);
    while x < 256 {
        table[x] = if byte < 4 { widened(words[x], 0) } else { widened(0, words[x]) };
        x += 1;
    }
    table
}

impl Width for Bits32 {
    #[inline(always)]
    fn sp_vartime(x: u64) -> u64 {
        static SP: [[u32; 256]; 4] = [table32(0), table32(1), table32(2), table32(3)];
        let (bytes, mut sums) = (x.to_be_bytes(), [0; 2]);
        for (i, byte) in bytes.into_iter().enumerate() {
            sums[i / 4] ^= SP[NUMBERS[i]][usize::from(byte)];
        }
        widened(sums[0], sums[1])
    }
}

impl Width for Bits64 {
    #[inline(always)]
    fn sp_vartime(x: u64) -> u64 {
        static SP: [[u64; 256]; 8] =
            [table64(0), table64(1), table64(2), table64(3), table64(4), table64(5), table64(6), table64(7)];
        SP.iter().zip(x.to_be_bytes()).fold(0, |sum, (table, byte)| sum ^ table[usize::from(byte)])
    }
}

/// Camellia in one direction, with tables of width W: INVERSE decrypts.
pub(crate) struct CamelliaVartime<W, const INVERSE: bool> {
    subkeys: Subkeys<u64>,
    width: PhantomData<fn() -> W>,
}

/// Camellia encryption with tables.
pub(crate) type CamelliaEncryptVartime<W> = OneByOne<CamelliaVartime<W, false>>;

/// Camellia decryption with tables.
pub(crate) type CamelliaDecryptVartime<W> = OneByOne<CamelliaVartime<W, true>>;

/// Two rounds.
#[inline(always)]
fn two_rounds_vartime<W: Width>([mut left, mut right]: [u64; 2], [k1, k2]: [u64; 2]) -> [u64; 2] {
    right ^= W::sp_vartime(left ^ k1);
    left ^= W::sp_vartime(right ^ k2);
    [left, right]
}

#[inline(always)]
fn add([a, b]: [u64; 2], [c, d]: [u64; 2]) -> [u64; 2] {
    [a ^ c, b ^ d]
}

#[inline(always)]
#[allow(clippy::cast_possible_truncation)] // takes the halves apart
fn words(half: u64) -> [u32; 2] {
    [(half >> 32) as u32, half as u32]
}

/// FL (section 2.4.2).
#[inline(always)]
fn fl(half: u64, subkey: u64) -> u64 {
    let ([mut x1, mut x2], [k1, k2]) = (words(half), words(subkey));
    x2 ^= (x1 & k1).rotate_left(1);
    x1 ^= x2 | k2;
    u64::from(x1) << 32 | u64::from(x2)
}

/// FLINV (section 2.4.3).
#[inline(always)]
fn fl_inverse(half: u64, subkey: u64) -> u64 {
    let ([mut y1, mut y2], [k1, k2]) = (words(half), words(subkey));
    y1 ^= y2 | k2;
    y2 ^= (y1 & k1).rotate_left(1);
    u64::from(y1) << 32 | u64::from(y2)
}

/// KL, KR, KA and KB (section 2.2).
fn material_vartime<W: Width>(key: &[u8]) -> Material<u64> {
    let mut padded = [0; 32];
    padded[..key.len()].copy_from_slice(key);
    let [kl, rest] = [0, 2].map(|i| [i, i + 1].map(|half| u64::from_be_bytes(padded.as_chunks().0[half])));
    padded.zeroize();
    let kr = second_half(rest, key.len());
    let [s1, s2, s3, s4, s5, s6] = SIGMA;
    let d = two_rounds_vartime::<W>(add(kl, kr), [s1, s2]);
    let ka = two_rounds_vartime::<W>(add(d, kl), [s3, s4]);
    let kb = two_rounds_vartime::<W>(add(ka, kr), [s5, s6]);
    Material { kl, kr, ka, kb }
}

impl<W: Width, const INVERSE: bool> TableCipher for CamelliaVartime<W, INVERSE> {
    fn expand_vartime(key: &[u8]) -> Self {
        let subkeys = Subkeys::new::<INVERSE>(&material_vartime::<W>(key), rounds(key.len()));
        Self { subkeys, width: PhantomData }
    }

    /// Sections 2.3.1 and 2.3.2.
    #[inline(always)]
    fn crypt_vartime(&self, block: [u64; 2]) -> [u64; 2] {
        let Subkeys { kw: [kw1, kw2, kw3, kw4], k, ke, rounds } = &self.subkeys;
        let mut state = add(block.map(u64::swap_bytes), [*kw1, *kw2]);
        for (segment, pairs) in
            k.as_flattened()[..*rounds].as_chunks::<ROUNDS_OF_SEGMENT>().0.iter().enumerate()
        {
            if segment > 0 {
                state = [fl(state[0], ke[2 * segment - 2]), fl_inverse(state[1], ke[2 * segment - 1])];
            }
            for pair in pairs.as_chunks().0 {
                state = two_rounds_vartime::<W>(state, *pair);
            }
        }
        let [left, right] = state;
        add([right, left], [*kw3, *kw4]).map(u64::swap_bytes)
    }
}

impl<W, const INVERSE: bool> Drop for CamelliaVartime<W, INVERSE> {
    fn drop(&mut self) {
        self.subkeys.zeroize();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cipher::camellia::{CamelliaEncrypt, bits::Bits};
    use crate::cipher::grouped::Only;
    use crate::cipher::slices::Native;
    use crate::cipher::table_vartime::assert_agrees;

    #[test]
    fn tables_agree_with_circuits() {
        fn check<W: Width>() {
            type Circuit = CamelliaEncrypt<Bits<Native>>;
            assert_agrees::<CamelliaEncryptVartime<W>, CamelliaDecryptVartime<W>, Only<Circuit>>(&[
                16, 24, 32,
            ]);
        }
        check::<Bits32>();
        check::<Bits64>();
    }

    /// SBOX1 of section 2.4.1 at its corners.
    #[test]
    fn the_s_box_is_that_of_the_standard() {
        assert_eq!((SBOX1[0x00], SBOX1[0x10], SBOX1[0xff]), (112, 35, 158));
    }
}
