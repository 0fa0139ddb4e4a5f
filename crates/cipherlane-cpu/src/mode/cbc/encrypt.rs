//! CBC encryption: C_j = E(P_j xor C_{j-1}) (SP 800-38A section 6.2), LANES * N messages side by side.

use std::marker::PhantomData;
use std::ops::Range;

use super::alone;
use super::ciphers::{Ciphers, PerLane, Shared};
use super::relay::{self, Relay};
use super::stage::{Stage, runs_abreast};
use super::streams::{MAX_STEPS, Streams};
use super::succession::Succession;
use crate::cipher::{KeyPerLane, Permutation, Source, V};
use crate::job::Job;
use crate::lanes::{Isa, Lanes, MAX_LANES, Work};
use crate::mode::keys::KeyEachWorker;
use crate::order::Order;
use crate::worker::{Kernel, Segments, Worker};

/// CBC encryption with N registers in flight; K runs messages with a key each.
pub(crate) struct CbcEncrypt<P: Permutation, K, const N: usize> {
    source: P::Source,
    key_each: PhantomData<fn() -> K>,
}

impl<P: Permutation, K, const N: usize> CbcEncrypt<P, K, N> {
    /// The kernel of `source`; P encrypts.
    pub(crate) fn new(source: P::Source) -> Self {
        Self { source, key_each: PhantomData }
    }
}

impl<P: Permutation, K: KeyEachWorker<P>, const N: usize> Kernel for CbcEncrypt<P, K, N> {
    fn worker(&self, key: Option<&[u8]>) -> Box<dyn Worker> {
        match key {
            Some(key) => Box::new(OneKey::<P, N>(P::new(self.source, key))),
            None => Box::new(K::new(self.source)),
        }
    }
}

struct OneKey<P, const N: usize>(P);

impl<P: Permutation, const N: usize> Worker for OneKey<P, N> {
    fn messages(&self, job: &Job<'_>, range: Range<usize>) {
        self.0.isa().vectorize(Interleaved::<_, N> { ciphers: Shared(&self.0), job, range });
    }

    fn segments(&self) -> Option<&dyn Segments> {
        None
    }
}

/// Messages with a key each, whose keys expand lane by lane: each joins the others when a lane is free.
pub(crate) struct InLanes<P: Permutation, const N: usize>(P::Source);

impl<P: KeyPerLane, const N: usize> KeyEachWorker<P> for InLanes<P, N> {
    fn new(source: P::Source) -> Self {
        Self(source)
    }
}

impl<P: KeyPerLane, const N: usize> Worker for InLanes<P, N> {
    fn messages(&self, job: &Job<'_>, range: Range<usize>) {
        let ciphers = PerLane::<P, N>::new(self.0, job);
        self.0.isa().vectorize(Interleaved::<_, N> { ciphers, job, range });
    }

    fn segments(&self) -> Option<&dyn Segments> {
        None
    }
}

/// Blocks from which on it pays to bring outputs to where registers are aligned: a store across the border of two cache
/// lines takes both. Registers of two lanes cross one with every other store, those of four with every store.
const fn aligned_from(lanes: usize) -> usize {
    if lanes < MAX_LANES { 512 } else { 64 }
}

/// Blocks from which on it pays to have stages of MAX_STEPS blocks. Shorter messages would spend too much of their time
/// before the first stage and behind the last.
pub(super) const LONG: usize = 128;

/// Blocks from which on half as many on a stage pay where registers run abreast, as wide as a cache line.
pub(super) const ENOUGH: usize = 64;

/// Blocks of each message on a stage, of messages in M registers that have `left`: of short ones half as many, or a cache line
/// where registers are as wide as that.
#[inline(always)]
const fn staged<C: Ciphers, const N: usize, const M: usize>(left: usize) -> usize {
    match V::<C::Cipher>::LANES {
        _ if left >= LONG => MAX_STEPS,
        MAX_LANES if left < ENOUGH || !runs_abreast::<C, N, M>() => MAX_LANES,
        _ => MAX_STEPS / 2,
    }
}

/// The messages of a range, as work.
struct Interleaved<'a, C, const N: usize> {
    ciphers: C,
    job: &'a Job<'a>,
    range: Range<usize>,
}

impl<C: Ciphers, const N: usize> Work for Interleaved<'_, C, N> {
    type Output = ();

    #[inline(always)]
    fn run(mut self) {
        let lanes = V::<C::Cipher>::LANES;
        let mut streams = Streams::new(self.range.start);
        let mut order = Order::by_blocks(self.job, self.range.clone());
        if runs_abreast::<C, N, N>() {
            let (ciphers, job, order) = (&self.ciphers, self.job, &mut order);
            ciphers.isa().vectorize(Succession::<_, N> { ciphers, job, order });
            if relay::pays(job, order) {
                ciphers.isa().vectorize(Relay::<_, N> { ciphers, job, order, streams: &mut streams });
            }
        }
        streams.fill(self.job, &mut order, N * lanes);
        while streams.active() > 0 {
            if streams.active() == 1 && C::Cipher::WHOLE_GROUPS {
                let blocks = self.chained(&mut streams);
                if blocks > 0 {
                    streams.advance(blocks, self.job, &mut order);
                    continue;
                }
            }
            let company = streams.active() > 1 || C::Cipher::WHOLE_GROUPS;
            // Few registers end sooner than many.
            let blocks = match streams.active().div_ceil(lanes) {
                _ if !company => self.alone(&mut streams),
                1 => self.next_of::<1>(&mut streams),
                2 if N > 2 => self.next_of::<2>(&mut streams),
                3..=4 if N > 4 => self.next_of::<4>(&mut streams),
                5..=8 if N > 8 => self.next_of::<8>(&mut streams),
                _ => self.next_of::<N>(&mut streams),
            };
            streams.advance(blocks, self.job, &mut order);
        }
    }
}

impl<C: Ciphers, const N: usize> Interleaved<'_, C, N> {
    /// Encrypts the only stream to its end. Returns the number of blocks.
    #[inline(always)]
    fn alone(&mut self, streams: &mut Streams) -> usize {
        self.ciphers.rekey::<1>(streams);
        // SAFETY: the range's messages are this thread's.
        unsafe { alone::encrypt(self.ciphers.first(), streams) }
    }

    /// Encrypts the only stream to its end, if the cipher has a way of its own for that. Returns the number of blocks.
    #[inline(always)]
    fn chained(&mut self, streams: &mut Streams) -> usize {
        self.ciphers.rekey::<1>(streams);
        let Some(chain) = self.ciphers.first().chain() else { return 0 };
        let before = streams.chains()[0];
        let (input, output, blocks) = streams.only();
        // SAFETY: the stream has so many blocks, in place or apart, and the range's messages are this thread's.
        unsafe { chain.encrypt(&before, input, output, blocks) }
        blocks
    }

    /// Encrypts the next blocks of all streams, which M registers have lanes for. Returns how many of each.
    #[inline(always)]
    fn next_of<const M: usize>(&mut self, streams: &mut Streams) -> usize {
        let ciphers = &mut self.ciphers;
        ciphers.isa().vectorize(Next::<_, N, M> { ciphers, streams })
    }
}

/// The next blocks of all streams, which M registers have lanes for: work of its own for each M, because the compiler is
/// quicker with several functions than with one that has all of them.
struct Next<'a, C: Ciphers, const N: usize, const M: usize> {
    ciphers: &'a mut C,
    streams: &'a mut Streams,
}

impl<C: Ciphers, const N: usize, const M: usize> Work for Next<'_, C, N, M> {
    /// How many of each.
    type Output = usize;

    #[inline(always)]
    fn run(self) -> usize {
        let Self { ciphers, streams } = self;
        let mut stage = Stage::<V<C::Cipher>, N>::new();
        streams.repeat_first(M * V::<C::Cipher>::LANES);
        let left = streams.left();
        let staged = staged::<C, N, M>(left);
        let stages = left / staged;
        // The rounds of a cipher that runs in groups leave no port idle: for few registers a loop of their own is not worth
        // its code.
        if stages < 2 || C::Cipher::WHOLE_GROUPS && M < N {
            let steps = streams.steps();
            stage.encrypt::<C, M>(ciphers, streams, steps);
            return steps;
        }
        // Streams that run abreast store beside rounds: crossing the borders of lines then costs less than what avoids it.
        let unaligned = if !runs_abreast::<C, N, M>() && left >= aligned_from(V::<C::Cipher>::LANES) {
            streams.unaligned(V::<C::Cipher>::LANES)
        } else {
            0
        };
        if unaligned > 0 {
            stage.encrypt::<C, M>(ciphers, streams, unaligned);
            return unaligned;
        }
        // SAFETY: all streams have a lane in M registers and each has these blocks left; the range's messages are this
        // thread's.
        unsafe {
            if staged == MAX_LANES {
                // A loop of its own, which knows how many there are.
                stage.encrypt_many::<C, M>(ciphers, streams, stages, MAX_LANES);
            } else {
                stage.encrypt_many::<C, M>(ciphers, streams, stages, staged);
            }
        }
        stages * staged
    }
}
