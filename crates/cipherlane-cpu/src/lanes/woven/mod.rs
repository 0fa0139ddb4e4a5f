//! GCM's two halves in one sequence of instructions, of our own order: AES of eight registers, and GHASH of eight
//! others.
//!
//! A CPU of AMD's starts a carry-less multiplication every other clock, and a group of eight registers has 26: 52
//! clocks, in which AES-128 wants 36 of two other ports. The compiler knows neither and gathers multiplications, with
//! which the scheduler fills until nothing else gets in. Each of them has one of Zen 5's four ports for two clocks and
//! that of shuffles for one: with the sums and shuffles of a group AES-128 fills all four for 51 clocks, AES-256 for 59.
//!
//! The loop goes on where the last byte of the counters overflows, every eighth group: between two runs of it the CPU
//! would have less to do.

#[macro_use]
mod slots;
#[macro_use]
mod orders;

use std::arch::asm;
use std::arch::x86_64::{_mm512_loadu_si512, _mm512_setzero_si512};

use cipherlane_core::BLOCK;

use super::vaes512::X4;
use super::{Begun, Lanes, REFLECTED_POLYNOMIAL, TURN, WOVEN, Woven};

/// Blocks of a group.
const BLOCKS: usize = WOVEN * X4::LANES;

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
    let Begun { rest, rests, effects, ahead, behind, groups } = counters;
    // SAFETY: both fill a register.
    let (polynomial, reversed) = unsafe {
        (_mm512_loadu_si512((&raw const POLYNOMIAL).cast()), _mm512_loadu_si512((&raw const REVERSED).cast()))
    };
    // Nothing is left to be reduced before the first group.
    let none = _mm512_setzero_si512();
    // Four words a block.
    let overflown: u16 = !(u16::MAX >> (4 * behind));
    macro_rules! pass {
        ($order:ident $($rest:ident)?) => {
            asm!(
                start!(),
                "2:",
                $order!(),
                next!(),
                $($rest!(),)?
                keys = in(reg) keys, powers = in(reg) powers, sums = in(reg) sums,
                hashed = in(reg) hashed, input = in(reg) input, output = in(reg) output,
                groups = inout(reg) groups => _, at = inout(reg) 0_usize => _,
                rests = inout(reg) rests => _, effects = inout(reg) effects => _, ahead = inout(reg) ahead => _,
                overflown = in(kreg) overflown, turn = const TURN * BLOCK, between = const TURN / BLOCKS - 1,
                inout("zmm22") state.0,
                inout("zmm16") none => _, inout("zmm17") none => _, inout("zmm18") none => _,
                in("zmm28") polynomial, in("zmm29") reversed, inout("zmm31") rest.0 => _,
                out("zmm0") _, out("zmm1") _, out("zmm2") _, out("zmm3") _,
                out("zmm4") _, out("zmm5") _, out("zmm6") _, out("zmm7") _,
                out("zmm8") _, out("zmm9") _, out("zmm10") _, out("zmm11") _, out("zmm12") _, out("zmm13") _,
                out("zmm14") _, out("zmm15") _, out("zmm19") _, out("zmm20") _, out("zmm21") _, out("zmm23") _,
                out("zmm24") _, out("zmm25") _, out("zmm26") _, out("zmm27") _, out("zmm30") _,
                options(nostack),
            )
        };
    }
    // SAFETY: the caller's.
    unsafe {
        match ROUNDS {
            10 => pass!(order_of_10_rounds reduce),
            12 => pass!(order_of_12_rounds),
            _ => pass!(order_of_14_rounds),
        }
    }
    state
}
