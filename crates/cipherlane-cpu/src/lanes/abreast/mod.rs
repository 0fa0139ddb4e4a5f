//! CBC encryption of eight registers of streams in instructions of our own order: beside the rounds of their blocks, those
//! before them leave the stage, and the next ones enter it.
//!
//! Between two blocks of a stream is nothing but rounds: the next text comes in with the last key. Eight registers are then
//! just enough to begin two rounds in each clock, on two ports of a CPU of AMD's; shuffles have the second of them and a third
//! one. So blocks come from the lines of their streams, and go back, by one shuffle a register in place of two: half a line
//! is loaded behind half of another.

#[macro_use]
mod slots;

use std::arch::asm;

use cipherlane_core::BLOCK;

use super::vaes512::X4;
use super::{ABREAST, Abreast, Lanes};

/// Encrypts all stages of `streams` with `keys`; returns the last block of each.
///
/// # Safety
/// This CPU has what [`super::vaes512::Vaes512`] proves; `keys` has ROUNDS + 1 registers, and the caller keeps what
/// [`Abreast`] asks for.
#[inline]
#[target_feature(enable = "avx512f,vaes")]
pub(super) unsafe fn encrypt<const ROUNDS: usize>(keys: *const X4, streams: Abreast<X4>) -> [X4; ABREAST] {
    let Abreast { inputs, outputs, stages: [mut there, mut here], mut chains, count, steps } = streams;
    // What enters is `$enters` stages from the start of the streams, what leaves `$leaves`.
    macro_rules! pass {
        ($enters:expr, $leaves:expr; $keys:expr, $($text:expr),*) => {
            asm!(
                $keys,
                "2:",
                next!(),
                $($text,)*
                step!(),
                text = inout(reg) keys => _,
                here = inout(reg) here => _, next = out(reg) _,
                there = inout(reg) there => _, other = in(reg) there,
                inputs = inout(reg) inputs => _, outputs = inout(reg) outputs => _,
                enters = inout(reg) $enters * steps * BLOCK => _, leaves = inout(reg) $leaves * steps * BLOCK => _,
                left = inout(reg) steps => _,
                lines = in(reg) steps / ABREAST, pair = inout(reg) steps / ABREAST => _,
                inout("zmm0") chains[0].0, inout("zmm1") chains[1].0, inout("zmm2") chains[2].0,
                inout("zmm3") chains[3].0, inout("zmm4") chains[4].0, inout("zmm5") chains[5].0,
                inout("zmm6") chains[6].0, inout("zmm7") chains[7].0,
                out("zmm8") _, out("zmm9") _, out("zmm10") _, out("zmm11") _, out("zmm12") _, out("zmm13") _,
                out("zmm14") _, out("zmm15") _, out("zmm16") _, out("zmm17") _, out("zmm18") _, out("zmm19") _,
                out("zmm20") _, out("zmm21") _, out("zmm22") _, out("zmm23") _, out("zmm24") _, out("zmm25") _,
                out("zmm26") _, out("zmm27") _, out("zmm28") _, out("zmm29") _, out("zmm30") _, out("zmm31") _,
                options(nostack),
            )
        };
    }
    macro_rules! stage {
        ($number:ident $keys:ident $rounds:ident $leave:ident $enter:ident) => {
            pass!($number + 1, $number.max(1) - 1; $keys!(), $rounds!($leave $enter), last!())
        };
    }
    macro_rules! stage_of {
        ($number:ident $keys:ident $rounds:ident) => {
            match $number {
                0 => stage!($number $keys $rounds alone enter),
                _ if $number + 1 < count => stage!($number $keys $rounds leave enter),
                _ => stage!($number $keys $rounds leave alone),
            }
        };
    }
    // SAFETY: the caller's; the first blocks are there before they are read, and the last ones stay.
    unsafe {
        pass!(0, 0; "", parts!(enter));
        (here, there) = (there, here);
        for (chain, i) in chains.iter_mut().zip(0..) {
            *chain = chain.xor(*keys).xor(*here.add(i));
        }
        for number in 0..count {
            match ROUNDS {
                10 => stage_of!(number keys_10 rounds_10),
                12 => stage_of!(number keys_12 rounds_12),
                _ => stage_of!(number keys_14 rounds_14),
            }
            (here, there) = (there, here);
        }
        pass!(0, count - 1; "", parts!(leave));
        for (chain, i) in chains.iter_mut().zip((steps - 1) * ABREAST..) {
            *chain = *there.add(i);
        }
    }
    chains
}
