//! Some bytes of a block or of two, in registers of CPUs that have no masks for bytes (AVX-512 has).
//!
//! What reaches beyond a block is moved by overlapping accesses: a copy through memory would make a wide load wait for
//! narrow stores.

use std::arch::x86_64::*;

use cipherlane_core::BLOCK;

use crate::rows::{load_word, store_word};

/// Which byte of a block goes where, with zeros before and behind it. A register from 16 + n on moves the bytes of a block
/// down by n, which is at most 16; one from n on moves them up by 16 - n.
static PLACES: [u8; 3 * BLOCK] = {
    let mut places = [0x80; 3 * BLOCK];
    let mut i = 0;
    while i < BLOCK {
        places[BLOCK + i] = i as u8;
        i += 1;
    }
    places
};

/// `block` with its bytes moved down by `by`, at most 16, and zeros behind them.
///
/// # Safety
/// This CPU has SSSE3.
#[inline(always)]
unsafe fn moved_down(block: __m128i, by: usize) -> __m128i {
    debug_assert!(by <= BLOCK);
    // SAFETY: the caller's; the table goes on for a register.
    unsafe { _mm_shuffle_epi8(block, _mm_loadu_si128(PLACES.as_ptr().add(BLOCK + by).cast())) }
}

/// `block` with its bytes moved up by 16 - `kept`, and zeros before them.
///
/// # Safety
/// This CPU has SSSE3.
#[inline(always)]
unsafe fn moved_up(block: __m128i, kept: usize) -> __m128i {
    debug_assert!(kept <= BLOCK);
    // SAFETY: the caller's; the table goes on for a register.
    unsafe { _mm_shuffle_epi8(block, _mm_loadu_si128(PLACES.as_ptr().add(kept).cast())) }
}

/// The first `bytes` bytes at `from`, at most 16, then zeros.
///
/// # Safety
/// They are readable, and this CPU has SSSE3.
#[inline(always)]
#[allow(clippy::cast_possible_wrap)] // bits in another type
pub(super) unsafe fn load(from: *const u8, bytes: usize) -> __m128i {
    // SAFETY: the caller's; each branch reads within the bytes, the first and the last ones.
    unsafe {
        match bytes {
            BLOCK.. => _mm_loadu_si128(from.cast()),
            8.. => {
                let last = _mm_loadl_epi64(from.add(bytes - 8).cast());
                _mm_unpacklo_epi64(_mm_loadl_epi64(from.cast()), moved_down(last, BLOCK - bytes))
            }
            1.. => _mm_cvtsi64_si128(load_word(from, bytes) as i64),
            0 => _mm_setzero_si128(),
        }
    }
}

/// Stores the first `bytes` bytes of `block`, at most 16, to `to`.
///
/// # Safety
/// They are writable, and this CPU has SSSE3.
#[inline(always)]
#[allow(clippy::cast_sign_loss)] // bits in another type
pub(super) unsafe fn store(block: __m128i, to: *mut u8, bytes: usize) {
    // SAFETY: the caller's; each branch writes within the bytes, the first and the last ones.
    unsafe {
        match bytes {
            BLOCK.. => _mm_storeu_si128(to.cast(), block),
            8.. => {
                _mm_storel_epi64(to.add(bytes - 8).cast(), moved_down(block, bytes - 8));
                _mm_storel_epi64(to.cast(), block);
            }
            1.. => store_word(_mm_cvtsi128_si64(block) as u64, to, bytes),
            0 => {}
        }
    }
}

/// The first `bytes` bytes at `from`, at most 32, as two blocks, then zeros.
///
/// # Safety
/// They are readable, and this CPU has SSSE3.
#[inline(always)]
pub(super) unsafe fn load_two(from: *const u8, bytes: usize) -> [__m128i; 2] {
    // SAFETY: the caller's; the last block reaches back into the first one.
    unsafe {
        if bytes >= BLOCK {
            let last = _mm_loadu_si128(from.add(bytes - BLOCK).cast());
            [_mm_loadu_si128(from.cast()), moved_down(last, 2 * BLOCK - bytes)]
        } else {
            [load(from, bytes), _mm_setzero_si128()]
        }
    }
}

/// Stores the first `bytes` bytes of two blocks, at most 32, to `to`.
///
/// # Safety
/// They are writable, and this CPU has SSSE3.
#[inline(always)]
pub(super) unsafe fn store_two([first, second]: [__m128i; 2], to: *mut u8, bytes: usize) {
    // SAFETY: the caller's; the last block reaches back into the first one.
    unsafe {
        if bytes >= BLOCK {
            let over = bytes - BLOCK;
            let last = _mm_or_si128(moved_down(first, over), moved_up(second, over));
            _mm_storeu_si128(to.add(over).cast(), last);
            _mm_storeu_si128(to.cast(), first);
        } else {
            store(first, to, bytes);
        }
    }
}
