//! Ciphertext stealing: a unit that ends within a block (IEEE 1619 sections 5.3.2 and 5.4.2).

use std::ptr::copy_nonoverlapping;

use cipherlane_core::BLOCK;

use super::{Direction, tweaked};
use super::tweak::{MAX_GROUP, times_x};
use crate::cipher::{Permutation, V};
use crate::job::Message;
use crate::lanes::{Isa, Lanes};
use crate::mode::blocks::{load, load_padded, store, store_first};

/// Ends a unit: 1 to N registers of whole blocks with the tweaks `next`, then a cut block.
///
/// With the whole blocks 0..=m - 1, the cut one is m. Block m - 1 is run first; its result gives its first bytes to
/// the cut block and its last bytes to what was in the cut block, which is then run in place of block m - 1. When
/// it encrypts, the first run takes tweak m - 1 and the second tweak m; when it decrypts, the other way round.
///
/// # Safety
/// The pointers of `message` are good, and nobody else touches its output.
#[inline(always)]
pub(super) unsafe fn steal<P: Permutation, D: Direction, const N: usize>(
    cipher: &P,
    next: &[V<P>; N],
    message: Message,
) {
    let (isa, whole, cut) = (cipher.isa(), message.bytes / BLOCK, message.bytes % BLOCK);
    debug_assert!((1..=N * V::<P>::LANES).contains(&whole) && cut > 0);
    let mut tweaks = [[0; BLOCK]; MAX_GROUP];
    // SAFETY: MAX_GROUP blocks hold N registers, or `tweak::start` would not compile. The message has `whole` blocks
    // and `cut` bytes, and its input is read before its output is written.
    unsafe {
        store(*next, tweaks.as_mut_ptr().cast());
        let [first, second] = order::<D>(tweaks[whole - 1]);
        tweaks[whole - 1] = first;
        let tweaks = load::<P::Isa, N>(isa, tweaks.as_ptr().cast());

        let mut last = [0; BLOCK];
        copy_nonoverlapping(message.input.add(whole * BLOCK), last.as_mut_ptr(), cut);
        let input = load_padded::<P::Isa, N>(isa, message.input, whole * BLOCK);
        store_first(tweaked(cipher, input, &tweaks), message.output, whole * BLOCK);

        let end = message.output.add((whole - 1) * BLOCK);
        copy_nonoverlapping(end, end.add(BLOCK), cut);
        copy_nonoverlapping(end.add(cut), last.as_mut_ptr().add(cut), BLOCK - cut);
        let [block] = tweaked(cipher, [isa.splat(&last)], &[isa.splat(&second)]);
        block.store_partial(end, BLOCK);
    }
}

/// The tweaks of the two runs, from the tweak of the last whole block.
#[inline(always)]
fn order<D: Direction>(last_whole: [u8; BLOCK]) -> [[u8; BLOCK]; 2] {
    let cut = times_x(u128::from_le_bytes(last_whole)).to_le_bytes();
    if D::DECRYPT { [cut, last_whole] } else { [last_whole, cut] }
}
