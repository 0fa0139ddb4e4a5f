//! GCM's two halves in one sequence of instructions, of our own order: AES of eight registers, and GHASH of eight
//! others.
//!
//! A CPU of AMD's starts a carry-less multiplication every other clock, and a group of eight registers has 26: 52
//! clocks, in which AES-128 wants 40 of two other ports. The compiler knows neither and gathers multiplications, with
//! which the scheduler fills until nothing else gets in: a group took 73 clocks on Zen 5. Spread evenly it takes 66,
//! and with AES-256 72 in the place of 88.

#[macro_use]
mod slots;

use std::arch::asm;
use std::arch::x86_64::_mm512_loadu_si512;

use super::vaes512::X4;
use super::{Begun, Lanes, REFLECTED_POLYNOMIAL, Woven};

static POLYNOMIAL: [u128; X4::LANES] = [REFLECTED_POLYNOMIAL; X4::LANES];
/// The pattern of a byte shuffle that reverses a block.
static REVERSED: [u128; X4::LANES] = [0x0001_0203_0405_0607_0809_0a0b_0c0d_0e0f; X4::LANES];

/// Encrypts and hashes `groups` with `keys`; returns the state after them.
///
/// # Safety
/// This CPU has what [`super::vaes512::Vaes512`] proves; `keys` has ROUNDS + 1 registers, and the caller keeps what
/// [`Woven`] asks for.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,vaes,vpclmulqdq")]
pub(super) unsafe fn encrypt<const ROUNDS: usize>(keys: *const X4, groups: Woven<X4>) -> X4 {
    let Woven { counters, mut state, input, output, hashed, powers, sums } = groups;
    let Begun { rest, last, effects, groups } = counters;
    // SAFETY: both fill a register.
    let (polynomial, reversed) = unsafe {
        (_mm512_loadu_si512((&raw const POLYNOMIAL).cast()), _mm512_loadu_si512((&raw const REVERSED).cast()))
    };
    macro_rules! pass {
        ($density:ident $rounds:tt $last:literal) => {
            // The slots: four pairs of registers, the state the first of all, then the reduction (Gueron and Kounavis),
            // to which the last register of the group is added.
            weave!($density $rounds $last [
                [text 9 0]
                [low 10 22 0] [lows 14 22 9] [low 11 9 1] [highs 15 22 9] [high 12 22 0] [set 14 14 15]
                [high 13 9 1] [set 16 10 11] [middle0 10 14 0] [set 17 12 13] [middle1 9 14 1] [set 18 10 9]
                [text 19 1] [text 20 2]
                [low 21 19 2] [lows 14 19 20] [low 23 20 3] [highs 15 19 20] [high 24 19 2] [set 14 14 15]
                [high 26 20 3] [add 16 21 23] [middle0 19 14 2] [add 17 24 26] [middle1 20 14 3] [add 18 19 20]
                [text 8 3] [text 9 4]
                [low 10 8 4] [lows 14 8 9] [low 11 9 5] [highs 15 8 9] [high 12 8 4] [set 14 14 15]
                [high 13 9 5] [add 16 10 11] [middle0 8 14 4] [add 17 12 13] [middle1 9 14 5] [add 18 8 9]
                [text 19 5] [text 20 6] [text 22 7]
                [low 21 19 6] [lows 14 19 20] [low 23 20 7] [highs 15 19 20] [high 24 19 6] [set 14 14 15]
                [high 26 20 7] [add 16 21 23] [middle0 19 14 6] [add 17 24 26] [middle1 20 14 7] [add 18 19 20]
                [fold 23 16] [add 18 16 17] [swap 24 16] [add 18 23 24]
                [fold 23 18] [set 22 22 17] [swap 24 18] [add 22 23 24]
            ] {
                keys = in(reg) keys, powers = in(reg) powers, sums = in(reg) sums,
                effects = in(reg) effects, hashed = in(reg) hashed, input = in(reg) input, output = in(reg) output,
                groups = inout(reg) groups => _, at = inout(reg) 0_usize => _,
                inout("zmm22") state.0,
                in("zmm28") polynomial, in("zmm29") reversed, in("zmm31") rest.0,
                in("zmm27") last.0,
                out("zmm0") _, out("zmm1") _, out("zmm2") _, out("zmm3") _,
                out("zmm4") _, out("zmm5") _, out("zmm6") _, out("zmm7") _,
                out("zmm8") _, out("zmm9") _, out("zmm10") _, out("zmm11") _, out("zmm12") _, out("zmm13") _,
                out("zmm14") _, out("zmm15") _, out("zmm16") _, out("zmm17") _, out("zmm18") _, out("zmm19") _,
                out("zmm20") _, out("zmm21") _, out("zmm23") _, out("zmm24") _, out("zmm25") _, out("zmm26") _,
                out("zmm30") _,
                options(nostack),
            })
        };
    }
    // SAFETY: the caller's.
    unsafe {
        match ROUNDS {
            10 => pass!(seven [2 3 4 5 6 7 8 9] 10),
            12 => pass!(six [2 3 4 5 6 7 8 9 10 11] 12),
            _ => pass!(five [2 3 4 5 6 7 8 9 10 11 12 13] 14),
        }
    }
    state
}
