//! Blocks of several short units under one key: they fill groups of registers together.
//!
//! Ciphers that run whole groups take as long for one block as for all of a group.

use std::mem::MaybeUninit;

use cipherlane_core::BLOCK;

use crate::cipher::{Permutation, SMALL, V};
use crate::job::Message;
use crate::lanes::{Isa, Lanes, MAX_LANES, wipe};
use crate::rows::{load_block, store_block};

/// What becomes of a block that has gone through the cipher.
#[derive(Clone, Copy)]
struct Sum {
    /// What it is added to, little-endian.
    text: u128,
    /// Where the sum goes.
    output: *mut u8,
    /// How many bytes of it: 1 to 16.
    bytes: usize,
}

/// A mode whose blocks go through the cipher each by itself.
pub(super) trait Short {
    /// [`Steps::next`](crate::mode::key_each::Steps::next) of one block, little-endian.
    fn next_block(state: &mut u128, text: u128) -> [u128; 2];
}

/// Up to N registers of blocks that wait for the cipher.
pub(super) struct Together<'a, P: Permutation, const N: usize> {
    cipher: &'a P,
    registers: [V<P>; N],
    /// The first `count` are written.
    sums: [[MaybeUninit<Sum>; MAX_LANES]; N],
    count: usize,
}

impl<'a, P: Permutation, const N: usize> Together<'a, P, N> {
    /// No blocks yet.
    #[inline(always)]
    pub(super) fn new(cipher: &'a P) -> Self {
        let sums = [[const { MaybeUninit::uninit() }; MAX_LANES]; N];
        Self { cipher, registers: [cipher.isa().zero(); N], sums, count: 0 }
    }

    /// Whether a message of `bytes` bytes leaves half of a group empty where it is alone.
    #[inline(always)]
    pub(super) const fn takes(bytes: usize) -> bool {
        let group = if N < SMALL { N } else { SMALL };
        bytes <= group * V::<P>::BYTES / 2
    }

    /// Pushes the blocks of `message`, before which the mode knows `state`.
    ///
    /// # Safety
    /// Until the end its pointers are good, and nobody else touches its output.
    #[inline(always)]
    pub(super) unsafe fn push_all<S: Short>(&mut self, mut state: u128, mut message: Message) {
        while message.bytes > 0 {
            let bytes = message.bytes.min(BLOCK);
            // SAFETY: the message has these bytes; the caller's promise.
            unsafe {
                let [block, text] = S::next_block(&mut state, load_block(message.input, bytes));
                self.push(block, Sum { text, output: message.output, bytes });
                message = message.skip(bytes);
            }
        }
    }

    /// Sends `block`, little-endian, through the cipher, when there is a group of them or at the end.
    ///
    /// # Safety
    /// Until then the bytes of the output are writable, and nobody else touches them.
    #[inline(always)]
    unsafe fn push(&mut self, block: u128, sum: Sum) {
        self.sums.as_flattened_mut()[self.count].write(sum);
        // SAFETY: `count` is below the number of lanes; the caller's promise.
        unsafe {
            let blocks = self.registers.as_mut_ptr().cast::<[u8; BLOCK]>();
            blocks.add(self.count).write(block.to_le_bytes());
            self.count += 1;
            if self.count == N * V::<P>::LANES {
                self.run();
            }
        }
    }

    /// Runs the blocks that are there.
    ///
    /// # Safety
    /// That of [`Together::push`].
    #[inline(always)]
    unsafe fn run(&mut self) {
        self.cipher.apply_used(&mut self.registers, self.count.div_ceil(V::<P>::LANES));
        let blocks = self.registers.as_ptr().cast::<[u8; BLOCK]>();
        for (i, sum) in self.sums.as_flattened()[..self.count].iter().enumerate() {
            // SAFETY: so many sums are written, and so many lanes are there; the caller's promise.
            unsafe {
                let Sum { text, output, bytes } = sum.assume_init();
                store_block(text ^ u128::from_le_bytes(blocks.add(i).read()), output, bytes);
            }
        }
        self.count = 0;
    }

    /// Runs what is left.
    ///
    /// # Safety
    /// That of [`Together::push`].
    #[inline(always)]
    pub(super) unsafe fn end(&mut self) {
        if self.count > 0 {
            // SAFETY: the caller's promise.
            unsafe { self.run() }
        }
    }
}

/// What came of blocks may be key stream.
impl<P: Permutation, const N: usize> Drop for Together<'_, P, N> {
    #[inline(always)]
    fn drop(&mut self) {
        wipe(&mut self.registers);
    }
}
