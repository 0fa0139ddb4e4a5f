//! What SHA-2 computes with: 32-bit or 64-bit words, as integers or one in each lane.

use super::constants::{K_32, K_64};
use crate::lanes::words::WordLanes;

/// A word, with the functions of FIPS 180-4 section 4.1.
pub(crate) trait Word: Copy {
    /// The word as an integer.
    type Integer: Copy + 'static;
    /// The constants of the rounds, section 4.2: one each.
    const K: &'static [Self::Integer];

    /// Addition modulo 2^32 or 2^64.
    fn plus(self, other: Self) -> Self;

    /// Addition of a constant.
    fn plus_constant(self, constant: Self::Integer) -> Self;

    /// Ch(self, a, b).
    fn choose(self, a: Self, b: Self) -> Self;

    /// Maj(self, a, b).
    fn majority(self, a: Self, b: Self) -> Self;

    /// The upper-case sigma 0.
    fn sum_0(self) -> Self;

    /// The upper-case sigma 1.
    fn sum_1(self) -> Self;

    /// The lower-case sigma 0.
    fn sigma_0(self) -> Self;

    /// The lower-case sigma 1.
    fn sigma_1(self) -> Self;
}

impl Word for u32 {
    type Integer = Self;
    const K: &'static [Self] = &K_32;

    #[inline(always)]
    fn plus(self, other: Self) -> Self {
        self.wrapping_add(other)
    }

    #[inline(always)]
    fn plus_constant(self, constant: Self) -> Self {
        self.wrapping_add(constant)
    }

    #[inline(always)]
    fn choose(self, a: Self, b: Self) -> Self {
        (a ^ b) & self ^ b
    }

    #[inline(always)]
    fn majority(self, a: Self, b: Self) -> Self {
        (self ^ a) & (a ^ b) ^ a
    }

    #[inline(always)]
    fn sum_0(self) -> Self {
        self.rotate_right(2) ^ self.rotate_right(13) ^ self.rotate_right(22)
    }

    #[inline(always)]
    fn sum_1(self) -> Self {
        self.rotate_right(6) ^ self.rotate_right(11) ^ self.rotate_right(25)
    }

    #[inline(always)]
    fn sigma_0(self) -> Self {
        self.rotate_right(7) ^ self.rotate_right(18) ^ self >> 3
    }

    #[inline(always)]
    fn sigma_1(self) -> Self {
        self.rotate_right(17) ^ self.rotate_right(19) ^ self >> 10
    }
}

impl Word for u64 {
    type Integer = Self;
    const K: &'static [Self] = &K_64;

    #[inline(always)]
    fn plus(self, other: Self) -> Self {
        self.wrapping_add(other)
    }

    #[inline(always)]
    fn plus_constant(self, constant: Self) -> Self {
        self.wrapping_add(constant)
    }

    #[inline(always)]
    fn choose(self, a: Self, b: Self) -> Self {
        (a ^ b) & self ^ b
    }

    #[inline(always)]
    fn majority(self, a: Self, b: Self) -> Self {
        (self ^ a) & (a ^ b) ^ a
    }

    #[inline(always)]
    fn sum_0(self) -> Self {
        self.rotate_right(28) ^ self.rotate_right(34) ^ self.rotate_right(39)
    }

    #[inline(always)]
    fn sum_1(self) -> Self {
        self.rotate_right(14) ^ self.rotate_right(18) ^ self.rotate_right(41)
    }

    #[inline(always)]
    fn sigma_0(self) -> Self {
        self.rotate_right(1) ^ self.rotate_right(8) ^ self >> 7
    }

    #[inline(always)]
    fn sigma_1(self) -> Self {
        self.rotate_right(19) ^ self.rotate_right(61) ^ self >> 6
    }
}

/// A register of 32-bit words.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub(crate) struct Words32<V>(pub(super) V);

impl<V: WordLanes> Word for Words32<V> {
    type Integer = u32;
    const K: &'static [u32] = &K_32;

    #[inline(always)]
    fn plus(self, other: Self) -> Self {
        Self(self.0.add_32(other.0))
    }

    #[inline(always)]
    fn plus_constant(self, constant: u32) -> Self {
        Self(self.0.add_32(V::splat_32(self.0.isa(), constant)))
    }

    #[inline(always)]
    fn choose(self, a: Self, b: Self) -> Self {
        Self(self.0.choose(a.0, b.0))
    }

    #[inline(always)]
    fn majority(self, a: Self, b: Self) -> Self {
        Self(self.0.majority(a.0, b.0))
    }

    #[inline(always)]
    fn sum_0(self) -> Self {
        let x = self.0;
        Self(x.rotate_right_32::<2>().xor3(x.rotate_right_32::<13>(), x.rotate_right_32::<22>()))
    }

    #[inline(always)]
    fn sum_1(self) -> Self {
        let x = self.0;
        Self(x.rotate_right_32::<6>().xor3(x.rotate_right_32::<11>(), x.rotate_right_32::<25>()))
    }

    #[inline(always)]
    fn sigma_0(self) -> Self {
        let x = self.0;
        Self(x.rotate_right_32::<7>().xor3(x.rotate_right_32::<18>(), x.shift_right_32::<3>()))
    }

    #[inline(always)]
    fn sigma_1(self) -> Self {
        let x = self.0;
        Self(x.rotate_right_32::<17>().xor3(x.rotate_right_32::<19>(), x.shift_right_32::<10>()))
    }
}

/// A register of 64-bit words.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub(crate) struct Words64<V>(pub(super) V);

impl<V: WordLanes> Word for Words64<V> {
    type Integer = u64;
    const K: &'static [u64] = &K_64;

    #[inline(always)]
    fn plus(self, other: Self) -> Self {
        Self(self.0.add_64(other.0))
    }

    #[inline(always)]
    fn plus_constant(self, constant: u64) -> Self {
        Self(self.0.add_64(V::splat_64(self.0.isa(), constant)))
    }

    #[inline(always)]
    fn choose(self, a: Self, b: Self) -> Self {
        Self(self.0.choose(a.0, b.0))
    }

    #[inline(always)]
    fn majority(self, a: Self, b: Self) -> Self {
        Self(self.0.majority(a.0, b.0))
    }

    #[inline(always)]
    fn sum_0(self) -> Self {
        let x = self.0;
        Self(x.rotate_right_64::<28>().xor3(x.rotate_right_64::<34>(), x.rotate_right_64::<39>()))
    }

    #[inline(always)]
    fn sum_1(self) -> Self {
        let x = self.0;
        Self(x.rotate_right_64::<14>().xor3(x.rotate_right_64::<18>(), x.rotate_right_64::<41>()))
    }

    #[inline(always)]
    fn sigma_0(self) -> Self {
        let x = self.0;
        Self(x.rotate_right_64::<1>().xor3(x.rotate_right_64::<8>(), x.shift_right_64::<7>()))
    }

    #[inline(always)]
    fn sigma_1(self) -> Self {
        let x = self.0;
        Self(x.rotate_right_64::<19>().xor3(x.rotate_right_64::<61>(), x.shift_right_64::<6>()))
    }
}
