//! Short messages of whole blocks under one key: messages follow one another in memory, so that many of them run as one, and
//! a list that is made before says what each block is combined with.

use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::ops::Range;

use cipherlane_core::BLOCK;

use super::blocks::{self, Pass};
use crate::cipher::{Groups, Permutation, SMALL, V};
use crate::job::{Job, Message};
use crate::lanes::{Isa, Lanes, Work};

/// What a mode makes of blocks by those of a list.
pub(super) trait Combine {
    /// Whether that is the text, with what becomes of the blocks added to it.
    const ADDS: bool = false;

    /// The output for `text`, where `listed` belongs to it.
    fn combine<P: Permutation, const M: usize>(cipher: &P, text: [V<P>; M], listed: [V<P>; M]) -> [V<P>; M];
}

/// Whether a list pays for `messages` under one key: several of whole blocks, and of fewer than `most` bytes on average. Others
/// are quicker by code that has no list beside it.
#[inline(always)]
pub(super) fn pays(job: &Job<'_>, messages: &Range<usize>, most: usize) -> bool {
    messages.len() > 1
        && job.consecutive(messages.clone()).bytes < messages.len() * most
        && job.are_whole_blocks(messages.clone())
}

/// Bytes from which on messages are better run without others: more than a group, where it is a cipher's own, since a list
/// spares each message what comes before its group and behind it.
#[inline(always)]
pub(super) const fn from_alone<P: Permutation, const N: usize>() -> usize {
    N * V::<P>::BYTES + (P::WHOLE_GROUPS && N == SMALL) as usize
}

/// Blocks of a list: those of four groups or more, so that what is left behind the last whole one weighs little.
const MOST: usize = 512;

/// Room behind them for what fills up the last group.
const FILLING: usize = 128;

/// Room for a list, which is made where it stays: a copy would cost as much as many messages.
#[repr(C, align(64))] // registers of groups lie within cache lines
pub(super) struct List(MaybeUninit<[[u8; BLOCK]; MOST + FILLING]>);

impl List {
    /// Nothing is written yet.
    #[inline(always)]
    pub(super) const fn new() -> Self {
        Self(MaybeUninit::uninit())
    }
}

/// Messages that run together with N registers in flight.
pub(super) struct Listed<'a, P, C, const N: usize> {
    cipher: &'a P,
    job: &'a Job<'a>,
    /// The messages whose blocks are listed, which follow one another.
    messages: Range<usize>,
    list: &'a mut List,
    /// Blocks that are listed: the first ones are written.
    count: usize,
    combine: PhantomData<fn() -> C>,
}

impl<'a, P: Permutation, C: Combine, const N: usize> Listed<'a, P, C, N> {
    /// No messages yet.
    #[inline(always)]
    pub(super) fn new(cipher: &'a P, job: &'a Job<'a>, list: &'a mut List) -> Self {
        Self { cipher, job, messages: 0..0, list, count: 0, combine: PhantomData }
    }

    /// Whether a message of whole blocks gains by company.
    #[inline(always)]
    pub(super) const fn takes(message: Message) -> bool {
        message.bytes < from_alone::<P, N>()
    }

    /// Takes message `index`, which is the next one or follows a call of [`Listed::run`]. Returns where its list is to be
    /// written at once: there is room for a register more than it needs.
    ///
    /// # Safety
    /// The message is one that this [takes](Listed::takes), and has that many whole blocks. The job's pointers are good, and
    /// until messages are run nobody else touches their output. What was listed before has been written.
    #[inline(always)]
    pub(super) unsafe fn push(&mut self, index: usize, blocks: usize) -> *mut u8 {
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
    pub(super) unsafe fn run(&mut self) {
        if self.count > 0 {
            let Self { cipher, job, ref messages, count, combine, .. } = *self;
            let list = self.list.0.as_mut_ptr().cast::<[u8; BLOCK]>();
            // The last group is read to its end.
            for register in 0..if P::WHOLE_GROUPS { N } else { 1 } {
                // SAFETY: there is room for N registers behind the blocks that are listed.
                unsafe { cipher.isa().zero().store(list.add(count + register * V::<P>::LANES).cast()) }
            }
            let pass = Combined { cipher, next: list.cast(), combine };
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
struct Combined<'a, P, C> {
    cipher: &'a P,
    /// What belongs to the next register.
    next: *const u8,
    combine: PhantomData<fn() -> C>,
}

impl<P: Permutation, C: Combine> Pass for Combined<'_, P, C> {
    type Cipher = P;

    #[inline(always)]
    fn cipher(&self) -> &P {
        self.cipher
    }

    #[inline(always)]
    unsafe fn whole_groups(&mut self, message: Message) -> Message {
        if !C::ADDS {
            return message;
        }
        let Self { cipher, ref mut next, .. } = *self;
        // SAFETY: the caller's; as many blocks are listed as there are in the messages.
        unsafe {
            blocks::whole_groups(
                cipher.isa(),
                message,
                |groups| cipher.runs_in_memory(groups),
                |groups| {
                    cipher.run_in_memory(Groups { from: *next, ..groups }, Some(groups.from));
                    *next = next.wrapping_add(groups.count * SMALL * V::<P>::BYTES);
                },
            )
        }
    }

    #[inline(always)]
    fn registers<const M: usize>(&mut self, registers: &mut [V<P>; M]) {
        // SAFETY: as many blocks are listed as there are in the messages, and zeros follow up to the end of a group.
        let listed = unsafe { blocks::load::<_, M>(self.cipher.isa(), self.next) };
        self.next = self.next.wrapping_add(M * V::<P>::BYTES);
        *registers = C::combine(self.cipher, *registers, listed);
    }
}
