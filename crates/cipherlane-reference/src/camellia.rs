//! Camellia as RFC 3713 writes it down. Section numbers are that document's.

use zeroize::{Zeroize, ZeroizeOnDrop};

use crate::cipher::{Block, BlockCipher};

/// Camellia under one key of 16, 24 or 32 bytes.
#[derive(Zeroize, ZeroizeOnDrop)]
pub struct Camellia {
    encrypting: Subkeys,
    decrypting: Subkeys,
}

// The subkeys reveal the key.
impl std::fmt::Debug for Camellia {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Camellia({} rounds)", self.encrypting.k.len())
    }
}

/// The subkeys in the order in which one direction uses them.
#[derive(Zeroize)]
struct Subkeys {
    /// Before the first round and after the last.
    kw: [u64; 4],
    /// One for each round.
    k: Vec<u64>,
    /// Two between each six rounds and the next.
    ke: Vec<u64>,
}

impl Camellia {
    /// The key schedule (section 2.2).
    ///
    /// # Panics
    /// If `key` has not 16, 24 or 32 bytes.
    #[must_use]
    pub fn new(key: &[u8]) -> Self {
        assert!(
            matches!(key.len(), 16 | 24 | 32),
            "Camellia keys have 16, 24 or 32 bytes, not {}",
            key.len()
        );
        let half = |range: std::ops::Range<usize>| {
            key[range].iter().fold(0, |word: u128, byte| word << 8 | u128::from(*byte))
        };
        let left = half(0..16);
        let right = match key.len() {
            16 => 0,
            // The missing half is the complement of the other.
            24 => half(16..24) << 64 | (half(16..24) ^ u128::from(u64::MAX)),
            _ => half(16..32),
        };
        let encrypting =
            if key.len() == 16 { Subkeys::of_128(left) } else { Subkeys::of_192_or_256(left, right) };
        Self { decrypting: encrypting.reversed(), encrypting }
    }
}

impl BlockCipher for Camellia {
    /// Sections 2.3.1 and 2.3.2.
    fn encrypt(&self, block: Block) -> Block {
        randomize(&self.encrypting, block)
    }

    /// Section 2.3.3.
    fn decrypt(&self, block: Block) -> Block {
        randomize(&self.decrypting, block)
    }
}

impl Subkeys {
    /// The 26 subkeys of a 128-bit key.
    fn of_128(kl: u128) -> Self {
        let (ka, _) = intermediate(kl, 0);
        let [k9, _] = halves(ka, 45);
        let [_, k10] = halves(kl, 60);
        let k = [
            halves(ka, 0),
            halves(kl, 15),
            halves(ka, 15),
            halves(kl, 45),
            [k9, k10],
            halves(ka, 60),
            halves(kl, 94),
            halves(ka, 94),
            halves(kl, 111),
        ];
        let ke = [halves(ka, 30), halves(kl, 77)];
        let [kw1, kw2] = halves(kl, 0);
        let [kw3, kw4] = halves(ka, 111);
        Self { kw: [kw1, kw2, kw3, kw4], k: k.concat(), ke: ke.concat() }
    }

    /// The 34 subkeys of a 192-bit or 256-bit key.
    fn of_192_or_256(kl: u128, kr: u128) -> Self {
        let (ka, kb) = intermediate(kl, kr);
        let k = [
            halves(kb, 0),
            halves(kr, 15),
            halves(ka, 15),
            halves(kb, 30),
            halves(kl, 45),
            halves(ka, 45),
            halves(kr, 60),
            halves(kb, 60),
            halves(kl, 77),
            halves(kr, 94),
            halves(ka, 94),
            halves(kl, 111),
        ];
        let ke = [halves(kr, 30), halves(kl, 60), halves(ka, 77)];
        let [kw1, kw2] = halves(kl, 0);
        let [kw3, kw4] = halves(kb, 111);
        Self { kw: [kw1, kw2, kw3, kw4], k: k.concat(), ke: ke.concat() }
    }

    /// Decryption is encryption with the order of the subkeys reversed (section 2.3.3).
    fn reversed(&self) -> Self {
        let [kw1, kw2, kw3, kw4] = self.kw;
        Self {
            kw: [kw3, kw4, kw1, kw2],
            k: self.k.iter().rev().copied().collect(),
            ke: self.ke.iter().rev().copied().collect(),
        }
    }
}

/// Sigma1 to Sigma6 (section 2.2).
const SIGMA: [u64; 6] = [
    0xa09e_667f_3bcc_908b,
    0xb67a_e858_4caa_73b2,
    0xc6ef_372f_e94f_82be,
    0x54ff_53a5_f1d3_6f1c,
    0x10e5_27fa_de68_2d1d,
    0xb056_88c2_b3e6_c1fd,
];

/// KA and KB from KL and KR (section 2.2).
fn intermediate(kl: u128, kr: u128) -> (u128, u128) {
    let two_rounds = |state: u128, sigma: usize| {
        let [mut d1, mut d2] = halves(state, 0);
        d2 ^= f(d1, SIGMA[sigma]);
        d1 ^= f(d2, SIGMA[sigma + 1]);
        u128::from(d1) << 64 | u128::from(d2)
    };
    let ka = two_rounds(two_rounds(kl ^ kr, 0) ^ kl, 2);
    (ka, two_rounds(ka ^ kr, 4))
}

/// Both halves of `word <<< rotation`.
#[allow(clippy::cast_possible_truncation)] // the low half is wanted
fn halves(word: u128, rotation: u32) -> [u64; 2] {
    let rotated = word.rotate_left(rotation);
    [(rotated >> 64) as u64, rotated as u64]
}

/// The data randomizing part (section 2.3): Feistel rounds, with FL and FLINV between each six and the next.
fn randomize(subkeys: &Subkeys, block: Block) -> Block {
    let [kw1, kw2, kw3, kw4] = subkeys.kw;
    let [mut d1, mut d2] = halves(u128::from_be_bytes(block), 0);
    d1 ^= kw1;
    d2 ^= kw2;
    for (six, keys) in subkeys.k.chunks_exact(6).enumerate() {
        if six > 0 {
            let ke = &subkeys.ke[2 * (six - 1)..][..2];
            d1 = fl(d1, ke[0]);
            d2 = fl_inverse(d2, ke[1]);
        }
        for pair in keys.chunks_exact(2) {
            d2 ^= f(d1, pair[0]);
            d1 ^= f(d2, pair[1]);
        }
    }
    d2 ^= kw3;
    d1 ^= kw4;
    (u128::from(d2) << 64 | u128::from(d1)).to_be_bytes()
}

/// The F-function (section 2.4.1).
fn f(input: u64, key: u64) -> u64 {
    let x = (input ^ key).to_be_bytes();
    let [t1, t2, t3, t4, t5, t6, t7, t8] = [
        sbox1(x[0]),
        sbox2(x[1]),
        sbox3(x[2]),
        sbox4(x[3]),
        sbox2(x[4]),
        sbox3(x[5]),
        sbox4(x[6]),
        sbox1(x[7]),
    ];
    u64::from_be_bytes([
        t1 ^ t3 ^ t4 ^ t6 ^ t7 ^ t8,
        t1 ^ t2 ^ t4 ^ t5 ^ t7 ^ t8,
        t1 ^ t2 ^ t3 ^ t5 ^ t6 ^ t8,
        t2 ^ t3 ^ t4 ^ t5 ^ t6 ^ t7,
        t1 ^ t2 ^ t6 ^ t7 ^ t8,
        t2 ^ t3 ^ t5 ^ t7 ^ t8,
        t3 ^ t4 ^ t5 ^ t6 ^ t8,
        t1 ^ t4 ^ t5 ^ t6 ^ t7,
    ])
}

/// The FL-function (section 2.4.2).
fn fl(input: u64, key: u64) -> u64 {
    let ([mut x1, mut x2], [k1, k2]) = (words(input), words(key));
    x2 ^= (x1 & k1).rotate_left(1);
    x1 ^= x2 | k2;
    u64::from(x1) << 32 | u64::from(x2)
}

/// The FLINV-function (section 2.4.2).
fn fl_inverse(input: u64, key: u64) -> u64 {
    let ([mut y1, mut y2], [k1, k2]) = (words(input), words(key));
    y1 ^= y2 | k2;
    y2 ^= (y1 & k1).rotate_left(1);
    u64::from(y1) << 32 | u64::from(y2)
}

#[allow(clippy::cast_possible_truncation)] // the low half is wanted
fn words(word: u64) -> [u32; 2] {
    [(word >> 32) as u32, word as u32]
}

fn sbox1(x: u8) -> u8 {
    SBOX1[usize::from(x)]
}

fn sbox2(x: u8) -> u8 {
    sbox1(x).rotate_left(1)
}

fn sbox3(x: u8) -> u8 {
    sbox1(x).rotate_left(7)
}

fn sbox4(x: u8) -> u8 {
    sbox1(x.rotate_left(1))
}

/// SBOX1 (section 2.4.1); the other three are made of it.
#[rustfmt::skip]
const SBOX1: [u8; 256] = [
    112, 130,  44, 236, 179,  39, 192, 229, 228, 133,  87,  53, 234,  12, 174,  65,
     35, 239, 107, 147,  69,  25, 165,  33, 237,  14,  79,  78,  29, 101, 146, 189,
    134, 184, 175, 143, 124, 235,  31, 206,  62,  48, 220,  95,  94, 197,  11,  26,
    166, 225,  57, 202, 213,  71,  93,  61, 217,   1,  90, 214,  81,  86, 108,  77,
    139,  13, 154, 102, 251, 204, 176,  45, 116,  18,  43,  32, 240, 177, 132, 153,
    223,  76, 203, 194,  52, 126, 118,   5, 109, 183, 169,  49, 209,  23,   4, 215,
     20,  88,  58,  97, 222,  27,  17,  28,  50,  15, 156,  22,  83,  24, 242,  34,
    254,  68, 207, 178, 195, 181, 122, 145,  36,   8, 232, 168,  96, 252, 105,  80,
    170, 208, 160, 125, 161, 137,  98, 151,  84,  91,  30, 149, 224, 255, 100, 210,
     16, 196,   0,  72, 163, 247, 117, 219, 138,   3, 230, 218,   9,  63, 221, 148,
    135,  92, 131,   2, 205,  74, 144,  51, 115, 103, 246, 243, 157, 127, 191, 226,
     82, 155, 216,  38, 200,  55, 198,  59, 129, 150, 111,  75,  19, 190,  99,  46,
    233, 121, 167, 140, 159, 110, 188, 142,  41, 245, 249, 182,  47, 253, 180,  89,
    120, 152,   6, 106, 231,  70, 113, 186, 212,  37, 171,  66, 136, 162, 141, 250,
    114,   7, 185,  85, 248, 238, 172,  10,  54,  73,  42, 104,  60,  56, 241, 164,
     64,  40, 211, 123, 187, 201,  67, 193,  21, 227, 173, 244, 119, 199, 128, 158,
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vectors::hex::decode;

    /// RFC 3713 appendix A, in both directions.
    #[test]
    fn examples_of_appendix_a() {
        let plaintext: Block = decode("0123456789abcdeffedcba9876543210").unwrap().try_into().unwrap();
        for (key, ciphertext) in [
            ("0123456789abcdeffedcba9876543210", "67673138549669730857065648eabe43"),
            ("0123456789abcdeffedcba98765432100011223344556677", "b4993401b3e996f84ee5cee7d79b09b9"),
            (
                "0123456789abcdeffedcba987654321000112233445566778899aabbccddeeff",
                "9acc237dff16d76c20ef7c919e3a7509",
            ),
        ] {
            let cipher = Camellia::new(&decode(key).unwrap());
            let encrypted = cipher.encrypt(plaintext);
            assert_eq!(encrypted.to_vec(), decode(ciphertext).unwrap(), "{key}");
            assert_eq!(cipher.decrypt(encrypted), plaintext, "{key}");
        }
    }

    #[test]
    fn fl_is_undone() {
        let (input, key) = (0x0123_4567_89ab_cdef, 0xa09e_667f_3bcc_908b);
        assert_ne!(fl(input, key), input);
        assert_eq!(fl_inverse(fl(input, key), key), input);
    }

    #[test]
    fn debug_shows_no_key() {
        assert_eq!(format!("{:?}", Camellia::new(&[7; 24])), "Camellia(24 rounds)");
    }
}
