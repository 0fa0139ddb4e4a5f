//! The S-boxes as a circuit of XOR and AND, bit by bit: eight registers of bytes are eight slices of bits, turned.

use std::marker::PhantomData;

use super::boxes::{Boxes, Coordinates, Half, OFFSET, OUTPUT_CONSTANT};
use crate::cipher::aes_bitsliced::sbox::{Wires, invert};
use crate::cipher::byte_sliced::bits::flip;
use crate::cipher::few::Nothing;
use crate::cipher::slices::{Slice, Wire, transpose_bytes};
use crate::lanes::bytes::{Bytes, repeated};
use crate::lanes::portable::Portable;

/// The S-boxes in slices S.
pub(crate) struct Bits<S>(PhantomData<fn() -> S>);

impl<S: Slice> Coordinates for Bits<S> {
    type Bytes = Wire<S>;
}

impl<S: Slice> Boxes for Bits<S> {
    type Few = Nothing;
    const OFFSET: u8 = OFFSET;

    #[inline(always)]
    fn sboxes(mut x: Half<Wire<S>>) -> Half<Wire<S>> {
        // SBOX4 rotates its input, but not the offset that has been added.
        let offset = Wire::splat_half(Portable, const { repeated(OFFSET.rotate_left(1) ^ OFFSET) });
        (x[3], x[6]) = (rotate_left(x[3]) ^ offset, rotate_left(x[6]) ^ offset);
        transpose_bytes(&mut x);
        let mut z = flip(sbox_1(x), OUTPUT_CONSTANT);
        transpose_bytes(&mut z);
        (z[1], z[4]) = (rotate_left(z[1]), rotate_left(z[4]));
        (z[2], z[5]) = (rotate_right(z[2]), rotate_right(z[5]));
        z
    }
}

/// Each byte <<< 1.
#[inline(always)]
fn rotate_left<S: Slice>(bytes: Wire<S>) -> Wire<S> {
    bytes.shift_bits_left::<1>() ^ bytes.shift_bits_right::<7>()
}

/// Each byte >>> 1.
#[inline(always)]
fn rotate_right<S: Slice>(bytes: Wire<S>) -> Wire<S> {
    bytes.shift_bits_right::<1>() ^ bytes.shift_bits_left::<7>()
}

/// SBOX1(x ^ OFFSET) ^ OUTPUT_CONSTANT in 109 gates. Index i of the arrays is bit i.
///
/// The inversion is that of the S-box of the AES, by J. Boyar and R. Peralta: see [`invert`]. Of the 2040 ways to write
/// SBOX1 as that inversion between linear maps (roots of the polynomial, and factors of the field) this one has the
/// smallest layers, of 21 and 26 gates, by the heuristic of Boyar and Peralta (2010) with many random choices, the last
/// layer as the transposition of one with 8 inputs.
#[inline(always)]
fn sbox_1<T: Wires>([u0, u1, u2, u3, u4, u5, u6, u7]: [T; 8]) -> [T; 8] {
    let y21 = u2 ^ u3;
    let y13 = u1 ^ u4;
    let y8 = u3 ^ u6;
    let y3 = u0 ^ u7;
    let y16 = y21 ^ y13;
    let y19 = u0 ^ u1;
    let y5 = y8 ^ y3;
    let y10 = y8 ^ y19;
    let y2 = y13 ^ y5;
    let y7 = u5 ^ y2;
    let y1 = y16 ^ y7;
    let y6 = y10 ^ y1;
    let a0 = u2 ^ y2;
    let y14 = u4 ^ a0;
    let y17 = y19 ^ a0;
    let y11 = y10 ^ y17;
    let y12 = y13 ^ y14;
    let y0 = y7 ^ y11;
    let y15 = y16 ^ y17;
    let y9 = u4 ^ y11;
    let y4 = y3 ^ y12;

    let [z0, z1, z2, z3, z4, z5, z6, z7, z8, z9, z10, z11, z12, z13, z14, z15, z16, z17] = invert([
        y0, y1, y2, y3, y4, y5, y6, y7, y8, y9, y10, y11, y12, y13, y14, y15, y16, y17, u5, y19, u4, y21,
    ]);

    let b0 = z14 ^ z17;
    let b1 = z9 ^ z15;
    let b2 = z13 ^ b0;
    let b3 = z10 ^ b1;
    let b4 = b3 ^ b2;
    let b5 = z11 ^ b1 ^ z17;
    let b6 = z8 ^ z2;
    let b7 = z6 ^ b6;
    let b8 = z3 ^ b7;
    let b9 = z4 ^ b8;
    let b10 = z7 ^ b6;
    let s0 = z12 ^ b10 ^ z1 ^ b0 ^ z15;
    let s2 = z5 ^ b8 ^ z2 ^ b4;
    let s3 = z16 ^ b5 ^ b2;
    let s4 = b9 ^ z1 ^ z16 ^ b3;
    let s5 = b10 ^ b9;
    let s7 = z0 ^ b7;
    [s0, b5, s2, s3, s4, s5, b4, s7]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cipher::byte_sliced::matrix::{AES_POLYNOMIAL, power};
    use crate::cipher::camellia::boxes::{INPUT, INPUT_CONSTANT, OUTPUT};

    #[test]
    fn the_circuit_is_sbox_1() {
        for x in 0..=255_u8 {
            let inverse = power(INPUT.apply(x) ^ INPUT_CONSTANT, 254, AES_POLYNOMIAL);
            let bits = sbox_1(std::array::from_fn(|i| (x ^ OFFSET) >> i & 1));
            let image = bits.iter().enumerate().fold(0, |byte, (i, bit)| byte | bit << i);
            assert_eq!(image, OUTPUT.apply(inverse));
        }
    }
}
