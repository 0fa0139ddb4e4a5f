//! SC2000 as its designers specified it (Shimoyama, Yanami, Yokoyama, Takenaka, Itoh, Yajima, Torii and Tanaka, "The
//! block cipher SC2000", FSE 2001; the same specification went to NESSIE and, as number 09, to CRYPTREC).
//!
//! Names of functions are the specification's. A block is four big-endian words a, b, c, d. A word's bit 0 is its most
//! significant one.

use zeroize::{Zeroize, ZeroizeOnDrop};

use crate::cipher::{Block, BlockCipher};

/// SC2000 under one key of 16, 24 or 32 bytes.
#[derive(Zeroize, ZeroizeOnDrop)]
pub struct Sc2000 {
    /// Two groups of four for each round, and two more: 56 words for 6.5 rounds, 64 for 7.5.
    round_keys: Vec<[u32; 4]>,
}

// The round keys reveal the key.
impl std::fmt::Debug for Sc2000 {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Sc2000({}.5 rounds)", self.rounds())
    }
}

impl Sc2000 {
    /// The key schedule: intermediate keys, then extended keys.
    ///
    /// # Panics
    /// If `key` has not 16, 24 or 32 bytes.
    #[must_use]
    pub fn new(key: &[u8]) -> Self {
        assert!(matches!(key.len(), 16 | 24 | 32), "SC2000 keys have 16, 24 or 32 bytes, not {}", key.len());
        // A shorter key starts again from its first word.
        let mut user: [u32; 8] = std::array::from_fn(|i| {
            let [a, b, c, d] = std::array::from_fn(|byte| key[(4 * i + byte) % key.len()]);
            u32::from_be_bytes([a, b, c, d])
        });
        let mut intermediate = intermediate_keys(&user);
        let groups = if key.len() == 16 { 14 } else { 16 };
        let round_keys = (0..groups)
            .map(|group| std::array::from_fn(|word| extended_key(&intermediate, 4 * group + word)))
            .collect();
        user.zeroize();
        intermediate.zeroize();
        Self { round_keys }
    }

    /// Whole rounds, before the last half.
    fn rounds(&self) -> usize {
        self.round_keys.len() / 2 - 1
    }
}

/// The intermediate keys of the branches a, b, c and d, three each.
fn intermediate_keys(user: &[u32; 8]) -> [[u32; 3]; 4] {
    let ms = |word| m_function(s_function(word));
    let key = |branch: usize, i: usize| {
        #[allow(clippy::cast_possible_truncation)] // below 12
        let (constant, factor) = (ms((4 * i + branch) as u32), i as u32 + 1);
        let (first, second) = (ms(user[2 * branch]), ms(user[2 * branch + 1]));
        ms(first.wrapping_add(constant) ^ second.wrapping_mul(factor))
    };
    std::array::from_fn(|branch| std::array::from_fn(|i| key(branch, i)))
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

/// The extended key number `n`.
fn extended_key(intermediate: &[[u32; 3]; 4], n: usize) -> u32 {
    let (order, index) = (ORDER[(n + n / 36) % 12], INDEX[n % 9]);
    let [x, y, z, w]: [u32; 4] = std::array::from_fn(|i| intermediate[order[i]][index[i]]);
    x.rotate_left(1).wrapping_add(y) ^ z.rotate_left(1).wrapping_sub(w).rotate_left(1)
}

/// The masks of the R functions; rounds take them in turn.
const MASKS: [u32; 2] = [0x5555_5555, 0x3333_3333];

impl BlockCipher for Sc2000 {
    fn encrypt(&self, block: Block) -> Block {
        run(self.rounds(), &S4, |group| self.round_keys[group], |round| MASKS[round % 2], block)
    }

    /// The same with everything that has an order in reverse order: R, swap and R undo themselves.
    fn decrypt(&self, block: Block) -> Block {
        let rounds = self.rounds();
        let keys = |group| self.round_keys[2 * rounds + 1 - group];
        run(rounds, &S4_INVERSE, keys, |round| MASKS[(rounds - 1 - round) % 2], block)
    }
}

/// Rounds of I, B, I, R, swap, R; then I, B, I. `keys` are groups of round keys, two for each I B I.
fn run(
    rounds: usize,
    sbox: &[u8; 16],
    keys: impl Fn(usize) -> [u32; 4],
    mask: impl Fn(usize) -> u32,
    block: Block,
) -> Block {
    let ibi = |state, round| {
        let state = b_function(i_function(state, keys(2 * round)), sbox);
        i_function(state, keys(2 * round + 1))
    };
    let mut state: [u32; 4] = std::array::from_fn(|i| {
        let [a, b, c, d] = std::array::from_fn(|byte| block[4 * i + byte]);
        u32::from_be_bytes([a, b, c, d])
    });
    for round in 0..rounds {
        let [a, b, c, d] = r_function(ibi(state, round), mask(round));
        state = r_function([c, d, a, b], mask(round));
    }
    let state = ibi(state, rounds);
    std::array::from_fn(|i| state[i / 4].to_be_bytes()[i % 4])
}

/// The I function: xors a round key into each word.
fn i_function(state: [u32; 4], keys: [u32; 4]) -> [u32; 4] {
    std::array::from_fn(|i| state[i] ^ keys[i])
}

/// The B function: the S-box of four bits on each column of the words, the first word's bit being the highest.
fn b_function(state: [u32; 4], sbox: &[u8; 16]) -> [u32; 4] {
    let mut out = [0; 4];
    for (value, substituted) in sbox.iter().enumerate() {
        // The columns that hold this value: one bit of each word decides.
        let columns = state.iter().enumerate().fold(u32::MAX, |columns, (i, word)| {
            columns & if value >> (3 - i) & 1 == 1 { *word } else { !word }
        });
        for (i, word) in out.iter_mut().enumerate() {
            if substituted >> (3 - i) & 1 == 1 {
                *word |= columns;
            }
        }
    }
    out
}

/// The R function: a Feistel round whose F function is S, M and L.
fn r_function([a, b, c, d]: [u32; 4], mask: u32) -> [u32; 4] {
    let (s, t) = f_function(c, d, mask);
    [a ^ s, b ^ t, c, d]
}

/// The F function: S and M on each word, then L, which mixes them under the mask.
fn f_function(c: u32, d: u32, mask: u32) -> (u32, u32) {
    let (u, v) = (m_function(s_function(c)), m_function(s_function(d)));
    ((u & mask) ^ v, (v & !mask) ^ u)
}

/// The S function: S-boxes of 6, 5, 5, 5, 5 and 6 bits, from the top.
fn s_function(word: u32) -> u32 {
    let six = |shift: u32| u32::from(S6[(word >> shift & 63) as usize]) << shift;
    let five = |shift: u32| u32::from(S5[(word >> shift & 31) as usize]) << shift;
    six(26) | five(21) | five(16) | five(11) | five(6) | six(0)
}

/// The M function: the sum of those rows of M whose bit is set.
fn m_function(word: u32) -> u32 {
    // Masks instead of branches: the bits are random, and branches on them would be mispredicted.
    M.iter().zip((0..32).rev()).fold(0, |sum, (row, bit)| sum ^ row & (word >> bit & 1).wrapping_neg())
}

#[rustfmt::skip]
const S6: [u8; 64] = [
    0x2f, 0x3b, 0x19, 0x2a, 0x0f, 0x17, 0x1c, 0x27, 0x1a, 0x26, 0x24, 0x13, 0x3c, 0x18, 0x1d, 0x38,
    0x25, 0x3f, 0x14, 0x3d, 0x37, 0x02, 0x1e, 0x2c, 0x09, 0x0a, 0x06, 0x16, 0x35, 0x30, 0x33, 0x0b,
    0x3e, 0x34, 0x23, 0x12, 0x0e, 0x2e, 0x00, 0x36, 0x11, 0x28, 0x1b, 0x04, 0x1f, 0x08, 0x05, 0x0c,
    0x03, 0x10, 0x29, 0x22, 0x21, 0x07, 0x2d, 0x31, 0x32, 0x3a, 0x01, 0x15, 0x2b, 0x39, 0x20, 0x0d,
];

#[rustfmt::skip]
const S5: [u8; 32] = [
    0x14, 0x1a, 0x07, 0x1f, 0x13, 0x0c, 0x0a, 0x0f, 0x16, 0x1e, 0x0d, 0x0e, 0x04, 0x18, 0x09, 0x12,
    0x1b, 0x0b, 0x01, 0x15, 0x06, 0x10, 0x02, 0x1c, 0x17, 0x05, 0x08, 0x03, 0x00, 0x11, 0x1d, 0x19,
];

const S4: [u8; 16] = [0x2, 0x5, 0xa, 0xc, 0x7, 0xf, 0x1, 0xb, 0xd, 0x6, 0x0, 0x9, 0x4, 0x8, 0x3, 0xe];

const S4_INVERSE: [u8; 16] = [0xa, 0x6, 0x0, 0xe, 0xc, 0x1, 0x9, 0x4, 0xd, 0xb, 0x2, 0x7, 0x3, 0x8, 0xf, 0x5];

/// The matrix of the M function, one row for each bit from the most significant one.
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

#[cfg(test)]
mod tests;
