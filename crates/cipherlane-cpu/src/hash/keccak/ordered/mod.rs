//! The permutation of eight states with AVX-512, in an order of our own.
//!
//! A round is 95 instructions, of which Zen 5 starts four a clock, but only two rotations, and two or three of three operands.
//! It waits: the sums of theta need all of the round before, and every word needs a sum. How much of that is filled depends on
//! which instructions stand where, and the schedulers of the CPU have a mind of their own. The compiler's order takes 31
//! clocks a round, this one 28 to 29.
//!
//! Beside the rounds words of the next block are copied, by the integer unit ([`Ahead`]).
//!
//! No address and no branch depends on a word of a state.

#[macro_use]
mod order;

use std::arch::asm;
use std::arch::x86_64::__m512i;

use super::WORDS;
use super::ahead::Ahead;
use super::permutation::{Permute, ROUND_CONSTANTS};
use crate::lanes::vaes512::X4;

/// Zen 5's order.
#[derive(Clone, Copy)]
pub(crate) struct Ordered;

/// An instruction.
macro_rules! instruction {
    [move $to:literal $from:literal] => { concat!("vmovdqa64 zmm", $to, ", zmm", $from, "\n") };
    [xor $to:literal $x:literal $y:literal] => { concat!("vpxorq zmm", $to, ", zmm", $x, ", zmm", $y, "\n") };
    [rotate $to:literal $from:literal $bits:literal] => {
        concat!("vprolq zmm", $to, ", zmm", $from, ", ", $bits, "\n")
    };
    // `to ^ x ^ y`.
    [sum $to:literal $x:literal $y:literal] => {
        concat!("vpternlogq zmm", $to, ", zmm", $x, ", zmm", $y, ", 0x96\n")
    };
    // Chi: `to ^ (!x & y)`, `x ^ (!y & to)` and `x ^ (!to & y)`.
    [chi $to:literal $x:literal $y:literal] => {
        concat!("vpternlogq zmm", $to, ", zmm", $x, ", zmm", $y, ", 0xd2\n")
    };
    [chi_by_next $to:literal $x:literal $y:literal] => {
        concat!("vpternlogq zmm", $to, ", zmm", $x, ", zmm", $y, ", 0x9c\n")
    };
    [chi_by_last $to:literal $x:literal $y:literal] => {
        concat!("vpternlogq zmm", $to, ", zmm", $x, ", zmm", $y, ", 0xc6\n")
    };
    // The constant of the first or the second of two rounds.
    [iota $to:literal $from:literal $round:literal] => {
        concat!("vpxorq zmm", $to, ", zmm", $from, ", qword ptr [{constants} + 8 * ", $round, "]{{1to8}}\n")
    };
    // One of two words of a message.
    [copy $word:literal $message:literal] => {
        concat!(
            "mov {text}, [{from} + 8 * ", $message, "]\n",
            "mov {text}, [{text} + {at} + 8 * ", $word, "]\n",
            "mov [{to} + 64 * ", $word, " + 8 * ", $message, "], {text}\n",
        )
    };
}

/// Two rounds beside which words are copied.
macro_rules! copying {
    ($([$($of:tt)*])*) => { concat!($(instruction![$($of)*],)* "add {constants}, 16\n") };
}

/// The same without those words.
macro_rules! alone {
    ($([$name:ident $($of:tt)*])*) => { concat!($(alone!(@ $name $($of)*),)* "add {constants}, 16\n") };
    (@ copy $($of:tt)*) => { "" };
    (@ $name:ident $($of:tt)*) => { instruction![$name $($of)*] };
}

impl Permute<X4> for Ordered {
    const COPIES: bool = true;

    #[inline(always)]
    unsafe fn permute(state: [X4; WORDS], ahead: &Ahead<'_>) -> [X4; WORDS] {
        // SAFETY: an `X4` proves the instructions, and is its register; what is ahead is the caller's.
        unsafe {
            let words = std::mem::transmute::<[X4; WORDS], [__m512i; WORDS]>(state);
            std::mem::transmute::<[__m512i; WORDS], [X4; WORDS]>(permute(words, ahead))
        }
    }
}

/// All rounds, beside which words are copied.
///
/// # Safety
/// What [`Ahead`] says is true.
#[inline]
#[target_feature(enable = "avx512f")]
unsafe fn permute(mut words: [__m512i; WORDS], ahead: &Ahead<'_>) -> [__m512i; WORDS] {
    let &Ahead { from, at, to, pairs, hop, .. } = ahead;
    debug_assert!(pairs < ROUND_CONSTANTS.len() / 2);
    // SAFETY: the caller's.
    unsafe {
        asm!(
            "test {pairs:e}, {pairs:e}",
            "jz 3f",
            ".p2align 6",
            "2:",
            two_rounds!(copying),
            "lea {at}, [{at} + 8 * {hop}]",
            "shl {hop}, 6",
            "add {to}, {hop}",
            "mov {hop:e}, 2",
            "sub {pairs:e}, 1",
            "jnz 2b",
            ".p2align 6",
            "3:",
            two_rounds!(alone),
            "sub {left:e}, 1",
            "jnz 3b",
            constants = inout(reg) ROUND_CONSTANTS.as_ptr() => _,
            text = out(reg) _,
            from = in(reg) from, at = inout(reg) at => _, to = inout(reg) to => _,
            hop = inout(reg) hop => _, pairs = inout(reg) pairs => _,
            left = inout(reg) ROUND_CONSTANTS.len() / 2 - pairs => _,
            inout("zmm0") words[0], inout("zmm1") words[1], inout("zmm2") words[2],
            inout("zmm3") words[3], inout("zmm4") words[4], inout("zmm5") words[5],
            inout("zmm6") words[6], inout("zmm7") words[7], inout("zmm8") words[8],
            inout("zmm9") words[9], inout("zmm10") words[10], inout("zmm11") words[11],
            inout("zmm12") words[12], inout("zmm13") words[13], inout("zmm14") words[14],
            inout("zmm15") words[15], inout("zmm16") words[16], inout("zmm17") words[17],
            inout("zmm18") words[18], inout("zmm19") words[19], inout("zmm20") words[20],
            inout("zmm21") words[21], inout("zmm22") words[22], inout("zmm23") words[23],
            inout("zmm24") words[24],
            out("zmm25") _, out("zmm26") _, out("zmm27") _, out("zmm28") _, out("zmm29") _, out("zmm30") _,
            out("zmm31") _,
            options(nostack),
        );
    }
    words
}
