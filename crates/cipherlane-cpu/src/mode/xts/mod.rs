//! XEX with tweak and ciphertext stealing (IEEE 1619, SP 800-38E).

mod in_company;
mod key_each;
mod steal;
mod tweak;
mod unit;

use std::marker::PhantomData;
use std::ops::Range;

use cipherlane_core::BLOCK;

use self::in_company::InCompany;
use self::tweak::MAX_GROUP;
use self::unit::{run, run_apart};
use super::blocks;
use super::body::{Body, Vectorized, part};
use super::key_each::{Steps, block_of};
use super::keys::Keys;
use super::together::{Short, Together};
use crate::cipher::{KeyEach, Permutation, V};
use crate::job::{Job, Message};
use crate::lanes::{Isa, Lanes, MAX_LANES, times_x_of_tweak};
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
        let halves = key.map(halves);
        Box::new(Vectorized(XtsBody::<P, E, D, N> {
            data: Keys::new(self.data, halves.map(|(data, _)| data)),
            tweak: Keys::new(self.tweak, halves.map(|(_, tweak)| tweak)),
            direction: PhantomData,
        }))
    }
}

/// The keys of data and tweak (IEEE 1619 section 5.1).
#[inline(always)]
fn halves(key: &[u8]) -> (&[u8], &[u8]) {
    key.split_at(key.len() / 2)
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
        if P::WHOLE_GROUPS && self.data.shared().is_none() {
            return key_each::units(self, job, range);
        }
        let isa = self.isa();
        if let Some(cipher) = self.data.shared()
            && in_company::pays::<P, N>(job, &range)
        {
            return isa.vectorize(InCompany { body: self, cipher, job, range });
        }
        let together = if self.tweak.shared().is_some() { N * V::<P>::LANES } else { 1 };
        let (mut own_tweak, mut own_data) = (None, None);
        let mut short = self.data.shared().filter(|_| P::WHOLE_GROUPS).map(Together::<P, N>::new);
        let mut next = range.start;
        while next < range.end {
            let units = next..range.end.min(next + together);
            next = units.end;
            let mut first = [[0; BLOCK]; MAX_GROUP];
            self.first_tweaks(job, units.clone(), &mut own_tweak, &mut first);
            for (index, first) in units.zip(&first) {
                let message = job.message(index);
                // SAFETY: the job's pointers are good, and this thread alone has this message.
                unsafe {
                    match &mut short {
                        Some(short) if is_short::<P, N>(message) => {
                            short.push_all::<Between>(block_of(first), message);
                        }
                        _ => {
                            let cipher = self.data.of(halves(job.key(index)).0, &mut own_data);
                            self.run(cipher, isa.splat(first), message);
                        }
                    }
                }
            }
        }
        if let Some(short) = &mut short {
            // SAFETY: as above.
            unsafe { short.end() }
        }
    }

    #[inline(always)]
    fn segment(&self, job: &Job<'_>, segment: &Segment) {
        let (isa, index) = (self.isa(), segment.message);
        let mut first = [[0; BLOCK]; MAX_GROUP];
        self.first_tweaks(job, index..index + 1, &mut None, &mut first);
        let first = tweak::later(isa, isa.splat(&first[0]), segment.bytes.start / BLOCK);
        let mut own = None;
        let cipher = self.data.of(halves(job.key(index)).0, &mut own);
        // SAFETY: the job's pointers are good, and this thread alone has this segment.
        unsafe { run_apart::<P, D, N>(cipher, first, part(job, segment)) }
    }
}

impl<P: Permutation, E: Permutation<Isa = P::Isa>, D: Direction, const N: usize> XtsBody<P, E, D, N> {
    /// Runs a unit: where the cipher is quick, without a call.
    ///
    /// # Safety
    /// That of [`run`].
    #[inline(always)]
    unsafe fn run(&self, cipher: &P, first: V<P>, message: Message) {
        // SAFETY: the caller's promise.
        unsafe {
            match P::WHOLE_GROUPS {
                true => run_apart::<P, D, N>(cipher, first, message),
                false => run::<P, D, N>(cipher, first, message),
            }
        }
    }

    /// The tweaks of block 0 of `units`, which are N registers or fewer under the key of the first.
    #[inline(always)]
    fn first_tweaks(
        &self,
        job: &Job<'_>,
        units: Range<usize>,
        own: &mut Option<E>,
        tweaks: &mut [[u8; BLOCK]; MAX_GROUP],
    ) {
        let cipher = self.tweak.of(halves(job.key(units.start)).1, own);
        if units.len() <= V::<P>::LANES {
            encrypt_numbers::<E, 1>(cipher, job, units, tweaks);
        } else {
            encrypt_numbers::<E, N>(cipher, job, units, tweaks);
        }
    }
}

/// Encrypts the numbers of `units`, at most M registers of them.
#[inline(always)]
fn encrypt_numbers<E: Permutation, const M: usize>(
    cipher: &E,
    job: &Job<'_>,
    units: Range<usize>,
    tweaks: &mut [[u8; BLOCK]; MAX_GROUP],
) {
    debug_assert!(units.len() <= M * V::<E>::LANES);
    let mut numbers = [cipher.isa().zero(); M];
    for (i, register) in numbers.iter_mut().enumerate() {
        let mut lanes = [std::ptr::null(); MAX_LANES];
        for (lane, number) in lanes.iter_mut().enumerate().take(V::<E>::LANES) {
            // Lanes beyond the last unit repeat it.
            let unit = (units.start + i * V::<E>::LANES + lane).min(units.end - 1);
            *number = job.nonce(unit).as_ptr();
        }
        // SAFETY: the check has shown that each number has 16 bytes.
        *register = unsafe { cipher.isa().gather(&lanes) };
    }
    if E::WHOLE_GROUPS {
        cipher.apply_used(&mut numbers, units.len().div_ceil(V::<E>::LANES));
    } else {
        numbers = cipher.apply(numbers);
    }
    // SAFETY: MAX_GROUP blocks hold M registers, or `tweak::start` would not compile.
    unsafe { blocks::store(&numbers, tweaks.as_mut_ptr().cast()) }
}

/// Whether a unit is of whole blocks, and of few enough to share groups with others.
#[inline(always)]
fn is_short<P: Permutation, const N: usize>(message: Message) -> bool {
    message.bytes.is_multiple_of(BLOCK) && Together::<P, N>::takes(message.bytes)
}

/// Units block by block, in either direction: each block between two additions of its tweak, which is known before.
struct Between;

impl Short for Between {
    #[inline(always)]
    fn next_block(tweak: &mut u128, text: u128) -> [u128; 2] {
        let now = std::mem::replace(tweak, times_x_of_tweak(*tweak));
        [text ^ now, now]
    }
}

impl Steps for Between {
    const ALONE_IS_DEAR: bool = true;

    #[inline(always)]
    fn next<T: Lanes>(tweak: &mut T, text: T) -> [T; 2] {
        let now = *tweak;
        *tweak = now.times_x(now.carries());
        [text.xor(now), now]
    }
}
