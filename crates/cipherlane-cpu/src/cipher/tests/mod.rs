//! Every block cipher on every instruction set of this CPU: known answers, and the readable reference.

pub(super) mod memory;
pub(super) mod support;

use cipherlane_core::{BLOCK, Cipher};

#[cfg(target_arch = "x86_64")]
use super::aes_rounds::{AesDecrypt, AesEncrypt};
use super::aes_table_vartime::{AesDecryptVartime, AesEncryptVartime};
use super::grouped::Only;
use super::{KeyEach, KeyPerLane, Permutation, SMALL, V, aes_bitsliced};
use crate::lanes::portable::Portable;
#[cfg(target_arch = "x86_64")]
use crate::lanes::{AesLanes, avx2::Avx2, sse::Sse, vaes256::Vaes256, vaes512::Vaes512};
use crate::lanes::{Isa, Lanes};
use support::{
    apply_counting, assert_blocks, expected, expected_each, random_blocks, random_bytes, random_keys,
    registers,
};

/// N registers of random blocks under one key.
fn check<P: Permutation<Source = <P as Permutation>::Isa>, const N: usize>(
    isa: P::Isa,
    cipher: Cipher,
    decrypts: bool,
) {
    let (input, key) = (random_blocks(N * V::<P>::LANES), random_bytes(1000 + cipher.key_bytes()));
    let permutation = P::new(isa, &key[..cipher.key_bytes()]);
    let output: [V<P>; N] = apply_counting(&permutation, &input);
    assert_blocks::<P>(&output, &expected(cipher, decrypts, &key, &input));
}

/// N registers of random blocks under a key a lane.
#[cfg(target_arch = "x86_64")]
fn check_key_per_lane<P: KeyPerLane<Source = <P as Permutation>::Isa>, const N: usize>(
    isa: P::Isa,
    cipher: Cipher,
) {
    let lanes = V::<P>::LANES;
    let (input, keys) = (random_blocks(N * lanes), random_keys(2000, N * lanes));
    let key = |n: usize, lane: usize| &keys[n * lanes + lane][..cipher.key_bytes()];
    let each: [P; N] = std::array::from_fn(|n| P::per_lane(isa, |lane| key(n, lane)));
    let output = P::apply_each(each.each_ref(), registers(isa, &input));
    assert_blocks::<P>(&output, &expected_each(cipher, false, &keys, &input));
}

/// Counts of registers around the groups of bitslicing.
fn check_both<E: KeyEach<Source = <E as Permutation>::Isa>, D: KeyEach<Isa = E::Isa, Source = E::Isa>>(
    isa: E::Isa,
    cipher: Cipher,
) {
    check_key_each::<E>(isa, cipher, false);
    check_key_each::<D>(isa, cipher, true);
    check::<E, 1>(isa, cipher, false);
    check::<E, 8>(isa, cipher, false);
    check::<E, 13>(isa, cipher, false);
    check::<D, 1>(isa, cipher, true);
    check::<D, 8>(isa, cipher, true);
    check::<D, 13>(isa, cipher, true);
}

/// A group of random blocks under a key each, and again under others in their place.
pub(super) fn check_key_each<P: KeyEach<Source = <P as Permutation>::Isa>>(
    isa: P::Isa,
    cipher: Cipher,
    decrypts: bool,
) {
    let count = SMALL * V::<P>::LANES;
    let input = random_blocks(count);
    let mut group = P::no_keys(isa);
    for seed in [3000, 4000] {
        let keys = random_keys(seed, count);
        let each: Vec<&[u8]> = keys.iter().map(|key| &key[..cipher.key_bytes()]).collect();
        P::expand_keys(&mut group, &each);
        let mut output: [V<P>; SMALL] = registers(isa, &input);
        P::apply_keys(&group, &mut output);
        assert_blocks::<P>(&output, &expected_each(cipher, decrypts, &keys, &input));
    }
}

const AES: [Cipher; 3] = [Cipher::Aes128, Cipher::Aes192, Cipher::Aes256];

#[test]
fn bitsliced_aes_agrees_with_the_reference() {
    use aes_bitsliced::{AesDecrypt, AesEncrypt};
    for cipher in AES {
        check_both::<AesEncrypt, AesDecrypt>(Portable, cipher);
    }
}

#[test]
fn aes_with_tables_agrees_with_the_reference() {
    for cipher in AES {
        check_both::<Only<AesEncryptVartime>, Only<AesDecryptVartime>>(Portable, cipher);
    }
}

#[cfg(target_arch = "x86_64")]
#[test]
fn aes_in_rounds_agrees_with_the_reference() {
    fn of<I: Isa<V: AesLanes>, const ROUNDS: usize>(isa: I, cipher: Cipher) {
        check_key_per_lane::<AesEncrypt<I, ROUNDS>, 1>(isa, cipher);
        check_key_per_lane::<AesEncrypt<I, ROUNDS>, 8>(isa, cipher);
        check_key_per_lane::<AesEncrypt<I, ROUNDS>, 13>(isa, cipher);
        check_both::<AesEncrypt<I, ROUNDS>, AesDecrypt<I, ROUNDS>>(isa, cipher);
    }
    fn on<I: Isa<V: AesLanes>>(isa: I) {
        of::<I, 10>(isa, Cipher::Aes128);
        of::<I, 12>(isa, Cipher::Aes192);
        of::<I, 14>(isa, Cipher::Aes256);
    }
    Sse::detect().into_iter().for_each(on);
    Avx2::detect().into_iter().for_each(on);
    Vaes256::detect().into_iter().for_each(on);
    Vaes512::detect().into_iter().for_each(on);
}

/// The examples of FIPS 197 (2001) appendix C: key 00 01 02 ..., block 00 11 22 ...
const KNOWN: [(usize, u128); 3] = [
    (16, 0x69c4_e0d8_6a7b_0430_d8cd_b780_70b4_c55a),
    (24, 0xdda9_7ca4_864c_dfe0_6eaf_70a0_ec0d_7191),
    (32, 0x8ea2_b7ca_5167_45bf_eafc_4990_4b49_6089),
];

fn check_known<
    E: Permutation<Source = <E as Permutation>::Isa>,
    D: Permutation<Isa = E::Isa, Source = E::Isa>,
>(
    isa: E::Isa,
    (key_bytes, answer): (usize, u128),
) {
    let key: [u8; 32] = std::array::from_fn(|i| u8::try_from(i).unwrap());
    let plain: [u8; BLOCK] = std::array::from_fn(|i| u8::try_from(i * 0x11).unwrap());
    let [cipher] = E::new(isa, &key[..key_bytes]).apply([isa.splat(&plain)]);
    assert_eq!(cipher.to_blocks()[0], answer.to_be_bytes());
    let [back] = D::new(isa, &key[..key_bytes]).apply([cipher]);
    assert_eq!(back.to_blocks()[0], plain);
}

#[test]
fn bitsliced_aes_gives_the_examples_of_the_standard() {
    use aes_bitsliced::{AesDecrypt, AesEncrypt};
    check_known::<AesEncrypt, AesDecrypt>(Portable, KNOWN[0]);
    check_known::<AesEncrypt, AesDecrypt>(Portable, KNOWN[1]);
    check_known::<AesEncrypt, AesDecrypt>(Portable, KNOWN[2]);
}

#[test]
fn aes_with_tables_gives_the_examples_of_the_standard() {
    check_known::<Only<AesEncryptVartime>, Only<AesDecryptVartime>>(Portable, KNOWN[0]);
    check_known::<Only<AesEncryptVartime>, Only<AesDecryptVartime>>(Portable, KNOWN[1]);
    check_known::<Only<AesEncryptVartime>, Only<AesDecryptVartime>>(Portable, KNOWN[2]);
}

#[cfg(target_arch = "x86_64")]
#[test]
fn aes_in_rounds_gives_the_examples_of_the_standard() {
    fn on<I: Isa<V: AesLanes>>(isa: I) {
        check_known::<AesEncrypt<I, 10>, AesDecrypt<I, 10>>(isa, KNOWN[0]);
        check_known::<AesEncrypt<I, 12>, AesDecrypt<I, 12>>(isa, KNOWN[1]);
        check_known::<AesEncrypt<I, 14>, AesDecrypt<I, 14>>(isa, KNOWN[2]);
    }
    Sse::detect().into_iter().for_each(on);
    Avx2::detect().into_iter().for_each(on);
    Vaes256::detect().into_iter().for_each(on);
    Vaes512::detect().into_iter().for_each(on);
}
