//! Equal messages that follow one another.

use std::marker::PhantomData;

use cipherlane_core::BLOCK;

use super::members::{Members, Texts};
use crate::job::{Job, Message};
use crate::lanes::{Isa, Lanes, MAX_LANES};
use crate::mode::gcm::Direction;
use crate::mode::gcm::equal::{FOUR, Row};

/// The texts of a row.
pub(in super::super) trait InRow: Copy {
    /// Those from a message on that are like it.
    fn from<T: Lanes>(first: Message) -> Self;

    /// Those behind `messages` of them.
    fn behind(self, messages: usize) -> Self;

    /// Passes that each goes through the cipher in.
    fn passes(&self) -> usize;
}

/// Where texts lie that are equally long and follow one another.
#[derive(Clone, Copy)]
pub(super) struct Followers {
    /// Where the first of them begins.
    pub(super) input: *const u8,
    pub(super) output: *mut u8,
    /// Bytes of each.
    pub(super) bytes: usize,
}

impl Followers {
    /// Those behind `messages` of them.
    #[inline(always)]
    pub(super) fn behind(self, messages: usize) -> Self {
        let before = messages * self.bytes;
        Self { input: self.input.wrapping_add(before), output: self.output.wrapping_add(before), ..self }
    }

    /// Whether input and output are the same.
    #[inline(always)]
    pub(super) fn are_in_place(&self) -> bool {
        self.input == self.output.cast_const()
    }

    /// The input, or the OUTPUT.
    #[inline(always)]
    pub(super) fn text<const OUTPUT: bool>(&self) -> *const u8 {
        if OUTPUT { self.output.cast_const() } else { self.input }
    }
}

/// A row, whose columns of keys, nonces and AAD are as long as each other and begin one behind the other.
#[derive(Clone, Copy)]
pub(in super::super) struct Equal<'a, X> {
    job: &'a Job<'a>,
    row: Row,
    texts: X,
    keys: *const u8,
    key_bytes: usize,
    nonces: *const u8,
    aad: *const u8,
    aad_bytes: usize,
    /// Bytes from one AAD to the next.
    aad_stride: usize,
    columns: PhantomData<&'a [u8]>,
}

impl<'a, X: InRow> Equal<'a, X> {
    /// Those of `row`.
    #[inline(always)]
    pub(in super::super) fn of<T: Lanes>(job: &'a Job<'a>, row: Row) -> Self {
        debug_assert!(row.fours > 1);
        let aad_bytes = job.aad(row.first).len();
        Self {
            job,
            row,
            texts: X::from::<T>(job.message(row.first)),
            keys: job.keys_from(row.first),
            key_bytes: job.key(row.first).len(),
            nonces: job.nonces_from(row.first),
            aad: job.aad_from(row.first),
            aad_bytes,
            aad_stride: if job.shared_aad().is_some() { 0 } else { aad_bytes },
            columns: PhantomData,
        }
    }
}

impl<T: Lanes, X: InRow + Texts<T>> Members<T> for Equal<'_, X> {
    type Texts = X;

    /// A row goes by four, which is as many sets as it takes.
    #[inline(always)]
    fn sets(&self) -> usize {
        self.row.fours * (FOUR / T::LANES)
    }

    #[inline(always)]
    fn passes(&self) -> usize {
        self.texts.passes()
    }

    #[inline(always)]
    fn key(&self, set: usize, lane: usize) -> &[u8] {
        let index = set * T::LANES + lane;
        // SAFETY: a key for each message, of the length of the first.
        unsafe { std::slice::from_raw_parts(self.keys.add(index * self.key_bytes), self.key_bytes) }
    }

    #[inline(always)]
    fn nonces(&self, isa: T::Isa, set: usize) -> T {
        // SAFETY: a nonce for each message.
        unsafe { isa.rows_of_12(self.nonces.add(12 * set * T::LANES)) }
    }

    #[inline(always)]
    fn aad_bytes(&self) -> usize {
        self.aad_bytes
    }

    #[inline(always)]
    fn aad(&self, isa: T::Isa, set: usize, block: usize) -> T {
        let at = block * BLOCK;
        let bytes = (self.aad_bytes - at).min(BLOCK);
        let mut blocks: [&[u8]; MAX_LANES] = [&[]; MAX_LANES];
        for (lane, block) in blocks.iter_mut().enumerate().take(T::LANES) {
            let index = set * T::LANES + lane;
            // SAFETY: AAD for each message, of the length of the first.
            *block = unsafe { std::slice::from_raw_parts(self.aad.add(index * self.aad_stride + at), bytes) };
        }
        isa.gather_partial(&blocks).reverse_bytes()
    }

    #[inline(always)]
    fn texts(&self, _: T::Isa, set: usize) -> X {
        self.texts.behind(set * T::LANES)
    }

    #[inline(always)]
    fn conclude<D: Direction>(&self, set: usize, tags: T) {
        D::conclude_each(self.job, self.row.first + set * T::LANES, tags);
    }
}
