//! What tests of block ciphers are made of: data, blocks in registers, and calls that are counted.
//!
//! What takes slices is compiled once, and not for each count of registers.

use cipherlane_core::{BLOCK, Cipher};
use cipherlane_reference::cipher::keyed;

use crate::cipher::{CALLS, Meanwhile, Permutation, V};
use crate::lanes::{Isa, Lanes, MAX_LANES};

pub(in crate::cipher) type Block = [u8; BLOCK];

/// Test data, the same in each run.
pub(in crate::cipher) fn random_bytes<const N: usize>(seed: usize) -> [u8; N] {
    let mut bytes = [0; N];
    draw(seed, &mut bytes);
    bytes
}

fn draw(seed: usize, bytes: &mut [u8]) {
    let mut state = seed as u64;
    for byte in bytes {
        // Numerical Recipes' linear congruential generator; its upper bits are good enough for test data.
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        *byte = state.to_be_bytes()[0];
    }
}

/// So many blocks of test data.
pub(in crate::cipher) fn random_blocks(count: usize) -> Vec<Block> {
    (0..count).map(random_bytes).collect()
}

/// So many keys of test data, at the greatest length.
pub(in crate::cipher) fn random_keys(seed: usize, count: usize) -> Vec<[u8; 32]> {
    (seed..seed + count).map(random_bytes).collect()
}

/// What the reference makes of `input` with the first bytes of `key`.
pub(in crate::cipher) fn expected(
    cipher: Cipher,
    decrypts: bool,
    key: &[u8; 32],
    input: &[Block],
) -> Vec<Block> {
    let reference = keyed(cipher, &key[..cipher.key_bytes()]);
    let of = |&block| if decrypts { reference.decrypt(block) } else { reference.encrypt(block) };
    input.iter().map(of).collect()
}

/// The same with a key for each block.
pub(in crate::cipher) fn expected_each(
    cipher: Cipher,
    decrypts: bool,
    keys: &[[u8; 32]],
    input: &[Block],
) -> Vec<Block> {
    let of = |(key, &block)| expected(cipher, decrypts, key, &[block]);
    keys.iter().zip(input).flat_map(of).collect()
}

/// Blocks from first to last as N registers; zeros fill up the last ones.
pub(in crate::cipher) fn registers<I: Isa, const N: usize>(isa: I, blocks: &[Block]) -> [I::V; N] {
    let mut registers = [isa.zero(); N];
    load(isa, blocks, &mut registers);
    registers
}

fn load<I: Isa>(isa: I, blocks: &[Block], registers: &mut [I::V]) {
    let mut blocks = blocks.iter();
    for register in registers {
        let mut lanes = [[0; BLOCK]; MAX_LANES];
        for lane in &mut lanes[..I::V::LANES] {
            *lane = blocks.next().copied().unwrap_or_default();
        }
        *register = isa.lanes(&lanes);
    }
}

pub(in crate::cipher) fn blocks<T: Lanes>(registers: &[T]) -> Vec<Block> {
    let mut blocks = Vec::new();
    for register in registers {
        blocks.extend_from_slice(&register.to_blocks()[..T::LANES]);
    }
    blocks
}

/// Asserts that what `P` made is what the reference did.
pub(in crate::cipher) fn assert_blocks<P: Permutation>(output: &[V<P>], expected: &[Block]) {
    assert_eq!(blocks(output), expected, "{} x {}", std::any::type_name::<P>(), output.len());
}

/// Counts the calls and checks their order.
pub(in crate::cipher) struct Calls(usize);

impl Meanwhile for Calls {
    fn step(&mut self, call: usize) {
        assert_eq!(call, self.0);
        self.0 += 1;
    }
}

/// N registers of `input` through `cipher`, with its calls counted.
pub(in crate::cipher) fn apply_counting<P: Permutation, const N: usize>(
    cipher: &P,
    input: &[Block],
) -> [V<P>; N] {
    let mut calls = Calls(0);
    let output = cipher.apply_while(registers(cipher.isa(), input), &mut calls);
    assert!(calls.0 >= CALLS);
    output
}
