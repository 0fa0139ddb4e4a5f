//! Look-ups in small tables by instructions that permute bytes. They take as long for any index, and their tables
//! have no addresses: constant time.

use std::arch::x86_64::*;
use std::mem::transmute;

use cipherlane_core::BLOCK;

use super::bytes::x86::{Avx2Lanes, Xmm, Ymm, Zmm};
use super::bytes::{Bytes, IsaOf};

/// Registers with tables of 16 bytes, the same for all lanes.
pub(crate) trait ShuffleBytes: Bytes {
    /// `lane` in every lane.
    fn splat_lane(isa: IsaOf<Self>, lane: &[u8; BLOCK]) -> Self;

    /// Byte `i` of each lane becomes its byte `pattern[i]`. Of patterns the lowest four bits count, and the highest
    /// bit must be clear.
    fn shuffle(self, pattern: Self) -> Self;

    /// The bytes of `b` where the highest bit of those of `self` is set, else those of `a`.
    fn choose(self, a: Self, b: Self) -> Self;

    /// Shifts units of 16 bits towards the high bit: bits come from the byte below.
    fn shift_units_left<const BITS: i32>(self) -> Self;

    /// Shifts units of 16 bits towards the low bit: bits come from the byte above.
    fn shift_units_right<const BITS: i32>(self) -> Self;
}

/// A table of 64 bytes, where a register is one.
#[repr(C, align(64))]
pub(crate) struct Table64(pub(crate) [u8; 64]);

/// Registers that are tables of 64 bytes, or two of them of 128: AVX-512 VBMI.
pub(crate) trait TableBytes: Bytes {
    /// The register that `table` is.
    fn load(isa: IsaOf<Self>, table: &Table64) -> Self;

    /// Byte `i` becomes byte `pattern[i]` of the whole register. Of patterns the lowest six bits count.
    fn permute(self, pattern: Self) -> Self;

    /// Byte `i` becomes byte `pattern[i]` of the 128 bytes of `self` and `other`. Of patterns the lowest seven bits
    /// count.
    fn permute_two(self, other: Self, pattern: Self) -> Self;

    /// Bit by bit that function of three bits of which bit `4 a + 2 b + c` of FUNCTION is the value.
    fn ternary<const FUNCTION: i32>(a: Self, b: Self, c: Self) -> Self;

    /// Rotates words of 32 bits towards the high bit.
    fn rotate_words_left<const BITS: i32>(self) -> Self;

    /// `self - other` in words of 32 bits.
    fn subtract_words(self, other: Self) -> Self;

    /// Shifts units of 16 bits towards the low bit: bits come from the byte above.
    fn shift_units_right<const BITS: u32>(self) -> Self;
}

#[inline(always)]
fn xmm(bytes: Xmm) -> __m128i {
    // SAFETY: `repr(transparent)`.
    unsafe { transmute(bytes) }
}

#[inline(always)]
fn ymm<L: Avx2Lanes>(bytes: Ymm<L>) -> __m256i {
    // SAFETY: `repr(transparent)`.
    unsafe { transmute(bytes) }
}

#[inline(always)]
fn zmm(bytes: Zmm) -> __m512i {
    // SAFETY: `repr(transparent)`.
    unsafe { transmute(bytes) }
}

// SAFETY of every block below: tokens and registers exist only after detection, and registers of bytes are
// `repr(transparent)`.
impl ShuffleBytes for Xmm {
    #[inline(always)]
    fn splat_lane(_: IsaOf<Self>, lane: &[u8; BLOCK]) -> Self {
        // SAFETY: as above; the array has 16 bytes.
        unsafe { transmute(_mm_loadu_si128(lane.as_ptr().cast())) }
    }

    #[inline(always)]
    fn shuffle(self, pattern: Self) -> Self {
        // SAFETY: as above.
        unsafe { transmute(_mm_shuffle_epi8(xmm(self), xmm(pattern))) }
    }

    #[inline(always)]
    fn choose(self, a: Self, b: Self) -> Self {
        // SAFETY: as above.
        unsafe { transmute(_mm_blendv_epi8(xmm(a), xmm(b), xmm(self))) }
    }

    #[inline(always)]
    fn shift_units_left<const BITS: i32>(self) -> Self {
        // SAFETY: as above.
        unsafe { transmute(_mm_slli_epi16::<BITS>(xmm(self))) }
    }

    #[inline(always)]
    fn shift_units_right<const BITS: i32>(self) -> Self {
        // SAFETY: as above.
        unsafe { transmute(_mm_srli_epi16::<BITS>(xmm(self))) }
    }
}

impl<L: Avx2Lanes> ShuffleBytes for Ymm<L> {
    #[inline(always)]
    fn splat_lane(_: IsaOf<Self>, lane: &[u8; BLOCK]) -> Self {
        // SAFETY: as above; the array has 16 bytes.
        unsafe { transmute(_mm256_broadcastsi128_si256(_mm_loadu_si128(lane.as_ptr().cast()))) }
    }

    #[inline(always)]
    fn shuffle(self, pattern: Self) -> Self {
        // SAFETY: as above.
        unsafe { transmute(_mm256_shuffle_epi8(ymm(self), ymm(pattern))) }
    }

    #[inline(always)]
    fn choose(self, a: Self, b: Self) -> Self {
        // SAFETY: as above.
        unsafe { transmute(_mm256_blendv_epi8(ymm(a), ymm(b), ymm(self))) }
    }

    #[inline(always)]
    fn shift_units_left<const BITS: i32>(self) -> Self {
        // SAFETY: as above.
        unsafe { transmute(_mm256_slli_epi16::<BITS>(ymm(self))) }
    }

    #[inline(always)]
    fn shift_units_right<const BITS: i32>(self) -> Self {
        // SAFETY: as above.
        unsafe { transmute(_mm256_srli_epi16::<BITS>(ymm(self))) }
    }
}

impl TableBytes for Zmm {
    #[inline(always)]
    fn load(_: IsaOf<Self>, table: &Table64) -> Self {
        // SAFETY: as above; the table has 64 bytes and is aligned to them.
        unsafe { transmute(_mm512_load_si512(table.0.as_ptr().cast())) }
    }

    #[inline(always)]
    fn permute(self, pattern: Self) -> Self {
        // SAFETY: as above.
        unsafe { transmute(_mm512_permutexvar_epi8(zmm(pattern), zmm(self))) }
    }

    #[inline(always)]
    fn permute_two(self, other: Self, pattern: Self) -> Self {
        // SAFETY: as above.
        unsafe { transmute(_mm512_permutex2var_epi8(zmm(self), zmm(pattern), zmm(other))) }
    }

    #[inline(always)]
    fn ternary<const FUNCTION: i32>(a: Self, b: Self, c: Self) -> Self {
        // SAFETY: as above.
        unsafe { transmute(_mm512_ternarylogic_epi64::<FUNCTION>(zmm(a), zmm(b), zmm(c))) }
    }

    #[inline(always)]
    fn rotate_words_left<const BITS: i32>(self) -> Self {
        // SAFETY: as above.
        unsafe { transmute(_mm512_rol_epi32::<BITS>(zmm(self))) }
    }

    #[inline(always)]
    fn subtract_words(self, other: Self) -> Self {
        // SAFETY: as above.
        unsafe { transmute(_mm512_sub_epi32(zmm(self), zmm(other))) }
    }

    #[inline(always)]
    fn shift_units_right<const BITS: u32>(self) -> Self {
        // SAFETY: as above.
        unsafe { transmute(_mm512_srli_epi16::<BITS>(zmm(self))) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lanes::avx2::{self, Avx2};
    use crate::lanes::vaes256::{self, Vaes256};
    use crate::lanes::{Isa, Lanes, sse::Sse, vaes512::Vaes512};

    /// Bytes of a register, none like its neighbour.
    fn bytes(length: usize) -> Vec<u8> {
        (0..length).map(|i| u8::try_from(37 * i % 251).unwrap()).collect()
    }

    fn loaded<B: Bytes>(isa: IsaOf<B>, bytes: &[u8]) -> B {
        let mut padded = [0; 64];
        padded[..bytes.len()].copy_from_slice(bytes);
        // SAFETY: no register has more bytes.
        B::from_lanes(unsafe { isa.load(padded.as_ptr()) })
    }

    fn stored<B: Bytes>(bytes: B) -> Vec<u8> {
        bytes.to_lanes().to_blocks()[..B::Lanes::LANES].concat()
    }

    fn units(bytes: &[u8], shift: impl Fn(u16) -> u16) -> Vec<u8> {
        let units = bytes.as_chunks().0.iter();
        units.flat_map(|unit| shift(u16::from_le_bytes(*unit)).to_le_bytes()).collect()
    }

    fn check_shuffles<B: ShuffleBytes>(isa: IsaOf<B>) {
        let data = bytes(B::Lanes::BYTES);
        let register: B = loaded(isa, &data);
        assert_eq!(
            stored(B::splat_lane(isa, data.first_chunk().unwrap())),
            data[..BLOCK].repeat(B::Lanes::LANES)
        );

        let pattern: Vec<u8> =
            (0..B::Lanes::BYTES).map(|i| u8::try_from(7 * i % 16).unwrap() | 0x50).collect();
        let expected: Vec<u8> = pattern
            .iter()
            .enumerate()
            .map(|(i, at)| data[i / BLOCK * BLOCK + usize::from(at % 16)])
            .collect();
        assert_eq!(stored(register.shuffle(loaded(isa, &pattern))), expected);

        let chosen = register.choose(loaded(isa, &pattern), register);
        let expected: Vec<u8> = data
            .iter()
            .zip(&pattern)
            .map(|(byte, other)| if *byte >= 128 { *byte } else { *other })
            .collect();
        assert_eq!(stored(chosen), expected);

        assert_eq!(stored(register.shift_units_left::<3>()), units(&data, |unit| unit << 3));
        assert_eq!(stored(register.shift_units_right::<6>()), units(&data, |unit| unit >> 6));
    }

    #[test]
    fn lanes_are_looked_up() {
        Sse::detect().into_iter().for_each(check_shuffles::<Xmm>);
        Avx2::detect().into_iter().for_each(check_shuffles::<Ymm<avx2::X2>>);
        Vaes256::detect().into_iter().for_each(check_shuffles::<Ymm<vaes256::X2>>);
        Vaes256::detect_with_gfni().into_iter().for_each(check_shuffles::<Ymm<vaes256::X2<true>>>);
    }

    #[test]
    fn registers_are_looked_up() {
        let Some(isa) = Vaes512::detect() else { return };
        let data = bytes(64);
        let table = Table64(data.as_slice().try_into().unwrap());
        let (register, reversed) = (Zmm::load(isa, &table), data.iter().rev().copied().collect::<Vec<_>>());
        let other: Zmm = loaded(isa, &reversed);

        let look_up = |index: &u8| data[usize::from(index % 64)];
        assert_eq!(stored(register.permute(other)), reversed.iter().map(look_up).collect::<Vec<_>>());
        let both = [data.as_slice(), &reversed].concat();
        let look_up = |index: &u8| both[usize::from(index % 128)];
        assert_eq!(
            stored(register.permute_two(other, register)),
            data.iter().map(look_up).collect::<Vec<_>>()
        );

        // Bit 6 alone: a and b, but not c.
        let function = Zmm::ternary::<0x40>(register, other, register.permute(other));
        let [a, b, c] = [register, other, register.permute(other)].map(stored);
        assert_eq!(stored(function), (0..64).map(|i| a[i] & b[i] & !c[i]).collect::<Vec<_>>());

        let words = |bytes: &[u8]| -> Vec<u32> {
            bytes.as_chunks().0.iter().map(|word| u32::from_le_bytes(*word)).collect()
        };
        let rotated = words(&stored(register.rotate_words_left::<5>()));
        assert_eq!(rotated, words(&data).iter().map(|word| word.rotate_left(5)).collect::<Vec<_>>());
        let difference = words(&stored(register.subtract_words(other)));
        let expected = words(&data).into_iter().zip(words(&reversed)).map(|(x, y)| x.wrapping_sub(y));
        assert_eq!(difference, expected.collect::<Vec<_>>());
        assert_eq!(stored(register.shift_units_right::<3>()), units(&data, |unit| unit >> 3));
    }
}
