//! Several messages of whole blocks under one key: what is shorter than a group runs with its neighbours.

use std::ops::Range;

use cipherlane_core::BLOCK;

use super::{Counted, CtrBody, Little, OneByOne, until_wrap};
use crate::cipher::{KeyEach, Permutation, V};
use crate::job::Job;
use crate::lanes::{Isa, Lanes, Work};
use crate::mode::blocks::add;
use crate::mode::listed::{Combine, List, Listed};

/// Messages of whole blocks that share `cipher`, as work.
pub(super) struct InCompany<'a, P: Permutation, const N: usize> {
    pub(super) body: &'a CtrBody<P, N>,
    pub(super) cipher: &'a P,
    pub(super) job: &'a Job<'a>,
    pub(super) range: Range<usize>,
}

impl<P: KeyEach, const N: usize> Work for InCompany<'_, P, N> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { body, cipher, job, range } = self;
        let mut list = List::new();
        let mut listed = Listed::<P, Counted, N>::new(cipher, job, &mut list);
        for index in range {
            let (counter, message) = (job.nonce_block(index), job.message(index));
            let blocks = message.bytes / BLOCK;
            // SAFETY: the job's pointers are good, this thread alone has this message, and all messages are whole blocks.
            unsafe {
                if Listed::<P, Counted, N>::takes(message) && until_wrap(&counter) >= blocks as u64 {
                    list_counters(cipher.isa(), &counter, blocks, listed.push(index, blocks));
                } else {
                    listed.run();
                    cipher.isa().vectorize(OneByOne { body, job, range: index..index + 1 });
                }
            }
        }
        // SAFETY: as above.
        unsafe { listed.run() }
    }
}

/// Stores `blocks` counter blocks from `first` on to `to`, and as many more as fill the last register.
///
/// # Safety
/// So many are writable.
#[inline(always)]
pub(super) unsafe fn list_counters<I: Isa>(isa: I, first: &[u8; BLOCK], blocks: usize, to: *mut u8) {
    let mut counters = Little::new(isa, first);
    for block in (0..blocks).step_by(I::V::LANES) {
        // SAFETY: the caller's promise.
        unsafe { counters.next().store(to.add(block * BLOCK)) }
    }
}

impl Combine for Counted {
    const ADDS: bool = true;

    #[inline(always)]
    fn combine<P: Permutation, const M: usize>(
        cipher: &P,
        mut text: [V<P>; M],
        mut counters: [V<P>; M],
    ) -> [V<P>; M] {
        cipher.apply_first::<M>(&mut counters);
        add(&mut text, &counters);
        text
    }
}
