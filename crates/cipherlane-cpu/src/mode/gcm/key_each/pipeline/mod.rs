//! Rows of short messages with a key each: equal ones that follow one another, a message a lane.
//!
//! No block is encrypted before its key is expanded, and nothing is hashed before a block of zeros has become the hash
//! key: each is a chain of instructions that wait for one another. So three sets of lanes are under way at once. While
//! one is encrypted or decrypted, the keys of the next are expanded and the one before is hashed, round by round.
//!
//! Messages go through the cipher in passes of R blocks. What is hashed during a pass is the pass before, in the first
//! pass of a set that of the set before; or, of messages of more than one pass, the last pass but one, and in the first pass
//! of a set the two that are left, if hashes are [late](hash::is_late). Blocks that a message of one pass lacks are zeros
//! before its first one: those change no hash.

mod columns;
mod hash;
mod texts;

use std::marker::PhantomData;
use std::mem::MaybeUninit;

use self::columns::Columns;
use self::hash::{Hash, State, is_late};
use self::texts::{Passed, Texts};
use super::schedules::Schedules;
use crate::cipher::{KeyPerLane, Source, V};
use crate::job::Job;
use crate::lanes::{Isa, Lanes, MAX_LANES, Work};
use crate::mode::counters::BIG_STEPS;
use crate::mode::gcm::Direction;
use crate::mode::gcm::equal::Row;

/// Most blocks of a message in a pass.
pub(super) const IN_PASS: usize = 8;
/// Up to how many passes it pays, on Zen 4, if they are whole: 256 bytes gained a sixth, 1 KiB nothing.
pub(super) const MAX_PASSES: usize = 4;

/// A row, as work. Its messages are of ONE pass, or of more; of one that is not WHOLE, or of such as are. In the first pass
/// N = R + 2 registers go through the cipher together.
pub(super) struct Pipeline<
    'a,
    P: KeyPerLane,
    D,
    const R: usize,
    const N: usize,
    const WHOLE: bool,
    const ONE: bool,
    const KARATSUBA: bool,
> {
    pub(super) source: P::Source,
    pub(super) job: &'a Job<'a>,
    pub(super) row: Row,
    /// Where keys are expanded.
    pub(super) schedules: &'a mut Schedules<P>,
    pub(super) direction: PhantomData<D>,
}

impl<
    P: KeyPerLane,
    D: Direction,
    const R: usize,
    const N: usize,
    const WHOLE: bool,
    const ONE: bool,
    const KARATSUBA: bool,
> Work for Pipeline<'_, P, D, R, N, WHOLE, ONE, KARATSUBA>
{
    type Output = ();

    #[inline(always)]
    fn run(self) {
        const { assert!(N == R + 2 && R.is_multiple_of(MAX_LANES) && R <= IN_PASS) };
        let Self { source, job, row, schedules, .. } = self;
        // A row goes by four, which is as many sets as it takes.
        let sets = row.fours * (MAX_LANES / V::<P>::LANES);
        let texts = Texts::<R, WHOLE>::of::<V<P>>(job.message(row.first));
        debug_assert!((texts.passes == 1) == ONE && row.fours > 1);
        let columns = Columns::of(job, row.first);
        schedules.begin(source, |lane| columns.key(lane));
        let mut underway =
            Underway::<V<P>, D, R, WHOLE, ONE, KARATSUBA>::nobody(source.isa(), columns, texts);
        for set in 0..sets {
            let (first, after) = (set * V::<P>::LANES, (set + 1).min(sets - 1) * V::<P>::LANES);
            // SAFETY: the schedule of the first set has begun, each next one is expanded below.
            let (cipher, next) = unsafe { schedules.turn(set) };
            // Without this the compiler keeps round keys for later, and spills.
            let cipher = std::hint::black_box(cipher);
            // SAFETY: there are so many messages.
            let texts = unsafe { texts.skip(first) };
            // Behind the last set its keys come once more.
            let before = underway.begin::<P, N>(cipher, (next, source, after), (texts, first));
            if set > 0 {
                D::conclude_each(job, row.first + first - V::<P>::LANES, before);
            }
            for pass in 1..if ONE { 1 } else { texts.passes } {
                if pass == 1 {
                    underway.go_on::<P, true>(cipher, pass);
                } else {
                    underway.go_on::<P, false>(cipher, pass);
                }
            }
        }
        D::conclude_each(job, row.first + (sets - 1) * V::<P>::LANES, underway.end());
    }
}

/// The set that is under way.
struct Underway<'a, T, D, const R: usize, const WHOLE: bool, const ONE: bool, const KARATSUBA: bool> {
    columns: Columns<'a>,
    /// Its first message, counted in the row.
    first: usize,
    /// The nonces, whitened.
    nonces: T,
    /// The hash keys, as the cipher gives them.
    hash_keys: T,
    /// The encrypted pre-counter blocks.
    masks: T,
    /// Its last passes.
    passed: Passed<T, R, WHOLE>,
    /// The hash of those before.
    state: State<T>,
    direction: PhantomData<D>,
}

impl<'a, T: Lanes, D: Direction, const R: usize, const WHOLE: bool, const ONE: bool, const KARATSUBA: bool>
    Underway<'a, T, D, R, WHOLE, ONE, KARATSUBA>
{
    /// Before the first set: what is hashed then is of no use.
    #[inline(always)]
    fn nobody(isa: T::Isa, columns: Columns<'a>, texts: Texts<R, WHOLE>) -> Self {
        Self {
            columns,
            first: 0,
            nonces: isa.zero(),
            hash_keys: isa.zero(),
            masks: isa.zero(),
            passed: Passed::nothing(isa, texts),
            state: State::nothing(isa),
            direction: PhantomData,
        }
    }

    /// The first pass of the next set, `texts` from message `first` of the row on. Meanwhile the keys from message `after` on
    /// are expanded, and what is left of the set before is hashed: returns the tags of that.
    #[inline(always)]
    fn begin<P: KeyPerLane<Isa = T::Isa>, const N: usize>(
        &mut self,
        cipher: &P,
        (next, source, after): (&mut MaybeUninit<P>, P::Source, usize),
        (texts, first): (Texts<R, WHOLE>, usize),
    ) -> T {
        let isa = source.isa();
        let nonces = cipher.whitened(self.columns.nonces(isa, first));
        let mut blocks = [cipher.whitened(isa.zero()); N];
        // The pre-counter block is the first (SP 800-38D section 7.1).
        blocks[1] = nonces.xor(isa.splat(&BIG_STEPS[1]));
        count(nonces, &texts, 0, &mut blocks[2..]);
        let columns = &self.columns;
        let key = |lane: usize| columns.key(after + lane);
        let (blocks, state) = if ONE {
            let mut hash = self.hash::<1, true, true>();
            (cipher.apply_while_expanding(blocks, (next, source), key, &mut hash), hash.state())
        } else if is_late::<T>() {
            let mut hash = self.hash::<2, false, true>();
            (cipher.apply_while_expanding(blocks, (next, source), key, &mut hash), hash.state())
        } else {
            let mut hash = self.hash::<1, false, true>();
            (cipher.apply_while_expanding(blocks, (next, source), key, &mut hash), hash.state())
        };
        let tags = state.tags(self.masks);
        (self.first, self.nonces, self.hash_keys, self.masks) = (first, nonces, blocks[0], blocks[1]);
        // SAFETY: texts of the job.
        unsafe { self.passed.crypt::<D>(texts, 0, &blocks[2..]) };
        tags
    }

    /// Pass `pass` of the set, while the one before is hashed, or what comes before it if this is the SECOND and hashes are late.
    #[inline(always)]
    fn go_on<P: KeyPerLane<Isa = T::Isa>, const SECOND: bool>(&mut self, cipher: &P, pass: usize) {
        let texts = *self.passed.texts();
        let mut blocks = [self.nonces; R];
        count(self.nonces, &texts, pass, &mut blocks);
        let (keystream, state) = if SECOND && is_late::<T>() {
            let mut hash = self.hash::<0, true, false>();
            (cipher.apply_whitened(blocks, &mut hash), hash.state())
        } else if SECOND {
            let mut hash = self.hash::<1, true, false>();
            (cipher.apply_whitened(blocks, &mut hash), hash.state())
        } else {
            let mut hash = self.hash::<1, false, false>();
            (cipher.apply_whitened(blocks, &mut hash), hash.state())
        };
        self.state = state;
        // SAFETY: texts of the job.
        unsafe { self.passed.crypt::<D>(texts, pass, &keystream) };
    }

    /// The tags of the set, all of whose passes have gone through the cipher.
    #[inline(always)]
    fn end(&self) -> T {
        let state = if ONE {
            self.hash::<1, true, true>().all()
        } else if is_late::<T>() {
            self.hash::<2, false, true>().all()
        } else {
            self.hash::<1, false, true>().all()
        };
        state.tags(self.masks)
    }

    /// The hash of some passes, the last ones if it is the LAST.
    #[inline(always)]
    fn hash<const PASSES: usize, const FIRST: bool, const LAST: bool>(
        &self,
    ) -> Hash<'_, T, D, R, WHOLE, PASSES, FIRST, LAST, KARATSUBA> {
        Hash::new(&self.columns, &self.passed, self.first, self.hash_keys, self.state)
    }
}

/// The counter blocks of pass `pass` on `nonces`, whose last byte counts. Of blocks that are not there: anything.
#[inline(always)]
fn count<T: Lanes, const R: usize, const WHOLE: bool>(
    nonces: T,
    texts: &Texts<R, WHOLE>,
    pass: usize,
    blocks: &mut [T],
) {
    for (i, block) in blocks.iter_mut().enumerate() {
        let count = (2 + pass * R + i).saturating_sub(texts.lacking);
        *block = nonces.xor(nonces.isa().splat(&BIG_STEPS[count]));
    }
}
