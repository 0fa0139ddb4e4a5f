//! AES with one instruction per round (FIPS 197), on registers of any width.

mod expanding;
mod keys;

use std::mem::MaybeUninit;

use cipherlane_core::BLOCK;

use self::expanding::Expanding;
use self::keys::{Expand, MAX_KEYS, RoundKeys, load_keys};
use super::{KeyEach, KeyPerLane, Meanwhile, Permutation, SMALL, V};
use crate::lanes::{ABREAST, Abreast, AesLanes, Isa, Lanes, Work, Woven, wipe};

/// AES in ROUNDS = 10, 12 or 14 rounds under one key, or a key a lane; INVERSE decrypts.
///
/// The number of rounds is part of the type: as a value it took an eighth of the speed of GCM, because rounds behind
/// a branch are not scheduled together with what surrounds them.
pub(crate) struct Aes<I: Isa, const ROUNDS: usize, const INVERSE: bool> {
    isa: I,
    keys: RoundKeys<I::V>,
}

/// AES encryption.
pub(crate) type AesEncrypt<I, const ROUNDS: usize> = Aes<I, ROUNDS, false>;

/// AES decryption: the equivalent inverse cipher (FIPS 197 section 5.3.5).
pub(crate) type AesDecrypt<I, const ROUNDS: usize> = Aes<I, ROUNDS, true>;

impl<I: Isa<V: AesLanes>, const ROUNDS: usize, const INVERSE: bool> Aes<I, ROUNDS, INVERSE> {
    #[inline(always)]
    fn set<'k>(&mut self, key: impl Fn(usize) -> &'k [u8]) {
        let key = load_keys::<I, ROUNDS>(self.isa, key);
        let keys = [&mut self.keys];
        self.isa.vectorize(Expand::<I, 1, ROUNDS, INVERSE> { isa: self.isa, key: [key], keys });
    }

    /// No round keys yet.
    const fn empty(isa: I) -> Self {
        Self { isa, keys: [const { MaybeUninit::uninit() }; MAX_KEYS] }
    }

    /// Round key INDEX, 0 to ROUNDS.
    #[inline(always)]
    fn key(&self, index: usize) -> I::V {
        debug_assert!(index <= ROUNDS);
        // SAFETY: every value is given its keys when it is made: ROUNDS + 1 of them are written.
        unsafe { self.keys[index].assume_init() }
    }

    /// Round 1, and what comes before it.
    #[inline(always)]
    fn first_round<const N: usize>(&self, mut blocks: [I::V; N]) -> [I::V; N] {
        for block in &mut blocks {
            *block = Self::round(block.xor(self.key(0)), self.key(1));
        }
        blocks
    }

    #[inline(always)]
    fn round(block: I::V, key: I::V) -> I::V {
        if INVERSE { block.aes_decrypt_round(key) } else { block.aes_encrypt_round(key) }
    }

    /// A round which the compiler leaves in its place, if PINNED.
    #[inline(always)]
    fn round_pinned<const PINNED: bool>(block: I::V, key: I::V) -> I::V {
        let next = Self::round(block, key);
        if PINNED { next.pin() } else { next }
    }

    /// The rounds from the second on, `beside` with `blocks`; PINNED, in this order.
    ///
    /// One by one: the compiler unrolls no loop of so much, and rounds in a loop keep GHASH's sums in memory.
    #[inline(always)]
    fn rounds<const N: usize, const PINNED: bool>(
        &self,
        mut blocks: [I::V; N],
        beside: &mut [I::V],
        meanwhile: &mut impl Meanwhile,
    ) -> [I::V; N] {
        self.in_step::<N, 2, PINNED>(&mut blocks, beside, meanwhile);
        self.in_step::<N, 3, PINNED>(&mut blocks, beside, meanwhile);
        self.in_step::<N, 4, PINNED>(&mut blocks, beside, meanwhile);
        self.in_step::<N, 5, PINNED>(&mut blocks, beside, meanwhile);
        self.in_step::<N, 6, PINNED>(&mut blocks, beside, meanwhile);
        self.in_step::<N, 7, PINNED>(&mut blocks, beside, meanwhile);
        self.in_step::<N, 8, PINNED>(&mut blocks, beside, meanwhile);
        self.in_step::<N, 9, PINNED>(&mut blocks, beside, meanwhile);
        if ROUNDS > 10 {
            self.in_step::<N, 10, PINNED>(&mut blocks, beside, meanwhile);
            self.in_step::<N, 11, PINNED>(&mut blocks, beside, meanwhile);
        }
        if ROUNDS > 12 {
            self.in_step::<N, 12, PINNED>(&mut blocks, beside, meanwhile);
            self.in_step::<N, 13, PINNED>(&mut blocks, beside, meanwhile);
        }
        for block in &mut blocks {
            *block = Self::last(*block, self.key(ROUNDS));
        }
        for block in beside {
            *block = Self::last(*block, self.key(ROUNDS));
        }
        blocks
    }

    /// Round ROUND of all registers.
    #[inline(always)]
    fn in_step<const N: usize, const ROUND: usize, const PINNED: bool>(
        &self,
        blocks: &mut [I::V; N],
        beside: &mut [I::V],
        meanwhile: &mut impl Meanwhile,
    ) {
        let key = self.key(ROUND);
        for block in blocks {
            *block = Self::round_pinned::<PINNED>(*block, key);
        }
        for block in beside {
            *block = Self::round_pinned::<PINNED>(*block, key);
        }
        meanwhile.step(ROUND - 1);
    }

    /// Round ROUND of R registers under each of G ciphers.
    #[inline(always)]
    fn sets_in_step<const G: usize, const R: usize, const ROUND: usize>(
        each: &[Self; G],
        blocks: &mut [[I::V; R]; G],
        meanwhile: &mut impl Meanwhile,
    ) {
        for (blocks, cipher) in blocks.iter_mut().zip(each) {
            let key = cipher.key(ROUND);
            for block in blocks {
                *block = Self::round(*block, key).pin();
            }
        }
        meanwhile.step(ROUND - 1);
    }

    #[inline(always)]
    fn last(block: I::V, key: I::V) -> I::V {
        if INVERSE { block.aes_decrypt_last(key) } else { block.aes_encrypt_last(key) }
    }
}

impl<I: Isa<V: AesLanes>, const ROUNDS: usize, const INVERSE: bool> Permutation for Aes<I, ROUNDS, INVERSE> {
    type Isa = I;
    type Source = I;
    /// Blocks that have begun are blocks that are there: with few registers, that costs more than the round.
    const BEGINS: bool = I::REGISTERS >= 32;
    const WEAVES: bool = I::V::WEAVES && Self::BEGINS && !INVERSE;
    const RUNS_ABREAST: bool = I::V::RUNS_ABREAST && !INVERSE;

    #[inline(always)]
    fn new(isa: I, key: &[u8]) -> Self {
        let mut cipher = Self::empty(isa);
        cipher.rekey(key);
        cipher
    }

    #[inline(always)]
    fn rekey(&mut self, key: &[u8]) {
        self.set(|_| key);
    }

    #[inline(always)]
    fn isa(&self) -> I {
        self.isa
    }

    #[inline(always)]
    fn apply_while<const N: usize>(
        &self,
        mut blocks: [V<Self>; N],
        meanwhile: &mut impl Meanwhile,
    ) -> [V<Self>; N] {
        for block in &mut blocks {
            *block = block.xor(self.key(0));
        }
        self.in_step::<N, 1, false>(&mut blocks, &mut [], meanwhile);
        self.rounds::<N, false>(blocks, &mut [], meanwhile)
    }

    #[inline(always)]
    fn begin<const N: usize>(&self, mut blocks: [V<Self>; N]) -> [V<Self>; N] {
        if Self::BEGINS {
            blocks = self.first_round(blocks);
        }
        blocks
    }

    #[inline(always)]
    fn finish_while<const N: usize>(
        &self,
        begun: [V<Self>; N],
        meanwhile: &mut impl Meanwhile,
    ) -> [V<Self>; N] {
        if !Self::BEGINS {
            return self.apply_while(begun, meanwhile);
        }
        meanwhile.step(0);
        self.rounds::<N, false>(begun, &mut [], meanwhile)
    }

    #[inline(always)]
    unsafe fn weave(&self, groups: Woven<V<Self>>) -> V<Self> {
        // SAFETY: every value has been given ROUNDS + 1 keys; the rest is the caller's.
        unsafe { I::V::aes_gcm::<ROUNDS>(self.keys.as_ptr().cast(), groups) }
    }

    #[inline(always)]
    unsafe fn run_abreast(&self, streams: Abreast<'_, V<Self>>) -> [V<Self>; ABREAST] {
        // SAFETY: as above.
        unsafe { I::V::aes_cbc::<ROUNDS>(self.keys.as_ptr().cast(), streams) }
    }

    #[inline(always)]
    fn whitened(&self, block: V<Self>) -> V<Self> {
        block.xor(self.key(0))
    }

    #[inline(always)]
    fn apply_whitened<const N: usize>(
        &self,
        mut whitened: [V<Self>; N],
        meanwhile: &mut impl Meanwhile,
    ) -> [V<Self>; N] {
        self.in_step::<N, 1, true>(&mut whitened, &mut [], meanwhile);
        self.rounds::<N, true>(whitened, &mut [], meanwhile)
    }

    /// The other operand comes in with the last key, which is not waited for.
    #[inline(always)]
    fn link(&self, mut whitened: V<Self>, other: V<Self>) -> V<Self> {
        for round in 1..ROUNDS {
            whitened = Self::round(whitened, self.key(round));
        }
        Self::last(whitened, self.key(ROUNDS).xor(other))
    }

    #[inline(always)]
    fn finish_in_step<const N: usize>(
        &self,
        mut blocks: [V<Self>; N],
        beside: &mut [V<Self>],
        meanwhile: &mut impl Meanwhile,
    ) -> [V<Self>; N] {
        if !Self::BEGINS {
            blocks = self.first_round(blocks);
            for block in &mut *beside {
                [*block] = self.first_round([*block]);
            }
        }
        meanwhile.step(0);
        self.rounds::<N, true>(blocks, beside, meanwhile)
    }
}

impl<I: Isa<V: AesLanes>, const ROUNDS: usize, const INVERSE: bool> KeyPerLane for Aes<I, ROUNDS, INVERSE> {
    #[inline(always)]
    fn per_lane<'k>(isa: I, key: impl Fn(usize) -> &'k [u8]) -> Self {
        let mut cipher = Self::empty(isa);
        cipher.set(key);
        cipher
    }

    #[inline(always)]
    fn sets_per_lane<'k, const G: usize>(
        places: &mut [MaybeUninit<Self>; G],
        isa: I,
        key: impl Fn(usize, usize) -> &'k [u8],
    ) {
        let mut user = [[isa.zero(); 2]; G];
        for (set, user) in user.iter_mut().enumerate() {
            *user = load_keys::<I, ROUNDS>(isa, |lane| key(set, lane));
        }
        let keys = places.each_mut().map(|place| &mut place.write(Self::empty(isa)).keys);
        // Not as a function of its own, which would have its keys from memory: a few blocks are all that these are for.
        Expand::<I, G, ROUNDS, INVERSE> { isa, key: user, keys }.run();
    }

    const EXPANDS_MEANWHILE: bool = I::V::LANES > 1 && !INVERSE;

    #[inline(always)]
    fn apply_while_expanding<'k, const N: usize>(
        &self,
        whitened: [V<Self>; N],
        (next, isa): (&mut MaybeUninit<Self>, I),
        key: impl Fn(usize) -> &'k [u8],
        meanwhile: &mut impl Meanwhile,
    ) -> [V<Self>; N] {
        let key = load_keys::<I, ROUNDS>(isa, key);
        let keys = &mut next.write(Self::empty(isa)).keys;
        let mut both = Both(Expanding::<I, ROUNDS>::new(isa, key, keys), meanwhile);
        let blocks = self.apply_whitened(whitened, &mut both);
        both.0.finish();
        blocks
    }

    #[inline(always)]
    fn rekey_lanes<'k>(&mut self, key: impl Fn(usize) -> &'k [u8]) {
        self.set(key);
    }

    #[inline(always)]
    fn rekey_from(&mut self, lanes: &Self, lane: usize) {
        for (key, from) in self.keys.iter_mut().zip(&lanes.keys).take(ROUNDS + 1) {
            assert!(lane < I::V::LANES, "no such lane");
            // SAFETY: every value is given its keys when it is made, and each lane of a register is a block.
            let block = unsafe { &*from.as_ptr().cast::<[u8; BLOCK]>().add(lane) };
            key.write(self.isa.splat(block));
        }
    }

    #[inline(always)]
    fn apply_sets<const G: usize, const R: usize>(
        each: &[Self; G],
        mut blocks: [[V<Self>; R]; G],
        meanwhile: &mut impl Meanwhile,
    ) -> [[V<Self>; R]; G] {
        for (blocks, cipher) in blocks.iter_mut().zip(each) {
            for block in blocks {
                *block = block.xor(cipher.key(0));
            }
        }
        // One by one: the compiler unrolls no loop of so much.
        Self::sets_in_step::<G, R, 1>(each, &mut blocks, meanwhile);
        Self::sets_in_step::<G, R, 2>(each, &mut blocks, meanwhile);
        Self::sets_in_step::<G, R, 3>(each, &mut blocks, meanwhile);
        Self::sets_in_step::<G, R, 4>(each, &mut blocks, meanwhile);
        Self::sets_in_step::<G, R, 5>(each, &mut blocks, meanwhile);
        Self::sets_in_step::<G, R, 6>(each, &mut blocks, meanwhile);
        Self::sets_in_step::<G, R, 7>(each, &mut blocks, meanwhile);
        Self::sets_in_step::<G, R, 8>(each, &mut blocks, meanwhile);
        Self::sets_in_step::<G, R, 9>(each, &mut blocks, meanwhile);
        if ROUNDS > 10 {
            Self::sets_in_step::<G, R, 10>(each, &mut blocks, meanwhile);
            Self::sets_in_step::<G, R, 11>(each, &mut blocks, meanwhile);
        }
        if ROUNDS > 12 {
            Self::sets_in_step::<G, R, 12>(each, &mut blocks, meanwhile);
            Self::sets_in_step::<G, R, 13>(each, &mut blocks, meanwhile);
        }
        for (blocks, cipher) in blocks.iter_mut().zip(each) {
            for block in blocks {
                *block = Self::last(*block, cipher.key(ROUNDS));
            }
        }
        blocks
    }

    #[inline(always)]
    fn apply_each<const N: usize>(each: [&Self; N], mut blocks: [V<Self>; N]) -> [V<Self>; N] {
        for (block, cipher) in blocks.iter_mut().zip(each) {
            *block = block.xor(cipher.key(0));
        }
        for round in 1..ROUNDS {
            for (block, cipher) in blocks.iter_mut().zip(each) {
                *block = Self::round(*block, cipher.key(round));
            }
        }
        for (block, cipher) in blocks.iter_mut().zip(each) {
            *block = Self::last(*block, cipher.key(ROUNDS));
        }
        blocks
    }
}

/// A register of keys for each register of blocks.
impl<I: Isa<V: AesLanes>, const ROUNDS: usize, const INVERSE: bool> KeyEach for Aes<I, ROUNDS, INVERSE> {
    type Keys = (I, Vec<Self>);

    fn no_keys(isa: I) -> (I, Vec<Self>) {
        (isa, Vec::with_capacity(SMALL))
    }

    #[inline(always)]
    fn expand_keys((isa, ciphers): &mut (I, Vec<Self>), each: &[&[u8]]) {
        for (i, keys) in each.chunks_exact(I::V::LANES).enumerate() {
            match ciphers.get_mut(i) {
                Some(cipher) => cipher.set(|lane| keys[lane]),
                None => ciphers.push(Self::per_lane(*isa, |lane| keys[lane])),
            }
        }
    }

    #[inline(always)]
    fn apply_keys((_, ciphers): &(I, Vec<Self>), blocks: &mut [I::V; SMALL]) {
        const AT_A_TIME: usize = SMALL / 2;
        for (ciphers, blocks) in ciphers.as_chunks::<AT_A_TIME>().0.iter().zip(blocks.as_chunks_mut().0) {
            *blocks = <Self as KeyPerLane>::apply_each(ciphers.each_ref(), *blocks);
        }
    }
}

/// Two works at a time.
struct Both<'a, A, B>(A, &'a mut B);

impl<A: Meanwhile, B: Meanwhile> Meanwhile for Both<'_, A, B> {
    #[inline(always)]
    fn step(&mut self, call: usize) {
        self.0.step(call);
        self.1.step(call);
    }
}

impl<I: Isa, const ROUNDS: usize, const INVERSE: bool> Drop for Aes<I, ROUNDS, INVERSE> {
    #[inline(always)] // by the registers of where it is dropped: a function of its own goes by smaller ones
    fn drop(&mut self) {
        // SAFETY: as in `key`.
        wipe(unsafe { self.keys[..=ROUNDS].assume_init_mut() });
    }
}
