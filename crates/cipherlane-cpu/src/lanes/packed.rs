//! Registers in which a lane is a block, or a part of one several times over: for ciphers whose blocks wait for one
//! another, so that the latency of an instruction counts and not how many blocks it serves.

use std::arch::x86_64::*;
use std::marker::PhantomData;

use cipherlane_core::BLOCK;

use super::vaes256::{self, Vaes256};
use super::vaes512::{self, Vaes512};
use super::{Isa, pin};

/// A register of one lane or more. Exists only where its instruction set does.
pub(crate) trait Packed: Copy + Send + Sync + 'static {
    /// The instruction set.
    type Isa: Isa;

    /// `lane` in every lane.
    fn splat(isa: Self::Isa, lane: &[u8; BLOCK]) -> Self;

    /// `self ^ other`.
    fn xor(self, other: Self) -> Self;

    /// `self & other`.
    fn and(self, other: Self) -> Self;

    /// Byte `i` of each lane becomes its byte `pattern[i] % 16`, or 0 where the highest bit of the pattern is set.
    fn shuffle(self, pattern: Self) -> Self;

    /// Each half of a lane, byte by byte, times the matrix in the same half of `matrices`, which is as
    /// [`super::bytes::GaloisBytes`] has it.
    fn affine(self, matrices: Self) -> Self;

    /// The same of the inverse of each byte modulo x^8 + x^4 + x^3 + x + 1. The inverse of 0 is 0.
    fn affine_of_inverse(self, matrices: Self) -> Self;

    /// Rotates words of 32 bits by one bit towards the high bit.
    fn rotate_words_left(self) -> Self;

    /// The first lane.
    fn to_lane(self) -> [u8; BLOCK];

    /// Itself, computed no later than here, and not to be known by the compiler: it would put what takes longer in the
    /// place of shuffles, and order sums as it likes.
    fn pin(self) -> Self;
}

/// An instruction set with such registers.
pub(crate) trait PackedIsa: Isa {
    /// Of one lane.
    type One: Packed<Isa = Self>;

    /// Of as many lanes as a register of blocks has.
    type All: Packed<Isa = Self>;

    /// The same lanes.
    fn pack(lanes: Self::V) -> Self::All;

    /// The same lanes.
    fn unpack(all: Self::All) -> Self::V;
}

/// 128 bits of instruction set I.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub(crate) struct Xmm<I>(__m128i, PhantomData<I>);

/// 256 bits of instruction set I.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub(crate) struct Ymm<I>(__m256i, PhantomData<I>);

/// 512 bits of instruction set I.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub(crate) struct Zmm<I>(__m512i, PhantomData<I>);

/// [`Packed`] for registers of a width. Sums of three and rotations are written as if AVX2 were all there is: compilers
/// make one instruction of them where there is one.
macro_rules! packed {
    ($register:ident, $isa:ty, $splat:expr, $first:expr, $xor:ident, $and:ident, $or:ident, $shuffle:ident, $affine:ident,
     $inverse:ident, $left:ident, $right:ident, $pin:path) => {
        // SAFETY of every block: tokens and registers exist only after detection.
        impl Packed for $register<$isa> {
            type Isa = $isa;

            #[inline(always)]
            fn splat(_: $isa, lane: &[u8; BLOCK]) -> Self {
                // SAFETY: as above; a lane has 16 bytes.
                Self(unsafe { $splat(_mm_loadu_si128(lane.as_ptr().cast())) }, PhantomData)
            }

            #[inline(always)]
            fn xor(self, other: Self) -> Self {
                // SAFETY: as above.
                Self(unsafe { $xor(self.0, other.0) }, PhantomData)
            }

            #[inline(always)]
            fn and(self, other: Self) -> Self {
                // SAFETY: as above.
                Self(unsafe { $and(self.0, other.0) }, PhantomData)
            }

            #[inline(always)]
            fn shuffle(self, pattern: Self) -> Self {
                // SAFETY: as above.
                Self(unsafe { $shuffle(self.0, pattern.0) }, PhantomData)
            }

            #[inline(always)]
            fn affine(self, matrices: Self) -> Self {
                // SAFETY: as above.
                Self(unsafe { $affine::<0>(self.0, matrices.0) }, PhantomData)
            }

            #[inline(always)]
            fn affine_of_inverse(self, matrices: Self) -> Self {
                // SAFETY: as above.
                Self(unsafe { $inverse::<0>(self.0, matrices.0) }, PhantomData)
            }

            #[inline(always)]
            fn rotate_words_left(self) -> Self {
                // SAFETY: as above.
                Self(unsafe { $or($left::<1>(self.0), $right::<31>(self.0)) }, PhantomData)
            }

            #[inline(always)]
            fn to_lane(self) -> [u8; BLOCK] {
                let mut lane = [0; BLOCK];
                // SAFETY: as above; a lane has 16 bytes.
                unsafe { _mm_storeu_si128(lane.as_mut_ptr().cast(), $first(self.0)) };
                lane
            }

            #[inline(always)]
            fn pin(self) -> Self {
                // SAFETY: as above.
                Self(unsafe { $pin(self.0) }, PhantomData)
            }
        }
    };
}

/// [`packed`] of one lane, and what turns registers of blocks to and fro.
macro_rules! isa {
    ($isa:ty, $lanes:ty, $register:ident) => {
        packed!(
            Xmm,
            $isa,
            std::convert::identity,
            std::convert::identity,
            _mm_xor_si128,
            _mm_and_si128,
            _mm_or_si128,
            _mm_shuffle_epi8,
            _mm_gf2p8affine_epi64_epi8,
            _mm_gf2p8affineinv_epi64_epi8,
            _mm_slli_epi32,
            _mm_srli_epi32,
            pin::xmm
        );

        impl PackedIsa for $isa {
            type One = Xmm<$isa>;
            type All = $register<$isa>;

            #[inline(always)]
            fn pack(lanes: $lanes) -> $register<$isa> {
                // SAFETY: both are a register of the same width and nothing else.
                unsafe { std::mem::transmute(lanes) }
            }

            #[inline(always)]
            fn unpack(all: $register<$isa>) -> $lanes {
                // SAFETY: as above.
                unsafe { std::mem::transmute(all) }
            }
        }
    };
}

#[rustfmt::skip] // columns of names
mod registers {
    use super::*;

    packed!(
        Ymm, Vaes256<true>, _mm256_broadcastsi128_si256, _mm256_castsi256_si128, _mm256_xor_si256, _mm256_and_si256, _mm256_or_si256,
        _mm256_shuffle_epi8, _mm256_gf2p8affine_epi64_epi8, _mm256_gf2p8affineinv_epi64_epi8, _mm256_slli_epi32,
        _mm256_srli_epi32, pin::ymm
    );
    packed!(
        Zmm, Vaes512, _mm512_broadcast_i32x4, _mm512_castsi512_si128, _mm512_xor_si512, _mm512_and_si512, _mm512_or_si512,
        _mm512_shuffle_epi8, _mm512_gf2p8affine_epi64_epi8, _mm512_gf2p8affineinv_epi64_epi8, _mm512_slli_epi32,
        _mm512_srli_epi32, pin::zmm
    );
    isa!(Vaes256<true>, vaes256::X2<true>, Ymm);
    isa!(Vaes512, vaes512::X4, Zmm);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cipher::byte_sliced::matrix::{AES_POLYNOMIAL, Matrix, power};
    use crate::cipher::packed::{Lane, matrices};
    use crate::lanes::{Lanes, MAX_LANES};

    fn bytes(seed: u8) -> Lane {
        std::array::from_fn(|i| u8::try_from(i).unwrap().wrapping_mul(151) ^ seed)
    }

    fn words(lane: Lane) -> [u32; 4] {
        std::array::from_fn(|i| u32::from_le_bytes(*lane[4 * i..].first_chunk().unwrap()))
    }

    fn check<R: Packed>(isa: R::Isa) {
        let (a, b) = (bytes(0x35), bytes(0xc8));
        let [of_a, of_b] = [&a, &b].map(|lane| R::splat(isa, lane));
        assert_eq!(of_a.pin().to_lane(), a);
        assert_eq!(of_a.xor(of_b).to_lane(), std::array::from_fn(|i| a[i] ^ b[i]));
        assert_eq!(of_a.and(of_b).to_lane(), std::array::from_fn(|i| a[i] & b[i]));
        let picked = |i: usize| if b[i] < 0x80 { a[usize::from(b[i] % 16)] } else { 0 };
        assert_eq!(of_a.shuffle(of_b).to_lane(), std::array::from_fn(picked));
        assert_eq!(words(of_a.rotate_words_left().to_lane()), words(a).map(|word| word.rotate_left(1)));

        let both = [Matrix::rotation(3), Matrix::shift(-1).plus(Matrix::rotation(5))];
        let matrices = R::splat(isa, &matrices(both[0], both[1]));
        assert_eq!(of_a.affine(matrices).to_lane(), std::array::from_fn(|i| both[i / 8].apply(a[i])));
        let inverse = |i: usize| both[i / 8].apply(power(a[i], 254, AES_POLYNOMIAL));
        assert_eq!(of_a.affine_of_inverse(matrices).to_lane(), std::array::from_fn(inverse));
    }

    fn check_both<I: PackedIsa>(isa: Option<I>) {
        let Some(isa) = isa else { return };
        check::<I::One>(isa);
        check::<I::All>(isa);
        let lanes: [Lane; MAX_LANES] = std::array::from_fn(|lane| bytes(u8::try_from(17 * lane).unwrap()));
        let reversed = I::All::splat(isa, &[15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0]);
        let found = I::unpack(I::pack(isa.lanes(&lanes)).shuffle(reversed)).to_blocks();
        for (lane, expected) in found.iter().zip(lanes).take(I::V::LANES) {
            assert!(lane.iter().eq(expected.iter().rev()));
        }
    }

    #[test]
    fn every_operation_is_what_it_says() {
        check_both(Vaes256::detect_with_gfni());
        check_both(Vaes512::detect());
    }
}
