//! Short messages under one key: LANES of them finish together.
//!
//! The blocks of each message lie in the lanes of registers, as everywhere. What is shared is the end: the
//! pre-counter blocks of LANES messages are encrypted in the lanes of one register, their sums of products are
//! transposed so that each message has a lane, and one reduction makes all the tags.

use std::ops::ControlFlow;

use cipherlane_core::BLOCK;

use super::OneKey;
use crate::cipher::{Meanwhile, Nothing, Permutation, V};
use crate::job::{Job, Message};
use crate::lanes::{Isa, Lanes, MAX_LANES};
use crate::mode::counters::{Count, Counters, advanced};
use crate::mode::gcm::counter::pre_counter;
use crate::mode::gcm::ghash::{Powers, Products, add_blocks, lengths};
use crate::mode::gcm::{Direction, text};

/// Up to LANES short messages of one job, collected and then run.
pub(super) struct Group {
    indices: [usize; MAX_LANES],
    pre_counters: [u128; MAX_LANES],
    count: usize,
}

impl Group {
    /// No messages.
    #[inline(always)]
    pub(super) fn new() -> Self {
        Self { indices: [0; MAX_LANES], pre_counters: [0; MAX_LANES], count: 0 }
    }

    /// Takes message `index` in if it is short enough for one table of powers. Not groups of N registers, which are
    /// hashed while others are encrypted, unless most of the message is what they leave.
    #[inline(always)]
    pub(super) fn offer<I: Isa, const N: usize, const KARATSUBA: bool>(
        &mut self,
        job: &Job<'_>,
        powers: &Powers<I>,
        index: usize,
    ) -> ControlFlow<u128> {
        let pre_counter = pre_counter::<I, KARATSUBA>(powers, job.nonce(index));
        let text = job.message(index).bytes.div_ceil(BLOCK);
        let aad = job.aad(index).len().div_ceil(BLOCK);
        let (bytes, whole) = (job.message(index).bytes, N * I::V::BYTES);
        let is_long = bytes >= 2 * whole || bytes == whole;
        if is_long || text + aad >= powers.highest() {
            return ControlFlow::Break(pre_counter);
        }
        self.indices[self.count] = index;
        self.pre_counters[self.count] = pre_counter;
        self.count += 1;
        ControlFlow::Continue(())
    }

    /// Whether no lane has a message.
    #[inline(always)]
    pub(super) fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Whether every lane has its message.
    #[inline(always)]
    pub(super) fn is_full<I: Isa>(&self) -> bool {
        self.count == I::V::LANES
    }

    /// Runs the messages and is empty again.
    #[inline(always)]
    pub(super) fn run<P: Permutation, D: Direction, const N: usize, const KARATSUBA: bool>(
        &mut self,
        job: &Job<'_>,
        key: &OneKey<P, D, N, KARATSUBA>,
    ) {
        let (cipher, powers) = (key.cipher(), key.powers());
        let isa = cipher.isa();
        let masks = cipher.apply([isa.words(&self.pre_counters)])[0];
        let mut sums = [Products::zero(isa); MAX_LANES];
        let mut ends = [0; MAX_LANES];
        for lane in 0..self.count {
            let (index, first) = (self.indices[lane], advanced(self.pre_counters[lane], 1));
            let (message, aad) = (job.message(index), job.aad(index));
            let after = message.bytes.div_ceil(BLOCK) + 2;
            // SAFETY: the job's pointers are good; the group takes messages whose powers are all in the table.
            unsafe {
                add_blocks::<P::Isa, KARATSUBA>(&mut sums[lane], powers, aad.as_ptr(), aad.len(), after);
                crypt_and_hash::<P, KARATSUBA, D>(
                    cipher,
                    powers,
                    &mut sums[lane],
                    message,
                    key.counters(job, index, first),
                );
            }
            ends[lane] = lengths(aad.len(), message.bytes).swap_bytes();
        }
        let tags = tags::<P::Isa, KARATSUBA>(powers, &sums, &ends, masks);
        for (index, tag) in self.indices.into_iter().zip(tags).take(self.count) {
            D::conclude(job, index, tag);
        }
        self.count = 0;
    }
}

/// The tags of LANES messages, of the sums of their products, their blocks of lengths and their encrypted pre-counter blocks
/// (SP 800-38D section 7.1 steps 5 and 6).
#[inline(always)]
pub(super) fn tags<I: Isa, const KARATSUBA: bool>(
    powers: &Powers<I>,
    sums: &[Products<I::V>; MAX_LANES],
    ends: &[u128; MAX_LANES],
    masks: I::V,
) -> [u128; MAX_LANES] {
    let isa = powers.isa();
    let mut sum = Products::fold_each(sums);
    sum.add::<KARATSUBA>(isa.words(ends), powers.splat::<KARATSUBA>(1));
    sum.settle::<KARATSUBA>().reduce(isa).reverse_bytes().xor(masks).to_words()
}

/// Encrypts or decrypts `message` with `counters`, and adds the products of its ciphertext, which
/// is followed by the block of lengths.
///
/// # Safety
/// The message's pointers are good for its bytes.
#[inline(always)]
unsafe fn crypt_and_hash<P: Permutation, const KARATSUBA: bool, D: Direction>(
    cipher: &P,
    powers: &Powers<P::Isa>,
    sum: &mut Products<V<P>>,
    message: Message,
    mut counters: Counters<'_, P>,
) {
    let mut left = message;
    while left.bytes > 0 {
        // SAFETY: each step takes its registers or what is left of the message, whichever is less.
        unsafe {
            let registers = match left.bytes.div_ceil(V::<P>::BYTES) {
                1 => step::<P, 1, KARATSUBA, D>(cipher, powers, sum, left, &mut counters, &mut Nothing),
                2 => step::<P, 2, KARATSUBA, D>(cipher, powers, sum, left, &mut counters, &mut Nothing),
                3 | 4 => step::<P, 4, KARATSUBA, D>(cipher, powers, sum, left, &mut counters, &mut Nothing),
                _ => step::<P, 8, KARATSUBA, D>(cipher, powers, sum, left, &mut counters, &mut Nothing),
            };
            left = left.skip(left.bytes.min(registers * V::<P>::BYTES));
        }
    }
}

/// The first R registers of `left`, or all that is left; `meanwhile` as in [`Permutation::finish_while`]. Returns R.
///
/// # Safety
/// The message's pointers are good for its bytes.
#[inline(always)]
pub(super) unsafe fn step<P: Permutation, const R: usize, const KARATSUBA: bool, D: Direction>(
    cipher: &P,
    powers: &Powers<P::Isa>,
    sum: &mut Products<V<P>>,
    left: Message,
    counters: &mut impl Count<P>,
    meanwhile: &mut impl Meanwhile,
) -> usize {
    let (isa, blocks) = (cipher.isa(), left.bytes.div_ceil(BLOCK));
    // The block of lengths follows, and what is pending is multiplied by H: two more powers.
    let highest = blocks + 1;
    // SAFETY: the caller's; at most what is left is touched.
    unsafe {
        if D::OPEN {
            for register in 0..R {
                if register * V::<P>::BYTES < left.bytes {
                    let x = text::load_register::<P::Isa>(isa, left, register);
                    sum.add::<KARATSUBA>(
                        x.reverse_bytes(),
                        powers.falling(highest - register * V::<P>::LANES),
                    );
                }
            }
        }
        let keystream = text::keystream(cipher, counters.take::<R>(), meanwhile);
        for (register, key) in keystream.into_iter().enumerate() {
            let rest = left.bytes.saturating_sub(register * V::<P>::BYTES);
            if rest == 0 {
                break;
            }
            let x = text::load_register::<P::Isa>(isa, left, register);
            let y = text::store_register::<P::Isa>(isa, left, register, x.xor(key));
            if !D::OPEN {
                sum.add::<KARATSUBA>(y.reverse_bytes(), powers.falling(highest - register * V::<P>::LANES));
            }
        }
    }
    R
}
