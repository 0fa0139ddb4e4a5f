//! Ciphertext stealing: a unit that ends within a block (IEEE 1619 sections 5.3.2 and 5.4.2).

use cipherlane_core::BLOCK;

use super::Direction;
use super::unit::tweaked;
use crate::cipher::{Nothing, Permutation, V};
use crate::job::Message;
use crate::lanes::{Isa, Lanes, times_x_of_tweak};
use crate::rows::{load_block, store_block};

/// Ends a unit: its last whole block, whose tweak is `tweak`, and a cut one.
///
/// The whole block is run first. Its result gives its first bytes to the cut block and its last bytes to what was in
/// the cut block, which is then run in its place. Encryption takes the tweak of the whole block first and that of
/// the cut block second; decryption takes them the other way round.
///
/// # Safety
/// The pointers of `message` are good, and nobody else touches its output.
#[inline(always)]
pub(super) unsafe fn steal<P: Permutation, D: Direction>(cipher: &P, tweak: [u8; BLOCK], message: Message) {
    let cut = message.bytes - BLOCK;
    debug_assert!((1..BLOCK).contains(&cut));
    let next = times_x_of_tweak(u128::from_le_bytes(tweak)).to_le_bytes();
    let (first, second) = if D::DECRYPT { (next, tweak) } else { (tweak, next) };
    // SAFETY: the message has a block and `cut` bytes, and its input is read before its output is written.
    unsafe {
        let whole = run(cipher, load_block(message.input, BLOCK), first);
        let rest = load_block(message.input.add(BLOCK), cut);
        let stolen = whole & (u128::MAX << (8 * cut));
        store_block(whole, message.output.add(BLOCK), cut);
        store_block(run(cipher, rest | stolen, second), message.output, BLOCK);
    }
}

/// One block under `tweak`, little-endian.
#[inline(always)]
fn run<P: Permutation>(cipher: &P, block: u128, tweak: [u8; BLOCK]) -> u128 {
    let isa = cipher.isa();
    let [output]: [V<P>; 1] =
        tweaked(cipher, [isa.splat(&block.to_le_bytes())], &[isa.splat(&tweak)], &mut Nothing);
    u128::from_le_bytes(output.to_blocks()[0])
}
