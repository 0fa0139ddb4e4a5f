//! Few blocks, each in a lane as it is: what waits for one block at a time is served in less than half of the time that a
//! group of slices takes, however full that is.
//!
//! A block is kept in parts that each fill a lane by being repeated, in coordinates that the inversion takes: see
//! [`crate::cipher::byte_sliced`]. Of a round, nothing is left but the inversion, the shuffles that bring the bytes that
//! are summed to their places, and the sums.

use cipherlane_core::BLOCK;

use super::byte_sliced::Key;
use super::byte_sliced::matrix::Matrix;
use super::few::{Chain, Few};
use crate::lanes::packed::{Packed, PackedIsa};
use crate::lanes::{Isa, Work};

/// What a register has in each lane: bytes, a pattern of [`Packed::shuffle`] or matrices.
pub(crate) type Lane = [u8; BLOCK];

/// One matrix for the first half of a lane, and one for the second.
pub(crate) const fn matrices(first: Matrix, second: Matrix) -> Lane {
    let (first, second) = (first.word().to_le_bytes(), second.word().to_le_bytes());
    let (mut lane, mut i) = ([0; BLOCK], 0);
    while i < BLOCK / 2 {
        (lane[i], lane[BLOCK / 2 + i]) = (first[i], second[i]);
        i += 1;
    }
    lane
}

/// A block cipher whose blocks lie in lanes. Wiped when dropped.
pub(crate) trait PackedCipher: Send + Sync + Sized + 'static {
    /// The parts of a block, a register for each.
    type Parts<R: Packed>: Copy;

    /// Expands `key`.
    fn new<R: Packed, const INVERSE: bool>(isa: R::Isa, key: &Key) -> Self;

    /// The parts of blocks.
    fn enter<R: Packed>(isa: R::Isa, blocks: R) -> Self::Parts<R>;

    /// The blocks of parts.
    fn leave<R: Packed>(isa: R::Isa, parts: Self::Parts<R>) -> R;

    /// `a ^ b`.
    fn add<R: Packed>(a: Self::Parts<R>, b: Self::Parts<R>) -> Self::Parts<R>;

    /// Runs G registers of blocks side by side.
    fn run<R: Packed, const G: usize>(&self, isa: R::Isa, parts: [Self::Parts<R>; G]) -> [Self::Parts<R>; G];
}

/// C on instruction set I.
pub(crate) struct InLanes<I, C> {
    isa: I,
    cipher: C,
}

impl<I: PackedIsa, C: PackedCipher> Few<I> for InLanes<I, C> {
    /// At 512 bits on Zen 4, Camellia-128 takes 370 clocks for one and 490 for two, of which there may be no more in a
    /// group's 730; SM4 420, 540 and 900.
    const REGISTERS: usize = 2;

    #[inline(always)]
    fn new<const INVERSE: bool>(isa: I, key: &Key) -> Option<Self> {
        Some(Self { isa, cipher: C::new::<I::One, INVERSE>(isa, key) })
    }

    fn apply(&self, registers: &mut [I::V]) {
        self.isa.vectorize(Apply { of: self, registers });
    }
}

impl<I: PackedIsa, C: PackedCipher> Chain for InLanes<I, C> {
    unsafe fn encrypt(&self, before: &[u8; BLOCK], input: *const u8, output: *mut u8, blocks: usize) {
        self.isa.vectorize(Linked { of: self, before, input, output, blocks });
    }
}

/// Registers of blocks, as work.
struct Apply<'a, I: Isa, C> {
    of: &'a InLanes<I, C>,
    registers: &'a mut [I::V],
}

impl<I: PackedIsa, C: PackedCipher> Work for Apply<'_, I, C> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { of: &InLanes { isa, ref cipher }, registers } = self;
        let (pairs, last) = registers.as_chunks_mut();
        for [a, b] in pairs {
            let parts = [C::enter(isa, I::pack(*a)), C::enter(isa, I::pack(*b))];
            let [of_a, of_b] = cipher.run(isa, parts);
            (*a, *b) = (I::unpack(C::leave(isa, of_a)), I::unpack(C::leave(isa, of_b)));
        }
        for register in last {
            let [parts] = cipher.run(isa, [C::enter(isa, I::pack(*register))]);
            *register = I::unpack(C::leave(isa, parts));
        }
    }
}

/// [`Chain::encrypt`], as work. The pointers are good for so many blocks.
struct Linked<'a, I, C> {
    of: &'a InLanes<I, C>,
    before: &'a [u8; BLOCK],
    input: *const u8,
    output: *mut u8,
    blocks: usize,
}

impl<I: PackedIsa, C: PackedCipher> Work for Linked<'_, I, C> {
    type Output = ();

    /// Between two blocks is nothing but rounds and a sum: blocks enter and leave beside the chain.
    #[inline(always)]
    fn run(self) {
        let Self { of: &InLanes { isa, ref cipher }, before, input, output, blocks } = self;
        let mut chain = C::enter(isa, I::One::splat(isa, before));
        for i in 0..blocks {
            // SAFETY: the block is readable.
            let text = I::One::splat(isa, unsafe { &*input.wrapping_add(i * BLOCK).cast() });
            [chain] = cipher.run(isa, [C::add(chain, C::enter(isa, text))]);
            let block = C::leave(isa, chain).to_lane();
            // SAFETY: the block is writable, and its text was read.
            unsafe { output.wrapping_add(i * BLOCK).cast::<[u8; BLOCK]>().write_unaligned(block) }
        }
    }
}
