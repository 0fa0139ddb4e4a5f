//! The S-boxes as circuits, for words and slices of bits.
//!
//! S6 is inversion in GF(2^6) and S5 is the seventh power in GF(2^5), each before an affine map: of that the M
//! function, which is linear and follows, takes care. So the circuits may give their results in any basis, and give
//! them in one that costs few gates. For S6 that is inversion in GF((2^3)^2), x^-1 = x^8 * (x^9)^-1, with the norm
//! x^9 and its inverse in GF(2^3) (the tower of D. Canright, "A Very Compact S-Box for AES", 2005, for another
//! field). The gates of S4, of its inverse and of S5, and the bases, were found by randomised search.

use std::ops::{BitAnd, BitOr, BitXor, Not};

/// Bits that gates work on, each by itself.
pub(in crate::cipher) trait Wires:
    Copy + BitXor<Output = Self> + BitAnd<Output = Self> + BitOr<Output = Self> + Not<Output = Self>
{
}

impl<T> Wires for T where
    T: Copy + BitXor<Output = T> + BitAnd<Output = T> + BitOr<Output = T> + Not<Output = T>
{
}

/// The S-box of the B function. The first wire is the highest bit of a nibble.
#[inline(always)]
pub(in crate::cipher) fn substitute<T: Wires>([a, b, c, d]: [T; 4]) -> [T; 4] {
    let t0 = (b | d) ^ a;
    let t1 = (t0 | d) ^ b;
    let low = t0 ^ (t1 & c);
    let t2 = t1 ^ c;
    let t3 = c | b;
    let t4 = t3 & !a;
    [d ^ (t2 & !b), t2 ^ t4, !(t3 ^ low) ^ ((d ^ t4) & c), low]
}

/// Its inverse.
#[inline(always)]
pub(in crate::cipher) fn substitute_inversely<T: Wires>([a, b, c, d]: [T; 4]) -> [T; 4] {
    let t0 = c & !b;
    let t1 = t0 ^ a;
    let third = !b ^ (t1 & !d);
    let t2 = t1 & third;
    let t3 = a | b;
    let second = (t2 | d) ^ (t3 & !c);
    let t4 = a ^ second;
    [(t4 & t1) ^ (!t0 & !d), second, third, t3 & !(t4 & !t2)]
}

/// What S5 makes of the wires of [`five`], lowest first: its result is the sum of those that are set, and
/// [`OFFSETS`].
pub(in crate::cipher) const FIVE: [u32; 5] = [0x1d, 0x1f, 0x05, 0x13, 0x12];

/// What S6 makes of the wires of [`six`].
pub(in crate::cipher) const SIX: [u32; 6] = [0x1a, 0x2a, 0x1c, 0x1b, 0x08, 0x34];

/// S5 and S6 of zero, for which the circuits give zero.
pub(in crate::cipher) const OFFSETS: [u32; 2] = [0x14, 0x2f];

/// S5 in the basis [`FIVE`]. The first wire is the lowest bit.
#[inline(always)]
pub(in crate::cipher) fn five<T: Wires>([x0, x1, x2, x3, x4]: [T; 5]) -> [T; 5] {
    let t0 = x0 ^ x4;
    let t1 = t0 & !x2;
    let t2 = (x3 & !x4) ^ t1;
    let t3 = x2 & !x4;
    let t4 = ((x0 ^ x2) & x3) ^ t3;
    let y0 = t2 ^ (t4 & !x1);
    let t5 = ((x3 | x2) ^ t0) & x4;
    let t6 = t4 ^ t5;
    let y1 = t6 ^ ((x0 ^ t2) & !x1);
    let t7 = t3 ^ t0;
    let t8 = t7 ^ x3;
    let y2 = (t6 & !t2) ^ (t8 & x1);
    let t9 = t1 | x1;
    let t10 = t9 ^ t5;
    let t11 = t9 & x2;
    let y3 = t10 ^ ((t11 ^ t6) & x3);
    let y4 = ((t11 | t8) ^ t10) ^ (((t7 ^ t9) | y1) & !x4);
    [y0, y1, y2, y3, y4]
}

/// S6 in the basis [`SIX`]. The first wire is the lowest bit.
#[inline(always)]
pub(in crate::cipher) fn six<T: Wires>([x0, x1, x2, x3, x4, x5]: [T; 6]) -> [T; 6] {
    let t0 = x2 ^ x3;
    let t1 = x0 ^ t0;
    let t2 = x1 ^ t0;
    let t3 = x5 ^ t1;
    let t4 = x4 ^ t2;
    let t5 = x4 ^ t3;
    let t6 = t4 ^ t5;
    let t7 = x3 ^ t5;
    let t8 = x0 ^ t7;
    let t9 = t0 ^ t8;
    // The norm (t12, t13, t14).
    let t10 = x2 | t5;
    let t11 = t1 & !x5;
    let t12 = (t10 ^ t11) ^ (t4 & !x0);
    let t13 = ((t9 & !t6) ^ t10) ^ (t0 & x4);
    let t14 = ((t8 | t2) ^ t11) ^ (t5 & x0);
    // Its inverse (t15, t16, t17, t18, t19, t20: three bits and sums of them).
    let t15 = (t14 & t13) ^ t12;
    let t16 = (t13 & !t15) ^ t14;
    let t17 = t15 ^ t16;
    let t18 = (t17 & !t12) ^ t13;
    let t19 = t18 ^ t16;
    let t20 = t17 ^ t18;
    // Two products with it.
    let t21 = t19 & t4;
    let t22 = t17 & t3;
    let t23 = t18 & t5;
    let y0 = (t21 ^ t22) ^ (t16 & t6);
    let y1 = ((t20 & x4) ^ t21) ^ t23;
    let y2 = ((t15 & t2) ^ t22) ^ t23;
    let t24 = t19 & t7;
    let t25 = t17 & t0;
    let t26 = t18 & t9;
    let y3 = (t24 ^ t25) ^ (t16 & t1);
    let y4 = ((t20 & t8) ^ t24) ^ t26;
    let y5 = ((t15 & x0) ^ t25) ^ t26;
    [y0, y1, y2, y3, y4, y5]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cipher::sc2000::tables::{S4, S5, S6};

    /// Bit i of `x` as wire i, and the sum of what wires that are set stand for.
    fn through<const N: usize>(circuit: fn([u32; N]) -> [u32; N], x: usize, basis: [u32; N]) -> u32 {
        let wires = circuit(std::array::from_fn(|i| u32::from(x >> i & 1 == 1) * u32::MAX));
        wires.iter().zip(basis).fold(0, |sum, (wire, image)| sum ^ wire & image)
    }

    #[test]
    fn circuits_are_the_s_boxes() {
        for (x, image) in S5.into_iter().enumerate() {
            assert_eq!(through(five, x, FIVE) ^ OFFSETS[0], u32::from(image));
        }
        for (x, image) in S6.into_iter().enumerate() {
            assert_eq!(through(six, x, SIX) ^ OFFSETS[1], u32::from(image));
        }
    }

    #[test]
    fn circuits_are_the_s_box_of_columns_and_its_inverse() {
        let reversed = |circuit: fn([u32; 4]) -> [u32; 4], x| {
            let wires = circuit(std::array::from_fn(|i| u32::from(x >> (3 - i) & 1 == 1) * u32::MAX));
            wires.iter().fold(0, |nibble, wire| nibble << 1 | wire & 1)
        };
        for (x, image) in S4.into_iter().enumerate() {
            assert_eq!(reversed(substitute, x), u32::from(image));
            assert_eq!(reversed(substitute_inversely, usize::from(image)), u32::try_from(x).unwrap());
        }
    }
}
