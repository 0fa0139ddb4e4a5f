//! XEX with tweak and ciphertext stealing (IEEE 1619, SP 800-38E).

mod coupled;
mod first;
mod in_company;
mod in_groups;
mod key_each;
mod steal;
mod together;
mod tweak;
mod unit;

use std::marker::PhantomData;
use std::ops::Range;

use cipherlane_core::BLOCK;

use self::first::{FirstTweaks, first_tweak};
use self::in_company::InCompany;
use self::unit::{run, run_apart};
use super::body::{Body, Vectorized, part};
use super::key_each::Steps;
use super::keys::Keys;
use super::listed;
use crate::cipher::{KeyEach, Permutation};
use crate::job::Job;
use crate::lanes::{Isa, Lanes};
use crate::worker::{Kernel, Segment, Worker};

/// Whether the last two blocks change places, as they do when a stolen ciphertext is decrypted.
pub(crate) trait Direction: Send + Sync + 'static {
    /// Whether the input is the ciphertext.
    const DECRYPT: bool;
}

/// Encryption (IEEE 1619 section 5.3).
pub(crate) struct Encrypt;

impl Direction for Encrypt {
    const DECRYPT: bool = false;
}

/// Decryption (IEEE 1619 section 5.4).
pub(crate) struct Decrypt;

impl Direction for Decrypt {
    const DECRYPT: bool = true;
}

/// XTS with N registers in flight: P runs the data in direction D, E encrypts the tweak.
pub(crate) struct Xts<P: Permutation, E: Permutation, D, const N: usize> {
    data: P::Source,
    tweak: E::Source,
    direction: PhantomData<fn() -> D>,
}

impl<P: Permutation, E: Permutation<Isa = P::Isa>, D: Direction, const N: usize> Xts<P, E, D, N> {
    /// The kernel whose data run through `data`, and whose tweaks through `tweak`.
    pub(crate) fn new(data: P::Source, tweak: E::Source) -> Self {
        Self { data, tweak, direction: PhantomData }
    }
}

impl<P: KeyEach, E: KeyEach<Isa = P::Isa>, D: Direction, const N: usize> Kernel for Xts<P, E, D, N> {
    fn worker(&self, key: Option<&[u8]>) -> Box<dyn Worker> {
        let key = key.map(XtsKey::of);
        Box::new(Vectorized(XtsBody::<P, E, D, N> {
            data: Keys::new(self.data, key.map(|key| key.data)),
            tweak: Keys::new(self.tweak, key.map(|key| key.tweak)),
            direction: PhantomData,
        }))
    }
}

/// The two keys that a key of XTS is (IEEE 1619 section 5.1).
#[derive(Clone, Copy)]
struct XtsKey<'k> {
    /// Encrypts the text.
    data: &'k [u8],
    /// Encrypts the sector's number.
    tweak: &'k [u8],
}

impl<'k> XtsKey<'k> {
    #[inline(always)]
    fn of(key: &'k [u8]) -> Self {
        let (data, tweak) = key.split_at(key.len() / 2);
        Self { data, tweak }
    }
}

struct XtsBody<P: Permutation, E: Permutation, D, const N: usize> {
    data: Keys<P>,
    tweak: Keys<E>,
    direction: PhantomData<D>,
}

impl<P: KeyEach, E: KeyEach<Isa = P::Isa>, D: Direction, const N: usize> Body for XtsBody<P, E, D, N> {
    type Isa = P::Isa;

    #[inline(always)]
    fn isa(&self) -> P::Isa {
        self.data.isa()
    }

    #[inline(always)]
    fn messages(&self, job: &Job<'_>, range: Range<usize>) {
        match self.data.shared() {
            Some(cipher) if listed::pays(job, &range, listed::from_alone::<P, N>()) => {
                self.isa().vectorize(InCompany { body: self, cipher, job, range });
            }
            // SAFETY: the job's pointers are good, and this thread alone has these messages.
            Some(cipher) if P::WHOLE_GROUPS => unsafe { in_groups::run(self, cipher, job, range) },
            None if P::WHOLE_GROUPS => key_each::units(self, job, range),
            _ => self.one_by_one(job, range),
        }
    }

    #[inline(always)]
    fn segment(&self, job: &Job<'_>, segment: &Segment) {
        let (isa, index) = (self.isa(), segment.message);
        let first = first_tweak(self.tweak.of(XtsKey::of(job.key(index)).tweak, &mut None), job, index);
        let first = tweak::later(isa, first, segment.bytes.start / BLOCK);
        let mut own = None;
        let cipher = self.data.of(XtsKey::of(job.key(index)).data, &mut own);
        // SAFETY: the job's pointers are good, and this thread alone has this segment.
        unsafe { run_apart::<P, D, N>(cipher, first, part(job, segment)) }
    }
}

impl<P: Permutation, E: Permutation<Isa = P::Isa>, D: Direction, const N: usize> XtsBody<P, E, D, N> {
    /// Runs the units of `range`, one after the other.
    #[inline(always)]
    fn one_by_one(&self, job: &Job<'_>, range: Range<usize>) {
        if let Some(cipher) = self.data.shared()
            && coupled::are_coupled::<P, N>(job, &range)
        {
            // SAFETY: the job's pointers are good, and this thread alone has these messages.
            return unsafe { coupled::run(cipher, job, self.firsts(job, range)) };
        }
        let mut own = None;
        for (index, first) in self.firsts(job, range) {
            let cipher = self.data.of(XtsKey::of(job.key(index)).data, &mut own);
            // SAFETY: the job's pointers are good, and this thread alone has this message.
            unsafe { run::<P, D, N>(cipher, first, job.message(index)) }
        }
    }

    /// The first tweaks of the units of `range`.
    #[inline(always)]
    fn firsts<'a>(&'a self, job: &'a Job<'a>, range: Range<usize>) -> FirstTweaks<'a, E, N> {
        FirstTweaks::new(&self.tweak, job, range)
    }
}

/// Units block by block, in either direction: each block between two additions of its tweak, which is known before.
struct Between;

impl Steps for Between {
    const ALONE_IS_DEAR: bool = true;

    #[inline(always)]
    fn next<T: Lanes>(tweak: &mut T, text: T) -> [T; 2] {
        let now = *tweak;
        *tweak = now.times_x(now.carries());
        [text.xor(now), now]
    }
}
