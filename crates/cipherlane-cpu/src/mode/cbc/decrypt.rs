//! CBC decryption: P_j = D(C_j) xor C_{j-1} (SP 800-38A section 6.2), each block for itself.

use std::ops::Range;

use cipherlane_core::BLOCK;

use super::seams;
use crate::cipher::{KeyEach, Permutation, V};
use crate::job::{Job, Message};
use crate::lanes::{Isa, Lanes};
use crate::mode::blocks::{self, Pass};
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

/// Decrypts `message`, which follows the ciphertext block (or IV) `before`.
///
/// # Safety
/// The pointers of `message` are good, and nobody else touches its output.
#[inline(always)]
pub(super) unsafe fn run<P: Permutation, const N: usize>(cipher: &P, before: &[u8; BLOCK], message: Message) {
    // SAFETY: the caller's promise.
    unsafe { blocks::all::<_, N>(&mut Chain { cipher, before: cipher.isa().splat(before) }, message) }
}

/// Each block under the one before it. That before a group is carried along: in place, it has been overwritten.
struct Chain<'a, P: Permutation> {
    cipher: &'a P,
    /// The last lane is the ciphertext block before the next register.
    before: V<P>,
}

impl<P: Permutation> Pass for Chain<'_, P> {
    type Cipher = P;

    #[inline(always)]
    fn cipher(&self) -> &P {
        self.cipher
    }

    #[inline(always)]
    fn registers<const M: usize>(&mut self, registers: &mut [V<P>; M]) {
        let mut output = *registers;
        self.cipher.apply_first::<M>(&mut output);
        for (text, out) in registers.iter_mut().zip(&output) {
            let before = text.shift_in(self.before);
            self.before = *text;
            *text = out.xor(before);
        }
    }

    /// Copies of what goes into the rounds would take registers that keys are kept in.
    #[inline(always)]
    unsafe fn registers_of<const M: usize>(&mut self, registers: &mut [V<P>; M], input: *const u8) {
        let isa = self.cipher.isa();
        // SAFETY: the caller's promise; the block before each register but the first is in the one before it.
        let load = |i: usize, before: usize| unsafe { isa.load(input.add(i * V::<P>::BYTES - before)) };
        self.cipher.apply_first::<M>(registers);
        registers[0] = registers[0].xor(load(0, 0).shift_in(self.before));
        for (i, register) in registers.iter_mut().enumerate().skip(1) {
            *register = register.xor(load(i, BLOCK));
        }
        self.before = load(M - 1, 0);
    }
}
