//! Units with a key each, of ciphers that run in groups.

use std::ops::Range;

use cipherlane_core::BLOCK;

use super::tweak::MAX_GROUP;
use super::{Between, Direction, XtsBody, halves, run};
use crate::cipher::KeyEach;
use crate::job::{Job, Message};
use crate::lanes::Isa;
use crate::mode::body::Body;
use crate::mode::ecb::Alike;
use crate::mode::key_each::{MAX_MEMBERS, Member, Members, Team, block_of};
use crate::mode::order::Order;

impl<P, E, D, const N: usize> XtsBody<P, E, D, N>
where
    P: KeyEach,
    E: KeyEach<Isa = P::Isa>,
    D: Direction,
{
    /// Runs units with a key each: short ones together, first the numbers that become their tweaks.
    #[inline(always)]
    pub(super) fn units_with_keys(&self, job: &Job<'_>, range: Range<usize>) {
        let (mut tweaks, mut data) = (None, None);
        let (mut own_tweak, mut own_data) = (None, None);
        let mut order = Order::new(job, range);
        loop {
            let mut units = Members::new();
            while units.as_slice().len() < Team::<P>::MEMBERS
                && let Some(index) = order.next()
            {
                let message = job.message(index);
                let is_whole = message.bytes.is_multiple_of(BLOCK);
                if is_whole && Team::<P>::takes::<Between<D>>(self.data.source(), message.bytes / BLOCK) {
                    units.push(index);
                } else {
                    self.unit(job, index, &mut own_tweak, &mut own_data);
                }
            }
            let units = units.as_slice();
            if units.is_empty() {
                return;
            }
            let mut blocks = 0;
            for &index in units {
                blocks = blocks.max(job.message(index).bytes / BLOCK);
            }
            if !Team::<P>::pays::<Between<D>>(units.len(), blocks) {
                for &index in units {
                    self.unit(job, index, &mut own_tweak, &mut own_data);
                }
                continue;
            }
            // SAFETY: the job's pointers are good, and this thread alone has these units.
            unsafe {
                let first = first_tweaks(Team::<E>::made(&mut tweaks, self.tweak.source()), job, units);
                let mut members = Members::new();
                for (&index, tweak) in units.iter().zip(&first) {
                    let (key, message) = (halves(job.key(index)).0, job.message(index));
                    members.push(Member { key, state: block_of(tweak), message });
                }
                Team::<P>::made(&mut data, self.data.source()).run::<Between<D>>(members.as_slice());
            }
        }
    }

    /// Runs a unit by itself, under keys that take the place of those of another.
    #[inline(always)]
    fn unit(&self, job: &Job<'_>, index: usize, own_tweak: &mut Option<E>, own_data: &mut Option<P>) {
        let mut first = [[0; BLOCK]; MAX_GROUP];
        self.first_tweaks(job, index..index + 1, own_tweak, &mut first);
        let cipher = self.data.of(halves(job.key(index)).0, own_data);
        // SAFETY: the job's pointers are good, and this thread alone has this unit.
        unsafe { run::<P, D, N>(cipher, self.isa().splat(&first[0]), job.message(index)) }
    }
}

/// The tweaks of block 0 of `units`, a number through the cipher under the second half of its key each.
///
/// # Safety
/// The job's pointers are good.
#[inline(always)]
unsafe fn first_tweaks<E: KeyEach>(
    team: &mut Team<E>,
    job: &Job<'_>,
    units: &[usize],
) -> [[u8; BLOCK]; MAX_MEMBERS] {
    let (mut tweaks, mut members) = ([[0; BLOCK]; MAX_MEMBERS], Members::new());
    for (&index, tweak) in units.iter().zip(&mut tweaks) {
        let (input, output) = (job.nonce(index).as_ptr(), tweak.as_mut_ptr());
        let message = Message { input, output, bytes: BLOCK, past_caches: false, prefetched: false };
        members.push(Member { key: halves(job.key(index)).1, state: 0, message });
    }
    // SAFETY: the check has shown that each number has 16 bytes; tweaks are written here alone.
    unsafe { team.run::<Alike>(members.as_slice()) }
    tweaks
}
