//! 64 blocks in slices of one bit of two words of each.

use std::ops::{BitAnd, BitOr, BitXor, Not};

use crate::lanes::portable::X1;

/// Blocks sliced together.
pub(super) const GROUP: usize = 64;

/// A bit of 64 blocks in each half.
pub(super) trait Slice: Copy {
    /// The register as a slice.
    fn load(from: X1) -> Self;

    /// The slice as a register.
    fn store(self) -> X1;

    /// `self ^ other`.
    fn xor(self, other: Self) -> Self;

    /// `self & other`.
    fn and(self, other: Self) -> Self;

    /// `self | other`.
    fn or(self, other: Self) -> Self;

    /// Shifts both halves towards their low bits.
    fn shift_right<const BITS: i32>(self) -> Self;

    /// Shifts both halves towards their high bits.
    fn shift_left<const BITS: i32>(self) -> Self;

    /// The low halves of both.
    fn low_halves(self, other: Self) -> Self;

    /// The high halves of both.
    fn high_halves(self, other: Self) -> Self;

    /// The halves exchanged.
    fn swap_halves(self) -> Self;

    /// A word in each half, for [`Slice::bit`].
    fn spread(words: [u32; 2]) -> Self;

    /// Ones in each half whose word has bit `bit` set.
    fn bit(self, bit: usize) -> Self;
}

/// A slice as wires of a circuit.
#[derive(Clone, Copy)]
pub(super) struct Wire<S>(pub(super) S);

impl<S: Slice> BitXor for Wire<S> {
    type Output = Self;
    #[inline(always)]
    fn bitxor(self, other: Self) -> Self {
        Self(self.0.xor(other.0))
    }
}

impl<S: Slice> BitAnd for Wire<S> {
    type Output = Self;
    #[inline(always)]
    fn bitand(self, other: Self) -> Self {
        Self(self.0.and(other.0))
    }
}

impl<S: Slice> BitOr for Wire<S> {
    type Output = Self;
    #[inline(always)]
    fn bitor(self, other: Self) -> Self {
        Self(self.0.or(other.0))
    }
}

/// Compilers make one instruction of it and an AND that follows, where there is one.
impl<S: Slice> Not for Wire<S> {
    type Output = Self;
    #[inline(always)]
    fn not(self) -> Self {
        Self(self.0.xor(S::load(X1([u64::MAX; 2]))))
    }
}

/// 32 bits of two words of each block, from the lowest.
pub(super) type Words<S> = [Wire<S>; 32];

/// Bit i of both halves of register j and bit j of those of register i change places: two 64 x 64 matrices of bits,
/// transposed by exchanging ever larger squares (D. E. Knuth, TAOCP 4A, section 7.1.3).
#[inline(always)]
pub(super) fn transpose<S: Slice>(registers: &mut [Wire<S>; GROUP]) {
    exchange::<S, 1>(registers, 0x5555_5555_5555_5555);
    exchange::<S, 2>(registers, 0x3333_3333_3333_3333);
    exchange::<S, 4>(registers, 0x0f0f_0f0f_0f0f_0f0f);
    exchange::<S, 8>(registers, 0x00ff_00ff_00ff_00ff);
    exchange::<S, 16>(registers, 0x0000_ffff_0000_ffff);
    exchange::<S, 32>(registers, 0x0000_0000_ffff_ffff);
}

/// Exchanges the upper DISTANCE bits of each 2 * DISTANCE bits in the lower registers with the lower ones in the
/// registers DISTANCE further on. `mask` has the lower ones set.
#[inline(always)]
fn exchange<S: Slice, const DISTANCE: i32>(registers: &mut [Wire<S>; GROUP], mask: u64) {
    let mask = Wire(S::load(X1([mask; 2])));
    #[allow(clippy::cast_sign_loss)] // 1 to 32
    let distance = DISTANCE as usize;
    for squares in registers.chunks_exact_mut(2 * distance) {
        let (lower, upper) = squares.split_at_mut(distance);
        for (low, high) in lower.iter_mut().zip(upper) {
            let moved = (Wire(low.0.shift_right::<DISTANCE>()) ^ *high) & mask;
            *high = *high ^ moved;
            *low = *low ^ Wire(moved.0.shift_left::<DISTANCE>());
        }
    }
}

/// The register, once transposed, of bit `bit` of the first word of a half of a block: words are big-endian. That of
/// the second word is 32 further on.
pub(super) const fn register(bit: usize) -> usize {
    bit ^ 24
}

/// A slice in integers, for targets without a vector unit that all their CPUs share.
#[cfg(any(test, not(all(target_arch = "x86_64", target_feature = "sse2"))))]
#[derive(Clone, Copy)]
pub(super) struct Plain([u64; 2]);

#[cfg(any(test, not(all(target_arch = "x86_64", target_feature = "sse2"))))]
impl Slice for Plain {
    #[inline(always)]
    fn load(from: X1) -> Self {
        Self(from.0)
    }

    #[inline(always)]
    fn store(self) -> X1 {
        X1(self.0)
    }

    #[inline(always)]
    fn xor(self, other: Self) -> Self {
        Self([self.0[0] ^ other.0[0], self.0[1] ^ other.0[1]])
    }

    #[inline(always)]
    fn and(self, other: Self) -> Self {
        Self([self.0[0] & other.0[0], self.0[1] & other.0[1]])
    }

    #[inline(always)]
    fn or(self, other: Self) -> Self {
        Self([self.0[0] | other.0[0], self.0[1] | other.0[1]])
    }

    #[inline(always)]
    fn shift_right<const BITS: i32>(self) -> Self {
        Self([self.0[0] >> BITS, self.0[1] >> BITS])
    }

    #[inline(always)]
    fn shift_left<const BITS: i32>(self) -> Self {
        Self([self.0[0] << BITS, self.0[1] << BITS])
    }

    #[inline(always)]
    fn low_halves(self, other: Self) -> Self {
        Self([self.0[0], other.0[0]])
    }

    #[inline(always)]
    fn high_halves(self, other: Self) -> Self {
        Self([self.0[1], other.0[1]])
    }

    #[inline(always)]
    fn swap_halves(self) -> Self {
        Self([self.0[1], self.0[0]])
    }

    #[inline(always)]
    fn spread([low, high]: [u32; 2]) -> Self {
        Self([u64::from(low), u64::from(high)])
    }

    #[inline(always)]
    fn bit(self, bit: usize) -> Self {
        Self([(self.0[0] >> bit & 1).wrapping_neg(), (self.0[1] >> bit & 1).wrapping_neg()])
    }
}
