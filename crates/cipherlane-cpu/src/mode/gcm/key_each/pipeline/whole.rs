//! Texts of whole passes.

use cipherlane_core::BLOCK;

use super::equal::{Followers, InRow};
use super::members::{Place, Texts};
use crate::cipher::Permutation;
use crate::job::Message;
use crate::lanes::{Isa, Lanes};
use crate::mode::counters::BIG_STEPS;
use crate::mode::gcm::ghash::lengths;

/// Equal texts that follow one another, as whole passes of R blocks.
#[derive(Clone, Copy)]
pub(in super::super) struct Whole<const R: usize>(Followers);

impl<const R: usize> Whole<R> {
    /// Where a register lies, from the first message on.
    #[inline(always)]
    fn at<T: Lanes>(&self, (message, pass, register): Place) -> usize {
        message * self.0.bytes + (pass * R + register * T::LANES) * BLOCK
    }
}

impl<const R: usize> InRow for Whole<R> {
    #[inline(always)]
    fn from<T: Lanes>(Message { input, output, bytes, .. }: Message) -> Self {
        debug_assert!(bytes > 0 && bytes.is_multiple_of(R * BLOCK));
        Self(Followers { input, output, bytes })
    }

    #[inline(always)]
    fn behind(self, messages: usize) -> Self {
        Self(self.0.behind(messages))
    }

    #[inline(always)]
    fn passes(&self) -> usize {
        self.0.bytes / (R * BLOCK)
    }
}

impl<T: Lanes, const R: usize> Texts<T> for Whole<R> {
    #[inline(always)]
    fn are_in_place(&self) -> bool {
        self.0.are_in_place()
    }

    #[inline(always)]
    fn count<P: Permutation<Isa = T::Isa>>(&self, cipher: &P, nonces: T, pass: usize, blocks: &mut [T]) {
        let nonces = cipher.whitened(nonces);
        for (i, block) in blocks.iter_mut().enumerate() {
            *block = nonces.xor(nonces.isa().splat(&BIG_STEPS[2 + pass * R + i]));
        }
    }

    #[inline(always)]
    unsafe fn load<const OUTPUT: bool>(&self, isa: T::Isa, place: Place) -> T {
        // SAFETY: the caller's.
        unsafe { isa.load(self.0.text::<OUTPUT>().add(self.at::<T>(place))) }
    }

    #[inline(always)]
    unsafe fn store(&self, x: T, place: Place) {
        // SAFETY: the caller's.
        unsafe { x.store(self.0.output.add(self.at::<T>(place))) }
    }

    #[inline(always)]
    fn with_aad(&self, block: T, index: usize, aad: T) -> T {
        if index == 0 { block.xor(aad) } else { block }
    }

    #[inline(always)]
    fn lengths(&self, isa: T::Isa, aad_bytes: usize) -> T {
        isa.splat_word(lengths(aad_bytes, self.0.bytes).swap_bytes())
    }
}
