//! Messages of any lengths, as many at a time as registers have lanes: where one ends, the next begins in its lane, so that
//! stages neither fill nor empty while others go on.
//!
//! Stages are planned before they run. Blocks at the end of a message that are no whole stage are copied to where there is room
//! for one, and back from there.

mod plan;
mod runners;

use cipherlane_core::BLOCK;
use plan::{Plan, Spare};
use runners::{Runners, each};

use super::ciphers::Ciphers;
use super::encrypt::ENOUGH;
use super::stage::{Stage, runs_abreast};
use super::streams::{MAX_STEPS, Streams};
use super::succession::STREAMS;
use crate::cipher::V;
use crate::job::Job;
use crate::lanes::{Lanes, MAX_LANES, Work};
use crate::mode::blocks;
use crate::order::Order;

/// Blocks of a stream on a stage.
const STEPS: usize = MAX_STEPS / 2;

/// Bytes of a stream on a stage.
const STAGE: usize = STEPS * BLOCK;

/// Whether it pays to run the messages left in `order` in a [`Relay`], if all are like those that have been sorted: that takes
/// some time for each of them, and a whole stage for the last blocks of each, whereas [`Streams`] take theirs whenever some of
/// them end.
#[inline(always)]
pub(super) fn pays(job: &Job<'_>, order: &mut Order<'_>) -> bool {
    /// Blocks from which on, by their mean, messages of different lengths always gain.
    const LONG_BY_MEAN: usize = 28;
    let Some((count, longest, shortest)) = order.outlook() else { return false };
    if longest > shortest {
        let are_long = job.consecutive(order.looked_at()).bytes >= LONG_BY_MEAN * BLOCK * count;
        // Shorter ones end together if each length comes up often, which the longer of them have more time to make up for.
        let lengths = longest - shortest + 1;
        return count >= STREAMS && (are_long || 3 * count <= lengths * lengths);
    }
    // Messages of one length end together, in `Streams` as well, and leave lanes empty if they do not fill the last registers.
    let lacking = longest.next_multiple_of(STEPS) - longest;
    let most = longest / if longest < ENOUGH { 9 } else { 40 };
    count >= 2 * STREAMS && lacking <= most && count.next_multiple_of(STREAMS) - count <= count / 16
}

/// Takes all messages from `order`, as work, and leaves what is left of the last ones to `streams` once they fill few lanes.
pub(super) struct Relay<'s, 'a, C, const N: usize> {
    pub(super) ciphers: &'s C,
    pub(super) job: &'s Job<'a>,
    pub(super) order: &'s mut Order<'a>,
    pub(super) streams: &'s mut Streams,
}

impl<C: Ciphers, const N: usize> Work for Relay<'_, '_, C, N> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        debug_assert!(runs_abreast::<C, N, N>() && V::<C::Cipher>::LANES == MAX_LANES);
        let Self { ciphers, job, order, streams } = self;
        let isa = ciphers.isa();
        let mut stage = Stage::<V<C::Cipher>, N>::new();
        let mut spare = Spare::new();
        let (mut runners, mut plan) = (Runners::new(), Plan::new(&mut spare));
        let mut chains = [[0; BLOCK]; STREAMS];
        runners.enter(u32::MAX, job, order, plan.chains());
        loop {
            plan.begin(&mut runners, &mut chains);
            if !runners.go_on() {
                break;
            }
            plan.make(isa, &mut runners, (job, order));
            // SAFETY: what has been planned is this thread's, and nobody else has what is spare.
            unsafe {
                let last = plan.run(ciphers, &mut stage);
                blocks::store(&last, chains.as_mut_ptr().cast());
                plan.copy_back(isa);
            }
        }
        for stream in each(runners.running) {
            let (input, output, blocks) = runners.rest(stream);
            streams.go_on(input, output, blocks, chains[stream]);
        }
    }
}
