//! XTS as IEEE 1619 writes it down. Section numbers are that standard's.

use cipherlane_core::BLOCK;

use crate::cipher::{Block, BlockCipher, xor};

/// XTS-AES encryption of one data unit (section 5.3.2).
///
/// # Panics
/// If `text` is shorter than a block.
pub fn encrypt(data: &dyn BlockCipher, tweak: &dyn BlockCipher, unit: Block, text: &mut [u8]) {
    let mut masks = masks(tweak, unit);
    let (blocks, rest) = text.as_chunks_mut::<BLOCK>();
    for block in &mut *blocks {
        let mask = masks.next();
        *block = xor(data.encrypt(xor(*block, mask)), mask);
    }
    if !rest.is_empty() {
        // Ciphertext stealing: the short block takes what it lacks from the ciphertext of the block before it.
        let last = last_whole(blocks);
        last[..rest.len()].swap_with_slice(rest);
        let mask = masks.next();
        *last = xor(data.encrypt(xor(*last, mask)), mask);
    }
}

/// XTS-AES decryption of one data unit (section 5.4.2).
///
/// # Panics
/// If `text` is shorter than a block.
pub fn decrypt(data: &dyn BlockCipher, tweak: &dyn BlockCipher, unit: Block, text: &mut [u8]) {
    let mut masks = masks(tweak, unit);
    let (blocks, rest) = text.as_chunks_mut::<BLOCK>();
    let in_order = if rest.is_empty() { blocks.len() } else { blocks.len() - 1 };
    for block in &mut blocks[..in_order] {
        let mask = masks.next();
        *block = xor(data.decrypt(xor(*block, mask)), mask);
    }
    if !rest.is_empty() {
        // The last whole block was encrypted last, after it had lent its bytes: its mask is the later one.
        let (before, after) = (masks.next(), masks.next());
        let last = last_whole(blocks);
        *last = xor(data.decrypt(xor(*last, after)), after);
        last[..rest.len()].swap_with_slice(rest);
        *last = xor(data.decrypt(xor(*last, before)), before);
    }
}

fn last_whole(blocks: &mut [Block]) -> &mut Block {
    let last = blocks.len() - 1;
    &mut blocks[last]
}

/// T = E_K2(i) times alpha^j for j = 0, 1, ... (section 5.2).
struct Masks(u128);

fn masks(tweak: &dyn BlockCipher, unit: Block) -> Masks {
    Masks(u128::from_le_bytes(tweak.encrypt(unit)))
}

impl Masks {
    fn next(&mut self) -> Block {
        let mask = self.0;
        // x^128 = x^7 + x^2 + x + 1, bit 0 of byte 0 being x^0.
        self.0 = (mask << 1) ^ ((mask >> 127) * 0x87);
        mask.to_le_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::aes::Aes;
    use crate::vectors::hex::decode;

    /// IEEE 1619 annex B, vector 1. Its key halves are equal, which some devices refuse, so it is no known answer.
    #[test]
    fn equal_keys() {
        let aes = Aes::new(&[0; 16]);
        let expected = decode("917cf69ebd68b2ec9b9fe9a3eadda692cd43d2f59598ed858c02c2652fbf922e").unwrap();
        let mut text = [0; 32];
        encrypt(&aes, &aes, [0; BLOCK], &mut text);
        assert_eq!(text[..], expected);
        decrypt(&aes, &aes, [0; BLOCK], &mut text);
        assert_eq!(text, [0; 32]);
    }
}
