//! The S-box as a circuit of XOR and AND, bit by bit: eight registers of bytes are eight slices of bits, turned.

use std::marker::PhantomData;

use super::boxes::{Boxes, OFFSET, OUTPUT_CONSTANT, Word};
use crate::cipher::aes_bitsliced::sbox::{Wires, invert};
use crate::cipher::byte_sliced::bits::flip;
use crate::cipher::few::Nothing;
use crate::cipher::slices::{Slice, Wire, transpose_bytes};
use crate::lanes::bytes::Bytes;

/// The S-box in slices S.
pub(crate) struct Bits<S>(PhantomData<fn() -> S>);

impl<S: Slice> Boxes for Bits<S> {
    type Few = Nothing;
    type Bytes = Wire<S>;
    const OFFSET: u8 = OFFSET;
    const TOGETHER: bool = true;

    #[inline(always)]
    fn enter(bytes: Wire<S>) -> Wire<S> {
        bytes
    }

    #[inline(always)]
    fn leave(bytes: Wire<S>) -> Wire<S> {
        bytes
    }

    /// Half of the circuit is idle.
    #[inline(always)]
    fn halves_of_l(word: Word<Wire<S>>) -> [Word<Wire<S>>; 2] {
        Self::two_halves_of_l([word, word])[0]
    }

    #[inline(always)]
    fn two_halves_of_l([[a, b, c, d], [e, f, g, h]]: [Word<Wire<S>>; 2]) -> [[Word<Wire<S>>; 2]; 2] {
        let mut x = [a, b, c, d, e, f, g, h];
        transpose_bytes(&mut x);
        let mut z = flip(sbox(x), OUTPUT_CONSTANT);
        transpose_bytes(&mut z);
        let (mut left, mut right) = (z, z);
        for i in 0..8 {
            left[i] = left[i] ^ z[i].shift_bits_left::<2>();
            right[i] = right[i] ^ z[i].shift_bits_right::<6>();
        }
        let ([a, b, c, d, left @ ..], [e, f, g, h, right @ ..]) = (left, right);
        [[[a, b, c, d], [e, f, g, h]], [left, right]]
    }
}

/// The S-box of x ^ OFFSET, XOR OUTPUT_CONSTANT, in 110 gates. Index i of the arrays is bit i.
///
/// The inversion is that of the S-box of the AES, by J. Boyar and R. Peralta: see [`invert`]. Of the 2040 ways to write
/// this S-box as that inversion between linear maps (roots of the polynomial, and factors of the field) this one has
/// the smallest layers, of 21 and 27 gates, by the heuristic of Boyar and Peralta (2010) with many random choices, the
/// last layer as the transposition of one with 8 inputs.
#[inline(always)]
fn sbox<T: Wires>([u0, u1, u2, u3, u4, u5, u6, u7]: [T; 8]) -> [T; 8] {
    let y9 = u2 ^ u6;
    let y8 = u1 ^ y9;
    let y1 = u7 ^ y9;
    let a0 = u0 ^ u4;
    let y17 = y8 ^ a0;
    let y10 = u6 ^ y17;
    let y19 = u6 ^ a0;
    let y6 = y1 ^ y10;
    let y18 = u5 ^ y19;
    let a1 = u3 ^ u5;
    let y0 = y1 ^ a1;
    let y15 = y10 ^ a1;
    let y12 = u0 ^ a1;
    let y7 = u6 ^ y0;
    let y2 = y18 ^ y7;
    let y16 = u6 ^ a1;
    let y4 = y9 ^ y2;
    let y13 = u1 ^ y12;
    let y3 = y12 ^ y4;
    let y5 = y8 ^ y3;
    let y21 = y16 ^ y13;

    let [z0, z1, z2, z3, z4, z5, z6, z7, z8, z9, z10, z11, z12, z13, z14, z15, z16, z17] = invert([
        y0, y1, y2, y3, y4, y5, y6, y7, y8, y9, y10, u6, y12, y13, u1, y15, y16, y17, y18, y19, u2, y21,
    ]);

    let b0 = z0 ^ z2;
    let b1 = z7 ^ z8;
    let b2 = z3 ^ b0;
    let b3 = z4 ^ b2 ^ b1;
    let b4 = z13 ^ b3;
    let b5 = z10 ^ b4;
    let b6 = z11 ^ z14;
    let b7 = b6 ^ b5;
    let b8 = z17 ^ z14;
    let b9 = z9 ^ z12;
    let b10 = z6 ^ b9 ^ b5 ^ z8 ^ b0;
    let b11 = z16 ^ b8 ^ b4;
    let b12 = z15 ^ z12 ^ b8;
    let s1 = b12 ^ b3;
    let s2 = b11 ^ b10;
    let s5 = z1 ^ b7 ^ b1 ^ z2;
    let s6 = z5 ^ b11 ^ b2;
    let s7 = b9 ^ b6;
    [b10, s1, s2, b12, b7, s5, s6, s7]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cipher::byte_sliced::matrix::{AES_POLYNOMIAL, power};
    use crate::cipher::sm4::boxes::{INPUT, INPUT_CONSTANT, OUTPUT};

    #[test]
    fn the_circuit_is_the_s_box() {
        for x in 0..=255_u8 {
            let inverse = power(INPUT.apply(x) ^ INPUT_CONSTANT, 254, AES_POLYNOMIAL);
            let bits = sbox(std::array::from_fn(|i| (x ^ OFFSET) >> i & 1));
            let image = bits.iter().enumerate().fold(0, |byte, (i, bit)| byte | bit << i);
            assert_eq!(image, OUTPUT.apply(inverse));
        }
    }
}
