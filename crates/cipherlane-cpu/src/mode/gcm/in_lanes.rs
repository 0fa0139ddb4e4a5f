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

use super::counter::{counted, pre_counter_96};
use super::ghash::{Power, Products, lengths};
use super::one_key::OneKey;
use super::row::Row;
use super::{Direction, Keyless, key_each};
use crate::cipher::{KeyPerLane, Source, V};
use crate::job::{Job, Message};
use crate::lanes::{Isa, Lanes, MAX_LANES, Work};
use crate::rows::load_block;
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
        let ciphers = Ciphers::<P, G>::new(self.source, self.job, &self.lanes);
        let mut sets = self.open_sets(&ciphers);
        let job = self.job;
        let first = self.lanes[0][0];
        let aad_blocks = job.aad(first).len().div_ceil(BLOCK);
        for block in 0..aad_blocks {
            for set in &mut sets {
                // SAFETY: the slices are readable.
                unsafe { set.hash_aad(block) };
            }
        }
        let blocks = job.message(first).bytes.div_ceil(BLOCK);
        let mut done = 0;
        while done < blocks {
            // SAFETY: as many blocks are left in each lane.
            done += unsafe {
                match blocks - done {
                    0..4 => crypt_and_hash::<P, D, G, 1, KARATSUBA>(&mut sets, done),
                    _ => crypt_and_hash::<P, D, G, 4, KARATSUBA>(&mut sets, done),
                }
            };
        }
        for (set, indices) in sets.iter_mut().zip(&self.lanes) {
            let tags = set.finish();
            for lane in 0..self.used {
                D::conclude(job, indices[lane], tags[lane]);
            }
        }
    }
}

impl<'a, P: KeyPerLane, D, const G: usize, const KARATSUBA: bool> Together<'a, P, D, G, KARATSUBA> {
    fn new(source: P::Source, job: &'a Job<'a>, lanes: [[usize; MAX_LANES]; G], used: usize) -> Self {
        Self { source, job, lanes, used, direction: PhantomData }
    }

    #[inline(always)]
    fn open_sets<'s>(&self, ciphers: &'s Ciphers<P, G>) -> [Set<'s, P, KARATSUBA>; G]
    where
        'a: 's,
    {
        let mut sets = [const { MaybeUninit::<Set<'s, P, KARATSUBA>>::uninit() }; G];
        for ((set, cipher), indices) in sets.iter_mut().zip(ciphers.get()).zip(&self.lanes) {
            set.write(Set::new(cipher, self.job, indices));
        }
        // SAFETY: the loop has written every set.
        unsafe { std::mem::transmute_copy(&sets) }
    }
}

/// The key schedules of G sets. All are made before any is used: G chains of rounds at once.
struct Ciphers<P, const G: usize>([MaybeUninit<P>; G]);

impl<P: KeyPerLane, const G: usize> Ciphers<P, G> {
    #[inline(always)]
    fn new(source: P::Source, job: &Job<'_>, lanes: &[[usize; MAX_LANES]; G]) -> Self {
        let mut ciphers = [const { MaybeUninit::<P>::uninit() }; G];
        for (cipher, indices) in ciphers.iter_mut().zip(lanes) {
            cipher.write(P::per_lane(source, |lane| job.key(indices[lane])));
        }
        Self(ciphers)
    }

    #[inline(always)]
    fn get(&self) -> &[P] {
        // SAFETY: `new` has written all of them.
        unsafe { self.0.assume_init_ref() }
    }
}

impl<P, const G: usize> Drop for Ciphers<P, G> {
    #[inline(always)]
    fn drop(&mut self) {
        // SAFETY: `new` has written all of them, and they are dropped here alone.
        unsafe { self.0.assume_init_drop() }
    }
}

/// One register of messages.
struct Set<'a, P: KeyPerLane, const KARATSUBA: bool> {
    cipher: &'a P,
    messages: [Message; MAX_LANES],
    aad: [&'a [u8]; MAX_LANES],
    /// The pre-counter blocks: nonce || 1.
    pre_counter: V<P>,
    /// The encrypted pre-counter blocks, which mask the tags.
    mask: V<P>,
    /// The hash keys, times x.
    h: Power<V<P>>,
    /// GHASH so far, each step multiplied and reduced.
    hash: V<P>,
}

impl<'a, P: KeyPerLane, const KARATSUBA: bool> Set<'a, P, KARATSUBA> {
    #[inline(always)]
    fn new(cipher: &'a P, job: &'a Job<'_>, indices: &[usize; MAX_LANES]) -> Self {
        let isa = cipher.isa();
        let mut counters = [0; MAX_LANES];
        let mut messages = [job.message(indices[0]); MAX_LANES];
        let mut aad: [&[u8]; MAX_LANES] = [&[]; MAX_LANES];
        for lane in 0..V::<P>::LANES {
            counters[lane] = pre_counter_96(job.nonce(indices[lane]));
            messages[lane] = job.message(indices[lane]);
            aad[lane] = job.aad(indices[lane]);
        }
        let pre_counter = isa.words(&counters);
        let [h, mask] = cipher.apply([isa.zero(), pre_counter]);
        let h = Power::new(h.reverse_bytes().times_x_reflected());
        Self { cipher, messages, aad, pre_counter, mask, h, hash: isa.zero() }
    }

    /// Hashes block `block` of each lane's AAD.
    ///
    /// # Safety
    /// Every lane's AAD has this block, perhaps in part.
    #[inline(always)]
    unsafe fn hash_aad(&mut self, block: usize) {
        let mut blocks = [0; MAX_LANES];
        for (to, aad) in blocks.iter_mut().zip(self.aad).take(V::<P>::LANES) {
            let bytes = (aad.len() - block * BLOCK).min(BLOCK);
            // SAFETY: that many bytes are left of the slice.
            *to = unsafe { load_block(aad.as_ptr().add(block * BLOCK), bytes) };
        }
        self.absorb(self.cipher.isa().words(&blocks));
    }

    /// Hashes one block a lane, in the byte order of the standard.
    #[inline(always)]
    fn absorb(&mut self, blocks: V<P>) {
        let mut products = Products::zero(self.cipher.isa());
        products.add::<KARATSUBA>(self.hash.xor(blocks.reverse_bytes()), self.h);
        self.hash = products.settle::<KARATSUBA>().reduce(self.cipher.isa());
    }

    /// The tags (SP 800-38D section 7.1 steps 5 and 6).
    #[inline(always)]
    fn finish(&mut self) -> [u128; MAX_LANES] {
        let mut ends = [0; MAX_LANES];
        for ((end, aad), message) in ends.iter_mut().zip(self.aad).zip(&self.messages) {
            *end = lengths(aad.len(), message.bytes);
        }
        self.absorb(self.cipher.isa().words(&ends));
        self.hash.reverse_bytes().xor(self.mask).to_words()
    }

    /// Encrypts or decrypts R blocks a lane from block `done` on and returns their ciphertext, what is missing of
    /// a last block zero.
    ///
    /// # Safety
    /// Every lane's message has these blocks, the last one perhaps in part.
    #[inline(always)]
    unsafe fn crypt<D: Direction, const R: usize>(&self, done: usize) -> [V<P>; R] {
        let isa = self.cipher.isa();
        let mut counters = [self.pre_counter; R];
        for (i, counter) in counters.iter_mut().enumerate() {
            *counter = counted(isa, self.pre_counter, done + i + 1);
        }
        let mut ciphertext = self.cipher.apply(counters);
        for (i, register) in ciphertext.iter_mut().enumerate() {
            // SAFETY: the caller's.
            *register = unsafe {
                let rows = Row::new(&self.messages, (done + i) * BLOCK);
                let x = rows.load::<P::Isa>(isa);
                let y = rows.store::<P::Isa>(isa, x.xor(*register));
                if D::OPEN { x } else { y }
            };
        }
        ciphertext
    }
}

/// R blocks of every lane of every set: encrypted set by set, hashed block by block. Returns R.
///
/// # Safety
/// Every lane's message has these blocks, the last one perhaps in part.
#[inline(always)]
unsafe fn crypt_and_hash<
    P: KeyPerLane,
    D: Direction,
    const G: usize,
    const R: usize,
    const KARATSUBA: bool,
>(
    sets: &mut [Set<'_, P, KARATSUBA>; G],
    done: usize,
) -> usize {
    let mut ciphertext = [[sets[0].hash; R]; G];
    for (text, set) in ciphertext.iter_mut().zip(sets.iter()) {
        // SAFETY: the caller's.
        *text = unsafe { set.crypt::<D, R>(done) };
    }
    for block in 0..R {
        for (text, set) in ciphertext.iter().zip(sets.iter_mut()) {
            set.absorb(text[block]);
        }
    }
    R
}
