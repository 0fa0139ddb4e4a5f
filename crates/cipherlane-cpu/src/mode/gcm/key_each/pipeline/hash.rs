//! GHASH of a set of messages with a key each, step by step while a cipher works.

use std::marker::PhantomData;

use cipherlane_core::BLOCK;

use super::members::{Members, Texts};
use super::passed::Passed;
use crate::cipher::{CALLS, Meanwhile};
use crate::lanes::{Isa, Lanes, MAX_LANES};
use crate::mode::gcm::Direction;
use crate::mode::gcm::ghash::{Power, Products};

/// Powers of the hash keys that are kept: the third, the second and the first. More of them take more multiplications
/// than they save, of messages of few blocks.
const KEPT_POWERS: usize = 3;
/// Whether messages of several passes are hashed a pass later than they could be, so that the pass behind the first has
/// powers and AAD alone to do, and the first of the next set, which waits for keys, two passes. With registers of two lanes a
/// twentieth faster on Zen 3, with four up to a twelfth slower on Emerald Rapids.
pub(super) const fn is_late<T: Lanes>() -> bool {
    T::LANES < MAX_LANES
}

/// Calls that make them; the one behind hashes AAD.
const MULTIPLYING: usize = KEPT_POWERS + 1;

/// A hash under way, a message a lane.
#[derive(Clone, Copy)]
pub(super) struct State<T> {
    powers: [Power<T>; KEPT_POWERS],
    /// What the blocks so far hash to.
    hash: T,
}

impl<T: Lanes> State<T> {
    /// Of nobody.
    #[inline(always)]
    pub(super) fn nothing(isa: T::Isa) -> Self {
        Self { powers: [Power::new(isa.zero()); KEPT_POWERS], hash: isa.zero() }
    }

    /// The tags, once lengths are hashed (SP 800-38D section 7.1 step 6).
    #[inline(always)]
    pub(super) fn tags(&self, masks: T) -> T {
        self.hash.reverse_bytes().xor(masks)
    }

    /// H, H^2 or H^3 of the hash keys, as the cipher gives them, each after the ones before.
    #[inline(always)]
    fn make_power<const KARATSUBA: bool>(&mut self, exponent: usize, hash_keys: T) {
        let power = match exponent {
            1 => hash_keys.reverse_bytes().times_x_reflected(),
            2 => Products::square(self.powers[2].value()).reduce(self.hash.isa()),
            _ => self.product_of::<1, KARATSUBA>([self.powers[1].value()]),
        };
        self.powers[KEPT_POWERS - exponent] = Power::new(power.pin());
    }

    /// The sum of `blocks`, three at most, times falling powers, the last one times H.
    #[inline(always)]
    fn product_of<const N: usize, const KARATSUBA: bool>(&self, blocks: [T; N]) -> T {
        let powers = &self.powers[KEPT_POWERS - N..];
        let mut sum = Products::zero(self.hash.isa());
        if N == KEPT_POWERS {
            sum.add_two::<KARATSUBA>([blocks[0], blocks[1]], [powers[0], powers[1]]);
        } else {
            for i in 0..N - 1 {
                sum.add::<KARATSUBA>(blocks[i], powers[i]);
            }
        }
        sum.add::<KARATSUBA>(blocks[N - 1], powers[N - 1]);
        sum.settle::<KARATSUBA>().reduce(self.hash.isa())
    }
}

/// The hash of some PASSES: behind powers and AAD if it is the FIRST of a message, which may be all that it is, and with the
/// block of lengths if it is the LAST.
pub(super) struct Hash<
    's,
    T: Lanes,
    D,
    M: Members<T>,
    const R: usize,
    const PASSES: usize,
    const FIRST: bool,
    const LAST: bool,
    const KARATSUBA: bool,
> {
    members: &'s M,
    passed: &'s Passed<T, M::Texts, R>,
    set: usize,
    hash_keys: T,
    state: State<T>,
    /// The hash of AAD, until the first block has it.
    aad: T,
    /// The blocks of the register that was loaded last.
    blocks: [T; MAX_LANES],
    direction: PhantomData<D>,
}

impl<
    's,
    T: Lanes,
    D: Direction,
    M: Members<T>,
    const R: usize,
    const PASSES: usize,
    const FIRST: bool,
    const LAST: bool,
    const KARATSUBA: bool,
> Hash<'s, T, D, M, R, PASSES, FIRST, LAST, KARATSUBA>
{
    /// Blocks of the text, and that of lengths.
    const BLOCKS: usize = PASSES * R + LAST as usize;
    /// Calls that multiply them: the first one, how many, and from one to the next.
    const START: usize = if FIRST || PASSES == 1 && !is_late::<T>() { MULTIPLYING } else { 0 };
    const TIMES: usize = Self::BLOCKS.div_ceil(KEPT_POWERS);
    const STRIDE: usize = if Self::START > 0 { 1 } else { CALLS / Self::TIMES };
    /// Passes between the first of these and the last that there is.
    const BEHIND: usize = (!FIRST && is_late::<T>()) as usize;

    /// The hash that goes on from `state`, which a FIRST pass does not look at.
    #[inline(always)]
    pub(super) fn new(
        members: &'s M,
        passed: &'s Passed<T, M::Texts, R>,
        set: usize,
        hash_keys: T,
        state: State<T>,
    ) -> Self {
        const { assert!(Self::START + Self::TIMES * Self::STRIDE <= CALLS) };
        let zero = hash_keys.isa().zero();
        let (state, blocks) = (if FIRST { State::nothing(zero.isa()) } else { state }, [zero; MAX_LANES]);
        Self { members, passed, set, hash_keys, state, aad: zero, blocks, direction: PhantomData }
    }

    /// The hash so far.
    #[inline(always)]
    pub(super) fn state(&self) -> State<T> {
        self.state
    }

    /// All of it, one after the other.
    #[inline(always)]
    pub(super) fn all(mut self) -> State<T> {
        for call in 0..CALLS {
            self.step(call);
        }
        self.state
    }

    #[inline(always)]
    fn isa(&self) -> T::Isa {
        self.hash_keys.isa()
    }

    #[inline(always)]
    fn aad_block(&self, block: usize) -> T {
        self.members.aad(self.isa(), self.set, block)
    }

    #[inline(always)]
    fn hash_aad(&mut self) {
        let count = self.members.aad_bytes().div_ceil(BLOCK);
        let mut hash = self.isa().zero();
        let mut done = count % 2;
        if done == 1 {
            hash = self.state.product_of::<1, KARATSUBA>([self.aad_block(0)]);
        }
        while done < count {
            hash = self
                .state
                .product_of::<2, KARATSUBA>([hash.xor(self.aad_block(done)), self.aad_block(done + 1)]);
            done += 2;
        }
        if PASSES == 0 {
            self.state.hash = hash;
        } else {
            self.aad = hash;
        }
    }

    /// Block `index`: of the text, with the hash of AAD if it is the first that is there, or that of the lengths in bits
    /// (SP 800-38D section 7.1 step 5).
    #[inline(always)]
    fn block(&mut self, index: usize) -> T {
        if index == PASSES * R {
            return self.passed.texts().lengths(self.isa(), self.members.aad_bytes());
        }
        let column = index % T::LANES;
        if column == 0 {
            let pass = self.passed.last() - Self::BEHIND + index / R;
            self.blocks = self.passed.blocks::<D>(self.isa(), pass, index % R / T::LANES);
        }
        let block = self.blocks[column];
        if FIRST && index < R { self.passed.texts().with_aad(block, index, self.aad) } else { block }
    }

    /// Hashes some blocks, for the `time`-th time: as many as there are powers, the first time what is left.
    #[inline(always)]
    fn multiply(&mut self, time: usize) {
        let end = Self::BLOCKS - (Self::TIMES - 1 - time) * KEPT_POWERS;
        let hash = match end.min(KEPT_POWERS) {
            1 => {
                let x = self.block(end - 1).xor(self.state.hash);
                self.state.product_of::<1, KARATSUBA>([x])
            }
            2 => {
                let x = self.block(end - 2).xor(self.state.hash);
                let y = self.block(end - 1);
                self.state.product_of::<2, KARATSUBA>([x, y])
            }
            _ => {
                let x = self.block(end - 3).xor(self.state.hash);
                let y = self.block(end - 2);
                let z = self.block(end - 1);
                self.state.product_of::<3, KARATSUBA>([x, y, z])
            }
        };
        self.state.hash = hash.pin();
    }
}

impl<
    T: Lanes,
    D: Direction,
    M: Members<T>,
    const R: usize,
    const PASSES: usize,
    const FIRST: bool,
    const LAST: bool,
    const KARATSUBA: bool,
> Meanwhile for Hash<'_, T, D, M, R, PASSES, FIRST, LAST, KARATSUBA>
{
    #[inline(always)]
    fn step(&mut self, call: usize) {
        match call {
            0..KEPT_POWERS if FIRST => self.state.make_power::<KARATSUBA>(call + 1, self.hash_keys),
            KEPT_POWERS if FIRST => self.hash_aad(),
            _ if call < Self::START || !(call - Self::START).is_multiple_of(Self::STRIDE) => {}
            _ if call < Self::START + Self::TIMES * Self::STRIDE => {
                self.multiply((call - Self::START) / Self::STRIDE);
            }
            _ => {}
        }
    }
}
