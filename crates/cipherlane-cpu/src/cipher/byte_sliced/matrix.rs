//! Matrices over GF(2), eight by eight, as compile-time constants: what S-boxes around an inversion are made of.

/// A linear map of bytes. Column `j` is the image of bit `j`, bit 0 being the lowest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Matrix([u8; 8]);

impl Matrix {
    /// Every byte to itself.
    pub(crate) const IDENTITY: Self = Self::rotation(0);

    /// The map with these images of bits 0 to 7.
    pub(crate) const fn from_columns(columns: [u8; 8]) -> Self {
        Self(columns)
    }

    /// The map whose bit `i` of the result is the sum of the bits of `rows[i]`.
    pub(crate) const fn from_rows(rows: [u8; 8]) -> Self {
        Self(rows).transposed()
    }

    /// Rotation by `bits` towards the high bit.
    pub(crate) const fn rotation(bits: u32) -> Self {
        let mut columns = [0; 8];
        let mut j = 0;
        while j < 8 {
            columns[j] = (1_u8 << j).rotate_left(bits);
            j += 1;
        }
        Self(columns)
    }

    /// The shift by `bits` towards the high bit, or towards the low bit where that is negative.
    pub(crate) const fn shift(bits: i32) -> Self {
        let mut columns = [0; 8];
        let mut j = 0;
        while j < 8 {
            columns[j] = if bits < 0 { (1_u8 << j) >> -bits } else { (1_u8 << j) << bits };
            j += 1;
        }
        Self(columns)
    }

    /// The image of `byte`.
    pub(crate) const fn apply(self, byte: u8) -> u8 {
        let (mut image, mut j) = (0, 0);
        while j < 8 {
            if byte >> j & 1 == 1 {
                image ^= self.0[j];
            }
            j += 1;
        }
        image
    }

    /// `self` after `first`.
    pub(crate) const fn after(self, first: Self) -> Self {
        let mut columns = first.0;
        let mut j = 0;
        while j < 8 {
            columns[j] = self.apply(columns[j]);
            j += 1;
        }
        Self(columns)
    }

    /// The sum of two maps.
    pub(crate) const fn plus(self, other: Self) -> Self {
        let mut columns = self.0;
        let mut j = 0;
        while j < 8 {
            columns[j] ^= other.0[j];
            j += 1;
        }
        Self(columns)
    }

    /// Rows for columns.
    pub(crate) const fn transposed(self) -> Self {
        let mut columns = [0; 8];
        let mut i = 0;
        while i < 64 {
            columns[i % 8] |= (self.0[i / 8] >> (i % 8) & 1) << (i / 8);
            i += 1;
        }
        Self(columns)
    }

    /// The inverse map: the preimage of each bit, found by trying.
    pub(crate) const fn inverse(self) -> Self {
        let mut columns = [0; 8];
        let mut byte = 0;
        while byte < 256 {
            #[allow(clippy::cast_possible_truncation)] // below 256
            let preimage = byte as u8;
            let image = self.apply(preimage);
            assert!(byte == 0 || image != 0, "the map has an inverse");
            if image.is_power_of_two() {
                columns[image.trailing_zeros() as usize] = preimage;
            }
            byte += 1;
        }
        Self(columns)
    }

    /// The matrix as instructions of GFNI take it: the row of bit `i` in byte `7 - i`.
    pub(crate) const fn word(self) -> u64 {
        u64::from_be_bytes(self.transposed().0)
    }

    /// From the field modulo `polynomial`, of degree 8, to that modulo x^8 + x^4 + x^3 + x + 1, in which the AES and
    /// its instructions invert (FIPS 197 section 4.2): x becomes the least root of `polynomial` there.
    pub(crate) const fn isomorphism(polynomial: u16) -> Self {
        let mut root = 2;
        loop {
            let (mut powers, mut power, mut value, mut i) = ([0; 8], 1, 0, 0);
            while i <= 8 {
                if polynomial >> i & 1 == 1 {
                    value ^= power;
                }
                if i < 8 {
                    powers[i] = power;
                }
                power = times(power, root, AES_POLYNOMIAL);
                i += 1;
            }
            if value == 0 {
                return Self(powers);
            }
            root += 1;
        }
    }
}

/// x^8 + x^4 + x^3 + x + 1.
pub(crate) const AES_POLYNOMIAL: u16 = 0x11b;

/// The linear part of the affine map of the AES, which follows the inversion (FIPS 197 section 5.1.1).
const AES_AFFINE: Matrix = Matrix::from_columns([0x1f, 0x3e, 0x7c, 0xf8, 0xf1, 0xe3, 0xc7, 0x8f]);

/// The constant of that affine map.
const AES_CONSTANT: u8 = 0x63;

/// The S-box of the AES is `AES_AFFINE (inverse of x) ^ AES_CONSTANT`: what `matrix` makes of the inverse, XOR
/// `constant`, as an affine map of the S-box.
pub(crate) const fn after_aes(matrix: Matrix, constant: u8) -> (Matrix, u8) {
    let matrix = matrix.after(AES_AFFINE.inverse());
    (matrix, matrix.apply(AES_CONSTANT) ^ constant)
}

/// The inverse S-box of the AES is the inverse of `AES_AFFINE⁻¹ (x ^ AES_CONSTANT)`: what `matrix` makes of a byte, XOR
/// `constant`, to be inverted, as an affine map in front of the inverse S-box.
pub(crate) const fn before_inverse_aes(matrix: Matrix, constant: u8) -> (Matrix, u8) {
    (AES_AFFINE.after(matrix), AES_AFFINE.apply(constant) ^ AES_CONSTANT)
}

/// The product of `a` and `b` in the field modulo `polynomial`.
#[allow(clippy::cast_possible_truncation)] // reduced to eight bits
pub(crate) const fn times(a: u8, b: u8, polynomial: u16) -> u8 {
    let (mut product, mut i) = (0_u16, 8);
    while i > 0 {
        i -= 1;
        product <<= 1;
        if product & 0x100 != 0 {
            product ^= polynomial;
        }
        if b >> i & 1 == 1 {
            product ^= a as u16;
        }
    }
    product as u8
}

/// `a` to the power of `exponent` in the field modulo `polynomial`.
pub(crate) const fn power(a: u8, exponent: u32, polynomial: u16) -> u8 {
    let (mut product, mut square, mut rest) = (1, a, exponent);
    while rest > 0 {
        if rest & 1 == 1 {
            product = times(product, square, polynomial);
        }
        square = times(square, square, polynomial);
        rest >>= 1;
    }
    product
}

/// The S-box that is the affine map `input`, the inversion of the AES and the affine map `output`, as a table.
#[allow(clippy::cast_possible_truncation)] // below 256
pub(crate) const fn sbox(input: (Matrix, u8), output: (Matrix, u8)) -> [u8; 256] {
    let (mut table, mut x) = ([0; 256], 0);
    while x < 256 {
        let inverse = power(input.0.apply(x as u8) ^ input.1, 254, AES_POLYNOMIAL);
        table[x] = output.0.apply(inverse) ^ output.1;
        x += 1;
    }
    table
}

/// The S-box of the AES.
pub(crate) const AES_SBOX: [u8; 256] = sbox((Matrix::IDENTITY, 0), (AES_AFFINE, AES_CONSTANT));
