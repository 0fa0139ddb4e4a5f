//! Stages, one behind the other, with where their blocks are.

use std::mem::MaybeUninit;

use cipherlane_core::BLOCK;

use super::super::ciphers::Ciphers;
use super::super::stage::Stage;
use super::super::succession::STREAMS;
use super::runners::{Runners, each};
use super::{STAGE, STEPS};
use crate::cipher::{Permutation, V};
use crate::job::Job;
use crate::lanes::{ABREAST, Isa, Lanes, MAX_LANES, Set};
use crate::order::Order;

/// Most sets that are planned at a time, of one stage or more: filling and emptying stages then takes little of their time.
const SETS: usize = 32;

/// Most ends of messages that are copied meanwhile.
const ENDS: usize = 128;

/// Bytes of half a stage of a stream: a register.
const HALF: usize = MAX_LANES * BLOCK;
const _: () = assert!(2 * HALF == STAGE);

/// Blocks of a stream on a stage that are a copy, first of the text, and then of its ciphertext.
#[repr(C, align(64))]
struct Copied([MaybeUninit<u8>; STAGE]);

/// Room for copies, and behind them for what lanes without a message read and write.
pub(super) struct Spare([Copied; ENDS + 1]);

impl Spare {
    #[inline(always)]
    pub(super) const fn new() -> Self {
        Self([const { Copied([MaybeUninit::uninit(); STAGE]) }; ENDS + 1])
    }
}

/// The end of a message that is copied.
#[derive(Clone, Copy)]
struct End {
    output: *mut u8,
    bytes: usize,
}

/// A set to be.
#[repr(C, align(64))] // registers of any of these lie within cache lines
struct Planned {
    inputs: MaybeUninit<[*const u8; STREAMS]>,
    outputs: MaybeUninit<[*mut u8; STREAMS]>,
    /// Written for streams that begin.
    chains: [MaybeUninit<[u8; BLOCK]>; STREAMS],
}

impl Planned {
    #[inline(always)]
    const fn new() -> Self {
        let (inputs, outputs) = (MaybeUninit::uninit(), MaybeUninit::uninit());
        Self { inputs, outputs, chains: [MaybeUninit::uninit(); STREAMS] }
    }
}

/// What else there is to a [`Set`].
#[derive(Clone, Copy)]
struct Extent {
    begin: u64,
    first: usize,
    count: usize,
}

/// What is to run.
pub(super) struct Plan {
    /// The first `count` are written. Of the one behind them `chains` are, where streams begin.
    sets: [Planned; SETS + 1],
    extents: [MaybeUninit<Extent>; SETS],
    count: usize,
    /// The first `copies` are written.
    ends: [MaybeUninit<End>; ENDS],
    copies: usize,
    spare: *mut Copied,
}

impl Plan {
    /// Of nothing.
    #[inline(always)]
    pub(super) const fn new(spare: &mut Spare) -> Self {
        spare.0[ENDS] = Copied([MaybeUninit::new(0); STAGE]);
        let spare = spare.0.as_mut_ptr();
        let (sets, ends) = ([const { Planned::new() }; SETS + 1], [MaybeUninit::uninit(); ENDS]);
        let extents = [MaybeUninit::uninit(); SETS];
        Self { sets, extents, count: 0, ends, copies: 0, spare }
    }

    /// Where the blocks go that come before those of streams that begin behind all that has been planned.
    #[inline(always)]
    pub(super) fn chains(&mut self) -> &mut [MaybeUninit<[u8; BLOCK]>; STREAMS] {
        &mut self.sets[self.count].chains
    }

    /// Begins a plan with all streams behind `chains`, to which those are added that streams begin with.
    #[inline(always)]
    pub(super) fn begin(&mut self, runners: &mut Runners, chains: &mut [[u8; BLOCK]; STREAMS]) {
        for (stream, (chain, begun)) in chains.iter_mut().zip(self.chains()).enumerate() {
            if runners.begin >> (2 * stream) & 1 > 0 {
                // SAFETY: it was written when the stream entered.
                *chain = unsafe { begun.assume_init() };
            }
        }
        (self.count, self.copies) = (0, 0);
        for (chain, before) in self.chains().iter_mut().zip(chains) {
            chain.write(*before);
        }
        runners.begin = Set::ALL;
    }

    /// Plans one set at least.
    #[inline(always)]
    pub(super) fn make<I: Isa>(
        &mut self,
        isa: I,
        runners: &mut Runners,
        (job, order): (&Job<'_>, &mut Order<'_>),
    ) {
        while self.count < SETS && self.copies + STREAMS <= ENDS && runners.go_on() {
            let set = &mut self.sets[self.count];
            let (inputs, outputs) = (set.inputs.write(runners.input), set.outputs.write(runners.output));
            // So many bytes behind what is pointed to.
            let first = runners.now * BLOCK;
            // SAFETY: this is within what is spare, where there is room for one stage.
            let unread = unsafe { self.spare.add(ENDS).cast::<u8>() }.wrapping_sub(first);
            for stream in each(!runners.running) {
                (inputs[stream], outputs[stream]) = (unread, unread);
            }
            let (count, ended) = runners.advance();
            self.extents[self.count].write(Extent { begin: runners.begin, first: first / STAGE, count });
            // Else those that end have a whole stage.
            if count == 1 {
                let mut copies = self.copies;
                for stream in each(ended) {
                    let (input, output) =
                        (inputs[stream].wrapping_add(first), outputs[stream].wrapping_add(first));
                    let end = End { output, bytes: runners.last_bytes(stream) };
                    // SAFETY: the loop's condition has left room for all streams; the bytes are a message's last ones, which
                    // this thread alone has.
                    unsafe {
                        let copy = self.spare.add(copies).cast::<u8>();
                        copy_in(isa, input, copy, end.bytes);
                        self.ends.get_unchecked_mut(copies).write(end);
                        (inputs[stream], outputs[stream]) =
                            (copy.wrapping_sub(first), copy.wrapping_sub(first));
                    }
                    copies += 1;
                }
                self.copies = copies;
            }
            self.count += 1;
            runners.enter(ended, job, order, &mut self.sets[self.count].chains);
        }
    }

    /// Runs what has been planned. Returns the last block of each stream.
    ///
    /// # Safety
    /// The ciphers [run so](super::super::stage::runs_abreast). This thread alone has the messages and what is spare.
    #[inline(always)]
    pub(super) unsafe fn run<C: Ciphers, const N: usize>(
        &self,
        ciphers: &C,
        stage: &mut Stage<V<C::Cipher>, N>,
    ) -> [V<C::Cipher>; ABREAST]
    where
        C::Cipher: Permutation,
    {
        let mut sets = [const { MaybeUninit::<Set>::uninit() }; SETS];
        for ((set, planned), extent) in sets.iter_mut().zip(&self.sets).zip(&self.extents[..self.count]) {
            let (inputs, outputs) = (planned.inputs.as_ptr().cast(), planned.outputs.as_ptr().cast());
            // SAFETY: this has been planned.
            let Extent { begin, first, count } = unsafe { extent.assume_init() };
            set.write(Set { inputs, outputs, chains: planned.chains.as_ptr().cast(), begin, first, count });
        }
        // SAFETY: the loop has written so many, one at least. Each stream has the blocks of its stages, or a copy of them, or
        // is spare; else the caller's.
        unsafe { stage.sets_abreast(ciphers, sets[..self.count].assume_init_ref(), STEPS) }
    }

    /// Copies the ends of messages to where they go, once they are encrypted: no text is left behind.
    ///
    /// # Safety
    /// As [`Plan::run`]'s.
    #[inline(always)]
    pub(super) unsafe fn copy_back<I: Isa>(&self, isa: I) {
        for (number, end) in self.ends[..self.copies].iter().enumerate() {
            // SAFETY: so many ends have been copied, and have as many bytes at their output.
            unsafe {
                let (End { output, bytes }, copy) = (end.assume_init(), self.spare.add(number).cast::<u8>());
                isa.load(copy).store_partial(output, bytes.min(HALF));
                isa.load(copy.add(HALF)).store_partial(output.wrapping_add(HALF), bytes.saturating_sub(HALF));
            }
        }
    }
}

/// Copies `bytes` bytes, and zeros behind them up to a stage.
///
/// # Safety
/// So many bytes are readable, a stage at most, and a stage is writable.
#[inline(always)]
unsafe fn copy_in<I: Isa>(isa: I, from: *const u8, to: *mut u8, bytes: usize) {
    // SAFETY: the caller's.
    unsafe {
        isa.load_partial(from, bytes.min(HALF)).store(to);
        isa.load_partial(from.wrapping_add(HALF), bytes.saturating_sub(HALF)).store(to.add(HALF));
    }
}
