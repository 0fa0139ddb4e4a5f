//! Messages with a key each, of ciphers that run in groups: as many messages as a group has lanes are a team, unless they
//! are faster one after the other.

mod members;
mod stepwise;
mod team;

use cipherlane_core::BLOCK;

use self::members::blocks_of;
pub(super) use self::members::{MAX_MEMBERS, Member, Members};
pub(super) use self::stepwise::{Stepwise, run};
pub(super) use self::team::Team;
use crate::cipher::KeyEach;
use crate::lanes::{Isa, Lanes};
use crate::order::Order;

/// How a mode runs one block of a message after the other.
pub(super) trait Steps {
    /// Whether a block waits for the one before.
    const CHAINS: bool = false;

    /// Whether a message takes more than a group where it is alone, because it has blocks that are not text.
    const ALONE_IS_DEAR: bool = false;

    /// Of the next block of each lane, what goes through the cipher, and what is added to it behind that.
    fn next<T: Lanes>(state: &mut T, text: T) -> [T; 2];

    /// Takes down what has become of that block.
    #[inline(always)]
    fn end<T: Lanes>(_state: &mut T, _output: T) {}
}

/// A mode at work on messages with a key each.
pub(super) trait Teamwork<'a, P: KeyEach> {
    /// How it runs their blocks.
    type Steps: Steps;

    /// Blocks that go through the cipher for each message beside those of its text.
    const BESIDE: usize = 0;

    /// What ciphers are made of, beside a key.
    fn source(&self) -> P::Source;

    /// Message `index` as a team takes it; nothing, if it has to run alone.
    fn member(&self, index: usize) -> Option<Member<'a>>;

    /// Runs message `index` by itself.
    ///
    /// # Safety
    /// The job's pointers are good, and nobody else touches the output of this message.
    unsafe fn alone(&mut self, index: usize);

    /// Runs `members`, one at least.
    ///
    /// # Safety
    /// The job's pointers are good, and nobody else touches the output of these messages.
    unsafe fn together(&mut self, team: &mut Team<P>, members: &mut [Member<'a>]);

    /// Runs the messages of `order`: in teams, but for those that are faster alone.
    ///
    /// # Safety
    /// The job's pointers are good, and nobody else touches the output of these messages.
    #[inline(always)]
    unsafe fn all(&mut self, mut order: Order<'a>) {
        let mut team = None;
        loop {
            let mut members = Members::new();
            // SAFETY: the caller's promise.
            unsafe { self.gather(&mut order, &mut members) }
            let members = members.as_mut_slice();
            if members.is_empty() {
                return;
            }
            // SAFETY: the caller's promise.
            unsafe {
                if Team::<P>::pays::<Self::Steps>(members.len(), Self::BESIDE + blocks_of(members)) {
                    self.together(Team::made(&mut team, self.source()), members);
                    continue;
                }
                for member in members {
                    self.alone(member.index);
                }
            }
        }
    }

    /// Takes the next messages that a team is faster for, as many as it has room for; others on the way run at once.
    ///
    /// # Safety
    /// The job's pointers are good, and nobody else touches the output of these messages.
    #[inline(always)]
    unsafe fn gather(&mut self, order: &mut Order<'a>, members: &mut Members<'a>) {
        while members.len() < Team::<P>::MEMBERS
            && let Some(index) = order.next()
        {
            match self.member(index) {
                Some(member) if Team::<P>::takes::<Self::Steps>(self.source(), member.blocks()) => {
                    members.push(member);
                }
                // SAFETY: the caller's promise.
                _ => unsafe { self.alone(index) },
            }
        }
    }
}

/// The block of `counter`, which is little-endian and goes on by one in its word of 32 bits.
#[inline(always)]
pub(super) fn counted<T: Lanes>(counter: &mut T) -> T {
    let block = counter.reverse_bytes();
    *counter = counter.add32(counter.isa().splat_word(1));
    block
}

/// 16 bytes as a block, little-endian.
#[inline(always)]
pub(super) fn block_of(bytes: &[u8]) -> u128 {
    let mut block = [0; BLOCK];
    block.copy_from_slice(bytes);
    u128::from_le_bytes(block)
}
