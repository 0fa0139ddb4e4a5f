//! Messages that come in pieces, on the best tier that is on.

use cipherlane_core::Hash;
use cipherlane_cpu::Hasher;
use cipherlane_reference::hash::hash as reference;

use super::lanes::message;

#[test]
fn the_message_is_taken_in_pieces() {
    for hash in Hash::ALL {
        let text = message(5 * hash.block_bytes() + 3, 1);
        let mut whole = vec![0; hash.usual_digest_bytes()];
        reference(hash, &text, &mut whole);
        for piece in [1, 7, hash.block_bytes(), text.len()] {
            let mut hasher = Hasher::new(hash);
            text.chunks(piece).for_each(|piece| hasher.update(piece));
            let mut digest = vec![0; whole.len()];
            hasher.finalize(&mut digest);
            assert_eq!(digest, whole, "{} by {piece}", hash.name());
        }
    }
}

#[test]
fn output_is_read_in_pieces() {
    for hash in [Hash::Shake128, Hash::Shake256] {
        let mut whole = vec![0; 1000];
        reference(hash, b"any message", &mut whole);
        for piece in [1, 135, 136, 137, 168, 500, 1000] {
            let mut hasher = Hasher::new(hash);
            hasher.update(b"any message");
            let mut xof = hasher.finalize_xof();
            let mut found = vec![0; 1000];
            found.chunks_mut(piece).for_each(|piece| xof.read(piece));
            assert_eq!(found, whole, "{} by {piece}", hash.name());
        }
    }
}

#[test]
#[should_panic(expected = "sha-256 has no digests of 31 bytes")]
fn a_digest_has_its_length() {
    Hasher::new(Hash::Sha256).finalize(&mut [0; 31]);
}

#[test]
#[should_panic(expected = "sha3-256 has digests of one length")]
fn only_shake_is_read_on() {
    let _ = Hasher::new(Hash::Sha3_256).finalize_xof();
}

#[test]
fn a_log_shows_no_state() {
    assert_eq!(format!("{:?}", Hasher::new(Hash::Sha512)), "Hasher(sha-512)");
    assert_eq!(format!("{:?}", Hasher::new(Hash::Shake128).finalize_xof()), "Xof");
}
