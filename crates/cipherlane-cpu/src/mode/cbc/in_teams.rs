//! CBC encryption of messages with a key each, of ciphers that run in groups.

use std::ops::Range;

use cipherlane_core::BLOCK;

use crate::cipher::{KeyEach, Permutation};
use crate::job::{Job, Message};
use crate::lanes::{Isa, Lanes, Work};
use crate::mode::key_each::{self, Steps, Stepwise, block_of};
use crate::mode::keys::{KeyEachWorker, Keys};
use crate::worker::{Segments, Worker};

/// A worker without a key.
pub(crate) struct InTeams<P: Permutation>(Keys<P>);

impl<P: KeyEach> KeyEachWorker<P> for InTeams<P> {
    fn new(source: P::Source) -> Self {
        Self(Keys::new(source, None))
    }
}

impl<P: KeyEach> Worker for InTeams<P> {
    fn messages(&self, job: &Job<'_>, range: Range<usize>) {
        self.0.isa().vectorize(Messages { keys: &self.0, job, range });
    }

    fn segments(&self) -> Option<&dyn Segments> {
        None
    }
}

/// Whole messages, as work.
struct Messages<'a, P: Permutation> {
    keys: &'a Keys<P>,
    job: &'a Job<'a>,
    range: Range<usize>,
}

impl<P: KeyEach> Work for Messages<'_, P> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        // SAFETY: the job's pointers are good, and this thread alone has these messages.
        unsafe { key_each::run::<Linked, P, 1>(self.keys, self.job, self.range) }
    }
}

/// Each block is added to what became of the one before.
struct Linked;

impl Steps for Linked {
    const CHAINS: bool = true;

    #[inline(always)]
    fn next<T: Lanes>(before: &mut T, text: T) -> [T; 2] {
        [text.xor(*before), text.isa().zero()]
    }

    #[inline(always)]
    fn end<T: Lanes>(before: &mut T, output: T) {
        *before = output;
    }
}

impl Stepwise for Linked {
    #[inline(always)]
    fn begin(iv: &[u8]) -> u128 {
        block_of(iv)
    }

    #[inline(always)]
    unsafe fn alone<P: Permutation, const N: usize>(cipher: &P, before: u128, message: Message) {
        let blocks = message.bytes / BLOCK;
        if let Some(chain) = cipher.chain() {
            // SAFETY: the message is whole blocks; the caller's promise.
            return unsafe { chain.encrypt(&before.to_le_bytes(), message.input, message.output, blocks) };
        }
        let isa = cipher.isa();
        let mut before = isa.splat_word(before);
        for at in (0..message.bytes).step_by(BLOCK) {
            // SAFETY: as above.
            unsafe {
                let text = isa.splat(&*message.input.add(at).cast());
                [before] = cipher.apply([text.xor(before)]);
                before.store_partial(message.output.add(at), BLOCK);
            }
        }
    }
}
