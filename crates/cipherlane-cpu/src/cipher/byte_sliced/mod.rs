//! Byte slicing: sixteen registers of blocks, turned so that register i holds byte i of every block.
//!
//! A cipher whose S-boxes are an inversion in GF(2^8) between affine maps then runs LANES * 16 blocks at once: an
//! S-box is one or two instructions for a register of bytes, exchanges of bytes within a block cost nothing, and no
//! address depends on a secret.

pub(crate) mod bits;
mod each;
pub(crate) mod matrix;
mod permutation;
mod schedule;
#[cfg(target_arch = "x86_64")]
pub(crate) mod tables;
#[cfg(test)]
mod tests;
#[cfg(target_arch = "x86_64")]
#[macro_use]
pub(crate) mod turn;

pub(crate) use each::SlicedKeys;
pub(crate) use permutation::{ByteSliced, Group, SlicedCipher, blocks_of, slices_of};
pub(crate) use schedule::Key;

use crate::lanes::Lanes;
use crate::lanes::bytes::{Bytes, IsaOf, repeated};

/// Registers of a group: as many as a block has bytes.
pub(crate) const GROUP: usize = 16;

/// Byte `j` of register `i` of a lane becomes byte `i` of register `j`: blocks become slices, and back.
///
/// A step interleaves registers of the first half with those of the second, which moves the highest bit of the
/// index of the register behind the lowest bit of the index of the byte, and the highest bit of that behind the
/// lowest bit of the register's. After four steps the two indices have changed places.
#[inline(always)]
pub(crate) fn transpose<B: Bytes>(registers: [B; GROUP]) -> [B; GROUP] {
    interleave(interleave(interleave(interleave(registers))))
}

/// A step of [`transpose`], without a loop: registers that a loop indexes stay in memory.
#[inline(always)]
#[rustfmt::skip] // a table
fn interleave<B: Bytes>([a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p]: [B; GROUP]) -> [B; GROUP] {
    [
        a.interleave_low(i), a.interleave_high(i), b.interleave_low(j), b.interleave_high(j),
        c.interleave_low(k), c.interleave_high(k), d.interleave_low(l), d.interleave_high(l),
        e.interleave_low(m), e.interleave_high(m), f.interleave_low(n), f.interleave_high(n),
        g.interleave_low(o), g.interleave_high(o), h.interleave_low(p), h.interleave_high(p),
    ]
}

/// Slices that stay in memory until they are needed.
///
/// With two groups in flight there are more slices than registers. A cipher knows which of them it will not need for
/// a while; a compiler that has to choose puts off one that the next instruction waits for.
pub(crate) struct Parked<B, const G: usize>([[B; GROUP]; G]);

impl<B: Copy, const G: usize> Parked<B, G> {
    /// All slices of G groups.
    #[inline(always)]
    pub(crate) fn new(groups: [[B; GROUP]; G]) -> Self {
        Self(groups)
    }

    /// N slices of group `g` from `first` on.
    #[inline(always)]
    pub(crate) fn get<const N: usize>(&self, g: usize, first: usize) -> [B; N] {
        let mut slices = [self.0[g][first]; N];
        for (slice, parked) in slices.iter_mut().zip(&self.0[g][first..]) {
            // SAFETY: a reference is good for a read. A volatile one is made when and where it is written.
            *slice = unsafe { std::ptr::read_volatile(parked) };
        }
        slices
    }

    /// Parks slices of group `g` from `first` on.
    #[inline(always)]
    pub(crate) fn park<const N: usize>(&mut self, g: usize, first: usize, slices: [B; N]) {
        self.0[g][first..first + N].copy_from_slice(&slices);
    }
}

/// A block's bytes, each repeated in a half, which [`Bytes::splat_half`] spreads over a register.
pub(crate) type Spread = [u64; GROUP];

/// Spreads the bytes of the first lane of `block`.
#[inline(always)]
pub(crate) fn spread<V: Lanes>(block: V) -> Spread {
    let mut halves = [0; GROUP];
    for (half, byte) in halves.iter_mut().zip(block.to_blocks()[0]) {
        *half = repeated(byte);
    }
    halves
}

/// A spread block in a register for each byte.
#[inline(always)]
pub(crate) fn sliced<B: Bytes>(isa: IsaOf<B>, spread: &Spread) -> [B; GROUP] {
    let mut slices = [B::splat_half(isa, 0); GROUP];
    for (slice, half) in slices.iter_mut().zip(spread) {
        *slice = B::splat_half(isa, *half);
    }
    slices
}

/// Slices, as they lie in memory.
#[inline(always)]
pub(crate) fn load<B: Bytes>(from: &[B::Lanes; GROUP]) -> [B; GROUP] {
    let mut slices = [B::from_lanes(from[0]); GROUP];
    for (slice, from) in slices.iter_mut().zip(from) {
        *slice = B::from_lanes(*from);
    }
    slices
}

/// And back.
#[inline(always)]
pub(crate) fn store<B: Bytes>(to: &mut [B::Lanes; GROUP], slices: [B; GROUP]) {
    for (to, slice) in to.iter_mut().zip(slices) {
        *to = slice.to_lanes();
    }
}

/// The blocks of a register, the same of each of sixteen, in a register for each byte.
#[inline(always)]
pub(crate) fn repeated_and_sliced<B: Bytes>(blocks: B::Lanes) -> [B; GROUP] {
    transpose([B::from_lanes(blocks); GROUP])
}

/// The first of the registers of blocks that `slices` are.
#[inline(always)]
pub(crate) fn first_register<B: Bytes>(slices: [B; GROUP]) -> B::Lanes {
    transpose(slices)[0].to_lanes()
}
