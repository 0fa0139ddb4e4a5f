//! Every block cipher on every instruction set of this CPU: known answers, and the readable reference.

use cipherlane_core::BLOCK;
use cipherlane_reference::aes::Aes;
use cipherlane_reference::cipher::BlockCipher;

#[cfg(target_arch = "x86_64")]
use super::aes_rounds::{AesDecrypt, AesEncrypt};
use super::aes_table_vartime::{AesDecryptVartime, AesEncryptVartime};
use super::grouped::Only;
use super::{CALLS, KeyEach, KeyPerLane, Meanwhile, Permutation, SMALL, V, aes_bitsliced};
use crate::lanes::portable::Portable;
#[cfg(target_arch = "x86_64")]
use crate::lanes::{AesLanes, avx2::Avx2, sse::Sse, vaes256::Vaes256, vaes512::Vaes512};
use crate::lanes::{Isa, Lanes, MAX_LANES};

/// Test data, the same in each run.
fn random_bytes<const N: usize>(seed: u64) -> [u8; N] {
    let mut state = seed;
    std::array::from_fn(|_| {
        // Numerical Recipes' linear congruential generator; its upper bits are good enough for test data.
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        state.to_be_bytes()[0]
    })
}

/// Counts the calls and checks their order.
struct Calls(usize);

impl Meanwhile for Calls {
    fn step(&mut self, call: usize) {
        assert_eq!(call, self.0);
        self.0 += 1;
    }
}

/// A direction of the reference.
type Direction = fn(&Aes, [u8; BLOCK]) -> [u8; BLOCK];

/// Blocks from first to last as N registers.
fn registers<I: Isa, const N: usize>(isa: I, blocks: &[[u8; BLOCK]]) -> [I::V; N] {
    std::array::from_fn(|i| {
        let mut lanes = [[0; BLOCK]; MAX_LANES];
        lanes[..I::V::LANES].copy_from_slice(&blocks[i * I::V::LANES..][..I::V::LANES]);
        isa.lanes(&lanes)
    })
}

fn blocks<T: Lanes>(registers: &[T]) -> Vec<[u8; BLOCK]> {
    registers.iter().flat_map(|register| register.to_blocks()[..T::LANES].to_vec()).collect()
}

/// N registers of random blocks under one key.
fn check<P: Permutation<Source = <P as Permutation>::Isa>, const N: usize>(
    isa: P::Isa,
    key_bytes: usize,
    expected: Direction,
) {
    let input: Vec<[u8; BLOCK]> = (0..N * V::<P>::LANES).map(|i| random_bytes(i as u64)).collect();
    let key: [u8; 32] = random_bytes(1000 + key_bytes as u64);
    let permutation = P::new(isa, &key[..key_bytes]);
    let mut calls = Calls(0);
    let output: [V<P>; N] = permutation.apply_while(registers(isa, &input), &mut calls);
    assert!(calls.0 >= CALLS);

    let reference = Aes::new(&key[..key_bytes]);
    let answers: Vec<_> = input.iter().map(|&block| expected(&reference, block)).collect();
    assert_eq!(blocks(&output), answers, "{} x {N}", std::any::type_name::<P>());
}

/// N registers of random blocks under a key a lane.
fn check_key_per_lane<P: KeyPerLane<Source = <P as Permutation>::Isa>, const N: usize>(
    isa: P::Isa,
    key_bytes: usize,
) {
    let lanes = V::<P>::LANES;
    let input: Vec<[u8; BLOCK]> = (0..N * lanes).map(|i| random_bytes(i as u64)).collect();
    let keys: Vec<[u8; 32]> = (0..N * lanes).map(|i| random_bytes(2000 + i as u64)).collect();
    let each: [P; N] = std::array::from_fn(|n| P::per_lane(isa, |lane| &keys[n * lanes + lane][..key_bytes]));
    let output = P::apply_each(each.each_ref(), registers(isa, &input));

    let encrypt = |(&block, key): (_, &[u8; 32])| Aes::new(&key[..key_bytes]).encrypt(block);
    let answers: Vec<_> = input.iter().zip(&keys).map(encrypt).collect();
    assert_eq!(blocks(&output), answers, "{} x {N}", std::any::type_name::<P>());
}

/// Counts of registers around the groups of bitslicing.
fn check_both<E: KeyEach<Source = <E as Permutation>::Isa>, D: KeyEach<Isa = E::Isa, Source = E::Isa>>(
    isa: E::Isa,
    key_bytes: usize,
) {
    let (encrypt, decrypt): (Direction, Direction) = (Aes::encrypt, Aes::decrypt);
    let bytes = key_bytes;
    check_key_each::<E>(isa, bytes, |key, block| Aes::new(&key[..bytes]).encrypt(block));
    check_key_each::<D>(isa, bytes, |key, block| Aes::new(&key[..bytes]).decrypt(block));
    check::<E, 1>(isa, key_bytes, encrypt);
    check::<E, 8>(isa, key_bytes, encrypt);
    check::<E, 13>(isa, key_bytes, encrypt);
    check::<D, 1>(isa, key_bytes, decrypt);
    check::<D, 8>(isa, key_bytes, decrypt);
    check::<D, 13>(isa, key_bytes, decrypt);
}

/// A group of random blocks under a key each, and again under others in their place.
pub(super) fn check_key_each<P: KeyEach<Source = <P as Permutation>::Isa>>(
    isa: P::Isa,
    key_bytes: usize,
    expected: impl Fn(&[u8; 32], [u8; BLOCK]) -> [u8; BLOCK],
) {
    let count = SMALL * V::<P>::LANES;
    let input: Vec<[u8; BLOCK]> = (0..count).map(|i| random_bytes(i as u64)).collect();
    let mut group = P::no_keys(isa);
    for seed in [3000, 4000] {
        let keys: Vec<[u8; 32]> = (0..count).map(|i| random_bytes(seed + i as u64)).collect();
        let each: Vec<&[u8]> = keys.iter().map(|key| &key[..key_bytes]).collect();
        P::expand_keys(&mut group, &each);
        let mut output: [V<P>; SMALL] = registers(isa, &input);
        P::apply_keys(&group, &mut output);
        let answers: Vec<_> = input.iter().zip(&keys).map(|(&block, key)| expected(key, block)).collect();
        assert_eq!(blocks(&output), answers, "{} x {key_bytes}", std::any::type_name::<P>());
    }
}

#[test]
fn bitsliced_aes_agrees_with_the_reference() {
    use aes_bitsliced::{AesDecrypt, AesEncrypt};
    for key_bytes in [16, 24, 32] {
        check_both::<AesEncrypt, AesDecrypt>(Portable, key_bytes);
        check_key_per_lane::<AesEncrypt, 1>(Portable, key_bytes);
        check_key_per_lane::<AesEncrypt, 8>(Portable, key_bytes);
        check_key_per_lane::<AesEncrypt, 13>(Portable, key_bytes);
    }
}

#[test]
fn aes_with_tables_agrees_with_the_reference() {
    check_both::<Only<AesEncryptVartime>, Only<AesDecryptVartime>>(Portable, 16);
    check_both::<Only<AesEncryptVartime>, Only<AesDecryptVartime>>(Portable, 24);
    check_both::<Only<AesEncryptVartime>, Only<AesDecryptVartime>>(Portable, 32);
}

#[cfg(target_arch = "x86_64")]
#[test]
fn aes_in_rounds_agrees_with_the_reference() {
    fn per_lane<I: Isa<V: AesLanes>, const ROUNDS: usize>(isa: I, key_bytes: usize) {
        check_key_per_lane::<AesEncrypt<I, ROUNDS>, 1>(isa, key_bytes);
        check_key_per_lane::<AesEncrypt<I, ROUNDS>, 8>(isa, key_bytes);
        check_key_per_lane::<AesEncrypt<I, ROUNDS>, 13>(isa, key_bytes);
    }
    fn on<I: Isa<V: AesLanes>>(isa: I) {
        per_lane::<I, 10>(isa, 16);
        per_lane::<I, 12>(isa, 24);
        per_lane::<I, 14>(isa, 32);
        check_both::<AesEncrypt<I, 10>, AesDecrypt<I, 10>>(isa, 16);
        check_both::<AesEncrypt<I, 12>, AesDecrypt<I, 12>>(isa, 24);
        check_both::<AesEncrypt<I, 14>, AesDecrypt<I, 14>>(isa, 32);
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
    fn per_lane<I: Isa<V: AesLanes>, const ROUNDS: usize>(isa: I, key_bytes: usize) {
        check_key_per_lane::<AesEncrypt<I, ROUNDS>, 1>(isa, key_bytes);
        check_key_per_lane::<AesEncrypt<I, ROUNDS>, 8>(isa, key_bytes);
        check_key_per_lane::<AesEncrypt<I, ROUNDS>, 13>(isa, key_bytes);
    }
    fn on<I: Isa<V: AesLanes>>(isa: I) {
        per_lane::<I, 10>(isa, 16);
        per_lane::<I, 12>(isa, 24);
        per_lane::<I, 14>(isa, 32);
        check_known::<AesEncrypt<I, 10>, AesDecrypt<I, 10>>(isa, KNOWN[0]);
        check_known::<AesEncrypt<I, 12>, AesDecrypt<I, 12>>(isa, KNOWN[1]);
        check_known::<AesEncrypt<I, 14>, AesDecrypt<I, 14>>(isa, KNOWN[2]);
    }
    Sse::detect().into_iter().for_each(on);
    Avx2::detect().into_iter().for_each(on);
    Vaes256::detect().into_iter().for_each(on);
    Vaes512::detect().into_iter().for_each(on);
}
