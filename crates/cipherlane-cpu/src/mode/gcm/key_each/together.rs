//! Sets of lanes with a message each, all of the same number of blocks, run together.
//!
//! While the cipher works on blocks, those before them are hashed.

use std::array::from_ref;
use std::marker::PhantomData;
use std::mem::MaybeUninit;

use cipherlane_core::BLOCK;

use super::lane_hash::{self, Absorb, Powers, absorb, absorb_some};
use super::schedules::Schedules;
use super::set::{BLOCKS, CHUNK, Set, blocks_of, crypt};
use crate::cipher::{KeyPerLane, Meanwhile, Nothing, Source, V};
use crate::job::Job;
use crate::lanes::{Isa, Lanes, MAX_LANES, Work};
use crate::mode::counters::{counted, counted_in_32_bits};
use crate::mode::first_round::BYTES;
use crate::mode::gcm::Direction;
use crate::mode::gcm::counter::ONE_EACH;

/// G sets of lanes with a message each, all of the same number of blocks of text and of AAD.
pub(super) struct Together<'a, P: KeyPerLane, D, const G: usize, const KARATSUBA: bool> {
    pub(super) source: P::Source,
    pub(super) job: &'a Job<'a>,
    /// The messages.
    pub(super) lanes: [[usize; MAX_LANES]; G],
    /// Lanes of each set that count; the others repeat the first.
    pub(super) used: usize,
    pub(super) direction: PhantomData<D>,
}

/// [`Together`], as work.
pub(super) struct Run<'a, P: KeyPerLane, D, const G: usize, const KARATSUBA: bool> {
    pub(super) together: Together<'a, P, D, G, KARATSUBA>,
    /// Where their keys are expanded.
    pub(super) schedules: &'a mut Schedules<P>,
}

/// Sets, and the powers of their hash keys.
type Opened<'a, V, const G: usize> = (&'a [Set<V>; G], &'a [Powers<V>; G]);

/// BLOCKS registers of each of T sets.
type Blocks<P, const T: usize> = [[V<P>; BLOCKS]; T];

impl<P: KeyPerLane, D: Direction, const G: usize, const KARATSUBA: bool> Work
    for Run<'_, P, D, G, KARATSUBA>
{
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { together, schedules } = self;
        let Together { source, job, lanes, used, .. } = &together;
        let (mut sets, mut powers) =
            ([const { MaybeUninit::uninit() }; G], [const { MaybeUninit::uninit() }; G]);
        let ciphers = schedules.expand(*source, job, lanes);
        let (sets, powers) = together.open(ciphers, &mut sets, &mut powers);
        let mut hash = together.hash_of(powers, &together.each(|index| job.aad(index)));
        if V::<P>::LANES == 1 {
            hash = together.crypt_and_hash(ciphers, sets, powers, hash);
        } else {
            // Set by set: two of them would need more registers than there are, and so many are in flight already.
            for g in 0..G {
                let (cipher, set, powers) = (from_ref(&ciphers[g]), from_ref(&sets[g]), from_ref(&powers[g]));
                [hash[g]] = together.crypt_and_hash(cipher, set, powers, [hash[g]]);
            }
        }
        let mut tags = [[0; MAX_LANES]; G];
        for g in 0..G {
            tags[g] = sets[g].tags::<KARATSUBA>(&powers[g], hash[g]);
        }
        for (tags, indices) in tags.iter().zip(lanes) {
            for lane in 0..*used {
                D::conclude(job, indices[lane], tags[lane]);
            }
        }
    }
}

impl<'a, P: KeyPerLane, D: Direction, const G: usize, const KARATSUBA: bool>
    Together<'a, P, D, G, KARATSUBA>
{
    /// Whether the pre-counter blocks are hashes of the nonces.
    #[inline(always)]
    fn hashes_nonces(&self) -> bool {
        self.job.nonce(self.lanes[0][0]).len() != 12
    }

    /// Writes the sets and the powers of their hash keys, which are encrypted blocks of zeros (SP 800-38D section 7.1
    /// steps 1 and 2).
    #[inline(always)]
    fn open<'s>(
        &self,
        ciphers: &[P; G],
        sets: &'s mut [MaybeUninit<Set<V<P>>>; G],
        powers: &'s mut [MaybeUninit<Powers<V<P>>>; G],
    ) -> Opened<'s, V<P>, G> {
        let isa = self.source.isa();
        let mut blocks = [[isa.zero(); 2]; G];
        if !self.hashes_nonces() {
            for (set, nonces) in blocks.iter_mut().zip(&self.nonces()) {
                set[1] = isa.gather_partial(nonces).add32(isa.splat(&ONE_EACH[0]));
            }
        }
        let encrypted = P::apply_sets(ciphers, blocks, &mut Nothing);
        for g in 0..G {
            powers[g].write(lane_hash::powers::<_, KARATSUBA>(encrypted[g][0]));
            sets[g].write(Set::new(self.job, &self.lanes[g], blocks[g][1], encrypted[g][1]));
        }
        // SAFETY: all of them are written.
        let (sets, powers): (&mut [_; G], &[_; G]) =
            unsafe { (&mut *sets.as_mut_ptr().cast(), &*powers.as_ptr().cast()) };
        if self.hashes_nonces() {
            self.begin_with_hashes(ciphers, sets, powers);
        }
        (sets, powers)
    }

    /// Pre-counter blocks of nonces that are not 96 bits long.
    #[inline(always)]
    fn begin_with_hashes(&self, ciphers: &[P; G], sets: &mut [Set<V<P>>], powers: &[Powers<V<P>>]) {
        let nonces = self.nonces();
        let hash = self.hash_of(powers, &nonces);
        let mut blocks = [[hash[0]; 1]; G];
        for g in 0..G {
            // The length in bits, alone.
            let mut ends = [0; MAX_LANES];
            for (end, nonce) in ends.iter_mut().zip(&nonces[g]) {
                *end = 8 * nonce.len() as u128;
            }
            let ends = [self.source.isa().words(&ends); BLOCKS];
            blocks[g][0] = absorb::<_, 1, KARATSUBA>(&powers[g], hash[g], &ends).reverse_bytes();
        }
        let masks = P::apply_sets(ciphers, blocks, &mut Nothing);
        for g in 0..G {
            sets[g].begin(blocks[g][0], masks[g][0]);
        }
    }

    /// What `of` gives for the message of each lane.
    #[inline(always)]
    fn each(&self, of: impl Fn(usize) -> &'a [u8]) -> [[&'a [u8]; MAX_LANES]; G] {
        let mut each = [[&[][..]; MAX_LANES]; G];
        for (each, indices) in each.iter_mut().zip(&self.lanes) {
            for lane in 0..V::<P>::LANES {
                each[lane] = of(indices[lane]);
            }
        }
        each
    }

    #[inline(always)]
    fn nonces(&self) -> [[&'a [u8]; MAX_LANES]; G] {
        self.each(|index| self.job.nonce(index))
    }

    /// GHASH of these bytes, which are as many blocks in every lane.
    #[inline(always)]
    fn hash_of(&self, powers: &[Powers<V<P>>], bytes: &[[&[u8]; MAX_LANES]; G]) -> [V<P>; G] {
        let isa = self.source.isa();
        let mut hash = [isa.zero(); G];
        let first = bytes[0][0].len();
        for at in (0..first).step_by(CHUNK) {
            let count = (first - at).div_ceil(BLOCK).min(BLOCKS);
            for g in 0..G {
                let blocks = blocks_of(isa, &bytes[g], at, count);
                hash[g] = absorb_some::<_, KARATSUBA>(&powers[g], hash[g], &blocks, count);
            }
        }
        hash
    }

    /// Encrypts or decrypts the messages of T sets, and returns `hash` after their ciphertexts.
    #[inline(always)]
    fn crypt_and_hash<const T: usize>(
        &self,
        ciphers: &[P; T],
        sets: &[Set<V<P>>; T],
        powers: &[Powers<V<P>>; T],
        mut hash: [V<P>; T],
    ) -> [V<P>; T] {
        let shortest = sets.iter().fold(usize::MAX, |bytes, set| bytes.min(set.shortest()));
        if shortest == 0 {
            // All have the same number of blocks.
            return hash;
        }
        // SAFETY: every message has a block.
        let mut text = unsafe { self.chunk(ciphers, sets, 0, shortest, &mut Nothing) };
        for at in (CHUNK..shortest).step_by(CHUNK) {
            let mut absorb = Absorb::<_, T, KARATSUBA>::new(powers, &mut hash, &text);
            // SAFETY: every message goes beyond `at`.
            text = unsafe { self.chunk(ciphers, sets, at, shortest, &mut absorb) };
        }
        let blocks = shortest.div_ceil(BLOCK);
        let last = blocks - (blocks - 1) / BLOCKS * BLOCKS;
        for g in 0..T {
            hash[g] = absorb_some::<_, KARATSUBA>(&powers[g], hash[g], &text[g], last);
        }
        hash
    }

    /// Encrypts or decrypts BLOCKS blocks of every message, or what is left, from byte `at` on, and returns their
    /// ciphertext, bytes reversed. The shortest message has `shortest` bytes.
    ///
    /// # Safety
    /// Every message goes beyond `at`.
    #[inline(always)]
    unsafe fn chunk<const T: usize>(
        &self,
        ciphers: &[P; T],
        sets: &[Set<V<P>>; T],
        at: usize,
        shortest: usize,
        meanwhile: &mut impl Meanwhile,
    ) -> Blocks<P, T> {
        let first = at / BLOCK + 1;
        let mut counters = [[self.source.isa().zero(); BLOCKS]; T];
        for (counters, set) in counters.iter_mut().zip(sets) {
            for (block, counter) in counters.iter_mut().enumerate() {
                let (isa, by) = (self.source.isa(), first + block);
                *counter = if self.hashes_nonces() {
                    counted_in_32_bits(isa, set.pre_counter, by)
                } else if first + BLOCKS < BYTES {
                    counted(isa, set.pre_counter, by)
                } else {
                    counted(isa, set.pre_counter.xor(isa.splat_word(carried(by))), by % BYTES)
                };
            }
        }
        let keystream = P::apply_sets(ciphers, counters, meanwhile);
        let mut ciphertext = keystream;
        for g in 0..T {
            // SAFETY: the caller's.
            ciphertext[g] = unsafe {
                if at + CHUNK <= shortest {
                    crypt::<V<P>, D, true>(&sets[g].texts, at, keystream[g])
                } else {
                    crypt::<V<P>, D, false>(&sets[g].texts, at, keystream[g])
                }
            };
        }
        ciphertext
    }
}

/// What the last byte of a pre-counter block of a nonce of 96 bits carries into the three before it, which are zeros, when it
/// is raised by `by` (SP 800-38D section 7.1).
#[inline(always)]
fn carried(by: usize) -> u128 {
    let carry = (by + 1) / BYTES;
    u128::from((carry as u32).swap_bytes() >> 8) << 96
}
