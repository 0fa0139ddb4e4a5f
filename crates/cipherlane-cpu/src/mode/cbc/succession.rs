//! Messages of one length, as many at a time as registers have lanes: the next begin where those before them end, so that no
//! stage fills or empties between them while no block is encrypted.

use std::mem::MaybeUninit;

use cipherlane_core::BLOCK;

use super::ciphers::Ciphers;
use super::encrypt::LONG;
use super::stage::{Stage, runs_abreast};
use super::streams::MAX_STEPS;
use crate::cipher::V;
use crate::job::{Job, Message};
use crate::lanes::{ABREAST, Lanes, MAX_LANES, Set, Work};
use crate::order::Order;

/// Streams of a set.
pub(super) const STREAMS: usize = ABREAST * MAX_LANES;

/// Most sets that are gathered at a time: each then spends an eighth of what filling and emptying stages takes.
const SETS: usize = 8;

/// Where the messages of a set are.
struct Members {
    inputs: [*const u8; STREAMS],
    outputs: [*mut u8; STREAMS],
}

impl Members {
    /// STREAMS messages, as long as `first` and one behind the other from there on.
    #[inline(always)]
    fn new(first: Message) -> Self {
        let mut inputs = [first.input; STREAMS];
        let mut outputs = [first.output; STREAMS];
        for stream in 1..STREAMS {
            inputs[stream] = first.input.wrapping_add(stream * first.bytes);
            outputs[stream] = first.output.wrapping_add(stream * first.bytes);
        }
        Self { inputs, outputs }
    }
}

/// Takes messages from `order` as long as there are two sets or more of one length, and these are whole stages, as work. What
/// comes behind others is left to [`Relay`](super::relay::Relay).
pub(super) struct Succession<'s, 'a, C, const N: usize> {
    pub(super) ciphers: &'s C,
    pub(super) job: &'s Job<'a>,
    pub(super) order: &'s mut Order<'a>,
}

impl<C: Ciphers, const N: usize> Work for Succession<'_, '_, C, N> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        debug_assert!(runs_abreast::<C, N, N>() && V::<C::Cipher>::LANES == MAX_LANES);
        let Self { ciphers, job, order } = self;
        let mut stage = Stage::<V<C::Cipher>, N>::new();
        // Those that messages have each lie one behind the other.
        let shared = job.shares_nonce().then(|| [job.nonce_block(0); STREAMS]);
        while order.look(2 * STREAMS).len() == 2 * STREAMS {
            let first = job.message(order.look(1).start);
            let Some(steps) = steps(first.bytes) else { return };
            let count = first.bytes / BLOCK / steps;
            let mut members = [const { MaybeUninit::<Members>::uninit() }; SETS];
            let mut sets = [const { MaybeUninit::<Set>::uninit() }; SETS];
            let mut gathered = 0;
            for (members, set) in members.iter_mut().zip(&mut sets) {
                let messages = order.look(STREAMS);
                // Windows of the order may differ, each of one length.
                if messages.len() < STREAMS || job.bytes(messages.start) != first.bytes {
                    break;
                }
                let Members { inputs, outputs } = members.write(Members::new(job.message(messages.start)));
                let chains =
                    shared.as_ref().map_or(job.nonces_from(messages.start).cast(), |ivs| ivs.as_ptr());
                let (inputs, outputs) = (inputs.as_ptr(), outputs.as_ptr());
                set.write(Set { inputs, outputs, chains, begin: Set::ALL, first: 0, count });
                order.next_alike(STREAMS);
                gathered += 1;
            }
            // SAFETY: the loop has written so many sets, two at least, of messages with whole stages, which are this thread's.
            unsafe {
                let sets = sets[..gathered].assume_init_ref();
                stage.sets_abreast(ciphers, sets, steps);
            }
        }
    }
}

/// Blocks on a stage of messages of `bytes` bytes, if these are whole stages.
#[inline(always)]
fn steps(bytes: usize) -> Option<usize> {
    let are_whole = |steps: usize| bytes.is_multiple_of(steps * BLOCK);
    let steps = if bytes >= LONG * BLOCK && are_whole(MAX_STEPS) { MAX_STEPS } else { MAX_STEPS / 2 };
    are_whole(steps).then_some(steps)
}
