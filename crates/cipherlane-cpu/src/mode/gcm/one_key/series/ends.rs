//! The ends of messages that were run one after the other.

use std::marker::PhantomData;
use std::mem::MaybeUninit;

use super::Shared;
use crate::cipher::{Nothing, Permutation, V};
use crate::lanes::{Isa, Lanes, MAX_LANES, Work};
use crate::mode::gcm::Direction;
use crate::mode::gcm::ending::Ending;
use crate::mode::gcm::ghash::Products;

/// What is left of up to LANES messages when their texts are hashed. Written as far as it is used.
pub(in super::super) struct Ends<V> {
    indices: [usize; MAX_LANES],
    /// The first rounds of their nonces, in every lane.
    bases: [MaybeUninit<V>; MAX_LANES],
    /// What their texts have added up to.
    sums: [MaybeUninit<Products<V>>; MAX_LANES],
    count: usize,
}

impl<V: Lanes> Ends<V> {
    /// Of nobody, made in `place`: as a value it would be copied, room for sums that are not there yet included.
    #[inline(always)]
    pub(in super::super) fn nobody(place: &mut MaybeUninit<Self>) -> &mut Self {
        let ends = place.as_mut_ptr();
        // SAFETY: it is writable, and what is not written need not be.
        unsafe {
            (&raw mut (*ends).indices).write([0; MAX_LANES]);
            (&raw mut (*ends).count).write(0);
            &mut *ends
        }
    }

    #[inline(always)]
    pub(super) fn push(&mut self, index: usize, base: V, sum: Products<V>) {
        self.indices[self.count] = index;
        self.bases[self.count].write(base);
        self.sums[self.count].write(sum);
        self.count += 1;
    }

    /// Whether they fill a register.
    #[inline(always)]
    pub(super) fn are_enough(&self) -> bool {
        self.count == V::LANES
    }

    /// Whether they are nobody's.
    #[inline(always)]
    pub(in super::super) fn are_none(&self) -> bool {
        self.count == 0
    }
}

/// The tags of one message at least and LANES at most, as work. The ends are nobody's afterwards.
pub(in super::super) struct Concluded<'a, P: Permutation, D, const KARATSUBA: bool> {
    pub(in super::super) shared: Shared<'a, P>,
    pub(in super::super) ends: &'a mut Ends<V<P>>,
    pub(in super::super) direction: PhantomData<D>,
}

impl<P: Permutation, D: Direction, const KARATSUBA: bool> Work for Concluded<'_, P, D, KARATSUBA> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { shared: Shared { job, cipher, powers, first_round }, ends, .. } = self;
        let isa = cipher.isa();
        for lane in ends.count..MAX_LANES {
            ends.bases[lane].write(isa.zero());
            ends.sums[lane].write(Products::zero(isa));
        }
        // SAFETY: all of them are written: those of messages by `push`.
        let bases = ends.bases.map(|base| unsafe { base.assume_init() });
        // SAFETY: as above.
        let sums = ends.sums.map(|sum| unsafe { sum.assume_init() });
        let indices = &ends.indices[..ends.count];
        let pre_counters = V::<P>::diagonal(&bases).xor(first_round.effect(isa, 1));
        let [masks] = cipher.finish_while([pre_counters], &mut Nothing);
        let ending = Ending::new(job, indices);
        let sum = ending.fold::<V<P>, KARATSUBA>(job, powers, indices, 0, &sums);
        let tags = ending.tags::<V<P>, KARATSUBA>(powers, 0, sum, masks);
        D::conclude_some(job, indices, tags);
        ends.count = 0;
    }
}
