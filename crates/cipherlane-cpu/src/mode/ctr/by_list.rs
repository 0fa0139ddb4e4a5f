//! Several messages of whole blocks under one key: what is shorter than a group runs with its neighbours.

use std::ops::Range;

use cipherlane_core::BLOCK;

use super::{CtrBody, Little, OneByOne, until_wrap};
use crate::cipher::{KeyEach, Permutation, V};
use crate::job::Job;
use crate::lanes::{Isa, Lanes, Work};
use crate::mode::blocks::add;
use crate::mode::listed::{self, ByList};

/// Messages of whole blocks that share `cipher`, as work.
pub(super) struct Listed<'a, P: Permutation, const N: usize> {
    pub(super) body: &'a CtrBody<P, N>,
    pub(super) cipher: &'a P,
    pub(super) job: &'a Job<'a>,
    pub(super) range: Range<usize>,
}

impl<P: KeyEach, const N: usize> Work for Listed<'_, P, N> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { cipher, job, ref range, .. } = self;
        let messages = range.clone().map(|index| (index, job.nonce_block(index)));
        // SAFETY: the job's pointers are good, this thread alone has these messages, and all are whole blocks.
        unsafe { listed::run::<P, _, N>(&self, cipher, job, messages) }
    }
}

/// A list of counter blocks.
impl<P: KeyEach, const N: usize> ByList<P> for Listed<'_, P, N> {
    type First = [u8; BLOCK];

    /// Registers count in words of 32 bits.
    #[inline(always)]
    fn can_list(&self, counter: &[u8; BLOCK], blocks: usize) -> bool {
        until_wrap(counter) >= blocks as u64
    }

    #[inline(always)]
    unsafe fn list(&self, counter: [u8; BLOCK], blocks: usize, to: *mut u8) {
        let mut counters = Little::new(self.cipher.isa(), &counter);
        for block in (0..blocks).step_by(V::<P>::LANES) {
            // SAFETY: the caller's promise.
            unsafe { counters.next().store(to.add(block * BLOCK)) }
        }
    }

    #[inline(always)]
    unsafe fn alone(&self, index: usize, _: [u8; BLOCK]) {
        let &Self { body, cipher, job, .. } = self;
        cipher.isa().vectorize(OneByOne { body, job, range: index..index + 1 });
    }

    #[inline(always)]
    fn combine<const M: usize>(cipher: &P, mut text: [V<P>; M], mut counters: [V<P>; M]) -> [V<P>; M] {
        cipher.apply_first::<M>(&mut counters);
        add(&mut text, &counters);
        text
    }
}
