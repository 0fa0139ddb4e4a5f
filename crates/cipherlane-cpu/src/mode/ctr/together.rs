//! Short messages of counter mode under one key: their counter blocks fill groups of registers together.
//!
//! Ciphers that run whole groups take as long for one block as for all of a group.

use std::mem::MaybeUninit;

use cipherlane_core::BLOCK;

use crate::cipher::{Permutation, V};
use crate::job::Message;
use crate::lanes::{Isa, Lanes, MAX_LANES, wipe};
use crate::rows::{load_block, store_block};

/// Registers of the smallest group that a cipher runs by itself, as [`crate::mode::blocks::all`] has them.
const SMALL: usize = 16;

/// Counter blocks of messages, up to N registers of them, and the text that each is for.
pub(super) struct Together<'a, P: Permutation, const N: usize> {
    cipher: &'a P,
    registers: [V<P>; N],
    /// The first `count` are written, and no longer than a block.
    texts: [[MaybeUninit<Message>; MAX_LANES]; N],
    count: usize,
}

impl<'a, P: Permutation, const N: usize> Together<'a, P, N> {
    /// No messages yet.
    #[inline(always)]
    pub(super) fn new(cipher: &'a P) -> Self {
        let texts = [[const { MaybeUninit::uninit() }; MAX_LANES]; N];
        Self { cipher, registers: [cipher.isa().zero(); N], texts, count: 0 }
    }

    /// Whether a message of `bytes` bytes leaves half of a group empty where it is alone.
    #[inline(always)]
    pub(super) const fn takes(bytes: usize) -> bool {
        let group = if N < SMALL { N } else { SMALL };
        bytes <= group * V::<P>::BYTES / 2
    }

    /// Runs `message`, whose first counter block is `counter`, when there is a group of blocks, or at the end.
    ///
    /// # Safety
    /// Until the end, its pointers are good, and nobody else touches its output.
    #[inline(always)]
    pub(super) unsafe fn push(&mut self, counter: [u8; BLOCK], mut message: Message) {
        let mut counter = u128::from_be_bytes(counter);
        while message.bytes > 0 {
            let bytes = message.bytes.min(BLOCK);
            self.texts.as_flattened_mut()[self.count].write(message.take(bytes));
            // SAFETY: `count` is below the number of lanes; the message has these bytes; the caller's promise.
            unsafe {
                self.registers
                    .as_mut_ptr()
                    .cast::<[u8; BLOCK]>()
                    .add(self.count)
                    .write(counter.to_be_bytes());
                self.count += 1;
                if self.count == N * V::<P>::LANES {
                    self.run();
                }
                message = message.skip(bytes);
            }
            // SP 800-38A appendix B.1, modulo 2^128.
            counter = counter.wrapping_add(1);
        }
    }

    /// Runs the blocks that are there.
    ///
    /// # Safety
    /// That of [`Together::push`].
    #[inline(always)]
    unsafe fn run(&mut self) {
        match self.count.div_ceil(V::<P>::LANES) {
            0..=SMALL if N > SMALL => self.apply::<SMALL>(),
            0..=32 if N > 32 => self.apply::<32>(),
            _ => self.apply::<N>(),
        }
        let keystream = self.registers.as_ptr().cast::<[u8; BLOCK]>();
        for (i, text) in self.texts.as_flattened()[..self.count].iter().enumerate() {
            // SAFETY: so many texts are written, and so many lanes are there; the caller's promise.
            unsafe { add(text.assume_init(), u128::from_le_bytes(keystream.add(i).read())) }
        }
        self.count = 0;
    }

    /// Encrypts the first M registers, of N or more.
    #[inline(always)]
    fn apply<const M: usize>(&mut self) {
        if let Some(registers) = self.registers.first_chunk_mut::<M>() {
            *registers = self.cipher.apply(*registers);
        }
    }

    /// Runs what is left, and overwrites the key stream.
    ///
    /// # Safety
    /// That of [`Together::push`].
    #[inline(always)]
    pub(super) unsafe fn end(mut self) {
        if self.count > 0 {
            // SAFETY: the caller's promise.
            unsafe { self.run() }
        }
        wipe(&mut self.registers);
    }
}

/// Adds `key`, little-endian, to a text of a block or less.
///
/// # Safety
/// The pointers are good, and nobody else touches the output.
#[inline(always)]
unsafe fn add(text: Message, key: u128) {
    // SAFETY: the caller's promise.
    unsafe { store_block(load_block(text.input, text.bytes) ^ key, text.output, text.bytes) }
}
