//! The S-box of AES and its inverse as circuits of XOR and AND, without their constants.
//!
//! SubBytes is inversion in GF(2^8), then an affine map (FIPS 197 section 5.1.1). The circuit is that of J. Boyar
//! and R. Peralta, "A Small Depth-16 Circuit for the AES S-Box" (2012), and their earlier one of 115 gates (2010):
//! a linear layer of 23 gates, 62 gates that invert, a linear layer of 30. The inverse S-box has the inversion in
//! the middle, too; its linear layers are theirs with the inverse affine map in front and behind, and were reduced
//! to 23 and 35 gates by the greedy heuristics of Boyar and Peralta (2010) and of C. Paar (1997).
//!
//! The constant 0x63 of the affine map is left to the round keys: see [`super::keys`].

use std::ops::{BitAnd, BitXor};

/// Bits that gates work on, each by itself.
pub(crate) trait Wires: Copy + BitXor<Output = Self> + BitAnd<Output = Self> {}

impl<T: Copy + BitXor<Output = T> + BitAnd<Output = T>> Wires for T {}

/// The constant of the affine map, which [`sub_bytes`] omits after itself and [`inverse_sub_bytes`] before itself.
pub(super) const AFFINE: u8 = 0x63;

/// S-box(x) ^ 0x63. Index i of the arrays is bit i.
#[inline(always)]
pub(super) fn sub_bytes<T: Wires>([u7, u6, u5, u4, u3, u2, u1, u0]: [T; 8]) -> [T; 8] {
    let y14 = u3 ^ u5;
    let y13 = u0 ^ u6;
    let y9 = u0 ^ u3;
    let y8 = u0 ^ u5;
    let a0 = u1 ^ u2;
    let y1 = a0 ^ u7;
    let y4 = y1 ^ u3;
    let y12 = y13 ^ y14;
    let y2 = y1 ^ u0;
    let y5 = y1 ^ u6;
    let y3 = y5 ^ y8;
    let a1 = u4 ^ y12;
    let y15 = a1 ^ u5;
    let y20 = a1 ^ u1;
    let y6 = y15 ^ u7;
    let y10 = y15 ^ a0;
    let y11 = y20 ^ y9;
    let y7 = u7 ^ y11;
    let y17 = y10 ^ y11;
    let y19 = y10 ^ y8;
    let y16 = a0 ^ y11;
    let y21 = y13 ^ y16;
    let y18 = u0 ^ y16;

    let [z0, z1, z2, z3, z4, z5, z6, z7, z8, z9, z10, z11, z12, z13, z14, z15, z16, z17] = invert([
        u7, y1, y2, y3, y4, y5, y6, y7, y8, y9, y10, y11, y12, y13, y14, y15, y16, y17, y18, y19, y20, y21,
    ]);

    let b0 = z15 ^ z16;
    let b1 = z10 ^ z11;
    let b2 = z5 ^ z13;
    let b3 = z9 ^ z10;
    let b4 = z2 ^ z12;
    let b5 = z2 ^ z5;
    let b6 = z7 ^ z8;
    let b7 = z0 ^ z3;
    let b8 = z6 ^ z7;
    let b9 = z16 ^ z17;
    let b10 = z12 ^ b2;
    let b11 = b4 ^ b7;
    let b12 = z4 ^ b0;
    let b13 = z3 ^ b8;
    let b14 = b0 ^ b11;
    let b15 = z14 ^ b11;
    let b16 = b6 ^ b12;
    let b17 = b3 ^ b12;
    let b18 = z4 ^ b13;
    let b19 = b15 ^ b16;
    let b20 = z1 ^ b17;
    let s0 = b13 ^ b17;
    let s6 = b10 ^ b16;
    let s7 = b2 ^ b14;
    let b21 = b18 ^ b19;
    let s3 = b7 ^ b20;
    let s4 = b5 ^ b20;
    let s5 = b1 ^ b19;
    let s1 = b18 ^ s3;
    let s2 = b9 ^ b21;
    [s7, s6, s5, s4, s3, s2, s1, s0]
}

/// The inverse S-box of x ^ 0x63. Index i of the arrays is bit i.
#[inline(always)]
pub(super) fn inverse_sub_bytes<T: Wires>([u7, u6, u5, u4, u3, u2, u1, u0]: [T; 8]) -> [T; 8] {
    let y8 = u0 ^ u1;
    let y3 = u0 ^ u3;
    let y5 = u1 ^ u3;
    let y6 = u0 ^ y5;
    let y19 = u4 ^ u7;
    let y10 = y8 ^ y19;
    let y9 = u3 ^ u4;
    let y1 = u3 ^ y19;
    let y14 = u4 ^ y6;
    let y18 = u2 ^ y9;
    let y13 = u6 ^ y1;
    let y12 = y14 ^ y13;
    let y4 = y3 ^ y12;
    let y7 = u2 ^ y4;
    let y21 = u6 ^ y7;
    let y2 = y5 ^ y13;
    let y16 = y1 ^ y7;
    let a0 = u0 ^ u5;
    let y0 = u2 ^ a0;
    let y15 = y6 ^ y0;
    let y11 = y4 ^ a0;
    let y20 = y9 ^ y11;
    let y17 = y10 ^ y11;

    let [z0, z1, z2, z3, z4, z5, z6, z7, z8, z9, z10, z11, z12, z13, z14, z15, z16, z17] = invert([
        y0, y1, y2, y3, y4, y5, y6, y7, y8, y9, y10, y11, y12, y13, y14, y15, y16, y17, y18, y19, y20, y21,
    ]);

    let b0 = z6 ^ z15;
    let b1 = z12 ^ b0;
    let b2 = z13 ^ b1;
    let b3 = z16 ^ b2;
    let b4 = z1 ^ z8;
    let b5 = z4 ^ z10;
    let b6 = z2 ^ b5;
    let b7 = z4 ^ b3;
    let b8 = z8 ^ b3;
    let b9 = z3 ^ b6;
    let b10 = z11 ^ z17;
    let b11 = z0 ^ z5;
    let b12 = b4 ^ b9;
    let b13 = z14 ^ b12;
    let b14 = z13 ^ b13;
    let b15 = z3 ^ b7;
    let b16 = b1 ^ b13;
    let b17 = z3 ^ z5;
    let b18 = b4 ^ b11;
    let b19 = b0 ^ b14;
    let b20 = b2 ^ b11;
    let s6 = z7 ^ b15;
    let b21 = z0 ^ z2;
    let b22 = b6 ^ b20;
    let b23 = z7 ^ b10;
    let b24 = z11 ^ b16;
    let b25 = z9 ^ b10;
    let s3 = b8 ^ b21;
    let s7 = z15 ^ b25;
    let b26 = z9 ^ b19;
    let s5 = b7 ^ b18;
    let s0 = b8 ^ b17;
    let s2 = z16 ^ b24;
    let s1 = z17 ^ b26;
    let s4 = b22 ^ b23;
    [s7, s6, s5, s4, s3, s2, s1, s0]
}

/// Inversion in GF(2^8) as a tower of fields, from 22 linear forms of the input to 18 products whose sums are the
/// output.
#[inline(always)]
pub(crate) fn invert<T: Wires>(forms: [T; 22]) -> [T; 18] {
    let [y0, y1, y2, y3, y4, y5, y6, y7, y8, y9, y10, y11, y12, y13, y14, y15, y16, y17, y18, y19, y20, y21] =
        forms;
    let t2 = y12 & y15;
    let t4 = (y3 & y6) ^ t2;
    let t6 = (y4 & y0) ^ t2;
    let t7 = y13 & y16;
    let t9 = (y5 & y1) ^ t7;
    let t11 = (y2 & y7) ^ t7;
    let t12 = y9 & y11;
    let t14 = (y14 & y17) ^ t12;
    let t16 = (y8 & y10) ^ t12;
    let t21 = t4 ^ t14 ^ y20;
    let t22 = t6 ^ t16 ^ y19;
    let t23 = t9 ^ t14 ^ y21;
    let t24 = t11 ^ t16 ^ y18;

    // Inversion in GF(2^4) of (t21, t22, t23, t24).
    let t25 = t21 ^ t22;
    let t26 = t21 & t23;
    let t27 = t24 ^ t26;
    let t29 = (t25 & t27) ^ t22;
    let t30 = t23 ^ t24;
    let t31 = t22 ^ t26;
    let t33 = (t31 & t30) ^ t24;
    let t34 = t23 ^ t33;
    let t35 = t27 ^ t33;
    let t36 = t24 & t35;
    let t37 = t36 ^ t34;
    let t38 = t27 ^ t36;
    let t40 = t25 ^ (t29 & t38);
    let t41 = t40 ^ t37;
    let t42 = t29 ^ t33;
    let t43 = t29 ^ t40;
    let t44 = t33 ^ t37;
    let t45 = t42 ^ t41;

    [
        t44 & y15,
        t37 & y6,
        t33 & y0,
        t43 & y16,
        t40 & y1,
        t29 & y7,
        t42 & y11,
        t45 & y17,
        t41 & y10,
        t44 & y12,
        t37 & y3,
        t33 & y4,
        t43 & y13,
        t40 & y5,
        t29 & y2,
        t42 & y9,
        t45 & y14,
        t41 & y8,
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Multiplication modulo x^8 + x^4 + x^3 + x + 1 (FIPS 197 section 4.2).
    fn times(a: u8, b: u8) -> u8 {
        (0..8).rev().fold(0, |product, i| {
            let doubled = product << 1 ^ if product & 0x80 != 0 { 0x1b } else { 0 };
            doubled ^ if b >> i & 1 == 1 { a } else { 0 }
        })
    }

    /// The S-box as section 5.1.1 defines it.
    fn defined(x: u8) -> u8 {
        let inverse = (0..=255).find(|&y| times(x, y) == 1).unwrap_or(0);
        (0..5).fold(AFFINE, |sum, turn| sum ^ inverse.rotate_left(turn))
    }

    fn through(circuit: impl Fn([u8; 8]) -> [u8; 8], x: u8) -> u8 {
        let bits = circuit(std::array::from_fn(|i| x >> i & 1));
        bits.iter().enumerate().fold(0, |byte, (i, bit)| byte | bit << i)
    }

    #[test]
    fn circuits_are_the_s_box_and_its_inverse() {
        assert_eq!(defined(0x53), 0xed, "the example of FIPS 197 section 5.1.1");
        for x in 0..=255 {
            assert_eq!(through(sub_bytes, x) ^ AFFINE, defined(x));
            assert_eq!(through(inverse_sub_bytes, defined(x) ^ AFFINE), x);
        }
    }
}
