//! Short messages of whole blocks under one key: messages follow one another in memory, so that many of them run as one, and
//! a list that is made before says what each block is combined with.

use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::ops::Range;

use cipherlane_core::BLOCK;

use super::blocks::{self, Pass};
use crate::cipher::{Permutation, V};
use crate::job::{Job, Message};
use crate::lanes::{Isa, Lanes, Work};

/// A mode whose messages can run by a list, under one key.
pub(super) trait ByList<P: Permutation> {
    /// What the list of a message follows from: its first counter block, or its first tweak.
    type First;

    /// Whether a message of `blocks` blocks that begins with `first` can be listed.
    #[inline(always)]
    fn can_list(&self, _first: &Self::First, _blocks: usize) -> bool {
        true
    }

    /// Stores what belongs to `blocks` blocks that begin with `first` to `to`, and as much more as fills the last register.
    ///
    /// # Safety
    /// So much is writable.
    unsafe fn list(&self, first: Self::First, blocks: usize, to: *mut u8);

    /// Runs message `index` by itself.
    ///
    /// # Safety
    /// The job's pointers are good, and nobody else touches the message's output.
    unsafe fn alone(&self, index: usize, first: Self::First);

    /// The output for `text`, where `listed` belongs to it.
    fn combine<const M: usize>(cipher: &P, text: [V<P>; M], listed: [V<P>; M]) -> [V<P>; M];
}

/// Runs `messages`, which follow one another and are whole blocks, with N registers in flight: those that are shorter than a
/// group, and so gain by it, with their neighbours.
///
/// # Safety
/// The job's pointers are good, and nobody else touches the messages' output.
#[inline(always)]
pub(super) unsafe fn run<P: Permutation, B: ByList<P>, const N: usize>(
    mode: &B,
    cipher: &P,
    job: &Job<'_>,
    messages: impl Iterator<Item = (usize, B::First)>,
) {
    let mut list = List::new();
    let mut listed = Listed::<P, B, N>::new(cipher, job, &mut list);
    for (index, first) in messages {
        let bytes = job.bytes(index);
        let blocks = bytes / BLOCK;
        // SAFETY: the caller's promise.
        unsafe {
            if bytes < N * V::<P>::BYTES && mode.can_list(&first, blocks) {
                mode.list(first, blocks, listed.push(index, blocks));
            } else {
                listed.run();
                mode.alone(index, first);
            }
        }
    }
    // SAFETY: as above.
    unsafe { listed.run() }
}

/// Whether a list pays for `messages` under one key: several of whole blocks, and of fewer than `most` bytes on average. Others
/// are quicker by code that has no list beside it.
#[inline(always)]
pub(super) fn pays(job: &Job<'_>, messages: &Range<usize>, most: usize) -> bool {
    messages.len() > 1
        && job.consecutive(messages.clone()).bytes < messages.len() * most
        && job.are_whole_blocks(messages.clone())
}

/// Blocks of a list: those of four groups or more, so that what is left behind the last whole one weighs little.
const MOST: usize = 512;

/// Room behind them for what fills up the last group.
const FILLING: usize = 128;

/// Room for a list, which is made where it stays: a copy would cost as much as many messages.
#[repr(C, align(64))] // registers of groups lie within cache lines
struct List(MaybeUninit<[[u8; BLOCK]; MOST + FILLING]>);

impl List {
    /// Nothing is written yet.
    #[inline(always)]
    const fn new() -> Self {
        Self(MaybeUninit::uninit())
    }
}

/// Messages that run together with N registers in flight.
struct Listed<'a, P, B, const N: usize> {
    cipher: &'a P,
    job: &'a Job<'a>,
    /// The messages whose blocks are listed, which follow one another.
    messages: Range<usize>,
    list: &'a mut List,
    /// Blocks that are listed: the first ones are written.
    count: usize,
    mode: PhantomData<fn() -> B>,
}

impl<'a, P: Permutation, B: ByList<P>, const N: usize> Listed<'a, P, B, N> {
    /// No messages yet.
    #[inline(always)]
    fn new(cipher: &'a P, job: &'a Job<'a>, list: &'a mut List) -> Self {
        Self { cipher, job, messages: 0..0, list, count: 0, mode: PhantomData }
    }

    /// Takes message `index`, which is the next one or follows a call of [`Listed::run`]. Returns where its list is to be
    /// written at once: there is room for a register more than it needs.
    ///
    /// # Safety
    /// The message has that many whole blocks, which are fewer than a group. The job's pointers are good, and
    /// until messages are run nobody else touches their output. What was listed before has been written.
    #[inline(always)]
    unsafe fn push(&mut self, index: usize, blocks: usize) -> *mut u8 {
        const { assert!(N * V::<P>::LANES <= FILLING, "one message and what fills up its group must fit") };
        if self.count + blocks > MOST {
            // SAFETY: the caller's promise.
            unsafe { self.run() }
        }
        if self.messages.is_empty() {
            self.messages.start = index;
        }
        debug_assert!(self.messages.is_empty() || self.messages.end == index);
        self.messages.end = index + 1;
        let place = self.list.0.as_mut_ptr().cast::<[u8; BLOCK]>().wrapping_add(self.count);
        self.count += blocks;
        place.cast()
    }

    /// Runs the messages that are there.
    ///
    /// # Safety
    /// That of [`Listed::push`], for all messages that are there.
    #[inline(always)]
    unsafe fn run(&mut self) {
        if self.count > 0 {
            let Self { cipher, job, ref messages, count, mode, .. } = *self;
            let list = self.list.0.as_mut_ptr().cast::<[u8; BLOCK]>();
            // The last group is read to its end.
            for register in 0..if P::WHOLE_GROUPS { N } else { 1 } {
                // SAFETY: there is room for N registers behind the blocks that are listed.
                unsafe { cipher.isa().zero().store(list.add(count + register * V::<P>::LANES).cast()) }
            }
            let pass = Combined { cipher, next: list.cast(), mode };
            cipher.isa().vectorize(All::<_, N> { pass, message: job.consecutive(messages.clone()) });
        }
        (self.count, self.messages) = (0, 0..0);
    }
}

/// The messages of a list, as work of its own, so that it is compiled once and not wherever they are run. Only where the
/// promise of [`blocks::all`] is kept is it made.
struct All<T, const N: usize> {
    pass: T,
    message: Message,
}

impl<T: Pass, const N: usize> Work for All<T, N> {
    type Output = ();

    #[inline(always)]
    fn run(mut self) {
        // SAFETY: that of who made it.
        unsafe { blocks::all::<_, N>(&mut self.pass, self.message) }
    }
}

/// Blocks from the first to the last of a list.
struct Combined<'a, P, B> {
    cipher: &'a P,
    /// What belongs to the next register.
    next: *const u8,
    mode: PhantomData<fn() -> B>,
}

impl<P: Permutation, B: ByList<P>> Pass for Combined<'_, P, B> {
    type Cipher = P;

    #[inline(always)]
    fn cipher(&self) -> &P {
        self.cipher
    }

    #[inline(always)]
    fn registers<const M: usize>(&mut self, registers: &mut [V<P>; M]) {
        // SAFETY: as many blocks are listed as there are in the messages, and zeros follow up to the end of a group.
        let listed = unsafe { blocks::load::<_, M>(self.cipher.isa(), self.next) };
        self.next = self.next.wrapping_add(M * V::<P>::BYTES);
        *registers = B::combine(self.cipher, *registers, listed);
    }
}
