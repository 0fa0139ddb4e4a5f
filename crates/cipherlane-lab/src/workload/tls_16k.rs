//! Records of a TLS connection at their full length.

use cipherlane::{Algorithm, Cipher, Mode, Operation};
use cipherlane_record::Keys;

use super::part::{Part, Rows, full_tag, uniform_offsets};
use super::{Job, Named, Outline, Request, Task, WorkloadError};
use crate::random::Random;

const ALGORITHM: Algorithm = Algorithm::new(Cipher::Aes128, Mode::Gcm);

/// AES-128-GCM records of 16 KiB under one key, with the 13 bytes of AAD of TLS 1.2 (RFC 5246 section 6.2.3.3).
pub const WORKLOAD: Named = Named {
    name: "tls-16k",
    question: "How fast are full TLS records of one connection?",
    jobs: &[Job::Single(ALGORITHM, Operation::Seal), Job::Single(ALGORITHM, Operation::Open)],
    fixed_size: false,
    outline: Outline { messages: None, message_bytes: RECORD_BYTES, keys: Keys::Same },
    weight: 1.0,
    build,
};

/// The longest plaintext of a record (RFC 5246 section 6.2.1).
const RECORD_BYTES: usize = 1 << 14;
const NONCE_BYTES: usize = 12;
const AAD_BYTES: usize = 13;

fn build(job: Job, request: &Request<'_>) -> Result<Vec<Task>, WorkloadError> {
    let mut random = Random::new(request.seed);
    let messages = request.messages(RECORD_BYTES, NONCE_BYTES + AAD_BYTES + 16);
    let salt = random.bytes(NONCE_BYTES);
    let (mut nonces, mut aad) = (Vec::new(), Vec::new());
    for sequence in 0..messages as u64 {
        let sequence = sequence.to_be_bytes();
        // The salt with the sequence number added to its last 8 bytes (RFC 8446 section 5.3).
        nonces.extend_from_slice(&salt[..4]);
        nonces.extend(salt[4..].iter().zip(sequence).map(|(salt, digit)| salt ^ digit));
        // Sequence number, type (application data), version, length.
        aad.extend_from_slice(&sequence);
        aad.extend_from_slice(&[23, 3, 3, 0x40, 0]);
    }
    let part = Part {
        algorithm: ALGORITHM,
        operation: Operation::Seal,
        keys: Rows::Shared(random.bytes(ALGORITHM.key_bytes())),
        nonces: Rows::Each { bytes: nonces, width: NONCE_BYTES },
        aad: Rows::Each { bytes: aad, width: AAD_BYTES },
        texts: random.bytes(messages * RECORD_BYTES).into(),
        offsets: uniform_offsets(messages, RECORD_BYTES),
        tag_bytes: full_tag(ALGORITHM),
        tags: Vec::new(),
    };
    Ok(vec![super::directed(job, part, request)?])
}
