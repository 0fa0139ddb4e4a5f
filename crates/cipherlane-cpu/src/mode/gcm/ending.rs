//! The ends of messages under one key: AAD and lengths hashed, and tags made, LANES at a time in the lanes of a
//! register.

use std::mem::MaybeUninit;

use cipherlane_core::BLOCK;

use super::Direction;
use super::ghash::{Powers, Products, lengths};
use crate::cipher::Permutation;
use crate::job::Job;
use crate::lanes::{Isa, Lanes, MAX_LANES};

/// Most blocks of AAD that are hashed in the lanes: more of them fill registers by themselves.
pub(super) const MAX_AAD_BLOCKS: usize = 4;

/// What ends up to four messages.
pub(super) struct Ending {
    /// The block of the two lengths in bits (SP 800-38D section 7.1 step 5) of each, its bytes reversed: text, then
    /// AAD. Made long before they are loaded: a register that is loaded from words just stored waits for them to
    /// reach the cache.
    lengths: [[u64; 2]; MAX_LANES],
    /// Bytes of the longest AAD.
    longest: usize,
}

impl Ending {
    /// Of nobody.
    pub(super) const fn nobody() -> Self {
        Self { lengths: [[0; 2]; MAX_LANES], longest: 0 }
    }

    /// Of the messages `indices`.
    #[inline(always)]
    pub(super) fn new(job: &Job<'_>, indices: &[usize]) -> Self {
        let mut ending = Self::nobody();
        for (place, &index) in indices.iter().enumerate() {
            ending.set(place, job, index);
        }
        ending
    }

    /// Has message `index` at `place`.
    #[inline(always)]
    fn set(&mut self, place: usize, job: &Job<'_>, index: usize) {
        let aad = job.aad(index).len();
        self.lengths[place] = [8 * job.message(index).bytes as u64, 8 * aad as u64];
        self.longest = self.longest.max(aad);
    }

    /// Folds the sums of the products of the texts of LANES messages, from message `first` of `indices` on, so that
    /// each has its lane, and adds the products of their AAD.
    #[inline(always)]
    pub(super) fn fold<V: Lanes, const KARATSUBA: bool>(
        &self,
        job: &Job<'_>,
        powers: &Powers<V::Isa>,
        indices: &[usize],
        first: usize,
        sums: &[Products<V>; MAX_LANES],
    ) -> Products<V> {
        let mut sum = Products::fold_each(sums);
        if self.longest > 0 {
            let indices = &indices[first..indices.len().min(first + V::LANES)];
            add_aad::<V, KARATSUBA>(&mut sum, job, powers, indices, self.longest);
        }
        sum
    }

    /// The tags of LANES messages, from message `first` on: from their sums, which the products of the blocks of
    /// lengths join, and from their encrypted pre-counter blocks.
    #[inline(always)]
    pub(super) fn tags<V: Lanes, const KARATSUBA: bool>(
        &self,
        powers: &Powers<V::Isa>,
        first: usize,
        mut sum: Products<V>,
        masks: V,
    ) -> V {
        let isa = powers.isa();
        // SAFETY: LANES lengths from there on.
        let ends = unsafe { isa.load(self.lengths.as_ptr().add(first).cast()) };
        sum.add::<KARATSUBA>(ends, powers.splat::<KARATSUBA>(1));
        sum.settle::<KARATSUBA>().reduce(isa).reverse_bytes().xor(masks)
    }
}

/// The ends of long messages, LANES at a time: a hash and a block of the cipher for all of them.
///
/// They are best concluded when the next message has been under way: see [`Ending::lengths`], and so it is with the
/// pre-counter blocks.
pub(super) struct LongEnds<V> {
    indices: [usize; MAX_LANES],
    pre_counters: [u128; MAX_LANES],
    ending: Ending,
    /// What AAD and text have added up to, with the block of lengths before it and the hash key after that.
    sums: [MaybeUninit<Products<V>>; MAX_LANES],
    count: usize,
}

impl<V: Lanes> LongEnds<V> {
    /// Of nobody, made in `place`: as a value it would be copied, room for sums that are not there yet included.
    #[inline(always)]
    pub(super) fn nobody(place: &mut MaybeUninit<Self>) -> &mut Self {
        let ends = place.as_mut_ptr();
        // SAFETY: it is writable, and what is not written need not be.
        unsafe {
            (&raw mut (*ends).indices).write([0; MAX_LANES]);
            (&raw mut (*ends).pre_counters).write([0; MAX_LANES]);
            (&raw mut (*ends).ending).write(Ending::nobody());
            (&raw mut (*ends).count).write(0);
            &mut *ends
        }
    }

    /// Adds a message with what AAD and text have added up to.
    #[inline(always)]
    pub(super) fn push(&mut self, job: &Job<'_>, index: usize, pre_counter: u128, sum: Products<V>) {
        self.ending.set(self.count, job, index);
        (self.indices[self.count], self.pre_counters[self.count]) = (index, pre_counter);
        self.sums[self.count].write(sum);
        self.count += 1;
    }

    /// Whether they are nobody's.
    #[inline(always)]
    pub(super) const fn are_none(&self) -> bool {
        self.count == 0
    }

    /// Whether they fill a register.
    #[inline(always)]
    pub(super) const fn are_enough(&self) -> bool {
        self.count == V::LANES
    }

    /// Hands out the tags of one message at least, and is nobody's again.
    #[inline(always)]
    pub(super) fn conclude<P, D, const KARATSUBA: bool>(
        &mut self,
        job: &Job<'_>,
        cipher: &P,
        powers: &Powers<V::Isa>,
    ) where
        P: Permutation<Isa = V::Isa>,
        D: Direction,
    {
        let indices = &self.indices[..self.count];
        if let &[index] = indices {
            let tag = self.single::<P, KARATSUBA>(job, cipher, powers, index);
            D::conclude(job, index, tag);
            self.count = 0;
            return;
        }
        let [masks]: [V; 1] = cipher.apply([powers.isa().words(&self.pre_counters)]);
        let mut sums = [Products::zero(powers.isa()); MAX_LANES];
        for (sum, known) in sums.iter_mut().zip(&self.sums).take(self.count) {
            // SAFETY: `push` has written as many.
            *sum = unsafe { known.assume_init() };
        }
        let sum = Products::fold_each(&sums);
        let tags = self.ending.tags::<_, KARATSUBA>(powers, 0, sum, masks);
        let first = indices[0];
        if indices.len() == V::LANES && indices.iter().copied().eq(first..first + V::LANES) {
            D::conclude_each(job, first, tags);
        } else {
            D::conclude_some(job, indices, tags);
        }
        self.count = 0;
    }
}

impl<V: Lanes> LongEnds<V> {
    /// The tag of a message without company, whose sum need not change lanes.
    #[inline(always)]
    fn single<P: Permutation<Isa = V::Isa>, const KARATSUBA: bool>(
        &self,
        job: &Job<'_>,
        cipher: &P,
        powers: &Powers<V::Isa>,
        index: usize,
    ) -> u128 {
        // SAFETY: `push` has written it.
        let (isa, mut sum) = (powers.isa(), unsafe { self.sums[0].assume_init() });
        let ends = lengths(job.aad(index).len(), job.message(index).bytes).swap_bytes();
        sum.add::<KARATSUBA>(isa.words(&[ends, 0, 0, 0]), powers.splat::<KARATSUBA>(1));
        let [mask]: [V; 1] = cipher.apply([isa.splat_word(self.pre_counters[0])]);
        sum.settle::<KARATSUBA>().reduce(isa).fold_word().swap_bytes() ^ mask.to_words()[0]
    }
}

/// Where empty slices point: a masked load of no bytes is slow where no memory is.
static NOTHING: [u8; BLOCK] = [0; BLOCK];

/// Adds the products of the AAD of `indices` to `sum`, which has each message in its lane.
#[inline(always)]
pub(super) fn add_aad<V: Lanes, const KARATSUBA: bool>(
    sum: &mut Products<V>,
    job: &Job<'_>,
    powers: &Powers<V::Isa>,
    indices: &[usize],
    longest: usize,
) {
    let nothing: [&[u8]; MAX_LANES] = [&NOTHING[..0]; MAX_LANES];
    if let Some((_, width)) = job.widths()
        && width <= BLOCK
    {
        // One block of as many bytes each is had without asking.
        let (mut blocks, mut exponents) = (nothing, [1; MAX_LANES]);
        for ((block, exponent), &index) in blocks.iter_mut().zip(&mut exponents).zip(indices) {
            *exponent = job.message(index).bytes.div_ceil(BLOCK) + 2;
            // SAFETY: AAD of so many bytes.
            *block = unsafe { std::slice::from_raw_parts(job.aad_from(index), width) };
        }
        let x = powers.isa().gather_partial(&blocks);
        return sum.add::<KARATSUBA>(x.reverse_bytes(), powers.each(&exponents));
    }
    for at in (0..longest).step_by(BLOCK) {
        // Lanes without this block have nothing times H.
        let mut blocks = nothing;
        let mut exponents = [1; MAX_LANES];
        for ((block, exponent), &index) in blocks.iter_mut().zip(&mut exponents).zip(indices) {
            if let Some(rest) = job.aad(index).get(at..) {
                *exponent = job.message(index).bytes.div_ceil(BLOCK) + rest.len().div_ceil(BLOCK) + 1;
                *block = &rest[..rest.len().min(BLOCK)];
            }
        }
        let x = powers.isa().gather_partial(&blocks);
        sum.add::<KARATSUBA>(x.reverse_bytes(), powers.each(&exponents));
    }
}
