//! Units with a key each, of ciphers that run in groups: short ones together, first the numbers that become their tweaks.

use std::ops::Range;

use cipherlane_core::BLOCK;

use super::first::first_tweak;
use super::unit::run_apart;
use super::{Between, Direction, XtsBody, XtsKey};
use crate::cipher::KeyEach;
use crate::job::{Job, Message};
use crate::mode::ecb::Alike;
use crate::mode::key_each::{MAX_MEMBERS, Member, Members, Team, Teamwork, block_of};
use crate::order::Order;

/// Runs units with a key each.
#[inline(always)]
pub(super) fn units<P, E, D, const N: usize>(body: &XtsBody<P, E, D, N>, job: &Job<'_>, range: Range<usize>)
where
    P: KeyEach,
    E: KeyEach<Isa = P::Isa>,
    D: Direction,
{
    let mut units = Units { body, job, tweaks: None, own_tweak: None, own_data: None };
    // SAFETY: the job's pointers are good, and this thread alone has these units.
    unsafe { units.all(Order::by_blocks(job, range)) }
}

struct Units<'a, P: KeyEach, E: KeyEach, D, const N: usize> {
    body: &'a XtsBody<P, E, D, N>,
    job: &'a Job<'a>,
    /// The team that tweaks are made by.
    tweaks: Option<Team<E>>,
    /// The ciphers under the key of the last unit that went alone.
    own_tweak: Option<E>,
    own_data: Option<P>,
}

impl<'a, P, E, D, const N: usize> Teamwork<'a, P> for Units<'a, P, E, D, N>
where
    P: KeyEach,
    E: KeyEach<Isa = P::Isa>,
    D: Direction,
{
    type Steps = Between;

    #[inline(always)]
    fn source(&self) -> P::Source {
        self.body.data.source()
    }

    /// A unit of whole blocks, whose tweak is still to be made.
    #[inline(always)]
    fn member(&self, index: usize) -> Option<Member<'a>> {
        let (key, message) = (XtsKey::of(self.job.key(index)).data, self.job.message(index));
        message.bytes.is_multiple_of(BLOCK).then_some(Member { index, key, state: 0, message })
    }

    #[inline(always)]
    unsafe fn alone(&mut self, index: usize) {
        let Self { body, job, own_tweak, own_data, .. } = self;
        let first = first_tweak(body.tweak.of(XtsKey::of(job.key(index)).tweak, own_tweak), job, index);
        let cipher = body.data.of(XtsKey::of(job.key(index)).data, own_data);
        // SAFETY: the caller's promise.
        unsafe { run_apart::<P, D, N>(cipher, first, job.message(index)) }
    }

    #[inline(always)]
    unsafe fn together(&mut self, team: &mut Team<P>, members: &mut [Member<'a>]) {
        // SAFETY: the caller's promise.
        unsafe {
            let tweaks = Team::<E>::made(&mut self.tweaks, self.body.tweak.source());
            first_tweaks(tweaks, self.job, members);
            team.run::<Between>(members);
        }
    }
}

/// Makes the states of `members` the tweaks of their block 0: a number through the cipher under the second half of its
/// key each.
///
/// # Safety
/// The job's pointers are good.
#[inline(always)]
unsafe fn first_tweaks<E: KeyEach>(team: &mut Team<E>, job: &Job<'_>, members: &mut [Member<'_>]) {
    let (mut tweaks, mut numbers) = ([[0; BLOCK]; MAX_MEMBERS], Members::new());
    for (&Member { index, .. }, tweak) in members.iter().zip(&mut tweaks) {
        let (input, output) = (job.nonce(index).as_ptr(), tweak.as_mut_ptr());
        let message = Message { input, output, bytes: BLOCK, past_caches: false, prefetched: false };
        numbers.push(Member { index, key: XtsKey::of(job.key(index)).tweak, state: 0, message });
    }
    // SAFETY: the check has shown that each number has 16 bytes; tweaks are written here alone.
    unsafe { team.run::<Alike>(numbers.as_mut_slice()) }
    for (member, tweak) in members.iter_mut().zip(&tweaks) {
        member.state = block_of(tweak);
    }
}
