//! Packets, no two of which need be equally long.

use cipherlane::{Algorithm, Cipher, Mode, Operation};
use cipherlane_record::Keys;

use super::part::{Part, Rows, full_tag, mixed_offsets, text_bytes};
use super::{Job, Named, Outline, Request, Task, WorkloadError};
use crate::random::Random;

const ALGORITHM: Algorithm = Algorithm::new(Cipher::Aes128, Mode::Gcm);

/// AES-128-GCM packets of 16 to 512 B, each length as often as any other, under one key, with the nonces and the 8 bytes of
/// AAD of IPsec (RFC 4106 sections 4 and 5).
pub const WORKLOAD: Named = Named {
    name: "packets",
    question: "How fast are short packets that have all lengths?",
    jobs: &[Job::Single(ALGORITHM, Operation::Seal), Job::Single(ALGORITHM, Operation::Open)],
    fixed_size: false,
    outline: Outline { messages: None, message_bytes: MOST_BYTES, keys: Keys::Same },
    weight: 1.0,
    build,
};

const LEAST_BYTES: usize = 16;
const MOST_BYTES: usize = 512;
const SALT_BYTES: usize = 4;
const NONCE_BYTES: usize = 12;
const AAD_BYTES: usize = 8;

fn build(job: Job, request: &Request<'_>) -> Result<Vec<Task>, WorkloadError> {
    let mut random = Random::new(request.seed);
    let messages = request.messages(usize::midpoint(LEAST_BYTES, MOST_BYTES), NONCE_BYTES + AAD_BYTES + 16);
    let (salt, association) = (random.bytes(SALT_BYTES), random.bytes(4));
    let (mut nonces, mut aad) = (Vec::new(), Vec::new());
    for sequence in 1..=messages as u64 {
        nonces.extend_from_slice(&salt);
        nonces.extend_from_slice(&sequence.to_be_bytes());
        // The number of the security association, and that of the packet in it.
        aad.extend_from_slice(&association);
        aad.extend_from_slice(&sequence.to_be_bytes()[4..]);
    }
    let offsets = mixed_offsets(messages, LEAST_BYTES..=MOST_BYTES, 1, &mut random);
    let part = Part {
        algorithm: ALGORITHM,
        operation: Operation::Seal,
        keys: Rows::Shared(random.bytes(ALGORITHM.key_bytes())),
        nonces: Rows::Each { bytes: nonces, width: NONCE_BYTES },
        aad: Rows::Each { bytes: aad, width: AAD_BYTES },
        texts: random.bytes(text_bytes(&offsets)).into(),
        offsets,
        tag_bytes: full_tag(ALGORITHM),
        tags: Vec::new(),
    };
    Ok(vec![super::directed(job, part, request)?])
}
