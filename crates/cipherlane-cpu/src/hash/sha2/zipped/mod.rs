//! Registers of messages in assembly, with AVX-512: the rounds of two registers zipped, instruction by instruction.
//!
//! A round waits eight clocks for the one before, or six where its longest sum is taken twice, and has 25 instructions,
//! of which Zen 5 starts four a clock. Those of two registers of messages fill each other's waits: 64 rounds of
//! SHA-256 take 840 clocks for 2048 bytes, at four instructions a clock 808. Two registers have 48 words and variables,
//! more than there are registers; the compiler moves them to and fro, and takes 1350. Here the words are in memory,
//! where an addition takes them from at no cost.
//!
//! No address and no branch depends on a word of a message.

#[macro_use]
mod rounds;

use std::arch::naked_asm;

use super::constants::{K_32, K_64};
use super::in_lanes::Compress;
use super::rounds::{Schedule, Variables};
use super::word::{Words32, Words64};
use crate::lanes::vaes512::X4;

/// One register of messages, or two.
#[derive(Clone, Copy)]
pub(crate) struct Zipped;

impl Compress<Words32<X4>> for Zipped {
    const ASKS_AHEAD: bool = true;

    #[inline(always)]
    fn compress<const SETS: usize>(
        states: &mut Variables<Words32<X4>, SETS>,
        words: &mut Schedule<Words32<X4>, SETS>,
    ) {
        const { assert!(SETS == 1 || SETS == 2) };
        let (states, words) = (states.as_mut_ptr().cast(), words.as_mut_ptr().cast());
        // SAFETY: an `X4` proves the instructions, and both arrays are of so many registers.
        unsafe { if SETS == 1 { one_of_32(states, words) } else { two_of_32(states, words) } }
    }
}

impl Compress<Words64<X4>> for Zipped {
    const ASKS_AHEAD: bool = true;

    #[inline(always)]
    fn compress<const SETS: usize>(
        states: &mut Variables<Words64<X4>, SETS>,
        words: &mut Schedule<Words64<X4>, SETS>,
    ) {
        const { assert!(SETS == 1 || SETS == 2) };
        let (states, words) = (states.as_mut_ptr().cast(), words.as_mut_ptr().cast());
        // SAFETY: an `X4` proves the instructions, and both arrays are of so many registers.
        unsafe { if SETS == 1 { one_of_64(states, words) } else { two_of_64(states, words) } }
    }
}

/// Compresses one block of each message.
macro_rules! compress {
    ($name:ident, $sets:ident, $bits:tt, $constants:ident, $expansions:literal) => {
        /// # Safety
        /// This CPU has AVX-512F; for each set, `states` has 8 registers and `words` 16.
        #[unsafe(naked)]
        unsafe extern "sysv64" fn $name(states: *mut X4, words: *mut X4) {
            naked_asm!(
                "lea rcx, [rip + {constants}]",
                concat!("mov edx, ", $expansions),
                load!($sets 0 1 2 3 4 5 6 7),
                ".p2align 6",
                "2:",
                sixteen!($sets $bits expanding),
                concat!("add rcx, 2 * ", $bits),
                "dec edx",
                "jnz 2b",
                sixteen!($sets $bits last),
                add_and_store!($sets $bits 0 1 2 3 4 5 6 7),
                "vzeroupper",
                "ret",
                constants = sym $constants,
            )
        }
    };
}

compress!(one_of_32, one, 32, K_32, 3);
compress!(two_of_32, two, 32, K_32, 3);
compress!(one_of_64, one, 64, K_64, 4);
compress!(two_of_64, two, 64, K_64, 4);
