//! Galois/counter mode as SP 800-38D writes it down. Section numbers are that standard's.

use cipherlane_core::BLOCK;

use super::ctr;
use crate::cipher::{Block, BlockCipher};

/// GCM-AE_K (section 7.1, algorithm 4): encrypts `text` and returns the tag before MSB_t cuts it.
pub fn seal(cipher: &dyn BlockCipher, nonce: &[u8], aad: &[u8], text: &mut [u8]) -> Block {
    let hash_key = hash_key(cipher);
    let j0 = first_counter(hash_key, nonce);
    gctr(cipher, inc32(j0), text);
    tag(cipher, hash_key, j0, aad, text)
}

/// GCM-AD_K (section 7.2, algorithm 5): decrypts `text` if `expected`, cut to its length, is its tag.
///
/// Otherwise returns false, and `text` is all zero.
pub fn open(cipher: &dyn BlockCipher, nonce: &[u8], aad: &[u8], text: &mut [u8], expected: &[u8]) -> bool {
    let hash_key = hash_key(cipher);
    let j0 = first_counter(hash_key, nonce);
    let accepted = tag(cipher, hash_key, j0, aad, text)[..expected.len()] == *expected;
    if accepted {
        gctr(cipher, inc32(j0), text);
    } else {
        text.fill(0);
    }
    accepted
}

/// The hash subkey H = CIPH_K(0^128), as an element of GF(2^128).
#[must_use]
pub fn hash_key(cipher: &dyn BlockCipher) -> u128 {
    u128::from_be_bytes(cipher.encrypt([0; BLOCK]))
}

/// The pre-counter block J_0 (section 7.1, step 2).
fn first_counter(hash_key: u128, nonce: &[u8]) -> Block {
    if let Ok(nonce) = <[u8; 12]>::try_from(nonce) {
        let mut block = [0; BLOCK];
        block[..12].copy_from_slice(&nonce);
        block[15] = 1;
        return block;
    }
    let hashed = ghash(hash_key, 0, nonce);
    multiply(hashed ^ bits(nonce), hash_key).to_be_bytes()
}

/// The nonce of 16 bytes that leads to `j0`: `J_0 = (IV * H xor [128]_128) * H` is solved for IV. For tests of counters.
#[must_use]
pub fn nonce_for(cipher: &dyn BlockCipher, j0: u128) -> Block {
    let inverse = inverse(hash_key(cipher));
    multiply(multiply(j0, inverse) ^ 128, inverse).to_be_bytes()
}

/// The inverse in GF(2^128): the power 2^128 - 2, the product of x^(2^i) for i = 1 to 127.
fn inverse(x: u128) -> u128 {
    /// The one of the field: its most significant bit is the coefficient of x^0.
    const ONE: u128 = 1 << 127;
    let (mut power, mut product) = (x, ONE);
    for _ in 1..128 {
        power = multiply(power, power);
        product = multiply(product, power);
    }
    product
}

/// T before it is cut: GCTR_K(J_0, S) with S = GHASH_H(A || 0^v || C || 0^u || [len(A)]_64 || [len(C)]_64).
fn tag(cipher: &dyn BlockCipher, hash_key: u128, j0: Block, aad: &[u8], ciphertext: &[u8]) -> Block {
    let hashed = ghash(hash_key, ghash(hash_key, 0, aad), ciphertext);
    let mut tag = multiply(hashed ^ (bits(aad) << 64 | bits(ciphertext)), hash_key).to_be_bytes();
    gctr(cipher, j0, &mut tag);
    tag
}

/// GCTR_K (section 6.5, algorithm 3).
fn gctr(cipher: &dyn BlockCipher, first_counter: Block, text: &mut [u8]) {
    ctr::apply_counters(
        cipher,
        std::iter::successors(Some(first_counter), |&block| Some(inc32(block))),
        text,
    );
}

/// inc_32 (section 6.2): only the last 32 bits count, and they wrap.
fn inc32(mut block: Block) -> Block {
    let [.., a, b, c, d] = block;
    block[12..].copy_from_slice(&u32::from_be_bytes([a, b, c, d]).wrapping_add(1).to_be_bytes());
    block
}

/// GHASH_H (section 6.4, algorithm 2), carried on from `state`, of `data` padded with zeros to whole blocks.
fn ghash(hash_key: u128, state: u128, data: &[u8]) -> u128 {
    data.chunks(BLOCK).fold(state, |state, part| {
        let mut block = [0; BLOCK];
        block[..part.len()].copy_from_slice(part);
        multiply(state ^ u128::from_be_bytes(block), hash_key)
    })
}

/// The length of `data` in bits, as the length block holds it.
fn bits(data: &[u8]) -> u128 {
    data.len() as u128 * 8
}

/// The product in GF(2^128) (section 6.3, algorithm 1). A block is an integer whose most significant bit is x_0.
#[must_use]
pub fn multiply(x: u128, y: u128) -> u128 {
    /// 11100001 || 0^120.
    const R: u128 = 0xe1 << 120;
    let (mut z, mut v) = (0, y);
    for i in 0..128 {
        // Masks instead of branches: the bits are random, and branches on them would be mispredicted.
        z ^= v & (x >> (127 - i) & 1).wrapping_neg();
        v = v >> 1 ^ R & (v & 1).wrapping_neg();
    }
    z
}

#[cfg(test)]
mod tests {
    use cipherlane_core::Cipher;

    use super::*;
    use crate::cipher::keyed;

    #[test]
    fn nonces_lead_to_counters() {
        let (cipher, j0) = (keyed(Cipher::Sm4, &[7; 16]), 0x0123_4567_89ab_cdef_0f1e_2d3c_ffff_fffe);
        assert_eq!(first_counter(hash_key(&*cipher), &nonce_for(&*cipher, j0)), j0.to_be_bytes());
    }
}
