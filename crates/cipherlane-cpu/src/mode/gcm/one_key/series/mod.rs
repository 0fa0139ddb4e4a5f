//! Messages under one key, one after the other: what one waits for, the next one fills.
//!
//! All have as many registers, the last one perhaps in part, so that nothing is asked in between: CHUNK registers at a time
//! pass through the cipher together, and in the end R of them, or only those. While the cipher works on some, the
//! multipliers hash others, which have not left their registers: those before when sealing, the same when opening. The
//! ends are shared by LANES messages, of one series or of several.

mod ends;
mod hash;
mod texts;

use std::marker::PhantomData;

pub(super) use self::ends::{Concluded, Ends};
use self::hash::Hash;
use self::texts::{crypt, load};
use crate::cipher::{CALLS, Meanwhile, Permutation, V};
use crate::job::{Job, Message};
use crate::lanes::{Isa, Lanes, Work};
use crate::mode::counters::Known;
use crate::mode::first_round::FirstRound;
use crate::mode::gcm::Direction;
use crate::mode::gcm::ghash::Powers;

/// Registers of a message that pass through the cipher together.
pub(super) const CHUNK: usize = 4;

/// What all messages have in common.
pub(super) struct Shared<'a, P: Permutation> {
    pub(super) job: &'a Job<'a>,
    pub(super) cipher: &'a P,
    pub(super) powers: &'a Powers<P::Isa>,
    pub(super) first_round: &'a FirstRound,
}

impl<P: Permutation> Copy for Shared<'_, P> {}

// Derived, it would be for ciphers that can be copied.
impl<P: Permutation> Clone for Shared<'_, P> {
    fn clone(&self) -> Self {
        *self
    }
}

/// Messages of whole chunks, or none, and R registers behind them, 1 to CHUNK, as work.
pub(super) struct Series<'a, P: Permutation, D, const R: usize, const KARATSUBA: bool> {
    pub(super) shared: Shared<'a, P>,
    /// Messages with as many registers, nonces of 12 bytes, and powers for all that they hash.
    pub(super) indices: &'a [usize],
    /// Takes what is left of them in the end.
    pub(super) ends: &'a mut Ends<V<P>>,
    pub(super) direction: PhantomData<D>,
}

impl<P: Permutation, D: Direction, const R: usize, const KARATSUBA: bool> Work
    for Series<'_, P, D, R, KARATSUBA>
{
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { shared, indices, ends, .. } = self;
        let chunk = CHUNK * V::<P>::BYTES;
        let Some(&first) = indices.first() else { return };
        let chunks = (shared.job.message(first).bytes - 1) / chunk;
        let mut before = Before::<P::Isa, R, KARATSUBA>::nobody(shared.powers);
        let mut next_base = shared.base(first);
        for (number, &index) in indices.iter().enumerate() {
            // Without this the compiler hoists round keys out of the loop, and spills.
            let shared = Shared { cipher: std::hint::black_box(shared.cipher), ..shared };
            let mut text = shared.job.message(index);
            let base = next_base;
            // Ahead: it takes as long as half of the rounds.
            next_base = shared.base(*indices.get(number + 1).unwrap_or(&index)).pin();
            let mut counters = Known::behind_nonce(shared.first_round, base);
            // SAFETY: so many registers of a message.
            let hash = unsafe {
                if chunks == 0 {
                    shared.begin::<D, R, R, true, KARATSUBA>(&mut counters, text, before, ends)
                } else {
                    let mut hash =
                        shared.begin::<D, R, CHUNK, false, KARATSUBA>(&mut counters, text, before, ends);
                    for _ in 1..chunks {
                        text = text.skip(chunk);
                        hash = shared.go_on::<D, CHUNK, CHUNK, false, KARATSUBA>(&mut counters, text, hash);
                    }
                    text = text.skip(chunk);
                    shared.go_on::<D, CHUNK, R, true, KARATSUBA>(&mut counters, text, hash)
                }
            };
            before = Before { message: Some((index, base)), hash };
            if D::OPEN {
                shared.end::<D, R, KARATSUBA>(ends, &mut before);
            }
        }
        if before.message.is_some() {
            for call in 0..CALLS {
                before.hash.step(call);
            }
            shared.end::<D, R, KARATSUBA>(ends, &mut before);
        }
    }
}

/// The message before, and its hash, which lacks R registers when sealing. At first nobody: nothing is hashed then, in vain.
struct Before<I: Isa, const R: usize, const KARATSUBA: bool> {
    /// Its index, and the first round of its nonce.
    message: Option<(usize, I::V)>,
    hash: Hash<I, R, KARATSUBA>,
}

impl<I: Isa, const R: usize, const KARATSUBA: bool> Before<I, R, KARATSUBA> {
    #[inline(always)]
    fn nobody(powers: &Powers<I>) -> Self {
        Self { message: None, hash: Hash::nothing(powers) }
    }
}

impl<P: Permutation> Shared<'_, P> {
    /// The first round of the nonce of message `index`, in every lane.
    #[inline(always)]
    fn base(&self, index: usize) -> V<P> {
        // SAFETY: a nonce of 12 bytes.
        let nonce = unsafe { self.cipher.isa().splat_partial(self.job.nonce(index).as_ptr(), 12) };
        self.cipher.begin([nonce])[0]
    }

    /// Encrypts or decrypts the first C registers of `text`, the last one perhaps in PART, and hashes: when sealing what the
    /// message before lacks, which ends then, when opening these.
    ///
    /// # Safety
    /// There are as many.
    #[inline(always)]
    unsafe fn begin<D, const R: usize, const C: usize, const PART: bool, const KARATSUBA: bool>(
        &self,
        counters: &mut Known<'_, V<P>>,
        text: Message,
        mut before: Before<P::Isa, R, KARATSUBA>,
        ends: &mut Ends<V<P>>,
    ) -> Hash<P::Isa, C, KARATSUBA>
    where
        D: Direction,
    {
        let mut hash = Hash::of(self.powers, text);
        // SAFETY: the caller's.
        unsafe {
            if D::OPEN {
                hash.texts = load::<_, C, PART>(self.cipher.isa(), text);
                crypt::<P, C, PART>(self.cipher, counters, text, &mut hash);
            } else {
                hash.texts = crypt::<P, C, PART>(self.cipher, counters, text, &mut before.hash);
                self.end::<D, R, KARATSUBA>(ends, &mut before);
            }
        }
        hash
    }

    /// Encrypts or decrypts the first C registers of `text`, the last one perhaps in PART, and hashes: when sealing the H
    /// registers at hand, in whose place those come that are stored, when opening what is loaded.
    ///
    /// # Safety
    /// There are as many.
    #[inline(always)]
    unsafe fn go_on<D, const H: usize, const C: usize, const PART: bool, const KARATSUBA: bool>(
        &self,
        counters: &mut Known<'_, V<P>>,
        text: Message,
        mut hash: Hash<P::Isa, H, KARATSUBA>,
    ) -> Hash<P::Isa, C, KARATSUBA>
    where
        D: Direction,
    {
        // SAFETY: the caller's.
        unsafe {
            if D::OPEN {
                let mut hash = hash.followed_by(load::<_, C, PART>(self.cipher.isa(), text));
                crypt::<P, C, PART>(self.cipher, counters, text, &mut hash);
                hash
            } else {
                let stored = crypt::<P, C, PART>(self.cipher, counters, text, &mut hash);
                hash.followed_by(stored)
            }
        }
    }

    /// Ends the message before, if there is one, whose whole text is hashed: with others, when they are LANES.
    #[inline(always)]
    fn end<D: Direction, const R: usize, const KARATSUBA: bool>(
        &self,
        ends: &mut Ends<V<P>>,
        before: &mut Before<P::Isa, R, KARATSUBA>,
    ) {
        let Some((index, base)) = before.message.take() else { return };
        ends.push(index, base, before.hash.sum);
        if ends.are_enough() {
            let direction = PhantomData::<D>;
            self.cipher.isa().vectorize(Concluded::<P, D, KARATSUBA> { shared: *self, ends, direction });
        }
    }
}
