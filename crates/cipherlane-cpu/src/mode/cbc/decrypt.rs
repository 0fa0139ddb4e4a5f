//! CBC decryption: P_j = D(C_j) xor C_{j-1} (SP 800-38A section 6.2), each block for itself.

use std::ops::Range;

use super::chain::run;
use super::seams;
use crate::cipher::{KeyEach, Permutation};
use crate::job::{Job, Message};
use crate::lanes::Lanes;
use crate::mode::body::{Body, Vectorized, part};
use crate::mode::key_each::{self, Steps, Stepwise, block_of};
use crate::mode::keys::Keys;
use crate::worker::{Kernel, Segment, Worker};

/// CBC decryption with N registers in flight.
pub(crate) struct CbcDecrypt<P: Permutation, const N: usize> {
    source: P::Source,
}

impl<P: Permutation, const N: usize> CbcDecrypt<P, N> {
    /// The kernel of `source`; P decrypts.
    pub(crate) fn new(source: P::Source) -> Self {
        Self { source }
    }
}

impl<P: KeyEach, const N: usize> Kernel for CbcDecrypt<P, N> {
    fn worker(&self, key: Option<&[u8]>) -> Box<dyn Worker> {
        Box::new(Vectorized(DecryptBody::<P, N> { keys: Keys::new(self.source, key) }))
    }
}

struct DecryptBody<P: Permutation, const N: usize> {
    keys: Keys<P>,
}

impl<P: KeyEach, const N: usize> Body for DecryptBody<P, N> {
    type Isa = P::Isa;

    #[inline(always)]
    fn isa(&self) -> P::Isa {
        self.keys.isa()
    }

    #[inline(always)]
    fn messages(&self, job: &Job<'_>, range: Range<usize>) {
        if P::WHOLE_GROUPS {
            // SAFETY: the job's pointers are good, and this thread alone has these messages.
            return unsafe {
                match self.keys.shared() {
                    Some(cipher) => seams::run::<P, N>(cipher, job, range),
                    None => key_each::run::<Chained, P, N>(&self.keys, job, range),
                }
            };
        }
        let mut own = None;
        for index in range {
            let cipher = self.keys.of(job.key(index), &mut own);
            // SAFETY: the job's pointers are good, and this thread alone has this message.
            unsafe { run::<P, N>(cipher, &job.nonce_block(index), job.message(index)) }
        }
    }

    #[inline(always)]
    fn segment(&self, job: &Job<'_>, segment: &Segment) {
        let mut own = None;
        let cipher = self.keys.of(job.key(segment.message), &mut own);
        let iv = job.nonce_block(segment.message);
        let before = if segment.bytes.start == 0 { &iv } else { &segment.before };
        // SAFETY: the job's pointers are good, and this thread alone has this segment.
        unsafe { run::<P, N>(cipher, before, part(job, segment)) }
    }
}

/// Messages with a key each: each block is added to the one before it.
struct Chained;

impl Steps for Chained {
    #[inline(always)]
    fn next<T: Lanes>(before: &mut T, text: T) -> [T; 2] {
        [text, std::mem::replace(before, text)]
    }
}

impl Stepwise for Chained {
    #[inline(always)]
    fn begin(iv: &[u8]) -> u128 {
        block_of(iv)
    }

    #[inline(always)]
    unsafe fn alone<P: Permutation, const N: usize>(cipher: &P, before: u128, message: Message) {
        // SAFETY: the caller's promise.
        unsafe { run::<P, N>(cipher, &before.to_le_bytes(), message) }
    }
}
