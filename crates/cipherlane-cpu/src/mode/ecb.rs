//! Electronic codebook (SP 800-38A section 6.1). The permutation decides the direction.

use std::ops::Range;

use super::blocks::{self, Pass};
use super::body::{Body, Vectorized, part};
use super::key_each::{self, Steps, Stepwise};
use super::keys::Keys;
use crate::cipher::{KeyEach, Permutation, V};
use crate::job::{Job, Message};
use crate::lanes::{Isa, Lanes};
use crate::worker::{Kernel, Segment, Worker};

/// ECB with N registers in flight.
pub(crate) struct Ecb<P: Permutation, const N: usize> {
    source: P::Source,
}

impl<P: Permutation, const N: usize> Ecb<P, N> {
    /// The kernel of `source`.
    pub(crate) fn new(source: P::Source) -> Self {
        Self { source }
    }
}

impl<P: KeyEach, const N: usize> Kernel for Ecb<P, N> {
    fn worker(&self, key: Option<&[u8]>) -> Box<dyn Worker> {
        Box::new(Vectorized(EcbBody::<P, N> { keys: Keys::new(self.source, key) }))
    }
}

struct EcbBody<P: Permutation, const N: usize> {
    keys: Keys<P>,
}

impl<P: KeyEach, const N: usize> Body for EcbBody<P, N> {
    type Isa = P::Isa;

    #[inline(always)]
    fn isa(&self) -> P::Isa {
        self.keys.isa()
    }

    #[inline(always)]
    fn messages(&self, job: &Job<'_>, range: Range<usize>) {
        if let Some(cipher) = self.keys.shared() {
            // Messages lie one after the other and are whole blocks: under one key they are one message.
            // SAFETY: the job's pointers are good, and this thread alone has these messages.
            return unsafe { all::<P, N>(cipher, job.consecutive(range)) };
        }
        if P::WHOLE_GROUPS {
            // SAFETY: the job's pointers are good, and this thread alone has these messages.
            return unsafe { key_each::run::<Alike, P, N>(&self.keys, job, range) };
        }
        let mut own = None;
        for index in range {
            let cipher = self.keys.of(job.key(index), &mut own);
            // SAFETY: the job's pointers are good, and this thread alone has this message.
            unsafe { all::<P, N>(cipher, job.message(index)) }
        }
    }

    #[inline(always)]
    fn segment(&self, job: &Job<'_>, segment: &Segment) {
        let mut own = None;
        let cipher = self.keys.of(job.key(segment.message), &mut own);
        // SAFETY: the job's pointers are good, and this thread alone has this segment.
        unsafe { all::<P, N>(cipher, part(job, segment)) }
    }
}

/// Short messages: each block as it is.
pub(super) struct Alike;

impl Steps for Alike {
    #[inline(always)]
    fn next<T: Lanes>(_: &mut T, text: T) -> [T; 2] {
        [text, text.isa().zero()]
    }
}

impl Stepwise for Alike {
    #[inline(always)]
    fn begin(_: &[u8]) -> u128 {
        0
    }

    #[inline(always)]
    unsafe fn alone<P: Permutation, const N: usize>(cipher: &P, _: u128, message: Message) {
        // SAFETY: the caller's promise.
        unsafe { all::<P, N>(cipher, message) }
    }
}

/// All blocks of `message`.
///
/// # Safety
/// The pointers of `message` are good, and nobody else touches its output.
#[inline(always)]
pub(super) unsafe fn all<P: Permutation, const N: usize>(cipher: &P, message: Message) {
    // SAFETY: the caller's promise.
    unsafe { blocks::all::<_, N>(&mut Codebook { cipher }, message) }
}

/// Every block by itself.
struct Codebook<'a, P> {
    cipher: &'a P,
}

impl<P: Permutation> Pass for Codebook<'_, P> {
    type Cipher = P;

    #[inline(always)]
    fn cipher(&self) -> &P {
        self.cipher
    }

    #[inline(always)]
    fn registers<const M: usize>(&mut self, registers: &mut [V<P>; M]) {
        self.cipher.apply_first::<M>(registers);
    }

    #[inline(always)]
    unsafe fn whole_groups(&mut self, message: Message) -> Message {
        let Self { cipher } = self;
        // SAFETY: the caller's.
        unsafe {
            blocks::whole_groups(
                cipher.isa(),
                message,
                |groups| cipher.runs_in_memory(groups),
                |groups| cipher.run_in_memory(groups, None),
            )
        }
    }
}
