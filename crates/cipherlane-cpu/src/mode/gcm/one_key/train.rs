//! Trains of messages under one key: equal ones of some groups that follow one another, coupled so that the last group
//! of each is hashed while the next one begins, as [`super::long`] has it. What begins and ends them is done for
//! LANES messages at once, each in a lane, as in a [`super::row`]: beside so few groups it counts.

use std::marker::PhantomData;

use super::groups::crypt_and_hash;
use super::lacking::{AFTER, Lacking};
use crate::cipher::{Nothing, Permutation, V};
use crate::job::{Job, Message};
use crate::lanes::{Isa, Lanes, MAX_LANES, Work};
use crate::mode::counters::{Count, Known};
use crate::mode::first_round::FirstRound;
use crate::mode::gcm::equal::{FOUR, Row};
use crate::mode::gcm::ghash::{Ghash, Powers, Products, lengths};
use crate::mode::gcm::{Direction, text};

/// A train, as work.
pub(super) struct Train<'a, P: Permutation, D, const N: usize, const KARATSUBA: bool> {
    pub(super) job: &'a Job<'a>,
    pub(super) cipher: &'a P,
    pub(super) powers: &'a Powers<P::Isa>,
    pub(super) first_round: &'a FirstRound,
    pub(super) row: Row,
    pub(super) direction: PhantomData<D>,
}

impl<P: Permutation, D: Direction, const N: usize, const KARATSUBA: bool> Work
    for Train<'_, P, D, N, KARATSUBA>
{
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let (first, messages) = (self.row.first, self.row.fours * FOUR);
        let (isa, shared) = (self.cipher.isa(), self.job.shared_aad().map(|aad| Ghash::of(self.powers, aad)));
        let mut progress = self.start();
        let mut ends = Ends { lengths: self.lengths(), sums: [Products::zero(isa); MAX_LANES] };
        let mut bases = [isa.zero(); MAX_LANES];
        for index in first..first + messages {
            let lane = (index - first) % V::<P>::LANES;
            if lane == 0 {
                bases = self.bases(index).spread();
            }
            let mut counters = Known::behind_nonce(self.first_round, bases[lane]);
            let text = self.job.message(index);
            // SAFETY: a message of the job, of two groups and more.
            unsafe {
                let text = self.begin(&mut progress, &mut ends, &mut counters, (index, text));
                progress.hash = shared.unwrap_or_else(|| Ghash::of(self.powers, self.job.aad(index)));
                let rest = self.go_on(&mut progress, &mut counters, text);
                self.leave(&progress, &mut ends, &mut counters, (index, rest));
            }
        }
        if progress.is_coupled {
            let sum = progress.lacking().sum::<N>();
            self.end(&mut ends, first + messages - 1, sum);
        }
    }
}

/// The ends of LANES messages. Apart from [`Progress`], which would not stay in registers beside what is found by lanes.
struct Ends<V> {
    /// The product of the block of lengths, in every lane.
    lengths: Products<V>,
    /// What each message has added up to.
    sums: [Products<V>; MAX_LANES],
}

/// How far a train has got.
struct Progress<'a, I: Isa, const KARATSUBA: bool> {
    /// Whether the last group of a message is hashed while the next message begins: when whole groups are sealed.
    is_coupled: bool,
    /// The hash of a message; when sealing, but for its last group.
    hash: Ghash<'a, I, KARATSUBA>,
    /// That group's ciphertext.
    last: *const u8,
}

impl<'a, I: Isa, const KARATSUBA: bool> Progress<'a, I, KARATSUBA> {
    /// The hash, which lacks the last group when sealing.
    #[inline(always)]
    fn lacking(&self) -> Lacking<'a, I, KARATSUBA> {
        Lacking::group(self.hash, self.last)
    }
}

impl<'a, P: Permutation, D: Direction, const N: usize, const KARATSUBA: bool> Train<'a, P, D, N, KARATSUBA> {
    /// Bytes of a group.
    const GROUP: usize = N * V::<P>::BYTES;

    /// Before the first message: what is hashed of one before it is of no use.
    #[inline(always)]
    fn start(&self) -> Progress<'a, P::Isa, KARATSUBA> {
        let first = self.job.message(self.row.first);
        let is_coupled = !D::OPEN && first.bytes.is_multiple_of(Self::GROUP);
        Progress { is_coupled, hash: Ghash::new(self.powers), last: first.output }
    }

    /// Encrypts the first group of message `index`, and ends the one before; returns what is left. What is opened is hashed
    /// group by group.
    ///
    /// # Safety
    /// `text` is that of the message, and has a group.
    #[inline(always)]
    unsafe fn begin(
        &self,
        progress: &mut Progress<'a, P::Isa, KARATSUBA>,
        ends: &mut Ends<V<P>>,
        counters: &mut Known<'_, V<P>>,
        (index, text): (usize, Message),
    ) -> Message {
        if D::OPEN {
            return text;
        }
        let group = text.take(Self::GROUP);
        // SAFETY: the caller's; the last group of the one before is written.
        unsafe {
            if progress.is_coupled {
                let Progress { hash, last, .. } = progress;
                crypt_and_hash::<P, N, KARATSUBA>(self.cipher, counters, group, hash, *last);
                if index > self.row.first {
                    let sum = progress.hash.product(AFTER);
                    self.end(ends, index - 1, sum);
                }
            } else {
                let begun = Count::<P>::take(counters);
                text::crypt::<P, N>(self.cipher, begun, group, &mut Nothing);
            }
            progress.last = text.output;
            text.skip(Self::GROUP)
        }
    }

    /// Encrypts or decrypts the groups of `text` and hashes as many: the same, or when sealing those one before. Returns what
    /// is left.
    ///
    /// # Safety
    /// `text` is that of a message.
    #[inline(always)]
    unsafe fn go_on(
        &self,
        progress: &mut Progress<'a, P::Isa, KARATSUBA>,
        counters: &mut Known<'_, V<P>>,
        mut text: Message,
    ) -> Message {
        let Progress { hash, last, .. } = progress;
        while text.bytes >= Self::GROUP {
            let hashed = if D::OPEN { text.input } else { *last };
            // SAFETY: the caller's; what is hashed was there, or is written.
            unsafe {
                let done = crypt_and_hash::<P, N, KARATSUBA>(self.cipher, counters, text, hash, hashed);
                text = text.skip(done);
                *last = last.wrapping_add(done);
            }
        }
        text
    }

    /// Encrypts or decrypts the rest of message `index`, less than a group, and ends it, unless the next one does.
    ///
    /// # Safety
    /// As for [`Train::go_on`].
    #[inline(always)]
    unsafe fn leave(
        &self,
        progress: &Progress<'a, P::Isa, KARATSUBA>,
        ends: &mut Ends<V<P>>,
        counters: &mut Known<'_, V<P>>,
        (index, rest): (usize, Message),
    ) {
        if progress.is_coupled {
            return;
        }
        let sum = if rest.bytes == 0 {
            progress.hash.product(AFTER)
        } else {
            let lacking = if D::OPEN { Lacking::nothing(progress.hash) } else { progress.lacking() };
            // SAFETY: the caller's.
            unsafe { lacking.end::<P, N, D>(self.cipher, rest, counters) }
        };
        self.end(ends, index, sum);
    }

    /// The first rounds, but for their last byte, of counter blocks of LANES messages from `index` on, each in its lane.
    #[inline(always)]
    fn bases(&self, index: usize) -> V<P> {
        // SAFETY: nonces of 12 bytes follow one another.
        let nonces = unsafe { self.cipher.isa().rows_of_12(self.job.nonces_from(index)) };
        self.cipher.begin([nonces])[0]
    }

    /// What the block of lengths (SP 800-38D section 7.1 step 5) adds to each.
    #[inline(always)]
    fn lengths(&self) -> Products<V<P>> {
        let (aad, text) = (self.job.aad(self.row.first).len(), self.job.message(self.row.first).bytes);
        let isa = self.cipher.isa();
        let mut product = Products::zero(isa);
        let ends = isa.splat_word(lengths(aad, text).swap_bytes());
        product.add::<KARATSUBA>(ends, self.powers.splat::<KARATSUBA>(1));
        product
    }

    /// Ends message `index`, which has added up to `sum`, with the others of its LANES.
    #[inline(always)]
    fn end(&self, ends: &mut Ends<V<P>>, index: usize, sum: Products<V<P>>) {
        let lanes = V::<P>::LANES;
        let lane = (index - self.row.first) % lanes;
        ends.sums[lane] = sum;
        if lane + 1 < lanes {
            return;
        }
        let (isa, first) = (self.cipher.isa(), index - lane);
        let pre_counters = self.bases(first).xor(self.first_round.effect(isa, 1));
        let [masks] = self.cipher.finish_while([pre_counters], &mut Nothing);
        let sum = Products::fold_each(&ends.sums).plus(ends.lengths);
        let hash = sum.settle::<KARATSUBA>().reduce(isa);
        D::conclude_each(self.job, first, hash.reverse_bytes().xor(masks));
    }
}
