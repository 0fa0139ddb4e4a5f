//! The ends of messages, in whole registers.

use super::MAX_END;
use crate::lanes::{Isa, Lanes, MAX_LANES};

/// Lays `bytes` bytes of an end at `to`: `rest` bytes of text, where `padding` has zeros, and the padding behind them.
///
/// # Safety
/// `text` has so many readable bytes, and the others have `bytes` bytes, as whole registers.
#[inline(always)]
pub(super) unsafe fn lay<I: Isa>(
    isa: I,
    to: *mut u8,
    (text, rest): (*const u8, usize),
    padding: *const u8,
    bytes: usize,
) {
    let width = I::V::BYTES;
    // A loop that knows its end.
    for at in (0..MAX_END).step_by(width) {
        if at >= bytes {
            break;
        }
        let left = rest.saturating_sub(at);
        // SAFETY: the caller's.
        unsafe {
            let from = text.wrapping_add(at);
            // Registers with masks need no branch.
            let text = if I::V::LANES < MAX_LANES && left >= width {
                isa.load(from)
            } else {
                isa.load_partial(from, left.min(width))
            };
            text.xor(isa.load(padding.add(at))).store(to.add(at));
        }
    }
}
