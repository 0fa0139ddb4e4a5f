//! Rows of messages under one key: equal ones that follow one another, four at once.
//!
//! R registers of each, the last ones perhaps in part, are run together, so that the compiler sees straight code:
//! N = 4 R registers pass through the cipher, at first with the pre-counter blocks beside them. The blocks of a message
//! lie in the lanes of its registers, as everywhere, until they are hashed: then each lane has a message, and all hashes
//! end together. What equal messages have in common is worked out once: what their lengths add to a hash, and AAD that
//! they share.
//!
//! While the cipher works on some registers, the multipliers hash others: those before when sealing, the same when
//! opening.

mod hash;
mod texts;

use std::marker::PhantomData;

use cipherlane_core::BLOCK;

use self::hash::Hash;
use self::texts::Texts;
use crate::cipher::{CALLS, Meanwhile, Permutation, V};
use crate::job::Job;
use crate::lanes::{Isa, Lanes, MAX_LANES, Work};
use crate::mode::counters::BIG_STEPS;
use crate::mode::first_round::FirstRound;
use crate::mode::gcm::Direction;
use crate::mode::gcm::counter::ONE_EACH;
use crate::mode::gcm::equal::{FOUR, Row};
use crate::mode::gcm::ghash::{Falling, Powers, Products, Spread, lengths};

/// A row, as work: messages of R registers, all of which are WHOLE or of which the last may not be; or, CHUNKED, of several
/// times R, of which the last ones may be missing or not whole.
pub(super) struct Rowed<
    'a,
    P: Permutation,
    D,
    const R: usize,
    const N: usize,
    const WHOLE: bool,
    const CHUNKED: bool,
    const KARATSUBA: bool,
> {
    pub(super) job: &'a Job<'a>,
    pub(super) cipher: &'a P,
    pub(super) powers: &'a Powers<P::Isa>,
    pub(super) spread: &'a Spread<P::Isa>,
    pub(super) first_round: Option<&'a FirstRound>,
    pub(super) row: Row,
    pub(super) direction: PhantomData<D>,
}

impl<
    P: Permutation,
    D: Direction,
    const R: usize,
    const N: usize,
    const WHOLE: bool,
    const CHUNKED: bool,
    const KARATSUBA: bool,
> Work for Rowed<'_, P, D, R, N, WHOLE, CHUNKED, KARATSUBA>
{
    type Output = ();

    #[inline(always)]
    fn run(self) {
        const { assert!(N == FOUR * R, "N registers in all") };
        let first = Texts::<V<P>, R, CHUNKED>::new::<WHOLE>(self.job.message(self.row.first));
        let mut progress = self.start(first);
        for number in 0..self.row.fours {
            // SAFETY: there are so many messages.
            let texts = unsafe { first.skip(number) };
            if CHUNKED || WHOLE {
                self.begin::<false>(&mut progress, texts, number);
            } else {
                self.begin::<true>(&mut progress, texts, number);
            }
            let last = texts.chunks() - 1;
            for chunk in 1..last {
                self.go_on::<false>(&mut progress, texts.chunk(chunk));
            }
            if CHUNKED && WHOLE {
                self.go_on::<false>(&mut progress, texts.chunk(last));
            } else if CHUNKED {
                self.go_on::<true>(&mut progress, texts.chunk(last));
            }
            if D::OPEN {
                self.conclude(&progress, number);
            }
        }
        if !D::OPEN {
            progress.sums = if WHOLE { self.hash::<false>(&progress) } else { self.hash::<true>(&progress) };
            self.conclude(&progress, self.row.fours - 1);
        }
    }
}

/// How far a row has got.
struct Progress<'a, P: Permutation, const R: usize, const CHUNKED: bool> {
    /// The powers of H that a message is multiplied by.
    powers: Falling<'a, P::Isa>,
    /// What messages hash to before their text.
    common: Products<V<P>>,
    /// What has gone through the cipher last.
    texts: Texts<V<P>, R, CHUNKED>,
    /// What four messages hash to, LANES of them in each of the first sums: when opening all of that, when sealing what is
    /// before it.
    sums: [Products<V<P>>; FOUR],
    /// Their encrypted pre-counter blocks.
    masks: [V<P>; FOUR],
    /// What their counters begin from, and what those of the next four do.
    bases: [V<P>; FOUR],
    next_bases: [V<P>; FOUR],
}

impl<
    'a,
    P: Permutation,
    D: Direction,
    const R: usize,
    const N: usize,
    const WHOLE: bool,
    const CHUNKED: bool,
    const KARATSUBA: bool,
> Rowed<'a, P, D, R, N, WHOLE, CHUNKED, KARATSUBA>
{
    /// Registers with a message a lane.
    const GROUPS: usize = FOUR / V::<P>::LANES;

    /// Before the row, with `first` as what has gone through the cipher: what is hashed of it is of no use.
    #[inline(always)]
    fn start(&self, first: Texts<V<P>, R, CHUNKED>) -> Progress<'a, P, R, CHUNKED> {
        // The block of lengths follows the text.
        let powers = self.spread.falling(first.bytes.div_ceil(BLOCK) + 1);
        let common = self.common(first.bytes);
        let masks = [self.cipher.isa().zero(); FOUR];
        let bases = self.bases(self.cipher, 0);
        let sums = [common; FOUR];
        Progress { powers, common, texts: first, sums, masks, bases, next_bases: bases }
    }

    /// Runs the first R registers of four messages, of which the last may not be whole in PART; when sealing, ends those
    /// before.
    #[inline(always)]
    fn begin<const PART: bool>(
        &self,
        progress: &mut Progress<'a, P, R, CHUNKED>,
        texts: Texts<V<P>, R, CHUNKED>,
        number: usize,
    ) {
        // Without this the compiler hoists round keys out of the loop, and spills.
        let cipher = std::hint::black_box(self.cipher);
        let bases = progress.next_bases;
        progress.bases = bases;
        // Ahead: they take as long as half of the rounds.
        progress.next_bases = self.bases(cipher, (number + 1).min(self.row.fours - 1));
        let mut pre_counters = self.pre_counters(cipher, bases);
        let beside = &mut pre_counters[..Self::GROUPS];
        if D::OPEN {
            progress.sums = [progress.common; FOUR];
            self.crypt_and_hash::<PART, PART>(cipher, progress, beside, texts, &bases);
        } else {
            if WHOLE {
                self.crypt_and_hash::<PART, false>(cipher, progress, beside, texts, &bases);
            } else {
                self.crypt_and_hash::<PART, true>(cipher, progress, beside, texts, &bases);
            }
            if number > 0 {
                self.conclude(progress, number - 1);
            }
            progress.sums = [progress.common; FOUR];
        }
        progress.masks = pre_counters;
    }

    /// Runs the next R registers of four messages, likewise.
    #[inline(always)]
    fn go_on<const PART: bool>(
        &self,
        progress: &mut Progress<'a, P, R, CHUNKED>,
        texts: Texts<V<P>, R, CHUNKED>,
    ) {
        let cipher = std::hint::black_box(self.cipher);
        let bases = progress.bases;
        if D::OPEN {
            self.crypt_and_hash::<PART, PART>(cipher, progress, &mut [], texts, &bases);
        } else {
            self.crypt_and_hash::<PART, false>(cipher, progress, &mut [], texts, &bases);
        }
    }

    /// Encrypts or decrypts `texts` by counters on `bases`, with the registers `beside`, and adds to the sums what is to be
    /// hashed. Of texts in PART, the last registers may not be whole, nor of what is to be hashed in HASHED_PART.
    #[inline(always)]
    fn crypt_and_hash<const PART: bool, const HASHED_PART: bool>(
        &self,
        cipher: &P,
        progress: &mut Progress<'a, P, R, CHUNKED>,
        beside: &mut [V<P>],
        texts: Texts<V<P>, R, CHUNKED>,
        bases: &[V<P>; FOUR],
    ) {
        let counters = self.counters(cipher, bases, texts.registers_before());
        if D::OPEN {
            progress.texts = texts;
        }
        let mut hash = progress.hash::<D, HASHED_PART, KARATSUBA>();
        let keystream = cipher.finish_in_step(counters, beside, &mut hash);
        progress.sums = hash.sums;
        // SAFETY: texts of the job.
        unsafe { texts.crypt::<N, PART>(&keystream) };
        progress.texts = texts;
    }

    /// The sums, with what is still to be hashed.
    #[inline(always)]
    fn hash<const PART: bool>(&self, progress: &Progress<'a, P, R, CHUNKED>) -> [Products<V<P>>; FOUR] {
        let mut hash = progress.hash::<D, PART, KARATSUBA>();
        for call in 0..CALLS {
            hash.step(call);
        }
        hash.sums
    }

    /// What all messages hash beside their text of `bytes` bytes, in every lane: the block of lengths (SP 800-38D section
    /// 7.1 step 5), and AAD that they share.
    #[inline(always)]
    fn common(&self, bytes: usize) -> Products<V<P>> {
        let isa = self.cipher.isa();
        let mut sum = Products::zero(isa);
        let aad = self.job.aad(self.row.first).len();
        let ends = isa.splat_word(lengths(aad, bytes).swap_bytes());
        sum.add::<KARATSUBA>(ends, self.powers.splat::<KARATSUBA>(1));
        let shared = self.job.shared_aad().unwrap_or_default();
        for (i, block) in shared.chunks(BLOCK).enumerate() {
            // SAFETY: the block is readable.
            let x = unsafe { isa.splat_partial(block.as_ptr(), block.len()) };
            let follow = bytes.div_ceil(BLOCK) + aad.div_ceil(BLOCK) - i;
            sum.add::<KARATSUBA>(x.reverse_bytes(), self.powers.splat::<KARATSUBA>(follow + 1));
        }
        sum
    }

    /// Blocks that begin with the nonces of four messages, a message a lane, and end in zeros; with their first round, if it
    /// is known what counters do there.
    #[inline(always)]
    fn bases(&self, cipher: &P, number: usize) -> [V<P>; FOUR] {
        let isa = cipher.isa();
        let nonces = self.job.nonces_from(self.row.first + FOUR * number);
        let mut bases = [isa.zero(); FOUR];
        for (group, base) in bases.iter_mut().enumerate().take(Self::GROUPS) {
            // SAFETY: nonces of 12 bytes follow one another.
            *base = unsafe { isa.rows_of_12(nonces.add(12 * group * V::<P>::LANES)) };
            if self.known_round().is_some() {
                [*base] = cipher.begin([*base]);
            }
            *base = base.pin();
        }
        bases
    }

    /// The pre-counter blocks on `bases`, as [`Permutation::begin`] makes them.
    #[inline(always)]
    fn pre_counters(&self, cipher: &P, mut bases: [V<P>; FOUR]) -> [V<P>; FOUR] {
        let isa = cipher.isa();
        for base in bases.iter_mut().take(Self::GROUPS) {
            *base = match self.known_round() {
                Some(first_round) => base.xor(first_round.effect(isa, 1)),
                None => cipher.begin([base.add32(isa.splat(&ONE_EACH[0]))])[0],
            };
        }
        bases
    }

    /// The counter blocks on `bases` behind `registers` registers of each message, likewise but message by message.
    #[inline(always)]
    fn counters(&self, cipher: &P, bases: &[V<P>; FOUR], registers: usize) -> [V<P>; N] {
        let (isa, lanes) = (cipher.isa(), V::<P>::LANES);
        let mut counters = [isa.zero(); N];
        for (counters, base) in counters.chunks_exact_mut(lanes * R).zip(bases) {
            let each = base.spread();
            for (i, counter) in counters.iter_mut().enumerate() {
                // The pre-counter block is the first (SP 800-38D section 7.1).
                let count = 2 + (registers + i % R) * lanes;
                *counter = if let Some(first_round) = self.known_round() {
                    each[i / R].xor(first_round.effects(isa, count))
                } else {
                    // SAFETY: steps enough for a register more than there are.
                    let step = unsafe { isa.load(BIG_STEPS[count..].as_ptr().cast()) };
                    cipher.begin([each[i / R].add32(step)])[0]
                };
            }
        }
        counters
    }

    #[inline(always)]
    fn known_round(&self) -> Option<&'a FirstRound> {
        if P::BEGINS { self.first_round } else { None }
    }

    /// Adds the products of the AAD of LANES messages from `first` on, which have as much as each other.
    #[inline(always)]
    fn add_aad(&self, sum: &mut Products<V<P>>, first: usize) {
        let (isa, bytes) = (self.cipher.isa(), self.job.aad(first).len());
        let text = self.job.bytes(first).div_ceil(BLOCK);
        for at in (0..bytes).step_by(BLOCK) {
            let mut blocks: [&[u8]; MAX_LANES] = [&[]; MAX_LANES];
            for (lane, block) in blocks.iter_mut().enumerate().take(V::<P>::LANES) {
                debug_assert!(self.job.aad(first + lane).len() == bytes);
                // SAFETY: AAD of so many bytes.
                *block = unsafe {
                    std::slice::from_raw_parts(
                        self.job.aad_from(first + lane).add(at),
                        (bytes - at).min(BLOCK),
                    )
                };
            }
            let x = isa.gather_partial(&blocks).reverse_bytes();
            sum.add::<KARATSUBA>(x, self.powers.splat::<KARATSUBA>(text + (bytes - at).div_ceil(BLOCK) + 1));
        }
    }

    /// Makes the tags of four messages of their sums, but for AAD of their own, and of the encrypted pre-counter blocks.
    #[inline(always)]
    fn conclude(&self, progress: &Progress<'a, P, R, CHUNKED>, number: usize) {
        let lanes = V::<P>::LANES;
        let sums = progress.sums.iter().zip(&progress.masks);
        for (group, (sum, &mask)) in sums.enumerate().take(Self::GROUPS) {
            let (mut sum, first) = (*sum, self.row.first + number * FOUR + group * lanes);
            if self.job.shared_aad().is_none() {
                self.add_aad(&mut sum, first);
            }
            let hash = sum.settle::<KARATSUBA>().reduce(self.cipher.isa());
            D::conclude_each(self.job, first, hash.reverse_bytes().xor(mask));
        }
    }
}

impl<'a, P: Permutation, const R: usize, const CHUNKED: bool> Progress<'a, P, R, CHUNKED> {
    /// The hash of what has gone through the cipher last, which may be in PART.
    #[inline(always)]
    fn hash<D: Direction, const PART: bool, const KARATSUBA: bool>(
        &self,
    ) -> Hash<'a, P::Isa, D, R, PART, CHUNKED, KARATSUBA> {
        // SAFETY: the message has a block behind those before.
        let powers = unsafe { self.powers.skip(self.texts.registers_before() * V::<P>::LANES) };
        Hash::new(powers, self.texts, self.sums)
    }
}
