//! Modes whose messages are nothing but one block after the other.

use std::marker::PhantomData;
use std::ops::Range;

use super::{Member, Steps, Team, Teamwork};
use crate::cipher::{KeyEach, Permutation};
use crate::job::{Job, Message};
use crate::mode::keys::Keys;
use crate::order::Order;

/// A mode whose messages are nothing but such steps.
pub(in crate::mode) trait Stepwise: Steps {
    /// What it knows before the first block of a message with this nonce: as a block, little-endian.
    fn begin(nonce: &[u8]) -> u128;

    /// Whether [`Steps::next`] is right for `blocks` blocks from there on.
    #[inline(always)]
    fn fits(_state: u128, _blocks: usize) -> bool {
        true
    }

    /// Runs `message`, before which the mode knows `state`, by itself.
    ///
    /// # Safety
    /// Its pointers are good, and nobody else touches its output.
    unsafe fn alone<P: Permutation, const N: usize>(cipher: &P, state: u128, message: Message);
}

/// Runs messages that have a key each, those that go alone with N registers in flight.
///
/// # Safety
/// The job's pointers are good, and nobody else touches the output of these messages.
#[inline(always)]
pub(in crate::mode) unsafe fn run<S: Stepwise, P: KeyEach, const N: usize>(
    keys: &Keys<P>,
    job: &Job<'_>,
    range: Range<usize>,
) {
    let mut messages = Messages::<S, P, N> { keys, job, own: None, steps: PhantomData };
    // SAFETY: the caller's promise.
    unsafe { messages.all(Order::by_blocks(job, range)) }
}

struct Messages<'a, S, P: Permutation, const N: usize> {
    keys: &'a Keys<P>,
    job: &'a Job<'a>,
    /// The cipher under the key of the last that went alone.
    own: Option<P>,
    steps: PhantomData<S>,
}

impl<'a, S: Stepwise, P: KeyEach, const N: usize> Teamwork<'a, P> for Messages<'a, S, P, N> {
    type Steps = S;

    #[inline(always)]
    fn source(&self) -> P::Source {
        self.keys.source()
    }

    #[inline(always)]
    fn member(&self, index: usize) -> Option<Member<'a>> {
        let state = S::begin(self.job.nonce(index));
        let member = Member { index, key: self.job.key(index), state, message: self.job.message(index) };
        S::fits(state, member.blocks()).then_some(member)
    }

    #[inline(always)]
    unsafe fn alone(&mut self, index: usize) {
        let (cipher, state) =
            (self.keys.of(self.job.key(index), &mut self.own), S::begin(self.job.nonce(index)));
        // SAFETY: the caller's promise.
        unsafe { S::alone::<P, N>(cipher, state, self.job.message(index)) }
    }

    #[inline(always)]
    unsafe fn together(&mut self, team: &mut Team<P>, members: &mut [Member<'a>]) {
        // SAFETY: the caller's promise.
        unsafe { team.run::<S>(members) }
    }
}
