//! Short messages with a key each, a message a lane: [`Equal`] ones that follow one another, or a [`List`] of any.
//!
//! No block is encrypted before its key is expanded, and nothing is hashed before a block of zeros has become the hash
//! key: each is a chain of instructions that wait for one another. So three sets of lanes are under way at once. While
//! one is encrypted or decrypted, the keys of the next are expanded and the one before is hashed, round by round.
//!
//! Messages go through the cipher in passes of R blocks. What is hashed during a pass is the pass before, in the first
//! pass of a set that of the set before; or, of messages of more than one pass, the last pass but one, and in the first pass
//! of a set the two that are left, if hashes are [late](hash::is_late).

mod equal;
mod hash;
mod lacking;
mod listed;
mod members;
mod passed;
mod whole;

use std::marker::PhantomData;
use std::mem::MaybeUninit;

pub(super) use self::equal::{Equal, InRow};
use self::hash::{Hash, State, is_late};
pub(super) use self::lacking::Lacking;
pub(super) use self::listed::List;
pub(super) use self::members::{Members, Texts};
use self::passed::Passed;
pub(super) use self::whole::Whole;
use super::schedules::Schedules;
use crate::cipher::{KeyPerLane, Source, V};
use crate::lanes::{Isa, Lanes, MAX_LANES, Work};
use crate::mode::counters::BIG_STEPS;
use crate::mode::gcm::Direction;

/// Most blocks of a message in a pass.
pub(super) const IN_PASS: usize = 8;
/// Up to how many passes it pays, on Zen 4: 256 bytes gained a sixth, 1 KiB nothing.
pub(super) const MAX_PASSES: usize = 4;

/// Members, as work, of ONE pass or of more. In the first pass N = R + 2 registers go through the cipher together.
pub(super) struct Pipeline<
    's,
    P: KeyPerLane,
    D,
    M,
    const R: usize,
    const N: usize,
    const ONE: bool,
    const KARATSUBA: bool,
> {
    pub(super) source: P::Source,
    pub(super) members: M,
    /// Where keys are expanded.
    pub(super) schedules: &'s mut Schedules<P>,
    pub(super) direction: PhantomData<D>,
}

impl<
    P: KeyPerLane,
    D: Direction,
    M: Members<V<P>>,
    const R: usize,
    const N: usize,
    const ONE: bool,
    const KARATSUBA: bool,
> Work for Pipeline<'_, P, D, M, R, N, ONE, KARATSUBA>
{
    type Output = ();

    #[inline(always)]
    fn run(self) {
        const { assert!(N == R + 2 && R.is_multiple_of(MAX_LANES) && R <= IN_PASS) };
        let Self { source, members, schedules, .. } = self;
        let (sets, passes) = (members.sets(), members.passes());
        debug_assert!((passes == 1) == ONE && sets > 1);
        schedules.begin(source, |lane| members.key(0, lane));
        let mut underway = Underway::<V<P>, D, M, R, ONE, KARATSUBA>::nobody(source.isa(), members);
        for set in 0..sets {
            // SAFETY: the schedule of the first set has begun, each next one is expanded below.
            let (cipher, next) = unsafe { schedules.turn(set) };
            // Without this the compiler keeps round keys for later, and spills.
            let cipher = std::hint::black_box(cipher);
            // Behind the last set its keys come once more.
            let before = underway.begin::<P, N>(cipher, (next, source, (set + 1).min(sets - 1)), set);
            if set > 0 {
                members.conclude::<D>(set - 1, before);
            }
            for pass in 1..if ONE { 1 } else { passes } {
                if pass == 1 {
                    underway.go_on::<P, true>(cipher, pass);
                } else {
                    underway.go_on::<P, false>(cipher, pass);
                }
            }
        }
        members.conclude::<D>(sets - 1, underway.end());
    }
}

/// The set that is under way.
struct Underway<T: Lanes, D, M: Members<T>, const R: usize, const ONE: bool, const KARATSUBA: bool> {
    members: M,
    set: usize,
    nonces: T,
    /// Those of the set behind it.
    next_nonces: T,
    /// The hash keys, as the cipher gives them.
    hash_keys: T,
    /// The encrypted pre-counter blocks.
    masks: T,
    /// Its last passes.
    passed: Passed<T, M::Texts, R>,
    /// The hash of those before.
    state: State<T>,
    direction: PhantomData<D>,
}

impl<T: Lanes, D: Direction, M: Members<T>, const R: usize, const ONE: bool, const KARATSUBA: bool>
    Underway<T, D, M, R, ONE, KARATSUBA>
{
    /// Before the first set: what is hashed then is of no use.
    #[inline(always)]
    fn nobody(isa: T::Isa, members: M) -> Self {
        Self {
            members,
            set: 0,
            nonces: isa.zero(),
            next_nonces: members.nonces(isa, 0),
            hash_keys: isa.zero(),
            masks: isa.zero(),
            passed: Passed::nothing(isa.zero(), members.texts(isa, 0), members.passes() - 1),
            state: State::nothing(isa),
            direction: PhantomData,
        }
    }

    /// The first pass of set `set`. Meanwhile the keys of set `after` are expanded, and what is left of the set before is
    /// hashed: returns the tags of that.
    #[inline(always)]
    fn begin<P: KeyPerLane<Isa = T::Isa>, const N: usize>(
        &mut self,
        cipher: &P,
        (next, source, after): (&mut MaybeUninit<P>, P::Source, usize),
        set: usize,
    ) -> T {
        let (isa, members) = (source.isa(), self.members);
        let (nonces, texts) = (self.next_nonces, members.texts(isa, set));
        // Ahead: who begins waits for them otherwise.
        self.next_nonces = members.nonces(isa, after).pin();
        let mut blocks = [cipher.whitened(isa.zero()); N];
        // The pre-counter block is the first (SP 800-38D section 7.1).
        blocks[1] = cipher.whitened(nonces.xor(isa.splat(&BIG_STEPS[1])));
        texts.count(cipher, nonces, 0, &mut blocks[2..]);
        let key = |lane: usize| members.key(after, lane);
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
        (self.set, self.nonces, self.hash_keys, self.masks) = (set, nonces, blocks[0], blocks[1]);
        // SAFETY: texts of the job.
        unsafe { self.passed.crypt::<D>(texts, 0, &blocks[2..]) };
        tags
    }

    /// Pass `pass` of the set, while the one before is hashed, or what comes before it if this is the SECOND and hashes are late.
    #[inline(always)]
    fn go_on<P: KeyPerLane<Isa = T::Isa>, const SECOND: bool>(&mut self, cipher: &P, pass: usize) {
        let texts = *self.passed.texts();
        let mut blocks = [self.nonces; R];
        texts.count(cipher, self.nonces, pass, &mut blocks);
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
    ) -> Hash<'_, T, D, M, R, PASSES, FIRST, LAST, KARATSUBA> {
        Hash::new(&self.members, &self.passed, self.set, self.hash_keys, self.state)
    }
}
