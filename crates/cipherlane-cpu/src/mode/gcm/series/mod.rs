//! Messages under one key that are longer than a team takes, one after the other: what one waits for, the next one fills.
//!
//! All have as many registers, the last one perhaps in part, so that nothing is asked in between: CHUNK registers at a time
//! pass through the cipher together, and in the end R of them. While the cipher works on some, the multipliers hash others,
//! which have not left their registers: those before when sealing, the same when opening. The ends are shared by LANES
//! messages, of one series or of several.

mod ends;
mod hash;
mod texts;

use std::marker::PhantomData;

pub(super) use self::ends::{Concluded, Ends};
use self::hash::Hash;
use self::texts::{crypt, load};
use super::Direction;
use super::ghash::{Powers, Products};
use crate::cipher::{CALLS, Meanwhile, Permutation, V};
use crate::job::{Job, Message};
use crate::lanes::{Isa, Lanes, Work};
use crate::mode::counters::Known;
use crate::mode::first_round::FirstRound;

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

/// Messages of one whole chunk or several, and R registers behind them, 1 to CHUNK, as work.
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
        let (chunk, isa) = (CHUNK * V::<P>::BYTES, shared.cipher.isa());
        let Some(&first) = indices.first() else { return };
        let chunks = (shared.job.message(first).bytes - 1) / chunk;
        // When sealing: the message before, and what of it is not hashed. At first nothing, in vain.
        let (mut before, mut last) = (None, Hash::<P::Isa, R, KARATSUBA>::nothing(shared.powers));
        for &index in indices {
            // Without this the compiler hoists round keys out of the loop, and spills.
            let cipher = std::hint::black_box(shared.cipher);
            let mut text = shared.job.message(index);
            // SAFETY: a nonce of 12 bytes.
            let nonce = unsafe { isa.splat_partial(shared.job.nonce(index).as_ptr(), 12) };
            let [base] = cipher.begin([nonce]);
            let mut counters = Known::behind_nonce(shared.first_round, base);
            // SAFETY: so many registers of a message.
            unsafe {
                let mut hash = Hash::<P::Isa, CHUNK, KARATSUBA>::of(shared.powers, text);
                if D::OPEN {
                    hash = go_on::<P, D, CHUNK, CHUNK, false, KARATSUBA>(cipher, &mut counters, text, hash);
                } else {
                    hash.texts = crypt::<P, CHUNK, false>(cipher, &mut counters, text, &mut last);
                    if let Some((index, base)) = before {
                        shared.end::<D, KARATSUBA>(ends, (index, base), last.sum);
                    }
                }
                for _ in 1..chunks {
                    text = text.skip(chunk);
                    hash = go_on::<P, D, CHUNK, CHUNK, false, KARATSUBA>(cipher, &mut counters, text, hash);
                }
                text = text.skip(chunk);
                last = go_on::<P, D, CHUNK, R, true, KARATSUBA>(cipher, &mut counters, text, hash);
            }
            if D::OPEN {
                shared.end::<D, KARATSUBA>(ends, (index, base), last.sum);
            } else {
                before = Some((index, base));
            }
        }
        if let Some((index, base)) = before {
            for call in 0..CALLS {
                last.step(call);
            }
            shared.end::<D, KARATSUBA>(ends, (index, base), last.sum);
        }
    }
}

impl<P: Permutation> Shared<'_, P> {
    /// Ends a message, of which this is the index and the first round of its nonce, and whose text has added up to `sum`: with
    /// others, when they are LANES.
    #[inline(always)]
    fn end<D: Direction, const KARATSUBA: bool>(
        &self,
        ends: &mut Ends<V<P>>,
        (index, base): (usize, V<P>),
        sum: Products<V<P>>,
    ) {
        ends.push(index, base, sum);
        if ends.are_enough() {
            let direction = PhantomData::<D>;
            self.cipher.isa().vectorize(Concluded::<P, D, KARATSUBA> { shared: *self, ends, direction });
        }
    }
}

/// Encrypts or decrypts the first C registers of `text`, the last one perhaps in PART, and hashes: when sealing the H registers
/// at hand, in whose place those come that are stored, when opening what is loaded.
///
/// # Safety
/// There are as many.
#[inline(always)]
unsafe fn go_on<P, D, const H: usize, const C: usize, const PART: bool, const KARATSUBA: bool>(
    cipher: &P,
    counters: &mut Known<'_, V<P>>,
    text: Message,
    mut hash: Hash<P::Isa, H, KARATSUBA>,
) -> Hash<P::Isa, C, KARATSUBA>
where
    P: Permutation,
    D: Direction,
{
    // SAFETY: the caller's.
    unsafe {
        if D::OPEN {
            let mut hash = hash.followed_by(load::<_, C, PART>(cipher.isa(), text));
            crypt::<P, C, PART>(cipher, counters, text, &mut hash);
            hash
        } else {
            let stored = crypt::<P, C, PART>(cipher, counters, text, &mut hash);
            hash.followed_by(stored)
        }
    }
}
