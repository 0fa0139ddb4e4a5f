//! Order that the compiler keeps.
//!
//! Between two rounds of a block cipher on several registers the compiler is free to run one register through all
//! rounds before it starts the next: fewer values live at a time, but each waits for its own last round, and the CPU
//! looks ahead no further than some of these chains. A register that was pinned has been computed at this point, and
//! pins keep their order. Not an instruction comes of it.

use std::arch::asm;
use std::arch::x86_64::{__m128i, __m256i, __m512i};

/// `x`, computed no later.
#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn zmm(mut x: __m512i) -> __m512i {
    // SAFETY: no instruction.
    unsafe { asm!("/* {0} */", inout(zmm_reg) x, options(nomem, nostack, preserves_flags)) }
    x
}

/// `x`, computed no later.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn ymm(mut x: __m256i) -> __m256i {
    // SAFETY: no instruction.
    unsafe { asm!("/* {0} */", inout(ymm_reg) x, options(nomem, nostack, preserves_flags)) }
    x
}

/// `x`, computed no later.
#[inline]
#[target_feature(enable = "sse2")]
pub(super) fn xmm(mut x: __m128i) -> __m128i {
    // SAFETY: no instruction.
    unsafe { asm!("/* {0} */", inout(xmm_reg) x, options(nomem, nostack, preserves_flags)) }
    x
}
