//! Messages of few registers under one key, four at once: what one waits for, another one fills.
//!
//! All have R registers, the last one perhaps in part, so that the compiler sees straight code: N = 4 R registers
//! pass through the cipher together. The blocks of each message lie in the lanes of its registers, as everywhere; the
//! ends are shared by LANES messages. While the cipher works on one four, the multipliers hash another: the one
//! before when sealing, the same when opening.

use std::marker::PhantomData;

use cipherlane_core::BLOCK;

use crate::cipher::{CALLS, Meanwhile, Permutation, V};
use crate::job::{Job, Message};
use crate::lanes::{Isa, Lanes, MAX_LANES, Work};
use crate::mode::counters::BIG_STEPS;
use crate::mode::first_round::FirstRound;
use crate::mode::gcm::Direction;
use crate::mode::gcm::counter::ONE_EACH;
use crate::mode::gcm::ending::Ending;
use crate::mode::gcm::equal::FOUR;
use crate::mode::gcm::ghash::{Powers, Products};

/// Fours, as work: four messages each, of as many registers.
pub(super) struct Fours<'a, P: Permutation, D, const R: usize, const N: usize, const KARATSUBA: bool> {
    pub(super) job: &'a Job<'a>,
    pub(super) cipher: &'a P,
    pub(super) powers: &'a Powers<P::Isa>,
    pub(super) first_round: Option<&'a FirstRound>,
    /// Indices of their messages, which have as many registers as each other.
    pub(super) fours: &'a [[usize; FOUR]],
    pub(super) direction: PhantomData<D>,
}

impl<P: Permutation, D: Direction, const R: usize, const N: usize, const KARATSUBA: bool> Work
    for Fours<'_, P, D, R, N, KARATSUBA>
{
    type Output = ();

    #[inline(always)]
    fn run(self) {
        const { assert!(N == FOUR * R, "N registers in all") };
        let fours = self.fours.len();
        let mut hashed = Hashed::nobody(self.cipher.isa());
        let mut masks = hashed.masks;
        for number in 0..fours {
            let indices = self.fours[number];
            // The first four has none before it, and hashes its output in vain.
            let before = if D::OPEN { number } else { number.saturating_sub(1) };
            let last = self.fours[before];
            let (begun, mut next) = self.counters(&indices);
            let mut hash = self.hash(&last, &hashed);
            let beside = &mut next[..Self::GROUPS];
            let keystream = self.cipher.finish_in_step(begun, beside, &mut hash);
            let messages = self.messages(&indices);
            for m in 0..FOUR {
                for r in 0..R {
                    // SAFETY: messages of so many registers.
                    unsafe { self.crypt(messages[m], r, keystream[m * R + r]) }
                }
            }
            if number >= Self::LAG {
                self.conclude(number - Self::LAG, &hash.tags);
            }
            let sums = hash.sums;
            self.fold(&last, &sums, if D::OPEN { &next } else { &masks }, &mut hashed);
            masks[..Self::GROUPS].copy_from_slice(&next[..Self::GROUPS]);
        }
        self.conclude_rest(&hashed, &masks);
    }
}

/// A four that was hashed, but for the lengths.
struct Hashed<V> {
    ending: Ending,
    /// A sum for LANES messages.
    sums: [Products<V>; FOUR],
    /// The encrypted pre-counter blocks of LANES messages.
    masks: [V; FOUR],
}

impl<V: Lanes> Hashed<V> {
    #[inline(always)]
    fn nobody(isa: V::Isa) -> Self {
        Self { ending: Ending::nobody(), sums: [Products::zero(isa); FOUR], masks: [isa.zero(); FOUR] }
    }
}

impl<'a, P: Permutation, D: Direction, const R: usize, const N: usize, const KARATSUBA: bool>
    Fours<'a, P, D, R, N, KARATSUBA>
{
    /// Groups of LANES messages.
    const GROUPS: usize = FOUR / V::<P>::LANES;
    /// Fours that begin before a four is concluded.
    const LAG: usize = if D::OPEN { 1 } else { 2 };

    /// What is left when all fours have begun.
    #[inline(always)]
    fn conclude_rest(&self, hashed: &Hashed<V<P>>, masks: &[V<P>; FOUR]) {
        let fours = self.fours.len();
        let Some(number) = fours.checked_sub(1) else { return };
        let last = self.fours[number];
        let mut hash = self.hash(&last, hashed);
        if D::OPEN {
            hash.make_tags();
            return self.conclude(number, &hash.tags);
        }
        for call in 0..CALLS {
            hash.step(call);
        }
        if number > 0 {
            self.conclude(number - 1, &hash.tags);
        }
        let mut rest = Hashed::nobody(self.cipher.isa());
        self.fold(&last, &hash.sums, masks, &mut rest);
        let mut hash = self.hash(&last, &rest);
        hash.make_tags();
        self.conclude(number, &hash.tags);
    }

    #[inline(always)]
    fn conclude(&self, number: usize, tags: &[V<P>; FOUR]) {
        let indices = self.fours[number];
        for (tags, indices) in tags.iter().zip(indices.chunks_exact(V::<P>::LANES)) {
            D::conclude_some(self.job, indices, *tags);
        }
    }

    /// Makes `hashed` of the sums of a four's texts. Only what is used is written: the rest would be copied.
    #[inline(always)]
    fn fold(
        &self,
        indices: &[usize; FOUR],
        sums: &[Products<V<P>>; FOUR],
        masks: &[V<P>; FOUR],
        hashed: &mut Hashed<V<P>>,
    ) {
        hashed.ending = Ending::new(self.job, indices);
        for first in (0..FOUR).step_by(V::<P>::LANES) {
            let mut group = [sums[first]; MAX_LANES];
            group[..V::<P>::LANES].copy_from_slice(&sums[first..first + V::<P>::LANES]);
            let (number, ending) = (first / V::<P>::LANES, &hashed.ending);
            hashed.sums[number] =
                ending.fold::<V<P>, KARATSUBA>(self.job, self.powers, indices, first, &group);
            hashed.masks[number] = masks[number];
        }
    }

    /// The counter blocks message by message, as [`Permutation::begin`] makes them, and the pre-counter blocks: a register
    /// for LANES messages.
    #[inline(always)]
    fn counters(&self, indices: &[usize; FOUR]) -> ([V<P>; N], [V<P>; FOUR]) {
        let (isa, lanes) = (self.cipher.isa(), V::<P>::LANES);
        let (mut bases, mut counters) = ([isa.zero(); FOUR], [isa.zero(); N]);
        for m in 0..FOUR {
            // SAFETY: a nonce of 12 bytes.
            unsafe {
                bases[m] = isa.splat_partial(self.job.nonce(indices[m]).as_ptr(), 12);
            }
        }
        // A round of each message against one of each register.
        let first_round = if P::BEGINS && R > 1 { self.first_round } else { None };
        if let Some(first_round) = first_round {
            let begun = self.cipher.begin(bases);
            for (i, counter) in counters.iter_mut().enumerate() {
                *counter = begun[i / R].xor(first_round.effects(isa, 2 + i % R * lanes));
            }
        } else {
            for (i, counter) in counters.iter_mut().enumerate() {
                // SAFETY: steps enough for a register more than there are.
                let step = unsafe { isa.load(BIG_STEPS.as_ptr().add(2 + i % R * lanes).cast()) };
                *counter = bases[i / R].add32(step);
            }
            counters = self.cipher.begin(counters);
        }
        let mut pre_counters = bases;
        for first in (0..FOUR).step_by(lanes) {
            let mut group = [bases[first]; MAX_LANES];
            group[..lanes].copy_from_slice(&bases[first..first + lanes]);
            let zero = V::<P>::diagonal(&group);
            [pre_counters[first / lanes]] = self.cipher.begin([zero.add32(isa.splat(&ONE_EACH[0]))]);
        }
        (counters, pre_counters)
    }

    #[inline(always)]
    fn messages(&self, indices: &[usize; FOUR]) -> [Message; FOUR] {
        let mut messages = [self.job.message(indices[0]); FOUR];
        for m in 1..FOUR {
            messages[m] = self.job.message(indices[m]);
        }
        messages
    }

    /// Encrypts or decrypts register `r` of `message`.
    ///
    /// # Safety
    /// The message's pointers are good for its bytes, which begin R registers.
    #[inline(always)]
    unsafe fn crypt(&self, message: Message, r: usize, key: V<P>) {
        let (isa, at) = (self.cipher.isa(), r * V::<P>::BYTES);
        // SAFETY: the caller's.
        unsafe {
            let (input, output) = (message.input.add(at), message.output.add(at));
            if r + 1 < R {
                isa.load(input).xor(key).store(output);
            } else {
                let bytes = message.bytes - at;
                isa.load_partial(input, bytes).xor(key).store_partial(output, bytes);
            }
        }
    }

    #[inline(always)]
    fn hash<'b>(&self, indices: &[usize; FOUR], before: &'b Hashed<V<P>>) -> Hash<'b, P::Isa, D, R, KARATSUBA>
    where
        'a: 'b,
    {
        let isa = self.cipher.isa();
        Hash {
            powers: self.powers,
            messages: self.messages(indices),
            sums: [Products::zero(isa); FOUR],
            before,
            tags: [isa.zero(); FOUR],
            direction: PhantomData,
        }
    }
}

/// The tags of one four, and the hash of the texts of the next, some registers each call: of the output when
/// sealing, of the input when opening.
struct Hash<'a, I: Isa, D, const R: usize, const KARATSUBA: bool> {
    powers: &'a Powers<I>,
    messages: [Message; FOUR],
    sums: [Products<I::V>; FOUR],
    before: &'a Hashed<I::V>,
    tags: [I::V; FOUR],
    direction: PhantomData<D>,
}

impl<I: Isa, D, const R: usize, const KARATSUBA: bool> Hash<'_, I, D, R, KARATSUBA> {
    #[inline(always)]
    fn make_tags(&mut self) {
        let Hashed { ending, sums, masks } = self.before;
        for group in 0..FOUR / I::V::LANES {
            let (first, sum) = (group * I::V::LANES, sums[group]);
            self.tags[group] = ending.tags::<I::V, KARATSUBA>(self.powers, first, sum, masks[group]).pin();
        }
    }
}

impl<I: Isa, D: Direction, const R: usize, const KARATSUBA: bool> Meanwhile for Hash<'_, I, D, R, KARATSUBA> {
    #[inline(always)]
    fn step(&mut self, call: usize) {
        let isa = self.powers.isa();
        let at_once = const { (FOUR * R).div_ceil(CALLS) };
        if call == 0 {
            self.make_tags();
        }
        for register in call * at_once..((call + 1) * at_once).min(FOUR * R) {
            let (m, r) = (register / R, register % R);
            let (message, at) = (self.messages[m], r * I::V::BYTES);
            let text = if D::OPEN { message.input } else { message.output.cast_const() };
            // SAFETY: messages of R registers.
            let x = unsafe {
                if r + 1 < R {
                    isa.load(text.add(at))
                } else {
                    isa.load_partial(text.add(at), message.bytes - at)
                }
            };
            // The block of lengths follows, and what is pending is multiplied by H.
            let power = self.powers.falling(message.bytes.div_ceil(BLOCK) + 1 - r * I::V::LANES);
            self.sums[m].add::<KARATSUBA>(x.reverse_bytes(), power);
            self.sums[m] = self.sums[m].pin();
        }
    }
}
