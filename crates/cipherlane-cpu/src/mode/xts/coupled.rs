//! Equal units of whole groups under one key, one after the other: while the last group of one runs, the tweaks of the next
//! unit are made, which it would wait for.

use std::ops::Range;

use super::first::FirstTweaks;
use super::tweak::{Advance, Start, start};
use super::unit::tweaked;
use crate::cipher::{Permutation, V};
use crate::job::Job;
use crate::lanes::Lanes;
use crate::mode::blocks::{load, store};

/// Whether the units of `range` are such, and more than one. Of others lines are asked for ahead.
#[inline(always)]
pub(super) fn are_coupled<P: Permutation, const N: usize>(job: &Job<'_>, range: &Range<usize>) -> bool {
    if P::WHOLE_GROUPS || range.len() < 2 || !job.is_uniform() {
        return false;
    }
    let message = job.message(range.start);
    message.bytes > 0 && message.bytes.is_multiple_of(N * V::<P>::BYTES) && !message.prefetched
}

/// Runs units that [are coupled](are_coupled), whose first tweaks are `firsts`.
///
/// # Safety
/// The job's pointers are good, and this thread alone has these messages.
#[inline(always)]
pub(super) unsafe fn run<P: Permutation, E: Permutation<Isa = P::Isa>, const N: usize>(
    cipher: &P,
    job: &Job<'_>,
    mut firsts: FirstTweaks<'_, E, N>,
) {
    let (isa, group) = (cipher.isa(), N * V::<P>::BYTES);
    let Some((mut unit, first)) = firsts.next() else { return };
    let mut tweaks: [V<P>; N] = start(isa, first);
    loop {
        let mut message = job.message(unit);
        let next = firsts.next();
        // SAFETY: the message has a group left, of which nothing is stored before it is through.
        unsafe {
            while message.bytes > group {
                let (text, now) = (load::<_, N>(isa, message.input), tweaks);
                store(&tweaked(cipher, text, &now, &mut Advance::new(&mut tweaks)), message.output);
                message = message.skip(group);
            }
            let (text, now) = (load::<_, N>(isa, message.input), tweaks);
            // Behind the last unit its tweaks come once more.
            let (_, first) = next.unwrap_or((unit, first));
            store(&tweaked(cipher, text, &now, &mut Start::new(first, &mut tweaks)), message.output);
        }
        match next {
            Some((next, _)) => unit = next,
            None => return,
        }
    }
}
