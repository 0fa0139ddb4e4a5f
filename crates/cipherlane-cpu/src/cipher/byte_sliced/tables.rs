//! Affine maps and the S-box of the AES by byte shuffles: what stands for GFNI on CPUs with AES-NI.

use super::matrix::Matrix;
use crate::lanes::bytes::{AesBytes, Bytes, repeated};

/// An affine map of bytes: the images of their low halves, with its constant, and of their high halves.
#[derive(Clone, Copy)]
pub(crate) struct Tables([[u8; 16]; 2]);

impl Tables {
    /// `matrix` times each byte, XOR `constant`.
    pub(crate) const fn new((matrix, constant): (Matrix, u8)) -> Self {
        let mut images = [[0; 16]; 2];
        let mut half = 0;
        while half < 16 {
            images[0][half as usize] = matrix.apply(half) ^ constant;
            images[1][half as usize] = matrix.apply(half << 4);
            half += 1;
        }
        Self(images)
    }

    /// The image of the bytes that `halves` are of.
    #[inline(always)]
    pub(crate) fn map<B: AesBytes>(&self, halves: Halves<B>) -> B {
        let isa = halves.low.isa();
        let low = B::splat(isa, &self.0[0]).permute_bytes(halves.low);
        low.xor(B::splat(isa, &self.0[1]).permute_bytes(halves.high))
    }
}

/// The low and the high halves of bytes, as indices.
#[derive(Clone, Copy)]
pub(crate) struct Halves<B> {
    low: B,
    high: B,
}

impl<B: Bytes> Halves<B> {
    #[inline(always)]
    pub(crate) fn of(bytes: B) -> Self {
        let low = bytes.and(B::splat_half(bytes.isa(), const { repeated(0x0f) }));
        Self { low, high: bytes.shift_bits_right::<4>() }
    }
}

/// The byte that ShiftRows puts at place i (FIPS 197 section 5.1.2).
const SHIFTED: [u8; 16] = [0, 5, 10, 15, 4, 9, 14, 3, 8, 13, 2, 7, 12, 1, 6, 11];
/// The place where ShiftRows puts byte i: undoes it.
const UNSHIFTED: [u8; 16] = [0, 13, 10, 7, 4, 1, 14, 11, 8, 5, 2, 15, 12, 9, 6, 3];

/// The bytes of each lane where ShiftRows puts them.
#[inline(always)]
pub(crate) fn shifted<B: AesBytes, const N: usize>(slices: [B; N]) -> [B; N] {
    permuted(slices, &SHIFTED)
}

/// The bytes of each lane back from where ShiftRows put them.
#[inline(always)]
pub(crate) fn unshifted<B: AesBytes, const N: usize>(slices: [B; N]) -> [B; N] {
    permuted(slices, &UNSHIFTED)
}

#[inline(always)]
fn permuted<B: AesBytes, const N: usize>(mut slices: [B; N], pattern: &[u8; 16]) -> [B; N] {
    for slice in &mut slices {
        *slice = slice.permute_bytes(B::splat(slice.isa(), pattern));
    }
    slices
}

/// The S-box of the AES of each byte, in its place.
#[inline(always)]
pub(crate) fn aes_sub_bytes<B: AesBytes>(bytes: B) -> B {
    let [substituted] = unshifted([bytes.last_round(B::splat_half(bytes.isa(), 0))]);
    substituted
}
