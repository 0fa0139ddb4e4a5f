//! A byte-sliced cipher that runs a group of blocks under a key each: the key schedules are sliced, too, so that all of
//! them take hardly longer than one.

use cipherlane_core::BLOCK;

use super::permutation::{Group, LanesOf, SlicedCipher, blocks_of, slices_of};
use super::{GROUP, transpose};
use crate::cipher::grouped::GroupKeys;
use crate::lanes::bytes::{Bytes, IsaOf};
use crate::lanes::{Isa, Lanes, MAX_LANES, Work};

/// A key for each lane of each register of a group, byte by byte.
pub(crate) struct SlicedKeys<B> {
    /// Bytes of each key.
    pub(crate) bytes: usize,
    /// The first 16.
    pub(crate) first: [B; GROUP],
    /// What follows them, if anything does, else zeros. What follows a rest of 8 is not said.
    pub(crate) rest: [B; GROUP],
}

impl<B: Bytes> SlicedKeys<B> {
    /// Of `keys`, one for each lane of each register.
    #[inline(always)]
    fn new(isa: IsaOf<B>, keys: &[&[u8]]) -> Self {
        let bytes = keys[0].len();
        let first = transpose(gathered(isa, keys, 0));
        let mut rest = [B::splat_half(isa, 0); GROUP];
        if bytes > BLOCK {
            // The last 16 of 24 bytes are 8 of the first 16 and 8 more.
            rest = transpose(gathered(isa, keys, bytes - BLOCK));
            rest.rotate_left(2 * BLOCK - bytes);
        }
        Self { bytes, first, rest }
    }
}

impl<B> Drop for SlicedKeys<B> {
    #[inline(always)]
    fn drop(&mut self) {
        for slice in self.first.iter_mut().chain(&mut self.rest) {
            // SAFETY: a register is plain bytes, and zeros are one. A volatile write is never left out.
            unsafe { std::ptr::write_volatile(slice, std::mem::zeroed()) }
        }
    }
}

/// 16 bytes of each of `keys` from byte `from` on.
#[inline(always)]
fn gathered<B: Bytes>(isa: IsaOf<B>, keys: &[&[u8]], from: usize) -> [B; GROUP] {
    let mut registers = [B::splat_half(isa, 0); GROUP];
    for (register, keys) in registers.iter_mut().zip(keys.chunks_exact(B::Lanes::LANES)) {
        let mut lanes = [std::ptr::null(); MAX_LANES];
        for (lane, key) in lanes.iter_mut().zip(keys) {
            *lane = key[from..from + BLOCK].as_ptr();
        }
        // SAFETY: 16 bytes are readable there, and as many keys are there as lanes.
        *register = B::from_lanes(unsafe { isa.gather(&lanes) });
    }
    registers
}

/// C under a key for each lane of each register of a group. INVERSE decrypts.
pub(crate) struct EachKey<C: SlicedCipher, const INVERSE: bool> {
    isa: IsaOf<C::Bytes>,
    keys: Box<C::GroupKeys>,
}

impl<C: SlicedCipher, const INVERSE: bool> GroupKeys for EachKey<C, INVERSE> {
    type Isa = IsaOf<C::Bytes>;

    fn new(isa: Self::Isa) -> Self {
        Self { isa, keys: Box::new(C::none_each(isa)) }
    }

    fn rekey(&mut self, keys: &[&[u8]]) {
        self.isa.vectorize(Expand::<C, INVERSE> { isa: self.isa, keys, to: &mut self.keys });
    }

    fn apply(&self, blocks: &mut Group<C>) {
        self.isa.vectorize(Apply::<C> { keys: &self.keys, blocks });
    }
}

/// Key schedules as work of their own, so that they are compiled once and not into every mode.
struct Expand<'a, C: SlicedCipher, const INVERSE: bool> {
    isa: IsaOf<C::Bytes>,
    keys: &'a [&'a [u8]],
    to: &'a mut C::GroupKeys,
}

impl<C: SlicedCipher, const INVERSE: bool> Work for Expand<'_, C, INVERSE> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        C::expand_each::<INVERSE>(self.isa, &SlicedKeys::new(self.isa, self.keys), self.to);
    }
}

/// A group, as work of its own.
struct Apply<'a, C: SlicedCipher> {
    keys: &'a C::GroupKeys,
    blocks: &'a mut [LanesOf<C>; GROUP],
}

impl<C: SlicedCipher> Work for Apply<'_, C> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        blocks_of::<C>(C::run_each(self.keys, slices_of::<C>(self.blocks)), self.blocks);
    }
}
