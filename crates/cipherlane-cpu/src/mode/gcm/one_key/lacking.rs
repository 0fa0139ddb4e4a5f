//! What a long message lacks when its groups have been encrypted or decrypted: the hash of its last group when sealing, and
//! what is left behind its groups.

use cipherlane_core::BLOCK;

use super::groups::{GroupHash, InMemory};
use super::short;
use crate::cipher::{Nothing, Permutation};
use crate::job::Message;
use crate::lanes::{Isa, Lanes};
use crate::mode::counters::Count;
use crate::mode::gcm::ghash::{Ghash, Products};
use crate::mode::gcm::{Direction, text};

/// A hash that lacks the last group of what it hashes.
pub(super) struct Lacking<'p, I: Isa, const KARATSUBA: bool> {
    pub(super) hash: Ghash<'p, I, KARATSUBA>,
    /// That group's ciphertext, if it lacks one.
    pub(super) group: Option<*const u8>,
}

/// What follows the text in the sum of a long message: its block of lengths, and the hash key after that.
pub(super) const AFTER: usize = 2;

impl<'p, I: Isa, const KARATSUBA: bool> Lacking<'p, I, KARATSUBA> {
    /// A whole hash.
    #[inline(always)]
    pub(super) fn nothing(hash: Ghash<'p, I, KARATSUBA>) -> Self {
        Self { hash, group: None }
    }

    /// One that lacks the group of N registers from `ciphertext` on.
    #[inline(always)]
    pub(super) fn group(hash: Ghash<'p, I, KARATSUBA>, ciphertext: *const u8) -> Self {
        Self { hash, group: Some(ciphertext) }
    }

    /// Hashes the group of N registers that it lacks, if it lacks one.
    #[inline(always)]
    pub(super) fn complete_group<const N: usize>(&mut self) {
        if let Some(group) = self.group.take() {
            self.hash.state = GroupHash::<I, _, N, KARATSUBA>::new(&self.hash, InMemory(group)).all();
        }
    }

    /// The whole hash, of groups of N registers.
    #[inline(always)]
    pub(super) fn complete<const N: usize>(mut self) -> Ghash<'p, I, KARATSUBA> {
        self.complete_group::<N>();
        self.hash
    }

    /// What a message without a rest adds up to, for its end.
    #[inline(always)]
    pub(super) fn sum<const N: usize>(self) -> Products<I::V> {
        self.complete::<N>().product(AFTER)
    }

    /// Encrypts or decrypts `rest`, less than a group, with `counters`. Returns the whole hash.
    ///
    /// # Safety
    /// The pointers of `rest` are good for its bytes.
    #[inline(always)]
    pub(super) unsafe fn finish<P: Permutation<Isa = I>, const N: usize, D: Direction>(
        self,
        cipher: &P,
        rest: Message,
        counters: &mut impl Count<P>,
    ) -> Ghash<'p, I, KARATSUBA> {
        let mut hash = self.complete::<N>();
        if rest.bytes == 0 {
            return hash;
        }
        // SAFETY: the caller's; the output is hashed when it is written.
        unsafe {
            if D::OPEN {
                hash.update(rest.input, rest.bytes);
            }
            text::crypt_partial::<P, N>(cipher, counters.take(), rest);
            if !D::OPEN {
                hash.update(rest.output, rest.bytes);
            }
        }
        hash
    }

    /// Encrypts or decrypts `rest`, less than a group, with `counters`, and meanwhile hashes what lacks. Returns what the
    /// message adds up to, for its end.
    ///
    /// # Safety
    /// The pointers of `rest` are good for its bytes.
    #[inline(always)]
    pub(super) unsafe fn end<P: Permutation<Isa = I>, const N: usize, D: Direction>(
        self,
        cipher: &P,
        rest: Message,
        counters: &mut impl Count<P>,
    ) -> Products<I::V> {
        // SAFETY: the caller's.
        unsafe {
            // Of a cipher that runs whole groups there is nothing to save, and its hash is little beside it; without a
            // group, the message is short, and long by its AAD.
            if P::WHOLE_GROUPS || (!D::OPEN && self.group.is_none()) {
                return self.finish::<P, N, D>(cipher, rest, counters).product(AFTER);
            }
            match rest.bytes.div_ceil(I::V::BYTES) {
                0..=2 => self.end_in::<P, N, 2, D>(cipher, rest, counters),
                3..=4 => self.end_in::<P, N, 4, D>(cipher, rest, counters),
                _ => self.end_in::<P, N, N, D>(cipher, rest, counters),
            }
        }
    }

    /// [`Lacking::end`], in R registers.
    ///
    /// # Safety
    /// As there; `rest` has no more registers, and when sealing a group lacks.
    #[inline(always)]
    unsafe fn end_in<P: Permutation<Isa = I>, const N: usize, const R: usize, D: Direction>(
        self,
        cipher: &P,
        rest: Message,
        counters: &mut impl Count<P>,
    ) -> Products<I::V> {
        let Self { mut hash, group } = self;
        let mut sum = Products::zero(cipher.isa());
        // As in [`super::long`].
        let cipher = std::hint::black_box(cipher);
        // SAFETY: the caller's; a group that lacks is readable.
        unsafe {
            if let Some(group) = group {
                let mut step = GroupHash::<I, _, N, KARATSUBA>::new(&hash, InMemory(group));
                short::step::<P, R, KARATSUBA, D>(cipher, hash.powers(), &mut sum, rest, counters, &mut step);
                hash.state = step.finish();
            } else {
                short::step::<P, R, KARATSUBA, D>(
                    cipher,
                    hash.powers(),
                    &mut sum,
                    rest,
                    counters,
                    &mut Nothing,
                );
            }
        }
        sum.plus(hash.product(rest.bytes.div_ceil(BLOCK) + AFTER))
    }
}
