//! Registers of messages in assembly, with AVX-512: the rounds of two registers zipped, instruction by instruction.
//!
//! A round waits eight clocks for the one before, or six where its longest sum is taken twice, and has 25 instructions,
//! of which Zen 5 starts four a clock. Those of two registers of messages fill each other's waits. Two registers have
//! 48 words and variables, more than there are registers; the compiler moves them to and fro, and takes 1350 clocks for
//! 64 rounds of SHA-256. Here the words are in memory, where an addition takes them from at no cost.
//!
//! The last sixteen rounds have no words to expand, and would wait: beside them the next block is loaded and
//! transposed. With that 2048 bytes take some 950 clocks, at four instructions a clock 820.
//!
//! A block that is the same for all messages, padding alone, needs neither words nor their expansion in registers: they
//! are made once, of integers.
//!
//! No address and no branch depends on a word of a message.

#[macro_use]
mod rounds;

use std::arch::naked_asm;
use std::mem::MaybeUninit;

use super::constants::{K_32, K_64};
use super::in_lanes::{Compress, InRegister, load};
use super::rounds::{Schedule, Variables};
use super::word::{Word, Words32, Words64};
use crate::hash::{MAX_BLOCK, MAX_STREAMS, Shared};
use crate::lanes::vaes512::{Vaes512, X4};
use crate::prefetch;

/// One register of messages, or two.
#[derive(Clone, Copy)]
pub(crate) struct Zipped;

impl Compress<Words32<X4>> for Zipped {
    #[inline(always)]
    unsafe fn absorb<const SETS: usize>(
        isa: Vaes512,
        states: &mut Variables<Words32<X4>, SETS>,
        from: &[*const u8; MAX_STREAMS],
        blocks: usize,
    ) {
        // SAFETY: a `Vaes512` proves the instructions; the rest is the caller's.
        unsafe {
            let run = if SETS == 1 { one_of_32 } else { two_of_32 };
            absorb::<_, SETS>(isa, run, states, from, blocks);
        }
    }

    #[inline(always)]
    fn prepare(shared: &mut Shared) {
        shared.sums = sums(&shared.block);
    }

    #[inline(always)]
    fn absorb_alike<const SETS: usize>(
        _: Vaes512,
        states: &mut Variables<Words32<X4>, SETS>,
        shared: &Shared,
    ) {
        // SAFETY: a `Vaes512` proves the instructions; the arrays are as long as the function says.
        unsafe {
            let run = if SETS == 1 { one_of_32_alike } else { two_of_32_alike };
            run(states.as_mut_ptr().cast(), shared.sums.as_ptr());
        }
    }
}

impl Compress<Words64<X4>> for Zipped {
    #[inline(always)]
    unsafe fn absorb<const SETS: usize>(
        isa: Vaes512,
        states: &mut Variables<Words64<X4>, SETS>,
        from: &[*const u8; MAX_STREAMS],
        blocks: usize,
    ) {
        // SAFETY: a `Vaes512` proves the instructions; the rest is the caller's.
        unsafe {
            let run = if SETS == 1 { one_of_64 } else { two_of_64 };
            absorb::<_, SETS>(isa, run, states, from, blocks);
        }
    }
}

/// What absorbs blocks of each message.
type Run = unsafe extern "sysv64" fn(*mut X4, *mut X4, *mut X4, *const *const u8, usize);

/// Runs `run` on its arrays.
///
/// # Safety
/// That of [`Compress::absorb`], and of `run`, which is for SETS registers of these messages, but for its arrays.
#[inline(always)]
unsafe fn absorb<T: InRegister, const SETS: usize>(
    isa: T::Isa,
    run: Run,
    states: &mut Variables<T, SETS>,
    from: &[*const u8; MAX_STREAMS],
    blocks: usize,
) {
    const { assert!(SETS == 1 || SETS == 2) };
    debug_assert!(blocks > 0);
    // SAFETY: the caller's.
    let mut words = unsafe { begin::<T, SETS>(isa, from, blocks) };
    let mut next = MaybeUninit::<Schedule<T, SETS>>::uninit();
    // SAFETY: the caller's; the arrays are of SETS registers.
    unsafe {
        let (states, words) = (states.as_mut_ptr().cast(), words.as_mut_ptr().cast());
        run(states, words, next.as_mut_ptr().cast(), from.as_ptr(), blocks);
    }
}

/// The words of the first block of `blocks`; the lines of the second one are asked for. Messages some KiB apart share
/// few sets of the first cache, and their lines come from the second one every time.
///
/// # Safety
/// That of [`Compress::absorb`].
#[inline(always)]
unsafe fn begin<T: InRegister, const SETS: usize>(
    isa: T::Isa,
    from: &[*const u8; MAX_STREAMS],
    blocks: usize,
) -> Schedule<T, SETS> {
    // SAFETY: the caller's.
    let words = unsafe { load(isa, from, 0) };
    if blocks > 1 {
        ask::<T, SETS>(from, 16 * size_of::<T::Integer>());
    }
    words
}

/// Asks for the lines of each message's block, which begins at `at`.
#[inline(always)]
fn ask<T: InRegister, const SETS: usize>(from: &[*const u8; MAX_STREAMS], at: usize) {
    for from in &from[..SETS * T::COUNT] {
        let mut line = 0;
        while line < 16 * size_of::<T::Integer>() {
            prefetch::ask(from.wrapping_add(at + line));
            line += prefetch::LINE;
        }
    }
}

/// What reverses the bytes of words: the place that each byte comes from, within 16 of them.
#[repr(align(64))]
struct Reversed(#[expect(dead_code, reason = "assembly reads it")] [u8; 64]);

impl Reversed {
    /// Of words of `bytes` bytes, a power of two.
    const fn new(bytes: usize) -> Self {
        let mut places = [0; 64];
        let mut i = 0;
        while i < 64 {
            places[i] = ((i % 16) ^ (bytes - 1)) as u8;
            i += 1;
        }
        Self(places)
    }
}

static REVERSED_32: Reversed = Reversed::new(4);
static REVERSED_64: Reversed = Reversed::new(8);

/// The words of the message schedule of SHA-256, each with the constant of its round, for the block at the start of `block`.
#[inline(always)]
fn sums(block: &[u8; MAX_BLOCK]) -> [u32; 64] {
    let mut words = [0; 64];
    for (word, bytes) in words[..16].iter_mut().zip(block.as_chunks().0) {
        *word = u32::from_be_bytes(*bytes);
    }
    // Each waits for the one two before, which had better stay out of memory.
    let [mut before_2, mut before_1] = [words[14], words[15]];
    for t in 16..64 {
        let sum = words[t - 16].plus(words[t - 15].sigma_0()).plus(words[t - 7]);
        words[t] = sum.plus(before_2.sigma_1());
        [before_2, before_1] = [before_1, words[t]];
    }
    for (word, constant) in words.iter_mut().zip(K_32) {
        *word = word.plus(constant);
    }
    words
}

/// Absorbs blocks of each message: the first one, which is in `words` already, and beside the last sixteen rounds of
/// each the next one. These rounds have no words to expand, and time to spare.
macro_rules! absorb {
    ($name:ident, $sets:ident, $bits:tt, $constants:ident, $reversed:ident, $expansions:literal) => {
        /// # Safety
        /// This CPU has AVX-512F and AVX-512BW; for each set, `states` has 8 registers, `words` 16, `next` room for as
        /// many, and `from` as many pointers as a register has words, to `blocks` blocks each, 1 at least.
        #[unsafe(naked)]
        unsafe extern "sysv64" fn $name(
            states: *mut X4,
            words: *mut X4,
            next: *mut X4,
            from: *const *const u8,
            blocks: usize,
        ) {
            naked_asm!(
                "xor r9d, r9d",
                load!($sets 0 1 2 3 4 5 6 7),
                // For each block.
                "2:",
                "lea r10, [rip + {constants}]",
                concat!("mov r11d, ", $expansions),
                ".p2align 6",
                "3:",
                sixteen!($sets $bits expanding),
                concat!("add r10, 2 * ", $bits),
                "dec r11d",
                "jnz 3b",
                concat!("add r9, 2 * ", $bits),
                "dec r8",
                "jz 4f",
                sixteen!($sets $bits next),
                add_and_store!($sets $bits 0 1 2 3 4 5 6 7),
                "jmp 2b",
                "4:",
                sixteen!($sets $bits last),
                add_and_store!($sets $bits 0 1 2 3 4 5 6 7),
                "vzeroupper",
                "ret",
                constants = sym $constants,
                reversed = sym $reversed,
            )
        }
    };
}

absorb!(one_of_32, one, 32, K_32, REVERSED_32, 3);
absorb!(two_of_32, two, 32, K_32, REVERSED_32, 3);
absorb!(one_of_64, one, 64, K_64, REVERSED_64, 4);
absorb!(two_of_64, two, 64, K_64, REVERSED_64, 4);

/// Absorbs a block that is the same for all messages of SHA-256. With 64-bit words messages of 1 KiB took longer so, though
/// their schedule was made once.
macro_rules! absorb_alike {
    ($name:ident, $sets:ident) => {
        /// # Safety
        /// This CPU has AVX-512F; `states` has 8 registers for each set, `sums` a word for each round, the constant
        /// added.
        #[unsafe(naked)]
        unsafe extern "sysv64" fn $name(states: *mut X4, sums: *const u32) {
            naked_asm!(
                "mov r10, rsi",
                load!($sets 0 1 2 3 4 5 6 7),
                "mov r11d, 4",
                ".p2align 6",
                "2:",
                sixteen!($sets 32 alike),
                "add r10, 64",
                "dec r11d",
                "jnz 2b",
                add_and_store!($sets 32 0 1 2 3 4 5 6 7),
                "vzeroupper",
                "ret",
            )
        }
    };
}

absorb_alike!(one_of_32_alike, one);
absorb_alike!(two_of_32_alike, two);
