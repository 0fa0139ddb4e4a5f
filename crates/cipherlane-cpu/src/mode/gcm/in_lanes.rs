//! Messages with a key each, one to a lane: key schedules, counters, hash keys, hashes and tags all lie side by
//! side in the lanes of a register.
//!
//! Each step waits for the one before (a key expansion, a hash), so SETS registers of messages are run together,
//! phase by phase, and one fills the latency of another. Messages are collected by their number of blocks; a set
//! has messages of one size class, whatever their order in the batch.

use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::ops::Range;

use cipherlane_core::BLOCK;

use super::counter::{ONE_EACH, counted};
use super::one_key::OneKey;
use super::set::{BLOCKS, CHUNK, Set, crypt};
use super::{Direction, Keyless, key_each};
use crate::cipher::{KeyPerLane, Source, V};
use crate::job::Job;
use crate::lanes::{Isa, Lanes, MAX_LANES, Work};
use crate::worker::{Segments, Worker};

/// Sets of lanes that are run together.
const SETS: usize = 2;
/// Most messages that are run together.
const MAX_TOGETHER: usize = SETS * MAX_LANES;
/// Most blocks of a message that shares registers with others: beyond, it fills registers by itself.
const MAX_BLOCKS: usize = 64;

/// A worker without a key.
pub(crate) struct InLanes<P: KeyPerLane, D, const N: usize, const POWERS: usize, const KARATSUBA: bool> {
    source: P::Source,
    direction: PhantomData<(fn() -> P, D)>,
}

/// Messages of one size class that wait for company.
struct Waiting {
    /// The first `count` are written.
    indices: [MaybeUninit<usize>; MAX_TOGETHER],
    count: usize,
    /// Blocks of AAD of each.
    aad: usize,
}

impl Waiting {
    const fn nobody() -> Self {
        Self { indices: [MaybeUninit::uninit(); MAX_TOGETHER], count: 0, aad: 0 }
    }

    fn indices(&self) -> &[usize] {
        // SAFETY: the first `count` are written.
        unsafe { self.indices[..self.count].assume_init_ref() }
    }
}

impl<P: KeyPerLane, D: Direction, const N: usize, const POWERS: usize, const KARATSUBA: bool> Keyless<P>
    for InLanes<P, D, N, POWERS, KARATSUBA>
{
    fn new(source: P::Source) -> Self {
        Self { source, direction: PhantomData }
    }
}

impl<P: KeyPerLane, D: Direction, const N: usize, const POWERS: usize, const KARATSUBA: bool>
    InLanes<P, D, N, POWERS, KARATSUBA>
{
    const TOGETHER: usize = SETS * V::<P>::LANES;

    #[inline(always)]
    fn run(&self, job: &Job<'_>, range: Range<usize>) {
        let mut classes = [const { Waiting::nobody() }; MAX_BLOCKS + 1];
        for index in range {
            let text = job.message(index).bytes.div_ceil(BLOCK);
            let aad = job.aad(index).len().div_ceil(BLOCK);
            if text > MAX_BLOCKS || job.nonce(index).len() != 12 {
                self.run_alone(job, index);
                continue;
            }
            let class = &mut classes[text];
            if class.count > 0 && class.aad != aad {
                self.run_class(job, class);
            }
            class.aad = aad;
            class.indices[class.count].write(index);
            class.count += 1;
            if class.count == Self::TOGETHER {
                self.run_class(job, class);
            }
        }
        for class in &mut classes {
            self.run_class(job, class);
        }
    }

    /// A message that is too long for company, or whose nonce has to be hashed.
    #[inline(always)]
    fn run_alone(&self, job: &Job<'_>, index: usize) {
        let highest = key_each::powers::<P, POWERS>(job, index);
        let key = job.key(index);
        self.source.isa().vectorize(Alone {
            one: OneKey::<P, D, N, KARATSUBA>::new(self.source, key, highest),
            job,
            index,
        });
    }

    #[inline(always)]
    fn run_class(&self, job: &Job<'_>, class: &mut Waiting) {
        if class.count == Self::TOGETHER {
            let mut lanes = [[0; MAX_LANES]; SETS];
            for (set, indices) in lanes.iter_mut().zip(class.indices().chunks_exact(V::<P>::LANES)) {
                set[..V::<P>::LANES].copy_from_slice(indices);
            }
            self.source.isa().vectorize(Together::<P, D, SETS, KARATSUBA>::new(
                self.source,
                job,
                lanes,
                V::<P>::LANES,
            ));
        } else {
            for indices in class.indices().chunks(V::<P>::LANES) {
                // Lanes without a message repeat the first one: the same bytes go to the same places.
                let mut lanes = [[indices[0]; MAX_LANES]];
                lanes[0][..indices.len()].copy_from_slice(indices);
                self.source.isa().vectorize(Together::<P, D, 1, KARATSUBA>::new(
                    self.source,
                    job,
                    lanes,
                    indices.len(),
                ));
            }
        }
        class.count = 0;
    }
}

/// One message with its key, as work.
struct Alone<'a, T> {
    one: T,
    job: &'a Job<'a>,
    index: usize,
}

impl<P: KeyPerLane, D: Direction, const N: usize, const KARATSUBA: bool> Work
    for Alone<'_, OneKey<P, D, N, KARATSUBA>>
{
    type Output = ();

    #[inline(always)]
    fn run(self) {
        self.one.run(self.job, self.index..self.index + 1);
    }
}

impl<P, D, const N: usize, const POWERS: usize, const KARATSUBA: bool> Worker
    for InLanes<P, D, N, POWERS, KARATSUBA>
where
    P: KeyPerLane,
    D: Direction,
{
    fn messages(&self, job: &Job<'_>, range: Range<usize>) {
        self.run(job, range);
    }

    fn segments(&self) -> Option<&dyn Segments> {
        None
    }
}

/// G sets of lanes with a message each, all of the same number of blocks, as work.
struct Together<'a, P: KeyPerLane, D, const G: usize, const KARATSUBA: bool> {
    source: P::Source,
    job: &'a Job<'a>,
    lanes: [[usize; MAX_LANES]; G],
    /// Lanes of each set that count; the others repeat the first.
    used: usize,
    direction: PhantomData<D>,
}

impl<P: KeyPerLane, D: Direction, const G: usize, const KARATSUBA: bool> Work
    for Together<'_, P, D, G, KARATSUBA>
{
    type Output = ();

    #[inline(always)]
    fn run(self) {
        // All schedules before any is used: G chains of rounds at once.
        let ciphers = Ciphers::<P, G>::new(self.source, self.job, &self.lanes);
        let mut sets = [const { MaybeUninit::uninit() }; G];
        let sets = self.open_sets(ciphers.get(), &mut sets);
        let first = self.lanes[0][0];
        for at in (0..self.job.aad(first).len()).step_by(BLOCK) {
            for (set, indices) in sets.iter_mut().zip(&self.lanes) {
                set.hash_aad(self.job, indices, at);
            }
        }
        let mut shortest = sets[0].shortest();
        for set in &sets[1..] {
            shortest = shortest.min(set.shortest());
        }
        let bytes = shortest.next_multiple_of(BLOCK);
        for at in (0..bytes).step_by(CHUNK) {
            // SAFETY: every message goes beyond `at`, and has as many blocks left.
            unsafe {
                if at + CHUNK <= shortest {
                    self.chunk::<true>(ciphers.get(), sets, at, BLOCKS);
                } else {
                    self.chunk::<false>(ciphers.get(), sets, at, (bytes - at).div_ceil(BLOCK).min(BLOCKS));
                }
            }
        }
        for (set, indices) in sets.iter_mut().zip(&self.lanes) {
            let tags = set.finish();
            for lane in 0..self.used {
                D::conclude(self.job, indices[lane], tags[lane]);
            }
        }
    }
}

impl<'a, P: KeyPerLane, D: Direction, const G: usize, const KARATSUBA: bool>
    Together<'a, P, D, G, KARATSUBA>
{
    fn new(source: P::Source, job: &'a Job<'a>, lanes: [[usize; MAX_LANES]; G], used: usize) -> Self {
        Self { source, job, lanes, used, direction: PhantomData }
    }

    #[inline(always)]
    fn open_sets<'s>(
        &self,
        ciphers: &[P; G],
        sets: &'s mut [MaybeUninit<Set<V<P>, KARATSUBA>>; G],
    ) -> &'s mut [Set<V<P>, KARATSUBA>] {
        let isa = self.source.isa();
        let mut blocks = [[isa.zero(); 2]; G];
        for (set, indices) in blocks.iter_mut().zip(&self.lanes) {
            let mut nonces: [&[u8]; MAX_LANES] = [&[]; MAX_LANES];
            for lane in 0..V::<P>::LANES {
                nonces[lane] = &self.job.nonce(indices[lane])[..12];
            }
            set[1] = isa.gather_partial(&nonces).add32(isa.splat(&ONE_EACH[0]));
        }
        let pre_counters = blocks;
        let encrypted = P::apply_sets(ciphers, blocks);
        for g in 0..G {
            sets[g].write(Set::new(self.job, &self.lanes[g], encrypted[g], pre_counters[g][1]));
        }
        // SAFETY: all of them are written.
        unsafe { sets.assume_init_mut() }
    }

    /// Encrypts or decrypts `blocks` blocks of every message from byte `at` on, and hashes their ciphertext.
    ///
    /// # Safety
    /// Every message has these blocks: WHOLE, or the last one perhaps in part.
    #[inline(always)]
    unsafe fn chunk<const WHOLE: bool>(
        &self,
        ciphers: &[P; G],
        sets: &mut [Set<V<P>, KARATSUBA>],
        at: usize,
        blocks: usize,
    ) {
        let mut counters = [[self.source.isa().zero(); BLOCKS]; G];
        for (counters, set) in counters.iter_mut().zip(&*sets) {
            for (block, counter) in counters.iter_mut().enumerate() {
                *counter = counted(self.source.isa(), set.pre_counter, at / BLOCK + block + 1);
            }
        }
        let keystream = P::apply_sets(ciphers, counters);
        let mut ciphertext = keystream;
        for g in 0..G {
            // SAFETY: the caller's.
            ciphertext[g] = unsafe { crypt::<V<P>, D, WHOLE>(&sets[g].texts, at, keystream[g]) };
        }
        for (set, text) in sets.iter_mut().zip(ciphertext) {
            match blocks {
                1 => set.absorb::<1>(text),
                2 => set.absorb::<2>(text),
                3 => set.absorb::<3>(text),
                _ => set.absorb::<BLOCKS>(text),
            }
        }
    }
}

/// The key schedules of G sets.
struct Ciphers<P, const G: usize>([MaybeUninit<P>; G]);

impl<P: KeyPerLane, const G: usize> Ciphers<P, G> {
    #[inline(always)]
    fn new(source: P::Source, job: &Job<'_>, lanes: &[[usize; MAX_LANES]; G]) -> Self {
        let mut ciphers = [const { MaybeUninit::<P>::uninit() }; G];
        for (cipher, indices) in ciphers.iter_mut().zip(lanes) {
            P::per_lane_at(cipher, source, |lane| job.key(indices[lane]));
        }
        Self(ciphers)
    }

    #[inline(always)]
    fn get(&self) -> &[P; G] {
        // SAFETY: `new` has written all of them.
        unsafe { &*(&raw const self.0).cast() }
    }
}

impl<P, const G: usize> Drop for Ciphers<P, G> {
    #[inline(always)]
    fn drop(&mut self) {
        // SAFETY: `new` has written all of them, and they are dropped here alone.
        unsafe { self.0.assume_init_drop() }
    }
}
