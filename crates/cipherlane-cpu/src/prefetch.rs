//! Lines of the caches that are asked for before they are needed.
//!
//! CPUs ask for the lines that follow by themselves, but within a page of 4 KiB, and begin anew at each. Texts that come
//! from behind the second cache gain by asking ahead, for the lines of the output as well; those within it lose as much by
//! instructions that bring nothing.

use crate::job::Message;

/// Bytes of a line.
pub(crate) const LINE: usize = 64;

/// Fewest bytes between what is run and what is asked for. Between 512 and 4096 it makes no difference, but for groups as
/// long as that: they want two of them.
pub(crate) const DISTANCE: usize = 2048;
// Pairs of groups are counted in its bits below.
const _: () = assert!(DISTANCE.is_multiple_of(2048));

/// Asks for the lines of a group of `bytes` bytes some way behind the start of `message`, which need not reach that far:
/// those of its input, and in turn with them those of its OUTPUT, unless that is stored past the caches.
#[inline(always)]
pub(crate) fn prefetch<const OUTPUT: bool>(message: Message, bytes: usize) {
    let from = DISTANCE.max(2 * bytes);
    let mut at = from;
    while at < from + bytes {
        ask(message.input.wrapping_add(at));
        if OUTPUT {
            ask(message.output.cast_const().wrapping_add(at));
        }
        at += LINE;
    }
}

/// Asks for all lines of `message`, if they are better asked for, as [`prefetch`] does.
#[inline(always)]
pub(crate) fn prefetch_all(message: Message) {
    if message.prefetched {
        for at in (0..message.bytes).step_by(LINE) {
            ask(message.input.wrapping_add(at));
            ask(message.output.cast_const().wrapping_add(at));
        }
    }
}

/// Asks for the line at `place`, be there one or not.
#[inline(always)]
pub(crate) fn ask(place: *const u8) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: every x86-64 has SSE, and a prefetch touches nothing that the program can see.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(place.cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = place;
}
