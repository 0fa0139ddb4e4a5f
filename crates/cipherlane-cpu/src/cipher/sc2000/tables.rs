//! The tables of SC2000, and what the layers do with them, at compile time.
//!
//! Bits are numbered from the low end here. Of a word's six fields, number 0 is the topmost.

/// The S-box of the B function, which [`super::circuits`] computes.
#[cfg(test)]
pub(in crate::cipher) const S4: [u8; 16] = [2, 5, 10, 12, 7, 15, 1, 11, 13, 6, 0, 9, 4, 8, 3, 14];

/// The S-box of the four middle fields.
pub(in crate::cipher) const S5: [u8; 32] = [
    0x14, 0x1a, 0x07, 0x1f, 0x13, 0x0c, 0x0a, 0x0f, 0x16, 0x1e, 0x0d, 0x0e, 0x04, 0x18, 0x09, 0x12, //
    0x1b, 0x0b, 0x01, 0x15, 0x06, 0x10, 0x02, 0x1c, 0x17, 0x05, 0x08, 0x03, 0x00, 0x11, 0x1d, 0x19,
];

/// The S-box of the first and the last field.
pub(in crate::cipher) const S6: [u8; 64] = [
    0x2f, 0x3b, 0x19, 0x2a, 0x0f, 0x17, 0x1c, 0x27, 0x1a, 0x26, 0x24, 0x13, 0x3c, 0x18, 0x1d, 0x38, //
    0x25, 0x3f, 0x14, 0x3d, 0x37, 0x02, 0x1e, 0x2c, 0x09, 0x0a, 0x06, 0x16, 0x35, 0x30, 0x33, 0x0b, //
    0x3e, 0x34, 0x23, 0x12, 0x0e, 0x2e, 0x00, 0x36, 0x11, 0x28, 0x1b, 0x04, 0x1f, 0x08, 0x05, 0x0c, //
    0x03, 0x10, 0x29, 0x22, 0x21, 0x07, 0x2d, 0x31, 0x32, 0x3a, 0x01, 0x15, 0x2b, 0x39, 0x20, 0x0d,
];

/// The matrix of the M function: row i is what the i-th bit from the top adds.
const M: [u32; 32] = [
    0xd0c1_9225,
    0xa5a2_240a,
    0x1b84_d250,
    0xb728_a4a1,
    0x6a70_4902,
    0x85dd_dbe6,
    0x766f_f4a4,
    0xecdf_e128,
    0xafd1_3e94,
    0xdf83_7d09,
    0xbb27_fa52,
    0x6950_59ac,
    0x52a1_bb58,
    0xcc32_2f1d,
    0x1844_565b,
    0xb4a8_acf6,
    0x3423_5438,
    0x6847_a851,
    0xe48c_0cbb,
    0xcd18_1136,
    0x9a11_2a0c,
    0x43ec_6d0e,
    0x87d8_d27d,
    0x487d_c995,
    0x90fb_9b4b,
    0xa1f6_3697,
    0xfc51_3ed9,
    0x78a3_7d93,
    0x8d16_c5df,
    0x9e0c_8bbe,
    0x3c38_1f7c,
    0xe9fb_0779,
];

/// The masks of the R functions, which rounds take in turn, in every byte.
pub(in crate::cipher) const MASKS: [u8; 2] = [0x55, 0x33];

/// Fields of a word.
pub(in crate::cipher) const FIELDS: usize = 6;

/// Where the fields of a word begin: widths are 6, 5, 5, 5, 5 and 6 bits.
pub(in crate::cipher) const SHIFTS: [u32; FIELDS] = [26, 21, 16, 11, 6, 0];

/// The M function.
pub(in crate::cipher) const fn m_function(word: u32) -> u32 {
    let (mut sum, mut i) = (0, 0);
    while i < 32 {
        if word >> (31 - i) & 1 == 1 {
            sum ^= M[i];
        }
        i += 1;
    }
    sum
}

/// What field `field` of value `value` contributes to the S function, at its place in the word.
pub(in crate::cipher) const fn substituted(field: usize, value: usize) -> u32 {
    let image = if field == 0 || field == FIELDS - 1 { S6[value] } else { S5[value] };
    (image as u32) << SHIFTS[field]
}

/// The M function of the S function, for constants: it looks secrets up nowhere else.
pub(in crate::cipher) const fn ms_of_constant(word: u32) -> u32 {
    let (mut sum, mut field) = (0, 0);
    while field < FIELDS {
        let width = if field == 0 || field == FIELDS - 1 { 6 } else { 5 };
        let value = word >> SHIFTS[field] & ((1 << width) - 1);
        sum ^= substituted(field, value as usize);
        field += 1;
    }
    m_function(sum)
}

/// Byte `byte` of `word`, the topmost being 0, rotated towards its low bit.
#[allow(clippy::cast_possible_truncation)] // takes a byte out
pub(in crate::cipher) const fn turned_byte(word: u32, byte: usize, turns: [u32; 4]) -> u8 {
    ((word >> (24 - 8 * byte)) as u8).rotate_right(turns[byte])
}

/// The masks as each byte of a word has them, rotated, in all bytes of a half.
pub(in crate::cipher) const fn turned_masks(turns: [u32; 4]) -> [[u64; 4]; 2] {
    let (mut masks, mut i) = ([[0; 4]; 2], 0);
    while i < 8 {
        masks[i / 4][i % 4] = u64::from_ne_bytes([MASKS[i / 4].rotate_right(turns[i % 4]); 8]);
        i += 1;
    }
    masks
}

/// The linear map of bytes with these images of bits 0 to 7 as instructions of GFNI take it: the row of bit i in byte
/// `7 - i`.
pub(in crate::cipher) const fn matrix_of(columns: [u8; 8]) -> u64 {
    let (mut word, mut i) = (0, 0);
    while i < 64 {
        word |= ((columns[i % 8] >> (i / 8) & 1) as u64) << (8 * (7 - i / 8) + i % 8);
        i += 1;
    }
    word
}

/// What M makes of coordinates other than bits: the three upper fields of a word (`half` 0) or the three lower ones
/// have 16 bits after the S-boxes, `coordinates[j]` are those of bit j, and the result has what M makes of each
/// coordinate by itself.
///
/// Gauss and Jordan: steps that turn the coordinates of the bits into units turn M's images of bits into those of
/// units.
pub(in crate::cipher) const fn images_of_units(half: usize, coordinates: [u16; 16]) -> [u32; 16] {
    let (mut rows, mut images, mut bit) = (coordinates, [0; 16], 0);
    while bit < 16 {
        images[bit] = m_function(1 << (16 * (1 - half) + bit));
        bit += 1;
    }
    let mut unit = 0;
    while unit < 16 {
        let mut pivot = unit;
        while rows[pivot] >> unit & 1 == 0 {
            pivot += 1; // beyond the last row if the coordinates are dependent: compilation fails
        }
        (rows[unit], rows[pivot]) = (rows[pivot], rows[unit]);
        (images[unit], images[pivot]) = (images[pivot], images[unit]);
        let mut other = 0;
        while other < 16 {
            if other != unit && rows[other] >> unit & 1 == 1 {
                rows[other] ^= rows[unit];
                images[other] ^= images[unit];
            }
            other += 1;
        }
        unit += 1;
    }
    images
}

/// Which branches X, Y, Z and W are, by (n + n div 36) mod 12.
const ORDER: [[usize; 4]; 12] = [
    [0, 1, 2, 3],
    [1, 0, 3, 2],
    [2, 3, 0, 1],
    [3, 2, 1, 0],
    [0, 2, 3, 1],
    [1, 3, 2, 0],
    [2, 0, 1, 3],
    [3, 1, 0, 2],
    [0, 3, 1, 2],
    [1, 2, 0, 3],
    [2, 1, 3, 0],
    [3, 0, 2, 1],
];

/// Which of their keys are taken, by n mod 9.
const INDEX: [[usize; 4]; 9] = [
    [0, 0, 0, 0],
    [1, 1, 1, 1],
    [2, 2, 2, 2],
    [0, 1, 0, 1],
    [1, 2, 1, 2],
    [2, 0, 2, 0],
    [0, 2, 0, 2],
    [1, 0, 1, 0],
    [2, 1, 2, 1],
];

/// The intermediate keys X, Y, Z and W that make extended key `n`: branch and number of each.
pub(in crate::cipher) const fn picked(n: usize) -> [(usize, usize); 4] {
    let (mut keys, mut i) = ([(0, 0); 4], 0);
    while i < 4 {
        keys[i] = (ORDER[(n + n / 36) % 12][i], INDEX[n % 9][i]);
        i += 1;
    }
    keys
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_layers_give_the_examples() {
        assert_eq!(ms_of_constant(0x0123_4567), 0x5a90_e456);
        assert_eq!(ms_of_constant(0), 0x0eaa_5e14);
        assert_eq!(ms_of_constant(11), 0x9942_533f);
        assert_eq!(m_function(u32::MAX), M.into_iter().fold(0, |sum, row| sum ^ row));
    }

    #[test]
    fn units_are_images_of_bits_when_coordinates_are_bits() {
        let images = images_of_units(1, std::array::from_fn(|bit| 1 << bit));
        assert_eq!(images[3], m_function(8));
    }
}
