//! Texts of one pass that lack some of it.
//!
//! A pass begins with the blocks that a message lacks. They are zeros, which change no hash before a first block, and the
//! cipher takes no longer over them than over any others.

use cipherlane_core::BLOCK;

use super::IN_PASS;
use super::equal::{Followers, InRow};
use super::members::{Place, Texts};
use crate::cipher::Permutation;
use crate::job::Message;
use crate::lanes::{Isa, Lanes, MAX_LANES, Stretch};
use crate::mode::counters::BIG_STEPS;
use crate::mode::gcm::ghash::lengths;

/// Most registers of a message in a pass. They have four lanes.
pub(super) const REGISTERS: usize = IN_PASS / MAX_LANES;

/// What is there of the registers of a pass of R blocks, of a message of `bytes` bytes, one at least.
pub(super) const fn there<const R: usize>(bytes: usize) -> [Stretch; REGISTERS] {
    let start = (R - bytes.div_ceil(BLOCK)) * BLOCK;
    between(start, start + bytes)
}

/// What is there of the registers of a pass of which there are the first `bytes` bytes.
pub(super) const fn up_to(bytes: usize) -> [Stretch; REGISTERS] {
    between(0, bytes)
}

/// What is there of the registers of a pass, from one byte up to another.
const fn between(start: usize, end: usize) -> [Stretch; REGISTERS] {
    let mut there = [Stretch::new(0..0); REGISTERS];
    let mut register = 0;
    while register < REGISTERS {
        there[register] = Stretch::new(of_register(register, start)..of_register(register, end));
        register += 1;
    }
    there
}

/// Where byte `byte` of a pass is in a register, or would be if that were longer.
const fn of_register(register: usize, byte: usize) -> usize {
    let bytes = MAX_LANES * BLOCK;
    let byte = byte.saturating_sub(register * bytes);
    if byte < bytes { byte } else { bytes }
}

/// Equal texts that follow one another, of a pass of R blocks.
#[derive(Clone, Copy)]
pub(in super::super) struct Lacking<const R: usize> {
    /// Where their passes begin: before that, of a first message.
    passes: Followers,
    /// Blocks that each lacks.
    lacking: usize,
    /// What is there of the registers of a message. Put together once: for each register anew it took a third of the time.
    there: [Stretch; REGISTERS],
}

impl<const R: usize> Lacking<R> {
    /// Where a register lies, from the first pass on.
    #[inline(always)]
    fn at<T: Lanes>(&self, (message, _, register): Place) -> usize {
        message * self.passes.bytes + register * T::BYTES
    }
}

impl<const R: usize> InRow for Lacking<R> {
    #[inline(always)]
    fn from<T: Lanes>(Message { input, output, bytes, .. }: Message) -> Self {
        debug_assert!(bytes > 0 && bytes <= R * BLOCK && T::LANES == MAX_LANES);
        let lacking = R - bytes.div_ceil(BLOCK);
        let (input, output) = (input.wrapping_sub(lacking * BLOCK), output.wrapping_sub(lacking * BLOCK));
        Self { passes: Followers { input, output, bytes }, lacking, there: there::<R>(bytes) }
    }

    #[inline(always)]
    fn behind(self, messages: usize) -> Self {
        Self { passes: self.passes.behind(messages), ..self }
    }

    #[inline(always)]
    fn passes(&self) -> usize {
        1
    }
}

impl<T: Lanes, const R: usize> Texts<T> for Lacking<R> {
    #[inline(always)]
    fn are_in_place(&self) -> bool {
        self.passes.are_in_place()
    }

    #[inline(always)]
    fn count<P: Permutation<Isa = T::Isa>>(&self, cipher: &P, nonces: T, _: usize, blocks: &mut [T]) {
        let nonces = cipher.whitened(nonces);
        for (i, block) in blocks.iter_mut().enumerate() {
            *block = nonces.xor(nonces.isa().splat(&BIG_STEPS[(2 + i).saturating_sub(self.lacking)]));
        }
    }

    #[inline(always)]
    unsafe fn load<const OUTPUT: bool>(&self, isa: T::Isa, place @ (_, _, register): Place) -> T {
        let from = self.passes.text::<OUTPUT>().wrapping_add(self.at::<T>(place));
        // SAFETY: the caller's.
        unsafe { isa.load_stretch(from, self.there[register]) }
    }

    #[inline(always)]
    unsafe fn store(&self, x: T, place @ (_, _, register): Place) {
        let to = self.passes.output.wrapping_add(self.at::<T>(place));
        // SAFETY: the caller's.
        unsafe { x.store_stretch(to, self.there[register]) }
    }

    #[inline(always)]
    fn with_aad(&self, block: T, index: usize, aad: T) -> T {
        // SAFETY: the table has a register for each block around its middle.
        let is_first = unsafe { block.isa().load(MIDDLE[IN_PASS - 1 + index - self.lacking].as_ptr()) };
        block.xor(aad.and(is_first))
    }

    #[inline(always)]
    fn lengths(&self, isa: T::Isa, aad_bytes: usize) -> T {
        isa.splat_word(lengths(aad_bytes, self.passes.bytes).swap_bytes())
    }
}

/// All ones in the middle, zeros around.
static MIDDLE: [[u8; MAX_LANES * BLOCK]; 2 * IN_PASS - 1] = {
    let mut registers = [[0; MAX_LANES * BLOCK]; 2 * IN_PASS - 1];
    registers[IN_PASS - 1] = [0xff; MAX_LANES * BLOCK];
    registers
};
