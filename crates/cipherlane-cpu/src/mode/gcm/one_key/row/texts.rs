//! Four equal messages of a row.

use std::marker::PhantomData;

use crate::job::Message;
use crate::lanes::{Isa, Lanes};
use crate::mode::gcm::equal::FOUR;

/// Four equal messages that follow one another, from a register of each on: R registers of each are run together, which is
/// all there is, or CHUNKED times that.
#[derive(Clone, Copy)]
pub(super) struct Texts<T, const R: usize, const CHUNKED: bool> {
    input: *const u8,
    output: *mut u8,
    /// Bytes of each message.
    pub(super) bytes: usize,
    /// Bytes of each that come before.
    before: usize,
    registers: PhantomData<T>,
}

impl<T: Lanes, const R: usize, const CHUNKED: bool> Texts<T, R, CHUNKED> {
    /// From the start of the first one on, WHOLE if R registers at a time are.
    #[inline(always)]
    pub(super) fn new<const WHOLE: bool>(Message { input, output, bytes, .. }: Message) -> Self {
        debug_assert!(bytes > 0 && (!WHOLE || bytes.is_multiple_of(R * T::BYTES)));
        debug_assert!(CHUNKED || bytes.div_ceil(T::BYTES) == R);
        let bytes = if WHOLE && !CHUNKED { R * T::BYTES } else { bytes };
        Self { input, output, bytes, before: 0, registers: PhantomData }
    }

    /// The four messages that come after `fours` times four, from their start on.
    ///
    /// # Safety
    /// There are as many.
    #[inline(always)]
    pub(super) unsafe fn skip(self, fours: usize) -> Self {
        let bytes = fours * FOUR * self.bytes;
        // SAFETY: the caller's.
        unsafe { Self { input: self.input.add(bytes), output: self.output.add(bytes), before: 0, ..self } }
    }

    /// The same messages from chunk `chunk` of R registers on.
    #[inline(always)]
    pub(super) fn chunk(self, chunk: usize) -> Self {
        Self { before: if CHUNKED { chunk * R * T::BYTES } else { 0 }, ..self }
    }

    /// Chunks of R registers of a message.
    #[inline(always)]
    pub(super) fn chunks(&self) -> usize {
        if CHUNKED { self.bytes.div_ceil(R * T::BYTES) } else { 1 }
    }

    /// Registers of a message before these.
    #[inline(always)]
    pub(super) fn registers_before(&self) -> usize {
        if CHUNKED { self.before / T::BYTES } else { 0 }
    }

    #[inline(always)]
    pub(super) fn input(&self) -> *const u8 {
        self.input
    }

    #[inline(always)]
    pub(super) fn output(&self) -> *const u8 {
        self.output
    }

    /// Where register `register` of message `message` begins, and its bytes if it is not whole, as it may be in PART.
    #[inline(always)]
    fn place<const PART: bool>(&self, message: usize, register: usize) -> (usize, Option<usize>) {
        let at = if CHUNKED { self.before } else { 0 } + register * T::BYTES;
        let is_whole = if CHUNKED { at + T::BYTES <= self.bytes } else { register + 1 < R };
        let part = (PART && !is_whole).then(|| self.bytes.saturating_sub(at));
        (message * self.bytes + at, part)
    }

    /// Register `register` of message `message` of `text`, which is the input or the output.
    ///
    /// # Safety
    /// It is readable.
    #[inline(always)]
    pub(super) unsafe fn load<const PART: bool>(
        &self,
        isa: T::Isa,
        text: *const u8,
        message: usize,
        register: usize,
    ) -> T {
        let (at, part) = self.place::<PART>(message, register);
        let from = text.wrapping_add(at);
        // SAFETY: the caller's.
        unsafe {
            match part {
                None => isa.load(from),
                Some(bytes) => isa.load_partial(from, bytes),
            }
        }
    }

    /// Encrypts or decrypts R registers of each, message by message.
    ///
    /// # Safety
    /// Input is readable and output writable.
    #[inline(always)]
    pub(super) unsafe fn crypt<const N: usize, const PART: bool>(&self, keystream: &[T; N]) {
        // One loop over both would not be unrolled where registers may not be whole, and divide.
        for message in 0..FOUR {
            for register in 0..R {
                let key = keystream[message * R + register];
                let (at, part) = self.place::<PART>(message, register);
                let to = self.output.wrapping_add(at);
                // SAFETY: the caller's.
                unsafe {
                    let text = self.load::<PART>(key.isa(), self.input, message, register).xor(key);
                    match part {
                        None => text.store(to),
                        Some(bytes) => text.store_partial(to, bytes),
                    }
                }
            }
        }
    }
}
